"""Judges that wait until somebody takes them, in whichever process."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from queue import SimpleQueue

import pytest

from kafkalearn.grading.engines import judge_process
from kafkalearn.grading.engines import ready_judges as ready_module
from kafkalearn.grading.engines.helper import GradingHelper
from kafkalearn.grading.engines.judge_process import JudgeProcess
from kafkalearn.grading.engines.ready_judges import ready_judges, take
from kafkalearn.grading.handed_in.collect import Submission
from tests.grading.processes import alive, descendants, gone, until
from tests.grading.submissions import EXERCISE, FOLDER, as_bytes, code, notebook
from tests.grading.test_helper import SOLUTION, statuses

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's /proc"),
]
ENDLESS = notebook()
ENDLESS["cells"].insert(0, code("import time; time.sleep(600)"))

# What a caller that gets killed does, up to a line that it prints.
CALLER = """
import sys, time
from kafkalearn.grading.engines.helper import GradingHelper
from kafkalearn.grading.engines.ready_judges import ready_judges
from tests.grading.test_ready_judges import *
"""
TAKES = "helper = GradingHelper(trusted=True, ready=sys.argv[1])\n" + (
    "helper.grade(SOLUTION, EXERCISE, seed=1)\n"
    "print(helper._judge.pid, flush=True)\n"
    "helper.grade(Submission('b', EXERCISE.name, as_bytes(ENDLESS)), EXERCISE, seed=1)\n"
)
HOLDS = (
    "with ready_judges(1, EXERCISE, engine='fork', trusted=True) as address:\n"
    "    print(address, flush=True)\n"
    "    time.sleep(600)\n"
)


def waiting(count=1):
    """Judges that wait, each for one who takes it."""
    return ready_judges(count, EXERCISE, engine="fork", trusted=True)


def children():
    """What this process has started, and what that has."""
    return set(map(int, descendants(os.getpid())[1:]))


def begun(script, *arguments):
    """A process that runs this, and the line that it prints first."""
    environment = os.environ | {"PYTHONPATH": str(FOLDER.parents[1])}
    command = [sys.executable, "-c", CALLER + script, *arguments]
    caller = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    return caller, caller.stdout.readline().strip()


def test_a_judge_that_waited_has_graded_before_and_grades_as_any_other(files):
    """What takes long the first time is done when somebody comes."""
    with waiting(2) as address:
        judge = take(address)
        environment = Path("/proc", str(judge.pid), "environ").read_bytes().split(b"\0")
        servers = descendants(judge.pid)[1:]
        judge.kill()
        rows = []
        for ready in (address, ""):
            helper = GradingHelper(trusted=True, ready=ready)
            grades = helper.grade(SOLUTION, EXERCISE, seed=1)
            rows.append([grade._replace(seconds=0) for grade in grades])
            helper.close()
    assert len(servers) == 2  # the server's starter, the server: they are there from the first on
    assert b"PYTHONHASHSEED=0" in environment  # or its sets would have another order than Spark's
    assert statuses(grades) == {"passed"}
    assert rows[0] == rows[1]
    assert list(files.iterdir()) == []


def test_each_judge_goes_to_one_who_asks_and_the_next_hears_that_none_is_left(files):
    """And starts one itself."""
    with waiting(2) as address:
        judges = [take(address), take(address)]
        assert take(address) is None
        helper = GradingHelper(trusted=True, ready=address)
        assert statuses(helper.grade(SOLUTION, EXERCISE, seed=1)) == {"passed"}
        pids = {helper._judge.pid, *(judge.pid for judge in judges)}
        assert len(pids) == 3
        helper.close()
        for judge in judges:
            assert alive(judge.pid)
            judge.kill()
        assert list(files.iterdir()) == []  # also the door, which is of no use any more
    assert gone(pids)
    assert take(address) is None
    assert take("") is None
    assert list(files.iterdir()) == []


@pytest.mark.parametrize("least", [1, 3])  # the judge alone; with its server and that's starter
def test_who_is_not_taken_ends_with_the_block(files, least):
    """Whether it is ready by then or not."""
    before = children()
    with waiting() as address:
        until(lambda: len(children() - before) >= least)
        pids = children() - before
        assert len(pids) >= least
        assert address.startswith(str(files))
    assert gone(pids)
    assert list(files.iterdir()) == []


def test_a_judge_that_hangs_before_it_is_ready_ends_with_the_block_as_well(files, monkeypatch):
    """It is not waited for."""
    monkeypatch.setattr(ready_module, "READY_SECONDS", 600)
    before = children()
    with waiting():
        until(lambda: children() - before)
        pids = children() - before
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
    assert gone(pids)
    assert list(files.iterdir()) == []


def test_who_was_taken_does_not_end_with_the_block(files):
    """It is another's by now."""
    with waiting() as address:
        helper = GradingHelper(trusted=True, ready=address)
        helper._judge = judge = take(address)
    assert statuses(helper.grade(SOLUTION, EXERCISE, seed=1)) == {"passed"}
    assert helper._judge is judge
    helper.close()
    assert list(files.iterdir()) == []


def test_nothing_waits_where_none_is_wanted(files):
    """As for a cluster: its executors are elsewhere."""
    with ready_judges(0, EXERCISE, engine="fork", trusted=True) as address:
        assert address == ""
        assert list(files.iterdir()) == []


