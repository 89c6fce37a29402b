"""What the class got wrong, on one page."""

import re

from kafkalearn.grading.grades import NOT_RUN, Grade, not_run
from kafkalearn.grading.report.class_page import MOST_REASONS, class_page
from tests.grading.submissions import CHECKS, EXERCISE

EVIL = "<script>alert('x')</script>"


def submitted(student, *, failed=(), reason="c1 gets t0-1", points=0.0, seconds=0.5):
    """A row for each check of exercise 41, passed but for those named."""
    return [
        Grade(
            student,
            EXERCISE.name,
            check,
            points if check in failed else 2.0,
            2.0,
            "failed" if check in failed else "passed",
            f"{check}: {reason}" if check in failed else f"{check}: right",
            seconds,
        )
        for check in CHECKS
    ]


def stopped(student):
    """A submission whose notebook stopped before its checks."""
    rows = submitted(
        student, failed=CHECKS, reason="not reached, since the cell `import x` stopped"
    )
    return [row._replace(status="not_reached") for row in rows]


CLASS = [
    *submitted("ann"),
    *submitted("bob", failed=CHECKS[:1]),
    *submitted(EVIL, failed=CHECKS[:2], reason="c7 gets t1-3"),
    *stopped("dora"),
    *not_run("eve", EXERCISE, reason=EVIL),
    Grade("fay", "", "", 0.0, 0.0, NOT_RUN, "no notebook was handed in", 0.0),
    Grade("", "loose", "", 0.0, 0.0, NOT_RUN, "lies in no student's folder", 0.0),
]


def page(grades):
    """The page with course seed 0, as lines of text without its style."""
    text = class_page(grades, exercises={EXERCISE.name: EXERCISE}, course_seed=0)
    return re.sub(r"<style>.*?</style>", "", text, flags=re.S)


def test_the_tiles_count_the_class():
    """Students, submissions, and what became of them."""
    tiles = dict(re.findall(r"<dt>(.*?)</dt><dd>(\d+)</dd>", page(CLASS)))
    assert tiles == {
        "students": "6",
        "submissions": "7",
        "passed all checks": "1",
        "did not pass all": "3",
        "were not graded": "3",
    }
    assert "on average of\n5 submissions" in page(CLASS)
    assert "<h3>Points of 4 graded submissions</h3>" in page(CLASS)
    assert "<h3>Checks of 5 submissions</h3>" in page(CLASS)


def test_points_are_distributed_over_columns():
    """One for each number of points that can be had; who was not graded is in none."""
    told = re.search(r'aria-label="Points: (.*?)"', page(CLASS))[1]
    assert told == (
        "1 submission with 0, 0 submissions with 2, 0 submissions with 4, 1 submission with 6, "
        "1 submission with 8, 1 submission with 10"
    )
    told = re.search(r'aria-label="Points: (.*?)"', page(submitted("a", failed=CHECKS, points=0.5)))
    assert "1 submission with 2+" in told[1]


def test_each_check_counts_what_became_of_it():
    """In words beside the bar, so that nobody needs its colours."""
    first = re.search(r'<ul class="checks"><li>(.*?)</li>', page(CLASS))[1]
    words = re.findall(r'<span class="\w+">(.*?)</span>', first)
    assert words == ["1 passed", "2 failed", "1 not reached", "1 not graded"]


def test_reasons_are_grouped_and_link_to_their_students():
    """Other names and numbers are one reason, other checks are not; a stop is one, not five."""
    cal = submitted("cal", failed=CHECKS[:1], reason="c2 gets t0-5")
    text = page([*CLASS, *cal])
    groups = re.findall(
        r'class="count">(\d+)</span><div><p>(.*?)</p><p class="soft">(.*?)</p>', text
    )
    first, second = (check.title for check in EXERCISE.checks[:2])
    assert groups == [
        ("2", "… gets …", first),
        ("1", "c7 gets t1-3", f"{first} · {second}"),
        ("1", "not reached, since the cell `import x` stopped", "The notebook stopped"),
    ]
    assert 'href="feedback/bob.html"' in text
    assert 'href="feedback/%253Cscript%253E' in text


def test_a_check_that_was_not_asked_is_no_reason_of_its_own():
    """Only the one that ran too long is."""
    rows = submitted("ann", failed=CHECKS, reason="not asked, since x ran longer than 9 s")
    rows[0] = rows[0]._replace(reason=f"{CHECKS[0]}: it ran longer than 9 s")
    assert page(rows).count('class="count"') == 1


def test_many_reasons_and_students_are_shortened_and_counted():
    """The page of a large class stays one that can be read."""
    words = [chr(97 + number) * 5 for number in range(MOST_REASONS + 3)]
    rows = [
        row
        for number, word in enumerate(words)
        for student in (f"s{number}", f"t{number}", *[f"u{i}" for i in range(9)] * (number == 0))
        for row in submitted(student, failed=CHECKS[:1], reason=f"{word} {word} {word}")
    ]
    text = page(rows)
    shown, unfolded = text.split("<summary>and 3 rarer reasons</summary>")
    counts = [part.count('class="count"') for part in (shown, unfolded)]
    assert counts == [MOST_REASONS, 3]
    assert "<summary>and 7 more</summary>" in text


def test_who_could_not_be_graded_and_why_and_who_took_longest():
    """Also those of no exercise or no student; all text is escaped."""
    text = page([*CLASS, *submitted("slow", seconds=9.25)])
    ungraded, slowest = text.split("Who could not be graded")[1].split("The slowest")
    assert ungraded.count("<tr>") == 4
    assert "no notebook was handed in" in ungraded
    assert "(nobody)" in ungraded
    assert slowest.index("9.25 s") < slowest.index("0.50 s")
    assert "<script" not in text
    assert "default-src 'none'" in text
    assert page(CLASS) == page(CLASS)


def test_a_class_of_which_nothing_could_be_graded_has_a_page():
    """No exercise, no chart, and still the reasons."""
    text = page(CLASS[-2:])
    assert "no notebook was handed in" in text
    assert "<svg" not in text
