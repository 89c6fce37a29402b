"""Submissions of exercise 41 for tests: the starter with another answer, or other cells."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kafkalearn.grading.answering.learner import answer_message
from kafkalearn.grading.exercise import Exercise, load
from kafkalearn.grading.kit import answers_of

FOLDER = Path(__file__).parents[2] / "exercises" / "41_range_assignor"
EXERCISE = load(FOLDER)
CHECKS = [check.name for check in EXERCISE.checks]
WRONG = sorted((FOLDER / "wrong").glob("*.ipynb"))


def notebook(path: Path = FOLDER / "starter.ipynb") -> dict[str, Any]:
    """One of the exercise's notebooks, to be changed at will."""
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return result


def code(source: str, *tags: str) -> dict[str, Any]:
    """A code cell."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": "added",
        "metadata": {"tags": list(tags)},
        "outputs": [],
        "source": source,
    }


def without_checks(book: dict[str, Any]) -> dict[str, Any]:
    """The notebook as a learner leaves it who deletes the check cells."""
    cells = [cell for cell in book["cells"] if "check" not in cell["metadata"].get("tags", [])]
    return book | {"cells": cells}


def answered(source: str) -> bytes:
    """The starter with this in its answer cell."""
    book = notebook()
    for cell in book["cells"]:
        if cell["id"] == "answer":
            cell["source"] = source
    return as_bytes(book)


def as_bytes(book: dict[str, Any]) -> bytes:
    """The notebook as a file."""
    return json.dumps(book).encode()


def answer_of(path: Path) -> Callable[..., Any]:
    """What a notebook's checks are handed."""
    return next(iter(answers_of(path).values()))


def asker(answer: Callable[..., Any]) -> Callable[[Any], dict[str, Any]]:
    """Ask this answer in this process, as the judge asks over its socket."""
    return lambda message: answer_message(answer, message)


def changed(**replaced: tuple[str, str]) -> Exercise:
    """The exercise with something replaced in a file; `toml` and `judge` name the files."""
    names = {"toml": "exercise.toml", "judge": "judge.py", "starter": "starter.ipynb"}
    files = dict(EXERCISE.files)
    for key, (old, new) in replaced.items():
        assert old in files[names[key]]
        files[names[key]] = files[names[key]].replace(old, new)
    return Exercise.of(EXERCISE.name, files)
