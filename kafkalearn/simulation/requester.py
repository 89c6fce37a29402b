"""Requests without a client: what a script sends to a broker, and waits for.

Nothing is done that the script did not ask for: nobody looks for a coordinator, tries again or
keeps state, as Kafka's clients do.
"""

from dataclasses import replace

from kafkalearn.engine.connection import Connection, Exchange, Inbox, OnClose
from kafkalearn.engine.network import Network
from kafkalearn.engine.node import Node
from kafkalearn.engine.process import Processes
from kafkalearn.engine.signals import Signal
from kafkalearn.errors import (
    DisconnectError,
    IllegalArgumentError,
    IllegalStateError,
    RequestTimeoutError,
)
from kafkalearn.protocol.group import JoinGroupRequest
from kafkalearn.protocol.message import Request, Response
from kafkalearn.protocol.produce import ProduceRequest


def check_ms(value: object) -> None:
    """IllegalArgumentError for a time that is no whole number of milliseconds."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise IllegalArgumentError(f"a time is {value!r}: a whole number of ms is allowed")


class PendingRequest:
    """A request on its way. `response` is None until it is there."""

    def __init__(self, processes: Processes, exchange: Exchange) -> None:
        self.exchange = exchange
        self.response: Response | None = None
        self.settled = Signal(processes, self)
        self._loop = processes.loop

    @property
    def is_answered(self) -> bool:
        """Whether brokers answer such a request: not a Produce with acks 0."""
        request = self.exchange.request
        return not (isinstance(request, ProduceRequest) and request.acks == 0)

    def __str__(self) -> str:
        """Name what is waited for, as errors do."""
        request, connection = self.exchange.request, self.exchange.connection
        return (
            f"the answer to {request.api} of {connection.client.name} to {connection.server.name}"
        )

    def wait(self, timeout_ms: int | None = None) -> Response:
        """Wait for the response, in virtual time.

        DisconnectError if the connection ended, RequestTimeoutError after `timeout_ms`;
        IllegalStateError if its client crashed, and for a Produce with acks 0, which no broker
        answers.
        """
        if not self.is_answered:
            raise IllegalStateError(f"{self} never comes, as its acks are 0: send it and go on")
        if timeout_ms is not None:
            check_ms(timeout_ms)
        deadline_ms = None if timeout_ms is None else self._loop.now_ms + timeout_ms
        connection = self.exchange.connection
        while self.response is None:
            if not connection.client.alive:
                raise IllegalStateError(f"{self} does not come: {connection.client.name} crashed")
            if not connection.is_open:
                raise DisconnectError(f"{self} does not come: the connection ended")
            if deadline_ms is not None and self._loop.now_ms >= deadline_ms:
                raise RequestTimeoutError(f"{self} did not come within {timeout_ms:,} ms")
            self.settled.wait(None if deadline_ms is None else deadline_ms - self._loop.now_ms)
        return self.response


class Requester:
    """One node that sends requests, with a connection to each broker that it needed.

    on_close: called with each connection that ended.
    """

    def __init__(
        self, processes: Processes, network: Network, *, node: Node, on_close: OnClose
    ) -> None:
        self._node = node
        self._on_close = on_close
        self._processes = processes
        self._network = network
        self._connections: dict[str, Connection] = {}
        self._pending: dict[Exchange, PendingRequest] = {}
        self._inbox = Inbox(processes, deliver=self._deliver)

    def send(self, server: Node, message: Request) -> PendingRequest:
        """Send a request and go on; a JoinGroup without a client id gets the node's name."""
        if isinstance(message, JoinGroupRequest) and not message.client_id:
            message = replace(message, client_id=self._node.name)
        connection = self._connections.get(server.name)
        if connection is None or not connection.is_open or connection.server is not server:
            connection = self._network.connect(
                self._node, server, inbox=self._inbox, on_close=self._give_up
            )
            self._connections[server.name] = connection
        pending = PendingRequest(self._processes, connection.send(message))
        if pending.is_answered:
            self._pending[pending.exchange] = pending
        return pending

    def crash(self) -> None:
        """Tell those who wait on other nodes that this one crashed."""
        for pending in self._pending.values():
            pending.settled.fire()

    def _deliver(self, exchange: Exchange) -> None:
        pending = self._pending.pop(exchange, None)
        if pending is not None:  # a fault can answer even what no broker does
            pending.response = exchange.response
            pending.settled.fire()

    def _give_up(self, connection: Connection) -> None:
        self._on_close(connection)
        for exchange in [each for each in self._pending if each.connection is connection]:
            self._pending.pop(exchange).settled.fire()
