"""What all panes draw in the same way: partitions, times, tags, rows of a table."""

from collections.abc import Iterable
from html import escape

from kafkalearn.views.language import Say
from kafkalearn.views.wording import shown, tag

COLOURS = 8


def chip(topic: str, partition: int, *, short: bool = False, kind: str = "") -> str:
    """Draw a partition in its colour, which goes by its number; the whole name is in its title.

    short: leave the topic out, where the heading names it. kind: one more class: ``kl-ghost``.
    """
    name = f"{shown(topic, 200)}-{partition}"
    label = str(partition) if short else f"{shown(topic, 12)}-{partition}"
    classes = f"kl-tp kl-p{partition % COLOURS} {kind}".strip()
    return tag("span", escape(label), class_=classes, title=name)


def badge(text: str, kind: str = "wait") -> str:
    """Draw a word in a coloured field. kind: ``wait``, ``bad``, ``ok`` or ``soft``."""
    return tag("span", escape(text), class_=f"kl-badge kl-{kind}")


def since(ms: int) -> str:
    """Say how long ago `ms` is; the browser counts from the time of the frame that it shows."""
    return tag("span", class_="kl-time", data_since=ms)


def until(ms: int) -> str:
    """Say how long it is until `ms`."""
    return tag("span", class_="kl-time", data_until=ms)


def heads(names: Iterable[str], *, numbers: Iterable[str] = ()) -> str:
    """Begin a table: its opening tag and the row of column heads; `numbers` stand to the right."""
    right = set(numbers)
    cells = [
        tag("th", escape(name), scope="col", class_="kl-n" if name in right else None)
        if name
        else "<td></td>"  # an empty head would be read aloud as one
        for name in names
    ]
    return "<table>" + tag("thead", tag("tr", "".join(cells))) + "<tbody>"


def row(cells: Iterable[str], *, numbers: Iterable[int] = (), kind: str | None = None) -> str:
    """One row; cells are HTML; `numbers` are the places of those that stand to the right."""
    right = set(numbers)
    drawn = [
        tag("td", cell, class_="kl-n" if place in right else None)
        for place, cell in enumerate(cells)
    ]
    return tag("tr", "".join(drawn), class_=kind)


END = "</tbody></table>"


def nothing(say: Say, kinds: Iterable[str]) -> str:
    """Say in place of a drawing, or above it, which kinds of event the trace has not."""
    told = say("not in this trace: {}", ", ".join(kinds))
    return tag("p", escape(told), class_="kl-missing")
