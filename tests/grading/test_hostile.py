"""A batch of hostile submissions and honest ones: each gets the grade that it must get."""

import ctypes
import os
import re
import shutil
import socket
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

from kafkalearn.grading.engines.fork_engine import ForkRunner
from kafkalearn.grading.engines.helper import GradingHelper
from kafkalearn.grading.engines.runner import run
from kafkalearn.grading.handed_in.collect import Submission
from kafkalearn.grading.isolation.sandbox import PROTECTIONS
from kafkalearn.grading.judging import judge_server
from tests.grading import attacks
from tests.grading.attacks import Attack, with_cell
from tests.grading.submissions import CHECKS, EXERCISE, FOLDER, changed
from tests.grading.walls import needs_walls

pytestmark = [
    pytest.mark.slow,
    needs_walls,
]
SMALL = "memory_mb = 512\noutput_kb = 200\nprocesses = 32\ndisk_mb = 16"
STATED = "cell_seconds = 10\ntotal_seconds = 75"
FIRM = changed(toml=(STATED, f"cell_seconds = 20\ntotal_seconds = 60\n{SMALL}"))
IMPATIENT = {
    engine: changed(toml=(STATED, f"cell_seconds = 2\ntotal_seconds = {seconds}\n{SMALL}"))
    for engine, seconds in (("fork", 4), ("kernel", 30))
}
HONEST = {
    "right": Attack((FOLDER / "solution.ipynb").read_bytes(), "passed", "right in"),
    "wrong": Attack(attacks.WRONG, "failed", "is missing"),
}
PROBED = {name: Attack(with_cell(cell), "passed") for name, (cell, _) in attacks.PROBES.items()}
HARMLESS = {name: Attack(content, "passed") for name, content in attacks.HARMLESS.items()}
FORKED = attacks.TOO_MUCH | attacks.LEAVING | attacks.FORGING | attacks.GARBAGE
ALL = FORKED | PROBED | HARMLESS | attacks.LOOPS
# What a kernel does in its own way, a second or two for each; the walls round both are the same.
KERNEL = ("memory bomb", "output flood", "os._exit", "asks twice", "solutions", "endless")
RUNS = {"fork": list(ALL), "kernel": list(KERNEL)}
both = pytest.mark.parametrize("graded", RUNS, indirect=True)


@pytest.fixture(scope="module")
def world():
    """What an attacker looks for, in place of the names in capitals."""
    folder = Path(tempfile.mkdtemp())
    victim = folder / "ann"
    victim.mkdir()
    folder.chmod(0o777)  # Only the walls are in his way.
    os.environ["SECRET"] = "token"
    key = 0x6B6C0000 + os.getpid()  # several of us may run at a time
    shared = ctypes.CDLL(None).shmget(key, 1, 0o1666)
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0kafkalearn-test-{os.getpid()}")
        abstract.listen()
        yield {
            "FOLDER": str(FOLDER),
            "CHECKOUT": str(FOLDER.parents[1]),
            "VICTIM": str(victim),
            "PORT": str(tcp.getsockname()[1]),
            "ABSTRACT": f"kafkalearn-test-{os.getpid()}",
            "SHARED": str(key),
            "CHECKS": repr(CHECKS),
        }
    ctypes.CDLL(None).shmctl(shared, 0, None)
    del os.environ["SECRET"]
    shutil.rmtree(folder)


def filled(content, world):
    """The submission with the names in capitals replaced."""
    for name, value in world.items():
        content = content.replace(name.encode(), value.encode())
    return content


def processes_of(folder):
    """Every process whose command names the folder, as a fork server's and its children's do."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if str(folder).encode() in (command := entry.read_bytes()):
                found.append(command)
    return found


@pytest.fixture(scope="module")
def batches(world):
    """Each engine's batch, graded once, whatever order the tests come in."""
    return cache(lambda engine: grade_batch(engine, world))


@pytest.fixture
def graded(request, batches):
    """The batch of one engine."""
    return batches(request.param)


