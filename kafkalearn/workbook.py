"""Where the workbook lies: its root folder, its notebooks, and the parameters that they take."""

import ast
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

WELCOME = Path("notebooks", "00_welcome.ipynb")


class WorkbookError(Exception):
    """Something that the caller can mend. Its text is a sentence; commands end with status 2."""


class MissingExtraError(WorkbookError):
    """A command needs packages that ``pip install kafkalearn`` alone does not bring."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} is not installed here. In a checkout, `make lab` installs everything; "
            f"elsewhere, pip install 'kafkalearn[{extra}]'."
        )


def workbook_root(start: Path | None = None) -> Path:
    """Find the folder that holds ``notebooks/``: `start` (the current folder) or one above it.

    The checkout that the package runs from comes last, so that commands work from anywhere.
    """
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents, Path(__file__).resolve().parents[1]):
        if (folder / WELCOME).is_file():
            return folder
    raise WorkbookError(
        f"There is no {WELCOME} in {start} or above it: run this inside a checkout of kafkalearn."
    )


def find_notebooks(paths: Sequence[Path]) -> list[Path]:
    """List the notebooks that `paths` name; a folder stands for all the notebooks in it.

    Errors: WorkbookError for a path that is no notebook, a folder without any, or two notebooks
    of one name (their outputs would overwrite each other).
    """
    found: dict[str, Path] = {}
    for path in paths:
        for notebook in _notebooks_at(path):
            if found.setdefault(notebook.name, notebook).resolve() != notebook.resolve():
                raise WorkbookError(
                    f"{found[notebook.name]} and {notebook} have one name: run them one by one."
                )
    return list(found.values())


def parameter_names(notebook: Path) -> set[str]:
    """Name what the cell tagged ``parameters`` sets; nothing if the file is no notebook."""
    found = _statements(notebook, "parameters")
    targets = [target for each in found if isinstance(each, ast.Assign) for target in each.targets]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def needs_spark(notebook: Path) -> bool:
    """Whether its code imports Spark, or what of kafkalearn runs on it."""
    imported = (each for each in _statements(notebook) if isinstance(each, ast.ImportFrom))
    return any(f"{each.module}.".startswith(("pyspark.", "kafkalearn.spark.")) for each in imported)


def _statements(notebook: Path, tag: str | None = None) -> list[ast.stmt]:
    """Read its code cells, or those with a tag; nothing if the file is no notebook."""
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        sources = [
            "".join(cell["source"])
            for cell in cells
            if cell["cell_type"] == "code" and (not tag or tag in cell["metadata"].get("tags", []))
        ]
        return ast.parse("\n".join(sources)).body
    except (ValueError, KeyError, TypeError, AttributeError, SyntaxError):
        return []


def read_parameters(assignments: Sequence[str], notebooks: Sequence[Path]) -> dict[str, Any]:
    """Read ``NAME=VALUE`` texts; a value that is no Python literal is taken as text.

    Errors: WorkbookError for anything else, and for a parameter that none of the notebooks has.
    """
    known = {name for notebook in notebooks for name in parameter_names(notebook)}
    parameters = {}
    for assignment in assignments:
        name, value = read_assignment(assignment, option="-p")
        if name not in known:
            names = ", ".join(sorted(known)) or "none"
            raise WorkbookError(f"No notebook here has a parameter {name!r}; there are: {names}.")
        parameters[name] = value
    return parameters


def read_assignment(text: str, *, option: str) -> tuple[str, Any]:
    """Read ``NAME=VALUE``, the value of a command's `option`; WorkbookError for anything else."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise WorkbookError(
            f"{option} {text} is not understood: NAME=VALUE is allowed, as in seed=7."
        )
    return name, _literal(value)


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _notebooks_at(path: Path) -> list[Path]:
    if path.is_dir():
        notebooks = sorted(path.glob("*.ipynb"))
        if not notebooks:
            raise WorkbookError(f"There is no notebook in {path}.")
        return notebooks
    if path.suffix != ".ipynb":
        raise WorkbookError(
            f"{path} is no notebook: a file that ends in .ipynb, or a folder, is allowed."
        )
    if not path.is_file():
        raise WorkbookError(f"There is no file {path}.")
    return [path]
