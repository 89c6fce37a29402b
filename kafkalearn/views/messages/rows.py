"""Gives each event of a window its row in the diagram of messages; `messages` puts it together."""

from typing import Any, Literal, TypedDict

from kafkalearn.trace import Event, Trace
from kafkalearn.views.messages.labels import answer_label, fetched, request_label
from kafkalearn.views.messages.lanes import Lanes, NodeStates
from kafkalearn.views.messages.notes import KINDS, Notes
from kafkalearn.views.messages.phrases import Phrase
from kafkalearn.views.messages.runs import Note

_NEAR = 4  # what belongs together stands together, if at most so many rows are between
_SOON_MS = 20  # an arrow that takes longer slants down to where it arrives: it is slow
_ROUTINE = ("Heartbeat", "Fetch")


class Message(TypedDict):
    """An arrow.

    start, end: numbers of lanes; to_row: the row where it arrives, mostly its own.
    answer: it goes back to who asked. error: the name of one, if it brings one.
    routine: nobody learns from it. sent, arrived: places, if they are in the window.
    dropped: why it never arrives; neither that nor `arrived`: it is still under way.
    """

    kind: Literal["message"]
    time_ms: int
    start: int
    end: int
    to_row: int
    api: str
    label: list[Phrase]
    answer: bool
    error: str | None
    routine: bool
    dropped: str | None
    sent: int | None
    arrived: int | None


class Arrival(TypedDict):
    """The room in which an arrow of a row further up ends."""

    kind: Literal["arrival"]
    time_ms: int


Row = Message | Note | Arrival


class Rows:
    """Opens a row for each event that needs one."""

    def __init__(self, lanes: Lanes, notes: Notes, *, before: Trace) -> None:
        self.rows: list[Row] = []
        self.states = NodeStates(before, lanes)
        self._lanes, self._notes = lanes, notes
        self._under_way: dict[tuple[Any, ...], int] = {}
        self._asked: dict[tuple[Any, ...], Message] = {}
        self._polls: dict[str, Note] = {}
        self._last: dict[int, int] = {}  # lane -> the row that it took part in last
        self._refreshed = {event.node for event in before.where(kind="send", api="Metadata")}

    def take(self, place: int, event: Event) -> int | None:
        """Give the event its row; None if it needs none."""
        row: int | None
        match event.kind:
            case "send" | "respond":
                row = self._leave(place, event)
            case "receive" | "response" | "dropped":
                row = self._arrive(place, event)
            case _:
                row = self._note(event) if event.kind in KINDS else None
        self.states.take(event, len(self.rows))
        return row

    def _near(self, row: int) -> bool:
        return len(self.rows) - 1 - row <= _NEAR

    def _open(self, row: Row, *lanes: int) -> int:
        self.rows.append(row)
        self._last |= dict.fromkeys(lanes, len(self.rows) - 1)
        return len(self.rows) - 1

    def _leave(self, place: int, event: Event) -> int:
        row = self._message(event, answer=event.kind == "respond")
        row["sent"] = place
        number = self._open(row, row["start"], row["end"])
        row["to_row"] = number
        key = pair_of(event)
        self._under_way[key] = number
        request = (*key[:-1], False)
        if not row["answer"]:
            self._asked[request] = row
            row["routine"] = self._is_routine(event)
        else:
            self._judge(row, self._asked.pop(request, None), fetched(event))
        return number

    def _is_routine(self, event: Event) -> bool:
        """Tell of a request; a Heartbeat or Fetch whose answer says something is none after all."""
        again = event.node in self._refreshed
        if event.api == "Metadata":
            self._refreshed.add(event.node)
        return event.api in _ROUTINE or (again and event.api == "Metadata")

    def _judge(self, answer: Message, asked: Message | None, count: int | None) -> None:
        again = answer["api"] == "Metadata" and asked is not None and asked["routine"]
        brings = answer["api"] == "Fetch" and count != 0
        routine = (answer["api"] in _ROUTINE and not brings) or again
        answer["routine"] = routine and answer["error"] is None
        if asked is not None:
            asked["routine"] = answer["routine"]

    def _arrive(self, place: int, event: Event) -> int:
        number = self._under_way.pop(pair_of(event), None)
        if number is None:  # it left before this window
            row = self._message(event, answer=_is_answer(event))
            row["to_row"] = number = self._open(row, row["start"], row["end"])
        else:
            found = self.rows[number]
            assert found["kind"] == "message"
            row = found
            if event.time_ms - row["time_ms"] > _SOON_MS and not self._near(number):
                number = self._open(self._later(event, row), row["end"])
                row["to_row"] = row["to_row"] if event.kind == "dropped" else number
        if event.kind == "dropped":
            reason = (event.detail or {}).get("reason")
            row["dropped"] = reason if isinstance(reason, str) else ""
            row["routine"] = False
        else:
            row["arrived"] = place
        return number

    def _later(self, event: Event, row: Message) -> Row:
        """Make the row of what happens to a message long after it left."""
        if event.kind == "dropped":
            return self._notes.lost(event, row["end"])
        return {"kind": "arrival", "time_ms": event.time_ms}

    def _message(self, event: Event, *, answer: bool) -> Message:
        lanes = self._lanes.by_node
        here, there = lanes[event.node], lanes[event.peer or event.node]
        leaves = event.kind in ("send", "respond")
        label = answer_label if answer else request_label
        return {
            "kind": "message",
            "time_ms": event.time_ms,
            "start": here if leaves else there,
            "end": there if leaves else here,
            "to_row": 0,
            "api": event.api or "?",
            "label": label(event, self._notes.names),
            "answer": answer,
            "error": event.failure if answer else None,
            "routine": False,
            "dropped": None,
            "sent": None,
            "arrived": None,
        }

    def _note(self, event: Event) -> int | None:
        lane = self._lanes.by_node[event.node]
        if event.kind == "records_returned" and event.node in self._polls:
            self._polls.pop(event.node)["routine"] = False
        last = self._last.get(lane)
        if last is not None and self._near(last) and self._notes.join(self.rows[last], event):
            return last
        note = self._notes.make(event, lane)
        if note is None:
            return None
        number = self._open(note, lane)
        if note["form"] == "tick":
            self._polls[event.node] = note
        return number


def _is_answer(event: Event) -> bool:
    lost = event.kind == "dropped" and (event.detail or {}).get("message") == "response"
    return lost or event.kind in ("respond", "response")


def pair_of(event: Event) -> tuple[Any, ...]:
    """Client, broker, and what else both events of a message have in common."""
    answer = _is_answer(event)
    at_client = event.kind in ("send", "response") or (event.kind == "dropped" and answer)
    ends = (event.node, event.peer) if at_client else (event.peer, event.node)
    return *ends, event.api, event.correlation_id, answer
