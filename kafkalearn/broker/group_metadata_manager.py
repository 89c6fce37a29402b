"""Which groups a coordinator has: read from the log, made anew, forgotten.

Source: kafka.coordinator.group.GroupMetadataManager (1.0.2): loadGroupsForPartition,
removeGroupsForPartition, cleanupGroupMetadata; GroupMetadata.removeExpiredOffsets (2.4.0),
OffsetMetadataManager.cleanupExpiredOffsets (4.0).
"""

from collections.abc import Iterable

from kafkalearn.broker.broker_context import BrokerContext
from kafkalearn.broker.group_answers import refuse_parked
from kafkalearn.broker.group_metadata import GroupMetadata
from kafkalearn.broker.group_rebalance import GroupRebalance
from kafkalearn.broker.group_state import GroupState
from kafkalearn.broker.interfaces import Timer
from kafkalearn.broker.offset_store import OffsetStore
from kafkalearn.errors import Errors
from kafkalearn.protocol.group import CONSUMER_PROTOCOL_TYPE
from kafkalearn.records import TopicPartition

_S = GroupState


class GroupMetadataManager:
    """Groups by id, for the partitions of __consumer_offsets that this broker leads.

    is_active: whether the coordinator has started.

    A partition is owned from the moment when its loading begins, so that requests meanwhile are
    answered as the documents print it. (1.0 itself owned it only afterwards, and answered
    NOT_COORDINATOR; mended in 2.0.)
    """

    def __init__(self, context: BrokerContext, store: OffsetStore) -> None:
        self._config = context.config
        self._profile = context.profile
        self._timers = context.timers
        self._record = context.record
        self._offsets_load_ms = context.offsets_load_ms
        self._store = store
        self.rebalance = GroupRebalance(context, store, when_empty=self.watch_expiry)
        self._groups: dict[str, GroupMetadata] = {}
        self._owned: set[int] = set()
        self._loading: dict[int, Timer] = {}
        self._expiry_timer: Timer | None = None
        self.started_ms = 0
        self.is_active = False

    def find(self, group_id: str, *, needs_id: bool = False) -> GroupMetadata | Errors:
        """Find a group that is not Dead, or say why not; GROUP_ID_NOT_FOUND if it does not exist.

        These are the checks before everything else. needs_id: whether an empty group id is refused;
        Kafka lets it pass where only offsets are stored. Differs from 2.0 to 3.9: those refuse it
        even before they look whether the coordinator is active.
        """
        if not self.is_active:
            return Errors.COORDINATOR_NOT_AVAILABLE
        if needs_id and not group_id:
            return Errors.INVALID_GROUP_ID
        group = self._groups.get(group_id)
        if group is None:
            return self._why_not_here(group_id)
        if group.state is _S.DEAD:
            moves = self._profile.dead_group_moves
            return Errors.COORDINATOR_NOT_AVAILABLE if moves else Errors.UNKNOWN_MEMBER_ID
        return group

    def find_to_show(self, group_id: str) -> GroupMetadata | Errors:
        """Find a group for who only looks: one that is Dead does not exist any more."""
        group = self._groups.get(group_id)
        if self.is_active and group is not None and group.is_in(_S.DEAD):
            return Errors.GROUP_ID_NOT_FOUND
        return self.find(group_id)

    def get(self, group_id: str) -> GroupMetadata | None:
        """Look a group up, whatever its state; None if it is not here."""
        return self._groups.get(group_id)

    def _why_not_here(self, group_id: str) -> Errors:
        partition = self._store.partition_for(group_id)
        if partition not in self._owned:
            return Errors.NOT_COORDINATOR
        loading = partition in self._loading
        return Errors.COORDINATOR_LOAD_IN_PROGRESS if loading else Errors.GROUP_ID_NOT_FOUND

    def all(self) -> list[GroupMetadata]:
        """All groups, in the order in which they came."""
        return list(self._groups.values())

    def add(self, group_id: str, now_ms: int) -> GroupMetadata:
        """Make an Empty group; it is not in the log yet."""
        group = self._groups[group_id] = GroupMetadata(group_id, now_ms)
        self.watch_expiry(group, now_ms)
        return group

    @property
    def is_loading(self) -> bool:
        """Whether any partition is being read."""
        return bool(self._loading)

    # Coming and going with the leadership of a partition.

    def load(self, partition: int, now_ms: int) -> None:
        """Own a partition, and read its groups; that takes offsets_load_ms unless it is empty."""
        if partition in self._owned:
            return
        self._owned.add(partition)
        if self._store.is_empty(partition):
            return
        self._loading[partition] = self._timers.call_at(
            now_ms + self._offsets_load_ms,
            lambda due_ms: self._on_loaded(partition, due_ms),
        )

    def _on_loaded(self, partition: int, now_ms: int) -> None:
        del self._loading[partition]
        for group in self._store.load(partition, now_ms):
            self._groups[group.group_id] = group
            for member in group.members.values():
                self.rebalance.sessions.schedule_next_heartbeat_expiration(group, member, now_ms)
            self.rebalance.changes.record_loaded(group, partition, now_ms)
            if len(group.members) > self._config.group_max_size:
                reason = "it was loaded with more members than group.max.size"
                self.rebalance.maybe_prepare_rebalance(group, reason, now_ms=now_ms)
            self.watch_expiry(group, now_ms)

    def unload(self, partition: int, now_ms: int) -> None:
        """Give up a partition: whoever is parked has to find the new coordinator."""
        self._owned.discard(partition)
        timer = self._loading.pop(partition, None)
        if timer is not None:
            timer.cancel()
        for group in self.all():
            if self._store.partition_for(group.group_id) == partition:
                self._give_up(group, reason="the coordinator moved", now_ms=now_ms)
                for member in group.members.values():
                    refuse_parked(group, member, error=Errors.NOT_COORDINATOR)

    def delete(self, group: GroupMetadata, *, reason: str, now_ms: int) -> None:
        """Forget an Empty group for good."""
        self._store.forget_group(group, now_ms)
        self._give_up(group, reason=reason, now_ms=now_ms)

    def _give_up(self, group: GroupMetadata, *, reason: str, now_ms: int) -> None:
        self.rebalance.changes.transition_to(group, _S.DEAD, reason=reason, now_ms=now_ms)
        del self._groups[group.group_id]
        group.cancel_timers()

    # Growing old.

    def watch_expiry(self, group: GroupMetadata, now_ms: int) -> None:
        """See to it that the next check for old offsets comes, if this group can grow old.

        Checks are a fixed interval apart, counted from the broker's start. Differs from 4.0: there
        each partition has its own, counted from when it was read (GroupCoordinatorShard.onLoaded).
        """
        if self._expiry_timer is None and self._can_expire(group):
            interval_ms = self._config.offsets_retention_check_interval_ms
            done = (now_ms - self.started_ms) // interval_ms
            self._expiry_timer = self._timers.call_at(
                self.started_ms + (done + 1) * interval_ms, self._cleanup_group_metadata
            )

    def _cleanup_group_metadata(self, now_ms: int) -> None:
        self._expiry_timer = None
        for group in self.all():
            expired = [
                partition
                for partition in group.offsets
                if partition not in group.pending_offset_commits
                and self._is_expired(group, partition, now_ms)
            ]
            self._remove_offsets(group, expired, reason="expired", now_ms=now_ms)
            self._delete_if_unused(group, now_ms)
        for group in self.all():
            self.watch_expiry(group, now_ms)

    def remove_partitions(self, partitions: Iterable[TopicPartition], now_ms: int) -> None:
        """Forget what all groups committed for partitions that are gone."""
        if not self._profile.deleted_topic_takes_offsets:
            return
        gone = list(partitions)
        for group in self.all():
            group.pending_offset_commits.difference_update(gone)
            self._remove_offsets(group, gone, reason="topic deleted", now_ms=now_ms)
            if not self._profile.cleanup_waits_for_check:
                self._delete_if_unused(group, now_ms)

    def _delete_if_unused(self, group: GroupMetadata, now_ms: int) -> None:
        kept = group.offsets or group.pending_offset_commits
        if group.is_in(_S.EMPTY) and not kept:
            self.delete(group, reason="empty, without offsets", now_ms=now_ms)

    def _can_expire(self, group: GroupMetadata) -> bool:
        profile = self._profile
        unsubscribed = profile.unsubscribed_offsets_expire != "never"
        while_members_live = unsubscribed or not profile.offsets_expire_from_empty
        return group.is_in(_S.EMPTY) or (bool(group.offsets) and while_members_live)

    def _is_expired(self, group: GroupMetadata, partition: TopicPartition, now_ms: int) -> bool:
        committed = group.offsets[partition]
        if committed.expire_ms is not None:
            return committed.expire_ms < now_ms
        if group.protocol_type is None:
            since_ms = committed.commit_ms  # nobody ever joined: the group only stores offsets
        elif group.is_in(_S.EMPTY):
            since_ms = group.state_since_ms
        elif self._is_given_up(group, partition.topic):
            since_ms = committed.commit_ms
        else:
            return False
        return now_ms - since_ms >= self._config.offsets_retention_minutes * 60_000

    def _is_given_up(self, group: GroupMetadata, topic: str) -> bool:
        """Whether it is known that none of the members that live subscribes to a topic."""
        expire = self._profile.unsubscribed_offsets_expire
        if expire == "never" or (expire == "in_stable" and not group.is_in(_S.STABLE)):
            return False
        is_consumer = group.protocol_type == CONSUMER_PROTOCOL_TYPE
        topics = group.subscribed_topics if is_consumer else None
        return topics is not None and topic not in topics

    def _remove_offsets(
        self,
        group: GroupMetadata,
        partitions: Iterable[TopicPartition],
        *,
        reason: str,
        now_ms: int,
    ) -> None:
        gone = [partition for partition in partitions if partition in group.offsets]
        if gone:
            self._store.store_offsets(group, dict.fromkeys(gone), now_ms)
        for partition in gone:
            self._record(
                "offset_expired",
                now_ms,
                group_id=group.group_id,
                topic=partition.topic,
                partition=partition.partition,
                offset=group.offsets.pop(partition).offset,
                detail={"reason": reason},
            )
