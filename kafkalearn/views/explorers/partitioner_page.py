"""Draw which key goes where: a column for each partition, a chip for each key. Lengths are pixels.

`page` is the explorer's HTML, whose controls carry the message that the browser sends back (see
page.py); `picture` is the same columns as one SVG document.
"""

from collections.abc import Iterable
from html import escape
from textwrap import wrap

from kafkalearn.trace.text import columns
from kafkalearn.views.assets import joined
from kafkalearn.views.drawings.common import COLOURS, END, row
from kafkalearn.views.drawings.common import heads as table_heads
from kafkalearn.views.explorers.explored_keys import MAX_PARTITIONS
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
from kafkalearn.views.wording import shown, tag

WIDTH = 1040
_ABREAST = 8  # columns in one band
_WIDEST = 200
_GAP, _CHIP, _REMARK, _PAD, _HEAD = 14, 22, 13, 8, 42
_CHAR = 7.3  # a character of the fixed-width font at 12 pixels


def page(frame: Frame, sentence: str, *, notice: str, places: Iterable[str], chosen: str) -> str:
    """Draw everything; `notice` says what was refused, if anything was."""
    parts = [
        tag("p", escape(sentence), class_="kl-sentence"),
        tag("p", escape(notice), class_="kl-notice") if notice else "",
        tag("div", _controls(frame, list(places), chosen), class_="kl-bar kl-bar-left"),
        tag("div", _counts(frame) + _drawn(frame), class_="kl-panel"),
        tag("div", _table(frame), class_="kl-panel kl-sums"),
    ]
    about = {"role": "group", "aria_label": "Partitioner explorer"}
    return tag("div", "".join(parts), class_="kl kl-explorer kl-partitioner", **about)


def picture(frame: Frame, sentence: str) -> str:
    """Everything on one sheet, as a whole SVG document."""
    height, body = _columns(frame)
    margin, line = 18, 22
    lines = wrap(sentence, 125)
    top = margin + line * len(lines) + 36
    said = ", ".join(f"{number} {what}" for number, what in sizes(frame))
    parts = [
        tag("style", joined("look.css")),
        tag("rect", class_="kl-sheet", width=WIDTH + 2 * margin, height="100%"),
        *(_text(each, "kl-say", x=margin, y=34 + line * n) for n, each in enumerate(lines)),
        _text(said, "kl-soft", x=margin, y=top - 18),
        tag("g", body, transform=f"translate({margin},{top})"),
    ]
    size = {"width": WIDTH + 2 * margin, "height": top + height + margin}
    view = f"0 0 {size['width']} {size['height']}"
    name = "http://www.w3.org/2000/svg"
    return tag("svg", "".join(parts), viewBox=view, xmlns=name, class_="kl kl-picture", **size)


def _controls(frame: Frame, places: list[str], chosen: str) -> str:
    count = tag(
        "input",
        type="number",
        min=1,
        max=MAX_PARTITIONS,
        value=frame["partitions"],
        data_key="set_partitions",
        data_send={"action": "set_partitions"},
        data_value="partitions",
    )
    key = tag(
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
        key,
        _button("+ key", {"action": "add_next_key"}),
        _button("+ record without key", {"action": "add_key", "key": None}),
        _choice(places, chosen),
        _button("start over", {"action": "start_over"}, class_="kl-quiet"),
    ]
    return "".join(parts)


def _choice(places: list[str], chosen: str) -> str:
    """Radio buttons, so that the arrow keys choose; a single partitioner needs no choice."""
    if len(places) == 1:
        return ""
    labels = [tag("legend", "Partitioner")]
    for name in places:
        send = {"action": "choose", "name": name}
        radio = tag(
            "input", type="radio", name="partitioner", checked=name == chosen,
            data_key=["choose", name], data_send=send,
        )  # fmt: skip
        labels.append(tag("label", radio + tag("span", escape(shown(name, 40)))))
    return tag("fieldset", "".join(labels), class_="kl-choice")


