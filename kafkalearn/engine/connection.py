"""Connections, which stand for TCP, and what goes to and fro on them.

Differs from TCP: a connection is open at once, and a server may answer the requests of one
connection in any order.
"""

from collections.abc import Callable
from heapq import heappush
from itertools import count
from typing import TYPE_CHECKING, Any

from kafkalearn.engine.node import Node
from kafkalearn.engine.process import Processes
from kafkalearn.engine.signals import Signal
from kafkalearn.errors import IllegalStateError

if TYPE_CHECKING:
    from kafkalearn.engine.network import Network

Handler = Callable[["Exchange"], object]
OnClose = Callable[["Connection"], object]
Deliver = Callable[["Exchange"], object]


class Inbox:
    """Where a client's responses wait until one of its processes takes them.

    deliver: takes each exchange as its response arrives, so that none waits here. It must not wait.
    arrived: fires when there is something to see: a response, or that a connection closed. Who has
    another reason to make a process look may fire it too.
    """

    __slots__ = ("arrived", "deliver", "exchanges")

    def __init__(self, processes: Processes, *, deliver: Deliver | None = None) -> None:
        self.exchanges: list[Exchange] = []
        self.deliver = deliver
        self.arrived = Signal(processes, "a response")

    def wait(self, timeout_ms: int | None = None) -> bool:
        """Wait, if it is empty, until `arrived` fires; whether there is a response then."""
        if not self.exchanges:
            self.arrived.wait(timeout_ms)
        return bool(self.exchanges)

    def take(self) -> "list[Exchange]":
        """Empty it: what was answered, in the order in which the responses arrived."""
        taken, self.exchanges = self.exchanges, []
        return taken


class Exchange:
    """A request and, once there is one, its response.

    correlation_id: counts the requests of a client over all its connections, from 0.
    forced_response: what a fault lets the server say instead of handling the request.
    note: for the journal's own use.
    """

    __slots__ = (
        *("connection", "correlation_id", "forced_response", "note", "request", "response"),
    )
    direct = False

    def __init__(self, connection: "Connection", request: Any) -> None:
        self.connection = connection
        self.correlation_id = next(connection.correlation_ids)
        self.request = request
        self.response: Any = None
        self.forced_response: Any = None
        self.note: Any = None

    def reply(self, response: Any) -> None:
        """Send the response; no effect when the server died, or knows that the connection did.

        IllegalStateError if it was answered before.
        """
        connection = self.connection
        if self.response is not None:
            raise IllegalStateError(
                f"request {self.correlation_id} of {connection.client.name} to "
                f"{connection.server.name} was answered before: it has one response"
            )
        if connection.server_sees_open and connection.server.alive:
            self.response = response
            connection.network.carry(self, 1)

    def happen(self, time_ms: int, sequence: int) -> None:
        """Arrive; the loop calls this."""
        connection = self.connection
        network = connection.network
        journal = network.journal
        back = self.response is not None
        if back:
            node, is_open = connection.client, connection.is_open
        else:
            node, is_open = connection.server, connection.server_sees_open
        if connection.crashed or not is_open:
            network.loop.now_ms = time_ms
            journal("dropped", time_ms, self, connection.ended or "connection closed")
            return
        if time_ms < node.frozen_until_ms:
            heappush(network.loop.queue, (node.frozen_until_ms, next(network.loop.early), self))
            return
        network.loop.now_ms = time_ms
        if back:
            journal("response", time_ms, self, None)
            inbox = connection.inbox
            if inbox.deliver is None:
                inbox.exchanges.append(self)
                inbox.arrived.fire()
            else:
                inbox.deliver(self)
            return
        journal("receive", time_ms, self, None)
        if self.forced_response is None:
            handler = connection.handler
            handler(self)
        else:
            self.reply(self.forced_response)


class Connection:
    """A client's connection to one server; made by Network.connect.

    is_open: as the client sees it: it has not closed it, nor been told that it ended.
    ended: why nothing arrives that is sent from now on; '' if it does.
    """

    __slots__ = (
        *("client", "correlation_ids", "crashed", "due_ms", "ended", "handler", "inbox", "is_open"),
        *("network", "on_close", "server", "server_sees_open"),
    )

    def __init__(
        self, network: "Network", client: Node, *, server: Node, inbox: Inbox, handler: Handler
    ) -> None:
        self.network = network
        self.client = client
        self.server = server
        self.inbox = inbox
        self.handler = handler
        self.is_open = True
        self.on_close: OnClose | None = None
        self.server_sees_open = True
        self.crashed = False  # so that what is on its way is lost
        self.ended = ""
        self.due_ms = [0, 0]  # when the last request, and the last response, arrives
        self.correlation_ids = network.correlation_ids.setdefault(client.name, count())

    def send(self, request: Any) -> Exchange:
        """Send a request; IllegalStateError if the connection is closed.

        Its exchange comes to the inbox when the response arrives, and never if the connection
        ends before. A dead client sends nothing.
        """
        exchange = Exchange(self, request)
        if self.client.alive:
            if not self.is_open:
                raise IllegalStateError(
                    f"the connection of {self.client.name} to {self.server.name} is closed"
                )
            self.network.carry(exchange, 0)
        return exchange

    def close(self) -> None:
        """Close it. What was sent before arrives at the server; what comes back does not."""
        self.is_open = False
        told_ms = max(self.due_ms[0], self.network.reach_ms(self))
        self.network.loop.call_at(told_ms, self._tell_server, node=self.server)

    def end(self, why: str) -> None:
        """Let nothing arrive that is sent from now on, and tell both sides."""
        if not self.ended:
            self.ended = why
            told_ms = self.network.reach_ms(self)
            self.network.loop.call_at(told_ms, self._tell_client, node=self.client)
            self.network.loop.call_at(told_ms, self._tell_server, node=self.server)

    def _tell_client(self) -> None:
        if self.is_open:
            self.is_open = False
            if self.on_close is not None:
                self.on_close(self)
            self.inbox.arrived.fire()

    def _tell_server(self) -> None:
        self.server_sees_open = False
        self.network.connections.pop(self, None)
