"""The consumer's way to the brokers: requests that wait until they can be sent, and their futures.

Both processes of a consumer, the application's and the heartbeat's, use the same one: a response is
handled by whichever polls first.

Source: document 004; org.apache.kafka.clients.consumer.internals.ConsumerNetworkClient (1.0.2).
"""

from collections import deque
from collections.abc import Callable
from functools import partial
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


class _Unsent:
    """A request that was not sent yet."""

    __slots__ = ("created_ms", "future", "request", "timeout_ms")

    def __init__(self, request: Request, created_ms: int, *, timeout_ms: int | None) -> None:
        self.request = request
        self.created_ms = created_ms
        self.timeout_ms = timeout_ms
        self.future: RequestFuture[Response] = RequestFuture()


class ConsumerNetworkClient:
    """Sends when polled, and completes futures when polled.

    Times to wait are virtual ms; NEVER_MS waits for ever.
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
        self._unsent: dict[str, deque[_Unsent]] = {}
        self._pending_completion: deque[Callable[[], None]] = deque()
        self._wakeup = False
        self._wakeup_disabled = False

    def send(
        self, node: str, request: Request, *, timeout_ms: int | None = None
    ) -> RequestFuture[Response]:
        """Queue a request for a connection; a poll sends it."""
        unsent = _Unsent(request, self._context.now_ms, timeout_ms=timeout_ms)
        self._unsent.setdefault(node, deque()).append(unsent)
        self._client.wakeup()
        return unsent.future

    def least_loaded_node(self) -> str | None:
        """See NetworkClient."""
        return self._client.least_loaded_node()

    def has_ready_nodes(self) -> bool:
        """See NetworkClient."""
        return self._client.has_ready_nodes()

    def connection_failed(self, node: str) -> bool:
        """See NetworkClient."""
        return self._client.connection_failed(node)

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
            if not self._client.in_flight_request_count():
                timeout_ms = min(timeout_ms, self._retry_backoff_ms)
            self._client.poll(min(timeout_ms, MAX_POLL_TIMEOUT_MS))
        else:
            self._client.poll(0)
        if self._unsent:
            self._check_disconnects()
        if self._wakeup and may_wake:
            self._wakeup = False
            raise WakeupError("wakeup() was called")
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
                unsent = waiting.popleft()
                self._client.send(
                    node,
                    unsent.request,
                    on_complete=partial(self._on_complete, unsent.future, node=node),
                    timeout_ms=unsent.timeout_ms,
                )
            if not waiting:
                self._unsent.pop(node, None)

    def _on_complete(
        self, future: RequestFuture[Response], response: Response | None, *, node: str
    ) -> None:
        if response is None:
            error = DisconnectError(f"the connection to {node} ended before the answer came")
            self._pending_completion.append(partial(future.raise_error, error))
        else:
            self._pending_completion.append(partial(future.complete, response))

    def _fire_pending_completed_requests(self) -> None:
        pending = self._pending_completion
        while pending:
            pending.popleft()()
        self._client.wakeup()  # another process may wait for just one of these

    def _check_disconnects(self) -> None:
        for node in list(self._unsent):
            if self._client.connection_failed(node):
                self._fail_unsent(node, DisconnectError(f"there is no connection to {node}"))

    def _fail_unsent(self, node: str, error: Exception) -> None:
        for unsent in self._unsent.pop(node, ()):
            self._pending_completion.append(partial(unsent.future.raise_error, error))

    def _fail_expired_requests(self) -> None:
        oldest_ms = self._context.now_ms - self._unsent_expiry_ms
        for waiting in self._unsent.values():
            while waiting and waiting[0].created_ms < oldest_ms:
                unsent = waiting.popleft()
                error = KafkaTimeoutError(
                    f"{unsent.request.api} was not sent within {self._unsent_expiry_ms:,} ms"
                )
                self._pending_completion.append(partial(unsent.future.raise_error, error))
