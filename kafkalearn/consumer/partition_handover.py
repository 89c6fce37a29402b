"""Partitions that a member is given or gives up: the listener's calls, and what the trace tells.

Source: document 001; ConsumerCoordinator.onJoinPrepare, onJoinComplete (1.0.2; what it raises:
2.6.0), invokePartitionsLost (2.4.0).
"""

from collections.abc import Sequence
from typing import Any

from kafkalearn.consumer.auto_commits import AutoCommits
from kafkalearn.consumer.consumer_protocol import by_topic
from kafkalearn.consumer.member_state import MemberState
from kafkalearn.errors import (
    ConcurrentModificationError,
    IllegalArgumentError,
    IllegalStateError,
    KafkaError,
    WakeupError,
)
from kafkalearn.records import TopicPartition

# KafkaErrors here; in Java these are the language's own, and no KafkaException.
_JAVAS_OWN = (ConcurrentModificationError, IllegalArgumentError, IllegalStateError)


class PartitionHandover(AutoCommits):
    """Hands partitions over, so that the application can save its work in between."""

    def give_up(
        self,
        partitions: Sequence[TopicPartition],
        *,
        lost: bool,
        reason: str = "a rebalance",
    ) -> KafkaError | None:
        """Tell the listener while they are still assigned, then have them no more (2.4).

        lost: whether others may have them already. Gives what the listener raised; a WakeupError
        goes on at once, and nothing is given up.
        """
        method = "on_partitions_lost" if lost else "on_partitions_revoked"
        error = self.call_listener(method, partitions, reason=reason)
        gone = set(partitions)
        owned = self.subscriptions.assigned_partitions()
        self.subscriptions.assign_from_subscribed([each for each in owned if each not in gone])
        return error

    def give_up_before_join(self, *, lost: bool, is_cooperative: bool) -> KafkaError | None:
        """Give up all partitions, or cooperatively those of topics that are not wanted any more.

        lost: see give_up; nothing is kept then. Before 2.4 the listener is told, and no more.
        """
        given_up = self.subscriptions.assigned_partitions()
        if not self.context.profile.incremental_rebalance:
            return self.call_listener("on_partitions_revoked", given_up, reason="a rebalance")
        if is_cooperative and not lost:
            wanted = self.subscriptions.subscription
            given_up = [each for each in given_up if each.topic not in wanted]
        if given_up or not (is_cooperative or lost):
            return self.give_up(given_up, lost=lost)
        return None

    def on_leave_prepare(self) -> None:
        """Before leaving on purpose, give the partitions up (2.4)."""
        profile = self.context.profile
        dropped = self.subscriptions.assigned_partitions()
        is_told = profile.incremental_rebalance and self.subscriptions.partitions_auto_assigned()
        if is_told and dropped:
            rebalances = self.state in (MemberState.REBALANCING, MemberState.COMPLETING_REBALANCE)
            lost = rebalances and profile.stale_errors_are_ignored
            lost |= self.generation.is_reset
            error = self.give_up(dropped, lost=lost, reason="the consumer leaves")
            if error is not None:
                raise error

    def call_listener(
        self, method: str, partitions: Sequence[TopicPartition], *, reason: str = ""
    ) -> KafkaError | None:
        """Call it, and give what it raised; before 2.4 that is only logged."""
        if reason and partitions:
            lost = method == "on_partitions_lost" or None
            self.record_partitions("revoked", partitions, reason=reason, lost=lost)
        call = getattr(self.subscriptions.listener, method)
        try:
            call(tuple(partitions))
        except WakeupError:
            raise
        except Exception as error:
            failed = KafkaError(f"the rebalance listener's {method} raised {error!r}")
            failed.__cause__ = error
            if self.context.profile.incremental_rebalance:
                return failed
            self.context.warn(str(failed))
        return None

    def raised_by_join(self, failed: KafkaError) -> KafkaError:
        """Give what the end of a join raises, where call_listener gave `failed`.

        An error of Kafka's is raised as itself (2.6); any other stays the cause.
        """
        error = failed.__cause__
        stays = not self.context.profile.join_raises_listener_error
        if stays or isinstance(error, _JAVAS_OWN) or not isinstance(error, KafkaError):
            return failed
        return error

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

    def record_step(self, step: str) -> None:
        """Write down that a poll has come to a step that takes requests."""
        now_ms = self.context.now_ms
        self.context.record("poll", now_ms, group_id=self.group_id, detail={"step": step})