def grade_batch(engine, world):
    """The whole batch through one helper: name -> grades; honest ones among them, and last."""
    helper = GradingHelper(engine=engine)
    result = {}

    def hand_in(name, attack, key):
        exercise = IMPATIENT[engine] if name in attacks.LOOPS else FIRM
        submission = Submission(name, EXERCISE.name, filled(attack.content, world))
        result[key] = helper.grade(submission, exercise, seed=7)

    for number, name in enumerate(names := RUNS[engine]):
        hand_in(name, ALL[name], name)
        if number % 7 == 0 or name == names[-1]:
            for honest, attack in HONEST.items():
                hand_in(honest, attack, (honest, number))
    result["folder"] = helper._judge.room
    result["running"] = processes_of(result["folder"])
    helper.close()
    result["left"] = processes_of(result["folder"])
    return result


def assert_graded(grades, attack):
    """Every check has the status and a reason that fits."""
    assert [grade.check for grade in grades] == CHECKS
    for grade in grades:
        assert grade.status in attack.status.split(" or "), grade
        assert re.search(attack.reason, grade.reason), grade.reason
        assert (grade.points > 0) == (grade.status == "passed")


@pytest.mark.parametrize(
    ("graded", "name"),
    [(engine, name) for engine, names in RUNS.items() for name in names],
    indirect=["graded"],
)
def test_an_attack_gets_its_grade(graded, name):
    """No forged pass, and the true cause in every reason."""
    assert_first_failed(name, graded[name])


def assert_first_failed(name, grades):
    """A check whose cell was stopped has failed, and those after it were not reached."""
    attack = ALL[name]
    if attack.status != "failed" or {grade.status for grade in grades} == {"failed"}:
        assert_graded(grades, attack)
        return
    assert grades[0].status == "failed"
    assert_graded(grades, attack._replace(status="failed or not_reached"))


@both
def test_honest_neighbours_keep_their_grades(graded):
    """Whatever runs before them, the same answer gets the same rows, apart from seconds."""
    for name, attack in HONEST.items():
        rows = [grades for key, grades in graded.items() if key[0] == name]
        assert len(rows) >= 2
        for grades in rows:
            assert_graded(grades, attack)
            assert [g._replace(seconds=0) for g in grades] == [
                g._replace(seconds=0) for g in rows[0]
            ]


@both
def test_nothing_stays_behind(graded):
    """No process and no file, whatever the batch left running."""
    assert len(graded["running"]) == 1  # The server alone, and the search finds it.
    assert graded["left"] == []
    assert not graded["folder"].exists()


@pytest.fixture(scope="module")
def graded_without():
    """Grade a submission without these protections; equal walls are built once."""
    engines = {}

    def grade(content, *left_out):
        walls = PROTECTIONS - {*left_out}
        engine = engines.setdefault(walls, ForkRunner(walls))
        return run(Submission("eve", EXERCISE.name, content), FIRM, seed=7, engine=engine)

    yield grade
    for engine in engines.values():
        engine.close()


@pytest.mark.parametrize("name", attacks.PROBES)
def test_a_probe_succeeds_without_its_protection(world, graded_without, name):
    """Each wall is there for something: without it the attacker reaches what he looks for."""
    cell, protections = attacks.PROBES[name]
    Path(world["VICTIM"]).mkdir(exist_ok=True)
    grades = graded_without(filled(with_cell(cell), world), *protections.split())
    if "pids" in protections and os.geteuid() and grades[0].status == "not_run":
        pytest.skip(grades[0].reason)  # without such a namespace nobody but root may mount /proc
    assert {grade.status for grade in grades} == {"not_reached"}
    assert "reached" in grades[0].reason.removeprefix(f"{CHECKS[0]}: not reached")


TAME = {
    "memory bomb": "x = bytearray(b'x' * 600 * 2**20)",
    "one large file": "with open('x', 'wb') as f: f.truncate(2**30)",
    "open files": "x = [open('/dev/null') for _ in range(1000)]",
}


@pytest.mark.parametrize("name", TAME)
def test_a_limit_that_is_off_does_not_hold(graded_without, name):
    """The same notebook, a little tamer, runs through when nothing stops it."""
    grades = graded_without(with_cell(TAME[name]), "limits", "watch")
    assert {grade.status for grade in grades} == {"passed"}


def test_the_first_verdict_is_the_one_that_counts(graded_without, monkeypatch):
    """If a check counted again, a notebook could answer with what the judge has just told it."""
    content = attacks.FORGING["asks twice"].content
    monkeypatch.setattr(judge_server.JudgeServer, "_counts", lambda self, check: check == self.cell)
    assert {grade.status for grade in graded_without(content)} == {"passed"}
