"""Writes grades.csv, grades.parquet and a page of feedback for each student, all or nothing."""

import csv
import os
import shutil
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from tempfile import mkdtemp

from kafkalearn.grading.exercise import Exercise
from kafkalearn.grading.feedback import MADE_HERE, file_name, page
from kafkalearn.grading.grades import COLUMN_TYPES, COLUMNS, Grade


def write_report(
    folder: Path, grades: Sequence[Grade], *, exercises: Mapping[str, Exercise], course_seed: int
) -> None:
    """Replace what an earlier run left in `folder`, once everything is written.

    What others put beside the pages of feedback stays.

    grades: sorted by student. Errors: OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    new = Path(mkdtemp(prefix=".kafkalearn-", dir=folder))
    try:
        _write_csv(new / "grades.csv", grades)
        _write_parquet(new / "grades.parquet", grades)
        (new / "feedback").mkdir()
        for student, rows in groupby(grades, lambda grade: grade.student):
            if student:
                text = page(student, rows, exercises=exercises, course_seed=course_seed)
                (new / "feedback" / file_name(student)).write_text(text, encoding="utf-8")
        if (folder / "feedback").exists():
            _keep_others(folder / "feedback", new / "feedback")
            os.replace(folder / "feedback", new / "feedback-before")
        for name in ("feedback", "grades.parquet", "grades.csv"):
            os.replace(new / name, folder / name)
    finally:
        shutil.rmtree(new)


def _keep_others(old: Path, new: Path) -> None:
    """Copy to the new pages whatever is no page of an earlier run."""
    for path in old.iterdir():
        if path.is_dir():
            shutil.copytree(path, new / path.name)
        elif MADE_HERE.encode() not in path.read_bytes()[:1000] and not (new / path.name).exists():
            shutil.copy2(path, new / path.name)


def _write_csv(path: Path, grades: Sequence[Grade]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows([getattr(grade, column) for column in COLUMNS] for grade in grades)


def _write_parquet(path: Path, grades: Sequence[Grade]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([(column, COLUMN_TYPES[column]) for column in COLUMNS])
    rows = [{column: getattr(grade, column) for column in COLUMNS} for grade in grades]
    parquet.write_table(pa.Table.from_pylist(rows, schema=schema), path)
