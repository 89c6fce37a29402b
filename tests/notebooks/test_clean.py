"""The author's command: what it stores is what the conventions and nbval want."""

import nbformat
import pytest

from tests.notebooks.clean import clean, main
from tests.notebooks.conventions import VIEW_PAYLOAD, problems
from tests.notebooks.lessons import cell_of, good_lesson, save

WIDGET = "from ipywidgets import IntSlider\nIntSlider(value=3)"


def as_an_author_leaves_it(path):
    """Save the lesson as JupyterLab might: no outputs, odd counts, metadata everywhere."""
    lesson = good_lesson()
    lesson.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {}}
    cell_of(lesson, "sum").metadata["collapsed"] = False
    cell_of(lesson, "bars").metadata = {}
    for cell in lesson.cells:
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)
    return save(lesson, path)


@pytest.mark.slow
def test_a_lesson_is_executed_and_stored_clean(tmp_path, capsys):
    """Outputs are stored, counts run from 1, no more stays; a widget keeps its text and a tag."""
    path = as_an_author_leaves_it(tmp_path / "lesson.ipynb")
    lesson = nbformat.read(path, as_version=4)
    cell_of(lesson, "bars").source = WIDGET
    save(lesson, path)

    assert main([path]) == 0, capsys.readouterr().out

    stored = nbformat.read(path, as_version=4)
    widget = cell_of(stored, "bars")
    assert widget.outputs[0].data == {"text/plain": "IntSlider(value=3)"}
    assert widget.metadata == {"tags": ["widget"]}
    expected = good_lesson()
    cell_of(expected, "bars").update(source=WIDGET, outputs=widget.outputs)
    assert stored == expected


@pytest.mark.slow
def test_a_lesson_that_fails_is_not_stored(tmp_path, capsys):
    """The file stays as it was, the status says so, and the output names the error."""
    lesson = good_lesson()
    cell_of(lesson, "sum-is-right").source = "assert sum(numbers) == 4, 'one too few'"
    path = save(lesson, tmp_path / "lesson.ipynb")
    before = path.read_bytes()

    assert main([path]) == 1

    assert path.read_bytes() == before
    assert "one too few" in capsys.readouterr().out


def test_what_papermill_adds_is_dropped(tmp_path):
    """Its injected cell, timing and paths go, and views of widgets; what is left is clean."""
    lesson = good_lesson()
    injected = nbformat.v4.new_code_cell(
        "seed = 7", id="injected", metadata={"tags": ["injected-parameters"]}
    )
    lesson.cells.insert(2, injected)
    lesson.metadata["papermill"] = {"output_path": "out.ipynb"}
    for cell in lesson.cells:
        cell.metadata["papermill"] = {"duration": 0.1}
    cell_of(lesson, "bars").outputs[0].data[VIEW_PAYLOAD] = {"model_id": "1"}

    cleaned = clean(lesson)

    assert cleaned == good_lesson()
    assert problems(save(cleaned, tmp_path / "lesson.ipynb")) == []


def test_pieces_of_one_stream_are_joined():
    """Where a stream is cut depends on timing, so it is stored as one piece."""
    lesson = good_lesson()
    piece = nbformat.v4.new_output
    cell_of(lesson, "bars-as-text").outputs = [
        piece("stream", name="stdout", text="0 1"),
        piece("stream", name="stdout", text=" 2\n"),
    ]
    assert clean(lesson) == good_lesson()
