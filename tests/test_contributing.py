"""What CONTRIBUTING.md names is there: files, make's targets, commands, modules to run."""

import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer import BadParameter
from typer.core import TyperGroup
from typer.main import get_command

from kafkalearn.cli import app
from tests.test_house import NEVER_TRACKED

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
TARGETS = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
FILE = r"[\w.*-]*[\w*-]\.(?:py|md|js|css|toml|tsv|ipynb|lock|json|cfg)"
PATH = re.compile(rf"(?:[\w.*-]+/)+(?:{FILE}|[\w*-]*)|{FILE}")
MADE = re.compile(r"build/|text/plain$|\.venv")  # by commands; and what only looks like a path


def is_there(name):
    """Whether a file or folder stands in the repository, or anywhere in the package or tests."""
    pattern = re.sub("NN|NAME", "*", name).rstrip("/")
    folders = (ROOT / "kafkalearn", ROOT / "tests")
    return any(ROOT.glob(pattern)) or any(any(each.rglob(pattern)) for each in folders)


def understood(line):
    """Whether the command line has this command, these options and as many arguments."""
    _, *words = shlex.split(line)
    command, name = get_command(app), "kafkalearn"
    context = command.context_class(command, info_name=name)
    while isinstance(command, TyperGroup):
        name, command, words = command.resolve_command(context, words)
    return command.make_context(name, words, parent=context).info_name


def is_right(told):
    """Whether what stands between backticks can be followed; what is no path or command is."""
    if found := re.match(r"make ([\w-]+)", told):
        return found[1] in TARGETS
    if found := re.match(r"(?:\.venv/bin/)?python -m ([\w.]+)", told):
        return find_spec(found[1]) is not None
    if found := re.match(r"(?:\.venv/bin/)?(kafkalearn \w.*)", told):
        try:
            return understood(found[1]) in found[1].split()
        except BadParameter.__base__:
            return False
    words = told.split()[1:] if re.match(r"(?:\.venv/bin/)?pytest ", told) else [told]
    paths = [word for word in words if PATH.fullmatch(word) and not MADE.match(word)]
    return all(is_there(path) for path in paths if path not in NEVER_TRACKED)


def wrong(page):
    """List what a page names and is not there."""
    text = re.sub(r"\s+", " ", page)
    return [told for told in re.findall(r"`([^`]+)`", text) if not is_right(told)]


def test_everything_it_names_is_there():
    """Who follows it finds each file, and each command is one."""
    assert wrong(PAGE) == []


@pytest.mark.parametrize(
    "told",
    [
        *("make nothing", "python -m tests.nowhere", ".venv/bin/kafkalearn exercise teach"),
        *("nowhere.py", "views/nowhere/", "kafkalearn/nowhere.js", "notebooks/NN_name.py"),
        *("tests/NAME_nowhere.py", ".venv/bin/pytest tests/nowhere.py -q"),
    ],
)
def test_what_is_not_there_is_found(told):
    """The check can fail, for each kind of name."""
    assert wrong(f"See `{told}`.\nAnd `make test`.") == [told]
