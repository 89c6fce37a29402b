"""The book: pages of executed notebooks, opened with no network."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from kafkalearn.book import write_book
from kafkalearn.notebooks import NotebookTask, run_notebook
from kafkalearn.views.saved_page import BOOK
from kafkalearn.workbook import WorkbookError
from tests.notebooks.lessons import save

pytestmark = pytest.mark.browser

SOURCE = """
from kafkalearn import scenarios
from kafkalearn.views import Stepper
Stepper(scenarios.first_member())
""".strip()


EXPLORER = """
from kafkalearn.assignors import all_assignors
from kafkalearn.views import AssignmentExplorer
AssignmentExplorer(all_assignors(), topics={"t": 3}, members={"c0": ["t"]})
""".strip()


WIDE = """
from IPython.display import Markdown
print("a sentence of many words " * 20)
Markdown("|a|b|c|d|\\n|-|-|-|-|\\n" + "|`a.long.name.of.a.setting.in.java`" * 4 + "|")
""".strip()


def executed(folder, name, *cells):
    """Execute a notebook of a title and these cells as a book wants it."""
    title = new_markdown_cell(f"# {name}\n> Why?\n\n[the other](two.ipynb)", id="title")
    code = [new_code_cell(source, id=f"cell-{n}") for n, source in enumerate(cells)]
    source = save(new_notebook(cells=[title, *code]), folder / f"{name}.ipynb")
    run = run_notebook(NotebookTask(source, folder / "executed" / source.name))
    assert run.problem == ""
    return run.output


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Write a book of two pages."""
    folder = tmp_path_factory.mktemp("book")
    (folder / "executed").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(BOOK, "1")
        pages = [executed(folder, "one", SOURCE, WIDE), executed(folder, "two", EXPLORER)]
    return write_book(pages, folder / "site")


def test_a_stepper_steps_in_the_book(browser, book):
    """With no kernel and no network, in a frame as high as it is; an explorer is a picture."""
    errors = []
    context = browser.new_context(offline=True)
    window = context.new_page()
    window.on("pageerror", lambda error: errors.append(str(error)))
    window.on("request", lambda r: None if r.url.startswith("file:") else errors.append(r.url))
    window.goto(book.as_uri())
    inside = window.frame_locator("iframe.kl-book")
    stepper = inside.locator(".kl-stepper")
    stepper.wait_for()
    stepper.focus()
    window.keyboard.press("End")
    count = inside.locator("[data-scrub]").get_attribute("max")
    assert inside.locator("[data-scrub]").input_value() == count != "0"
    assert window.locator("iframe.kl-book").bounding_box()["height"] > 600
    window.get_by_role("link", name="the other").click()
    window.get_by_role("img", name="The first assignment of 3 partitions").wait_for()
    assert window.url.endswith("two.html")
    context.close()
    assert errors == []


def test_what_is_wide_stays_in_the_page(browser, book):
    """In a window of 1,000 pixels a sentence is wrapped, and neither it nor a table is cut."""
    window = browser.new_page(viewport={"width": 1000, "height": 900})
    window.goto(book.as_uri())
    for each in (window.locator("pre", has_text="a sentence of").last, window.locator("table")):
        assert each.evaluate("each => each.scrollWidth <= each.clientWidth")
        assert each.bounding_box()["width"] < 760
    assert window.evaluate("document.documentElement.scrollWidth <= innerWidth")
    window.close()


def test_nothing_comes_from_elsewhere(book):
    """No page names a script, style or picture of another place."""
    for page in book.parent.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "<script src" not in text
        assert 'src="http' not in text
        assert "<link" not in text


def test_a_book_of_nothing_is_refused(tmp_path):
    """There must be something to read."""
    with pytest.raises(WorkbookError, match="no notebook to make a book of"):
        write_book([], tmp_path)