def test_where_no_door_can_be_made_nobody_waits(files, monkeypatch):
    """In a folder of a long name there is no place for a socket."""
    deep = files / ("d" * 100)
    deep.mkdir()
    with monkeypatch.context() as far:
        far.setattr(tempfile, "tempdir", str(deep))
        with waiting() as address:
            assert address == ""
    assert list(deep.iterdir()) == []


def test_a_judge_that_cannot_start_lets_nobody_wait(tmp_path, files, monkeypatch):
    """Who asks for it starts one itself, and says what became of that."""
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no memory left >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    with waiting(2) as address:
        assert take(address) is None
        helper = GradingHelper(trusted=True, ready=address)
        grades = helper.grade(SOLUTION, EXERCISE, seed=1)
    assert "failed with status 1; its last words: no memory left" in grades[0].reason
    assert list(files.iterdir()) == []


def test_a_judge_that_ended_while_it_waited_is_not_handed_over(files, monkeypatch):
    """Nobody's submission is lost by it."""
    grade, ready = JudgeProcess.grade, SimpleQueue()

    def grade_and_tell(judge, *args, **settings):
        rows = grade(judge, *args, **settings)
        ready.put(judge.pid)
        return rows

    monkeypatch.setattr(JudgeProcess, "grade", grade_and_tell)
    with waiting() as address:
        judge = ready.get(timeout=30)
        os.kill(judge, signal.SIGKILL)
        os.waitid(os.P_PID, judge, os.WEXITED | os.WNOWAIT)  # all of its threads
        assert take(address) is None
    assert list(files.iterdir()) == []


def test_a_judge_that_does_not_get_ready_lets_nobody_wait_long(files, monkeypatch):
    """As when the starter, which it runs first, takes its time."""
    monkeypatch.setattr(ready_module, "READY_SECONDS", 0.2)
    before = children()
    with waiting() as address:
        assert take(address) is None
        assert gone(children() - before)
    assert list(files.iterdir()) == []


def test_a_judge_that_cannot_be_started_at_all_leaves_nothing(files, monkeypatch):
    """There is no such program: said at once to who starts it itself, and to nobody before."""
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with waiting(2) as address:
        assert take(address) is None
    with pytest.raises(FileNotFoundError):
        GradingHelper(trusted=True).grade(SOLUTION, EXERCISE, seed=1)
    assert list(files.iterdir()) == []


def test_one_that_was_taken_and_gets_lost_is_a_reason_and_the_next_works(files, monkeypatch):
    """As with one's own: killed by somebody, or by us since it did not end."""
    with waiting(2) as address:
        helper = GradingHelper(trusted=True, ready=address)
        helper.grade(SOLUTION, EXERCISE, seed=1)
        os.kill(helper._judge.pid, signal.SIGKILL)
        os.waitid(os.P_PID, helper._judge.pid, os.WEXITED | os.WNOWAIT)
        subprocess.run(["true"], check=True)  # Python asks then for children that it has forgotten.
        grades = helper.grade(SOLUTION, EXERCISE, seed=1)
        assert statuses(grades) == {"not_run"}
        assert grades[0].reason == "the grading process was killed by signal 9"
        assert statuses(helper.grade(SOLUTION, EXERCISE, seed=1)) == {"passed"}
        pids = descendants(helper._judge.pid)
        with monkeypatch.context() as short:
            short.setattr(judge_process, "GRACE_SECONDS", 0.5 - EXERCISE.limits.total_seconds)
            endless = Submission("b", EXERCISE.name, as_bytes(ENDLESS))
            grades = helper.grade(endless, EXERCISE, seed=1)
        said = "the grading process did not end within its limit and was killed"
        assert grades[0].reason == said
        assert gone(pids)
        assert statuses(helper.grade(SOLUTION, EXERCISE, seed=1)) == {"passed"}
        helper.close()
    assert list(files.iterdir()) == []


def test_a_judge_ends_with_whoever_took_it(files):
    """Killed in the middle of a submission; that its starter lives on changes nothing."""
    with waiting() as address:
        caller, judge = begun(TAKES, address)
        until(lambda: len(descendants(int(judge))) >= 4)
        pids = descendants(int(judge))
        assert len(pids) >= 4  # the judge's, the server's starter, the server, the submission's
        caller.kill()
        caller.communicate()
        assert gone(pids)
    assert list(files.iterdir()) == []


def test_a_judge_that_was_taken_outlives_its_starter_and_others_do_not(files):
    """The starter is killed: who waits for submissions goes on, who waits for a taker ends."""
    starters = [begun(HOLDS) for _ in range(2)]
    helper = GradingHelper(trusted=True, ready=starters[0][1])
    assert statuses(helper.grade(SOLUTION, EXERCISE, seed=1)) == {"passed"}
    judge = helper._judge.pid
    until(lambda: descendants(starters[1][0].pid)[1:])
    others = descendants(starters[1][0].pid)[1:]
    assert others
    for caller, _ in starters:
        caller.kill()
        caller.communicate()
    assert gone(others)
    assert statuses(helper.grade(SOLUTION, EXERCISE, seed=1)) == {"passed"}
    assert helper._judge.pid == judge
    helper.close()
    assert gone([judge])
    assert [each.name for each in files.rglob("*") if each.name != "door" and each.is_file()] == []
