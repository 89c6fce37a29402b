"""Committing automatically: now and then, and before partitions are given up.

Source: documents 000 and 002; org.apache.kafka.clients.consumer.internals.ConsumerCoordinator:
maybeAutoCommitOffsetsAsync, maybeAutoCommitOffsetsSync (1.0.2), onJoinPrepare (3.2.3).
"""

from kafkalearn.clients.request_future import RequestFuture
from kafkalearn.consumer.consumer_parts import ConsumerParts
from kafkalearn.consumer.offset_commits import OffsetCommits
from kafkalearn.consumer.offset_requests import Offsets
from kafkalearn.errors import KafkaError, RetriableError, WakeupError


class AutoCommits(OffsetCommits):
    """Commits what polls have returned, where enable.auto.commit is set.

    next_auto_commit_deadline_ms: when a poll commits next.
    """

    def __init__(self, parts: ConsumerParts) -> None:
        super().__init__(parts)
        self.auto_commit_enabled = bool(self.config.enable_auto_commit)
        self.next_auto_commit_deadline_ms = (
            self.context.now_ms + self.config.auto_commit_interval_ms
        )
        self._join_prepare_commit: RequestFuture[None] | None = None
        self._join_prepare_ends_ms: int | None = None

    def time_to_next_poll(self, now_ms: int) -> int:
        """In how many ms to poll at the latest, for a heartbeat or an automatic commit."""
        wait_ms = self.time_to_next_heartbeat(now_ms)
        if self.auto_commit_enabled:
            wait_ms = min(wait_ms, self.next_auto_commit_deadline_ms - now_ms)
        return max(0, wait_ms)

    def maybe_auto_commit_offsets_async(self, now_ms: int) -> None:
        """Commit what polls have returned so far, if it is time (called by poll)."""
        if self.auto_commit_enabled:
            waits = not self.context.profile.auto_commit_finds_coordinator
            if waits and self.check_and_get_coordinator() is None:
                self.next_auto_commit_deadline_ms = now_ms + self.config.retry_backoff_ms
            elif now_ms >= self.next_auto_commit_deadline_ms:
                self.next_auto_commit_deadline_ms = now_ms + self.config.auto_commit_interval_ms
                self._do_auto_commit_offsets_async()

    def maybe_auto_commit_offsets_now(self) -> None:
        """Commit what was read before assign() replaces it; from 1.1 on only if it is time."""
        if self.context.profile.auto_commit_finds_coordinator:
            self.maybe_auto_commit_offsets_async(self.context.now_ms)
        elif self.auto_commit_enabled and not self.coordinator_unknown():
            self._do_auto_commit_offsets_async()

    def maybe_auto_commit_offsets_sync(self, timeout_ms: int) -> None:
        """Commit and wait, before partitions are given up; what goes wrong is only logged.

        Differs from Kafka: what the callback of an earlier commit raises in there is raised, not
        logged, since the errors of other processes may come up here in the same way.
        """
        if self.auto_commit_enabled:
            offsets = self.subscriptions.all_consumed()
            try:
                if not self._commit_offsets_sync(offsets, timeout_ms, mode="auto"):
                    self.context.warn("the automatic commit was not done in time")
            except WakeupError:
                raise
            except KafkaError as error:
                self.context.warn(f"the automatic commit failed: {error}")

    def commit_before_join(self, deadline_ms: int, *, is_eager: bool) -> bool:
        """Commit automatically before a join; False if a later call is to go on (3.2).

        It may take the rebalance timeout, and is tried again as long. is_eager: the partitions will
        be given up, so that nothing more may be read from them: as in Kafka, until the next
        rebalance, if a wakeup() ends it and the member keeps them.
        """
        if not self.context.profile.poll_goes_on_in_rebalance:
            self.maybe_auto_commit_offsets_sync(self.rebalance_timeout_ms)
            return True
        if not self.auto_commit_enabled:
            return True
        if self._join_prepare_ends_ms is None:
            self._join_prepare_ends_ms = self.context.now_ms + self.rebalance_timeout_ms
        if self._join_prepare_commit is None:
            if is_eager:
                self.subscriptions.mark_pending_revocation()
            self._join_prepare_commit = self._do_auto_commit_offsets_async()
        future, ends_ms = self._join_prepare_commit, self._join_prepare_ends_ms
        deadline_ms = min(deadline_ms, ends_ms)
        self.client.poll_future(future, max(0, deadline_ms - self.context.now_ms))
        if future.is_done:
            self._join_prepare_commit = None
        goes_on = not future.is_done or future.is_retriable()
        if goes_on and self.context.now_ms < ends_ms:
            self.sleep_backoff(deadline_ms)
            return False
        self._join_prepare_commit = self._join_prepare_ends_ms = None
        return True

    def _do_auto_commit_offsets_async(self) -> RequestFuture[None]:
        def on_complete(offsets: Offsets, error: Exception | None) -> None:
            if isinstance(error, RetriableError):
                soon_ms = self.context.now_ms + self.config.retry_backoff_ms
                if soon_ms < self.next_auto_commit_deadline_ms:
                    self.next_auto_commit_deadline_ms = soon_ms
            if error is not None:
                self.context.warn(f"the automatic commit failed: {error}")

        offsets = self.subscriptions.all_consumed()
        return self._commit_offsets_async(offsets, on_complete, mode="auto")
