"""Assignors: (partitions per topic, subscriptions) -> who reads what. Pure; one file each.

Names are found on first use, so that a copy of the package that lacks an assignor (as an exercise's
has) still serves the others.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafkalearn.assignors.cooperative_sticky_assignor import CooperativeStickyAssignor
    from kafkalearn.assignors.explanation import Change, Step, follow, table
    from kafkalearn.assignors.partition_assignor import AbstractPartitionAssignor, PartitionAssignor
    from kafkalearn.assignors.range_assignor import RangeAssignor
    from kafkalearn.assignors.registry import all_assignors, assignor
    from kafkalearn.assignors.round_robin_assignor import RoundRobinAssignor
    from kafkalearn.assignors.sticky_assignor import StickyAssignor
    from kafkalearn.records import Subscription, TopicPartition

__all__ = [
    "AbstractPartitionAssignor",
    "Change",
    "CooperativeStickyAssignor",
    "PartitionAssignor",
    "RangeAssignor",
    "RoundRobinAssignor",
    "Step",
    "StickyAssignor",
    "Subscription",
    "TopicPartition",
    "all_assignors",
    "assignor",
    "follow",
    "table",
]

_WHERE = {
    "AbstractPartitionAssignor": "kafkalearn.assignors.partition_assignor",
    "Change": "kafkalearn.assignors.explanation",
    "CooperativeStickyAssignor": "kafkalearn.assignors.cooperative_sticky_assignor",
    "PartitionAssignor": "kafkalearn.assignors.partition_assignor",
    "RangeAssignor": "kafkalearn.assignors.range_assignor",
    "RoundRobinAssignor": "kafkalearn.assignors.round_robin_assignor",
    "Step": "kafkalearn.assignors.explanation",
    "StickyAssignor": "kafkalearn.assignors.sticky_assignor",
    "Subscription": "kafkalearn.records",
    "TopicPartition": "kafkalearn.records",
    "all_assignors": "kafkalearn.assignors.registry",
    "assignor": "kafkalearn.assignors.registry",
    "follow": "kafkalearn.assignors.explanation",
    "table": "kafkalearn.assignors.explanation",
}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)
