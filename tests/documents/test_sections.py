"""Every section of the documents is taught, by a notebook that names it."""

from pathlib import Path

import nbformat
import pytest

from tests.documents.sections import NOT_TAUGHT, SECTIONS

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def prose(name):
    """Give the text cells of a notebook as one text."""
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


@pytest.mark.parametrize(("section", "names"), SECTIONS.items(), ids=lambda each: str(each))
def test_a_section_is_taught(section, names):
    """Each notebook names the document; one of them the section, as it is printed."""
    number, title = section
    texts = [prose(name) for name in names]
    assert all(number in text for text in texts)
    assert any(title in text for text in texts)


def test_what_is_not_taught_has_a_reason():
    """A section is taught or left out, not both."""
    assert all(NOT_TAUGHT.values())
    assert not NOT_TAUGHT.keys() & SECTIONS.keys()
    assert {number for number, _ in SECTIONS} == {"000", "001", "002", "003", "004"}
