"""Draw frames as SVG: a row for each member, a chip for each partition. All lengths are pixels.

One drawing serves the live widget (inline) and the static picture; its colours are in look.css.
"""

from collections.abc import Iterator, Sequence
from html import escape
from math import ceil
from textwrap import wrap

from kafkalearn.trace.text import columns
from kafkalearn.views.assignment import Cell, Frame, Row, State
from kafkalearn.views.drawings.assignment_text import as_text, counts, label, remark
from kafkalearn.views.drawings.common import COLOURS
from kafkalearn.views.drawings.sheet import CHAR, Drawing, at, box, sheet, svg, text
from kafkalearn.views.wording import shown, tag

WIDTH = 384  # two abreast are what JupyterLab has room for, with its file browser, at 1,280 pixels
_SMALL_CHAR = 6.1  # a character of the fixed-width font at 10 pixels
_NAME, _SHORT = 14, 10  # characters of a name at the head of a row, and in or below a chip
_CHIP, _WIDE, _GAP, _REMARK, _PAD = 20, 54, 10, 13, 8
_HEAD = 66  # title and counts
_KEY: tuple[tuple[State, str], ...] = (
    ("kept", "one colour for each partition number"),
    ("orphaned", "changed hands: came from {}"),
    ("needless", "moved needlessly: could have stayed with {}"),
    ("waiting", "dashed is empty: {} must give it up first"),
    ("left", "dashed and grey: was here, is now with {}"),
)


def panel(frame: Frame, title: str, *, failure: str = "") -> str:
    """One assignment as an ``<svg>`` element, with its title and counts."""
    drawn = _panel(frame, title, failure=failure)
    spoken = f"{title}: {failure}" if failure else as_text(frame, title)
    return svg(drawn, class_="kl-matrix", role="img", aria_label=spoken)


def strips(frame: Frame, title: str) -> list[str]:
    """The same in pieces: its begin, its rows, its end; a row that stays as it is stays equal."""
    height, parts = _parts(frame, title)
    whole = svg((WIDTH, height, ""), class_="kl-matrix", role="group", aria_label=title)
    return [whole.removesuffix("</svg>"), *parts, "</svg>"]


def key(member: str = "c1", topic: str = "t0", *, partitions: int = 2) -> str:
    """Say what the chips' outlines mean, as an ``<svg>`` element; named are who and what exist."""
    spoken = "; ".join(said.format(shown(member, _SHORT)) for _, said in _KEY)
    drawn = _key(member, topic, partitions=partitions)
    return svg(drawn, class_="kl-key", role="img", aria_label=f"Key: {spoken}")


def picture(sentence: str, panels: Sequence[tuple[str, Frame, str]]) -> str:
    """Everything on one sheet, as a whole SVG document; panels are (title, frame, failure)."""
    boxes = [*(_panel(frame, title, failure=failure) for title, frame, failure in panels), _key()]
    gutter, parts, y = 36, [], 0
    for start in range(0, len(boxes), 2):
        pair = boxes[start : start + 2]
        parts += [at(body, x=i * (WIDTH + gutter), y=y) for i, (_, _, body) in enumerate(pair)]
        y += max(height for _, height, _ in pair) + 22
    return sheet(sentence, (2 * WIDTH + gutter, y - 22, "".join(parts)))


def _panel(frame: Frame, title: str, *, failure: str = "") -> Drawing:
    height, parts = _parts(frame, title, failure=failure)
    return WIDTH, height, "".join(parts)


def _parts(frame: Frame, title: str, *, failure: str = "") -> tuple[int, list[str]]:
    parts = [text(shown(title, 40), "kl-title", y=14)]
    if failure:
        lines = wrap(failure, 51)
        parts += [text(line, "kl-failure", y=40 + 18 * i) for i, line in enumerate(lines)]
        return 40 + 18 * len(lines), parts
    parts.append(_stats(frame))
    longest = max((columns(shown(row["name"], _NAME)) for row in frame["members"]), default=0)
    indent = max(66, ceil(longest * CHAR) + 18)
    y = _HEAD
    for row in _rows(frame):
        height, body = _row(frame, row, indent=indent)
        parts.append(at(body, y=y))
        y += height
    return y + 4, parts


def _stats(frame: Frame) -> str:
    step = frame["step"]
    if step is not None:
        return text(f"reason {step['number']} of {step['of']}", "kl-soft", y=46)
    said: list[str] = []
    for number, what in counts(frame):
        alarm = " kl-alarm" if what == "moved needlessly" and number != "0" else ""
        away = 8 if said else None
        said.append(tag("tspan", number, class_=f"kl-big{alarm}", dx=away) + " " + what)
    return tag("text", " ".join(said), y=46, class_="kl-soft")


def _rows(frame: Frame) -> Iterator[Row]:
    yield from frame["members"]
    if cells := frame["unowned"]:
        yield {"name": "", "state": "stayed", "count": len(cells), "partitions": cells}


