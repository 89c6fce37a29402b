"""class.html: what the class got wrong, as charts. HTML and SVG; all text is escaped."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby
from math import gcd
from urllib.parse import quote

from kafkalearn.grading.exercise import Exercise
from kafkalearn.grading.grades import FAILED, NOT_ASKED, NOT_REACHED, NOT_RUN, PASSED, Grade
from kafkalearn.grading.report.feedback import file_name, html_page
from kafkalearn.grading.report.reasons import Group, grouped
from kafkalearn.grading.report.summary import trouble
from kafkalearn.views.wording import plural, shown, tag

MOST_REASONS = 6  # of an exercise that are shown at once; the others unfold
MOST_STUDENTS = 4  # of a reason that are named at once; the others unfold
MOST_COLUMNS = 13
SLOWEST = 8
_KINDS = {PASSED: "passed", FAILED: "failed", NOT_REACHED: "not reached", NOT_RUN: "not graded"}
Submitted = list[Grade]  # the rows of one submission


def class_page(
    grades: Sequence[Grade], *, exercises: Mapping[str, Exercise], course_seed: int
) -> str:
    """The whole page. Apart from the seconds it is the same for the same grades."""
    submitted = [list(rows) for _, rows in groupby(grades, lambda grade: grade[:2])]
    checked = [rows for rows in submitted if rows[0].check]
    names = sorted({rows[0].exercise for rows in checked})
    sections = [
        _exercise([rows for rows in checked if rows[0].exercise == name], exercises[name])
        for name in names
    ]
    body = [_tiles(submitted, checked), *sections, _ungraded(grades), _slowest(checked)]
    subtitle = f"What went well, what went wrong, and why. Course seed {course_seed}."
    return html_page("The class", subtitle, body="".join(body), style="class_page.css")


def _tiles(submitted: Sequence[Submitted], checked: Sequence[Submitted]) -> str:
    graded = [rows for rows in checked if rows[0].status != NOT_RUN]
    passed = sum(all(grade.status == PASSED for grade in rows) for rows in graded)
    tiles = {
        "students": len({rows[0].student for rows in submitted if rows[0].student}),
        "submissions": len(submitted),
        "passed all checks": passed,
        "did not pass all": len(graded) - passed,
        "were not graded": len(submitted) - len(graded),
    }
    shown_tiles = (f"<div><dt>{name}</dt><dd>{count}</dd></div>" for name, count in tiles.items())
    return f"""<dl class="tiles">{"".join(shown_tiles)}</dl>
<p class="soft note">A submission is what one student handed in for one exercise; the last three
numbers say what became of them. Points and checks are counted in submissions, reasons in
students.</p>
"""


def _exercise(submitted: Sequence[Submitted], exercise: Exercise) -> str:
    most = sum(check.points for check in exercise.checks)
    mean = sum(grade.points for rows in submitted for grade in rows) / len(submitted)
    graded = [rows for rows in submitted if rows[0].status != NOT_RUN]
    return f"""<section><header class="line"><h2>{escape(exercise.title)}</h2>
