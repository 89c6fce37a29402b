"""The commands of the README and of the instructors' page are run as they stand there."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kafkalearn.cli import app

ROOT = Path(__file__).parents[2]
# Each page, and what its commands say in the end, and what they leave.
PAGES = {
    "README.md": ("300 runs, 0 of them failed", "incident/report.html"),
    "exercises/README.md": ("50_name: proven", "grades/class.html"),
}
EXERCISE = ROOT / "exercises" / "41_range_assignor"
STUDENTS = {"anna": "solution.ipynb", "bert": "wrong/extras_to_the_last.ipynb"}


def commands(page):
    """Give what a page's blocks for a shell tell `kafkalearn` to do, in their order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    lines = "\n".join(re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)).splitlines()
    found = [re.match(r"(?:\.venv/bin/)?kafkalearn ([^#]*)", line) for line in lines]
    return [each[1].strip() for each in found if each]


def as_a_shell(words):
    """Put the files in place of a pattern, as a shell does."""
    for word in shlex.split(words):
        yield from sorted(map(str, Path().glob(word))) if "*" in word else [word]


@pytest.fixture
def place(tmp_path, monkeypatch, quick):
    """Hold what the pages speak of: recorded logs, a class, an exercise of one's own; one Spark."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(type(quick), "stop", lambda _: None)
    Path("tests").symlink_to(ROOT / "tests")
    shutil.copytree(EXERCISE, "exercises/50_name")
    for folder in EXERCISE.parent.glob("[0-9]*/"):
        Path("exercises", folder.name).symlink_to(folder)
    for each in Path("exercises/50_name").rglob("*.ipynb"):
        each.write_text(each.read_text("utf-8").replace(EXERCISE.name, "50_name"), "utf-8")
    for student, answer in STUDENTS.items():
        Path("submissions", student).mkdir(parents=True)
        shutil.copy(EXERCISE / answer, f"submissions/{student}/{EXERCISE.name}.ipynb")
    return tmp_path


@pytest.mark.parametrize("page", PAGES)
def test_each_command_does_what_the_page_says(place, page):
    """They go on with what others wrote: a class is graded, a log and a sweep are told of."""
    said = ""
    for line in commands(page):
        result = CliRunner().invoke(app, list(as_a_shell(line)), env={"COLUMNS": "500"})
        assert result.exit_code == 0, (line, result.output, str(result.exception))
        said += result.output
    sentence, file = PAGES[page]
    assert sentence in said
    assert (place / file).is_file()
