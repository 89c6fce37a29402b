"""Grades a class from one folder into another: finds, runs with a progress bar, writes, sums up."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)

from kafkalearn.grading.collect import (
    Found,
    NoSubmissionsError,
    Submission,
    SubmissionError,
    find_submissions,
)
from kafkalearn.grading.exercise import Exercise, ExerciseError, exercise_folders, load_all
from kafkalearn.grading.grades import NOT_RUN, Grade, not_run
from kafkalearn.grading.report import write_report
from kafkalearn.grading.summary import print_summary


class GradingError(Exception):
    """Nothing was graded or written; the message says why."""


def grade_class(
    submissions: Path,
    out: Path,
    *,
    master: str | None = None,
    course_seed: int = 0,
    exercises: Path | None = None,
) -> bool:
    """Grade everything in `submissions`; False if some of it could not be read or run."""
    console = Console(stderr=True)
    known = _exercises(exercises)
    try:
        found = find_submissions(submissions, known)
    except NoSubmissionsError as error:
        raise GradingError(str(error)) from None
    _check_out(out, submissions)
    console.print(
        "This release isolates nothing: submissions run with your rights. "
        "Grade only a class you trust."
    )
    default = " (the default; --course-seed changes it)" if course_seed == 0 else ""
    console.print(f"Course seed {course_seed}{default}.", highlight=False)
    try:
        grades = _grade(found, known, console=console, master=master, course_seed=course_seed)
        write_report(out, grades, exercises=known, course_seed=course_seed)
    except (OSError, KeyboardInterrupt, GradingError) as error:
        why = str(error) or "interrupted"
        kept = (
            f"\n{out} still holds the grades of an earlier run"
            if (out / "grades.csv").exists()
            else ""
        )
        raise GradingError(f"nothing was written: {why}{kept}") from None
    print_summary(grades, console)
    console.print(f"Grades and feedback are in {out}", highlight=False, soft_wrap=True)
    return all(grade.status != NOT_RUN for grade in grades)


def _exercises(folder: Path | None) -> dict[str, Exercise]:
    looked = [folder] if folder else exercise_folders()
    try:
        for place in looked:
            if found := load_all(place):
                return found
    except (ExerciseError, OSError) as error:
        raise GradingError(str(error)) from None
    raise GradingError(f"no exercises; looked in {', '.join(map(str, looked))}")


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


def _grade(
    found: list[Found],
    exercises: Mapping[str, Exercise],
    *,
    console: Console,
    master: str | None,
    course_seed: int,
) -> list[Grade]:
    from kafkalearn.spark.grade import grade_all
    from kafkalearn.spark.session import SparkStartError, spark_session

    grades: list[Grade] = []
    notes = {(each.student, each.exercise): each.note for each in found if each.note}

    def readable() -> Iterator[Submission]:
        for each in found:
            try:
                yield each.read()
            except SubmissionError as error:
                done(_refused(each, exercises.get(each.exercise), str(error)))

    def done(rows: Iterable[Grade]) -> None:
        grades.extend(_noted(row, notes.get((row.student, row.exercise))) for row in rows)
        progress.advance(task)

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("starting Spark", total=len(found))
        try:
            spark = spark_session(master)
            progress.update(task, description="grading")
            try:
                for rows in grade_all(
                    spark, readable(), exercises=exercises, course_seed=course_seed
                ):
                    done(rows)
            finally:
                spark.stop()
        except SparkStartError as error:
            raise GradingError(str(error)) from None
    order = {(each.student, each.exercise): number for number, each in enumerate(found)}
    return sorted(grades, key=lambda grade: order[grade.student, grade.exercise])


def _refused(found: Found, exercise: Exercise | None, reason: str) -> list[Grade]:
    if exercise:
        return not_run(found.student, exercise, reason=reason)
    return [Grade(found.student, found.exercise, "", 0.0, 0.0, NOT_RUN, reason, 0.0)]


def _noted(grade: Grade, note: str | None) -> Grade:
    return grade._replace(reason=f"{grade.reason} ({note})") if note else grade
