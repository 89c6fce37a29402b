"""The book's pages, of stored notebooks: what is folded, where links lead, what is left out."""

import re
import shutil

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook
from typer.testing import CliRunner

from kafkalearn import notebooks
from kafkalearn.book import write_book
from kafkalearn.cli import app
from tests.notebooks.lessons import cell_of, good_lesson, save

LINKS = (
    "[next](two.ipynb#More), [task](../exercises/41_x/41_x.ipynb), [away](../README.md#Top), "
    "[gone](63_none.ipynb), [site](https://example.org/)"
)


@pytest.fixture
def site(tmp_path):
    """Write a book of two lessons and one exercise."""
    lesson = good_lesson()
    cell_of(lesson, "reason").source = LINKS
    exercise = tmp_path / "exercises" / "41_x" / "starter.ipynb"
    exercise.parent.mkdir(parents=True)
    needs = "# Do it\n> Why?\n\nNeeds: [one](../../notebooks/one.ipynb)."
    save(new_notebook(cells=[new_markdown_cell(needs, id="title")]), exercise)
    lessons = [save(lesson, tmp_path / f"{name}.ipynb") for name in ("one", "two")]
    write_book(lessons, tmp_path / "site", exercises=[exercise])
    return tmp_path / "site"


def links(page):
    """Give text -> target of the links below the contents."""
    main = page.read_text(encoding="utf-8").split("<main>")[1]
    return {text: target for target, text in re.findall(r'<a href="([^"]*)">(.*?)</a>', main)}


def test_a_link_stays_in_the_book(site):
    """It leads to a page, also of an exercise and back; where there is none it is plain text."""
    assert links(site / "one.html") == {
        "next": "two.html#More",
        "task": "exercise_41_x.html",
        "site": "https://example.org/",
    }
    assert "away, gone, " in (site / "one.html").read_text(encoding="utf-8")
    assert links(site / "exercise_41_x.html")["one"] == "one.html"


def test_an_answer_is_folded(site):
    """What answers a prediction opens when asked; nothing else is folded."""
    page = (site / "one.html").read_text(encoding="utf-8")
    (folded,) = re.findall('<details class="answer">.*?</details>', page, re.DOTALL)
    assert "<pre>3</pre>" in folded
    assert "three bars" in page.replace(folded, "")


def test_pages_say_what_they_cannot_do(site):
    """A lesson and an exercise each tell what opens them for work."""
    for name in ("one", "exercise_41_x", "index"):
        assert "make lab" in (site / f"{name}.html").read_text(encoding="utf-8")


@pytest.fixture
def workbook(tmp_path, monkeypatch):
    """Stand in a workbook of two lessons, of which 63 needs Spark and fails when it is run."""
    folder = tmp_path / "notebooks"
    (folder / "images").mkdir(parents=True)
    lesson = good_lesson()
    save(lesson, folder / "00_welcome.ipynb")
    cell_of(lesson, "scenario").source += "\nfrom kafkalearn.spark.session import quick_session"
    save(lesson, folder / "63_spark.ipynb")

    def run(tasks, *, jobs):
        for task in tasks:
            task.output.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(task.source, task.output)
            problem = "No Java." if task.source.stem == "63_spark" else ""
            yield notebooks.NotebookRun(task.source, task.output, 1.0, problem)

    monkeypatch.setattr(notebooks, "run_notebooks", run)
    monkeypatch.setenv("KAFKALEARN_BOOK", "")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_lesson_that_fails_has_no_page(workbook):
    """The others are written, it is named, and the status is 1."""
    result = CliRunner().invoke(app, ["book", "--out", "site"])
    assert result.exit_code == 1
    assert "63_spark.ipynb has no page: No Java." in result.output
    assert "1 of 2 lessons and 0 exercises" in result.output
    pages = {path.name for path in (workbook / "site").glob("*.html")}
    assert pages == {"00_welcome.html", "index.html"}


def test_a_book_without_spark(workbook):
    """--no-spark leaves out the lessons that need it, and is no failure."""
    result = CliRunner().invoke(app, ["book", "--out", "site", "--no-spark"])
    assert (result.exit_code, "1 of 1 lessons" in result.output) == (0, True)
