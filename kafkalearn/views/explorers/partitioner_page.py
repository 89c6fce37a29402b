"""Draw which key goes where: a column for each partition, a chip for each key. Lengths are pixels.

`page` is the explorer's HTML, `picture` the same columns as one SVG document.
"""

from html import escape

from kafkalearn.trace.text import columns
from kafkalearn.views.drawings.common import COLOURS, END, row
from kafkalearn.views.drawings.common import heads as table_heads
from kafkalearn.views.drawings.sheet import CHAR, at, box, sheet, svg, text
from kafkalearn.views.explorers.controls import button, choice, framed
from kafkalearn.views.explorers.explored_keys import ExploredKeys
from kafkalearn.views.explorers.model import MAX_PARTITIONS
from kafkalearn.views.explorers.partitioner import (
    Frame,
    KeyRow,
    arithmetic,
    as_text,
    column,
    has_moved,
    heads,
    label,
    remark,
    sizes,
)
from kafkalearn.views.wording import tag

WIDTH = 1040
_ABREAST = 8  # columns in one band
_NARROWEST, _WIDEST = 117, 200
_GAP, _CHIP, _REMARK, _PAD, _HEAD = 14, 22, 13, 8, 42


def page(keys: ExploredKeys, notice: str) -> str:
    """Draw everything; `notice` says what was refused, if anything was."""
    parts = [
        tag("div", _controls(keys), class_="kl-tools"),
        tag("div", _counts(keys.frame) + _drawn(keys.frame), class_="kl-panel"),
        tag("div", _table(keys.frame), class_="kl-panel kl-sums"),
    ]
    return framed("Partitioner", parts, said=escape(keys.said()), notice=notice)


def picture(frame: Frame, sentence: str) -> str:
    """Everything on one sheet, as a whole SVG document."""
    height, body = _columns(frame)
    said = ", ".join(f"{number} {what}" for number, what in sizes(frame))
    drawn = text(said, "kl-soft", y=4) + at(body, y=22)
    return sheet(sentence, (WIDTH, height + 22, drawn))


def _controls(keys: ExploredKeys) -> str:
    count = tag(
        "input",
        type="number",
        min=1,
        max=MAX_PARTITIONS,
        value=keys.frame["partitions"],
        data_key="set_partitions",
        data_send={"action": "set_partitions"},
        data_value="partitions",
    )
    typed = tag(
        "input",
        type="text",
        placeholder="a key, then Enter",
        aria_label="add a key",
        data_key="add_typed_key",
        data_send={"action": "add_key"},
        data_value="key",
    )
    parts = [
        tag("label", tag("span", "partitions") + count, class_="kl-count-of"),
        typed,
        button("+ key", "add_next_key"),
        button("+ record without key", "add_key", send={"key": None}),
        choice("Partitioner", {name: name for name in keys.places}, chosen=keys.state.chosen),
        button("start over", "start_over", class_="kl-quiet"),
    ]
    return "".join(parts)


def _counts(frame: Frame) -> str:
    told = [tag("b", number) + " " + escape(what) for number, what in sizes(frame)]
    return tag("p", "".join(tag("span", each) for each in told), class_="kl-numbers")


def _drawn(frame: Frame) -> str:
    """A picture for each column, so that a narrow page has them in rows, at their full size."""
    longest = max((columns(label(each)) for each in frame["keys"]), default=0)
    width = min(_WIDEST, max(_NARROWEST, round(longest * CHAR) + 14))
    drawn = [(width, *_column(frame, number, width)) for number in range(frame["partitions"])]
    told = {"role": "img", "aria_label": as_text(frame)}
    return tag("div", "".join(map(svg, drawn)), class_="kl-columns", **told)


def _columns(frame: Frame) -> tuple[int, str]:
    """Give height and SVG: bands of columns, one below the other."""
    parts, y = [], 0
    abreast = min(_ABREAST, frame["partitions"])
    width = min(_WIDEST, (WIDTH + _GAP) // abreast - _GAP)
    for start in range(0, frame["partitions"], _ABREAST):
        numbers = range(start, min(start + _ABREAST, frame["partitions"]))
        band = [_column(frame, number, width) for number in numbers]
        for place, (_, body) in enumerate(band):
            parts.append(at(body, x=place * (width + _GAP), y=y))
        y += max(height for height, _ in band) + 2 * _PAD
    return y, "".join(parts)


def _column(frame: Frame, partition: int, width: int) -> tuple[int, str]:
    rows = column(frame, partition)
    parts = [
        text(f"partition {partition}", "kl-name", x=2, y=16),
        text(str(len(rows)), "kl-count", x=width - 2, y=16),
        tag("path", class_="kl-rule", d=f"M0 26.5H{width}"),
    ]
    y = _HEAD - _PAD
    for each in rows:
        place = f"translate(0,{y})"
        parts.append(tag("g", _chip(each, width), transform=place, class_=_kind(each)))
        y += _CHIP + (_REMARK if remark(each) else 0) + _PAD
    if not rows:
        said = text("nothing", "kl-remark kl-middle", x=width / 2, y=15)
        parts.append(at(box("kl-empty", width, height=_CHIP) + said, y=y))
        y += _CHIP + _PAD
    return y, "".join(parts)


def _kind(each: KeyRow) -> str | None:
    return "kl-moved" if has_moved(each) else None


def _chip(each: KeyRow, width: int) -> str:
    name = label(each, max(3, int((width - 12) / CHAR)))
    if columns(name) * CHAR > width - 8:  # wide characters
        name = label(each, max(3, int((width - 12) / CHAR / 2)))
    parts = [
        tag("title", escape(label(each, 210))),
        box(f"kl-chip kl-p{each['partition'] % COLOURS}", width, height=_CHIP),
    ]
    if has_moved(each):
        parts.append(box("kl-outline", width, height=_CHIP, away=2))
    parts.append(text(name, "kl-label", x=width / 2, y=15))
    if said := remark(each):
        parts.append(text(said, "kl-remark kl-middle", x=width / 2, y=_CHIP + 12))
    return "".join(parts)


def _table(frame: Frame) -> str:
    """How each key gets where it goes, with the button that takes it away."""
    names = heads(frame)
    lines = []
    for number, each in enumerate(frame["keys"]):
        name = tag("span", escape(label(each, 40)), class_="kl-data", title=label(each, 210))
        remove = button(
            "×",
            "remove_key",
            send={"key": each["key"]},
            class_="kl-remove",
            aria_label=f"remove {label(each)}, number {number + 1}",
            data_key=["remove", number],
            data_next="add_next_key",
        )
        cells = [
            name,
            *map(escape, arithmetic(frame, each)),
            "moved" if has_moved(each) else remark(each),
            remove,
        ]
        right = range(1, len(names) + 1)
        lines.append(row(cells, numbers=right, kind=_kind(each)))
    return table_heads(["key", *names, "", ""], numbers=names) + "".join(lines) + END
