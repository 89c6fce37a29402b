"""Draws each log as a bar of cells, one a record, with its marks and the sentence that matters."""

from functools import cache, lru_cache
from html import escape
from typing import cast

from kafkalearn.views.drawings.common import COLOURS, chip
from kafkalearn.views.language import Say
from kafkalearn.views.logs.log_row import Row, in_words, sentence
from kafkalearn.views.logs.model import Frame, notes
from kafkalearn.views.wording import tag

_TAGS = {"p": "i", "r": "s", "u": "u", "l": "em", "d": "var"}  # short, for there are many cells
_FITS = 3  # digits in a cell
_MARKS = "▼▲"
_READERS = 3


def draw(frame: Frame, say: Say) -> list[str]:
    """The legend, a piece for each partition, and what is not shown."""
    rows = [_row(tuple(row.items()), say) for row in frame["rows"]]
    foot = "".join(tag("p", escape(note), class_="kl-none") for note in notes(frame, say))
    empty = "" if rows else tag("p", escape(say("no partitions")), class_="kl-none")
    return [legend(say) + '<div class="kl-logs">', *rows, "</div>" + empty + foot]


@cache
def legend(say: Say) -> str:
    """Say what each drawing means."""
    cells = [
        f"<i></i>{escape(say('processed'))}",
        f"<i>2×</i>{escape(say('processed twice'))}",
        f"<s></s>{escape(say('returned by poll, not processed'))}",
        f"<u></u>{escape(say('not read'))}",
        f"<em>✗</em>{escape(say('lost'))}",
        f"<var></var>{escape(say('deleted by retention'))}",
    ]
    marks = [
        f'<b class="kl-next">▼</b>{escape(say("committed (next to read)"))}',
        f'<b class="kl-pos">▲</b>{escape(say("position"))}',
    ]
    keys = "".join(tag("span", each) for each in [*cells, *marks])
    return tag("div", keys, class_="kl-legend kl-p0")


@lru_cache(maxsize=4096)  # most rows of a frame are those of the frame before
def _row(items: tuple[tuple[str, object], ...], say: Say) -> str:
    row = cast(Row, dict(items))
    name = tag("div", chip(row["topic"], row["partition"]))
    tells = tag("div", escape(sentence(row, say)), class_=f"kl-tells kl-tone-{row['tone']}")
    before, after = row["before"], row["after"]
    parts = [
        tag("small", escape(say("… {} before", f"{before:,}"))) if before else "",
        _bar(row, say),
        tag("small", escape(say("… {} more", f"{after:,}"))) if after else "",
    ]
    colour = row["partition"] % COLOURS
    return name + tag("div", "".join(parts), class_=f"kl-log kl-p{colour}") + tells


def _bar(row: Row, say: Say) -> str:
    first, again = row["first"], dict(row["again"])
    end = first + len(row["cells"])
    numbered = {first, row["committed"], *(at for at, _ in row["positions"][:_READERS])}

    def label(offset: int, kind: str) -> str:
        if kind == "l":
            return "✗"
        if offset in again:
            return f"{again[offset]}×"
        fits = len(str(offset)) <= _FITS
        return str(offset) if offset in numbered and fits else ""

    labels = [label(offset, kind) for offset, kind in enumerate(row["cells"], first)]
    tags = [_TAGS[kind] for kind in row["cells"]]
    cells = [f"<{tag}>{text}</{tag}>" for text, tag in zip(labels, tags, strict=True)]

    def mark(kind: str, offset: int, text: str, *, line: int = 0) -> str:
        at = min(max(offset, first), end) - first
        is_told = first <= offset < end and labels[offset - first] == str(offset)
        number = "" if is_told else f" {offset:,}" if text in _MARKS else f": {offset:,}"
        beyond = " →" if offset > end else " ←" if offset < first else ""
        style = f"--at:{at}" + (f";--row:{line}" if line else "")
        return tag("b", escape(text + number + beyond), class_=kind, style=style)

    marks = [mark("kl-next", row["committed"], "▼")] if row["committed"] is not None else []
    readers = row["positions"][:_READERS]
    several = len(readers) > 1 or any(", " in names for _, names in readers)
    for line, (offset, names) in enumerate(readers):
        marks.append(mark("kl-pos", offset, f"▲ {names}" if several else "▲", line=line))
    lines = f"--lines:{len(readers)}" if len(readers) > 1 else None
    words = in_words(row, say)
    return tag(
        "div", "".join(cells + marks), class_="kl-bar", role="img", aria_label=words, style=lines
    )
