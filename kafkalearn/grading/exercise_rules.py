"""What the notebooks of an exercise must look like, each breach told in a sentence."""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kafkalearn.grading.exercise import Exercise, ExerciseError, tags_of

MOST_TASK_WORDS = 80
FEWEST_HINTS = 2
FEWEST_WRONG = 2
DIFFERENT = ("title", "answer")  # the cells in which a solution is not as its starter

Cell = dict[str, Any]


def read_book(path: Path) -> dict[str, Any]:
    """Read a notebook as it is written."""
    book: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return book


def read_cells(path: Path) -> list[Cell]:
    """Read a notebook's cells, the source of each as one text."""
    return [{**cell, "source": "".join(cell["source"])} for cell in read_book(path)["cells"]]


def code_cells(cells: Sequence[Cell]) -> list[Cell]:
    """The code that leads to an answer: all but the checks."""
    return [c for c in cells if c["cell_type"] == "code" and "check" not in tags_of(c)]


def check_call(cell: Cell) -> ast.Call | None:
    """The call ``check("exercise/name", answer, …)`` in a check's cell; None in another cell."""
    if "check" not in tags_of(cell):
        return None
    for node in ast.walk(ast.parse(cell["source"])):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "check":
            return node if len(node.args) == 2 else None
    return None


def wrong_answers(folder: Path) -> list[Path]:
    """The notebooks of wrong answers, by name."""
    return sorted((folder / "wrong").glob("*.ipynb"))


def caught_by(path: Path) -> str:
    """The check that a wrong answer names; ExerciseError if it names none."""
    named = read_book(path)["metadata"].get("kafkalearn", {}).get("caught_by")
    if not named:
        raise ExerciseError(f"wrong/{path.name}: its metadata name no kafkalearn.caught_by")
    return str(named)


def breaches(exercise: Exercise, folder: Path) -> list[str]:
    """Say everything in which starter, solution, wrong answers and exercise.toml disagree."""
    starter = read_cells(folder / "starter.ipynb")
    found = [*_of_starter(starter), *_of_checks(exercise, starter)]
    if not (folder / "README.md").is_file():
        found.append("README.md is missing: what an instructor should know")
    for module in sorted(exercise.lent_modules):
        if find_spec(module) is None:
            found.append(f"exercise.toml lends {module}, and there is no such module")
    if len(wrong_answers(folder)) < FEWEST_WRONG:
        found.append(f"wrong/ holds less than {FEWEST_WRONG} notebooks of wrong answers")
    for path in (folder / "solution.ipynb", *wrong_answers(folder)):
        found += _of_answer(exercise, starter, path) if path.is_file() else [f"no {path.name}"]
    for path in (folder / "starter.ipynb", folder / "solution.ipynb", *wrong_answers(folder)):
        found += _of_file(exercise, path) if path.is_file() else []
    return found


def _of_starter(cells: Sequence[Cell]) -> Iterator[str]:
    tagged = {
        tag: [cell for cell in cells if tag in tags_of(cell)] for tag in ("parameters", "answer")
    }
    for tag, having in tagged.items():
        if len(having) != 1:
            yield f"the starter has {len(having)} cells tagged {tag}: one is wanted"
    if not any(re.search(r"^seed = ", cell["source"], re.M) for cell in tagged["parameters"]):
        yield "the starter's parameters do not set seed"
    if not any("raise NotImplementedError" in cell["source"] for cell in tagged["answer"]):
        yield "the starter's answer has no `raise NotImplementedError`: is it written already?"
    task = next((cell["source"] for cell in cells if cell["id"] == "task"), "")
    if not 0 < len(task.split()) <= MOST_TASK_WORDS:
        count = len(task.split())
        yield f"the cell `task` has {count} words: 1 to {MOST_TASK_WORDS} are allowed"
    prose = [cell["source"] for cell in cells if cell["cell_type"] == "markdown"]
    hints = max(map(_nested_hints, prose), default=0)
    if hints < FEWEST_HINTS:
        yield (
            f"the starter has {hints} hints that open one by one: {FEWEST_HINTS} are wanted, "
            "each <details> with its <summary> inside the one before, in one text cell"
        )


def _nested_hints(text: str) -> int:
    opened, closed = text.count("<details>"), text.count("</details>")
    is_nested = text.rfind("<details>") < text.find("</details>")
    return opened if opened == closed == text.count("<summary>") and is_nested else 0


def _of_checks(exercise: Exercise, cells: Sequence[Cell]) -> Iterator[str]:
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    checks = [cell for cell in code if "check" in tags_of(cell)]
    if checks != code[-len(checks) :]:
        yield "code follows a check of the starter: grading runs all checks at the end"
    for cell in checks:
        call = check_call(cell)
        if call is None or not isinstance(call.args[0], ast.Constant):
            yield f"cell {cell['id']} does not call check(NAME, ANSWER, seed=seed)"
            continue
        if call.args[0].value != f"{exercise.name}/{cell['id']}":
            yield f"cell {cell['id']} asks for check {call.args[0].value!r}"
        if [ast.unparse(each) for each in call.keywords] != ["seed=seed"]:
            yield f"cell {cell['id']} does not hand seed=seed to check"
        if "raises-exception" not in tags_of(cell):
            yield f"cell {cell['id']} lacks the tag raises-exception: a no would end the notebook"


def _of_answer(exercise: Exercise, starter: Sequence[Cell], path: Path) -> Iterator[str]:
    cells = read_cells(path)
    given = {cell["id"]: cell for cell in starter}
    mine, theirs = (
        [c["id"] for c in each if c["cell_type"] == "code"] for each in (cells, starter)
    )
    if mine != theirs:
        yield f"{path.name} has other code cells than the starter"
    for cell in cells:
        if cell["id"] not in DIFFERENT and cell != given.get(cell["id"]):
            yield f"{path.name}: cell {cell['id']} is not as in the starter"
    if path.parent.name == "wrong":
        check = caught_by(path)
        if check not in [each.name for each in exercise.checks]:
            yield f"wrong/{path.name} names {check!r}, which is no check of this exercise"
        if check not in cells[0]["source"]:
            yield f"wrong/{path.name}: its title does not say that {check} catches it"


def _of_file(exercise: Exercise, path: Path) -> Iterator[str]:
    book = read_book(path)
    named = book["metadata"].get("kafkalearn", {}).get("exercise")
    if named != exercise.name:
        yield f"{path.name}: its metadata name the exercise {named!r}"
    for cell in book["cells"]:
        if cell.get("outputs") or cell.get("execution_count"):
            yield f"{path.name}: cell {cell['id']} holds an output or a count of a run"
