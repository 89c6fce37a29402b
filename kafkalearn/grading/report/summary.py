"""What the terminal shows when a class has been graded."""

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kafkalearn.grading.grades import NOT_REACHED, NOT_RUN, PASSED, Grade
from kafkalearn.views.wording import plural, shown

MOST_NAMES = 40  # of those in trouble; grades.csv has them all


def print_summary(grades: Sequence[Grade], console: Console) -> None:
    """Print a line an exercise, then who could not be graded or whose notebook stopped, and why."""
    console.print(_table(grades))
    troubled = trouble(grades)
    if troubled:
        console.print(
            f"{plural(len(troubled), 'submission')} could not be graded or stopped early:"
        )
    for student, exercise, reason in troubled[:MOST_NAMES]:
        who = " ".join(shown(word, 60) for word in (student, exercise) if word)
        line = f"  [bold]{escape(who)}[/bold]  {escape(reason)}"
        console.print(line, highlight=False, soft_wrap=True)
    if len(troubled) > MOST_NAMES:
        console.print(f"  … and {len(troubled) - MOST_NAMES} more")


def _table(grades: Sequence[Grade]) -> Table:
    table = Table("exercise")
    for column in ("submissions", "passed", "failed", "not graded", "mean points"):
        table.add_column(column, justify="right")
    for exercise in sorted({grade.exercise for grade in grades if grade.check}):
        table.add_row(exercise, *_line([g for g in grades if g.exercise == exercise and g.check]))
    return table


def _line(grades: Sequence[Grade]) -> list[str]:
    """Give the numbers of one exercise; a submission passed if all of its checks did."""
    by_student: dict[str, list[Grade]] = {}
    for grade in grades:
        by_student.setdefault(grade.student, []).append(grade)
    everybody = list(by_student.values())
    graded = [rows for rows in everybody if rows[0].status != NOT_RUN]
    passed = sum(all(grade.status == PASSED for grade in rows) for rows in graded)
    mean = sum(grade.points for grade in grades) / len(everybody)
    most = sum(grade.max_points for grade in everybody[0])
    counts = (len(everybody), passed, len(graded) - passed, len(everybody) - len(graded))
    return [*map(str, counts), f"{mean:.1f} of {most:g}"]


def trouble(grades: Sequence[Grade]) -> list[tuple[str, str, str]]:
    """List (student, exercise, why) of all that could not be graded or whose notebook stopped."""
    reasons: dict[tuple[str, str], str] = {}
    for grade in grades:
        if grade.status in (NOT_RUN, NOT_REACHED):
            reasons.setdefault((grade.student, grade.exercise), grade.told)
    return [(*key, reason) for key, reason in reasons.items()]
