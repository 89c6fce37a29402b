"""The command `kafkalearn grade`: what it writes, says and returns."""

import csv
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from kafkalearn.cli import app
from kafkalearn.grading.grades import Grade, not_run
from kafkalearn.spark import grade_class
from tests.grading.submissions import CHECKS, EXERCISE, FOLDER

NAME = "41_range_assignor.ipynb"
STARTER = (FOLDER / "starter.ipynb").read_bytes()


def hand_in(folder, student, content=STARTER):
    """A student's submission, as nbgrader lays it out."""
    (folder / student / "ps1").mkdir(parents=True)
    (folder / student / "ps1" / NAME).write_bytes(content)


def grade(*arguments):
    """Run the command in this process: (exit status, what it said on long lines)."""
    result = CliRunner().invoke(app, ["grade", *map(str, arguments)], env={"COLUMNS": "500"})
    return result.exit_code, result.output


@pytest.fixture
def submissions(tmp_path):
    """Two students."""
    hand_in(tmp_path / "submitted", "ann")
    hand_in(tmp_path / "submitted", "bob")
    return tmp_path / "submitted"


def test_bad_input_is_refused_before_anything_starts(tmp_path, submissions):
    """Each with status 2 and a sentence that names it."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    out = tmp_path / "out"
    for arguments, said in [
        ((tmp_path / "nowhere", "--out", out), "there is no folder"),
        ((tmp_path / "file", "--out", out), "there is no folder"),
        ((tmp_path / "empty", "--out", out), "no submission in"),
        ((submissions, "--out", tmp_path / "file" / "out"), "cannot be written"),
        ((submissions, "--out", submissions / "out"), "would be taken for submissions"),
        ((submissions, "--out", out, "--exercises", tmp_path / "empty"), "no exercises"),
        ((submissions,), "Missing option '--out'"),
    ]:
        status, output = grade(*arguments)
        assert (status, said in output) == (2, True), output
    assert not (tmp_path / "out" / "grades.csv").exists()


def passed(student):
    """A row for each check, all passed."""
    return [
        Grade(student, EXERCISE.name, c, 2.0, 2.0, "passed", f"{c}: right", 1.0) for c in CHECKS
    ]


@pytest.mark.parametrize(
    ("bob", "status"), [(passed("bob"), 0), (not_run("bob", EXERCISE, reason="empty"), 1)]
)
def test_the_status_tells_whether_everything_was_graded(
    tmp_path, submissions, monkeypatch, bob, status
):
    """0 and 1 both leave grades; help explains them."""
    monkeypatch.setattr(grade_class, "_grade", lambda *_, **__: passed("ann") + bob)
    got, output = grade(submissions, "--out", tmp_path / "out")
    assert got == status
    assert "isolates nothing" in output
    assert "Course seed 0 (the default; --course-seed changes it)" in output
    assert (tmp_path / "out" / "feedback" / "bob.html").is_file()
    _, described = grade("--help")
    assert "Exit status: 0, everything was graded" in " ".join(described.split())


@pytest.mark.parametrize("error", [KeyboardInterrupt(), grade_class.GradingError("Spark is lost")])
def test_a_run_that_breaks_off_writes_nothing_and_says_what_is_still_there(
    tmp_path, submissions, monkeypatch, error
):
    """An earlier run's grades stay, and the message warns that they are the earlier ones."""
    monkeypatch.setattr(grade_class, "_grade", lambda *_, **__: passed("ann"))
    grade(submissions, "--out", tmp_path / "out")
    before = (tmp_path / "out" / "grades.csv").read_bytes()

    def breaks_off(*_, **__):
        raise error

    monkeypatch.setattr(grade_class, "_grade", breaks_off)
    status, output = grade(submissions, "--out", tmp_path / "out")
    assert status == 2
    assert "nothing was written" in output
    assert "still holds the grades of an earlier run" in output
    assert (tmp_path / "out" / "grades.csv").read_bytes() == before


@pytest.mark.spark
@pytest.mark.slow
def test_a_class_is_graded_from_folder_to_folder(tmp_path):
    """The whole command in a process of its own, with what was readable and what was not."""
    submitted = tmp_path / "submitted"
    hand_in(submitted, "ann", (FOLDER / "solution.ipynb").read_bytes())
    hand_in(submitted, "bob", b"print('hello')")
    hand_in(submitted, "<王>", (FOLDER / "wrong" / "extras_to_the_last.ipynb").read_bytes())
    (submitted / "empty").mkdir()
    command = [sys.executable, "-c", "from kafkalearn.cli import app; app()", "grade"]
    done = subprocess.run(
        [*command, str(submitted), "--out", str(tmp_path / "out"), "--course-seed", "7"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"COLUMNS": "300"},
    )
    assert done.returncode == 1, done.stderr
    assert "Course seed 7." in done.stderr
    with (tmp_path / "out" / "grades.csv").open(newline="", encoding="utf-8") as file:
        rows = [(row["student"], row["check"], row["status"]) for row in csv.DictReader(file)]
    assert rows == [
        *[("<王>", check, "failed") for check in CHECKS],
        *[("ann", check, "passed") for check in CHECKS],
        *[("bob", check, "not_run") for check in CHECKS],
        ("empty", "", "not_run"),
    ]
    assert sorted(path.name for path in (tmp_path / "out" / "feedback").iterdir()) == [
        "%3C王%3E.html",
        "ann.html",
        "bob.html",
        "empty.html",
    ]
