"""The process that keeps a member alive while the application is busy with its records.

It sleeps until a heartbeat or a deadline is due. While a request to the coordinator is without an
answer, it also looks every retry.backoff.ms, as the application may be too busy to poll.

Source: document 004; AbstractCoordinator.HeartbeatThread (1.0.2). Kafka's looks every
retry.backoff.ms always, so that it also asks for metadata when the application is busy for long.
"""

from typing import TYPE_CHECKING

from kafkalearn.engine.signals import Signal
from kafkalearn.errors import ApiError, FencedInstanceIdError, RebalanceInProgressError

if TYPE_CHECKING:
    from kafkalearn.consumer.abstract_coordinator import AbstractCoordinator


class HeartbeatThread:
    """The heartbeat of one member; disabled until it has joined.

    failure: what ended it; None while nothing did.
    """

    def __init__(self, coordinator: "AbstractCoordinator") -> None:
        self._coordinator = coordinator
        context = coordinator.context
        self._changed = Signal(context.processes, "the next heartbeat")
        self._enabled = False
        self._closed = False
        self.failure: Exception | None = None
        context.processes.spawn(self._run, node=context.node, name="heartbeat")

    def enable(self) -> None:
        """Beat from now on."""
        self._enabled = True
        self._coordinator.heartbeat.reset_timeouts(self._coordinator.context.now_ms)
        self.wake()

    def disable(self) -> None:
        """Beat no more, until it is enabled again."""
        self._enabled = False

    def close(self) -> None:
        """End it for good; what it sent before is still answered."""
        self._closed = True
        self.wake()

    def wake(self) -> None:
        """Let it look at once."""
        self._changed.fire()

    def _run(self) -> None:
        try:
            while not self._closed:
                if self._enabled and not self._coordinator.state.has_heartbeats:
                    self.disable()
                elif not self._enabled:
                    self._changed.wait()
                else:
                    wait_ms = self._beat_once()
                    if wait_ms:
                        self._changed.wait(wait_ms)
        except ApiError as error:
            self.failure = error

    def _beat_once(self) -> int:
        """Do what is due; give the ms until something may be."""
        coordinator, heartbeat = self._coordinator, self._coordinator.heartbeat
        backoff_ms = coordinator.config.retry_backoff_ms
        coordinator.client.poll_no_wakeup()
        now_ms = coordinator.context.now_ms
        if self.failure is not None:
            raise self.failure
        if coordinator.coordinator_unknown():
            looking = coordinator.find_coordinator_future is not None
            return backoff_ms if looking or coordinator.lookup_coordinator().failed() else 0
        if heartbeat.session_timeout_expired(now_ms):
            coordinator.mark_coordinator_unknown()
            return 0
        if heartbeat.poll_timeout_expired(now_ms):
            coordinator.maybe_leave_group("max.poll.interval.ms passed without a poll")
            return 0
        if heartbeat.should_heartbeat(now_ms):
            heartbeat.sent_heartbeat(now_ms)
            coordinator.send_heartbeat_request().add_listener(self._on_success, self._on_failure)
            coordinator.client.poll_no_wakeup()
        due_ms = min(
            heartbeat.time_to_next_heartbeat(now_ms), heartbeat.time_to_next_expiry(now_ms)
        )
        return min(due_ms, backoff_ms) if coordinator.has_pending_requests() else due_ms

    def _on_success(self, _: None) -> None:
        self._coordinator.heartbeat.receive_heartbeat(self._coordinator.context.now_ms)

    def _on_failure(self, error: Exception) -> None:
        heartbeat = self._coordinator.heartbeat
        if isinstance(error, RebalanceInProgressError):
            # It goes on: without heartbeats the session could end before the application rejoins.
            heartbeat.receive_heartbeat(self._coordinator.context.now_ms)
            return
        if isinstance(error, FencedInstanceIdError):
            self.failure = error
        heartbeat.fail_heartbeat(self._coordinator.context.now_ms)
        self.wake()
