"""Requests without a client: what a script sends to a broker, and waits for.

Real clients (kafkalearn.clients) find the coordinator, retry and keep state; here nothing is done
that the script did not ask for.
"""

from kafkalearn.engine.connection import Connection, Exchange, Inbox
from kafkalearn.engine.network import Network
from kafkalearn.engine.node import Node
from kafkalearn.engine.process import Processes
from kafkalearn.errors import DisconnectError, RequestTimeoutError
from kafkalearn.protocol.message import Request, Response


class PendingRequest:
    """A request on its way. `response` is None until it is there."""

    def __init__(self, requester: "Requester", exchange: Exchange) -> None:
        self._requester = requester
        self.exchange = exchange
        self.response: Response | None = None

    def __str__(self) -> str:
        """Name what is waited for, as errors do."""
        request, connection = self.exchange.request, self.exchange.connection
        return (
            f"the answer to {request.api} of {connection.client.name} to {connection.server.name}"
        )

    def wait(self, timeout_ms: int | None = None) -> Response:
        """Wait for the response, in virtual time.

        DisconnectError if the connection ended, RequestTimeoutError after `timeout_ms`.
        """
        return self._requester.wait_for(self, timeout_ms)


class Requester:
    """One node that sends requests, with a connection to each broker that it needed."""

    def __init__(self, processes: Processes, network: Network, *, node: Node) -> None:
        self.node = node
        self._loop = processes.loop
        self._network = network
        self._inbox = Inbox(processes)
        self._connections: dict[str, Connection] = {}
        self._pending: dict[Exchange, PendingRequest] = {}

    def send(self, server: Node, message: Request) -> PendingRequest:
        """Send a request and go on."""
        connection = self._connections.get(server.name)
        if connection is None or not connection.is_open or connection.server is not server:
            connection = self._network.connect(self.node, server, inbox=self._inbox)
            self._connections[server.name] = connection
        pending = PendingRequest(self, connection.send(message))
        self._pending[pending.exchange] = pending
        return pending

    def wait_for(self, pending: PendingRequest, timeout_ms: int | None) -> Response:
        """See PendingRequest.wait."""
        deadline_ms = None if timeout_ms is None else self._loop.now_ms + timeout_ms
        self._take_what_arrived()
        while pending.response is None:
            if not pending.exchange.connection.is_open:
                raise DisconnectError(f"{pending} does not come: the connection ended")
            if deadline_ms is not None and self._loop.now_ms >= deadline_ms:
                raise RequestTimeoutError(f"{pending} did not come within {timeout_ms:,} ms")
            left_ms = None if deadline_ms is None else deadline_ms - self._loop.now_ms
            self._inbox.arrived.what = pending
            self._inbox.arrived.wait(left_ms)
            self._take_what_arrived()
        return pending.response

    def _take_what_arrived(self) -> None:
        for exchange in self._inbox.take():
            self._pending.pop(exchange).response = exchange.response
