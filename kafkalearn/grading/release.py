"""Writes what a class is handed: starters only, and where asked for what `check` needs offline."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from kafkalearn.grading.exercise import FILES, ExerciseError, load, tags_of
from kafkalearn.grading.exercise_rules import breaches, read_book

_INTO_CHECKOUT = re.compile(r"\[([^][]*)\]\(\.\./[^)]*\)")


class ReleaseError(Exception):
    """What is to be released cannot be, or must not; nothing was written."""


def release(
    folders: Sequence[Path], out: Path, *, with_checks: bool = False, force: bool = False
) -> list[Path]:
    """Write the student version of each exercise, ``OUT/NN_name.ipynb``; give what was written.

    with_checks: what ``check`` needs goes beside them into ``OUT/exercises``, judge.py among it,
    which holds the reference.

    Errors: ReleaseError for a file that is there, without force; ExerciseError for an exercise
    that breaks a rule, as one whose starter is not left to be written.
    """
    texts: dict[Path, str] = {}
    for folder in folders:
        exercise = load(folder)
        for breach in breaches(exercise, folder):
            raise ExerciseError(f"{folder.name} is not released: {breach}")
        texts[Path(f"{folder.name}.ipynb")] = _student_version(folder / "starter.ipynb")
        if with_checks:
            texts |= {Path("exercises", folder.name, each): exercise.files[each] for each in FILES}
    taken = [str(out / name) for name in texts if (out / name).exists()]
    if taken and not force:
        raise ReleaseError(f"{', '.join(taken)}: there already; name another folder, or --force")
    try:
        _write(texts, out)
    except OSError as error:
        raise ReleaseError(f"{out} cannot be written to: {error.strerror}") from error
    return [out / name for name in texts]


def _write(texts: Mapping[Path, str], out: Path) -> None:
    """Write all beside first: a full disk leaves nothing half-written in its place."""
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".release-", dir=out) as place:
        for name, text in texts.items():
            (Path(place) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(place) / name).write_text(text, encoding="utf-8")
        for name in texts:
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(place) / name).replace(out / name)


def _student_version(starter: Path) -> str:
    """Give the starter without outputs, an editor's metadata, and links into the checkout."""
    book = read_book(starter)
    for cell in book["cells"]:
        cell["metadata"] = {"tags": tags_of(cell)} if tags_of(cell) else {}
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}
        else:
            text = "".join(cell["source"])
            cell["source"] = _INTO_CHECKOUT.sub(r"\1", text).splitlines(keepends=True)
    kept = ("kernelspec", "kafkalearn")
    book["metadata"] = {name: each for name, each in book["metadata"].items() if name in kept}
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"
