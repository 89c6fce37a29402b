"""SyncGroup, Heartbeat and LeaveGroup: what members ask between two joins.

Source: GroupCoordinator.handleSyncGroup, handleHeartbeat, handleLeaveGroup (1.0.2, 2.4.0);
GroupMetadataManager.classicGroupSync, classicGroupHeartbeat, classicGroupLeave (4.0).
"""

from kafkalearn.broker.broker_context import BrokerContext
from kafkalearn.broker.group_answers import sync_answer
from kafkalearn.broker.group_metadata import GroupMetadata
from kafkalearn.broker.group_metadata_manager import GroupMetadataManager
from kafkalearn.broker.group_state import GroupState
from kafkalearn.errors import Errors
from kafkalearn.protocol.group import (
    HeartbeatRequest,
    HeartbeatResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
    SyncGroupRequest,
)
from kafkalearn.protocol.message import UNKNOWN_MEMBER_ID, Reply

_S = GroupState


class GroupMembership:
    """Answers members by the state of their group."""

    def __init__(self, context: BrokerContext, groups: GroupMetadataManager) -> None:
        self._profile = context.profile
        self._groups = groups
        self._needs_id = context.profile.group_id_checked_everywhere
        self._rebalance = groups.rebalance

    def handle_sync_group(self, request: SyncGroupRequest, now_ms: int, reply: Reply) -> None:
        """Give a member its assignment, or park the request until the leader has assigned."""
        found = self._groups.find(request.group_id, needs_id=self._needs_id)
        if found is Errors.COORDINATOR_LOAD_IN_PROGRESS:
            found = self._profile.sync_while_loading
        elif found is Errors.GROUP_ID_NOT_FOUND:
            found = Errors.UNKNOWN_MEMBER_ID
        error = found if isinstance(found, Errors) else self._may_sync(found, request)
        if error is not Errors.NONE or isinstance(found, Errors):
            reply(request.get_error_response(error))
        else:
            self._sync(found, request, now_ms, reply)

    def _may_sync(self, group: GroupMetadata, request: SyncGroupRequest) -> Errors:
        error = group.validate(request)
        if error is not Errors.NONE:
            return error
        named = (request.protocol_type, request.protocol_name)
        agreed = (group.protocol_type, group.protocol_name)
        # Before a group has agreed, nothing contradicts it; from 2.5 to 3.x whatever was named did.
        both = [pair for pair in zip(named, agreed, strict=True) if None not in pair]
        if any(name != is_ for name, is_ in both):
            return Errors.INCONSISTENT_GROUP_PROTOCOL
        preparing = group.is_in(_S.PREPARING_REBALANCE)
        return Errors.REBALANCE_IN_PROGRESS if preparing else Errors.NONE

    def _sync(
        self, group: GroupMetadata, request: SyncGroupRequest, now_ms: int, reply: Reply
    ) -> None:
        member = group.members[request.member_id]
        self._rebalance.sync_received(group, member)
        if group.is_in(_S.STABLE):
            reply(sync_answer(group, member))
            if not self._profile.sync_in_stable_keeps_session:
                self._rebalance.sessions.schedule_next_heartbeat_expiration(group, member, now_ms)
            return
        member.awaiting_sync = reply
        if group.is_leader(member.member_id):
            self._rebalance.set_and_propagate_assignment(group, request.assignments, now_ms)

    def handle_heartbeat(self, request: HeartbeatRequest, now_ms: int, reply: Reply) -> None:
        """Note that a member lives, and tell it whether to join again."""
        found = self._groups.find(request.group_id, needs_id=self._needs_id)
        if isinstance(found, GroupMetadata):
            error = self._beat(found, request, now_ms)
        elif found is Errors.COORDINATOR_LOAD_IN_PROGRESS:
            error = Errors.NONE  # nobody is expired before the group is there
        else:
            error = Errors.UNKNOWN_MEMBER_ID if found is Errors.GROUP_ID_NOT_FOUND else found
        reply(HeartbeatResponse(error_code=error))

    def _beat(self, group: GroupMetadata, request: HeartbeatRequest, now_ms: int) -> Errors:
        completing = group.state is _S.AWAITING_SYNC
        error = group.validate(request)
        if completing and not self._profile.completing_checks_generation:
            error = Errors.NONE if error is Errors.ILLEGAL_GENERATION else error
        if error is not Errors.NONE:
            return error
        if completing and not self._profile.heartbeat_ok_in_completing_rebalance:
            return Errors.REBALANCE_IN_PROGRESS
        member = group.members[request.member_id]
        self._rebalance.sessions.schedule_next_heartbeat_expiration(group, member, now_ms)
        preparing = group.state is _S.PREPARING_REBALANCE
        return Errors.REBALANCE_IN_PROGRESS if preparing else Errors.NONE

    def handle_leave_group(self, request: LeaveGroupRequest, now_ms: int, reply: Reply) -> None:
        """Let members go; each is answered for itself where the release can."""
        found = self._groups.find(request.group_id, needs_id=self._needs_id)
        if isinstance(found, Errors) and found is not Errors.GROUP_ID_NOT_FOUND:
            reply(request.get_error_response(found))
            return
        errors = [Errors.UNKNOWN_MEMBER_ID] * len(request.members)
        if isinstance(found, GroupMetadata):
            errors = [self._leave(found, identity, now_ms) for identity in request.members]
            if self._profile.leave_in_one_step and Errors.NONE in errors:
                self._rebalance.rebalance_without(found, "members left", now_ms=now_ms)
        if not self._profile.batch_leave:
            reply(LeaveGroupResponse(error_code=errors[0]))
            return
        results = zip(request.members, errors, strict=True)
        members = tuple(MemberResponse(*identity, error) for identity, error in results)
        reply(LeaveGroupResponse(members=members))

    def _leave(self, group: GroupMetadata, identity: MemberIdentity, now_ms: int) -> Errors:
        member_id, instance_id = identity
        if member_id == UNKNOWN_MEMBER_ID and instance_id in group.static_members:
            member_id = group.static_members[instance_id]  # an administrator names the instance
        if member_id in group.pending_members:
            self._rebalance.changes.remove_pending(group, member_id, reason="left", now_ms=now_ms)
            if not self._profile.leave_in_one_step:
                self._rebalance.try_complete_join(group, now_ms)
            return Errors.NONE
        error = group.validate_member(member_id, instance_id)
        if error is Errors.NONE:
            member = group.members[member_id]
            self._rebalance.changes.remove_member(group, member, reason="left", now_ms=now_ms)
            if not self._profile.leave_in_one_step:
                self._rebalance.rebalance_without(group, f"{member_id} left", now_ms=now_ms)
        return error
