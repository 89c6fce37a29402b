"""Writes what the network carries into the trace: four events for a request that is answered."""

from typing import Any

from kafkalearn.engine.connection import Exchange
from kafkalearn.protocol.message import UNKNOWN_GENERATION_ID, Request, Response
from kafkalearn.simulation.message_rows import (
    columns_of,
    detail_of,
    error_of,
    partition_of,
    shape_of,
)
from kafkalearn.trace import Trace

_KINDS = ("send", "receive", "respond", "response", "dropped")
_AT_SERVER = frozenset({"receive", "respond"})


class _Told:
    """What the events of one exchange have in common, as far as it is known."""

    __slots__ = (
        *("api", "client", "correlation_id", "error", "generation", "group_id", "member_id"),
        *("offset", "partition", "server", "topic"),
    )

    def __init__(self, exchange: Exchange) -> None:
        request: Request = exchange.request
        self.api = request.api
        self.client = exchange.connection.client.name
        self.server = exchange.connection.server.name
        self.correlation_id = exchange.correlation_id
        self.group_id, self.member_id, self.generation = columns_of(request)
        self.topic, self.partition, self.offset = partition_of(request)
        self.error: str | None = None

    def answer(self, response: Response) -> None:
        self.error = error_of(response)
        tells = shape_of(response).columns
        if tells:
            answer: Any = response
            self.member_id = answer.member_id or self.member_id
            if answer.generation_id != UNKNOWN_GENERATION_ID:
                self.generation = answer.generation_id


class MessageJournal:
    """The journal of a Network.

    `detail` stands where a message begins: where it arrives, it is the same one. A message that
    gets lost is noted by who waits for it, since the sender never hears of it.
    """

    def __init__(self, trace: Trace) -> None:
        self._record = trace.record
        self._wanted = {kind for kind in _KINDS if trace.records(kind)}

    def __call__(self, kind: str, time_ms: int, exchange: Exchange, reason: str | None) -> None:
        """Record one event."""
        if kind not in self._wanted:
            return
        told: _Told = exchange.note
        if told is None:
            told = exchange.note = _Told(exchange)
        if exchange.response is not None and told.error is None:
            told.answer(exchange.response)
        detail: dict[str, Any] | str | None = None
        if kind == "send":
            detail = detail_of(exchange.request)
        elif kind == "respond":
            detail = detail_of(exchange.response)
        elif kind == "dropped":
            message = "request" if exchange.response is None else "response"
            detail = {"message": message, "reason": reason}
        at_server = kind in _AT_SERVER or (kind == "dropped" and exchange.response is None)
        self._record(
            kind,
            time_ms,
            told.server if at_server else told.client,
            api=told.api,
            peer=told.client if at_server else told.server,
            correlation_id=told.correlation_id,
            group_id=told.group_id,
            member_id=told.member_id,
            generation=told.generation,
            topic=told.topic,
            partition=told.partition,
            offset=told.offset,
            error=told.error,
            detail=detail,
        )