def _button(text: str, send: dict[str, object], **attributes: object) -> str:
    known: dict[str, object] = {"data_key": text, **attributes}
    return tag("button", escape(text), type="button", data_send=send, **known)


def _counts(frame: Frame) -> str:
    told = [tag("b", number) + " " + escape(what) for number, what in sizes(frame)]
    return tag("p", "".join(tag("span", each) for each in told), class_="kl-numbers")


def _drawn(frame: Frame) -> str:
    height, body = _columns(frame)
    view = f"0 0 {WIDTH} {height}"
    return tag(
        "svg", body, viewBox=view, class_="kl-columns", role="img", aria_label=as_text(frame)
    )


def _columns(frame: Frame) -> tuple[int, str]:
    """Give height and SVG: bands of columns, one below the other."""
    parts, y = [], 0
    abreast = min(_ABREAST, frame["partitions"])
    width = min(_WIDEST, (WIDTH + _GAP) // abreast - _GAP)
    for start in range(0, frame["partitions"], _ABREAST):
        numbers = range(start, min(start + _ABREAST, frame["partitions"]))
        band = [_column(frame, number, width) for number in numbers]
        for place, (_, body) in enumerate(band):
            x = place * (width + _GAP)
            parts.append(tag("g", body, transform=f"translate({x},{y})"))
        y += max(height for height, _ in band) + 2 * _PAD
    return y, "".join(parts)


def _column(frame: Frame, partition: int, width: int) -> tuple[int, str]:
    rows = column(frame, partition)
    parts = [
        _text(f"partition {partition}", "kl-name", x=2, y=16),
        _text(str(len(rows)), "kl-count", x=width - 2, y=16),
        tag("path", class_="kl-rule", d=f"M0 26.5H{width}"),
    ]
    y = _HEAD - _PAD
    for each in rows:
        place = f"translate(0,{y})"
        parts.append(tag("g", _chip(each, width), transform=place, class_=_kind(each)))
        y += _CHIP + (_REMARK if remark(each) else 0) + _PAD
    if not rows:
        said = _text("nothing", "kl-remark kl-middle", x=width / 2, y=15)
        parts.append(tag("g", _box("kl-empty", width) + said, transform=f"translate(0,{y})"))
        y += _CHIP + _PAD
    return y, "".join(parts)


def _kind(each: KeyRow) -> str | None:
    return "kl-moved" if has_moved(each) else None


def _chip(each: KeyRow, width: int) -> str:
    name = label(each, max(3, int((width - 12) / _CHAR)))
    if columns(name) * _CHAR > width - 8:  # wide characters
        name = label(each, max(3, int((width - 12) / _CHAR / 2)))
    parts = [
        tag("title", escape(label(each, 210))),
        _box(f"kl-chip kl-p{each['partition'] % COLOURS}", width),
    ]
    if has_moved(each):
        parts.append(_box("kl-outline", width, away=2))
    parts.append(_text(name, "kl-label", x=width / 2, y=15))
    if said := remark(each):
        parts.append(_text(said, "kl-remark kl-middle", x=width / 2, y=_CHIP + 12))
    return "".join(parts)


def _table(frame: Frame) -> str:
    """How each key gets where it goes, with the button that takes it away."""
    names = heads(frame)
    lines = []
    for number, each in enumerate(frame["keys"]):
        name = tag("span", escape(label(each, 40)), class_="kl-data", title=label(each, 210))
        remove = _button(
            "×",
            {"action": "remove_key", "key": each["key"]},
            class_="kl-remove",
            aria_label=f"remove {label(each)}, number {number + 1}",
            data_key=["remove", number],
            data_next="+ key",
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


def _box(kind: str, width: int, *, away: int = 0) -> str:
    place = {"x": -away, "y": -away} if away else {}
    size = {"width": width + 2 * away, "height": _CHIP + 2 * away, "rx": 4 + away}
    return tag("rect", class_=kind, **place, **size)


def _text(text: str, kind: str, *, x: float, y: float) -> str:
    return tag("text", escape(text), x=x, y=y, class_=kind)
