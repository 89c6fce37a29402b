"""The consumer's way to the brokers: requests that wait until they can be sent, and their futures.

Both processes of a consumer, the application's and the heartbeat's, use the same one: a response is
handled by whichever polls first.

Source: document 004; org.apache.kafka.clients.consumer.internals.ConsumerNetworkClient (1.0.2).
"""

from collections import deque
from typing import Any, Protocol

from kafkalearn.clients.client_context import ClientContext
from kafkalearn.clients.metadata import Metadata
from kafkalearn.clients.network_client import NEVER_MS, NetworkClient
from kafkalearn.clients.request_future import RequestFuture
from kafkalearn.errors import DisconnectError, KafkaTimeoutError, WakeupError
from kafkalearn.protocol.message import Request, Response

MAX_POLL_TIMEOUT_MS = 5000


class PollCondition(Protocol):
    """Asked before a poll waits, whether it still has to."""

    def should_block(self) -> bool:
        """Whether what is waited for is still missing."""


class _Pending(RequestFuture[Response]):
    """The future of a request, from when it is queued (Java: RequestFutureCompletionHandler).

    completed: where it waits, once there is a response or an error, until a poll says so.
    """

    def __init__(
        self,
        node: str,
        request: Request,
        *,
        created_ms: int,
        timeout_ms: int | None,
        completed: "deque[_Pending]",
    ) -> None:
        super().__init__()
        self.node = node
        self.request = request
        self.created_ms = created_ms
        self.timeout_ms = timeout_ms
        self._completed = completed
        self._response: Response | None = None
        self._failure: Exception | None = None

    def on_complete(self, response: Response | None, error: Exception | None = None) -> None:
        """Take the response, or what kept it from being sent; neither if the connection ended."""
        self._response, self._failure = response, error
        self._completed.append(self)

    def fire_completion(self) -> None:
        """Say how it ended."""
        if self._response is not None:
            self.complete(self._response)
        else:
            why = f"the connection to {self.node} ended before the answer came"
            self.raise_error(self._failure or DisconnectError(why))


