"""Which partition each key goes to, and what moves when there are more: data, and its words.

Knows no partitioner: it is handed ``place(key, partitions) -> partition``; a key may be None.
"""

from collections.abc import Callable, Iterable
from typing import TypedDict

from kafkalearn.views.wording import aligned, plural, shown

Place = Callable[[str | None, int], int]
HashOf = Callable[[str], int]


class KeyRow(TypedDict):
    """One key. hash: as handed, may be negative, or None; was: its partition before, if it has one.

    A record without a key (`key` is None) has no place of its own, so that it has neither.
    """

    key: str | None
    hash: int | None
    partition: int
    was: int | None


class Frame(TypedDict):
    """All keys in their order; before: how many partitions there were, or None; moved: how many."""

    partitions: int
    before: int | None
    keys: list[KeyRow]
    moved: int


def frame(
    keys: Iterable[str | None],
    partitions: int,
    *,
    place: Place,
    before: int | None = None,
    hash_of: HashOf | None = None,
) -> Frame:
    """Ask for the place of each key, in their order; with `before` for what it was, too."""
    rows: list[KeyRow] = [
        {
            "key": key,
            "hash": None if key is None or hash_of is None else hash_of(key),
            "partition": place(key, partitions),
            "was": None if key is None or before is None else place(key, before),
        }
        for key in keys
    ]
    moved = sum(map(has_moved, rows))
    return {"partitions": partitions, "before": before, "keys": rows, "moved": moved}


def has_moved(row: KeyRow) -> bool:
    """Whether a key goes to another partition than before."""
    return row["was"] not in (None, row["partition"])


def column(frame: Frame, partition: int) -> list[KeyRow]:
    """List what goes to a partition."""
    return [row for row in frame["keys"] if row["partition"] == partition]


def label(row: KeyRow, limit: int = 24) -> str:
    """Name a key, whatever it holds."""
    return "null" if row["key"] is None else shown(row["key"], limit) or '""'


def remark(row: KeyRow) -> str:
    """Say what is special about a key; '' if nothing is."""
    if row["key"] is None:
        return "no key"
    said = "" if row["key"] else "empty key"
    return f"{said} from {row['was']}".lstrip() if has_moved(row) else said


def arithmetic(frame: Frame, row: KeyRow) -> list[str]:
    """Give the steps from a key to its partition: hash, its positive part, remainder, and before.

    Source: DefaultPartitioner: the sign bit is dropped, and what is left taken modulo the count.
    """
    if row["hash"] is None:
        return ["–", "–", str(row["partition"]), *(["–"] if frame["before"] else [])]
    steps = [f"{row['hash']:,}", f"{row['hash'] % 2**31:,}", str(row["partition"])]
    return steps + ([str(row["was"])] if frame["before"] else [])


def heads(frame: Frame) -> list[str]:
    """Name the steps of `arithmetic`; the last is a remainder only if it is one for every key."""
    count, before = frame["partitions"], frame["before"]
    hashed = [row for row in frame["keys"] if row["hash"] is not None]
    by_hash = all((row["hash"] or 0) % 2**31 % count == row["partition"] for row in hashed)
    word = "mod" if by_hash else "of"
    return [
        "murmur2",
        "without sign",
        f"{word} {count}",
        *([f"before: {word} {before}"] if before else []),
    ]


def sizes(frame: Frame) -> list[tuple[str, str]]:
    """Give the counts to show: (number, what)."""
    keyed = [row for row in frame["keys"] if row["key"] is not None]
    found = [(len(keyed), "key" if len(keyed) == 1 else "keys")]
    if nulls := len(frame["keys"]) - len(keyed):
        found.append((nulls, "without key"))
    if frame["before"]:
        found.append((frame["moved"], f"moved since there were {frame['before']}"))
    return [(str(number), what) for number, what in found]


def as_text(frame: Frame) -> str:
    """Tell a frame in aligned lines: what goes to each partition, and how each key gets there."""
    counted = ", ".join(f"{number} {what}" for number, what in sizes(frame))
    lines = [f"{plural(frame['partitions'], 'partition')}: {counted}"]
    for partition in range(frame["partitions"]):
        rows = column(frame, partition)
        told = [f"{label(row)} ({said})" if (said := remark(row)) else label(row) for row in rows]
        lines.append(f"  {partition:>2}  {len(rows):>2}  {', '.join(told).strip() or '-'}")
    if any(row["hash"] is not None for row in frame["keys"]):
        table = [["key", *heads(frame)]]
        table += [[label(row), *arithmetic(frame, row)] for row in frame["keys"]]
        lines += [f"  {line}" for line in aligned(table, right=range(1, len(table[0])))]
    return "\n".join(lines)
