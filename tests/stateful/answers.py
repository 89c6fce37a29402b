"""Who is answered, as a fold over a trace."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kafkalearn.trace import Event
from tests.stateful.followed import crashed_node, exchange_of

PARKED = ("JoinGroup", "SyncGroup")  # those whose answer a coordinator may hold back


@dataclass(eq=False)
class _Request:
    """A request on its way, or waiting. excused: it needs no answer any more.

    received: when it reached the broker. member_id: whose it is, as far as that is known.
    repeats: earlier ones of the same member, which wait for the same.
    """

    sent: Event
    member_id: str | None
    received: Event | None = None
    repeats: list["_Request"] = field(default_factory=list)
    excused: bool = False

    def is_between(self, *nodes: str | None) -> bool:
        """Whether these are its client or its broker, or both."""
        return {self.sent.node, self.sent.peer}.issuperset(nodes)

    def waits_for(self, event: Event) -> bool:
        """Whether it waits in a phase of the rebalance that this event's member is in."""
        return (
            self.received is not None
            and self.sent.api in PARKED
            and self.member_id is not None
            and (self.sent.group_id, self.member_id) == (event.group_id, event.member_id)
        )


def unanswered_requests(events: Iterable[Event], *, joins_end_silently: bool) -> Iterator[str]:
    """Every request that reached a broker is answered, once.

    Unless its connection, client or broker died; or the same member repeated it, and that was not
    refused; or its member was removed while it waited for its assignment, or (joins_end_silently)
    for the end of the join phase.
    """
    waiting: dict[tuple, _Request] = {}
    latest: dict[str, _Request] = {}  # broker -> what it received last
    for event in events:
        excused: Iterable[_Request] = ()
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
                excused = request.repeats
        elif event.kind == "dropped":
            ends = event.node, event.peer
            excused = [each for each in waiting.values() if each.is_between(*ends)]
        elif crashed_node(event):
            excused = [each for each in waiting.values() if each.is_between(event.node)]
        elif event.kind == "member_joined" and event.node in latest:
            latest[event.node].member_id = event.member_id
        elif event.kind == "member_removed":
            silent = PARKED if joins_end_silently else ("SyncGroup",)
            excused = [
                each
                for each in waiting.values()
                if each.waits_for(event) and each.sent.api in silent
            ]
        for each in excused:
            each.excused = True
    for request in waiting.values():
        if request.received is not None and not request.excused:
            where = request.received
            yield f"{where.seq}: {where.api} of {where.peer} to {where.node} is never answered"
