"""Writes what the network carries into the trace: four events for a request that is answered."""

from typing import Any

from kafkalearn.engine.connection import Exchange
from kafkalearn.protocol.message import UNKNOWN_GENERATION_ID, Request, Response
from kafkalearn.simulation.message_rows import (
    SHAPES,
    columns_of,
    detail_of,
    error_of,
    partition_of,
)
from kafkalearn.trace import Trace, detail_text

_KINDS = ("send", "receive", "respond", "response", "dropped")
_AT_SERVER = frozenset({"receive", "respond"})


class _Told:
    """What the events of one exchange have in common, as far as it is known.

    about: the columns from correlation_id to error.
    """

    __slots__ = ("about", "api", "client", "is_answered", "server")

    def __init__(self, exchange: Exchange) -> None:
        request: Request = exchange.request
        self.api = request.api
        self.client = exchange.connection.client.name
        self.server = exchange.connection.server.name
        self.is_answered = False
        self.about: tuple[Any, ...] = (
            *(exchange.correlation_id, *columns_of(request), *partition_of(request), None),
        )

    def answer(self, response: Response) -> None:
        self.is_answered = True
        number, group_id, member_id, generation, topic, partition, offset, _ = self.about
        if SHAPES[type(response)].columns:
            answer: Any = response
            member_id = answer.member_id or member_id
            if answer.generation_id != UNKNOWN_GENERATION_ID:
                generation = answer.generation_id
        about = number, group_id, member_id, generation, topic, partition, offset
        self.about = (*about, error_of(response))


class MessageJournal:
    """The journal of a Network.

    `detail` stands where a message begins: where it arrives, it is the same one. A message that
    gets lost is noted by who waits for it, since the sender never hears of it.
    """

    def __init__(self, trace: Trace) -> None:
        self._add = trace.add
        self._wanted = {kind for kind in _KINDS if trace.records(kind)}

    def __call__(self, kind: str, time_ms: int, exchange: Exchange, reason: str | None) -> None:
        """Record one event; the arguments are those of the engine's Journal."""
        if kind not in self._wanted:
            return
        told: _Told = exchange.note
        if told is None:
            told = exchange.note = _Told(exchange)
        response = exchange.response
        if response is not None and not told.is_answered:
            told.answer(response)
        detail: str | None = None
        at_server = kind in _AT_SERVER
        if kind == "send":
            detail = detail_of(exchange.request)
        elif kind == "respond":
            detail = detail_of(response)
        elif kind == "dropped":
            message = "request" if response is None else "response"
            detail = detail_text({"message": message, "reason": reason})
            at_server = response is None
        node, peer = (told.server, told.client) if at_server else (told.client, told.server)
        self._add((time_ms, node, kind, told.api, peer, *told.about, detail))
