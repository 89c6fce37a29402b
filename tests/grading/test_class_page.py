"""What the class got wrong, on one page."""

import re

from kafkalearn.grading.exercise import Exercise
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


def attributes(kind, text):
    """The attributes of each element of a kind, numbers as numbers."""
    return [
        {
            name: float(value) if re.fullmatch(r"-?[\d.]+", value) else value
            for name, value in re.findall(r'([\w-]+)="(.*?)"', element)
        }
        for element in re.findall(rf"<{kind} (.*?)/?>", text)
    ]


def test_a_column_is_as_tall_as_its_count_and_its_words_stand_with_it():
    """All stand on one line within the drawing; only the one of all points is drawn as full."""
    rows = [*submitted("cal", failed=CHECKS[:1]), *submitted("dan", failed=CHECKS[:2])]
    svg = re.search(r'<svg[^>]*class="columns".*?</svg>', page([*CLASS, *rows]), re.S)[0]
    columns, (rule,) = attributes("rect", svg), attributes("line", svg)
    told = re.findall(r"<text (.*?)>(.*?)</text>", svg)
    counts, names = told[::2], told[1::2]
    assert [word for _, word in names] == ["0", "2", "4", "6", "8", "10"]
    assert [int(word or 0) for _, word in counts] == [1, 0, 0, 2, 2, 1]
    tallest = max(each["height"] for each in columns)
    assert [each["height"] / tallest for each in columns] == [0.5, 0, 0, 1, 1, 0.5]
    assert [each["class"] for each in columns] == ["part"] * 5 + ["full"]
    _, _, width, height = map(float, re.search(r'viewBox="(.*?)"', svg)[1].split())
    assert (rule["x1"], rule["x2"], rule["y1"]) == (0, width, rule["y2"])
    right = 0
    for column, *words in zip(columns, counts, names, strict=True):
        above, below = (attributes("text", f"<text {each}>")[0] for each, _ in words)
        assert column["y"] + column["height"] == rule["y1"]
        assert 0 < above["y"] < column["y"]
        assert rule["y1"] < below["y"] < height
        middle = column["x"] + column["width"] / 2
        assert abs(above["x"] - middle) <= 0.1
        assert abs(below["x"] - middle) <= 0.1
        assert right < column["x"]
        right = column["x"] + column["width"]
    assert right < width


def test_a_bar_has_a_part_for_each_outcome_and_no_gap():
    """As wide as its share, one after the other, and together all of it."""
    parts = attributes("rect", re.search(r'<svg class="stack".*?</svg>', page(CLASS))[0])
    shares = {each["class"]: each["width"] for each in parts}
    assert shares == {
        "passed": "20.00%",
        "failed": "40.00%",
        "not_reached": "20.00%",
        "not_run": "20.00%",
    }
    assert [each["x"] for each in parts] == ["0.00%", "20.00%", "60.00%", "80.00%"]


def test_all_that_is_drawn_has_a_look():
    """Each class that the page names is one that its own style knows."""
    many = [row for n in range(9) for row in submitted(f"s{n}", failed=CHECKS[n % 5 :])]
    text = class_page([*CLASS, *many], exercises={EXERCISE.name: EXERCISE}, course_seed=0)
    style, body = text.split("</style>")
    named = {name for names in re.findall(r'class="(.*?)"', body) for name in names.split()}
    assert len(named) > 20
    known = set(re.findall(r"\.([a-z][\w-]*)", style))
    assert named <= known, named - known


def test_points_that_are_many_are_told_in_tenths():
    """No more columns than can be read, and the last is that of all points."""
    text = EXERCISE.files["exercise.toml"].replace("points = 2", "points = 2.5", 1)
    exercise = Exercise.of(EXERCISE.name, {**EXERCISE.files, "exercise.toml": text})
    rows = [row._replace(points=0.0 if row.check in CHECKS[1:] else 2.5) for row in submitted("a")]
    page = class_page(
        [*rows, *submitted("b", failed=CHECKS)], exercises={exercise.name: exercise}, course_seed=0
    )
    told = re.search(r'aria-label="Points: (.*?)"', page)[1].split(", ")
    labels = [each.split(" with ")[1] for each in told]
    assert len(labels) == 11
    assert labels[:3] == ["0+", "1.05+", "2.1+"]
    assert labels[-1] == "10.5"
    assert [each[0] for each in told[:3]] == ["1", "0", "1"]
    assert "1.2 of 10.5 points on average" in page


def test_tables_say_what_stands_in_their_columns():
    """A student, an exercise, and why or for how long."""
    text = page([*CLASS, *submitted("slow", seconds=9.25)])
    heads = [re.findall(r'<th scope="col">(.*?)</th>', head) for head in text.split("<thead>")[1:]]
    assert heads == [["student", "exercise", "why"], ["student", "exercise", "seconds"]]
    slow = next(row for row in re.findall(r"<tr>(<td>.*?)</tr>", text) if "9.25 s" in row)
    cells = re.findall(r"<td>(.*?)</td>", slow)
    assert cells == ['<a href="feedback/slow.html">slow</a>', EXERCISE.name, "9.25 s"]
