"""The files that grading writes, and what the terminal says."""

import csv
import json
import re
from io import StringIO

import pytest
from pyarrow import parquet
from rich.console import Console

from kafkalearn import scenarios
from kafkalearn.grading.exercise import Table
from kafkalearn.grading.grades import COLUMNS, NOT_RUN, Grade, not_run
from kafkalearn.grading.report import writing as report
from kafkalearn.grading.report.feedback import file_name, page
from kafkalearn.grading.report.summary import print_summary
from kafkalearn.grading.report.writing import in_cell, write_report
from tests.grading.submissions import EXERCISE

EXERCISES = {EXERCISE.name: EXERCISE}
STORY = scenarios.run("second_member_joins")
EVIL = "<script>alert('x')</script>"


def row(student, check, status, reason, *, detail=""):
    """A grade of exercise 41."""
    points = 2.0 if status == "passed" else 0.0
    return Grade(student, EXERCISE.name, check, points, 2.0, status, reason, 1.5, detail)


CASE = Table(EVIL, ("member", EVIL), (("c0", EVIL), ("c1", "t0-9 t0-0")), (1,))
ANN = [
    row("ann", "seven-over-five", "passed", "seven-over-five: right in 7 of 7 cases"),
    row(
        "ann", "by-name", "failed", f"by-name: {EVIL}", detail=json.dumps({"table": CASE._asdict()})
    ),
]
BOB = not_run("bob", EXERCISE, reason="the file is empty")
NOBODY = [Grade("", "41_range_assignor", "", 0.0, 0.0, NOT_RUN, "lies in no student's folder", 0)]


def write(folder, grades):
    """Write a report with course seed 0."""
    write_report(folder, grades, exercises=EXERCISES, course_seed=0)


def test_the_tables_hold_one_row_a_check(tmp_path):
    """grades.csv and grades.parquet say the same, in the documented columns."""
    write(tmp_path / "out", ANN + BOB + NOBODY)
    with (tmp_path / "out" / "grades.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == len(ANN + BOB + NOBODY)
    table = parquet.read_table(tmp_path / "out" / "grades.parquet")
    assert table.column_names == list(COLUMNS)
    assert [{k: str(v) for k, v in each.items()} for each in table.to_pylist()] == [
        {**each, "seconds": str(float(each["seconds"]))} for each in rows
    ]


def test_a_second_run_leaves_nothing_of_the_first(tmp_path):
    """The page of a student who is not there any more goes; no temporary file stays."""
    write(tmp_path, ANN + BOB)
    write(tmp_path, BOB)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "class.html",
        "feedback",
        "grades.csv",
        "grades.parquet",
    ]
    assert [path.name for path in (tmp_path / "feedback").iterdir()] == ["bob.html"]


