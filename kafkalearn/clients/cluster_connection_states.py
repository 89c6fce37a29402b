"""Which connections of a client stand, and when those that ended may be tried again.

Source: org.apache.kafka.clients.ClusterConnectionStates (1.0.2).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from kafkalearn.engine.connection import Connection, Exchange
from kafkalearn.protocol.message import Response

_JITTER = 0.2  # so that not all clients come back at once

OnComplete = Callable[[Response | None], object]
"""Told the response; None if the connection ended before there was one."""


@dataclass(slots=True, eq=False)
class ConnectionState:
    """A connection that was tried. connection: None since it ended.

    refused: nobody was there to take it, which the client hears with the end of the connection.
    in_flight: requests without an answer, oldest first: when each is overdue, and whom to tell.
    failures: in a row; the first response ends it. retry_ms: when it may be tried again.
    """

    connection: Connection | None = None
    refused: bool = False
    in_flight: dict[Exchange, tuple[int, OnComplete]] = field(default_factory=dict)
    failures: int = 0
    retry_ms: int = 0


class ClusterConnectionStates:
    """The connections of one client, by name.

    reconnect_backoff_ms: how long to wait after the first failure, and at most.
    """

    def __init__(self, reconnect_backoff_ms: tuple[int, int], random: Random) -> None:
        self.states: dict[str, ConnectionState] = {}
        self._backoff_ms, self._backoff_max_ms = reconnect_backoff_ms
        self._random = random

    def connection_delay(self, name: str, now_ms: int) -> int:
        """In how many ms a connection may be used or tried again; 0 if now."""
        state = self.states.get(name)
        if state is None or state.connection is not None:
            return 0
        return max(0, state.retry_ms - now_ms)

    def connection_failed(self, name: str) -> bool:
        """Whether a connection was made, and is no more."""
        state = self.states.get(name)
        return state is not None and state.connection is None

    def has_ready_nodes(self) -> bool:
        """Whether any connection stands."""
        return any(state.connection is not None for state in self.states.values())

    def overdue(self, now_ms: int) -> list[Connection]:
        """List the connections on which an answer should have come by now."""
        return [
            state.connection
            for state in self.states.values()
            if state.connection is not None
            and any(due_ms <= now_ms for due_ms, _ in state.in_flight.values())
        ]

    def next_expiry_ms(self, never_ms: int) -> int:
        """When the next answer is overdue; `never_ms` if none is awaited."""
        due = (ms for state in self.states.values() for ms, _ in state.in_flight.values())
        return min(due, default=never_ms)

    def disconnected(self, state: ConnectionState, now_ms: int) -> list[OnComplete]:
        """Note that a connection ended; give whom to tell that no answer comes."""
        waited = [told for _, told in state.in_flight.values()]
        state.in_flight.clear()
        state.connection = None
        backoff_ms = min(self._backoff_ms << min(state.failures, 20), self._backoff_max_ms)
        if self._backoff_max_ms > self._backoff_ms:
            backoff_ms = int(backoff_ms * self._random.uniform(1 - _JITTER, 1 + _JITTER))
        state.failures += 1
        state.retry_ms = now_ms + backoff_ms
        return waited
