"""The judge at its end of a socket, and a learner's half that talks to it."""

import os
import socket
from threading import Thread

import pytest

from kafkalearn.grading import CheckFailedError, check
from kafkalearn.grading.answering.wire import JUDGE_ADDRESS, receive, send
from kafkalearn.grading.judging.judge_server import MOST_CHECKS, JudgeServer, TooManyChecksError
from tests.grading.submissions import EXERCISE, FOLDER, answer_of

RIGHT = answer_of(FOLDER / "solution.ipynb")
NAME = "41_range_assignor/by-name"


class Desk:
    """A judge with seed 5 in a thread, and the learner's end of its socket."""

    def __init__(self):
        self.ours, self.learners = socket.socketpair()
        self.server = JudgeServer(self.ours.makefile("rwb"), EXERCISE, seed=5)
        self.ended = None
        self.thread = Thread(target=self._hear, daemon=True)
        self.thread.start()

    def _hear(self):
        try:
            while True:
                self.server.hear()
        except (EOFError, OSError) as error:
            self.ended = error

    def leave(self):
        """The learner's process ends."""
        self.learners.shutdown(socket.SHUT_RDWR)
        self.thread.join()


@pytest.fixture
def judge(monkeypatch):
    """A judge that hears the check by-name while that cell runs."""
    desk = Desk()
    desk.server.cell = "by-name"
    monkeypatch.setenv(JUDGE_ADDRESS, str(desk.learners.fileno()))
    with desk.ours, desk.learners:
        yield desk
        desk.leave()


def test_the_judge_decides_and_remembers(judge, capsys):
    """The learner's cell shows the judge's words; the verdict stays with the judge."""
    check(NAME, RIGHT)
    assert capsys.readouterr().out == "by-name: right in 8 of 8 cases\n"
    assert judge.server.verdicts["by-name"].passed


def test_the_first_verdict_counts(judge):
    """The judge has told what is right: an answer that knows it now is too late."""
    with pytest.raises(CheckFailedError, match="is missing"):
        check(NAME, lambda *_: {})
    check(NAME, RIGHT)
    assert not judge.server.verdicts["by-name"].passed


def test_a_check_outside_of_its_cell_is_answered_as_at_home(judge):
    """It leaves no verdict, and shows the cases that everybody knows, not the student's own."""
    said = []
    for cell in ("", "random-groups"):
        judge.server.cell = cell
        with pytest.raises(CheckFailedError) as caught:
            check("41_range_assignor/random-groups", lambda *_: {"c0": 1}, seed=7)
        said.append(str(caught.value))
        assert ("random-groups" in judge.server.verdicts) == bool(cell)
    assert said[0] != said[1]


def started(desk):
    """A check that has been asked its first question, as a forger would begin it."""
    stream = desk.learners.makefile("rwb")
    send(stream, {"check": NAME})
    receive(stream)
    return stream


def test_a_check_that_breaks_off_is_undecided(judge):
    """A check that is begun and given up counts as not passed."""
    started(judge).close()
    judge.leave()
    assert judge.server.verdicts["by-name"] is None


def test_another_check_in_place_of_an_answer_begins_anew(judge):
    """An interrupted check leaves the judge ready for the next."""
    started(judge)
    judge.server.cell = "seven-over-five"
    check("41_range_assignor/seven-over-five", RIGHT)
    assert judge.server.verdicts["by-name"] is None
    assert judge.server.verdicts["seven-over-five"].passed


@pytest.mark.parametrize(
    "lines",
    [
        b'{"passed": true}\n',
        b'{"verdict": {"passed": true}}\n',
        b"not json\n",
        b'{"returned": {"Verdict": [true]}}\n',
        b'{"returned": {"dict": [[["a"], 1]]}}\n',
    ],
)
def test_a_forged_message_is_a_wrong_answer(judge, lines):
    """Whatever comes in place of an answer, the judge says no and goes on."""
    stream = started(judge)
    while "passed" not in (said := (stream.write(lines), stream.flush(), receive(stream))[-1]):
        pass
    assert said["passed"] is False
    assert judge.server.verdicts["by-name"].passed is False


def test_what_nobody_asked_for_is_passed_over(judge):
    """Answers that come late and nonsense between two checks change nothing."""
    os.write(judge.learners.fileno(), b'{"returned": 1}\nnonsense\n[]\n')
    check(NAME, RIGHT)
    assert judge.server.verdicts["by-name"].passed


def test_another_exercise_and_an_unknown_check_are_told_so(judge):
    """Neither leaves a verdict."""
    for name, said in [("42_other/by-name", "graded as 41"), ("41_range_assignor/x", "no check")]:
        with pytest.raises(CheckFailedError, match=said):
            check(name, print)
    assert judge.server.verdicts == {}


def test_no_end_of_checks_ends_the_conversation(judge):
    """After so many the judge hears no more."""
    for _ in range(MOST_CHECKS):
        with pytest.raises(CheckFailedError):
            check("41_range_assignor/x", print)
    send(judge.learners.makefile("rwb"), {"check": NAME})
    judge.thread.join()
    assert isinstance(judge.ended, TooManyChecksError)
