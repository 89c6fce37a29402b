"""The consumer: what an application calls.

Source: documents 000 to 004; org.apache.kafka.clients.consumer.KafkaConsumer (1.0.2; 2.0 where a
timeout bounds more than the wait for records).
"""

import re
from collections.abc import Iterable
from datetime import timedelta
from typing import Self

from kafkalearn.clients.network_client import NEVER_MS
from kafkalearn.consumer.consumer_polling import ConsumerPolling
from kafkalearn.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafkalearn.consumer.offset_commits import OffsetCommitCallback
from kafkalearn.consumer.offset_requests import Offsets
from kafkalearn.consumer.partition_states import check_partitions
from kafkalearn.consumer.subscription_state import check_topics
from kafkalearn.errors import (
    IllegalArgumentError,
    KafkaTimeoutError,
)
from kafkalearn.records import TopicPartition

DEFAULT_CLOSE_TIMEOUT_MS = 30_000
_BLANKS = "".join(map(chr, range(ord(" ") + 1)))  # what Java's trim() takes away


class KafkaConsumer(ConsumerPolling):
    """Reads topics, alone or as a member of a group. `Simulation.consumer` makes one.

    Nothing goes to the brokers before the first poll. All calls but wakeup() are for one process
    at a time; ConcurrentModificationError for a second one.
    """

    def subscribe(
        self,
        topics: Iterable[str] | None = None,
        *,
        pattern: str | re.Pattern[str] | None = None,
        listener: ConsumerRebalanceListener | None = None,
    ) -> None:
        """Read these topics, or those whose whole name matches, as a member of the group.

        It replaces what was subscribed to before; none is unsubscribe(). The next poll joins.
        IllegalStateError while assign() or the other kind of subscribe() holds; for a topic
        IllegalArgumentError if it is None or blank, InvalidTopicError if Kafka allows no such name.
        """
        with self._exclusive:
            self.check_group_id()
            told = listener or ConsumerRebalanceListener()
            if (topics is None) == (pattern is None):
                raise IllegalArgumentError("subscribe to topics or to a pattern: one of the two")
            if pattern is not None:
                self.subscriptions.subscribe_pattern(pattern, told)
                self.metadata.need_metadata_for_all_topics = True
                self.coordinator.update_pattern_subscription(self.metadata)
                self.metadata.request_update()
                return
            wanted = check_topics(_all_named(topics))
            if not wanted:
                self._unsubscribe()
                return
            owned = self.subscriptions.assigned_partitions()
            kept = [each for each in owned if each.topic in wanted]
            self.fetcher.clear_buffered_data_for_unassigned_partitions(kept)
            self.subscriptions.subscribe(wanted, told)
            self.metadata.set_topics(self.subscriptions.group_subscription)

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Read just these partitions, without a group; it replaces those of before.

        None at all is unsubscribe(). Partitions that are added to a topic are not seen.
        IllegalStateError while subscribe() holds; a topic's errors are those of subscribe().
        """
        with self._exclusive:
            wanted = check_partitions(_all_named(partitions))
            if not wanted:
                self._unsubscribe()
                return
            self.fetcher.clear_buffered_data_for_unassigned_partitions(wanted)
            # No rebalance follows that would commit what was read.
            self.coordinator.maybe_auto_commit_offsets_now()
            self.subscriptions.assign_from_user(wanted)
            topics = (each.topic for each in self.subscriptions.user_assignment)
            self.metadata.set_topics(topics)

    def unsubscribe(self) -> None:
        """Read nothing any more, and leave the group."""
        with self._exclusive:
            self._unsubscribe()

    def subscription(self) -> list[str]:
        """The topics subscribed to, sorted."""
        with self._exclusive:
            return list(self.subscriptions.subscription)

    def commit_sync(
        self, offsets: Offsets | None = None, *, timeout: timedelta | None = None
    ) -> None:
        """Commit and wait: what polls have returned, or these offsets, each the NEXT to read.

        timeout: how long to try again (2.0), by default default.api.timeout.ms; KafkaTimeoutError
        after that. Before 2.0 it tries for ever.
        CommitFailedError if this is no active member; other KafkaErrors.
        """
        with self._exclusive:
            self.check_group_id()
            timeout_ms = self.api_timeout_ms(NEVER_MS, timeout)
            if not self.coordinator.commit_offsets_sync(self._offsets(offsets), timeout_ms):
                raise KafkaTimeoutError(f"the commit was not done within {timeout_ms:,} ms")

    def commit_async(
        self, offsets: Offsets | None = None, callback: OffsetCommitCallback | None = None
    ) -> None:
        """Commit and go on: what polls have returned, or these offsets, each the NEXT to read.

        It is tried once. callback: told (offsets, error or None) within a later poll or commit,
        never by close(); RetriableCommitFailedError if a later commit may succeed.
        """
        with self._exclusive:
            self.check_group_id()
            if not (callback is None or callable(callback)):
                raise IllegalArgumentError(f"callback is {callback!r}: a function is allowed")
            self.coordinator.commit_offsets_async(self._offsets(offsets), callback)

    def wakeup(self) -> None:
        """Let the call that waits, or the next one that would, raise a WakeupError."""
        self.client.wakeup()

    def close(self, timeout_ms: int = DEFAULT_CLOSE_TIMEOUT_MS) -> None:
        """Commit if that is automatic, leave the group, and close the connections.

        timeout_ms: how long it may wait for the coordinator, up to request.timeout.ms. A second one
        does nothing.
        """
        if self.is_closed or self._closing or not self.context.node.alive:
            return
        if type(timeout_ms) is not int or timeout_ms < 0:
            raise IllegalArgumentError(f"timeout_ms is {timeout_ms!r}: ms from 0 on are allowed")
        with self._exclusive:
            self._closing = True
            try:
                self.coordinator.close(min(timeout_ms, self.config.request_timeout_ms))
            finally:
                self.is_closed = True
                self.interceptors.close()
                self.client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _unsubscribe(self) -> None:
        self.fetcher.clear_buffered_data_for_unassigned_partitions(())
        self.coordinator.on_leave_prepare()
        self.coordinator.maybe_leave_group("the consumer unsubscribed from all topics")
        self.subscriptions.unsubscribe()
        self.metadata.need_metadata_for_all_topics = False


def _all_named(given: object) -> object:
    """Look through topics or partitions before anything else is asked of them; give them back."""
    if isinstance(given, str | TopicPartition) or not isinstance(given, Iterable):
        return given  # no list: who takes it says so
    listed = list(given)
    for each in listed:
        topic = each[0] if isinstance(each, tuple) and each else each
        if topic is None or (isinstance(topic, str) and not topic.strip(_BLANKS)):
            raise IllegalArgumentError(
                f"{topic!r} in a subscription or an assignment: a topic with a name is allowed"
            )
    return listed
