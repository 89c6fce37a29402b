"""A client's connections: who is connected, what is in flight, what came back, what timed out.

A connection is named by its broker, with CONNECTION_MARK and a purpose where a client has more than
one to it, as for the coordinator: a fetch that waits must not hold up a heartbeat.

Source: org.apache.kafka.clients.NetworkClient, InFlightRequests (1.0.2).
Differs from Kafka: a connection is open at once, and is known to be good with its first response;
api versions are not asked for.
"""

import sys

from kafkalearn.clients.client_context import ClientContext
from kafkalearn.clients.cluster_connection_states import (
    ClusterConnectionStates,
    ConnectionState,
    OnComplete,
)
from kafkalearn.clients.metadata import Metadata
from kafkalearn.engine.connection import Connection, Inbox
from kafkalearn.protocol.message import Request, Response

NEVER_MS = sys.maxsize
CONNECTION_MARK = "/"


def coordinator_connection(broker: str) -> str:
    """Name the connection to a broker that is used for the group alone."""
    return f"{broker}{CONNECTION_MARK}coordinator"


class NetworkClient:
    """Sends requests and, when polled, completes them.

    request_timeout_ms: after so long without an answer a connection counts as broken.
    max_in_flight: how many unanswered requests a connection may have.
    in_flight_count: of the requests without an answer yet.
    timed_out: whether who is told of no answer hears it because one on its connection was overdue.
    wakeup: lets the poll that waits now come back; it is not remembered for a later one.
    connection_failed, has_ready_nodes: see ClusterConnectionStates.
    """

    def __init__(
        self,
        context: ClientContext,
        metadata: Metadata,
        *,
        request_timeout_ms: int,
        reconnect_backoff_ms: tuple[int, int],
        max_in_flight: int = 100,
    ) -> None:
        self._context = context
        self._metadata = metadata
        self._request_timeout_ms = request_timeout_ms
        self._backoff_ms, _ = reconnect_backoff_ms
        self._connections = ClusterConnectionStates(reconnect_backoff_ms, context.random)
        self._max_in_flight = max_in_flight
        self._inbox = Inbox(context.processes)
        self.wakeup = self._inbox.arrived.fire
        self.connection_failed = self._connections.connection_failed
        self.has_ready_nodes = self._connections.has_ready_nodes
        self._states = self._connections.states
        self._by_connection: dict[Connection, ConnectionState] = {}
        self._closed: list[Connection] = []
        self._aborted: list[OnComplete] = []
        self._expiry_ms = NEVER_MS  # before this no request can have timed out
        self.in_flight_count = 0
        self.timed_out = False
        self._metadata_fetch_in_progress = False
        self._is_closed = False
        context.on_crash(self._inbox.arrived.fire)

    # Connections.

    def ready(self, name: str) -> bool:
        """Whether a request can be sent on a connection now; it is made, if that is allowed."""
        state = self._states.get(name)
        if state is None or state.connection is None:
            if self.connection_delay(name):
                return False
            state = self._connect(name)
        return self._can_send(state)

    def connection_delay(self, name: str) -> int:
        """In how many ms a connection may be used or tried again; 0 if now."""
        return self._connections.connection_delay(name, self._context.now_ms)

    def disconnect(self, name: str) -> None:
        """Close a connection; what is in flight on it ends without an answer at the next poll."""
        state = self._states.get(name)
        if state is not None and state.connection is not None:
            connection = state.connection
            connection.close()
            self._aborted += self._drop(connection)

    def least_loaded_node(self) -> str | None:
        """Name the broker to ask what any can answer; None if none may be tried now."""
        brokers = self._metadata.brokers
        first = self._context.random.randrange(len(brokers))
        best, least = None, NEVER_MS
        for index in range(len(brokers)):
            name = brokers[(first + index) % len(brokers)]
            in_flight = self.in_flight_request_count(name)
            if not in_flight and name in self._states and self._can_send(self._states[name]):
                return name
            if in_flight < least and not self.connection_delay(name):
                best, least = name, in_flight
        return best

    def close(self) -> None:
        """Close all connections. What is in flight is never answered, and nobody may poll."""
        self._is_closed = True
        for state in self._states.values():
            if state.connection is not None:
                state.connection.close()
        self._by_connection.clear()

    # Requests.

    def send(
        self,
        name: str,
        request: Request,
        *,
        on_complete: OnComplete,
        timeout_ms: int | None = None,
    ) -> None:
        """Send on a connection that is ready. `on_complete` is called in a later poll."""
        state = self._states[name]
        assert state.connection is not None
        wait_ms = self._request_timeout_ms if timeout_ms is None else timeout_ms
        due_ms = self._context.loop.now_ms + wait_ms
        state.in_flight[state.connection.send(request)] = due_ms, on_complete
        self.in_flight_count += 1
        if due_ms < self._expiry_ms:
            self._expiry_ms = due_ms

    def send_unanswered(self, name: str, request: Request) -> None:
        """Send a request that no broker answers, as a Produce with acks 0."""
        connection = self._states[name].connection
        assert connection is not None
        connection.send(request)

    def in_flight_request_count(self, name: str | None = None) -> int:
        """Count the requests without an answer yet: of one connection, or of all."""
        if name is None:
            return self.in_flight_count
        state = self._states.get(name)
        return len(state.in_flight) if state is not None else 0

    def poll(self, timeout_ms: int) -> None:
        """Wait for something to come back, and complete what did; also what ended or timed out."""
        self._context.check_usable("client", is_closed=self._is_closed)
        inbox, loop = self._inbox, self._context.loop
        if self._closed:  # while nobody polled
            self._handle_disconnections()
            timeout_ms = 0
        now_ms, due_ms = loop.now_ms, self._metadata.due_ms
        if now_ms >= due_ms:
            timeout_ms = min(timeout_ms, self._maybe_update_metadata())
            due_ms = self._metadata.due_ms
        if timeout_ms > 0 and not (inbox.exchanges or self._closed or self._aborted):
            until_ms = min(now_ms + timeout_ms, self._expiry_ms)
            if now_ms < due_ms < until_ms:
                until_ms = due_ms
            if until_ms > now_ms:
                inbox.arrived.wait(until_ms - now_ms if until_ms < NEVER_MS // 2 else None)
                now_ms = loop.now_ms
        if self._aborted:
            aborted, self._aborted = self._aborted, []
            for on_complete in aborted:
                on_complete(None)
        if inbox.exchanges:
            for exchange in inbox.take():
                state = self._by_connection.get(exchange.connection)
                if state is not None and exchange in state.in_flight:
                    _, told = state.in_flight.pop(exchange)
                    self.in_flight_count -= 1
                    state.failures = 0
                    told(exchange.response)
        if self._closed:
            self._handle_disconnections()
        if now_ms >= self._expiry_ms:
            self._handle_timed_out_requests(now_ms)

    # Inside.

    def _can_send(self, state: ConnectionState) -> bool:
        is_open = state.connection is not None and state.connection.is_open
        return is_open and not state.refused and len(state.in_flight) < self._max_in_flight

    def _connect(self, name: str) -> ConnectionState:
        context = self._context
        state = self._states.setdefault(name, ConnectionState())
        server = context.find_node(name.partition(CONNECTION_MARK)[0])
        connection = context.network.connect(
            context.node, server, inbox=self._inbox, on_close=self._on_close
        )
        state.connection = connection
        state.refused = bool(connection.ended)
        self._by_connection[connection] = state
        return state

    def _on_close(self, connection: Connection) -> None:
        """Hear from the network that a connection ended; a poll deals with it."""
        self._context.on_close(connection)
        self._closed.append(connection)

    def _handle_disconnections(self) -> None:
        closed, self._closed = self._closed, []
        ended = [told for connection in closed for told in self._drop(connection)]
        self._metadata.request_update()
        for on_complete in ended:
            on_complete(None)

    def _handle_timed_out_requests(self, now_ms: int) -> None:
        """Break each connection on which an answer is overdue."""
        for connection in self._connections.overdue(now_ms):
            connection.close()
            self._closed.append(connection)
        self.timed_out = True
        if self._closed:
            self._handle_disconnections()
        self.timed_out = False
        self._expiry_ms = self._connections.next_expiry_ms(NEVER_MS)

    def _drop(self, connection: Connection) -> list[OnComplete]:
        """Forget a connection that ended; give whom to tell."""
        if connection not in self._by_connection:
            return []
        state = self._by_connection.pop(connection)
        self.in_flight_count -= len(state.in_flight)
        return self._connections.disconnected(state, self._context.now_ms)

    def _maybe_update_metadata(self) -> int:
        """Ask for metadata, which is due; give the ms until it will be time to look again."""
        if self._metadata_fetch_in_progress:
            return self._request_timeout_ms
        node = self.least_loaded_node()
        if node is None or not self.ready(node):
            return self._backoff_ms
        self._metadata_fetch_in_progress = True
        self.send(node, self._metadata.new_request(), on_complete=self._take_metadata)
        return self._request_timeout_ms

    def _take_metadata(self, response: Response | None) -> None:
        self._metadata_fetch_in_progress = False
        self._metadata.handle_response(response, self._context.now_ms)
