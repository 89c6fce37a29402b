"""`make test` compares stored outputs: what makes it fail, and what does not."""

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.notebooks.lessons import PICTURE, cell_of, good_lesson, save

ROOT = Path(__file__).parents[2]
OPTIONS = ["--nbval", "--nbval-sanitize-with", "tests/notebooks/sanitize.cfg"]


def picture_stored_as(picture):
    """Build the lesson, its picture's stored form replaced; a run still gives PICTURE."""
    lesson = good_lesson()
    cell_of(lesson, "bars").outputs[0].data["text/html"] = picture
    return lesson


def sum_stored_as(text):
    """Build the lesson, the stored sum replaced; a run still gives 3."""
    lesson = good_lesson()
    cell_of(lesson, "sum").outputs[-1].data["text/plain"] = text
    return lesson


@pytest.fixture(scope="module")
def failed_cells(tmp_path_factory):
    """Run nbval once over several lessons: lesson -> the cells that it failed."""
    folder = tmp_path_factory.mktemp("nbval")
    save(good_lesson(), folder / "unchanged.ipynb")
    save(sum_stored_as("4"), folder / "changed.ipynb")
    save(picture_stored_as(PICTURE.replace("PHN2Zy8+", "QUJD")), folder / "new_colour.ipynb")
    save(picture_stored_as(PICTURE.replace("three", "four")), folder / "new_alt_text.ipynb")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        f"--junitxml={folder}/r.xml",
    ]
    subprocess.run([*command, *OPTIONS, folder], cwd=ROOT, capture_output=True, check=False)
    failed: dict[str, list[str]] = {path.stem: [] for path in folder.glob("*.ipynb")}
    cases = list(ElementTree.parse(folder / "r.xml").iter("testcase"))
    assert len(cases) == 4 * 7, "each of the seven code cells of each lesson is a test"
    for case in cases:
        if case.find("failure") is not None:
            lesson = next(name for name in failed if name in case.get("classname", "").split("."))
            failed[lesson].append(case.get("name"))
    return failed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lesson", "cells"),
    [
        ("unchanged", []),
        ("changed", ["Cell 3"]),
        ("new_colour", []),
        ("new_alt_text", ["Cell 4"]),
    ],
)
def test_a_stored_output_is_compared(failed_cells, lesson, cells):
    """A changed output and a changed alt text fail in their cell; a picture's new bytes do not."""
    assert failed_cells[lesson] == cells


def test_make_test_compares_the_notebooks():
    """The options tried above are those that `make test` runs over notebooks/."""
    recipe = re.search(r"^test:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    words = recipe.group(1).replace("\\\n", " ").split()
    assert set(OPTIONS) | {"tests", "notebooks"} <= set(words)
