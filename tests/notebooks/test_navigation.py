"""Links from notebook to notebook: made from the titles, and as they are made."""

import re

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
    exercise_files,
    line,
    wanted,
    wanted_exercise,
    way_back,
)


@pytest.fixture
def three(tmp_path):
    """Write three notebooks, of two parts."""
    folder = tmp_path / "lessons"
    folder.mkdir()
    for name, title in (("00_a", "A"), ("11_b", "B"), ("12_c", "C")):
        cells = [new_markdown_cell(f"# {title}\n> Why {title}?", id="title")]
        cells += [new_markdown_cell("old", id=CONTENTS)] if name == "00_a" else []
        cells.append(new_markdown_cell("**To take along:** and then?", id="end"))
        save(new_notebook(cells=cells), folder / f"{name}.ipynb")
    return folder


def test_each_leads_to_its_neighbours(three):
    """The first has only a next one, the last only one before; the contents lie between."""
    found = entries(three)
    assert [line(found, at) for at in range(3)] == [
        "[11 B](11_b.ipynb) →",
        "← [00 A](00_a.ipynb) · [12 C](12_c.ipynb) →",
        "← [11 B](11_b.ipynb) · [contents](00_welcome.ipynb)",
    ]


def test_the_contents_name_each_part(three):
    """Every notebook stands under its part, with its question."""
    rows = contents(entries(three)).splitlines()[4:]
    assert [row.split("](")[0] for row in rows] == [
        "| **Beginning** | |",
        "| [00 A",
        "| **Producer** | |",
        "| [11 B",
        "| [12 C",
    ]
    assert rows[3] == "| [11 B](11_b.ipynb) | Why B? |"


def exercise(folder, name):
    """Write the starter of an exercise beside the folder of notebooks."""
    place = folder.parent / "exercises" / name
    place.mkdir(parents=True)
    title = new_markdown_cell(f"# Do {name[:2]}\n> Why?", id="title")
    save(new_notebook(cells=[title]), place / "starter.ipynb")


@pytest.fixture
def with_exercises(three):
    """Write two exercises: of 11, and of 13, which has no lesson."""
    exercise(three, "11_x")
    exercise(three, "13_y")
    return three


def test_a_lesson_leads_to_its_exercises(with_exercises):
    """To the learner's copy, in its last cell and in the contents; 13 has 12 before it."""
    found = entries(with_exercises)
    assert [line(found, at).split("\n\n")[0] for at in (1, 2)] == [
        "**Exercise:** [Do 11](../exercises/11_x/11_x.ipynb)",
        "**Exercise:** [Do 13](../exercises/13_y/13_y.ipynb)",
    ]
    assert "| [11 B](11_b.ipynb) | Why B? [exercise](../exercises/11_x/11_x.ipynb) |" in contents(
        found
    )


def test_an_exercise_leads_back(with_exercises):
    """To its lesson and the next one, from its own folder; the last has no next."""
    found = entries(with_exercises)
    assert way_back(found, 1) == (
        "All right? Back to [11 B](../../notebooks/11_b.ipynb)"
        " · on to [12 C](../../notebooks/12_c.ipynb)"
    )
    assert way_back(found, 2) == "All right? Back to [12 C](../../notebooks/12_c.ipynb)"


def test_links_are_written_once(with_exercises):
    """What was written is written over, not added to."""
    found = entries(with_exercises)
    once = wanted(with_exercises / "11_b.ipynb", found)
    nbformat.write(once, with_exercises / "11_b.ipynb")
    assert wanted(with_exercises / "11_b.ipynb", found) == once
    assert once.cells[-1].source.count("→") == 1


def test_exercises_have_their_way_back():
    """Each starter and solution ends in it, and its *Needs* is a link that leads somewhere."""
    found = entries()
    files = [(path, at) for at, entry in enumerate(found) for path in exercise_files(entry)]
    assert len(files) == 24
    for path, at in files:
        stored = nbformat.read(path, as_version=4)
        assert stored == wanted_exercise(path, found, at)
        targets = re.findall(r"\]\((\S+)\)", stored.cells[0].source + stored.cells[-1].source)
        assert len(targets) >= 2
        assert all((path.parent / target).is_file() for target in targets)


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_the_workbook_has_the_links_as_they_are_made(entry):
    """`python -m tests.notebooks.navigation` would change nothing."""
    path = NOTEBOOKS / entry.name
    assert nbformat.read(path, as_version=4) == wanted(path, entries())


def test_every_notebook_has_a_part():
    """Its number begins with that of one."""
    assert {entry.name[0] for entry in entries()} <= set(PARTS)
