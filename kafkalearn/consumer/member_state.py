"""How a member sees itself, which may differ from how its coordinator sees it.

Source: AbstractCoordinator.MemberState, AbstractCoordinator.Generation (1.0.2; 2.7 where said).
"""

from enum import Enum
from typing import NamedTuple

from kafkalearn.protocol.message import UNKNOWN_GENERATION_ID, UNKNOWN_MEMBER_ID


class MemberState(Enum):
    """UNJOINED, REBALANCING from JoinGroup on, STABLE with an assignment.

    COMPLETING_REBALANCE: between the answers to JoinGroup and SyncGroup, where the profile has
    heartbeats then (2.7; REBALANCING before).
    """

    UNJOINED = "UNJOINED"
    REBALANCING = "REBALANCING"
    COMPLETING_REBALANCE = "COMPLETING_REBALANCE"
    STABLE = "STABLE"

    @property
    def has_heartbeats(self) -> bool:
        """Whether a member keeps telling that it lives (Java: not hasNotJoinedGroup)."""
        return self in (MemberState.STABLE, MemberState.COMPLETING_REBALANCE)


class Generation(NamedTuple):
    """Which generation of the group a member is in, under which id, with which assignor."""

    generation_id: int
    member_id: str
    protocol: str

    @property
    def is_reset(self) -> bool:
        """Whether it is none: the member was in none yet, or fell out of it."""
        return self.generation_id == UNKNOWN_GENERATION_ID


NO_GENERATION = Generation(UNKNOWN_GENERATION_ID, UNKNOWN_MEMBER_ID, "")
