"""Changes to a group, each with its event in the trace. When they happen is decided elsewhere.

Source: kafka.coordinator.group.GroupCoordinator: addMemberAndRebalance, updateMemberAndRebalance,
removeMemberAndUpdateGroup, without what follows from them (1.0.2, 2.4.0).
"""

from kafkalearn.broker.broker_context import BrokerContext
from kafkalearn.broker.group_metadata import GroupMetadata
from kafkalearn.broker.group_state import GroupState
from kafkalearn.broker.member_metadata import MemberMetadata
from kafkalearn.errors import Errors
from kafkalearn.protocol.group import JoinGroupRequest, JoinGroupResponse
from kafkalearn.protocol.message import Reply
from kafkalearn.records import GROUP_METADATA_TOPIC_NAME


class GroupChanges:
    """Members come, change and go; states follow each other."""

    def __init__(self, context: BrokerContext) -> None:
        self._profile = context.profile
        self._record = context.record

    def add_member(
        self,
        group: GroupMetadata,
        request: JoinGroupRequest,
        *,
        member_id: str,
        reply: Reply,
        now_ms: int,
    ) -> MemberMetadata:
        """Let a new member in and park its join."""
        member = MemberMetadata(
            member_id=member_id,
            group_instance_id=request.group_instance_id,
            client_id=request.client_id,
            session_timeout_ms=request.session_timeout_ms,
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            supported_protocols=request.protocols,
            is_new=True,
        )
        if not group.members:
            group.protocol_type = request.protocol_type
        group.add(member, reply)
        pending = group.pending_members.pop(member_id, None)
        if pending is not None:
            pending.cancel()
        self._record_joined(group, member, now_ms)
        return member

    def update_member(
        self, group: GroupMetadata, member: MemberMetadata, *, request: JoinGroupRequest
    ) -> None:
        """Take over what a member offers now."""
        group.update_protocols(member, request.protocols)
        if self._profile.rejoin_updates_timeouts:
            member.session_timeout_ms = request.session_timeout_ms
            member.rebalance_timeout_ms = request.rebalance_timeout_ms

    def replace_static_member(
        self, group: GroupMetadata, member: MemberMetadata, *, new_member_id: str, now_ms: int
    ) -> None:
        """Give a static member that restarted its new id."""
        reason = f"instance {member.group_instance_id} came back under a new id"
        self._record_removed(group, member.member_id, reason=reason, now_ms=now_ms)
        group.replace_static_member(member, new_member_id)
        self._record_joined(group, member, now_ms)

    def remove_member(
        self, group: GroupMetadata, member: MemberMetadata, *, reason: str, now_ms: int
    ) -> None:
        """Let a member go."""
        parked = group.park_join(member, None)
        if parked is not None and self._profile.new_member_join_timeout:
            parked(JoinGroupResponse(error_code=Errors.UNKNOWN_MEMBER_ID))
        group.remove(member)
        self._record_removed(group, member.member_id, reason=reason, now_ms=now_ms)

    def transition_to(
        self, group: GroupMetadata, state: GroupState, *, reason: str, now_ms: int
    ) -> None:
        """Change a group's state and say so."""
        before = group.state
        group.transition_to(state, now_ms)
        self.record_state(group, before, reason=reason, now_ms=now_ms)

    def record_state(
        self, group: GroupMetadata, before: GroupState, *, reason: str, now_ms: int
    ) -> None:
        """Say that a group came into its state, from which, and why; and whose answer waits."""
        members = group.members.values()
        waiting = {
            "waiting_join": [each.member_id for each in members if each.awaiting_join is not None],
            "waiting_sync": [each.member_id for each in members if each.awaiting_sync is not None],
        }
        self._record(
            "group_state",
            now_ms,
            group_id=group.group_id,
            generation=group.generation_id,
            detail={
                "from": self._profile.state_name(before.value),
                "to": self._profile.state_name(group.state.value),
                "reason": reason,
                "leader": group.leader_id,
                "protocol": group.protocol_name,
                "members": list(group.members),
                **{name: waits for name, waits in waiting.items() if waits},
            },
        )

    def record_loaded(self, group: GroupMetadata, partition: int, now_ms: int) -> None:
        """Say that a group was read back from a partition of __consumer_offsets."""
        self._record(
            "group_loaded",
            now_ms,
            group_id=group.group_id,
            generation=group.generation_id,
            topic=GROUP_METADATA_TOPIC_NAME,
            partition=partition,
            detail={
                "to": self._profile.state_name(group.state.value),
                "members": list(group.members),
            },
        )

    def record_pending(self, group: GroupMetadata, member_id: str, *, now_ms: int) -> None:
        """Say that an id was given out, which is to be joined with."""
        self._record(
            "member_joined",
            now_ms,
            group_id=group.group_id,
            member_id=member_id,
            generation=group.generation_id,
            detail={"pending": True},
        )

    def remove_pending(
        self, group: GroupMetadata, member_id: str, *, reason: str, now_ms: int
    ) -> None:
        """Wait no longer for the use of an id that was given out."""
        group.pending_members.pop(member_id).cancel()
        self._record_removed(group, member_id, reason=reason, now_ms=now_ms)

    def _record_joined(self, group: GroupMetadata, member: MemberMetadata, now_ms: int) -> None:
        self._record(
            "member_joined",
            now_ms,
            group_id=group.group_id,
            member_id=member.member_id,
            generation=group.generation_id,
            detail={"client_id": member.client_id, "instance_id": member.group_instance_id},
        )

    def _record_removed(
        self, group: GroupMetadata, member_id: str, *, reason: str, now_ms: int
    ) -> None:
        self._record(
            "member_removed",
            now_ms,
            group_id=group.group_id,
            member_id=member_id,
            generation=group.generation_id,
            detail={"reason": reason},
        )
