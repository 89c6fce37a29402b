"""Text that fits into one line, whatever a name holds."""

import re
import unicodedata

# What brokers end a member id with; some clients leave the dashes out.
_UUID = re.compile(
    r"(?<![0-9a-f])([0-9a-f]{4})[0-9a-f]{4}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}(?![0-9a-f])"
)


def one_line(text: str) -> str:
    """Spell out what would break a line: a line feed, a NUL, a right-to-left override."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def short_ids(text: str) -> str:
    """Cut the long ends of member ids: they only tell members apart."""
    return _UUID.sub(r"\1…", text)


def padded(text: str, width: int) -> str:
    """Fill up to `width` columns of a terminal; a Chinese character takes two."""
    return text + " " * (width - columns(text))


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def short(value: object, limit: int = 60) -> str:
    """Show a value in a message without flooding the page with it."""
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