def _row(frame: Frame, row: Row, *, indent: int) -> tuple[int, str]:
    """One member: its name, its chips in as many lines as they need, its count."""
    first, step = frame["first"], frame["step"]
    touched = step["partitions"] if step else []
    chips = [
        _Chip(cell, first=first, framed=[cell["topic"], cell["partition"]] in touched)
        for cell in row["partitions"]
    ]
    parts, y = [_head(row, first=first)], _PAD
    for line in _flow(chips, WIDTH - indent - 34):
        parts += [at(chip.draw(width), x=indent + x, y=y) for chip, x, width in line]
        y += _CHIP + (_REMARK if any(chip.remark for chip, _, _ in line) else 0) + _PAD
    if not chips:
        parts.append(at(_nothing(), x=indent, y=y))
        y += _CHIP + _PAD
    told = row["state"] != "stayed" and not first
    return max(y, _CHIP + _REMARK + 2 * _PAD) if told else y, "".join(parts)


def _head(row: Row, *, first: bool) -> str:
    gone = row["state"] == "left"
    name = shown(row["name"], _NAME) or "no owner"
    kind = "kl-soft" if not row["name"] else "kl-name kl-gone" if gone else "kl-name"
    parts = [tag("path", class_="kl-rule", d=f"M0 .5H{WIDTH}"), text(name, kind, y=_PAD + 14)]
    if row["state"] != "stayed" and not first:
        parts.append(text(row["state"], "kl-remark", y=_PAD + 29))
    count = "–" if gone else str(row["count"])
    return "".join([*parts, text(count, "kl-count", x=WIDTH - 2, y=_PAD + 14)])


def _flow(chips: Sequence["_Chip"], width: int) -> list[list[tuple["_Chip", int, int]]]:
    """Place chips on a grid, so that rows align; one with a long remark takes several places."""
    pitch = max((chip.label_width for chip in chips), default=0) + _GAP
    lines: list[list[tuple[_Chip, int, int]]] = []
    x = width
    for chip in chips:
        taken = pitch * max(1, ceil((chip.remark_width + 4) / pitch))
        if x + taken - _GAP > width:
            lines.append([])
            x = 0
        lines[-1].append((chip, x, taken - _GAP))
        x += taken
    return lines


class _Chip:
    """A partition: filled where it is owned, dashed where not; outlined if it changed hands."""

    def __init__(self, cell: Cell, *, first: bool = False, framed: bool = False) -> None:
        self.cell = cell
        self.framed = framed
        self.label = label(cell, _SHORT)
        self.remark = remark(cell, first=first, limit=_SHORT)
        self.title = f"{label(cell, 250)} {remark(cell, first=first, limit=250)}".strip()
        if cell["state"] == "needless":
            self.remark = f"⇄ {self.remark}"
            self.title += ", needlessly: it could have stayed there"
        self.label_width = max(_WIDE, ceil(columns(self.label) * CHAR) + 14)
        self.remark_width = ceil(columns(self.remark) * _SMALL_CHAR)

    def draw(self, width: int) -> str:
        """Draw it at the origin."""
        empty = self.cell["state"] in ("waiting", "left", "unowned")
        colour = "kl-empty" if empty else f"kl-chip kl-p{self.cell['partition'] % COLOURS}"
        parts = [tag("title", escape(self.title)), box(colour, width, height=_CHIP)]
        if self.framed:
            parts.append(box("kl-framed", width, height=_CHIP, away=3))
        elif self.remark and not empty:
            parts.append(box("kl-outline", width, height=_CHIP, away=2))
        parts.append(text(self.label, "kl-label", x=width / 2, y=14))
        if self.remark:
            parts.append(text(self.remark, "kl-remark kl-middle", x=width / 2, y=_CHIP + 12))
        return tag("g", "".join(parts), class_=f"kl-{self.cell['state']}")


def _nothing() -> str:
    said = text("nothing", "kl-remark kl-middle", x=_WIDE / 2, y=14)
    return box("kl-empty", _WIDE, height=_CHIP) + said


def _key(member: str = "c1", topic: str = "t0", *, partitions: int = 2) -> Drawing:
    parts, y = [], 4
    cell: Cell = {"topic": shown(topic, 8), "partition": 0, "state": "waiting", "other": member}
    wide = max(82, _Chip(cell).remark_width)
    for number, (state, said) in enumerate(_KEY):
        chip = _Chip({**cell, "state": state, "partition": number % max(1, partitions)}).draw(wide)
        lines = wrap(said.format(shown(member, _SHORT)), int((WIDTH - wide - 18) / 6.6))
        told = (text(each, "kl-soft", x=wide + 14, y=14 + 15 * n) for n, each in enumerate(lines))
        parts.append(at(chip + "".join(told), x=4, y=y))
        y += _CHIP + (_REMARK + _PAD + 2 if number else _PAD)
    return WIDTH, y, "".join(parts)
