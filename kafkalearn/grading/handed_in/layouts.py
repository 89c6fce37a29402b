"""Who handed a file in, and for which exercise: what platforms make of names.

Only the outermost name is read for the student: the platform wrote it, a student wrote the others.
"""

import re
from collections.abc import Collection
from typing import NamedTuple

# Full Name_12345_assignsubmission_file_/x.ipynb, or with x.ipynb at its end and no folder.
_MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_[a-z]+_?(?P<file>.*)", re.S)
# lastfirst_LATE_12345_67890_x-1.ipynb
_CANVAS = re.compile(r"(?P<name>[^_]+)_(?P<late>LATE_)?(?P<number>\d+)_\d+_(?P<file>.+)", re.S)
# What browsers, platforms and people append to the name of a copy.
_SUFFIX = r"(?:[ _+]?\((\d+)\)|-(\d+)|[ _-]+copy[ _-]?(\d*))"
_COPY = re.compile(rf"(.+?)((?:{_SUFFIX})+)", re.S | re.I)


class Owner(NamedTuple):
    """Whose file it is. `number` is what a platform tells namesakes apart by."""

    name: str
    number: str = ""
    late: bool = False


def platform_owner(name: str) -> tuple[Owner, str] | None:
    """Read a name as a platform writes it: the student, and the name of the file if it holds it."""
    found = _MOODLE.fullmatch(name) or _CANVAS.fullmatch(name)
    if not found:
        return None
    parts = found.groupdict()
    return Owner(parts["name"], parts["number"], bool(parts.get("late"))), parts["file"]


def exercise_of(stem: str, exercises: Collection[str]) -> str | None:
    """The exercise that a file's name means: ``41_x``, ``41_x (1)``, ``41_x-2``, ``41_x-Copy1``."""
    meant = stem if stem in exercises else _parted(stem)[0]
    return meant if meant in exercises else None


def order(path: tuple[str, ...]) -> tuple[object, ...]:
    """Sort key of copies as people read them: v10 after v2, ``x (1)`` after ``x``."""
    keys = []
    for part in path:
        stem = re.sub(r"\.(ipynb|zip)$", "", part, flags=re.I)
        base, numbers = _parted(stem)
        words = [int(w) if w.isdecimal() else w for w in re.split(r"(\d+)", base)]
        keys.append((words, numbers))
    return (*keys, path)


def _parted(stem: str) -> tuple[str, list[int]]:
    """Part a name from what was appended to it: ``x (1)-2`` gives x and [1, 2]."""
    found = _COPY.fullmatch(stem)
    if not found:
        return stem, []
    numbers = [next(filter(None, each), "1") for each in re.findall(_SUFFIX, found[2], re.I)]
    return found[1], list(map(int, numbers))
