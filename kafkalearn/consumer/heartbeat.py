"""When to send a heartbeat, and when a session or a poll is overdue: times, nothing else.

Source: document 004, "Consumer Heartbeat"; org.apache.kafka.clients.consumer.internals.Heartbeat
(1.0.2).
"""


class Heartbeat:
    """The times of one member. All are virtual ms.

    session_timeout_ms: without an answer for longer, the coordinator may be gone.
    heartbeat_interval_ms: between two heartbeats; retry_backoff_ms after one that failed.
    max_poll_interval_ms: without a poll for longer, the application counts as stuck.
    due_ms: when the next heartbeat is due.
    """

    __slots__ = (
        *("_last_poll_ms", "_last_received_ms", "_last_reset_ms", "_last_sent_ms", "due_ms"),
        *("heartbeat_interval_ms", "max_poll_interval_ms", "retry_backoff_ms"),
        "session_timeout_ms",
    )

    def __init__(
        self,
        *,
        session_timeout_ms: int,
        heartbeat_interval_ms: int,
        max_poll_interval_ms: int,
        retry_backoff_ms: int,
    ) -> None:
        self.session_timeout_ms = session_timeout_ms
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.max_poll_interval_ms = max_poll_interval_ms
        self.retry_backoff_ms = retry_backoff_ms
        self._last_poll_ms = self._last_received_ms = self._last_reset_ms = self._last_sent_ms = 0
        self.due_ms = heartbeat_interval_ms

    def poll(self, now_ms: int) -> None:
        """Note that the application polls, and so is not stuck."""
        self._last_poll_ms = now_ms

    def sent_heartbeat(self, now_ms: int) -> None:
        """Note that one was sent: the next is due an interval later."""
        self._last_sent_ms = now_ms
        self._set_due(self.heartbeat_interval_ms)

    def receive_heartbeat(self, now_ms: int) -> None:
        """Note that the coordinator answered: the session goes on."""
        self._last_received_ms = now_ms

    def fail_heartbeat(self) -> None:
        """Note that one failed: the next is due after retry_backoff_ms."""
        self._set_due(self.retry_backoff_ms)

    def reset_timeouts(self, now_ms: int) -> None:
        """Begin anew, as after a join."""
        self.reset_session_timeout(now_ms)
        self._last_poll_ms = now_ms

    def reset_session_timeout(self, now_ms: int) -> None:
        """Begin the session anew."""
        self._last_reset_ms = now_ms
        self._set_due(self.heartbeat_interval_ms)

    def should_heartbeat(self, now_ms: int) -> bool:
        """Whether one is due."""
        return now_ms >= self.due_ms

    def time_to_next_heartbeat(self, now_ms: int) -> int:
        """In how many ms the next is due."""
        return max(0, self.due_ms - now_ms)

    def session_timeout_expired(self, now_ms: int) -> bool:
        """Whether no heartbeat was answered for longer than the session timeout."""
        return now_ms > self._session_ends_ms()

    def poll_timeout_expired(self, now_ms: int) -> bool:
        """Whether nobody polled for longer than max.poll.interval.ms."""
        return now_ms - self._last_poll_ms > self.max_poll_interval_ms

    def time_to_next_expiry(self, now_ms: int) -> int:
        """In how many ms, without news, the session or the poll is overdue."""
        poll_ends_ms = self._last_poll_ms + self.max_poll_interval_ms
        return max(0, min(self._session_ends_ms(), poll_ends_ms) + 1 - now_ms)

    def _set_due(self, delay_ms: int) -> None:
        self.due_ms = max(self._last_sent_ms, self._last_reset_ms) + delay_ms

    def _session_ends_ms(self) -> int:
        return max(self._last_reset_ms, self._last_received_ms) + self.session_timeout_ms
