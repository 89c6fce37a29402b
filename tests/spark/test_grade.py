"""Batches of submissions through Spark: each gets its grade, whatever becomes of the others."""

import sys
from collections import Counter
from types import SimpleNamespace

import pytest

from kafkalearn.grading.grades import Grade
from kafkalearn.grading.handed_in.collect import Submission
from kafkalearn.spark import grade as module
from kafkalearn.spark.grade import MOST_BYTES, MOST_ROWS, Row, Settings, grade_all
from kafkalearn.spark.session import SparkStartError
from tests.grading.submissions import CHECKS, EXERCISE, FOLDER, as_bytes, code, notebook

SOLUTION = notebook(FOLDER / "solution.ipynb")
EXIT = as_bytes(SOLUTION | {"cells": [code("import sys\nsys.exit(0)"), *SOLUTION["cells"]]})
WRONG = (FOLDER / "wrong" / "members_as_they_come.ipynb").read_bytes()
# student -> (what was handed in, the status of every check or None, what the reasons hold)
CLASS = {
    "solution": (as_bytes(SOLUTION), "passed", "right in"),
    "starter": ((FOLDER / "starter.ipynb").read_bytes(), "failed", "not written yet"),
    "sys.exit": (EXIT, "not_reached", "it left by sys.exit()"),
    "no notebook": (b"print('hello')", "not_run", "does not hold JSON"),
    "wrong": (WRONG, None, ""),
    "wrong again": (WRONG, None, ""),
}


def graded_by(spark, rows, **settings):
    """Grade these rows: number -> grades."""
    exercises, settings = {EXERCISE.name: EXERCISE}, Settings(**settings)
    result = list(
        grade_all(spark, iter(rows), exercises=exercises, settings=settings, count=len(rows))
    )
    assert len(dict(result)) == len(result)
    return dict(result)


@pytest.fixture(scope="module")
def graded(spark):
    """The grades of the class, student -> check -> grade."""
    contents = enumerate(CLASS.items())
    rows = [Row(number, name, EXERCISE.name, each[0]) for number, (name, each) in contents]
    grades = graded_by(spark, rows)
    assert sorted(grades) == list(range(len(CLASS)))
    return {each[0].student: {grade.check: grade for grade in each} for each in grades.values()}


@pytest.mark.spark
@pytest.mark.slow
def test_everybody_gets_their_own_grade_for_every_check(graded):
    """In one batch with crashes and nonsense."""
    assert set(graded) == set(CLASS)
    for student, (_, status, said) in CLASS.items():
        assert list(graded[student]) == CHECKS
        for each in graded[student].values():
            assert status in (each.status, None)
            assert said in each.reason


@pytest.mark.spark
@pytest.mark.slow
def test_students_are_asked_about_different_groups(graded):
    """The same wrong answer is shown another case for another student, or in other words."""
    one, other = (graded[name]["random-groups"] for name in ("wrong", "wrong again"))
    assert one.status == other.status == "failed"
    assert one.detail
    assert graded["wrong"]["seven-over-five"].status == "passed"


class FakeSpark:
    """As much of a session as grading uses; a job runs here, and fails if it holds a killer."""

    def __init__(self, cores=2):
        self.sparkContext = self
        self.master = "spark://there:7077"
        self.defaultParallelism = cores
        self._jsc = self
        self.stopped = False
        self.jobs = []
        self.running = 0

    def addPyFile(self, path):  # noqa: N802
        """Take a file for the workers."""

    def sc(self):
        """The context of Java."""
        return self

    def isStopped(self):  # noqa: N802
        """Whether Spark is lost."""
        return self.stopped

    def parallelize(self, batch, parts):
        """Rows, in one part."""
        assert parts == 1
        return FakeRows(self, batch)


class FakeRows:
    """A job's rows."""

    def __init__(self, spark, batch):
        self.spark, self.batch, self.run = spark, batch, None

    def mapPartitions(self, run):  # noqa: N802
        """Remember what to run."""
        self.run = run
        return self

    def collect(self):
        """Run it, unless a row of it kills the executor."""
        spark = self.spark
        spark.running += 1
        try:
            spark.jobs.append(([row.number for row in self.batch], spark.running))
            if any(row.content == b"kills" for row in self.batch):
                lost = "Task 0 in stage 7.0 failed 4 times: Lost task 0.3 in stage 7.0 (TID 12) (h"
                raise RuntimeError(f"Job aborted: {lost} executor 1): the executor was lost\nat x")
            return list(self.run(iter(self.batch)))
        finally:
            spark.running -= 1


class FakeHelper:
    """Passes everybody."""

    def grade(self, submission: Submission, exercise, *, seed):
        """One row a check."""
        return [
            Grade(submission.student, exercise.name, check.name, 2.0, 2.0, "passed", "yes", 0.1)
            for check in exercise.checks
        ]


