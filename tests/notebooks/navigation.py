"""What leads from one notebook to the next: the contents in 00, and lines at the end of each.

An exercise belongs to the lesson of its number, or to the last lesson before it. Links lead to the
learner's copy of it, which `kafkalearn lab` and Binder make from the starter; its end leads back.

``python -m tests.notebooks.navigation`` writes both anew; a test says where they are not so.
"""

import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import nbformat

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
CONTENTS = "contents"  # the id of the cell in 00 that holds the table
WAY_BACK = "way-back"  # the id of the last cell of an exercise
PARTS = {
    "0": "Beginning",
    "1": "Producer",
    "2": "Poll",
    "3": "Subscription and commit",
    "4": "Assignment",
    "5": "Today",
    "6": "Pipeline",
}
LINE = re.compile(r"^(?:← \[.*|\[.* →|\*\*Exercise:\*\* \[.*)$", re.M)


class Entry(NamedTuple):
    """A notebook in the table: its file, its title and the question in its subtitle.

    exercises: the files of its exercises, with their titles.
    """

    name: str
    title: str
    question: str
    exercises: tuple[tuple[str, str], ...] = ()

    @property
    def link(self) -> str:
        """Link to it by number and title."""
        return f"[{self.name[:2]} {self.title}]({self.name})"


def entries(folder: Path = NOTEBOOKS) -> list[Entry]:
    """List the notebooks in their order, with the exercises that lie in the folder beside."""
    found = [_entry(path) for path in sorted(folder.glob("[0-9][0-9]_*.ipynb"))]
    for starter in sorted((folder.parent / "exercises").glob("[0-9][0-9]_*/starter.ipynb")):
        name = starter.parent.name
        before = [at for at, each in enumerate(found) if each.name[:2] <= name[:2]]
        if before:
            lesson = found[before[-1]]
            exercise = (f"../exercises/{name}/{name}.ipynb", _heading(starter, "#"))
            found[before[-1]] = lesson._replace(exercises=(*lesson.exercises, exercise))
    return found


def _entry(path: Path) -> Entry:
    return Entry(path.name, _heading(path, "#"), _heading(path, ">"))


def _heading(path: Path, mark: str) -> str:
    title = nbformat.read(path, as_version=4).cells[0].source
    found = re.search(rf"^{mark} (.+)$", title, re.M)
    if not found:
        raise ValueError(f"{path.name} has no title with a question")
    return found[1].strip()


def contents(found: list[Entry]) -> str:
    """Make the table of 00, part by part: one table, so that all parts are as wide."""
    lines = ["## Contents", "", "| lesson | question |", "| --- | --- |"]
    for number, part in PARTS.items():
        of_part = [each for each in found if each.name.startswith(number)]
        if of_part:
            lines.append(f"| **{part}** | |")
            for each in of_part:
                exercises = "".join(f" [exercise]({file})" for file, _ in each.exercises)
                lines.append(f"| {each.link} | {each.question}{exercises} |")
    return "\n".join(lines)


def line(found: list[Entry], at: int) -> str:
    """Make the end of a notebook: its exercises; then the one before, the contents, the next."""
    links = " · ".join(f"[{title}]({file})" for file, title in found[at].exercises)
    parts = []
    if at > 0:
        parts.append(f"← {found[at - 1].link}")
    if at > 1:
        parts.append("[contents](00_welcome.ipynb)")
    if at + 1 < len(found):
        parts.append(f"{found[at + 1].link} →")
    return (f"**Exercise:** {links}\n\n" if links else "") + " · ".join(parts)


def way_back(found: list[Entry], at: int) -> str:
    """Make the end of an exercise: its lesson, and the one after it."""
    near = [each.link.replace("](", "](../../notebooks/") for each in found[at : at + 2]]
    return "All right? Back to " + " · on to ".join(near)


def wanted_exercise(path: Path, found: list[Entry], at: int) -> Any:
    """Give an exercise's starter or solution as it should be, ending in its way back."""
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.id != WAY_BACK]
    end = nbformat.v4.new_markdown_cell(way_back(found, at), id=WAY_BACK)
    notebook.cells = [*cells, end]
    return notebook


def exercise_files(entry: Entry) -> list[Path]:
    """List the starter and the solution of each exercise of a lesson."""
    folders = [(NOTEBOOKS / file).parent for file, _ in entry.exercises]
    return [folder / name for folder in folders for name in ("starter.ipynb", "solution.ipynb")]


def wanted(path: Path, found: list[Entry]) -> Any:
    """Give the notebook as it should be."""
    notebook = nbformat.read(path, as_version=4)
    at = [each.name for each in found].index(path.name)
    last = notebook.cells[-1]
    last.source = f"{LINE.sub('', last.source).rstrip()}\n\n{line(found, at)}"
    for cell in notebook.cells:
        if cell.id == CONTENTS:
            cell.source = contents(found)
    return notebook


def main() -> int:
    """Write what is not as it should be."""
    found = entries()
    for at, entry in enumerate(found):
        _write(NOTEBOOKS / entry.name, wanted(NOTEBOOKS / entry.name, found))
        for path in exercise_files(entry):
            _write(path, wanted_exercise(path, found, at))
    return 0


def _write(path: Path, notebook: Any) -> None:
    after = nbformat.writes(notebook, version=4, indent=1) + "\n"
    if after != path.read_text(encoding="utf-8"):
        path.write_text(after, encoding="utf-8")
        print(f"{path.parent.name}/{path.name}: links written")


if __name__ == "__main__":
    sys.exit(main())
