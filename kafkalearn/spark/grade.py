"""Grades submissions on Spark: rows in, rows out.

What executors need reaches them through Spark, not a shared folder: the exercises travel with the
function, the package's own source as a file of the job, the submissions as rows. A cluster's
machines need the third-party packages only.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from kafkalearn.grading.engines.helper import helper
from kafkalearn.grading.exercise import Exercise, student_seed
from kafkalearn.grading.grades import Grade, not_run
from kafkalearn.grading.handed_in.collect import Submission
from kafkalearn.spark.session import (
    SparkStartError,
    check_running,
    first_cause,
    first_line,
    local_cores,
)
from kafkalearn.spark.shipped import ship

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import SparkSession

MOST_ROWS = 16  # of a job: its overhead counts little, and a run that is killed loses little
MOST_BYTES = 4 * 2**20  # of a job of several submissions
MOST_JOBS = 64  # at a time; one thread here waits for each, and holds its rows


class Settings(NamedTuple):
    """How a class is graded: the seed of the course, and what GradingHelper takes."""

    course_seed: int = 0
    engine: str = "fork"
    trusted: bool = False
    ready: str = ""


Graded = tuple[int, list[Grade]]  # a row's number, and what each check gave
Job = Future[list[Graded]]


class Row(NamedTuple):
    """A submission on its way; its number comes back with its grades."""

    number: int
    student: str
    exercise: str
    content: bytes


def grade(
    submissions: "RDD[Row]", exercises: Mapping[str, Exercise], *, settings: Settings
) -> "RDD[Graded]":
    """Judge every submission, of exercises that are given, each in a clean process of its own.

    It is an RDD, not a DataFrame: a job of a few rows takes a quarter of the time.
    """
    files = {name: dict(exercise.files) for name, exercise in exercises.items()}

    def grade_rows(rows: Iterable[Row]) -> Iterator[Graded]:
        known = {name: Exercise.of(name, files[name]) for name in files}
        grading = helper(settings.engine, settings.trusted, ready=settings.ready)
        for number, student, name, content in rows:
            submission, exercise = Submission(student, name, content), known[name]
            seed = student_seed(student, name, course_seed=settings.course_seed)
            yield number, grading.grade(submission, exercise, seed=seed)

    return submissions.mapPartitions(grade_rows)


def isolation_problems(spark: "SparkSession", *, count: int) -> list[str]:
    """Ask where submissions will run why they cannot be isolated there; empty if they can.

    On this machine it is asked once. But every worker that `count` submissions need has a task, so
    that all of Spark's Pythons have started when grading begins, not one after another.
    SparkStartError if there is nobody to ask.
    """
    context = spark.sparkContext
    ship(context)
    here = min(local_cores(context.master), count)
    asked = here or context.defaultParallelism

    def ask(numbers: Iterable[int]) -> Iterator[str | None]:
        from kafkalearn.grading.engines import helper  # noqa: F401 - what grading begins with
        from kafkalearn.grading.isolation.walls import isolation_problem

        for number in numbers:
            yield None if here and number else isolation_problem()

    questions = context.range(0, asked, 1, asked).mapPartitions(ask)
    try:
        # In a thread: here Ctrl-C would meet PySpark in the middle of a call.
        with ThreadPoolExecutor(1) as pool:
            answers = pool.submit(questions.collect).result()
    except Exception as error:
        raise SparkStartError(f"Spark's workers do not work: {first_cause(error)}") from error
    return sorted({answer for answer in answers if answer})


def grade_all(
    spark: "SparkSession",
    rows: Iterable[Row],
    *,
    exercises: Mapping[str, Exercise],
    settings: Settings,
    count: int,
) -> Iterator[Graded]:
    """Grade in batches, as many at a time as Spark has cores; give each number with its grades.

    Rows are read as they are needed. A batch whose job failed is graded again, each submission
    alone while nothing else runs, so that none is harmed by another.
    count: about how many there are. Errors: SparkStartError if Spark itself is lost.
    """
    context = spark.sparkContext
    ship(context)

    def job(batch: list[Row]) -> list[Graded]:
        wanted = {row.exercise: exercises[row.exercise] for row in batch}
        return grade(context.parallelize(batch, 1), wanted, settings=settings).collect()

    cores = min(context.defaultParallelism, MOST_JOBS)
    batches = _batches(rows, most=min(MOST_ROWS, ceil(count / (2 * cores))))
    running: dict[Job, list[Row]] = {}
    suspects: list[Row] = []
    pool = ThreadPoolExecutor(cores)
    try:
        while True:
            alone = bool(suspects) and not running
            free = 0 if suspects else cores - len(running)
            started = [[suspects.pop(0)]] if alone else list(islice(batches, free))
            running |= {pool.submit(job, batch): batch for batch in started}
            if not running:
                return
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                batch = running.pop(done)
                if graded := _graded(done, spark):
                    yield from graded
                elif alone:
                    yield batch[0].number, _lost(done, batch[0], exercises)
                else:
                    suspects += batch
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # After an interrupt nobody waits for jobs.


def _batches(rows: Iterable[Row], *, most: int) -> Iterator[list[Row]]:
    batch: list[Row] = []
    size = 0
    for row in rows:
        if batch and (len(batch) == most or size + len(row.content) > MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += len(row.content)
    if batch:
        yield batch


def _graded(done: Job, spark: "SparkSession") -> list[Graded]:
    """Give what a job gave, or nothing if it failed; SparkStartError if there is no Spark left."""
    error = done.exception()
    if error is None:
        return done.result()
    check_running(spark, doing="graded", error=error)
    return []


def _lost(done: Job, row: Row, exercises: Mapping[str, Exercise]) -> list[Grade]:
    # Which task of which stage it was on which machine differs from run to run.
    cause = re.sub(r"^.*\(TID \d+\)[^:]*: ", "", first_line(done.exception() or RuntimeError()))
    return not_run(row.student, exercises[row.exercise], reason=f"Spark could not run it: {cause}")
