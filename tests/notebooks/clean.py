"""For authors: executes notebooks and stores them as the conventions want it (`make notebooks`).

Kept: sources, ids, tags, and outputs, a widget's text and static picture among them. Dropped:
everything that differs from machine to machine or says nothing to a reader of the diff.
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from tests.notebooks.conventions import BLANK, FOLDED, VIEW_PAYLOAD, answers, problems

KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}


def execute(path: Path) -> NotebookNode:
    """Run the notebook in its own folder with a fresh kernel, whatever it was saved with."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        timeout=300,
        store_widget_state=False,
    )
    return client.execute()


def clean(notebook: NotebookNode) -> NotebookNode:
    """Drop what is not to be stored, tag what shows a widget (its view goes), fold answers."""
    notebook.metadata = NotebookNode(kernelspec=NotebookNode(KERNELSPEC))
    notebook.cells = [cell for cell in notebook.cells if "injected-parameters" not in _tags(cell)]
    folded, number = answers(notebook.cells), 0
    for cell in notebook.cells:
        tags = _tags(cell)
        if cell.cell_type == "code":
            number += 1
            cell.execution_count = number
            cell.outputs = _joined(cell.outputs)
            if any(VIEW_PAYLOAD in output.get("data", {}) for output in cell.outputs):
                tags = list(dict.fromkeys([*tags, "widget"]))
            for output in cell.outputs:
                _clean_output(output, number)
        cell.metadata = NotebookNode(tags=tags) if tags else NotebookNode()
        if cell.id in folded:
            cell.metadata.jupyter = NotebookNode(FOLDED)
            cell.outputs = [NotebookNode(BLANK), *(out for out in cell.outputs if out != BLANK)]
    return notebook


def main(paths: list[Path]) -> int:
    """Execute, clean and check each notebook; 1 if one fails, which is then left as it was."""
    status = 0
    for path in paths:
        try:
            notebook = clean(execute(path))
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            print(f"{path}: not stored, since a cell failed.\n{error}")
            status = 1
            continue
        nbformat.write(notebook, path)
        found = problems(path)
        print(f"{path}: stored" + "".join(f"\n  {problem}" for problem in found))
        status |= bool(found)
    return status


def _clean_output(output: NotebookNode, number: int) -> None:
    if "execution_count" in output:
        output.execution_count = number
    if "metadata" in output:
        output.metadata = NotebookNode()
    output.get("data", {}).pop(VIEW_PAYLOAD, None)


def _joined(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Join neighbouring pieces of one stream; where it is cut depends on timing."""
    joined: list[NotebookNode] = []
    for output in outputs:
        if joined and output.get("name") and output.name == joined[-1].get("name"):
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def _tags(cell: NotebookNode) -> list[str]:
    return list(cell.metadata.get("tags", []))


if __name__ == "__main__":
    sys.exit(main([Path(name) for name in sys.argv[1:]]))
