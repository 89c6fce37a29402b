"""The marks of a diagram of messages: an arrow, a note, the state of a node. Lengths are pixels."""

from collections.abc import Sequence
from html import escape
from math import hypot
from typing import Any, NamedTuple

from kafkalearn.trace.text import columns
from kafkalearn.views.drawings.common import COLOURS
from kafkalearn.views.language import Say
from kafkalearn.views.messages.lanes import Span
from kafkalearn.views.messages.phrases import Phrase, told
from kafkalearn.views.messages.rows import Message, Row
from kafkalearn.views.messages.runs import Note
from kafkalearn.views.wording import shown

_CHAR, _SMALL_CHAR = 6.5, 6.0  # a character of a label and of a note, on average
_BAR = 6  # half the width of the bar that tells how a node is
_PILL, _CHIP = 22, 16
_LONGEST = 78  # characters of a label
_BOLT = "m4-8-5 7h3l-1 6 6-8h-3z"
_DOT = "a3 3 0 1 0 6 0a3 3 0 1 0-6 0"
_CROSS = "m-5-5 10 10m0-10-10 10"


class Layout(NamedTuple):
    """Where things are. tops: of each row, and where the last one ends; left: of all labels."""

    width: int
    left: int
    lanes: list[int]
    tops: list[int]


def height(row: Row) -> int:
    """How much room a row takes."""
    if row["kind"] == "message":
        return 17 if row["routine"] else 27
    if row["kind"] == "arrival":
        return 17
    return {"pill": 30, "loud": 30, "tick": 17, "text": 21}[row["form"]]


def span(drawn: Span, layout: Layout) -> str:
    """Draw how a node is, as a broad line on its lane."""
    x, tops = layout.lanes[drawn["lane"]], layout.tops
    return (
        f'<path class="kl-{drawn["state"]}"'
        f' d="M{x} {tops[drawn["from_row"]]}V{tops[drawn["to_row"]]}"/>'
    )


def arrow(row: Message, number: int, *, layout: Layout, say: Say) -> str:
    """Draw a message: flat in its row, or down to the row where it arrives.

    A cross ends what got lost; what is still under way has no head.
    """
    top, far, lost = layout.tops[number], row["to_row"] != number, row["dropped"] is not None
    start, end = layout.lanes[row["start"]], layout.lanes[row["end"]]
    way = 1 if end > start else -1
    x, to = (start + 44 if start == end else start + way * _BAR), end - way * _BAR
    y = top + (8 if row["routine"] else 19)
    # A thin arrow is level, with its label in a gap.
    down = layout.tops[row["to_row"]] + 9 if far else y + (0 if row["routine"] else 4)
    if lost or row["arrived"] is None:
        to, down = (x + to) // 2, (y + down) // 2
    text = _cut(_label(row, abs(end - start) - 50, say), layout, char=_CHAR)
    half = _width(text, _SMALL_CHAR if row["routine"] else _CHAR) / 2
    middle = x + way * (half + 8) if far else (start + end) / 2
    label_x = round(min(max(middle, layout.left + half), layout.width - half - 2))
    kind = "kl-thin" if row["routine"] else "kl-bad" if row["error"] or lost else ""
    if row["arrived"] is None and not lost:
        kind = f"{kind} kl-away".strip()
    beside = row["routine"] and not far and 2 * half + 18 < abs(to - x)
    gap = f"H{round(label_x - way * (half + 3))}m{way * round(2 * half + 6)} 0" if beside else ""
    tip = _CROSS if lost else "" if row["arrived"] is None else _tip(to - x, down - y)
    path = f"M{x} {y}{gap}L{to} {down}{tip}"
    place = row["sent"] if row["sent"] is not None else row["arrived"]
    at = "" if place is None else f' data-k="{place}"'
    return (
        f'<g class="{f"kl-arrow {kind}".strip()}"{at}><path d="{path}"/>'
        + f"{words(text, (label_x, top + (12 if row['routine'] else 14)))}</g>"
    )


def _label(row: Message, room: int, say: Say) -> str:
    """Say what a message is; on a thin arrow only as much as leaves the arrow to be seen."""
    label = list(row["label"])
    if row["dropped"] is not None:
        label += [["lost"], *([row["dropped"]] if row["dropped"] else [])]
    return _fitting(label, room, say) if row["routine"] else told(label, say)


def _fitting(label: Sequence[Phrase], room: int, say: Say) -> str:
    """Say as many phrases as there is room for; the panes of fields and captions tell the rest."""
    while len(label) > 1 and _small(told(label, say)) > room:
        label = label[:-1]
    return told(label, say)


def _cut(text: str, layout: Layout, *, char: float = _SMALL_CHAR) -> str:
    """Shorten what would reach over the times at the left, or the edge at the right."""
    length = _LONGEST
    while _width(shown(text, length), char) > layout.width - layout.left - 4 and length > 1:
        length -= 1
    return shown(text, length)


