"""One row a check: the table that grading gives."""

from typing import NamedTuple

from kafkalearn.grading.exercise import Exercise
from kafkalearn.grading.judging.wording import clean

PASSED = "passed"
FAILED = "failed"  # the check ran, and the judge did not say yes
NOT_REACHED = "not_reached"  # the notebook stopped before the check
NOT_ASKED = "not asked, since"  # how the reason of a check begins, if one before did not end
NOT_RUN = "not_run"  # the submission could not be read or started, or its runner was lost


class Grade(NamedTuple):
    """What one check of one submission gave.

    reason: one sentence.
    seconds: how long the submission ran as a whole, its kernel's start included; on all its rows.
    detail: the case that showed it, as `Shown.detail` gives it; only feedback shows it.
    """

    student: str
    exercise: str
    check: str
    points: float
    max_points: float
    status: str
    reason: str
    seconds: float
    detail: str = ""

    @property
    def told(self) -> str:
        """The reason where its check is named already."""
        return self.reason.removeprefix(f"{self.check}: ")


_TYPES = {str: "string", float: "double"}
# Each column's type in Arrow's words; the files leave the detail out.
COLUMN_TYPES = {n: _TYPES[kind] for n, kind in Grade.__annotations__.items() if n != "detail"}
COLUMNS = tuple(COLUMN_TYPES)


def not_run(student: str, exercise: Exercise, *, reason: str) -> list[Grade]:
    """A failed row for every check of a submission that could not be graded."""
    return [
        Grade(student, exercise.name, check.name, 0.0, check.points, NOT_RUN, clean(reason), 0.0)
        for check in exercise.checks
    ]
