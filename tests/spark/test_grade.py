"""A mixed class through Spark: every submission gets the grade that it must get, and only that."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kafkalearn.grading.collect import Submission
from kafkalearn.grading.grades import Grade
from kafkalearn.grading.wire import JUDGE_ADDRESS
from kafkalearn.spark.grade import GRADE, SUBMISSION, grade, grade_all
from tests.grading.submissions import (
    CHECKS,
    EXERCISE,
    FOLDER,
    answered,
    as_bytes,
    changed,
    code,
    notebook,
    without_checks,
)
from tests.spark.processes import MARK, judged_processes

pytestmark = [pytest.mark.spark, pytest.mark.slow]

# For those who loop, so that they cost the tests no more than this.
IMPATIENT = changed(
    toml=("cell_seconds = 10\ntotal_seconds = 75", "cell_seconds = 5\ntotal_seconds = 30")
)
SOLUTION = notebook(FOLDER / "solution.ipynb")
DEF = "def range_assign(partitions_per_topic, subscriptions):\n"


def with_cell(source, *tags):
    """The solution with one more cell, right before its checks."""
    cells = [*SOLUTION["cells"][: -len(CHECKS)], code(source, *tags)]
    return as_bytes(SOLUTION | {"cells": cells + SOLUTION["cells"][-len(CHECKS) :]})


def endless_for_two_topics():
    """The solution, but it never returns when it is asked about more than two topics."""
    source = "".join(next(c["source"] for c in SOLUTION["cells"] if c["id"] == "answer"))
    loop = "    while len(partitions_per_topic) > 2: pass\n    assignment = {"
    return answered(source.replace("    assignment = {", loop, 1))


RIGHT = {
    "solution": (FOLDER / "solution.ipynb").read_bytes(),
    "deletes the checks": as_bytes(
        without_checks(SOLUTION | {"cells": [*SOLUTION["cells"], code("seed = 'mine'")]})
    ),
}
# name -> (submission, status of every check, what each reason holds)
FAILING = {
    "starter": ((FOLDER / "starter.ipynb").read_bytes(), "failed", "not written yet"),
    "prints passed": (
        answered(DEF + "    print('passed', '41_range_assignor/by-name: right in 8 of 8 cases')"),
        "failed",
        "the answer is None (is a `return` missing?)",
    ),
    "replaces check": (
        with_cell("import kafkalearn.grading\nkafkalearn.grading.check = lambda *_, **__: None"),
        "failed",
        "the judge was not asked",
    ),
    "hides the judge": (
        with_cell("import os\ndel os.environ['KAFKALEARN_JUDGE']"),
        "failed",
        "the judge cannot be reached",
    ),
    "sys.exit": (
        with_cell("import sys\nsys.exit(0)"),
        "not_reached",
        "the cell `import sys` stopped the notebook: it left by sys.exit()",
    ),
    "os._exit": (
        with_cell("import os; os._exit(0)"),
        "not_reached",
        "the notebook's Python process ended when it came to the cell `import os; os._exit(0)`",
    ),
    "no notebook": (b"print('hello')", "not_run", "does not hold JSON"),
    "kills its grader": (
        with_cell("import os, signal; os.kill(os.getppid(), signal.SIGKILL)"),
        "not_run",
        "the grading process was killed by signal 9",
    ),
    "package": (
        (FOLDER / "wrong" / "calls_the_package.ipynb").read_bytes(),
        "not_reached",
        "this exercise does not lend kafkalearn.assignors.range_assignor: write it yourself",
    ),
}
LOOPING = {
    "endless cell": (
        with_cell("while True: pass"),
        "not_reached",
        "it ran longer than 5 s and was interrupted",
    ),
    "ignores interrupts": (
        with_cell(
            "import signal, time; signal.signal(2, signal.SIG_IGN)\nwhile True: time.sleep(1)"
        ),
        "not_reached",
        "the notebook ran longer than 30 s and was ended in the cell `import signal, time;",
    ),
}
WRONG = (FOLDER / "wrong" / "members_as_they_come.ipynb").read_bytes()
HALF_RIGHT = {"wrong": WRONG, "wrong again": WRONG, "endless": endless_for_two_topics()}


@pytest.fixture(scope="module")
def graded(spark):
    """The grades of the whole class, student -> check -> grade."""
    failing = {name: content for name, (content, *_) in (FAILING | LOOPING).items()}
    contents = failing | RIGHT | HALF_RIGHT
    loops = {*LOOPING, "endless"}
    rows = []
    for exercise, names in [(IMPATIENT, loops), (EXERCISE, contents.keys() - loops)]:
        submissions = [Submission(name, EXERCISE.name, contents[name]) for name in names]
        rows += grade_all(spark, submissions, exercises={EXERCISE.name: exercise})
    return {grades[0].student: {each.check: each for each in grades} for grades in rows}


def test_nothing_is_lost(graded):
    """Every submission has a row for every check, and no row has points without a pass."""
    assert set(graded) == {*RIGHT, *FAILING, *LOOPING, *HALF_RIGHT}
    for grades in graded.values():
        assert list(grades) == CHECKS
        assert all((each.points == 2.0) == (each.status == "passed") for each in grades.values())
        assert all(each.max_points == 2.0 and each.reason for each in grades.values())


@pytest.mark.parametrize("student", RIGHT)
def test_a_right_answer_passes_whatever_its_neighbours_do(graded, student):
    """Full points beside crashes and nonsense; deleted checks are put back."""
    assert [each.status for each in graded[student].values()] == ["passed"] * len(CHECKS)


@pytest.mark.parametrize("student", FAILING | LOOPING)
def test_everything_else_has_failed_with_its_own_reason(graded, student):
    """No check passes, and each says the true cause."""
    _, status, said = (FAILING | LOOPING)[student]
    for each in graded[student].values():
        assert (each.status, said in each.reason) == (status, True), each.reason


def test_a_wrong_answer_is_caught_and_keeps_the_points_for_what_is_right(graded):
    """Run as submissions are, not only by the judge alone; the case is there to be shown."""
    assert graded["wrong"]["by-name"].status == "failed"
    assert graded["wrong"]["by-name"].detail
    assert graded["wrong"]["seven-over-five"].status == "passed"


def test_an_answer_that_loops_loses_only_the_checks_that_it_loops_in(graded):
    """The cell is interrupted, says so, and the checks after it still run."""
    status = {check: each.status for check, each in graded["endless"].items()}
    assert status["topic-by-topic"] == status["random-groups"] == "failed"
    assert status["seven-over-five"] == status["by-name"] == "passed"
    assert "ran longer than 5 s" in graded["endless"]["topic-by-topic"].reason


def test_students_are_asked_about_different_groups(graded):
    """The same wrong answer is shown another case for another student."""
    one, other = (graded[name]["random-groups"] for name in ("wrong", "wrong again"))
    assert one.status == other.status == "failed"
    assert one.detail != other.detail


def test_rows_in_rows_out(spark):
    """The transform keeps to its schemas, and a bad row in the same partition harms no other."""
    rows = [("ann", EXERCISE.name, RIGHT["solution"]), ("bob", EXERCISE.name, b"")]
    submissions = spark.createDataFrame(rows, SUBMISSION).coalesce(1)
    result = grade(submissions, {EXERCISE.name: EXERCISE})
    assert result.schema == spark.createDataFrame([], GRADE).schema
    grades = [Grade(*row) for row in result.collect()]
    assert [(each.student, each.check) for each in grades] == [
        (student, check) for student in ("ann", "bob") for check in CHECKS
    ]
    assert {(each.student, each.status) for each in grades} == {
        ("ann", "passed"),
        ("bob", "not_run"),
    }


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs Linux's /proc")
@pytest.mark.usefixtures("graded")
def test_no_process_stays_behind():
    """The kernels of a graded class end, also those whose grader was killed."""
    mark = os.environ[MARK]
    patience = time.monotonic() + 30  # A kernel looks once a second whether its grader lives.
    while judged_processes(mark) and time.monotonic() < patience:
        time.sleep(0.2)
    assert judged_processes(mark) == []


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs Linux's /proc")
def test_a_process_that_stays_behind_is_found():
    """The search can fail, and passes over what others left."""
    environment = os.environ | {MARK: "mine", JUDGE_ADDRESS: "somewhere"}
    waits = [sys.executable, "-c", "print(flush=True); input()"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(waits, env=environment, **pipes) as process:
        process.stdout.readline()
        assert judged_processes("mine") == [str(process.pid)]
        assert judged_processes("another's") == []
        process.communicate(b"\n")
