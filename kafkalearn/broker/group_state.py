"""The states of a group, and the only moves between them.

Source: kafka.coordinator.group.GroupState and GroupMetadata.validPreviousStates (1.0.2).
"""

from enum import Enum

from kafkalearn.errors import KafkaError
from kafkalearn.trace.kind import SYNC_STATES


class GroupState(Enum):
    """Where a group is. group_coordinator.py tells where each request is answered by it.

    EMPTY: no members; there may be committed offsets.
    PREPARING_REBALANCE: joins are parked until every member has joined or the time is up.
    AWAITING_SYNC: joins are answered, syncs are parked until the leader's brings the assignment.
    STABLE: everybody knows what to read.
    DEAD: given up by this coordinator, and soon forgotten.
    """

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    AWAITING_SYNC = "AwaitingSync"
    STABLE = "Stable"
    DEAD = "Dead"

    @classmethod
    def of(cls, name: str) -> "GroupState":
        """Read a state's name, the newer CompletingRebalance included."""
        try:
            return cls.AWAITING_SYNC if name in SYNC_STATES else cls(name)
        except ValueError:
            allowed = ", ".join(each.value for each in cls)
            raise KafkaError(
                f"{name!r} is no state of a group: {allowed} or CompletingRebalance is allowed"
            ) from None


_S = GroupState
VALID_PREVIOUS_STATES = {
    _S.EMPTY: {_S.PREPARING_REBALANCE},
    _S.PREPARING_REBALANCE: {_S.EMPTY, _S.AWAITING_SYNC, _S.STABLE},
    _S.AWAITING_SYNC: {_S.PREPARING_REBALANCE},
    _S.STABLE: {_S.AWAITING_SYNC},
    _S.DEAD: set(_S),
}
