"""A small lesson that keeps every convention, for the tests to spoil in one place at a time."""

from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tests.notebooks.clean import KERNELSPEC
from tests.notebooks.conventions import BLANK, FOLDED

TITLE = """# Three numbers
> What do they add up to?

Needs: nothing.
You will be able to add three numbers."""
PICTURE = '<img src="data:image/svg+xml;base64,PHN2Zy8+" alt="three bars">'


def good_lesson() -> NotebookNode:
    """Build the lesson with the outputs that a run of it gives."""
    picture = {"text/plain": "<IPython.core.display.HTML object>", "text/html": PICTURE}
    cells = [
        _text("title", TITLE),
        _code("parameters", "seed = 0", tag="parameters"),
        _code("scenario", "from IPython.display import HTML\n\nnumbers = [seed, 1, 2]"),
        _text("predict-sum", "**Predict.** What is the sum?"),
        _code("prediction", "prediction = None  # for example 7"),
        _code("sum", "sum(numbers)", data={"text/plain": "3"}, folded=True),
        _text("reason", "Zero adds nothing; see [the scenario](#Three-numbers)."),
        _code("bars", f"HTML('{PICTURE}')", data=picture, tag="widget"),
        _code("bars-as-text", "print(*numbers)", stream="0 1 2\n", tag="check"),
        _code("sum-is-right", "assert sum(numbers) == seed + 3"),
        _text("next-time", "What if the seed is 4?"),
    ]
    notebook = new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC})
    for number, cell in enumerate([c for c in cells if c.cell_type == "code"], start=1):
        cell.execution_count = number
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = number
    return notebook


def cell_of(lesson: NotebookNode, name: str) -> NotebookNode:
    """Find the cell with this id."""
    return next(cell for cell in lesson.cells if cell.id == name)


def save(lesson: NotebookNode, path: Path) -> Path:
    """Write the lesson and give back where."""
    nbformat.write(lesson, path)
    return path


def _text(name: str, source: str) -> NotebookNode:
    return new_markdown_cell(source, id=name)


def _code(
    name: str,
    source: str,
    *,
    tag: str = "",
    data: dict[str, Any] | None = None,
    stream: str = "",
    folded: bool = False,
) -> NotebookNode:
    outputs = [NotebookNode(BLANK)] if folded else []
    outputs += [new_output("execute_result", data=data)] if data else []
    outputs += [new_output("stream", name="stdout", text=stream)] if stream else []
    metadata: dict[str, Any] = {"tags": [tag]} if tag else {}
    metadata |= {"jupyter": FOLDED} if folded else {}
    return new_code_cell(source, id=name, outputs=outputs, metadata=metadata)
