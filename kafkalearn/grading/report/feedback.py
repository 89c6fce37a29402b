"""One page of feedback for one student, in HTML that needs nothing else. All text is escaped."""

import json
import re
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from html import escape
from importlib.resources import files
from itertools import groupby
from math import ceil
from typing import Any

from kafkalearn.grading.exercise import Exercise, Table, student_seed
from kafkalearn.grading.grades import FAILED, NOT_REACHED, NOT_RUN, PASSED, Grade
from kafkalearn.trace.text import columns
from kafkalearn.views.drawings.common import COLOURS
from kafkalearn.views.html_file import html_file
from kafkalearn.views.wording import shown, tag

MARKS = {
    PASSED: "✓ passed",
    FAILED: "✗ failed",
    NOT_REACHED: "– not reached",
    NOT_RUN: "! not graded",
}
STORIES = "stories"  # folder of their pages, beside the students' own
LONGEST_FILE_NAME = 150  # bytes, extension not counted
_NUMBER = re.compile(r"\d+")
_PARTITION = re.compile(r"\S+-(\d+)")


def html_page(title: str, subtitle: str, *, body: str, style: str) -> str:
    """A page that needs nothing else and runs nothing; `style` adds to the look of all views."""
    sheets = (("kafkalearn.views", "look.css"), ("kafkalearn.grading.report", style))
    head = f'<h1>{escape(title)}</h1>\n<p class="soft">{escape(subtitle)}</p>\n'
    return html_file(
        title,
        f'<body class="kl"><main>{head}{body}</main></body>',
        style="".join(files(place).joinpath(name).read_text("utf-8") for place, name in sheets),
    )


def file_name(student: str) -> str:
    """Name the student's page: readable, one for each student, never outside its folder."""
    safe = "".join(
        c
        if c.isalnum() or (c in " ._-@+" and i)
        else "".join(f"%{byte:02X}" for byte in c.encode())
        for i, c in enumerate(student)
    )
    if len(safe.encode()) > LONGEST_FILE_NAME:
        digest = blake2b(student.encode(), digest_size=8).hexdigest()
        safe = safe.encode()[:LONGEST_FILE_NAME].decode(errors="ignore") + f"-{digest}"
    return f"{safe}.html"


def page(
    student: str, grades: Iterable[Grade], *, exercises: Mapping[str, Exercise], course_seed: int
) -> str:
    """The whole page; the same grades give the same page."""
    sections = [
        _section(list(rows), exercises.get(name), course_seed)
        for name, rows in groupby(shown_once(grades), lambda grade: grade.exercise)
    ]
    return html_page(
        f"Feedback for {shown(student, 80)}",
        "What each check said, and the first case that went wrong.",
        body="".join(sections),
        style="feedback.css",
    )


def _section(grades: list[Grade], exercise: Exercise | None, course_seed: int) -> str:
    if exercise is None:
        title = grades[0].exercise or "No notebook"
        return f"<section><header><h2>{escape(title)}</h2></header>{_alone(grades[0])}</section>"
    points, most = sum(grade.points for grade in grades), sum(grade.max_points for grade in grades)
    seed = student_seed(grades[0].student, exercise.name, course_seed=course_seed)
    told_once = all(grade.status in (NOT_RUN, NOT_REACHED) for grade in grades)
    articles = [_alone(grades[0])] if told_once else [_article(grade, exercise) for grade in grades]
    return f"""<section><header>
<div class="line"><h2>{escape(exercise.title)}</h2>
<span class="points">{points:g} of {most:g} points</span></div>
{_bar(points / most if most else 0.0)}
<p class="soft"><code>{escape(exercise.name)}.ipynb</code>. To see your cases again, set
<code>seed = {seed}</code> at its top and run the checks.</p>
</header>{"".join(articles)}</section>
"""


def _bar(share: float) -> str:
    return (
        '<svg class="bar" aria-hidden="true">'
        f'<rect width="{share:.1%}" height="8" rx="4"></rect></svg>'
    )