@pytest.fixture
def fake_helper(monkeypatch):
    """Nobody starts a process; what was asked for is kept."""
    asked = []
    monkeypatch.setattr(
        module, "helper", lambda *how, ready: asked.append((*how, ready)) or FakeHelper()
    )
    return asked


def rows(count, *, killers=()):
    """Rows of as many students; some kill whatever runs them."""
    return [
        Row(number, f"s{number}", EXERCISE.name, b"kills" if number in killers else b"")
        for number in range(count)
    ]


def test_a_batch_that_failed_is_graded_again_one_by_one_and_alone(fake_helper):
    """Only the one that fails by itself has no grade; its reason is the same in every run."""
    spark = FakeSpark()
    grades = graded_by(spark, rows(40, killers={5, 6}), engine="kernel", trusted=True)
    lost = {number for number, each in grades.items() if each[0].status == "not_run"}
    assert (sorted(grades), lost) == (list(range(40)), {5, 6})
    assert grades[5][0].reason == "Spark could not run it: the executor was lost"
    times = Counter(number for batch, _ in spark.jobs for number in batch)
    assert times[5] == times[6] == 2
    assert max(times.values()) == 2
    alone = [running for batch, running in spark.jobs if len(batch) == 1]
    assert alone == [1] * 10
    assert set(fake_helper) == {("kernel", True, "")}


@pytest.mark.usefixtures("fake_helper")
def test_no_more_is_read_than_runs():
    """A class of any size takes the memory of a few batches: of rows, and of bytes."""
    spark, read = FakeSpark(), []

    def reading():
        for row in rows(200):
            read.append(row.number)
            yield row

    exercises = {EXERCISE.name: EXERCISE}
    result = grade_all(spark, reading(), exercises=exercises, settings=Settings(), count=200)
    next(result)
    assert len(read) <= 3 * MOST_ROWS + 1
    assert len(list(result)) == 199
    assert {len(batch) for batch, _ in spark.jobs} <= {MOST_ROWS, 200 % MOST_ROWS}
    large = [Row(n, "s", EXERCISE.name, bytes(MOST_BYTES // 2)) for n in range(6)]
    spark = FakeSpark()
    graded_by(spark, large)
    assert max(len(batch) for batch, _ in spark.jobs) == 2


@pytest.mark.usefixtures("fake_helper")
def test_a_small_class_is_shared_among_the_cores():
    """Nobody waits for one long batch."""
    spark = FakeSpark(cores=4)
    graded_by(spark, rows(16))
    assert [len(batch) for batch, _ in spark.jobs] == [2] * 8


@pytest.mark.usefixtures("fake_helper")
def test_when_spark_is_lost_grading_ends():
    """No grade is made up for those who were not graded."""
    spark = FakeSpark()
    spark.stopped = True
    with pytest.raises(SparkStartError, match="Spark was lost while it graded: Job aborted"):
        graded_by(spark, rows(3, killers={1}))


def test_workers_that_do_not_work_are_said_in_a_sentence():
    """As with a PYSPARK_PYTHON that is not there: nothing is graded, and why is in Java's words."""

    def fail():
        raise RuntimeError('Job aborted: java.io.IOException: Cannot run program "p"\nat x')

    jobs = SimpleNamespace(mapPartitions=lambda _: SimpleNamespace(collect=fail))
    context = SimpleNamespace(
        master="local[2]",
        pythonExec=sys.executable,
        environment={},
        range=lambda start, end, step, parts: jobs,
    )
    with pytest.raises(SparkStartError) as refused:
        module.isolation_problems(SimpleNamespace(sparkContext=context), count=2)
    said = 'Spark\'s workers do not work: java.io.IOException: Cannot run program "p"'
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("master", "count", "tasks", "probes"),
    [
        ("local[2]", 60, 2, 1),
        ("local[8]", 3, 3, 1),
        ("local", 9, 1, 1),
        ("spark://here:7077", 1, 6, 6),
        ("local-cluster[2,1,1024]", 1, 6, 6),
    ],
)
def test_each_machine_is_asked_and_each_worker_starts(monkeypatch, master, count, tasks, probes):
    """Here it is asked once, with a task for each worker; on a cluster every task asks its own."""
    asked = []

    def problem():
        asked.append(master)
        return "no namespaces"

    def parts(start, end, step, slices):
        assert (start, end, step) == (0, slices, 1)
        ran = SimpleNamespace(tasks=slices)
        ran.mapPartitions = lambda ask: SimpleNamespace(
            collect=lambda: [each for number in range(slices) for each in ask([number])]
        )
        started.append(ran)
        return ran

    started = []
    monkeypatch.setattr("kafkalearn.grading.isolation.walls.isolation_problem", problem)
    monkeypatch.setattr(module, "ship", lambda _: None)
    context = SimpleNamespace(master=master, defaultParallelism=6, range=parts)
    found = module.isolation_problems(SimpleNamespace(sparkContext=context), count=count)
    assert (found, started[0].tasks, len(asked)) == (["no namespaces"], tasks, probes)