class ConsumerNetworkClient:
    """Sends when polled, and completes futures when polled.

    Times to wait are virtual ms; NEVER_MS waits for ever.
    least_loaded_node, has_ready_nodes, connection_failed, connection_delay: see NetworkClient.
    """

    def __init__(
        self,
        context: ClientContext,
        client: NetworkClient,
        *,
        metadata: Metadata,
        retry_backoff_ms: int,
        request_timeout_ms: int,
    ) -> None:
        self._context = context
        self._client = client
        self._metadata = metadata
        self._retry_backoff_ms = retry_backoff_ms
        self._unsent_expiry_ms = request_timeout_ms
        self._unsent: dict[str, list[_Pending]] = {}
        self._pending_completion: deque[_Pending] = deque()
        self.least_loaded_node = client.least_loaded_node
        self.has_ready_nodes = client.has_ready_nodes
        self.connection_failed = client.connection_failed
        self.connection_delay = client.connection_delay
        self._wakeup = False
        self._wakeup_disabled = False

    def send(
        self, node: str, request: Request, *, timeout_ms: int | None = None
    ) -> RequestFuture[Response]:
        """Queue a request for a connection; a poll sends it."""
        now_ms, completed = self._context.loop.now_ms, self._pending_completion
        unsent = _Pending(
            node, request, created_ms=now_ms, timeout_ms=timeout_ms, completed=completed
        )
        self._unsent.setdefault(node, []).append(unsent)
        self._client.wakeup()
        return unsent

    def try_connect(self, node: str) -> None:
        """Connect, if that is allowed now."""
        self._client.ready(node)

    def disconnect_async(self, node: str) -> None:
        """Let all requests on a connection fail, when somebody polls."""
        self._fail_unsent(node, DisconnectError(f"the connection to {node} was given up"))
        self._client.disconnect(node)
        self._client.wakeup()

    def await_metadata_update(self, timeout_ms: int = NEVER_MS) -> bool:
        """Ask for metadata and wait; False if none came in time."""
        deadline_ms = self._context.now_ms + timeout_ms
        version = self._metadata.request_update()
        while True:
            self.poll(deadline_ms - self._context.now_ms)
            if self._metadata.version != version or self._context.now_ms >= deadline_ms:
                return self._metadata.version > version

    def ensure_fresh_metadata(self, timeout_ms: int = NEVER_MS) -> bool:
        """Wait for metadata if an update was asked for or is due; False if none came in time."""
        metadata = self._metadata
        if metadata.update_requested() or not metadata.time_to_next_update(self._context.now_ms):
            return self.await_metadata_update(timeout_ms)
        return True

    def wakeup(self) -> None:
        """Let the poll that waits, or the next one, raise a WakeupError."""
        self._wakeup = True
        self._client.wakeup()

    def maybe_trigger_wakeup(self) -> None:
        """WakeupError if wakeup() was called since the last one, and that still counts."""
        if self._wakeup and not self._wakeup_disabled:
            self._wakeup = False
            raise WakeupError("wakeup() was called")

    def disable_wakeups(self) -> None:
        """Let no WakeupError be raised any more: the consumer closes."""
        self._wakeup_disabled = True

    def poll_future(self, future: RequestFuture[Any], timeout_ms: int = NEVER_MS) -> bool:
        """Poll until a future is done (Java: poll(future)); False if it is not, in time."""
        deadline_ms = self._context.now_ms + timeout_ms
        while not future.is_done:
            left_ms = deadline_ms - self._context.now_ms
            if left_ms < 0:
                break
            self.poll(left_ms, future)
            if left_ms == 0:
                break
        return future.is_done

    def poll(
        self,
        timeout_ms: int,
        condition: PollCondition | None = None,
        *,
        disable_wakeup: bool = False,
    ) -> None:
        """Send what can be sent, wait for something to happen, and complete what is done.

        It waits for one thing to happen, not for `condition`, which only says whether to wait.
        """
        if self._pending_completion:
            self._fire_pending_completed_requests()
        if self._unsent:
            self._try_send()
        may_wake = not (disable_wakeup or self._wakeup_disabled)
        may_wait = not (self._pending_completion or (self._wakeup and may_wake))
        if may_wait and (condition is None or condition.should_block()):
            if not self._client.in_flight_count:
                timeout_ms = min(timeout_ms, self._retry_backoff_ms)
            self._client.poll(min(timeout_ms, MAX_POLL_TIMEOUT_MS))
        else:
            self._client.poll(0)
        if self._unsent:
            self._check_disconnects()
        if may_wake:
            self.maybe_trigger_wakeup()
        if self._unsent:
            self._try_send()
            self._fail_expired_requests()
        if self._pending_completion:
            self._fire_pending_completed_requests()

    def poll_no_wakeup(self) -> None:
        """Poll without waiting, and leave a wakeup() to the next poll."""
        self.poll(0, disable_wakeup=True)

    def pending_request_count(self, node: str | None = None) -> int:
        """Count the requests without an answer, sent or not: of one connection, or of all."""
        in_flight = self._client.in_flight_request_count(node)
        if not self._unsent:
            return in_flight
        queues = self._unsent.values() if node is None else [self._unsent.get(node, ())]
        return in_flight + sum(map(len, queues))

    def await_pending_requests(self, node: str, timeout_ms: int) -> bool:
        """Wait until a connection has no request left; False if it has, in time."""
        deadline_ms = self._context.now_ms + timeout_ms
        while self.pending_request_count(node) and self._context.now_ms < deadline_ms:
            self.poll(deadline_ms - self._context.now_ms)
        return not self.pending_request_count(node)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _try_send(self) -> None:
        for node, waiting in list(self._unsent.items()):
            while waiting and self._client.ready(node):
                each = waiting.pop(0)
                self._client.send(
                    node, each.request, on_complete=each.on_complete, timeout_ms=each.timeout_ms
                )
            if not waiting:
                del self._unsent[node]

    def _fire_pending_completed_requests(self) -> None:
        pending = self._pending_completion
        while pending:
            pending.popleft().fire_completion()
        self._client.wakeup()  # another process may wait for just one of these

    def _check_disconnects(self) -> None:
        for node in list(self._unsent):
            if self._client.connection_failed(node):
                self._fail_unsent(node, DisconnectError(f"there is no connection to {node}"))

    def _fail_unsent(self, node: str, error: Exception) -> None:
        for unsent in self._unsent.pop(node, ()):
            unsent.on_complete(None, error)

    def _fail_expired_requests(self) -> None:
        oldest_ms = self._context.now_ms - self._unsent_expiry_ms
        for waiting in self._unsent.values():
            while waiting and waiting[0].created_ms < oldest_ms:
                unsent = waiting.pop(0)
                why = f"{unsent.request.api} was not sent within {self._unsent_expiry_ms:,} ms"
                unsent.on_complete(None, KafkaTimeoutError(why))