def _alone(grade: Grade) -> str:
    """One reason that holds for every check is told once."""
    return f"""<article class="{grade.status}">
<div class="line"><span class="mark">{MARKS[grade.status]}</span>
<h3>No check could be judged</h3></div>
<p>{escape(grade.told)}</p></article>
"""


def _article(grade: Grade, exercise: Exercise) -> str:
    case = _case(json.loads(grade.detail), exercise) if grade.detail else ""
    return f"""<article class="{grade.status}">
<div class="line"><span class="mark">{MARKS[grade.status]}</span>
<h3>{escape(exercise.check(grade.check).title)}</h3>
<span class="points">{grade.points:g} of {grade.max_points:g}</span></div>
<p>{escape(grade.told)}</p>{case}</article>
"""


def story_of(grade: Grade) -> dict[str, Any] | None:
    """What a grade's detail tells as a story: a `Story` as a dict; None if it has none."""
    detail: dict[str, Any] = json.loads(grade.detail) if grade.detail else {}
    return detail.get("story")


def story_file(story: Mapping[str, Any]) -> str:
    """Name the page of a story, the same for the same story."""
    named = json.dumps([story["jsonl"], story["step"]])
    return f"{STORIES}/{blake2b(named.encode(), digest_size=8).hexdigest()}.html"


def shown_once(grades: Iterable[Grade]) -> list[Grade]:
    """Leave out a case that an earlier check showed; of a story, also one with other numbers."""
    first: dict[tuple[str, str, str], str] = {}
    kept = []
    for grade in grades:
        is_story, words = story_of(grade), _NUMBER.sub("", grade.told)
        said = (words, "a story") if is_story else (grade.told, grade.detail)
        check = first.setdefault((grade.exercise, *said), grade.check)
        is_known = bool(grade.detail) and check != grade.check
        kept.append(grade._replace(detail=json.dumps({"as_in": check})) if is_known else grade)
    return kept


def _case(detail: Mapping[str, Any], exercise: Exercise) -> str:
    """The case in a table, as a picture and as a story: whatever the judge gave of it."""
    if check := detail.get("as_in"):
        title = escape(exercise.check(check).title)
        return f'<p class="soft">The same happens as under “{title}”.</p>'
    parts = [_table(Table(**detail["table"]))] if "table" in detail else []
    if "picture" in detail:
        # The judge drew it and escaped all text in it; the page's policy allows no script anyway.
        parts.append(f'<div class="picture">{detail["picture"]}</div>')
    if story := detail.get("story"):
        link = tag("a", "Step through what happened", href=story_file(story))
        parts.append(f'<p class="story">{link}: {escape(story["condition"])}</p>')
    return f'<div class="case">{"".join(parts)}</div>' if parts else ""


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.header)
    rows = "".join(
        f'<tr class="{"differs" if i in table.marked else "same"}">{_row(row)}</tr>'
        for i, row in enumerate(table.rows)
    )
    return (
        f"<p>{escape(table.caption)}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _row(row: tuple[str, ...]) -> str:
    return f"<td>{escape(row[0])}</td>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row[1:])


def _cell(text: str) -> str:
    """Partitions as chips, each in its number's colour; other words as they are."""
    words = [(word, _PARTITION.fullmatch(word)) for word in text.split(" ")]
    return " ".join(_chip(word, int(match[1])) if match else escape(word) for word, match in words)


def _chip(name: str, number: int) -> str:
    """Draw a partition as the views do, so that look.css colours it here too."""
    width = ceil(columns(name) * 7.3) + 12  # a character of the fixed-width font at 12 pixels
    box = tag("rect", class_=f"kl-chip kl-p{number % COLOURS}", width=width, height=20, rx=4)
    text = tag("text", escape(name), class_="kl-label", x=width / 2, y=14)
    return tag("svg", box + text, class_="chip", width=width, height=20)
