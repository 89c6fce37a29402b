"""Draws each consumer's partitions as rows of numbers, and a bar for how far it has read."""

from functools import lru_cache
from html import escape
from typing import cast

from kafkalearn.views.drawings.common import COLOURS, END, badge, chip, heads, row
from kafkalearn.views.language import Say
from kafkalearn.views.subscriptions import Cell, Consumer, Frame, columns, numbers_of, remarks
from kafkalearn.views.wording import shown, tag

_BAR = 90


def draw(frame: Frame, say: Say) -> list[str]:
    """One row for each partition; the name of a consumer stands in its first."""
    if not frame["consumers"]:
        return [tag("p", escape(say("no consumer has a partition")), class_="kl-none")]
    numbers = columns(say)
    pieces = [heads([say("consumer"), say("partition"), *numbers, ""], numbers=numbers)]
    for consumer in frame["consumers"]:
        pieces += _rows(consumer, say)
    pieces.append(END)
    if frame["more"]:
        pieces.append(tag("p", escape(say("and {} more", frame["more"])), class_="kl-none"))
    return pieces


def _rows(consumer: Consumer, say: Say) -> list[str]:
    name = tag("b", escape(shown(consumer["node"])))
    gone = consumer["gone"]
    if gone:
        name += " " + badge(say(gone), "bad" if gone == "crashed" else "soft")
    names = [name] + [""] * len(consumer["cells"])
    cells = zip(names, consumer["cells"], strict=False)
    rows = [_cell(head, tuple(cell.items()), bool(gone), say) for head, cell in cells]
    if not rows:
        rows.append(_row(name, [tag("span", escape(say("nothing")), class_="kl-none")], bool(gone)))
    if consumer["more"]:
        rows.append(_row("", [escape(say("and {} more", consumer["more"]))], bool(gone)))
    return rows


@lru_cache(maxsize=4096)  # most rows of a frame are those of the frame before
def _cell(name: str, items: tuple[tuple[str, object], ...], gone: bool, say: Say) -> str:
    cell = cast(Cell, dict(items))
    place = [chip(cell["topic"], cell["partition"], kind="kl-ghost" if gone else "")]
    for each in remarks(cell, say):
        place.append(badge(each, "bad" if each == say("out of range") else "wait"))
    return _row(name, [" ".join(place), *numbers_of(cell), _bar(cell, say)], gone)


def _row(name: str, cells: list[str], gone: bool) -> str:
    kinds = ["kl-lost"] * gone + ["kl-first"] * bool(name)
    filled = [name, *cells, *[""] * (6 - len(cells))]
    return row(filled, numbers=range(2, 6), kind=" ".join(kinds) or None)


def _bar(cell: Cell, say: Say) -> str:
    """Draw the log from its begin to its end: what is read is filled, a tick is the commit."""
    start, end, position = cell["log_start"], cell["high_watermark"], cell["position"]
    if end is None or end <= start or position is None:
        return ""
    read, committed = _scaled(position, start, end), cell["committed"]
    drawn = f'<rect width="{_BAR}" height="8" rx="4" class="kl-rest"/>'
    if read:
        colour = f"kl-p{cell['partition'] % COLOURS}"
        drawn += f'<rect width="{read}" height="8" rx="4" class="{colour} kl-chip"/>'
    if committed is not None:
        drawn += f'<path d="M{_scaled(committed, start, end)} -2v12"/>'
    told = say("{} of {} read", max(0, position - start), end - start)
    return tag(
        "svg",
        drawn,
        class_="kl-read",
        viewBox=f"-2 -2 {_BAR + 4} 12",
        width=_BAR + 4,
        role="img",
        aria_label=told,
    )


def _scaled(offset: int, start: int, end: int) -> int:
    return round(_BAR * min(1, max(0, (offset - start) / (end - start))))
