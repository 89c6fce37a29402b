"""Who reads what, and what the last rebalance moved, as members were told: from a trace alone.

The frames are those of `assignment`, which compares two assignments.
"""

from typing import Any

from kafkalearn.records import TopicPartition
from kafkalearn.trace import Event, Trace
from kafkalearn.views.assignment import Frame, Owned
from kafkalearn.views.assignment import frames as compared
from kafkalearn.views.drawings.assignment_text import as_text as told
from kafkalearn.views.fold import Needs, fold, mapping, text
from kafkalearn.views.language import Say

NEEDS: Needs = {"assigned": (), "revoked": (), "group_state": (), "fault": ()}
ESSENTIAL = ("assigned",)


def frames(trace: Trace, window: range | None = None) -> list[Frame]:
    """Compare what members own now with what they owned before the last rebalance began."""
    return fold(trace, _Handover(), window=window)


def title(frame: Frame, say: Say) -> str:
    """Give the heading."""
    return say("Assignment, compared with the one before")


def as_text(frame: Frame, say: Say) -> str:
    """Tell the same in words."""
    return told(frame, title(frame, say))


class _Handover:
    needs = NEEDS

    def __init__(self) -> None:
        self._before: Owned = {}
        self._now: Owned = {}

    def frame(self) -> Frame:
        return compared(self._before, self._now)[-1]

    def on_group_state(self, event: Event) -> None:
        if text(event, "to") == "PreparingRebalance":
            self._before = {member: list(owned) for member, owned in self._now.items()}

    def on_assigned(self, event: Event) -> None:
        owned = self._now.setdefault(event.node, [])
        owned += [each for each in _partitions(event) if each not in owned]

    def on_revoked(self, event: Event) -> None:
        given_up = _partitions(event)
        owned = [each for each in self._now.get(event.node, ()) if each not in given_up]
        self._now[event.node] = owned

    def on_fault(self, event: Event) -> None:
        if text(event, "fault") == "crash":
            self._now.pop(event.node, None)


def _partitions(event: Event) -> list[TopicPartition]:
    named: dict[str, Any] = mapping(event, "partitions")
    return [
        TopicPartition(topic, each)
        for topic, numbers in named.items()
        if isinstance(numbers, list)
        for each in numbers
        if type(each) is int and each >= 0
    ]
