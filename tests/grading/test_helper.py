"""The process that grades, when it goes wrong or is left alone."""

import json
import os
import signal
import subprocess
import sys

import pytest

from kafkalearn.grading.engines import judge_process
from kafkalearn.grading.engines.helper import GradingHelper
from kafkalearn.grading.handed_in.collect import Submission
from tests.grading.processes import descendants, gone, until
from tests.grading.submissions import (
    CHECKS,
    EXERCISE,
    FOLDER,
    WRONG,
    answered,
    as_bytes,
    changed,
    code,
    notebook,
)

pytestmark = pytest.mark.slow
SOLUTION = Submission("ann", EXERCISE.name, (FOLDER / "solution.ipynb").read_bytes())


@pytest.fixture
def helper():
    """A helper that grades anywhere."""
    helper = GradingHelper(trusted=True)
    yield helper
    helper.close()


def statuses(grades):
    """The statuses, of all checks."""
    assert [grade.check for grade in grades] == CHECKS
    return {grade.status for grade in grades}


def test_a_helper_that_never_ends_is_killed_and_the_next_works(helper, files, monkeypatch):
    """Its own limit did not work; the caller's does, and nothing stays on the disk."""
    book = notebook()
    book["cells"].insert(0, code("import time; time.sleep(600)"))
    helper.grade(SOLUTION, EXERCISE, seed=1)
    with monkeypatch.context() as short:
        short.setattr(judge_process, "GRACE_SECONDS", 0.5 - EXERCISE.limits.total_seconds)
        grades = helper.grade(Submission("b", EXERCISE.name, as_bytes(book)), EXERCISE, seed=1)
    assert statuses(grades) == {"not_run"}
    assert "did not end within its limit and was killed" in grades[0].reason
    assert list(files.iterdir()) == []
    assert statuses(helper.grade(SOLUTION, EXERCISE, seed=1)) == {"passed"}


def test_a_killed_helper_is_a_reason_and_the_next_works(helper, files):
    """Whoever kills it costs one submission its rows, and leaves nothing."""
    helper.grade(SOLUTION, EXERCISE, seed=1)
    pids = descendants(helper._judge.pid)
    assert len(pids) == 3
    os.kill(pids[0], signal.SIGKILL)
    grades = helper.grade(SOLUTION, EXERCISE, seed=1)
    assert statuses(grades) == {"not_run"}
    assert "was killed by signal 9" in grades[0].reason
    assert gone(pids)
    assert list(files.iterdir()) == []
    assert statuses(helper.grade(SOLUTION, EXERCISE, seed=1)) == {"passed"}


def test_a_helper_that_fails_repeats_its_last_words(helper, tmp_path, monkeypatch):
    """One that cannot even start, or says nothing, is a row with the reason for every check."""
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no memory left >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    grades = helper.grade(SOLUTION, EXERCISE, seed=1)
    assert statuses(grades) == {"not_run"}
    assert "failed with status 1" in grades[0].reason
    assert "no memory left" in grades[0].reason
    broken.write_text("#!/bin/sh\nexec sleep 60\n")
    monkeypatch.setattr(judge_process, "GRACE_SECONDS", 0.1 - EXERCISE.limits.total_seconds)
    grades = helper.grade(SOLUTION, EXERCISE, seed=1)
    assert statuses(grades) == {"not_run"}
    said = "the grading process did not end within its limit and was killed"
    assert {grade.reason for grade in grades} == {said}


def test_a_submission_is_graded_wherever_its_caller_stands(helper, tmp_path, monkeypatch):
    """The helper stands in a folder of its own: modules beside the caller do not mislead it."""
    (tmp_path / "papermill.py").write_text("raise SystemExit('misled')")
    monkeypatch.chdir(tmp_path)
    assert statuses(helper.grade(SOLUTION, EXERCISE, seed=1)) == {"passed"}


def test_an_exercise_that_changes_is_not_mistaken_for_its_old_self(helper):
    """The judge's process remembers exercises by what they hold."""
    titled = changed(toml=("points = 2", "points = 3"))
    for exercise, points in [(EXERCISE, 2.0), (titled, 3.0), (EXERCISE, 2.0)]:
        assert helper.grade(SOLUTION, exercise, seed=1)[0].points == points


def test_the_same_submission_gets_the_same_rows_again(helper):
    """Also from another process: nothing but the seconds differs."""
    wrong = Submission("bob", EXERCISE.name, WRONG[-1].read_bytes())
    random = answered(
        "def range_assign(p, s):\n    return {m: list({'a', 'b', 'c', 'd'}) for m in s}"
    )
    rows = []
    for _ in range(2):
        for submission in (wrong, Submission("eve", EXERCISE.name, random)):
            grades = helper.grade(submission, EXERCISE, seed=3)
            rows.append([grade._replace(seconds=0) for grade in grades])
        helper.close()
    assert rows[:2] == rows[2:]


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's /proc")
def test_nothing_outlives_a_caller_that_is_killed(files):
    """In the middle of a submission, with kill -9: its processes end, and its files go."""
    book = notebook()
    book["cells"].insert(0, code("import time; time.sleep(600)"))
    script = (
        "import sys\nfrom tests.grading.test_helper import *\n"
        "helper = GradingHelper(trusted=True)\nhelper.grade(SOLUTION, EXERCISE, seed=1)\n"
        "print(helper._judge.pid, flush=True)\n"
        f"helper.grade(Submission('b', EXERCISE.name, as_bytes({json.dumps(book)!r} and "
        f"json.loads({json.dumps(book)!r}))), EXERCISE, seed=1)"
    )
    environment = os.environ | {"TMPDIR": str(files), "PYTHONPATH": str(FOLDER.parents[1])}
    caller = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment
    )
    judge = int(caller.stdout.readline())
    until(lambda: len(descendants(judge)) >= 4)
    pids = descendants(judge)
    assert len(pids) >= 4  # the judge's, the server's starter, the server, the submission's
    caller.kill()
    caller.communicate()
    assert gone(pids)
    assert list(files.iterdir()) == []
