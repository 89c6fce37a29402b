"""The process that grades one submission, when it goes wrong."""

import sys
import tempfile
from pathlib import Path

import pytest

from kafkalearn.grading import helper
from kafkalearn.grading.collect import Submission
from kafkalearn.grading.helper import grade_in_helper
from tests.grading.submissions import CHECKS, EXERCISE, FOLDER, as_bytes, code, notebook

pytestmark = pytest.mark.slow


def test_a_helper_that_never_ends_is_killed_and_the_rows_say_so(tmp_path, monkeypatch):
    """Its own limit did not work; the caller's does, and nothing stays on the disk."""
    monkeypatch.setattr(helper, "GRACE_SECONDS", 0.5 - EXERCISE.total_seconds)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    book = notebook()
    book["cells"].insert(0, code("import time; time.sleep(600)"))
    submission = Submission("ann", EXERCISE.name, as_bytes(book))
    grades = grade_in_helper(submission, EXERCISE, seed=1)
    assert [grade.check for grade in grades] == CHECKS
    assert {grade.status for grade in grades} == {"not_run"}
    assert "did not end within its limit and was killed" in grades[0].reason
    assert list(tmp_path.iterdir()) == []


def test_a_helper_that_fails_repeats_its_last_words(tmp_path, monkeypatch):
    """A helper that cannot even start is a row with the reason, for every check."""
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no memory left >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    content = as_bytes(notebook())
    grades = grade_in_helper(Submission("ann", EXERCISE.name, content), EXERCISE, seed=1)
    assert {grade.status for grade in grades} == {"not_run"}
    assert "failed with status 1" in grades[0].reason
    assert "no memory left" in grades[0].reason


def test_a_killed_helper_leaves_nothing_on_the_disk(monkeypatch):
    """A submission that kills its grader costs its own rows only."""
    book = notebook()
    book["cells"].insert(0, code("import os, signal; os.kill(os.getppid(), signal.SIGKILL)"))
    submission = Submission("ann", EXERCISE.name, as_bytes(book))
    with tempfile.TemporaryDirectory() as folder:  # Its path is short enough for sockets.
        monkeypatch.setattr(tempfile, "tempdir", folder)
        grades = grade_in_helper(submission, EXERCISE, seed=1)
        assert list(Path(folder).iterdir()) == []
    assert "was killed by signal 9" in grades[0].reason


def test_a_folder_with_too_long_a_name_for_sockets_is_named(tmp_path, monkeypatch):
    """The reason says what to set."""
    folder = tmp_path / ("long" * 20)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    content = as_bytes(notebook())
    grades = grade_in_helper(Submission("ann", EXERCISE.name, content), EXERCISE, seed=1)
    assert grades[0].status == "not_run"
    assert "too long a path for sockets: set TMPDIR to a shorter folder" in grades[0].reason


def test_a_submission_is_graded_wherever_its_caller_stands(tmp_path, monkeypatch):
    """The helper stands in a folder of its own: modules beside the caller do not mislead it."""
    content = (FOLDER / "solution.ipynb").read_bytes()
    (tmp_path / "papermill.py").write_text("raise SystemExit('misled')")
    monkeypatch.chdir(tmp_path)
    grades = grade_in_helper(Submission("ann", EXERCISE.name, content), EXERCISE, seed=1)
    assert {grade.status for grade in grades} == {"passed"}
