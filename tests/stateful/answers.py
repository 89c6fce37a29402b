"""Who is answered, as a fold over a trace."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kafkalearn.trace import Event
from tests.stateful.followed import crashed_node, exchange_of, state_of

PARKED = {"JoinGroup": "PreparingRebalance", "SyncGroup": "AwaitingSync"}
"""What a coordinator may leave without an answer until its group leaves a state."""


@dataclass(eq=False)
class _Request:
    """A request on its way, or waiting. excused: it needs no answer any more.

    received: when it reached the broker. member_id: whose it is, as far as that is known.
    ended: whether the group has left the state since, and the answer is due.
    repeats: earlier ones of the same member, which wait for the same.
    """

    sent: Event
    member_id: str | None
    received: Event | None = None
    ended: bool = False
    repeats: list["_Request"] = field(default_factory=list)
    excused: bool = False

    def is_between(self, *nodes: str | None) -> bool:
        """Whether these are its client or its broker, or both."""
        return {self.sent.node, self.sent.peer}.issuperset(nodes)

    def waits_for(self, event: Event) -> bool:
        """Whether it waits for the end of a phase, and its member is this event's."""
        return (
            self.received is not None
            and not self.ended
            and self.sent.api in PARKED
            and self.member_id is not None
            and (self.sent.group_id, self.member_id) == (event.group_id, event.member_id)
        )

    def ends_with(self, event: Event) -> bool:
        """Whether this event ends the phase that it waits for."""
        return (
            self.received is not None
            and event.kind == "group_state"
            and event.group_id == self.sent.group_id
            and state_of(event.detail["from"]) == PARKED.get(self.sent.api)
        )

    def needs_no_answer(self, event: Event, silent: tuple[str, ...]) -> bool:
        """Whether this event ends its connection, or its wait if that may end in silence."""
        if event.kind == "dropped":
            return self.is_between(event.node, event.peer)
        if event.kind == "member_removed":
            return self.sent.api in silent and self.waits_for(event)
        return crashed_node(event) is not None and self.is_between(event.node)


def unanswered_requests(events: Iterable[Event], *, joins_end_silently: bool) -> Iterator[str]:
    """Every request that reached a broker is answered, once.

    Unless its connection, client or broker died; or the same member repeated it, and that was not
    refused; or its member was removed while it waited for its assignment, or (joins_end_silently)
    for the end of the join phase.
    """
    silent = tuple(PARKED) if joins_end_silently else ("SyncGroup",)
    waiting: dict[tuple, _Request] = {}
    latest: dict[str, _Request] = {}  # broker -> what it received last
    for event in events:
        if event.kind == "send":
            waiting[exchange_of(event)] = _Request(event, event.member_id)
        elif event.kind == "receive":
            request = latest[event.node] = waiting[exchange_of(event)]
            same = [each for each in waiting.values() if each.waits_for(event)]
            ends = event.api, event.node
            request.repeats = [each for each in same if (each.sent.api, each.sent.peer) == ends]
            request.received = event
        elif event.kind == "respond":
            request = waiting.pop(exchange_of(event), None)
            if request is None:
                yield f"{event.seq}: {event.api} of {event.peer} is answered, but does not wait"
            elif event.error == "NONE" or event.seq > request.received.seq + 1:
                for each in request.repeats:
                    each.excused = True
        elif event.kind == "member_joined" and event.node in latest:
            latest[event.node].member_id = event.member_id
        else:
            for each in waiting.values():
                each.excused |= each.needs_no_answer(event, silent)
                each.ended |= each.ends_with(event)
    for request in waiting.values():
        if request.received is not None and not request.excused:
            where = request.received
            yield f"{where.seq}: {where.api} of {where.peer} to {where.node} is never answered"
