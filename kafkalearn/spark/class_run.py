"""Runs what a class handed in: only what is new, with a progress bar, each result kept at once."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain, groupby
from threading import Thread
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)

from kafkalearn.grading.engines.ready_judges import ready_judges
from kafkalearn.grading.exercise import Exercise, student_seed
from kafkalearn.grading.grades import NOT_RUN, Grade, not_run
from kafkalearn.grading.handed_in.archives import SubmissionError
from kafkalearn.grading.handed_in.collect import Found, Submission
from kafkalearn.grading.judging.wording import clean
from kafkalearn.grading.report.journal import Journal, key
from kafkalearn.spark.grade import Row, Settings, grade_all, isolation_problems
from kafkalearn.spark.session import QUICK_JAVA, local_cores, spark_session
from kafkalearn.spark.shipped import grading_digest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ISOLATED = (
    "Each submission runs in a sandbox: it sees no other submission, no solution and no network, "
    "has no rights, and leaves nothing behind."
)
TRUSTED = (
    "--trusted: submissions run with your rights, and nothing keeps them from your files or from "
    "their grades."
)
MOST_READY = 2  # judges beside Spark's start: a rented machine may count more cores than we may use
_STOPPING: list[Thread] = []
_COLUMNS = (
    SpinnerColumn(),
    TextColumn("{task.description}"),
    BarColumn(),
    MofNCompleteColumn(),
    TimeRemainingColumn(),
)


class NotIsolatedError(RuntimeError):
    """Submissions cannot be kept from doing harm where they would run."""


@dataclass
class ClassRun:
    """What is to be graded and how, and what is known of it so far.

    found: sorted by student and exercise. places: of the graded ones, by number, in the journal.
    others: rows of those that could not be run; a later run tries them again.
    before: how many an earlier run has graded.
    """

    found: Sequence[Found]
    exercises: Mapping[str, Exercise]
    settings: Settings
    journal: Journal
    places: dict[int, int] = field(default_factory=dict)
    before: int = 0
    others: dict[int, list[Grade]] = field(default_factory=dict)

    def grade(self, master: str | None, console: Console) -> None:
        """Grade what the journal does not hold yet; Spark starts only if there is any.

        Errors: SparkStartError, NotIsolatedError, OSError.
        """
        keys: dict[int, str] = {}
        with Progress(*_COLUMNS, console=console) as progress:
            task = progress.add_task("reading", total=len(self.found))
            rows = self._new_rows(keys, lambda: progress.advance(task))
            if (first := next(rows, None)) is None:
                if self.before:
                    console.print(f"Nothing is new: {self.before} as before.", highlight=False)
                return
            progress.update(task, description="starting Spark")
            began = time.monotonic()
            with self._judges(master, first.exercise) as ready, _session(master) as spark:
                count = len(self.found)
                problems = [] if self.settings.trusted else isolation_problems(spark, count=count)
                started = time.monotonic()
                console.print(f"Spark started in {started - began:.2f} s.", highlight=False)
                if problems:
                    raise NotIsolatedError("; ".join(problems))
                console.print(TRUSTED if self.settings.trusted else ISOLATED, highlight=False)
                progress.update(task, description="grading")
                graded = grade_all(
                    spark,
                    chain([first], rows),
                    exercises=self.exercises,
                    settings=self.settings._replace(ready=ready),
                    count=count,
                )
                new = 0
                for number, grades in graded:
                    self._keep(number, grades, keys.pop(number))
                    progress.advance(task)
                    new += 1
                seconds = time.monotonic() - started
        console.print(f"Graded in {seconds:.2f} s.", highlight=False)
        if self.before:
            console.print(f"{self.before} as before, {new} new.", highlight=False)

    def _judges(self, master: str | None, exercise: str) -> AbstractContextManager[str]:
        """Start a few judges beside Spark, if submissions will run here; give their address."""
        count = min(MOST_READY, local_cores(master), len(self.found))
        settings, known = self.settings, self.exercises[exercise]
        return ready_judges(count, known, engine=settings.engine, trusted=settings.trusted)

    def _new_rows(self, keys: dict[int, str], advance: Callable[[], None]) -> Iterator[Row]:
        """Read one after another; give those that are not graded yet, and note the others."""
        for number, found in enumerate(self.found):
            try:
                submission = found.read()
            except SubmissionError as error:
                self.others[number] = self._refused(found, str(error))
                advance()
                continue
            name = self._key(submission)
            place = self.journal.find(name)
            if place is None:
                keys[number] = name
                yield Row(number, *submission)
            else:
                self.places[number] = place
                self.before += 1
                advance()

    def _key(self, submission: Submission) -> str:
        exercise = self.exercises[submission.exercise]
        seed = student_seed(
            submission.student, exercise.name, course_seed=self.settings.course_seed
        )
        how = (seed, self.settings.engine, self.settings.trusted, grading_digest())
        return key(submission, exercise.files, *how)

    def _refused(self, found: Found, reason: str) -> list[Grade]:
        if exercise := self.exercises.get(found.exercise):
            return not_run(found.student, exercise, reason=reason)
        return [Grade(found.student, found.exercise, "", 0.0, 0.0, NOT_RUN, clean(reason), 0.0)]

    def _keep(self, number: int, grades: list[Grade], name: str) -> None:
        if any(grade.status == NOT_RUN for grade in grades):
            self.others[number] = grades
        else:
            self.places[number] = self.journal.add(name, grades)

    def grades(self) -> Iterator[Grade]:
        """Give all rows in order, with what is to be said of how they were handed in.

        Of several copies of one exercise the best counts; of equal ones, the later.
        """
        numbered = enumerate(self.found)
        for _, copies in groupby(numbered, lambda each: (each[1].student, each[1].exercise)):
            rows, found, count = [], None, 0
            for number, each in copies:
                theirs = self._rows(number)
                count += 1
                if found is None or _worth(theirs) >= _worth(rows):
                    rows, found = theirs, each
            assert found is not None  # groupby gives no empty group
            best = f"{count} copies were handed in, and {found.copy}, the best, counts"
            note = "; ".join(filter(None, [best if count > 1 else "", found.note]))
            if note:  # once: it is of the submission, not of a check
                rows = [rows[0]._replace(reason=f"{rows[0].reason} ({clean(note)})"), *rows[1:]]
            yield from rows

    def _rows(self, number: int) -> list[Grade]:
        return self.others.get(number) or self.journal.grades(self.places[number])


@contextmanager
def _session(master: str | None) -> "Iterator[SparkSession]":
    """Start Spark; let it stop meanwhile, and by itself if this process is through before.

    Most of the time that it takes it waits for a thread of its own.
    """
    while _STOPPING:
        _STOPPING.pop().join()
    spark = spark_session(master, spark_driver_defaultJavaOptions=QUICK_JAVA)
    try:
        yield spark
    finally:
        _STOPPING.append(Thread(target=_stop, args=(spark,), daemon=True))
        _STOPPING[-1].start()


def _stop(spark: "SparkSession") -> None:
    with suppress(Exception):  # It may be lost.
        spark.stop()


def _worth(rows: Sequence[Grade]) -> tuple[float, bool]:
    return sum(row.points for row in rows), all(row.status != NOT_RUN for row in rows)
