"""Writes grades.csv, grades.parquet, class.html and a page of feedback for each student.

All of it or nothing. Grades are taken one student at a time, so that their details, which may be
large, are never held together.
"""

import csv
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from itertools import groupby
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from kafkalearn.grading.exercise import Exercise
from kafkalearn.grading.grades import COLUMN_TYPES, COLUMNS, Grade
from kafkalearn.grading.judging.showing import STORY_PANES
from kafkalearn.grading.report import feedback
from kafkalearn.grading.report.class_page import class_page
from kafkalearn.trace import Trace
from kafkalearn.views.html_file import MADE_HERE

LONGEST_STORY = 1000  # events that a page can step through


def write_report(
    folder: Path, grades: Iterable[Grade], *, exercises: Mapping[str, Exercise], course_seed: int
) -> list[Grade]:
    """Replace what an earlier run left in `folder`, once everything is written.

    What others put beside the pages of feedback stays. Gives the grades without their details.

    grades: sorted by student. Errors: OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    new = Path(mkdtemp(prefix=".kafkalearn-", dir=folder))
    rows: list[Grade] = []
    try:
        (new / "feedback" / feedback.STORIES).mkdir(parents=True)
        for student, each in groupby(grades, lambda grade: grade.student):
            theirs = list(each)
            if student:
                _write_feedback(new / "feedback", theirs, exercises, course_seed)
            rows += [grade._replace(detail="") for grade in theirs]
        if not any((new / "feedback" / feedback.STORIES).iterdir()):
            (new / "feedback" / feedback.STORIES).rmdir()
        _write_csv(new / "grades.csv", rows)
        _write_parquet(new / "grades.parquet", rows)
        text = class_page(rows, exercises=exercises, course_seed=course_seed)
        (new / "class.html").write_text(text, encoding="utf-8")
        if (folder / "feedback").exists():
            _keep_others(folder / "feedback", new / "feedback")
            os.replace(folder / "feedback", new / "feedback-before")
        for name in ("feedback", "class.html", "grades.parquet", "grades.csv"):
            os.replace(new / name, folder / name)
    finally:
        shutil.rmtree(new)
    return rows


def _write_feedback(
    folder: Path, grades: Sequence[Grade], exercises: Mapping[str, Exercise], course_seed: int
) -> None:
    student = grades[0].student
    text = feedback.page(student, grades, exercises=exercises, course_seed=course_seed)
    (folder / feedback.file_name(student)).write_text(text, encoding="utf-8")
    for grade in feedback.shown_once(grades):
        story = feedback.story_of(grade)
        if story and not (folder / feedback.story_file(story)).exists():
            exercise = exercises[grade.exercise]
            title = f"{exercise.title}: {exercise.check(grade.check).title}"
            _write_story(folder / feedback.story_file(story), story, title)


def _write_story(path: Path, story: Mapping[str, Any], title: str) -> None:
    """Many learners share one story: its page is written once."""
    from kafkalearn.views import Stepper

    trace, step = Trace.from_jsonl(StringIO(story["jsonl"])), story["step"]
    first = max(0, step - LONGEST_STORY * 3 // 4)
    events = range(first, min(len(trace), first + LONGEST_STORY))
    stepper = Stepper(trace, panes=STORY_PANES, events=events)
    stepper.step = step - first
    stepper.save(path, title=title, about=[story["condition"], story["caption"]])


def _keep_others(old: Path, new: Path) -> None:
    """Copy to the new pages whatever is no page of an earlier run."""
    for path in old.iterdir():
        if path.name == feedback.STORIES and path.is_dir():
            for other in path.iterdir():
                if not re.fullmatch(r"[0-9a-f]{16}\.html", other.name):
                    (new / feedback.STORIES).mkdir(exist_ok=True)
                    shutil.copy2(other, new / feedback.STORIES / other.name)
        elif path.is_dir():
            shutil.copytree(path, new / path.name)
        elif MADE_HERE.encode() not in path.read_bytes()[:1000] and not (new / path.name).exists():
            shutil.copy2(path, new / path.name)


def _write_csv(path: Path, grades: Sequence[Grade]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(
            [in_cell(getattr(grade, column)) for column in COLUMNS] for grade in grades
        )


def in_cell(value: object) -> object:
    """Give what a spreadsheet shows as it is: text that begins like a formula gets a quote."""
    formula = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{value}" if formula else value


def _write_parquet(path: Path, grades: Sequence[Grade]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema(list(COLUMN_TYPES.items()))
    rows = [{column: getattr(grade, column) for column in COLUMNS} for grade in grades]
    parquet.write_table(pa.Table.from_pylist(rows, schema=schema), path)
