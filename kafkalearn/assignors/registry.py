"""Kafka's assignors by the names of ``partition.assignment.strategy``."""

from kafkalearn.assignors.cooperative_sticky_assignor import CooperativeStickyAssignor
from kafkalearn.assignors.partition_assignor import AbstractPartitionAssignor
from kafkalearn.assignors.range_assignor import RangeAssignor
from kafkalearn.assignors.round_robin_assignor import RoundRobinAssignor
from kafkalearn.assignors.sticky_assignor import StickyAssignor
from kafkalearn.errors import UnknownAssignorError


def all_assignors() -> list[AbstractPartitionAssignor]:
    """One of each, in the order in which the documents and releases brought them."""
    return [RangeAssignor(), RoundRobinAssignor(), StickyAssignor(), CooperativeStickyAssignor()]


def assignor(name: str) -> AbstractPartitionAssignor:
    """The assignor called `name`; UnknownAssignorError lists the names there are."""
    by_name = {each.name: each for each in all_assignors()}
    if not isinstance(name, str) or name not in by_name:
        raise UnknownAssignorError(
            f"there is no assignor {name!r:.60}: {', '.join(by_name)} are allowed"
        )
    return by_name[name]
