"""What a member of a consumer group joins for: its subscription, its partitions, its offsets.

Source: documents 001 and 004;
org.apache.kafka.clients.consumer.internals.ConsumerCoordinator (1.0.2; 2.4.0 where partitions are
revoked one by one).
"""

from collections.abc import Mapping, Sequence

from kafkalearn.assignors.partition_assignor import PartitionAssignor
from kafkalearn.clients.metadata import Metadata
from kafkalearn.clients.network_client import NEVER_MS
from kafkalearn.consumer.consumer_parts import ConsumerParts
from kafkalearn.consumer.consumer_protocol import (
    checked_assignment,
    deserialize_assignment,
    deserialize_subscription,
    serialize_assignment,
    serialize_subscription,
)
from kafkalearn.consumer.member_state import Generation
from kafkalearn.consumer.partition_handover import PartitionHandover
from kafkalearn.errors import IllegalStateError
from kafkalearn.protocol.group import JoinGroupRequestProtocol, JoinGroupResponseMember
from kafkalearn.protocol.message import UNKNOWN_GENERATION_ID
from kafkalearn.records import Subscription, TopicPartition

MetadataSnapshot = Mapping[str, int]
"""Topic -> number of partitions, of the topics that the group subscribes to."""


class ConsumerCoordinator(PartitionHandover):
    """The part of a consumer that deals with its group.

    assignors: those offered, preferred first.
    metadata_snapshot, assignment_snapshot: what a leader knows now, and what it assigned from; when
    the two part, it asks for a rebalance.
    """

    def __init__(self, parts: ConsumerParts, assignors: Sequence[PartitionAssignor]) -> None:
        super().__init__(parts)
        self.assignors = {each.name: each for each in assignors}
        protocols = {each.rebalance_protocol for each in assignors}
        self.is_cooperative = protocols == {"cooperative"}
        self.metadata_snapshot: MetadataSnapshot = {}
        self.assignment_snapshot: MetadataSnapshot | None = None
        self._cluster_metadata = parts.cluster_metadata
        self._is_leader = False
        self._joined_subscription: tuple[str, ...] | None = None
        self._last_assignment: tuple[Sequence[TopicPartition], int] = ((), -1)
        parts.cluster_metadata.request_update()
        parts.cluster_metadata.add_listener(self._on_metadata_update)

    def poll(self, now_ms: int, timeout_ms: int = NEVER_MS, *, waits_for_join: bool = True) -> bool:
        """Be a member with partitions, commit if it is time; False if that is not so in time.

        waits_for_join: or only take the next step, if it can be taken at once.
        """
        loop, deadline_ms = self.context.loop, now_ms + timeout_ms
        self.invoke_completed_offset_commit_callbacks()
        if self.subscriptions.partitions_auto_assigned():
            counts_first = self.context.profile.poll_heartbeat_first
            if counts_first:
                self.poll_heartbeat(now_ms)
            if self.check_and_get_coordinator() is None:
                self.record_step("ensure_coordinator_ready")
                if not self.ensure_coordinator_ready(timeout_ms):
                    return False
            if self.need_rejoin() or self.rejoin_incomplete():
                self.record_step("ensure_active_group")
                left_ms = deadline_ms - loop.now_ms
                if not self._ensure_pattern_is_matched(left_ms):
                    return False
                left_ms = deadline_ms - loop.now_ms if waits_for_join else 0
                if not self.ensure_active_group(left_ms):
                    return False
            if not counts_first:
                self.poll_heartbeat(loop.now_ms)
        elif self._cluster_metadata.update_requested() and not self.client.has_ready_nodes():
            # No broker can be reached: wait here, or a poll would return at once again and again.
            self.client.await_metadata_update(timeout_ms)
        self.maybe_auto_commit_offsets_async(loop.now_ms)
        return True

    def need_rejoin(self) -> bool:
        """Whether to join again: topics or subscription changed, or the coordinator says so."""
        if not self.subscriptions.partitions_auto_assigned():
            return False
        snapshot, joined = self.assignment_snapshot, self._joined_subscription
        has_changed = snapshot is not None and snapshot != self.metadata_snapshot
        has_changed |= joined is not None and joined != self.subscriptions.subscription
        if has_changed and self.context.profile.poll_goes_on_in_rebalance:
            self.request_rejoin()  # although it may change back before the join is sent (2.5)
        return self.rejoin_needed or has_changed

    def update_pattern_subscription(self, metadata: Metadata) -> None:
        """Subscribe to the topics that match the pattern now; the cluster's own do not count."""
        subscriptions = self.subscriptions
        hidden = metadata.internal_topics if self.config.exclude_internal_topics else ()
        seen = (topic for topic in metadata.partition_counts if topic not in hidden)
        subscriptions.subscribe_from_pattern(filter(subscriptions.matches_subscribed_pattern, seen))
        metadata.set_topics(subscriptions.group_subscription)

    def close(self, timeout_ms: int) -> None:
        """Commit if that is automatic, leave, and wait for what is on its way."""
        self.client.disable_wakeups()
        deadline_ms = self.context.now_ms + timeout_ms
        try:
            self.maybe_auto_commit_offsets_sync(timeout_ms)
            if self.has_pending_async_commits():
                self.ensure_coordinator_ready(max(0, deadline_ms - self.context.now_ms))
        finally:
            self.close_group(max(0, deadline_ms - self.context.now_ms))

    # What AbstractCoordinator asks for.

    def metadata(self) -> tuple[JoinGroupRequestProtocol, ...]:
        """See GroupMembership."""
        topics = self._joined_subscription = self.subscriptions.subscription
        offered = []
        for assignor in self.assignors.values():
            claims: tuple[Sequence[TopicPartition], int] = ((), -1)
            if assignor.reads_claims:
                claims = self._last_assignment
                if assignor.rebalance_protocol == "cooperative":
                    claims = self.subscriptions.assigned_partitions(), claims[1]
            text = serialize_subscription(Subscription(topics, *claims))
            offered.append(JoinGroupRequestProtocol(assignor.name, text))
        return tuple(offered)

    def perform_assignment(
        self, leader_id: str, protocol: str, *, members: Sequence[JoinGroupResponseMember]
    ) -> Mapping[str, str]:
        """See GroupMembership. From now on the leader watches the topics of all members."""
        assignor = self._lookup_assignor(protocol)
        subscriptions = {
            each.member_id: deserialize_subscription(each.metadata, each.group_instance_id)
            for each in members
        }
        topics = {topic for each in subscriptions.values() for topic in each.topics}
        self.subscriptions.group_subscribe(topics)
        self._cluster_metadata.set_topics(self.subscriptions.group_subscription)
        self.client.ensure_fresh_metadata()
        self._on_metadata_update(self._cluster_metadata)  # so that the snapshot has all topics
        self._is_leader = True
        known = {topic: count for topic, count in self.metadata_snapshot.items() if topic in topics}
        assignment = checked_assignment(assignor.name, assignor.assign(known, subscriptions))
        self.assignment_snapshot = self.metadata_snapshot
        return {member: serialize_assignment(given) for member, given in assignment.items()}

    def on_join_prepare(self, generation_id: int, member_id: str, *, deadline_ms: int) -> bool:
        """Commit and give up partitions: all of them, unless the assignors are cooperative."""
        if not self.commit_before_join(deadline_ms, is_eager=not self.is_cooperative):
            return False
        # They are lost if the member was out before it committed, not if the answer says so.
        lost = generation_id == UNKNOWN_GENERATION_ID
        error = self.give_up_before_join(lost=lost, is_cooperative=self.is_cooperative)
        self._is_leader = False
        self.subscriptions.reset_group_subscription()
        if error is not None:
            raise error
        return True

    def on_join_complete(self, generation: Generation, assignment: str) -> None:
        """Take the partitions, and tell the listener which are new."""
        self._lookup_assignor(generation.protocol)
        if not self._is_leader:
            self.assignment_snapshot = None
        subscriptions = self.subscriptions
        assigned = deserialize_assignment(assignment)
        owned = subscriptions.assigned_partitions()
        added, error = assigned, None  # what the listener raises comes last
        if self._is_outdated(assigned):
            self.request_rejoin()
            return
        if self.context.profile.incremental_rebalance:
            added = [each for each in assigned if each not in owned]
            revoked = [each for each in owned if each not in assigned]
            if self.is_cooperative and revoked:
                self.request_rejoin()
                error = self.give_up(revoked, lost=False)
        else:
            subscriptions.assign_from_subscribed(())  # nothing of before is kept
        subscriptions.need_refresh_commits()
        self._obey_leader(assigned)
        subscriptions.assign_from_subscribed(assigned)
        self._cluster_metadata.set_topics(subscriptions.group_subscription)
        if not self.context.profile.incremental_rebalance:
            self.client.ensure_fresh_metadata()
        self._last_assignment = assigned, generation.generation_id
        now_ms = self.context.now_ms
        self.next_auto_commit_deadline_ms = now_ms + self.config.auto_commit_interval_ms
        self.record_partitions("assigned", assigned)
        raised = self.call_listener("on_partitions_assigned", added)
        if first := error or raised:
            raise self.raised_by_join(first)

    # Inside.

    def _on_metadata_update(self, metadata: Metadata) -> None:
        subscriptions = self.subscriptions
        if subscriptions.has_pattern_subscription():
            self.update_pattern_subscription(metadata)
        if subscriptions.partitions_auto_assigned():
            counts = metadata.partition_counts
            wanted = subscriptions.group_subscription
            self.metadata_snapshot = {each: counts[each] for each in wanted if each in counts}
        is_missing = not metadata.unavailable_topics.isdisjoint(metadata.topics)
        if is_missing and self.context.profile.missing_topics_are_asked_for:
            metadata.request_update()

    def _ensure_pattern_is_matched(self, timeout_ms: int) -> bool:
        """Match a pattern at least once before the first join, and with the newest metadata."""
        if not self.subscriptions.has_pattern_subscription():
            return True
        metadata = self._cluster_metadata
        refreshes = self.context.profile.pattern_refreshes_metadata
        if refreshes and metadata.may_update(self.context.now_ms):
            metadata.request_update()  # or a new topic that others see makes one rebalance more
        return self.client.ensure_fresh_metadata(timeout_ms)

    def _lookup_assignor(self, name: str) -> PartitionAssignor:
        if name not in self.assignors:
            offered = ", ".join(self.assignors)
            raise IllegalStateError(f"the group chose the assignor {name!r}: {offered} are offered")
        return self.assignors[name]

    def _is_outdated(self, assigned: Sequence[TopicPartition]) -> bool:
        """Whether the subscription has changed since it was sent (2.3; it was an error before).

        Since 2.4 it is also taken for that if the leader assigns what nobody asked for.
        """
        profile = self.context.profile
        if self.subscriptions.check_assignment_matched_subscription(assigned):
            return False
        asked_for = {each.topic for each in assigned}.issubset(self._joined_subscription or ())
        return profile.incremental_rebalance or (asked_for and profile.poll_timeout_bounds_join)

    def _obey_leader(self, assigned: Sequence[TopicPartition]) -> None:
        """Subscribe to a topic that the leader's metadata had earlier than this member's."""
        if self.subscriptions.has_pattern_subscription():
            joined = {*(self._joined_subscription or ()), *(each.topic for each in assigned)}
            if joined != set(self._joined_subscription or ()):
                topics = {*self.subscriptions.subscription, *joined}
                self.subscriptions.subscribe_from_pattern(topics)
                self._joined_subscription = tuple(sorted(joined))
