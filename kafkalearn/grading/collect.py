"""Finds what a class handed in: ``SUBMISSIONS/<student>/…/<exercise>.ipynb``.

nbgrader's `submitted/` is such a folder.
"""

import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

LARGEST_BYTES = 10 * 2**20


class SubmissionError(ValueError):
    """A file that cannot be graded; the message says what is wrong with it."""


def check_size(byte_count: int) -> None:
    """Raise SubmissionError for a notebook that is too large to be read."""
    if byte_count > LARGEST_BYTES:
        raise SubmissionError(
            f"the file is larger than {LARGEST_BYTES // 2**20} MB: clear its outputs"
        )


class Submission(NamedTuple):
    """A notebook that a student handed in, as it travels to where it is graded."""

    student: str
    exercise: str
    content: bytes


class NoSubmissionsError(ValueError):
    """A folder that holds nothing to grade; the message says what was expected in it."""


class Found(NamedTuple):
    """One notebook of one student, or one thing that cannot be graded, with the reason.

    exercise: what the file's name says. path: None if there is no file.
    """

    student: str
    exercise: str
    path: Path | None
    refusal: str = ""
    note: str = ""

    def read(self) -> Submission:
        """Read the file; SubmissionError says why it cannot be graded."""
        if self.refusal or self.path is None:
            raise SubmissionError(self.refusal)
        if self.path.is_symlink():
            raise SubmissionError("the file is a symbolic link: hand in the notebook itself")
        try:
            if not S_ISREG(self.path.stat().st_mode):
                raise SubmissionError("the file is no ordinary file: hand in the notebook itself")
            check_size(self.path.stat().st_size)
            return Submission(self.student, self.exercise, self.path.read_bytes())
        except OSError as error:
            raise SubmissionError(f"the file cannot be read: {error.strerror}") from None


def find_submissions(folder: Path, exercises: Collection[str]) -> list[Found]:
    """Everything that was handed in, by student and exercise; nothing is left out in silence.

    Errors: NoSubmissionsError if the folder holds no notebook of any student.
    """
    if not folder.is_dir():
        raise NoSubmissionsError(f"there is no folder {folder}")
    students = sorted(
        entry for entry in folder.iterdir() if entry.is_dir() and not _hidden(entry.name)
    )
    found = [each for student in students for each in _of_student(student, exercises)]
    if not any(each.path for each in found):
        loose = (
            "; it holds notebooks, but each must lie in its student's folder"
            if any(folder.glob("*.ipynb"))
            else ""
        )
        raise NoSubmissionsError(
            f"no submission in {folder}: <student>/…/<exercise>.ipynb is looked for{loose}"
        )
    loose_notebooks = sorted(entry for entry in folder.glob("*.ipynb") if not _hidden(entry.name))
    refusal = "the notebook lies in no student's folder"
    return found + [Found("", _text(path.stem), None, refusal) for path in loose_notebooks]


def _of_student(folder: Path, exercises: Collection[str]) -> Iterator[Found]:
    student = _text(folder.name)
    copies: dict[str, list[Path]] = {}
    for path in _notebooks(folder):
        copies.setdefault(_text(path.stem), []).append(path)
    if not copies:
        yield Found(student, "", None, "the student's folder holds no notebook that can be read")
    for exercise, paths in sorted(copies.items()):
        if exercise not in exercises:
            known = ", ".join(sorted(exercises))
            yield Found(
                student,
                exercise,
                paths[-1],
                f"no exercise is called {exercise}: name the file {known}.ipynb",
            )
            continue
        names = [_text(str(path.relative_to(folder))) for path in paths]
        note = f"{len(paths)} copies were handed in, and {names[-1]}, the last by name, is graded"
        yield Found(student, exercise, paths[-1], note=note if len(paths) > 1 else "")


def _notebooks(folder: Path) -> list[Path]:
    paths = []
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not _hidden(name)]
        paths += [
            Path(place, name) for name in files if name.endswith(".ipynb") and not _hidden(name)
        ]
    return sorted(paths, key=_by_name)


def _by_name(path: Path) -> tuple[list[list[str | int]], Path]:
    """Sort as people do: v10 comes after v2."""
    parts: list[list[str | int]] = [
        [int(word) if word.isdecimal() else word for word in re.split(r"(\d+)", part)]
        for part in path.parts
    ]
    return parts, path


def _hidden(name: str) -> bool:
    return name.startswith(".")


def _text(name: str) -> str:
    """A file's name as text that any table can hold, even if the name is not UTF-8."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
