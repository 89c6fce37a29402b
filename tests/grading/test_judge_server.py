"""The judge behind its socket, and a learner's half that talks to it."""

import socket
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from kafkalearn.grading import CheckFailedError, check
from kafkalearn.grading.judge_server import judge_server
from kafkalearn.grading.wire import JUDGE_ADDRESS, receive, send
from tests.grading.submissions import EXERCISE, FOLDER, answer_of


@pytest.fixture
def judge(monkeypatch):
    """A judge with seed 5 at a socket; its path must be short."""
    with TemporaryDirectory() as folder:
        address = Path(folder, "judge")
        monkeypatch.setenv(JUDGE_ADDRESS, str(address))
        with judge_server(address, EXERCISE, seed=5) as server:
            yield server


def test_the_judge_decides_and_remembers(judge, capsys):
    """The learner's cell shows the judge's words; the verdict stays with the judge."""
    check("41_range_assignor/by-name", answer_of(FOLDER / "solution.ipynb"))
    assert capsys.readouterr().out == "by-name: right in 8 of 8 cases\n"
    assert judge.verdicts["by-name"].passed


def test_the_last_verdict_counts(judge):
    """An answer that was right once and is wrong now has failed."""
    check("41_range_assignor/by-name", answer_of(FOLDER / "solution.ipynb"))
    with pytest.raises(CheckFailedError, match="a gets nothing"):
        check("41_range_assignor/by-name", lambda *_: {"a": [], "b": []})
    assert not judge.verdicts["by-name"].passed


def test_the_judges_own_seed_chooses_the_cases(judge):
    """What a learner's process says about a seed is not even sent."""
    said = []
    for seed in (1, 2):
        with pytest.raises(CheckFailedError) as caught:
            check("41_range_assignor/random-groups", lambda *_: {}, seed=seed)
        said.append(str(caught.value))
    assert said[0] == said[1]


def connected():
    """A connection of its own to the judge, as a forger would make one."""
    import os

    connection = socket.socket(socket.AF_UNIX)
    connection.connect(os.environ[JUDGE_ADDRESS])
    return connection, connection.makefile("rwb")


def test_a_check_that_breaks_off_is_undecided(judge):
    """After a right answer, a check that is begun again and given up counts as not passed."""
    check("41_range_assignor/by-name", answer_of(FOLDER / "solution.ipynb"))
    connection, stream = connected()
    send(stream, {"check": "41_range_assignor/by-name"})
    receive(stream)
    stream.close()
    connection.close()
    assert judge.verdicts["by-name"] is None


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
    connection, stream = connected()
    send(stream, {"check": "41_range_assignor/by-name"})
    receive(stream)
    stream.write(lines)
    stream.flush()
    assert receive(stream)["passed"] is False
    assert judge.verdicts["by-name"].passed is False
    connection.close()


def test_another_exercise_and_an_unknown_check_are_told_so(judge):
    """Neither leaves a verdict."""
    for name, said in [("42_other/by-name", "graded as 41"), ("41_range_assignor/x", "no check")]:
        with pytest.raises(CheckFailedError, match=said):
            check(name, print)
    assert judge.verdicts == {}
