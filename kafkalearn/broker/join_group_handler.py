"""JoinGroup: who may come in, who is told to ask again, and when it makes the group rebalance.

Differs from 2.3 to 2.5: there a static member that restarts into a full group is turned away, too,
but the group forgets its instance as well.

Source: GroupCoordinator.handleJoinGroup, doUnknownJoinGroup, doJoinGroup (1.0.2, 2.4.0);
GroupMetadataManager.classicGroupJoin (4.0).
"""

from kafkalearn.broker.broker_context import BrokerContext
from kafkalearn.broker.group_answers import join_answer, refuse_parked
from kafkalearn.broker.group_metadata import GroupMetadata
from kafkalearn.broker.group_metadata_manager import GroupMetadataManager
from kafkalearn.broker.group_state import GroupState
from kafkalearn.broker.offset_store import OffsetStore
from kafkalearn.errors import Errors
from kafkalearn.protocol.group import JoinGroupRequest, JoinGroupResponse
from kafkalearn.protocol.message import UNKNOWN_MEMBER_ID, Reply

_S = GroupState


class JoinGroupHandler:
    """Decides over joins; GroupRebalance does what was decided."""

    def __init__(
        self, context: BrokerContext, groups: GroupMetadataManager, *, store: OffsetStore
    ) -> None:
        self._config = context.config
        self._profile = context.profile
        self._new_uuid = context.new_uuid
        self._groups = groups
        self._rebalance = groups.rebalance
        self._store = store

    def handle_join_group(self, request: JoinGroupRequest, now_ms: int, reply: Reply) -> None:
        """Answer a join, or park it until the join phase ends."""
        found = self._groups.find(request.group_id, needs_id=True)
        if isinstance(found, GroupMetadata) or found is Errors.GROUP_ID_NOT_FOUND:
            if not self._allows_session_timeout(request):
                found = Errors.INVALID_SESSION_TIMEOUT
            elif found is Errors.GROUP_ID_NOT_FOUND:
                found = self._make_group(request, now_ms)
        if isinstance(found, Errors):
            reply(request.get_error_response(found))
        elif not self._has_room_for(found, request.member_id):
            self._turn_away(found, request.member_id, now_ms)
            reply(JoinGroupResponse(error_code=Errors.GROUP_MAX_SIZE_REACHED))
        else:
            self._join(found, request, reply=reply, now_ms=now_ms)

    def _make_group(self, request: JoinGroupRequest, now_ms: int) -> GroupMetadata | Errors:
        if request.member_id != UNKNOWN_MEMBER_ID:
            return Errors.UNKNOWN_MEMBER_ID
        group = self._groups.add(request.group_id, now_ms)
        if self._profile.admin_sees_stored_groups:
            self._store.store_group(group, {}, now_ms)
        return group

    def _allows_session_timeout(self, request: JoinGroupRequest) -> bool:
        # Differs from 4.0, which looks at this before it looks whose group it is.
        least = self._config.group_min_session_timeout_ms
        most = self._config.group_max_session_timeout_ms
        return least <= request.session_timeout_ms <= most

    def _has_room_for(self, group: GroupMetadata, member_id: str) -> bool:
        """Whether group.max.size lets it in, or stay (KIP-389)."""
        most = self._config.group_max_size
        member = group.members.get(member_id)
        waits = member is not None and member.awaiting_join is not None
        if not self._profile.full_group_counts_joins:
            if member is None:
                return member_id != UNKNOWN_MEMBER_ID or len(group.members) < most
            return waits or len(group.members) <= most
        if group.is_in(_S.PREPARING_REBALANCE):
            return waits or group.num_awaiting_join < most
        return member is not None or len(group.members) < most

    def _turn_away(self, group: GroupMetadata, member_id: str, now_ms: int) -> None:
        changes, reason = self._rebalance.changes, "the group is full"
        if member_id in group.pending_members:
            changes.remove_pending(group, member_id, reason=reason, now_ms=now_ms)
        elif member_id in group.members:
            member = group.members[member_id]
            changes.remove_member(group, member, reason=reason, now_ms=now_ms)
        if not self._profile.full_group_counts_joins:
            self._rebalance.try_complete_join(group, now_ms)

    def _join(
        self, group: GroupMetadata, request: JoinGroupRequest, *, now_ms: int, reply: Reply
    ) -> None:
        names = [name for name, _ in request.protocols]
        if group.is_in(_S.EMPTY) and not names and not self._profile.first_join_checks_protocols:
            reply(request.get_error_response(Errors.UNKNOWN_SERVER_ERROR))
        elif not group.supports_protocols(request.protocol_type, names):
            reply(request.get_error_response(Errors.INCONSISTENT_GROUP_PROTOCOL))
        elif request.member_id == UNKNOWN_MEMBER_ID:
            self._join_as_new_member(group, request, now_ms, reply)
        elif request.member_id in group.pending_members and request.group_instance_id is not None:
            # Such an id was given to a dynamic member: Kafka breaks off with an exception.
            reply(request.get_error_response(Errors.UNKNOWN_SERVER_ERROR))
        elif request.member_id in group.pending_members:
            self._rebalance.add_member_and_rebalance(
                group, request, member_id=request.member_id, reply=reply, now_ms=now_ms
            )
        else:
            error = group.validate_member(request.member_id, request.group_instance_id)
            if error is not Errors.NONE:
                reply(request.get_error_response(error))
            else:
                self._join_again(group, request, now_ms, reply)

    def _join_as_new_member(
        self, group: GroupMetadata, request: JoinGroupRequest, now_ms: int, reply: Reply
    ) -> None:
        instance_id = request.group_instance_id
        name = request.client_id if instance_id is None else instance_id
        new_member_id = f"{name}-{self._new_uuid()}"
        if instance_id in group.static_members:
            self._rejoin_as_static_member(
                group, request, new_member_id=new_member_id, reply=reply, now_ms=now_ms
            )
        elif self._profile.member_id_required and instance_id is None:
            self._rebalance.changes.record_pending(group, new_member_id, now_ms=now_ms)
            self._rebalance.sessions.expect_use(
                group,
                new_member_id,
                session_timeout_ms=request.session_timeout_ms,
                now_ms=now_ms,
            )
            reply(JoinGroupResponse(error_code=Errors.MEMBER_ID_REQUIRED, member_id=new_member_id))
        else:
            self._rebalance.add_member_and_rebalance(
                group, request, member_id=new_member_id, reply=reply, now_ms=now_ms
            )

    def _join_again(
        self, group: GroupMetadata, request: JoinGroupRequest, now_ms: int, reply: Reply
    ) -> None:
        member = group.members[request.member_id]
        same = member.matches(request.protocols)
        if group.is_in(_S.AWAITING_SYNC) and same:
            # Its answer may have been lost: it gets it again.
            reply(join_answer(group, member))
        elif group.is_in(_S.STABLE) and same and not group.is_leader(member.member_id):
            reply(join_answer(group, member))
        else:
            # A leader that joins a Stable group wants a rebalance: its topics may have changed.
            self._rebalance.update_member_and_rebalance(
                group, member, request=request, reply=reply, now_ms=now_ms
            )

    def _rejoin_as_static_member(
        self,
        group: GroupMetadata,
        request: JoinGroupRequest,
        *,
        new_member_id: str,
        reply: Reply,
        now_ms: int,
    ) -> None:
        """Replace the holder of the instance id; if nothing changes for the others, go on."""
        assert request.group_instance_id is not None
        member = group.members[group.static_members[request.group_instance_id]]
        old_leader_id = group.leader_id or ""
        refuse_parked(group, member, error=Errors.FENCED_INSTANCE_ID)
        self._rebalance.changes.replace_static_member(
            group, member, new_member_id=new_member_id, now_ms=now_ms
        )
        self._rebalance.sessions.schedule_next_heartbeat_expiration(group, member, now_ms)
        self._rebalance.changes.update_member(group, member, request=request)
        changes_group = self._profile.static_restart_rebalances and (
            group.is_in(_S.AWAITING_SYNC) or group.select_protocol() != group.protocol_name
        )
        if group.is_in(_S.PREPARING_REBALANCE) or changes_group:
            group.park_join(member, reply)
            reason = f"static member {member.group_instance_id} came back"
            self._rebalance.maybe_prepare_rebalance(group, reason, now_ms=now_ms)
            return
        if self._profile.static_restart_rebalances:
            assignment = {each.member_id: each.assignment for each in group.members.values()}
            self._store.store_group(group, assignment, now_ms)
        answer = join_answer(group, member)
        if self._profile.skip_assignment:
            answer.skip_assignment = group.is_leader(new_member_id)
        else:
            # Told of its old id as leader, the member does not take itself for the leader.
            answer.leader, answer.members = old_leader_id, ()
        reply(answer)
