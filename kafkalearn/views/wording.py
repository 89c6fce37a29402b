"""Names and numbers as people read them; what every view says in the same way."""

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from html import escape

from kafkalearn.trace.text import columns, one_line, padded


def shown(name: str, limit: int = 24) -> str:
    """Give a name as one line that can be drawn: odd characters spelled out, a long middle cut.

    A name may hold anything: a line feed, a NUL or a right-to-left override would break a picture.
    """
    text = one_line(name)
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[-tail:]}"


def is_clock(ms: int) -> bool:
    """Whether a time is of a real log: later than a simulation lasts, in a year of four digits."""
    return 10**11 < ms < 25 * 10**13


def moment(ms: int) -> str:
    """Write when something was: virtual time in ms, a log's as clocks show it, in UTC."""
    if is_clock(ms):
        return f"{datetime.fromtimestamp(ms // 1000, UTC):%H:%M:%S}.{ms % 1000:03}"
    return f"{ms:,} ms"


def plural(count: int, noun: str) -> str:
    """``1 partition``, ``2 partitions``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def ranges(numbers: Iterable[int]) -> str:
    """Name whole numbers in short: ``0–2 5`` for 0, 1, 2 and 5."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return " ".join(str(a) if a == b else f"{a}–{b}" for a, b in runs)


def listed(words: Iterable[str]) -> str:
    """``c0``, ``c0 and c1``, ``c0, c1 and c2``."""
    words = list(words)
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def aligned(rows: Sequence[Sequence[str]], *, right: Collection[int] = ()) -> list[str]:
    """Fill the cells of a table up to equal widths; columns in `right` are filled at the left."""
    count = max(map(len, rows), default=0)
    full = [[*row, *[""] * (count - len(row))] for row in rows]
    widths = [max(columns(row[place]) for row in full) for place in range(count)]
    return [
        "  ".join(
            " " * (width - columns(cell)) + cell if place in right else padded(cell, width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in full
    ]


def tag(name: str, content: str = "", /, **attributes: object) -> str:
    """One element of HTML or SVG. Attributes are escaped, the content is taken as it is.

    True is an attribute without a value; None and False leave it out; what is no text becomes JSON.
    In names an underscore is a dash, and one at the end is dropped: ``class_``, ``aria_label``.
    """
    parts = [name]
    for key, value in attributes.items():
        if value is not None and value is not False:
            text = "" if value is True else value if isinstance(value, str) else json.dumps(value)
            parts.append(f'{key.rstrip("_").replace("_", "-")}="{escape(text)}"')
    opening = " ".join(parts)
    return f"<{opening}>" if name in ("input", "img") else f"<{opening}>{content}</{name}>"
