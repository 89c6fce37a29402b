"""When to send a heartbeat, and when a session or a poll is overdue: times, nothing else.

Source: document 004, "Consumer Heartbeat"; org.apache.kafka.clients.consumer.internals.Heartbeat
(1.0.2; 2.1.0 where they are timers).
"""

from kafkalearn.clients.exponential_backoff import ExponentialBackoff


class Heartbeat:
    """The times of one member. All are virtual ms.

    session_timeout_ms: without an answer for so long, the coordinator may be gone.
    heartbeat_interval_ms: between two heartbeats; retry_backoff says it of those that failed.
    max_poll_interval_ms: without a poll for so long, the application counts as stuck.
    due_ms: when the next heartbeat is due.
    """

    __slots__ = (
        *("_failures", "_late_ms", "_poll_ends_ms", "_session_ends_ms", "_waits_since_ms"),
        *("due_ms", "heartbeat_interval_ms", "max_poll_interval_ms", "retry_backoff"),
        "session_timeout_ms",
    )

    def __init__(
        self,
        *,
        session_timeout_ms: int,
        heartbeat_interval_ms: int,
        max_poll_interval_ms: int,
        retry_backoff: ExponentialBackoff,
        has_timers: bool,
    ) -> None:
        self.session_timeout_ms = session_timeout_ms
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.max_poll_interval_ms = max_poll_interval_ms
        self.retry_backoff = retry_backoff
        self._failures = 0
        # A timer is over in the very ms; before, what is overdue is so from the next ms on.
        self._late_ms = 0 if has_timers else 1
        self.reset_timeouts(0)

    def poll(self, now_ms: int) -> None:
        """Note that the application polls, and so is not stuck."""
        self._poll_ends_ms = now_ms + self.max_poll_interval_ms

    def sent_heartbeat(self, now_ms: int) -> None:
        """Note that one was sent: the next is due an interval later."""
        self._waits_since_ms = now_ms
        self.due_ms = now_ms + self.heartbeat_interval_ms

    def receive_heartbeat(self, now_ms: int) -> None:
        """Note that the coordinator answered: the session goes on."""
        self._failures = 0
        self._session_ends_ms = now_ms + self.session_timeout_ms

    def fail_heartbeat(self, now_ms: int) -> None:
        """Note that one failed: the next is due after the back-off, at first since it was sent.

        With timers (2.1) since now.
        """
        since_ms = self._waits_since_ms if self._late_ms else now_ms
        self.due_ms = since_ms + self.retry_backoff.backoff(self._failures)
        self._failures += 1

    def reset_timeouts(self, now_ms: int) -> None:
        """Begin anew, as after a join."""
        self.sent_heartbeat(now_ms)
        self.reset_session_timeout(now_ms)
        self.poll(now_ms)

    def reset_session_timeout(self, now_ms: int) -> None:
        """Begin the session anew."""
        self._session_ends_ms = now_ms + self.session_timeout_ms

    def should_heartbeat(self, now_ms: int) -> bool:
        """Whether one is due."""
        return now_ms >= self.due_ms

    def time_to_next_heartbeat(self, now_ms: int) -> int:
        """In how many ms the next is due."""
        return max(0, self.due_ms - now_ms)

    def session_timeout_expired(self, now_ms: int) -> bool:
        """Whether no heartbeat was answered during the session timeout."""
        return now_ms >= self._session_ends_ms + self._late_ms

    def poll_timeout_expired(self, now_ms: int) -> bool:
        """Whether nobody polled during max.poll.interval.ms."""
        return now_ms >= self._poll_ends_ms + self._late_ms

    def time_to_next_expiry(self, now_ms: int) -> int:
        """In how many ms, without news, the session or the poll is overdue."""
        ends_ms = min(self._session_ends_ms, self._poll_ends_ms)
        return max(0, ends_ms + self._late_ms - now_ms)