<span class="points">{mean:.1f} of {most:g} points on average of
{plural(len(submitted), "submission")}</span></header>
<div class="beside"><div><h3>Points of {plural(len(graded), "graded submission")}</h3>
{_histogram(graded, exercise)}</div>
<div><h3>Checks of {plural(len(submitted), "submission")}</h3>
{_checks(submitted, exercise)}</div></div>
{_reasons(submitted, exercise)}</section>
"""


def _histogram(submitted: Sequence[Submitted], exercise: Exercise) -> str:
    """A column for each number of points that can be had, or for each tenth of the most."""
    cents = [round(check.points * 100) for check in exercise.checks]
    most = sum(cents)
    step = gcd(*cents) or 1
    if most // step >= MOST_COLUMNS:
        step = -(-most // 10)
    totals = [round(100 * sum(grade.points for grade in rows)) for rows in submitted]
    counts = Counter(total // step for total in totals)
    between = "+" if any(total % step for total in totals) else ""
    columns = [
        (f"{step * place / 100:g}{between if place < most // step else ''}", counts[place])
        for place in range(most // step + 1)
    ]
    told = ", ".join(f"{plural(count, 'submission')} with {label}" for label, count in columns)
    return _columns(columns, label=f"Points: {told}")


def _columns(columns: Sequence[tuple[str, int]], *, label: str) -> str:
    width, height, base = 340 / len(columns), 120, 144
    tallest = max(1, *(count for _, count in columns))
    parts = []
    for place, (name, count) in enumerate(columns):
        size, middle = height * count / tallest, (place + 0.5) * width
        kind = "full" if place == len(columns) - 1 else "part"
        box = {"x": place * width + 3, "width": width - 6, "y": base - size, "height": size}
        parts.append(tag("rect", class_=kind, rx=3, **_rounded(box)))
        parts.append(_text(str(count) if count else "", middle, base - size - 5))
        parts.append(_text(name, middle, base + 17, class_="kl-middle kl-soft"))
    parts.append(tag("line", class_="kl-rule", x1=0, x2=340, y1=base, y2=base))
    return tag(
        "svg", "".join(parts), class_="columns", viewBox="0 0 340 168", role="img", aria_label=label
    )


def _text(text: str, x: float, y: float, class_: str = "kl-middle") -> str:
    return tag("text", escape(text), class_=class_, **_rounded({"x": x, "y": y}))


def _rounded(numbers: Mapping[str, float]) -> dict[str, float]:
    return {name: round(number, 1) for name, number in numbers.items()}


def _checks(submitted: Sequence[Submitted], exercise: Exercise) -> str:
    lines = []
    rows = [grade for each in submitted for grade in each]
    for check in exercise.checks:
        counts = Counter(grade.status for grade in rows if grade.check == check.name)
        told = "".join(
            f'<span class="{status}">{counts[status]} {name}</span>'
            for status, name in _KINDS.items()
            if counts[status]
        )
        lines.append(f"<li><p>{escape(check.title)}</p>{_stack(counts)}<p>{told}</p></li>")
    return f'<ul class="checks">{"".join(lines)}</ul>'


def _stack(counts: Mapping[str, int]) -> str:
    total, at, parts = sum(counts.values()) or 1, 0.0, ""
    for status in _KINDS:
        share = counts.get(status, 0) / total
        if share:
            parts += f'<rect class="{status}" x="{at:.2%}" width="{share:.2%}" height="10"></rect>'
        at += share
    return f'<svg class="stack" aria-hidden="true">{parts}</svg>'


def _reasons(submitted: Sequence[Submitted], exercise: Exercise) -> str:
    """Tell mistakes apart by the checks that say no, and then by the first thing that they say."""
    first: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for rows in submitted:
        wrong = [g for g in rows if g.status in (FAILED, NOT_REACHED)]
        told = [grade for grade in wrong if not grade.told.startswith(NOT_ASKED)]
        where = dict.fromkeys(
            exercise.check(grade.check).title if grade.status == FAILED else "The notebook stopped"
            for grade in told
        )
        if told:
            first.setdefault(tuple(where), []).append((told[0].student, told[0].told))
    groups = [(where, group) for where, pairs in first.items() for group in grouped(pairs)]
    groups.sort(key=lambda each: (-len(each[1].students), each[0]))
    lines = [_reason(where, group) for where, group in groups]
    common, rare = "".join(lines[:MOST_REASONS]), lines[MOST_REASONS:]
    summary = f"<summary>and {plural(len(rare), 'rarer reason')}</summary>"
    more = f'<details>{summary}<ol class="reasons">{"".join(rare)}</ol></details>' if rare else ""
    head = "<h3>Why, and for how many students</h3>"
    return f'{head}<ol class="reasons">{common}</ol>{more}' if lines else ""


def _reason(where: Sequence[str], group: Group) -> str:
    example = f"for example: {group.reasons[0]}" if len(group.reasons) > 1 else ""
    said = group.pattern if example else group.reasons[0]
    return (
        f'<li><span class="count">{len(group.students)}</span><div>'
        f"<p>{escape(said)}</p>"
        f'<p class="soft">{escape(" · ".join(where))}</p>'
        f'<p class="soft">{escape(example)}</p>{_named(group.students)}</div></li>'
    )


def _named(students: Sequence[str]) -> str:
    first = ", ".join(map(_link, students[:MOST_STUDENTS]))
    rest = ", ".join(map(_link, students[MOST_STUDENTS:]))
    count = len(students) - MOST_STUDENTS
    unfolded = f"<details><summary>and {count} more</summary>{rest}</details>" if rest else ""
    return f'<div class="who">{first}{unfolded}</div>'


def _link(student: str) -> str:
    if not student:
        return "(nobody)"
    return tag("a", escape(shown(student, 40)), href=f"feedback/{quote(file_name(student))}")


def _ungraded(grades: Sequence[Grade]) -> str:
    lines = [
        (_link(student), escape(shown(exercise, 60)), escape(reason))
        for student, exercise, reason in trouble([g for g in grades if g.status == NOT_RUN])
    ]
    return _listed("Who could not be graded", ("student", "exercise", "why"), lines)


def _slowest(submitted: Sequence[Submitted]) -> str:
    rows = sorted((rows[0] for rows in submitted), key=lambda g: (-g.seconds, g[:2]))[:SLOWEST]
    lines = [
        (_link(grade.student), escape(grade.exercise), f"{grade.seconds:.2f} s")
        for grade in rows
        if grade.seconds
    ]
    return _listed("The slowest", ("student", "exercise", "seconds"), lines)


def _listed(title: str, header: Iterable[str], lines: Sequence[Iterable[str]]) -> str:
    if not lines:
        return ""
    head = "".join(f'<th scope="col">{name}</th>' for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in line)}</tr>" for line in lines)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<section><header><h2>{title}</h2></header>{table}</section>"
