"""Views: plain functions make frames (data), drawings show them. They decide nothing about Kafka.

Widgets are found on first use, so that the plain functions work without them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafkalearn.views.explorers.assignment_explorer import AssignmentExplorer
    from kafkalearn.views.explorers.commit_explorer import CommitExplorer
    from kafkalearn.views.explorers.partitioner_explorer import PartitionerExplorer
    from kafkalearn.views.explorers.rebalance_explorer import RebalanceExplorer
    from kafkalearn.views.stepper import Stepper

__all__ = [
    "AssignmentExplorer",
    "CommitExplorer",
    "PartitionerExplorer",
    "RebalanceExplorer",
    "Stepper",
]
_MODULES = {
    "AssignmentExplorer": "explorers.assignment_explorer",
    "CommitExplorer": "explorers.commit_explorer",
    "PartitionerExplorer": "explorers.partitioner_explorer",
    "RebalanceExplorer": "explorers.rebalance_explorer",
    "Stepper": "stepper",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"kafkalearn.views.{_MODULES[name]}"), name)
