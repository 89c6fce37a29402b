"""Groups reasons that say the same about other names and numbers."""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

BLANK = "…"
# Quoted text, and words that hold a digit, without the punctuation around them.
_VARIABLE = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"|[^\s;:,()]*\d[^\s;:,()]*")
_LIST = re.compile(rf"{BLANK}(?:[ ,]+{BLANK})+")
_TELLING = re.compile(r"Error|Exit|Interrupt|Exception")  # words that are never blanked


class Group(NamedTuple):
    """Reasons that differ in names and numbers only: what is common, all, and who got one."""

    pattern: str
    reasons: tuple[str, ...]
    students: tuple[str, ...]


def grouped(given: Iterable[tuple[str, str]]) -> list[Group]:
    """Group (student, reason) pairs, the most frequent first; a student counts once in each."""
    said: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for student, reason in given:
        said[_LIST.sub(BLANK, _VARIABLE.sub(BLANK, reason))].append((student, reason))
    merged: dict[str, list[tuple[str, str]]] = {}
    for pattern, pairs in sorted(said.items(), key=lambda item: (-len(item[1]), item[0])):
        for known in merged:
            if common := _common(known, pattern):
                merged[common] = merged.pop(known) + pairs
                break
        else:
            merged[pattern] = pairs
    groups = []
    for pattern, pairs in merged.items():
        reasons = tuple(dict.fromkeys(reason for _, reason in pairs))
        groups.append(Group(pattern, reasons, tuple(sorted({who for who, _ in pairs}))))
    return sorted(groups, key=lambda group: (-len(group.students), group.pattern))


def _common(one: str, other: str) -> str | None:
    """Blank the few words in which two patterns differ; None if they say different things."""
    pairs = list(zip(one.split(" "), other.split(" "), strict=False))
    differing = [pair for pair in pairs if pair[0] != pair[1]]
    if one.count(" ") != other.count(" ") or 3 * len(differing) > len(pairs):
        return None
    if any(map(_TELLING.search, (word for pair in differing for word in pair))):
        return None
    return _LIST.sub(BLANK, " ".join(a if a == b else _blank(a, b) for a, b in pairs))


def _blank(one: str, other: str) -> str:
    return BLANK + (one[-1] if one[-1:] == other[-1:] and one[-1:] in (";", ":", ",") else "")
