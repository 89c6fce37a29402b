"""Views: plain functions make frames (data), drawings show them. They decide nothing about Kafka.

Widgets are found on first use, so that the plain functions work without them.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafkalearn.views.assignment_explorer import AssignmentExplorer

__all__ = ["AssignmentExplorer"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from kafkalearn.views.assignment_explorer import AssignmentExplorer

    return AssignmentExplorer
