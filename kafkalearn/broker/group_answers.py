"""How joins and syncs are answered, at once or after they were parked.

Source: GroupCoordinator.onCompleteJoin, propagateAssignment, onGroupUnloaded and
GroupMetadata.replaceGroupInstance (2.4.0).
"""

from kafkalearn.broker.group_metadata import GroupMetadata
from kafkalearn.broker.member_metadata import MemberMetadata
from kafkalearn.errors import Errors
from kafkalearn.protocol.group import JoinGroupResponse, SyncGroupResponse


def join_answer(group: GroupMetadata, member: MemberMetadata) -> JoinGroupResponse:
    """Tell a member the current generation, and the leader whom to assign to."""
    leads = group.is_leader(member.member_id)
    return JoinGroupResponse(
        generation_id=group.generation_id,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name or "",
        leader=group.leader_id or "",
        member_id=member.member_id,
        members=group.current_member_metadata() if leads else (),
    )


def sync_answer(
    group: GroupMetadata, member: MemberMetadata, *, error: Errors = Errors.NONE
) -> SyncGroupResponse:
    """Tell a member what it reads, or why it has to join again."""
    if error is not Errors.NONE:
        return SyncGroupResponse(error_code=error)
    return SyncGroupResponse(
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        assignment=member.assignment,
    )


def refuse_parked(group: GroupMetadata, member: MemberMetadata, *, error: Errors) -> None:
    """Answer whatever is parked of a member with an error."""
    join = group.park_join(member, None)
    if join is not None:
        join(JoinGroupResponse(error_code=error, member_id=member.member_id))
    sync, member.awaiting_sync = member.awaiting_sync, None
    if sync is not None:
        sync(SyncGroupResponse(error_code=error))
