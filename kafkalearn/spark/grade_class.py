"""Grades a class from a folder or zip into a folder: finds, runs, writes, sums up."""

import csv
import gc
import tempfile
from collections.abc import Set
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from kafkalearn.grading.exercise import Exercise, ExerciseError, exercise_folders, load_all
from kafkalearn.grading.grades import NOT_REACHED, NOT_RUN
from kafkalearn.grading.handed_in.collect import NoSubmissionsError, find_submissions
from kafkalearn.grading.report.journal import Journal, JournalBusyError
from kafkalearn.grading.report.summary import print_summary
from kafkalearn.grading.report.writing import in_cell, write_report
from kafkalearn.spark.class_run import ClassRun, NotIsolatedError
from kafkalearn.spark.grade import Settings
from kafkalearn.spark.session import SparkStartError

MOST_NAMES = 5  # in one sentence


class GradingError(Exception):
    """Nothing was graded or written; the message says why."""


class BrokenOffError(GradingError):
    """A run ended before its end. status: what the command exits with."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Options(NamedTuple):
    """How a class is graded.

    resume: use what an earlier run into the same folder has graded. attempts: ``last`` or ``best``.
    """

    settings: Settings = Settings()
    master: str | None = None
    exercises: Path | None = None
    resume: bool = False
    attempts: str = "last"


def grade_class(submissions: Path, out: Path, *, options: Options) -> bool:
    """Grade everything in `submissions`; False if some could not be read or run to its end."""
    console = Console(stderr=True)
    known = _exercises(options.exercises)
    try:
        found = find_submissions(submissions, known, attempts=options.attempts)
    except NoSubmissionsError as error:
        raise GradingError(str(error)) from None
    _check_out(out, submissions)
    _check_nobody_is_lost(out, {each.student for each in found})
    seed = options.settings.course_seed
    default = " (the default; --course-seed changes it)" if seed == 0 else ""
    console.print(f"Course seed {seed}{default}.", highlight=False)
    try:
        with Journal(out, resume=options.resume) as journal:
            run = ClassRun(found, known, options.settings, journal)
            return _run(run, out, options=options, console=console)
    except JournalBusyError as error:
        raise GradingError(f"{error}: {out}") from None
    except OSError as error:
        raise GradingError(f"--out {out} cannot be written: {error}") from None


def _run(run: ClassRun, out: Path, *, options: Options, console: Console) -> bool:
    if run.journal.dropped:
        console.print(
            "Begun anew. Graded submissions of an earlier run that --resume would have used: "
            f"{run.journal.dropped}.",
            highlight=False,
        )
    seed = options.settings.course_seed
    try:
        run.grade(options.master, console)
        grades = write_report(out, run.grades(), exercises=run.exercises, course_seed=seed)
    except NotIsolatedError as error:
        raise GradingError(
            f"submissions cannot be isolated where they would run: {error}. For a class that you "
            "trust, --trusted grades without isolation"
        ) from None
    except (OSError, KeyboardInterrupt, SparkStartError) as error:
        why = _broken_off(run, out, str(error) or "interrupted")
        raise BrokenOffError(why, 130 if isinstance(error, KeyboardInterrupt) else 1) from None
    print_summary(grades, console)
    gc.freeze()  # The command ends here: nobody need look through all of Spark for garbage.
    console.print(f"Grades and feedback are in {out}", highlight=False, soft_wrap=True)
    return not any(grade.status in (NOT_RUN, NOT_REACHED) for grade in grades)


def _broken_off(run: ClassRun, out: Path, why: str) -> str:
    said = [f"nothing was written: {why}"]
    if run.places:
        said.append(f"graded submissions that --resume can use: {len(run.places)}")
    if (out / "grades.csv").exists():
        said.append(f"{out} still holds the grades of an earlier run")
    return "\n".join(said)


def _exercises(folder: Path | None) -> dict[str, Exercise]:
    looked = [folder] if folder else exercise_folders()
    try:
        if found := load_all(*looked):
            return found
    except (ExerciseError, OSError) as error:
        raise GradingError(str(error)) from None
    raise GradingError(f"no exercises; looked in {', '.join(map(str, looked))}")


def _check_nobody_is_lost(out: Path, students: Set[str]) -> None:
    """The tables are written anew: who is in the old ones only would vanish without a word."""
    if not (out / "grades.csv").exists():
        return
    try:
        with (out / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
            graded = dict.fromkeys(row["student"] for row in csv.DictReader(file) if row["student"])
    except (OSError, UnicodeError, csv.Error, KeyError) as error:
        raise GradingError(
            f"{out / 'grades.csv'} is no table of grades as they are written here ({error}), and "
            "would be overwritten: move it away, or name another --out"
        ) from None
    here = {in_cell(student) for student in students}
    gone = [student for student in graded if student not in here]
    if gone:
        more = f" and {len(gone) - MOST_NAMES} more" if len(gone) > MOST_NAMES else ""
        raise GradingError(
            f"{out} holds grades of {', '.join(gone[:MOST_NAMES])}{more}, who handed in nothing "
            "here: name another --out, put all in one folder, or remove its grades.csv"
        )


def _check_out(out: Path, submissions: Path) -> None:
    """Say now, not after an hour, that the grades cannot be written."""
    if out.resolve().is_relative_to(submissions.resolve()):
        raise GradingError(
            f"--out {out} lies in {submissions}: its files would be taken for submissions"
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise GradingError(f"--out {out} cannot be written: {error.strerror}") from None
