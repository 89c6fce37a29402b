"""Each consumer's partitions: where it reads, what is committed, how far the log goes.

Source: SubscriptionState.TopicPartitionState, partitionLag (1.0.2).
"""

from itertools import islice
from typing import Any, TypedDict

from kafkalearn.trace import Event, Trace
from kafkalearn.views.fold import Needs, fold, number, partitions, text
from kafkalearn.views.language import Say
from kafkalearn.views.wording import aligned, shown

NEEDS: Needs = {
    "poll": ("group_id",),
    "assigned": (),
    "revoked": (),
    "position": ("topic", "partition"),
    "records_returned": ("topic", "partition", "offset"),
    "commit": ("topic", "partition", "offset"),
    "offset_expired": ("topic", "partition"),
    "append": ("topic", "partition", "offset"),
    "retention": ("topic", "partition", "offset"),
    "topic_changed": ("topic",),
    "client_state": (),
    "fault": (),
}
ESSENTIAL = ("position",)
LIMIT = 24

Place = tuple[str, int]


class Cell(TypedDict):
    """A partition of a consumer. position: what is read next, None before that is known.

    committed: the group's, as its consumers were told; None if there is none. log_start,
    high_watermark: the log's begin and end; None if the trace does not tell.
    """

    topic: str
    partition: int
    position: int | None
    committed: int | None
    log_start: int
    high_watermark: int | None
    lag: int | None
    paused: bool


class Consumer(TypedDict):
    """gone: ``crashed`` or ``closed``: its cells are its last. more: those that are left out."""

    node: str
    gone: str | None
    cells: list[Cell]
    more: int


class Frame(TypedDict):
    """All consumers that were given partitions, or chose some; `LIMIT` cells at most.

    more: consumers that are left out.
    """

    consumers: list[Consumer]
    more: int


def frames(trace: Trace, window: range | None = None) -> list[Frame]:
    """Follow the partitions of every consumer."""
    return fold(trace, _Subscriptions(), window=window)


def title(frame: Frame, say: Say) -> str:
    """Give the heading."""
    return say("Subscription state")


def columns(say: Say) -> list[str]:
    """Name the columns of numbers."""
    return [say(each) for each in ("position", "committed", "high watermark", "lag")]


def as_text(frame: Frame, say: Say) -> str:
    """Tell the same as a table in plain text."""
    rows = [[say("consumer"), say("partition"), *columns(say), ""]]
    for consumer in frame["consumers"]:
        name, gone = shown(consumer["node"]), say(consumer["gone"]) if consumer["gone"] else ""
        for cell in consumer["cells"]:
            words = [gone, *remarks(cell, say)]
            place = f"{shown(cell['topic'])}-{cell['partition']}"
            rows.append([name, place, *numbers_of(cell), ", ".join(filter(None, words))])
        if not consumer["cells"]:
            rows.append([name, say("nothing"), "", "", "", "", gone])
        if consumer["more"]:
            rows.append([name, say("and {} more", consumer["more"])])
    lines = [title(frame, say), *(aligned(rows, right=range(2, 6)) if len(rows) > 1 else [])]
    if frame["more"]:
        lines.append(say("and {} more", frame["more"]))
    return "\n".join(lines)


def numbers_of(cell: Cell) -> list[str]:
    """Write the numbers in the order of `columns`: a question mark for what is not known."""
    read, committed = cell["position"], cell["committed"]
    told = ["?" if each is None else f"{each:,}" for each in (read, cell["high_watermark"])]
    lag = "?" if cell["lag"] is None else f"{cell['lag']:,}"
    return [told[0], "–" if committed is None else f"{committed:,}", told[1], lag]


def remarks(cell: Cell, say: Say) -> list[str]:
    """Say what else holds of a partition."""
    position = cell["position"]
    deleted = position is not None and position < cell["log_start"]
    paused = [say("paused")] if cell["paused"] else []
    return [say("out of range"), *paused] if deleted else paused


