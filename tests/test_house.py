"""House rules: no file names what exists on one machine only; each test says its promise.

The patterns are written with brackets, so that this file does not match them.
"""

import ast
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FORBIDDEN = {
    "a package registry's host": (
        r"pypi[.]org|python[h]osted|npmjs[.]|deb[.]debian|(?:index-url|find-links)[ =]+https?:"
    ),
    "a path of one machine": r"(?<![\w.])/(?:roo[t]|hom[e]|tm[p]|Use[r]s)(?:/|['\"`\s]|$)",
}
NEVER_TRACKED = {"uv.lock", ".env", ".DS_Store"}


def finds(text: str) -> list[str]:
    """Say what of the forbidden is in the text, with the line."""
    return [
        f"line {number}: {what}"
        for number, line in enumerate(text.splitlines(), start=1)
        for what, pattern in FORBIDDEN.items()
        if re.search(pattern, line)
    ]


def repository_files() -> list[Path]:
    """List what is tracked, or would be if all were added now."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        # A downloaded archive is no checkout; in CI there always is one, and git must read it.
        (pytest.fail if "CI" in os.environ else pytest.skip)(f"git: {listed.stderr.strip()}")
    return [path for name in listed.stdout.split("\0") if (path := ROOT / name).is_file()]


def test_no_file_names_a_place_that_is_not_everywhere():
    """Text files are free of registries' hosts and of paths of one machine."""
    found = {}
    for path in repository_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture
        if sentences := finds(text):
            found[path.relative_to(ROOT).as_posix()] = sentences
    assert found == {}


def test_no_file_is_there_that_must_not_be():
    """A lock that records download addresses, for one, is not committed."""
    assert {path.name for path in repository_files()} & NEVER_TRACKED == set()


def silent_tests(source: str) -> list[str]:
    """Name the tests that do not say what they promise."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    return [
        node.name
        for node in functions
        if node.name.startswith("test_") and not ast.get_docstring(node)
    ]


def test_each_test_says_its_promise():
    """A failing test reads as a broken promise, since each has a sentence."""
    paths = (ROOT / "tests").rglob("test_*.py")
    found = {path.name: silent_tests(path.read_text(encoding="utf-8")) for path in paths}
    assert {name: silent for name, silent in found.items() if silent} == {}


def test_a_silent_test_is_found():
    """The check can fail, also for a test inside a class."""
    source = "class TestA:\n    def test_b(self): ...\n\ndef helper(): ..."
    assert silent_tests(source) == ["test_b"]


@pytest.mark.parametrize(
    "line",
    [
        "see https://pypi" + ".org/project/kafka-python",
        "--index-url" + " https://mirror.example/simple",
        "open('/tm" + "p/x.csv')",
        "cd /hom" + "e/ann/kafkalearn",
        "HOME=/roo" + "t",
    ],
)
def test_a_forbidden_line_is_found(line):
    """Each pattern is shown a line that it must find."""
    assert len(finds(line)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "the root of the tree",
        "a/home/b",
        "-r ../requirements.lock",
        "tmp_path / 'a'",
        "build/tmp/x",
    ],
)
def test_an_ordinary_line_is_not(line):
    """Words and relative paths pass."""
    assert finds(line) == []
