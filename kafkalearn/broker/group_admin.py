"""DescribeGroups, ListGroups and DeleteGroups: what an administrator is told, and may do.

Source: GroupMetadata.summary and overview (1.0.2, 2.4.0), ClassicGroup.describe (4.0).
"""

from kafkalearn.broker.broker_context import BrokerContext
from kafkalearn.broker.group_metadata import GroupMetadata
from kafkalearn.broker.group_metadata_manager import GroupMetadataManager
from kafkalearn.broker.group_state import GroupState
from kafkalearn.broker.member_metadata import MemberMetadata
from kafkalearn.errors import Errors
from kafkalearn.profile import KafkaProfile
from kafkalearn.protocol.group_admin import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    ListedGroup,
    ListGroupsRequest,
    ListGroupsResponse,
)
from kafkalearn.protocol.message import Reply


class GroupAdmin:
    """Describes, lists and deletes groups."""

    def __init__(self, context: BrokerContext, groups: GroupMetadataManager) -> None:
        self._profile = context.profile
        self._groups = groups

    def handle_describe_groups(
        self, request: DescribeGroupsRequest, now_ms: int, reply: Reply
    ) -> None:
        """Tell each group's state and members; one that does not exist is Dead, without error."""
        found = [(each, self._groups.find_to_show(each)) for each in request.groups]
        groups = [_describe(group_id, each, self._profile) for group_id, each in found]
        reply(DescribeGroupsResponse(groups=tuple(groups)))

    def handle_list_groups(self, request: ListGroupsRequest, now_ms: int, reply: Reply) -> None:
        """Name the groups of this coordinator, in the states that are asked for."""
        if not self._groups.is_active:
            reply(request.get_error_response(Errors.COORDINATOR_NOT_AVAILABLE))
            return
        loading = Errors.COORDINATOR_LOAD_IN_PROGRESS if self._groups.is_loading else Errors.NONE
        if self._groups.is_loading and self._profile.admin_sees_stored_groups:
            reply(request.get_error_response(loading))
            return
        listed = [
            _overview(each, self._profile)
            for each in self._groups.all()
            if _is_seen(each, self._profile)
        ]
        wanted = {each.lower().strip() for each in request.states_filter}
        groups = [each for each in listed if not wanted or each.group_state.lower() in wanted]
        reply(ListGroupsResponse(error_code=loading, groups=tuple(groups)))

    def handle_delete_groups(self, request: DeleteGroupsRequest, now_ms: int, reply: Reply) -> None:
        """Forget Empty groups with their offsets."""
        results = {}
        for group_id in dict.fromkeys(request.groups_names):
            found = self._groups.find_to_show(group_id)
            if isinstance(found, Errors):
                results[group_id] = found
            elif not found.is_in(GroupState.EMPTY):
                results[group_id] = Errors.NON_EMPTY_GROUP
            else:
                self._groups.delete(found, reason="deleted", now_ms=now_ms)
                results[group_id] = Errors.NONE
        reply(DeleteGroupsResponse(results=results))


def _describe(
    group_id: str, group: GroupMetadata | Errors, profile: KafkaProfile
) -> DescribedGroup:
    unseen = isinstance(group, GroupMetadata) and not _is_seen(group, profile)
    if unseen or group is Errors.GROUP_ID_NOT_FOUND:
        return DescribedGroup(Errors.NONE, group_id, GroupState.DEAD.value, "", "", ())
    if isinstance(group, Errors):
        return DescribedGroup(group, group_id, "", "", "", ())
    stable = group.is_in(GroupState.STABLE)
    return DescribedGroup(
        error_code=Errors.NONE,
        group_id=group_id,
        group_state=profile.state_name(group.state.value),
        protocol_type=group.protocol_type or "",
        protocol_data=(group.protocol_name or "") if stable else "",
        members=tuple(_describe_member(group, each, profile) for each in group.members.values()),
    )


def _describe_member(
    group: GroupMetadata, member: MemberMetadata, profile: KafkaProfile
) -> DescribedGroupMember:
    stable = group.is_in(GroupState.STABLE)
    return DescribedGroupMember(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id if profile.describe_tells_instances else None,
        client_id=member.client_id,
        member_metadata=member.metadata(group.protocol_name) if stable else "",
        member_assignment=member.assignment if stable or profile.describe_shows_assignment else "",
    )


def _overview(group: GroupMetadata, profile: KafkaProfile) -> ListedGroup:
    state = profile.state_name(group.state.value) if profile.list_groups_states else ""
    return ListedGroup(group.group_id, group.protocol_type or "", state)


def _is_seen(group: GroupMetadata, profile: KafkaProfile) -> bool:
    return group.is_stored or not profile.admin_sees_stored_groups
