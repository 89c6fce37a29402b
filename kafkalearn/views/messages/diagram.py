"""Who says what to whom: one diagram of a window of a trace, drawn once for all its events.

A message is two events, one where it leaves and one where it arrives; it takes one row, and one
more for its arrival if that comes late. Notes stand between: what a node does, is given, hears.
Places count from the window's first event; words are `phrases`.
"""

from collections.abc import Iterator
from itertools import accumulate, islice
from typing import Any, TypedDict

from kafkalearn.trace import Event, Trace
from kafkalearn.views.fold import mapping
from kafkalearn.views.language import Say
from kafkalearn.views.messages.labels import Names
from kafkalearn.views.messages.lanes import Span, lanes_of
from kafkalearn.views.messages.notes import Notes
from kafkalearn.views.messages.phrases import told
from kafkalearn.views.messages.rows import Row, Rows, pair_of
from kafkalearn.views.wording import aligned, moment, shown

_COLUMNS = ("group_id", "member_id", "generation", "error")
_MESSAGES = ("send", "receive", "respond", "response", "dropped")
_MOST_FIELDS, _LONGEST, _DEEPEST = 40, 200, 5


class Diagram(TypedDict):
    """All of a window.

    lanes: names of nodes from left to right; others: how many nodes share the last lane, whose
    name is then empty. brokers: those that are. coordinator: the node that was one, if one was.
    rows: from above. places: the row of each event; None if it has none.
    spans: how nodes were, from a row on until before another.
    """

    lanes: list[str]
    brokers: list[str]
    others: int
    coordinator: str | None
    rows: list[Row]
    places: list[int | None]
    spans: list[Span]


def diagram(trace: Trace, window: range | None = None) -> Diagram:
    """Lay out the messages and notes of `window`."""
    window = range(len(trace)) if window is None else window
    before = trace[: window.start]
    events = list(trace[window.start : window.stop])
    lanes = lanes_of(events)
    groups = {event.group_id for event in events if event.kind == "group_state"}
    notes = Notes(_names(trace), several_groups=len(groups) > 1)
    rows = Rows(lanes, notes, before=before)
    places = [rows.take(place, event) for place, event in enumerate(events)]
    coordinators = {event.node for event in events if event.kind == "group_state"}
    return {
        "lanes": lanes.names,
        "brokers": lanes.brokers,
        "others": lanes.others,
        "coordinator": next(iter(coordinators)) if len(coordinators) == 1 else None,
        "rows": rows.rows,
        "places": places,
        "spans": rows.states.ended(len(rows.rows)),
    }


def routine(diagram: Diagram) -> list[int]:
    """Give the places of events that nobody needs to stop at."""
    rows = diagram["rows"]
    return [
        place
        for place, row in enumerate(diagram["places"])
        if row is not None and rows[row].get("routine")
    ]


def as_text(diagram: Diagram, say: Say) -> str:
    """Tell all rows, one a line: when, who, and what."""
    names = [shown(name, 16) or say("{} others", diagram["others"]) for name in diagram["lanes"]]
    lines = []
    for row in diagram["rows"]:
        if row["kind"] == "arrival":
            continue
        if row["kind"] == "message":
            label = [*row["label"], *([["lost"]] if row["dropped"] is not None else [])]
            who = f"{names[row['start']]} → {names[row['end']]}"
        else:
            owned = ", ".join(f"{shown(topic, 16)}-{n}" for topic, n in row["partitions"])
            label = [*row["label"], *([owned] if owned else []), *row["aside"]]
            who = names[row["lane"]]
        lines.append((moment(row["time_ms"]), who, told(label, say)))
    return "\n".join(aligned(lines, right=[0])) or say("nothing")


def reaches(diagram: Diagram) -> list[int]:
    """Count for each event the rows that are open by then."""
    opened = (0 if row is None else row + 1 for row in diagram["places"])
    return list(accumulate(opened, max))


def fields(trace: Trace, window: range | None = None) -> list[list[tuple[str, str]]]:
    """Give for each event the fields of its request or answer; none for what is no message."""
    window = range(len(trace)) if window is None else window
    left: dict[tuple[Any, ...], list[tuple[str, str]]] = {}
    told = []
    for event in trace[window.start : window.stop]:
        key = pair_of(event)
        if event.kind in ("send", "respond"):
            left[key] = _fields(event)
        is_message = event.kind in _MESSAGES
        told.append((left.get(key) or _fields(event)) if is_message else [])
    return told


def _names(trace: Trace) -> Names:
    """Find out which node goes by which member id."""
    joins = trace.where(kind="respond", api="JoinGroup")
    return {event.member_id: event.peer for event in joins if event.member_id and event.peer}


def _fields(event: Event) -> list[tuple[str, str]]:
    values = ((name, getattr(event, name)) for name in _COLUMNS)
    named = [(name, shown(str(value), _LONGEST)) for name, value in values if value is not None]
    found = list(islice(_flat(mapping(event, "fields")), _MOST_FIELDS + 1))
    rest = [("…", "")] if len(found) > _MOST_FIELDS else []
    return [*named, *found[:_MOST_FIELDS], *rest]


def _flat(fields: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Take apart what holds other values; a list of plain ones stays one line."""
    todo = [(name, value, 1) for name, value in reversed(fields.items())]
    while todo:
        name, value, depth = todo.pop()
        inner: list[tuple[Any, Any]] = []
        if isinstance(value, dict):
            inner = list(value.items())
        elif isinstance(value, list) and any(isinstance(each, dict | list) for each in value):
            inner = list(enumerate(value))
        if inner and depth < _DEEPEST:
            todo += [(f"{name}.{key}", each, depth + 1) for key, each in reversed(inner)]
        else:
            plain = ", ".join(map(str, value)) if isinstance(value, list) and not inner else value
            told = "…" if inner else "–" if plain in ({}, "", None) else str(plain)
            yield shown(name, _LONGEST), shown(told, _LONGEST)
