"""Links from notebook to notebook: made from the titles, and as they are made."""

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from tests.notebooks.lessons import save
from tests.notebooks.navigation import (
    CONTENTS,
    NOTEBOOKS,
    PARTS,
    contents,
    entries,
    line,
    wanted,
)


@pytest.fixture
def three(tmp_path):
    """Write three notebooks, of two parts."""
    for name, title in (("00_a", "A"), ("11_b", "B"), ("12_c", "C")):
        cells = [new_markdown_cell(f"# {title}\n> Why {title}?", id="title")]
        cells += [new_markdown_cell("old", id=CONTENTS)] if name == "00_a" else []
        cells.append(new_markdown_cell("**To take along:** and then?", id="end"))
        save(new_notebook(cells=cells), tmp_path / f"{name}.ipynb")
    return tmp_path


def test_each_leads_to_its_neighbours(three):
    """The first has only a next one, the last only one before; the contents lie between."""
    found = entries(three)
    assert [line(found, at) for at in range(3)] == [
        "[11 B](11_b.ipynb) →",
        "← [00 A](00_a.ipynb) · [12 C](12_c.ipynb) →",
        "← [11 B](11_b.ipynb) · [contents](00_welcome.ipynb)",
    ]


def test_the_contents_have_a_table_for_each_part(three):
    """Every notebook stands under its part, with its question."""
    told = contents(entries(three))
    assert told.index("**Beginning**") < told.index("| [11 B](11_b.ipynb) | Why B? |")
    assert told.count("| --- | --- |") == 2


def test_links_are_written_once(three):
    """What was written is written over, not added to."""
    found = entries(three)
    once = wanted(three / "11_b.ipynb", found)
    nbformat.write(once, three / "11_b.ipynb")
    assert wanted(three / "11_b.ipynb", found) == once
    assert once.cells[-1].source.count("→") == 1


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_the_workbook_has_the_links_as_they_are_made(entry):
    """`python -m tests.notebooks.navigation` would change nothing."""
    path = NOTEBOOKS / entry.name
    assert nbformat.read(path, as_version=4) == wanted(path, entries())


def test_every_notebook_has_a_part():
    """Its number begins with that of one."""
    assert {entry.name[0] for entry in entries()} <= set(PARTS)
