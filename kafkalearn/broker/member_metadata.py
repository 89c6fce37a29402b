"""One member of a group as its coordinator sees it.

Source: kafka.coordinator.group.MemberMetadata (1.0.2, 2.4.0), ClassicGroupMember (4.0).
"""

import json
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kafkalearn.broker.interfaces import Timer
from kafkalearn.protocol.group import CONSUMER_PROTOCOL_TYPE, JoinGroupRequestProtocol
from kafkalearn.protocol.message import Reply

if TYPE_CHECKING:
    from kafkalearn.broker.group_metadata import GroupMetadata


@dataclass(slots=True, kw_only=True, eq=False)
class MemberMetadata:
    """Who it is, what it offers, and which of its requests is parked.

    awaiting_join, awaiting_sync: how to answer a parked JoinGroup or SyncGroup; None if there is
    none. A member has at most one of each: a repeated request replaces the parked one, which then
    is never answered.
    is_new: its first join has not been answered, so it cannot send heartbeats yet.
    """

    member_id: str
    group_instance_id: str | None
    client_id: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    supported_protocols: Sequence[JoinGroupRequestProtocol]
    assignment: str = ""
    awaiting_join: Reply | None = None
    awaiting_sync: Reply | None = None
    is_new: bool = False
    session_timer: Timer | None = field(default=None, repr=False)

    @property
    def is_static_member(self) -> bool:
        """Whether group.instance.id is set (KIP-345)."""
        return self.group_instance_id is not None

    def metadata(self, protocol: str | None) -> str:
        """What it sent with this protocol; '' if it does not offer it."""
        return next((text for name, text in self.supported_protocols if name == protocol), "")

    def matches(self, protocols: Sequence[JoinGroupRequestProtocol]) -> bool:
        """Whether it offers exactly these, in this order and with the same metadata."""
        return list(self.supported_protocols) == list(protocols)

    def vote(self, candidates: Container[str]) -> str:
        """Choose the first of its own list that all members support."""
        return next(name for name, _ in self.supported_protocols if name in candidates)


def subscribed_topics(group: "GroupMetadata") -> set[str] | None:
    """Read what the members subscribe to; None if they are no consumers, or one is unreadable.

    Source: GroupMetadata.computeSubscribedTopics (2.4.0), which reads nothing but the topics.
    """
    if group.protocol_type != CONSUMER_PROTOCOL_TYPE:
        return None
    found: set[str] = set()
    for member in group.members.values():
        try:
            topics = json.loads(member.metadata(group.protocol_name))["topics"]
            found.update(topics)
        except (ValueError, TypeError, KeyError):
            return None
        if not isinstance(topics, list):
            return None
    return found
