"""Carries messages between nodes: latency, loss, cuts; writes down what it carries."""

from collections.abc import Callable, Iterator
from heapq import heappush
from random import Random

from kafkalearn.engine.connection import Connection, Exchange, Handler, Inbox, OnClose
from kafkalearn.engine.node import Node
from kafkalearn.engine.process import Processes
from kafkalearn.errors import ConfigError

Journal = Callable[[str, int, Exchange, str | None], object]
"""Told (kind, time_ms, exchange, reason): of a request `send` and `receive`, of its response
`respond` and `response`, of either `dropped` with the reason. While it is about the request,
`exchange.response` is None."""
Meddler = Callable[[Exchange], tuple[str, int]]
"""Asked about each message that is sent: why it gets lost, or '', and by how many ms it is late."""


class Network:
    """Carries what is sent, and writes it down.

    latency_ms: how long each message takes, or an inclusive range that it is drawn from.
    loss: the probability that a message gets lost. TCP would send it again and, where that fails,
    break the connection, as a stream has no holes; here the first loss ends the connection.
    """

    def __init__(
        self,
        processes: Processes,
        journal: Journal,
        *,
        random: Random,
        latency_ms: int | tuple[int, int] = 1,
        loss: float = 0.0,
    ) -> None:
        low, high = latency_ms if isinstance(latency_ms, tuple) else (latency_ms, latency_ms)
        if not 0 <= low <= high:
            raise ConfigError(
                f"latency_ms is {latency_ms}: a time from 0 up, or a range (low, high), is allowed"
            )
        if not 0 <= loss <= 1:
            raise ConfigError(f"loss is {loss}: a probability from 0 to 1 is allowed")
        self.processes = processes
        self.loop = processes.loop
        self.journal = journal
        self.connections: dict[Connection, bool] = {}  # but those whose server knows their end
        self.correlation_ids: dict[str, Iterator[int]] = {}
        self._handlers: dict[Node, Handler] = {}
        self._random = random
        self._lowest_ms, self._latency_ms = low, high
        self._loss = loss
        self._meddler: Meddler | None = None
        self._uncertain = low < high or loss > 0  # whether a message may need _meet_chance
        self._cuts: list[tuple[str, str | None, int]] = []
        processes.on_kill.append(self._drop_node)

    def serve(self, node: Node, handler: Handler) -> None:
        """Let `handler` have each request that reaches the node. It must not wait."""
        self._handlers[node] = handler

    def connect(
        self, client: Node, server: Node, *, inbox: Inbox, on_close: OnClose | None = None
    ) -> Connection:
        """Connect a client to a server; its responses go to `inbox`.

        on_close: called when the client is told that the connection ended: after the latency, and
        not while the two are cut off. A server that is dead or serves nobody ends it at once.
        """
        handler = self._handlers.get(server, _nobody)
        connection = Connection(self, client, server=server, inbox=inbox, handler=handler)
        connection.on_close = on_close
        self.connections[connection] = True
        if handler is _nobody:
            connection.end(f"{server.name} is not there")
        return connection

    def cut_off(self, node: str, other: str | None = None, *, until_ms: int) -> None:
        """Let no message pass between two nodes, or a node and all others, until `until_ms`.

        What is sent meanwhile gets lost, and ends its connection; what was sent before arrives.
        Neither side is told before messages pass again: until then it can only give up by itself.
        (TCP would go on sending, so that a short cut is but a delay.)
        """
        if until_ms < self.loop.now_ms:
            raise self.loop.past(until_ms)
        self._cuts.append((node, other, until_ms))
        self._uncertain = True

    def let_meddle(self, meddler: Meddler) -> None:
        """Ask `meddler` about each message that is sent, before it goes on its way."""
        self._meddler = meddler
        self._uncertain = True

    def reach_ms(self, connection: Connection) -> int:
        """When one side can hear from the other."""
        return max(self.loop.now_ms, self._cut_until_ms(connection)) + self._latency_ms

    def carry(self, exchange: Exchange, back: int) -> None:
        """Send an exchange's request on its way, or, if `back`, its response."""
        loop = self.loop
        now_ms = loop.now_ms
        self.journal("respond" if back else "send", now_ms, exchange, None)
        due_ms = now_ms + self._latency_ms
        connection = exchange.connection
        reason = connection.ended
        if self._uncertain:
            reason, due_ms = self._meet_chance(exchange, due_ms)
        if reason:
            self.journal("dropped", now_ms, exchange, reason)
            connection.end("an earlier message got lost")
            return
        last_ms = connection.due_ms
        if due_ms < last_ms[back]:
            due_ms = last_ms[back]  # one direction of a connection keeps its order
        last_ms[back] = due_ms
        heappush(loop.queue, (due_ms, next(loop.sequence), exchange))

    def _meet_chance(self, exchange: Exchange, due_ms: int) -> tuple[str, int]:
        """Say why a message gets lost, or '', and when it is due."""
        # Both are drawn each time, so that a fault does not shift what is drawn for others.
        if self._lowest_ms < self._latency_ms:
            due_ms -= self._random.randint(0, self._latency_ms - self._lowest_ms)
        reason = exchange.connection.ended
        if self._loss and self._random.random() < self._loss:
            reason = reason or "lost"
        if self._meddler is not None:
            fault, late_ms = self._meddler(exchange)
            reason, due_ms = reason or fault, due_ms + late_ms
        if self._cut_until_ms(exchange.connection) > self.loop.now_ms:
            reason = "cut off"
        return reason, due_ms

    def _cut_until_ms(self, connection: Connection) -> int:
        ends = connection.client.name, connection.server.name
        self._cuts = [cut for cut in self._cuts if cut[2] > self.loop.now_ms]
        return max(
            (
                until_ms
                for node, other, until_ms in self._cuts
                if node in ends and (other is None or other in ends)
            ),
            default=0,
        )

    def _drop_node(self, node: Node) -> None:
        self._handlers.pop(node, None)
        for connection in list(self.connections):
            if node in (connection.client, connection.server):
                connection.crashed = True
                connection.end(f"{node.name} crashed")
            if node is connection.server:
                del self.connections[connection]


def _nobody(exchange: Exchange) -> None:
    """Handle nothing: a connection that was refused carries nothing."""