class _Subscriptions:
    needs = NEEDS

    def __init__(self) -> None:
        self._cells: dict[str, dict[Place, Cell]] = {}
        self._logs: dict[Place, tuple[int, int | None]] = {}
        self._begins: dict[str, int | None] = {}  # topics that came or went: their logs' ends then
        self._committed: dict[tuple[str | None, Place], int | None] = {}
        self._groups: dict[str, str | None] = {}
        self._gone: dict[str, str] = {}

    def frame(self) -> Frame:
        room, consumers = LIMIT, list[Consumer]()
        for node, cells in self._cells.items():
            drawn = list(islice(cells.values(), room))
            room -= max(1, len(drawn))
            gone, more = self._gone.get(node), len(cells) - len(drawn)
            consumers.append({"node": node, "gone": gone, "cells": drawn, "more": more})
            if room <= 0:
                break
        return {"consumers": consumers, "more": len(self._cells) - len(consumers)}

    def on_poll(self, event: Event) -> None:
        if event.node in self._gone:
            self._begin_anew(event.node)
        self._groups[event.node] = event.group_id

    def on_assigned(self, event: Event) -> None:
        self._groups[event.node] = event.group_id
        self._begin_anew(event.node)
        for place in partitions(event):
            self._know(event.node, place)

    def on_revoked(self, event: Event) -> None:
        for place in partitions(event):
            self._cells.get(event.node, {}).pop(place, None)

    def on_position(self, event: Event) -> None:
        place, high_watermark = _place(event), number(event, "high_watermark")
        self._begin_anew(event.node)
        start, end = self._ends(place)
        may_be_old = place[0] in self._begins  # brokers tell of this topic, and know better
        if not may_be_old and high_watermark is not None and (end is None or end < high_watermark):
            self._log(place, start, high_watermark)
        paused = (event.detail or {}).get("paused") is True
        self._know(event.node, place, position=event.offset, paused=paused)
        if text(event, "reason") == "committed" and event.offset is not None:
            self._commit(self._groups.get(event.node), place, event.offset)

    def on_records_returned(self, event: Event) -> None:
        after = (event.offset or 0) + (number(event, "count") or 0)
        self._begin_anew(event.node)
        self._know(event.node, _place(event), position=after)

    def on_commit(self, event: Event) -> None:
        if event.failure is None:
            self._groups[event.node] = event.group_id
            self._commit(event.group_id, _place(event), event.offset)

    def on_offset_expired(self, event: Event) -> None:
        self._commit(event.group_id, _place(event), None)

    def on_append(self, event: Event) -> None:
        place, after = _place(event), (event.offset or 0) + (number(event, "count") or 0)
        self._log(place, self._ends(place)[0], after)

    def on_retention(self, event: Event) -> None:
        place = _place(event)
        self._log(place, event.offset or 0, self._ends(place)[1])

    def on_topic_changed(self, event: Event) -> None:
        topic, change = event.topic or "", text(event, "change")
        if change in ("created", "deleted"):
            self._begins[topic] = 0 if change == "created" else None
            read = [place for cells in self._cells.values() for place in cells]
            for place in [each for each in (*self._logs, *read) if each[0] == topic]:
                self._logs.pop(place, None)
                self._log(place, *self._ends(place))

    def on_client_state(self, event: Event) -> None:
        if text(event, "reason") == "the consumer closes" and event.node in self._cells:
            self._gone[event.node] = "closed"

    def on_fault(self, event: Event) -> None:
        fault = text(event, "fault")
        if fault == "crash":
            self._gone[event.node] = "crashed"
        elif fault == "restart":
            self._gone.pop(event.node, None)
            self._cells.pop(event.node, None)

    def _begin_anew(self, node: str) -> None:
        """Forget what another consumer of this node had, before it was closed."""
        if self._gone.pop(node, None) or node not in self._cells:
            self._cells[node] = {}

    def _know(self, node: str, place: Place, **known: Any) -> None:
        """Make or change the cell of a partition."""
        cells = self._cells[node]
        if place not in cells:
            start, end = self._ends(place)
            committed = self._committed.get((self._groups.get(node), place))
            known = {"position": None, "paused": False, "committed": committed} | known
            known |= {"topic": place[0], "partition": place[1]}
            known |= {"log_start": start, "high_watermark": end}
        cell: Any = {**cells.get(place, {}), **known}
        position, end = cell["position"], cell["high_watermark"]
        cell["lag"] = None if None in (position, end) else max(0, end - position)
        if place in cells:
            cells[place] = cell
        else:
            self._cells[node] = dict(sorted([*cells.items(), (place, cell)]))

    def _ends(self, place: Place) -> tuple[int, int | None]:
        return self._logs.get(place, (0, self._begins.get(place[0])))

    def _log(self, place: Place, start: int, end: int | None) -> None:
        self._logs[place] = start, end
        for node, cells in self._cells.items():
            if place in cells:
                self._know(node, place, log_start=start, high_watermark=end)

    def _commit(self, group_id: str | None, place: Place, offset: int | None) -> None:
        self._committed[group_id, place] = offset
        for node, cells in self._cells.items():
            if place in cells and self._groups.get(node) == group_id:
                self._know(node, place, committed=offset)


def _place(event: Event) -> Place:
    return event.topic or "", event.partition or 0
