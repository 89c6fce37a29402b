"""Membership: finding the coordinator, joining, syncing, staying alive, leaving.

Source: FindCoordinator, JoinGroup, SyncGroup, Heartbeat, LeaveGroup in the message definitions of
3.9.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from kafkalearn.errors import Errors
from kafkalearn.protocol.message import UNKNOWN_GENERATION_ID, UNKNOWN_MEMBER_ID, Request, Response

CONSUMER_PROTOCOL_TYPE = "consumer"


@dataclass(slots=True, kw_only=True)
class FindCoordinatorResponse(Response):
    """node: the broker that coordinates the group, as in ``broker-0``; '' with an error.

    Differs from Kafka: the node's name stands for its id, host and port.
    """

    node: str = ""


@dataclass(slots=True, kw_only=True)
class FindCoordinatorRequest(Request):
    """key: the group id."""

    api: ClassVar[str] = "FindCoordinator"
    key: str

    def get_error_response(self, error: Errors) -> FindCoordinatorResponse:
        """See Request."""
        return FindCoordinatorResponse(error_code=error)


class JoinGroupRequestProtocol(NamedTuple):
    """An assignor that the member offers, with its subscription as text."""

    name: str
    metadata: str


class JoinGroupResponseMember(NamedTuple):
    """A member as the leader sees it: with its metadata for the chosen protocol."""

    member_id: str
    group_instance_id: str | None
    metadata: str


@dataclass(slots=True, kw_only=True)
class JoinGroupResponse(Response):
    """members: everybody, for the leader alone; empty for followers.

    skip_assignment: the leader of a group that did not rebalance must not assign (KIP-814).
    """

    generation_id: int = UNKNOWN_GENERATION_ID
    protocol_type: str | None = None
    protocol_name: str = ""
    leader: str = ""
    skip_assignment: bool = False
    member_id: str = UNKNOWN_MEMBER_ID
    members: tuple[JoinGroupResponseMember, ...] = ()


@dataclass(slots=True, kw_only=True)
class JoinGroupRequest(Request):
    """protocols: the assignors offered, preferred first.

    client_id: what member ids begin with. In Kafka it stands in the header of every request.
    """

    api: ClassVar[str] = "JoinGroup"
    group_id: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    member_id: str = UNKNOWN_MEMBER_ID
    group_instance_id: str | None = None
    protocol_type: str = CONSUMER_PROTOCOL_TYPE
    protocols: tuple[JoinGroupRequestProtocol, ...]
    client_id: str = ""

    def get_error_response(self, error: Errors) -> JoinGroupResponse:
        """See Request."""
        return JoinGroupResponse(error_code=error, member_id=self.member_id)


@dataclass(slots=True, kw_only=True)
class SyncGroupResponse(Response):
    """assignment: what this member reads, as text; '' for nothing."""

    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: str = ""


@dataclass(slots=True, kw_only=True)
class SyncGroupRequest(Request):
    """assignments: member id -> assignment, from the leader; empty from followers.

    protocol_type, protocol_name: None where the client does not send them (before KIP-559, 2.5).
    """

    api: ClassVar[str] = "SyncGroup"
    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None = None
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignments: Mapping[str, str] = field(default_factory=dict)

    def get_error_response(self, error: Errors) -> SyncGroupResponse:
        """See Request."""
        return SyncGroupResponse(error_code=error)


@dataclass(slots=True, kw_only=True)
class HeartbeatResponse(Response):
    """REBALANCE_IN_PROGRESS is how a member learns that it has to join again."""


@dataclass(slots=True, kw_only=True)
class HeartbeatRequest(Request):
    """The member is alive, and believes to be in this generation."""

    api: ClassVar[str] = "Heartbeat"
    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None = None

    def get_error_response(self, error: Errors) -> HeartbeatResponse:
        """See Request."""
        return HeartbeatResponse(error_code=error)


class MemberIdentity(NamedTuple):
    """Who leaves: by member id, or an administrator names a static member by its instance id."""

    member_id: str
    group_instance_id: str | None = None


class MemberResponse(NamedTuple):
    """Whether one of those who leave could."""

    member_id: str
    group_instance_id: str | None
    error_code: Errors


@dataclass(slots=True, kw_only=True)
class LeaveGroupResponse(Response):
    """members: an error each, where the profile lets several members leave in one request."""

    members: tuple[MemberResponse, ...] = ()


@dataclass(slots=True, kw_only=True)
class LeaveGroupRequest(Request):
    """members: who leaves; one only before KIP-345's second half (2.4)."""

    api: ClassVar[str] = "LeaveGroup"
    group_id: str
    members: tuple[MemberIdentity, ...]

    def get_error_response(self, error: Errors) -> LeaveGroupResponse:
        """See Request."""
        return LeaveGroupResponse(error_code=error)
