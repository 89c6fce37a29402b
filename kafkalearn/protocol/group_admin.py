"""Groups as an administrator sees them: described, listed, deleted.

Source: DescribeGroups, ListGroups, DeleteGroups in the message definitions of 3.9.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from kafkalearn.errors import Errors
from kafkalearn.protocol.message import Request, Response


class DescribedGroupMember(NamedTuple):
    """A member with what it offered for the chosen protocol and what it was given."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    member_metadata: str
    member_assignment: str


class DescribedGroup(NamedTuple):
    """A group as an administrator sees it; a group that does not exist is ``Dead``."""

    error_code: Errors
    group_id: str
    group_state: str
    protocol_type: str
    protocol_data: str
    members: tuple[DescribedGroupMember, ...]


@dataclass(slots=True, kw_only=True)
class DescribeGroupsResponse(Response):
    """groups: one for each group asked for, in that order."""

    groups: tuple[DescribedGroup, ...] = ()


@dataclass(slots=True, kw_only=True)
class DescribeGroupsRequest(Request):
    """groups: the ids of those to describe, which need not exist."""

    api: ClassVar[str] = "DescribeGroups"
    groups: tuple[str, ...]

    def get_error_response(self, error: Errors) -> DescribeGroupsResponse:
        """See Request."""
        return DescribeGroupsResponse(
            groups=tuple(
                DescribedGroup(error, group_id, "", "", "", ()) for group_id in self.groups
            )
        )


class ListedGroup(NamedTuple):
    """A group of this coordinator; group_state is '' where the profile does not tell it."""

    group_id: str
    protocol_type: str
    group_state: str


@dataclass(slots=True, kw_only=True)
class ListGroupsResponse(Response):
    """groups: those whose coordinator the asked broker is; a client asks every broker."""

    groups: tuple[ListedGroup, ...] = ()


@dataclass(slots=True, kw_only=True)
class ListGroupsRequest(Request):
    """states_filter: names of states; empty for all (KIP-518, 2.6)."""

    api: ClassVar[str] = "ListGroups"
    states_filter: tuple[str, ...] = ()

    def get_error_response(self, error: Errors) -> ListGroupsResponse:
        """See Request."""
        return ListGroupsResponse(error_code=error)


@dataclass(slots=True, kw_only=True)
class DeleteGroupsResponse(Response):
    """results: group id -> error."""

    results: Mapping[str, Errors] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class DeleteGroupsRequest(Request):
    """groups_names: Kafka's own spelling of the group ids (KIP-229, 1.1)."""

    api: ClassVar[str] = "DeleteGroups"
    groups_names: tuple[str, ...]

    def get_error_response(self, error: Errors) -> DeleteGroupsResponse:
        """See Request."""
        return DeleteGroupsResponse(results=dict.fromkeys(self.groups_names, error))
