"""The lanes of a diagram of messages, one a node; and how their nodes are, from row to row."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypedDict

from kafkalearn.trace import Event, Trace
from kafkalearn.views.fold import number, text

MOST = 10
_AT_BROKERS = {
    *("receive", "respond", "group_state", "member_joined", "member_removed", "offset_stored"),
    *("offset_expired", "group_loaded", "append", "retention", "leader_elected", "topic_changed"),
}


class Lanes(NamedTuple):
    """Names from left to right, and the lane of each node.

    others: how many nodes share the last lane, whose name is then empty.
    """

    names: list[str]
    brokers: list[str]
    others: int
    by_node: dict[str, int]


def lanes_of(events: Sequence[Event]) -> Lanes:
    """Put brokers in the middle, clients around them, and who only prepares things outermost."""
    names = dict.fromkeys(
        name for event in events for name in (event.node, event.peer) if name is not None
    )
    brokers = {event.node for event in events if event.kind in _AT_BROKERS} | {
        event.peer for event in events if event.kind in ("send", "response")
    }
    producers = {event.node for event in events if event.api == "Produce"} - brokers
    in_order = sorted(names, key=lambda name: (name not in producers, len(name), name))
    clients = [name for name in in_order if name not in brokers | {"admin", "network"}]
    half = (len(clients) + 1) // 2
    amid = [name for name in in_order if name in brokers]
    order = [
        *(name for name in names if name == "admin"),
        *clients[:half],
        *amid,
        *clients[half:],
        *(name for name in names if name == "network"),
    ]
    if len(order) <= MOST:
        return Lanes(order, amid, 0, {name: lane for lane, name in enumerate(order)})
    # Consumers are what it is about: only three brokers come before them.
    apart = {"admin", "network"} | producers
    ranks = {name: 1 + (name in apart) + 2 * (name in brokers) for name in names}
    first = set(sorted(names, key=lambda name: ranks[name] * (name not in amid[:3]))[: MOST - 1])
    told = [name for name in order if name in first]
    by_node = {name: told.index(name) if name in first else MOST - 1 for name in order}
    return Lanes([*told, ""], amid, len(order) - len(told), by_node)


State = Literal["stable", "rebalancing", "crashed", "frozen", "cut_off"]


class Span(TypedDict):
    """How a lane's node is, from one row on until before another."""

    lane: int
    state: State
    from_row: int
    to_row: int


_MEMBER: dict[str, State] = {
    "STABLE": "stable",
    "REBALANCING": "rebalancing",
    "COMPLETING_REBALANCE": "rebalancing",
}
_BROKEN: dict[str, State] = {"crash": "crashed", "freeze": "frozen", "cut_off": "cut_off"}


class NodeStates:
    """Follows how nodes are; what was before the window is told first."""

    def __init__(self, before: Trace, lanes: Lanes) -> None:
        self._lanes = {name: lane for name, lane in lanes.by_node.items() if lane < _own(lanes)}
        self._spans: list[Span] = []
        self._open: dict[str, Span] = {}
        self._until: dict[str, int] = {}  # a node that is frozen or cut off -> when that ends
        self._as_member: dict[str, State | None] = {}
        for event in before.where(kind=["client_state", "fault"]):
            self.take(event, 0)

    def take(self, event: Event, row: int) -> None:
        """Hear what happened; `row` is the first one that is drawn after it."""
        for node in [each for each, end in self._until.items() if end <= event.time_ms]:
            del self._until[node]
            self._change(node, self._as_member.get(node), row)
        if event.kind == "client_state":
            self._as_member[event.node] = _MEMBER.get(text(event, "to") or "")
            self._change(event.node, self._as_member[event.node], row)
        elif event.kind == "fault":
            fault = text(event, "fault")
            if fault in ("crash", "restart"):
                self._as_member.pop(event.node, None)
                self._until.pop(event.node, None)
            for_ms = number(event, "for_ms")
            if for_ms is not None:
                self._until[event.node] = event.time_ms + for_ms
            if fault in _BROKEN or fault == "restart":
                self._change(event.node, _BROKEN.get(fault), row)

    def ended(self, row: int) -> list[Span]:
        """Give all spans, the open ones until `row`."""
        for node in list(self._open):
            self._change(node, None, row)
        return [span for span in self._spans if span["from_row"] < span["to_row"]]

    def _change(self, node: str, state: State | None, row: int) -> None:
        if (span := self._open.pop(node, None)) is not None:
            span["to_row"] = row
        if state is not None and node in self._lanes:
            lane = self._lanes[node]
            self._open[node] = {"lane": lane, "state": state, "from_row": row, "to_row": row}
            self._spans.append(self._open[node])


def _own(lanes: Lanes) -> int:
    return len(lanes.names) - bool(lanes.others)
