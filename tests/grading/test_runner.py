"""Running one submission: a row for every check, whatever the file is."""

import pytest

from kafkalearn.grading import runner
from kafkalearn.grading.collect import Submission
from kafkalearn.grading.runner import run
from tests.grading.submissions import EXERCISE, FOLDER, as_bytes, notebook


@pytest.mark.slow
def test_a_right_answer_passes_without_any_metadata():
    """Cleaners strip kernelspec and language; what is left is still a Python notebook."""
    book = notebook(FOLDER / "solution.ipynb")
    book["metadata"] = {}
    submission = Submission("ann", EXERCISE.name, as_bytes(book))
    assert {grade.status for grade in run(submission, EXERCISE, seed=3)} == {"passed"}


def test_an_unforeseen_failure_is_a_reason_and_no_traceback(monkeypatch):
    """Whatever breaks the run, each check has its row."""

    def breaks(*_):
        raise KeyError("msg_id")

    monkeypatch.setattr(runner, "_execute", breaks)
    submission = Submission("ann", EXERCISE.name, as_bytes(notebook()))
    grades = run(submission, EXERCISE, seed=3)
    assert len(grades) == len(EXERCISE.checks)
    assert {grade.status for grade in grades} == {"not_run"}
    assert grades[0].reason == "the notebook broke its run: KeyError('msg_id')"
