"""Partitions that a member is given or gives up: the listener's calls, and what the trace tells.

Source: document 001; ConsumerCoordinator.onJoinPrepare, onJoinComplete (1.0.2),
invokePartitionsLost (2.4.0).
"""

from collections.abc import Sequence
from typing import Any

from kafkalearn.consumer.consumer_protocol import by_topic
from kafkalearn.consumer.offset_commits import OffsetCommits
from kafkalearn.errors import KafkaError, WakeupError
from kafkalearn.records import TopicPartition


class PartitionHandover(OffsetCommits):
    """Hands partitions over, so that the application can save its work in between."""

    def give_up(self, partitions: Sequence[TopicPartition], *, lost: bool = False) -> None:
        """Tell the listener while they are still assigned, then have them no more (2.4)."""
        method = "on_partitions_lost" if lost else "on_partitions_revoked"
        try:
            reason = "out of the group" if lost else "a rebalance"
            self.call_listener(method, partitions, reason=reason)
        finally:
            gone = set(partitions)
            owned = self.subscriptions.assigned_partitions()
            self.subscriptions.assign_from_subscribed([each for each in owned if each not in gone])

    def call_listener(
        self, method: str, partitions: Sequence[TopicPartition], *, reason: str = ""
    ) -> None:
        """Call it; before 2.4 what it raises is only logged."""
        if reason and partitions:
            lost = method == "on_partitions_lost" or None
            self.record_partitions("revoked", partitions, reason=reason, lost=lost)
        call = getattr(self.subscriptions.listener, method)
        try:
            call(tuple(partitions))
        except WakeupError:
            raise
        except Exception as error:
            if self.context.profile.incremental_rebalance:
                raise KafkaError(f"the rebalance listener's {method} raised {error!r}") from error
            self.context.warn(f"the rebalance listener's {method} raised {error!r}")

    def record_partitions(
        self, kind: str, partitions: Sequence[TopicPartition], **more: Any
    ) -> None:
        """Write down which partitions came or go."""
        told = {name: value for name, value in more.items() if value is not None}
        self.context.record(
            kind,
            self.context.now_ms,
            group_id=self.group_id,
            member_id=self.generation.member_id or None,
            generation=self.generation.generation_id,
            detail={"partitions": by_topic(partitions)} | told,
        )
