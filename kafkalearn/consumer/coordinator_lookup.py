"""Finding the group's coordinator, and losing it.

Source: document 003; org.apache.kafka.clients.consumer.internals.AbstractCoordinator (1.0.2).
"""

from collections.abc import Callable
from typing import Any, TypeVar

from kafkalearn.clients.exponential_backoff import ExponentialBackoff
from kafkalearn.clients.network_client import NEVER_MS, coordinator_connection
from kafkalearn.clients.request_future import OnFailure, RequestFuture
from kafkalearn.consumer.consumer_parts import ConsumerParts
from kafkalearn.consumer.heartbeat import Heartbeat
from kafkalearn.errors import DisconnectError, Errors
from kafkalearn.protocol.group import FindCoordinatorRequest, FindCoordinatorResponse
from kafkalearn.protocol.message import Request, Response

T = TypeVar("T")
Handle = Callable[[Any, RequestFuture[T]], object]


class CoordinatorLookup:
    """The way to the coordinator of one group.

    coordinator: the name of the connection to it; None while it is unknown.
    retry_backoff: how long to wait after failures in a row.
    find_coordinator_future: the lookup on its way, if there is one.
    """

    def __init__(self, parts: ConsumerParts) -> None:
        self.context = parts.context
        self.client = parts.client
        self.config = config = parts.config
        self.group_id = config.group_id
        self.retry_backoff = ExponentialBackoff.of(config, parts.context.random)
        self.heartbeat = Heartbeat(
            session_timeout_ms=config.session_timeout_ms,
            heartbeat_interval_ms=config.heartbeat_interval_ms,
            max_poll_interval_ms=config.max_poll_interval_ms,
            retry_backoff=self.retry_backoff,
            has_timers=parts.context.profile.heartbeat_timers,
        )
        self.coordinator: str | None = None
        self.find_coordinator_future: RequestFuture[None] | None = None

    def ensure_coordinator_ready(self, timeout_ms: int = NEVER_MS) -> bool:
        """Wait until the coordinator is known and connected; False if it is not in time."""
        deadline_ms, attempts = self.context.now_ms + timeout_ms, 0
        while self.coordinator_unknown():
            future = self.lookup_coordinator()
            self.client.poll_future(future, deadline_ms - self.context.now_ms)
            if future.failed():
                if not future.is_retriable():
                    raise future.exception()
                if self.context.now_ms >= deadline_ms:
                    break
                if self.config.retry_backoff_max_ms is not None:
                    self.sleep_backoff(deadline_ms, attempts)
                    attempts += 1
                self.client.await_metadata_update(deadline_ms - self.context.now_ms)
            elif self.coordinator is not None and self.client.connection_failed(self.coordinator):
                self.mark_coordinator_unknown()
                self.sleep_backoff(deadline_ms, attempts)
                attempts += 1
            if self.context.now_ms >= deadline_ms:
                break
        return not self.coordinator_unknown()

    def lookup_coordinator(self) -> RequestFuture[None]:
        """Ask any broker who coordinates the group, unless that is being asked already."""
        if self.find_coordinator_future is None:
            node = self.client.least_loaded_node()
            if node is None:
                return RequestFuture.no_brokers_available()
            self.find_coordinator_future = self._send_find_coordinator_request(node)
        return self.find_coordinator_future

    def coordinator_unknown(self) -> bool:
        """Whether nobody knows the coordinator, or its connection ended."""
        return self.check_and_get_coordinator() is None

    def check_and_get_coordinator(self) -> str | None:
        """Name the connection to the coordinator; None if it is unknown."""
        coordinator = self.coordinator
        if coordinator is not None and self.client.connection_failed(coordinator):
            self.mark_coordinator_unknown(is_disconnected=True)
            return None
        return coordinator

    def mark_coordinator_unknown(self, *, is_disconnected: bool = False) -> None:
        """Forget the coordinator; what it has not answered fails (0.10.1: coordinatorDead)."""
        if self.coordinator is not None:
            old, self.coordinator = self.coordinator, None
            if not is_disconnected:
                self.client.disconnect_async(old)

    def has_pending_requests(self) -> bool:
        """Whether the coordinator still owes an answer."""
        return (
            self.coordinator is not None and self.client.pending_request_count(self.coordinator) > 0
        )

    def sleep_backoff(self, deadline_ms: int, attempts: int | None = None) -> None:
        """Let retry.backoff.ms pass, but not more than there is until the deadline.

        attempts: how often it failed before, where the wait grows with it (3.7, KIP-580).
        """
        wait_ms = self.config.retry_backoff_ms
        if attempts is not None:
            wait_ms = self.retry_backoff.backoff(attempts)
        left_ms = max(0, deadline_ms - self.context.now_ms)
        self.context.processes.sleep(min(wait_ms, left_ms))

    def send_to_coordinator(
        self,
        request: Request,
        handle: Handle[T],
        *,
        on_failure: OnFailure | None = None,
        timeout_ms: int | None = None,
    ) -> RequestFuture[T]:
        """Send a request; `handle` completes what is given back (Java: CoordinatorResponseHandler).

        on_failure: called first if no answer came. Fails at once if nobody knows whom to ask.
        """
        coordinator = self.check_and_get_coordinator()
        if coordinator is None:
            return RequestFuture.coordinator_not_available()
        sent = self.client.send(coordinator, request, timeout_ms=timeout_ms)
        sent.add_listener(None, self._on_disconnect)
        sent.add_listener(None, on_failure)
        return sent.compose(handle)

    def _on_disconnect(self, error: Exception) -> None:
        if isinstance(error, DisconnectError):
            self.mark_coordinator_unknown(is_disconnected=True)

    def _send_find_coordinator_request(self, node: str) -> RequestFuture[None]:
        found: RequestFuture[None] = RequestFuture()

        def on_success(response: Response) -> None:
            assert isinstance(response, FindCoordinatorResponse)
            self.find_coordinator_future = None
            if response.error_code is Errors.NONE:
                self.coordinator = coordinator_connection(response.node)
                self.client.try_connect(self.coordinator)
                if self.context.profile.heartbeat_timers:
                    self.heartbeat.reset_session_timeout(self.context.now_ms)
                else:
                    self.heartbeat.reset_timeouts(self.context.now_ms)
                found.complete(None)
            else:
                found.raise_error(response.error_code.exception())

        def on_failure(error: Exception) -> None:
            self.find_coordinator_future = None
            found.raise_error(error)

        request = FindCoordinatorRequest(key=self.group_id)
        self.client.send(node, request).add_listener(on_success, on_failure)
        return found