def note(row: Note, y: int, *, layout: Layout, say: Say) -> str:
    """Draw words on a lane, at the side where there is room."""
    if row["form"] in ("pill", "loud"):
        return _pill(row, shown(told(row["label"], say), _LONGEST), layout, y=y, say=say)
    x = layout.lanes[row["lane"]]
    text = _cut(_fitting(row["label"], layout.width - layout.left - 4, say), layout)
    tick = row["form"] == "tick"
    pieces = [(_small(text), text, None), *_owned(row["partitions"])]
    if row["aside"]:
        pieces.append((_small(told(row["aside"], say)), told(row["aside"], say), None))
    wide = sum(piece + 4 for piece, *_ in pieces)
    at = x + 11 if x + 7 + wide <= layout.width else max(layout.left, x - 7 - wide)
    mark = f"M{x - 6} {y + 9}h12" if tick else f"M{x - 3} {y + 10}{_DOT}"
    drawn = f'<path d="{mark}"/>'
    for piece, said, colour in pieces:
        if at + piece > layout.width:
            drawn += words("…", (min(at, layout.width - 10), y + 14))
            break
        if colour is None:
            drawn += words(said, (at, y + (13 if tick else 14)))
        else:
            size = f'width="{piece}" height="{_CHIP}" rx="3"'
            box = f'<rect class="kl-p{colour}" x="{at}" y="{y + 2}" {size}/>'
            drawn += f"<g>{box}{words(said, (at + piece / 2, y + 14), kind='kl-label')}</g>"
        at += piece + 4
    kind = "kl-tick" if tick else f"kl-note kl-{row['tone']}"
    return f'<g class="{kind}">{drawn}</g>'


def words(text: str, at: tuple[float, float], *, kind: str = "") -> str:
    """Write text that may come from a run, escaped; at: x and y."""
    class_ = f' class="{kind}"' if kind else ""
    return f'<text{class_} x="{at[0]:g}" y="{at[1]:g}">{escape(text, quote=False)}</text>'


def _width(text: str, char: float = _CHAR) -> float:
    return (columns(text) + sum(map(str.isupper, text)) / 4) * char  # as in MEMBER_ID_REQUIRED


def _tip(dx: int, dy: int) -> str:
    """Draw the head of an arrow that came so far: from its point to one side, to the other."""
    length = hypot(dx, dy) or 1
    ux, uy = dx / length, dy / length
    side = (-8 * ux - 4 * uy, -8 * uy + 4 * ux)
    return f"m0 0l{side[0]:.0f} {side[1]:.0f}l{8 * uy:.0f} {-8 * ux:.0f}z"


def _pill(row: Note, text: str, layout: Layout, *, y: int, say: Say) -> str:
    loud = row["form"] == "loud"
    text = shown(text, int((layout.width - layout.left - 40) / _CHAR))
    wide = round(_width(text) + (36 if loud else 22))
    lane = layout.lanes[row["lane"]]
    x = min(max(lane - wide // 2, layout.left), layout.width - wide - 2)
    aside = told(row["aside"], say)
    if aside and layout.width - x - wide - 8 < _width(aside):  # then it stands to the left
        x = min(max(x, layout.left + int(_width(aside)) + 9), layout.width - wide - 2)
    box = f'<rect x="{x}" y="{y + 4}" width="{wide}" height="{_PILL}" rx="{4 if loud else 11}"/>'
    drawn = box + words(text, (x + wide // 2 + 7 * loud, y + 19))
    if loud:
        drawn += f'<path d="M{x + 10} {y + 16}{_BOLT}"/>'
    if aside:
        right, left = layout.width - x - wide - 8, x - 8 - layout.left
        if _width(aside) > right:
            aside = shown(aside, max(2, int(max(left, right) / _CHAR)))
        at = x + wide + 8 if _width(aside) <= right else x - 8 - _width(aside)
        drawn += words(aside, (at, y + 19), kind="kl-beside")
    return f'<g class="kl-{row["form"]} kl-{row["tone"]}">{drawn}</g>'


def _owned(partitions: Sequence[Sequence[Any]]) -> list[tuple[int, str, int | None]]:
    """Give width, text and colour of each chip, after the name of its topic, without one."""
    pieces: list[tuple[int, str, int | None]] = []
    topic = None
    for of, number in partitions:
        if of != topic:
            topic, name = of, shown(of, 16)
            pieces.append((_small(name), name, None))
        label = shown(str(number), 8)
        pieces.append((max(20, round(columns(label) * 7.3) + 8), label, number % COLOURS))
    return pieces


def _small(text: str) -> int:
    return round(_width(text, _SMALL_CHAR))
