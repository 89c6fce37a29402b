"""The coordinator of the groups whose __consumer_offsets partition this broker leads.

Each request first passes the same checks (GroupMetadataManager.find): is the coordinator active, is
it this group's, has it read the group, does the group exist. Then the group's state decides: for
joins in join_group_handler.py, for the other requests of members in group_membership.py, for
commits in group_offsets.py. What they decide happens in group_rebalance.py.

Source: kafka.coordinator.group.GroupCoordinator (1.0.2, 2.4.0), GroupCoordinatorService (4.0).
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kafkalearn.broker.broker_context import BrokerContext
from kafkalearn.broker.group_admin import GroupAdmin
from kafkalearn.broker.group_membership import GroupMembership
from kafkalearn.broker.group_metadata_manager import GroupMetadataManager
from kafkalearn.broker.group_offsets import GroupOffsets
from kafkalearn.broker.join_group_handler import JoinGroupHandler
from kafkalearn.broker.offset_store import OffsetStore
from kafkalearn.errors import InvalidRequestError
from kafkalearn.profile import KafkaProfile
from kafkalearn.protocol.group import (
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    SyncGroupRequest,
)
from kafkalearn.protocol.group_admin import (
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    ListGroupsRequest,
)
from kafkalearn.protocol.message import Reply, Request
from kafkalearn.protocol.offsets import OffsetCommitRequest, OffsetFetchRequest
from kafkalearn.records import TopicPartition

Handler = Callable[[Any, int, Reply], None]
_Asks = Callable[[Any], bool]


class GroupCoordinator:
    """Takes the requests that concern groups, and follows the leadership of partitions.

    handlers: for each kind of request that it takes; those of what the profile does not know
    raise InvalidRequestError.
    groups: what it knows; to look at, not to change.
    """

    def __init__(self, context: BrokerContext, store: OffsetStore) -> None:
        release = f"profile {context.profile.release}"
        self.groups = GroupMetadataManager(context, store)
        self.partition_for = store.partition_for
        join_group = JoinGroupHandler(context, self.groups, store=store)
        members = GroupMembership(context, self.groups)
        offsets = GroupOffsets(context, self.groups, store=store)
        admin = GroupAdmin(context, self.groups)
        self.handlers: dict[type[Request], Handler] = {
            JoinGroupRequest: join_group.handle_join_group,
            SyncGroupRequest: members.handle_sync_group,
            HeartbeatRequest: members.handle_heartbeat,
            LeaveGroupRequest: members.handle_leave_group,
            OffsetCommitRequest: offsets.handle_commit_offsets,
            OffsetFetchRequest: offsets.handle_fetch_offsets,
            DescribeGroupsRequest: admin.handle_describe_groups,
            ListGroupsRequest: admin.handle_list_groups,
            DeleteGroupsRequest: admin.handle_delete_groups,
        }

        for kind, asks, why in _what_is_unknown_to(context.profile):
            self.handlers[kind] = _refusing(
                self.handlers[kind], asks, f"{release} does not know {why}"
            )

    def startup(self, now_ms: int) -> None:
        """Begin to answer."""
        self.groups.started_ms = now_ms
        self.groups.is_active = True

    def handle(self, request: Request, now_ms: int, reply: Reply) -> None:
        """Answer a request, now or later; InvalidRequestError if the profile does not know it."""
        self.handlers[type(request)](request, now_ms, reply)

    def handle_group_immigration(self, partition: int, now_ms: int) -> None:
        """Lead a partition of __consumer_offsets from now on: read its groups back."""
        self.groups.load(partition, now_ms)

    def handle_group_emigration(self, partition: int, now_ms: int) -> None:
        """Lead it no more: send parked members to the new coordinator."""
        self.groups.unload(partition, now_ms)

    def handle_deleted_partitions(self, partitions: Iterable[TopicPartition], now_ms: int) -> None:
        """Forget what was committed for partitions that are gone, as far as it is read here.

        As in Kafka, nobody is told later: what another coordinator held that was down then, or what
        is just being read, is kept until it expires.
        """
        self.groups.remove_partitions(partitions, now_ms)


def _what_is_unknown_to(profile: KafkaProfile) -> Iterator[tuple[type[Request], _Asks, str]]:
    """Give the requests that no client of this release could send: type, which of them, why."""
    if not profile.static_members:
        why = "group_instance_id (KIP-345, from 2.3)"
        for kind in (JoinGroupRequest, SyncGroupRequest, HeartbeatRequest, OffsetCommitRequest):
            yield kind, lambda request: request.group_instance_id is not None, why
    if not profile.delete_groups:
        yield DeleteGroupsRequest, lambda request: True, "DeleteGroups (KIP-229, from 1.1)"
    if not profile.batch_leave:
        why = "a LeaveGroup that names more than one member id (KIP-345, from 2.4)"
        yield LeaveGroupRequest, _names_more_than_one_id, why
    if not profile.list_groups_states:
        why = "states_filter (KIP-518, from 2.6)"
        yield ListGroupsRequest, lambda request: bool(request.states_filter), why
    if not profile.sync_names_protocol:
        why = "a SyncGroup that names its protocol (KIP-559, from 2.5)"
        yield SyncGroupRequest, _names_protocol, why


def _names_more_than_one_id(request: LeaveGroupRequest) -> bool:
    return len(request.members) != 1 or request.members[0].group_instance_id is not None


def _names_protocol(request: SyncGroupRequest) -> bool:
    return request.protocol_name is not None or request.protocol_type is not None


def _refusing(handler: Handler, asks: _Asks, why: str) -> Handler:
    def handle(request: Any, now_ms: int, reply: Reply) -> None:
        if asks(request):
            raise InvalidRequestError(f"{why}: choose a newer one")
        handler(request, now_ms, reply)

    return handle