def test_a_run_that_fails_leaves_the_earlier_one_whole(tmp_path, monkeypatch):
    """Nothing is replaced before everything is written."""
    write(tmp_path, ANN)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def fails(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr(report.feedback, "page", fails)
    with pytest.raises(OSError, match="disk full"):
        write(tmp_path, BOB)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_feedback_escapes_all_text_and_needs_nothing_else():
    """No text of a learner becomes markup, no address is loaded, equal grades give equal pages."""
    text = page(EVIL, ANN, exercises=EXERCISES, course_seed=0)
    assert "<script" not in text
    assert text.count("&lt;script&gt;alert") == 6
    assert "http:" not in text
    assert "https:" not in text
    assert "default-src 'none'" in text
    assert text == page(EVIL, ANN, exercises=EXERCISES, course_seed=0)


def test_feedback_says_points_status_case_and_seed():
    """What a learner looks for: the points, the check, the case, the seed to see it again."""
    text = page("ann", ANN, exercises=EXERCISES, course_seed=0)
    assert "2 of 4 points" in text
    assert '<rect width="50.0%"' in text
    assert "Names decide who comes first, not the order of the dict" in text
    assert '<tr class="differs"><td>c1</td><td><svg class="chip"' in text
    assert re.search(r'class="kl-chip kl-p1"[^<]*></rect><text [^<]*>t0-9</text>', text)
    assert ".kl :is(.kl-p1, " in text
    assert "seed = 1451909000" in text


def with_story(student, step=3):
    """A grade whose case is a picture and a story."""
    text = StringIO()
    STORY.to_jsonl(text)
    about = {"caption": EVIL, "condition": "c1 crashes at 115 ms"}
    story = {**about, "jsonl": text.getvalue(), "step": step}
    detail = json.dumps({"picture": '<svg class="kl"><title>seen</title></svg>', "story": story})
    return row(student, "by-name", "failed", "by-name: wrong", detail=detail)


def test_a_story_is_written_once_and_linked_from_every_page_that_tells_it(tmp_path):
    """Two learners share one page to step through, which begins at the event to look at."""
    write(tmp_path, [with_story("ann"), with_story("bob"), with_story("carl", step=5)])
    pages = {name: (tmp_path / "feedback" / f"{name}.html").read_text() for name in ("ann", "bob")}
    links = {name: re.findall(r'href="(stories/[^"]+)"', text) for name, text in pages.items()}
    assert links["ann"] == links["bob"]
    story = (tmp_path / "feedback" / links["ann"][0]).read_text()
    assert '"step":3' in story
    assert len(list((tmp_path / "feedback" / "stories").iterdir())) == 2
    assert '<svg class="kl"><title>seen</title></svg>' in pages["ann"]
    assert EVIL not in pages["ann"]
    assert "script-src" not in pages["ann"]
    (tmp_path / "feedback" / "stories" / "mine.txt").write_text("a teacher's own")
    write(tmp_path, BOB)
    assert [path.name for path in (tmp_path / "feedback" / "stories").iterdir()] == ["mine.txt"]


def test_a_story_has_its_title_and_what_happens_in_it(tmp_path):
    """Above the messages and the logs, which are enough to see what went wrong."""
    write(tmp_path, [with_story("ann")])
    (story,) = (tmp_path / "feedback" / "stories").iterdir()
    text = story.read_text()
    above = text.partition('<header class="kl kl-above">')[2].partition("</header>")[0]
    title = f"{EXERCISE.title}: {EXERCISE.check('by-name').title}"
    assert above.startswith(f"<h1>{title}</h1><p>c1 crashes at 115 ms</p>")
    assert f"<title>{title}</title>" in text
    assert re.findall(r"kl-at-(\w+)", text.partition("held")[2]) == ["messages", "logs"]
    assert '<p class="story"' in (tmp_path / "feedback" / "ann.html").read_text()
    assert "c1 crashes at 115 ms" in (tmp_path / "feedback" / "ann.html").read_text()


def test_a_case_that_two_checks_share_is_shown_once(tmp_path):
    """The second names the first; another story, or another student's, is its own."""
    first = with_story("ann")
    check = "topic-by-topic"
    first = first._replace(reason="by-name: c1 crashed at 115 ms")
    second = with_story("ann", step=5)
    second = second._replace(check=check, reason=f"{check}: c1 crashed at 9 ms")
    other = second._replace(check="random-groups", reason="random-groups: wrong otherwise")
    write(tmp_path, [first, second, other, with_story("bob")])
    text = (tmp_path / "feedback" / "ann.html").read_text()
    assert text.count("Step through what happened") == 2
    assert f"The same happens as under “{EXERCISE.check('by-name').title}”." in text
    assert "The same happens" not in (tmp_path / "feedback" / "bob.html").read_text()


def test_a_story_longer_than_a_page_is_shown_around_its_step(tmp_path, monkeypatch):
    """The event to look at is on the page."""
    monkeypatch.setattr(report, "LONGEST_STORY", 8)
    write(tmp_path, [with_story("ann", step=len(STORY) - 2)])
    (story,) = (tmp_path / "feedback" / "stories").iterdir()
    assert '"step":6' in story.read_text()


def test_details_are_not_kept(tmp_path):
    """What may be large goes to its page, and is gone."""
    assert [
        grade.detail
        for grade in write_report(tmp_path, iter(ANN), exercises=EXERCISES, course_seed=0)
    ] == ["", ""]


def test_one_reason_for_all_checks_is_told_once():
    """A file that could not be read is no five failures."""
    text = page("bob", BOB, exercises=EXERCISES, course_seed=0)
    assert text.count("the file is empty") == 1


@pytest.mark.parametrize(
    ("student", "name"),
    [
        ("ann", "ann.html"),
        ("王小明", "王小明.html"),
        ("O'Neil, Ann-Marie", "O%27Neil%2C Ann-Marie.html"),
        ("..", "%2E..html"),
        (".hidden", "%2Ehidden.html"),
        ("a\nb", "a%0Ab.html"),
        ("<b>&\"'</b>", "%3Cb%3E%26%22%27%3C%2Fb%3E.html"),
    ],
)
def test_a_page_is_named_for_its_student_and_stays_in_its_folder(student, name):
    """No name is a path, hidden, or markup."""
    assert file_name(student) == name


def test_long_and_similar_names_stay_apart():
    """A name is cut where file systems would refuse it, and two students never share a page."""
    names = [file_name("ü" * 200 + tail) for tail in "ab"] + [file_name("%"), file_name("%25")]
    assert len(set(names)) == 4
    assert all(len(name.encode()) < 255 for name in names)


def test_the_summary_counts_and_names(capsys):
    """Passed, failed, not graded, the mean over everybody, and why; markup is shown as text."""
    carl = [row("c[/b]arl", "by-name", "not_reached", "by-name: not reached, since")]
    print_summary(ANN + BOB + carl + NOBODY, Console(width=100))
    said = capsys.readouterr().out
    cells = [line.split("│")[1:-1] for line in said.splitlines() if "│" in line]
    assert [[cell.strip() for cell in line] for line in cells] == [
        ["41_range_assignor", "3", "0", "2", "1", "0.7 of 4"]
    ]
    assert "3 submissions could not be graded or stopped early:" in said
    assert "  bob 41_range_assignor  the file is empty" in said
    assert "  c[/b]arl 41_range_assignor  not reached, since" in said


def test_what_others_put_beside_the_feedback_stays(tmp_path):
    """Pages of an earlier run go; a teacher's own files and folders stay."""
    write(tmp_path, [*ANN, *BOB])
    (tmp_path / "feedback" / "marks.csv").write_text("bob,3")
    (tmp_path / "feedback" / "notes.html").write_text("<p>my own</p>")
    (tmp_path / "feedback" / "scans").mkdir()
    (tmp_path / "feedback" / "scans" / "1.txt").write_text("seen")
    write(tmp_path, ANN)
    left = {path.name for path in (tmp_path / "feedback").iterdir()}
    assert left == {"ann.html", "marks.csv", "notes.html", "scans"}
    assert (tmp_path / "feedback" / "scans" / "1.txt").read_text() == "seen"


def test_a_name_is_no_formula_in_a_spreadsheet():
    """What begins like one gets a quote before it; anything else stays."""
    assert [in_cell(each) for each in ("=1+1", "@x", "-rf", "ann", "王小明", 2.0)] == [
        "'=1+1",
        "'@x",
        "'-rf",
        "ann",
        "王小明",
        2.0,
    ]
