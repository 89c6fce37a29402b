"""Who reads what, and what the last rebalance moved, as members were told: from a trace alone.

The frames are those of `assignment`, which compares two assignments.
"""

from kafkalearn.trace import Event, Trace
from kafkalearn.views.assignment import Frame
from kafkalearn.views.assignment import frames as compared
from kafkalearn.views.drawings.assignment_text import as_text as told
from kafkalearn.views.fold import Needs, default_group, fold, text
from kafkalearn.views.group.members import Members, Partitions
from kafkalearn.views.language import Say

NEEDS: Needs = {"assigned": (), "revoked": (), "group_state": (), "fault": ()}
ESSENTIAL = ("assigned",)


def frames(
    trace: Trace, window: range | None = None, *, group_id: str | None = None
) -> list[Frame]:
    """Compare what members of a group own now with what they owned before its last rebalance.

    group_id: by default `default_group`.
    """
    group_id = default_group(trace) if group_id is None else group_id
    return fold(trace, _Handover(group_id), window=window)


def title(frame: Frame, say: Say) -> str:
    """Give the heading."""
    return say("Assignment, compared with the one before")


def as_text(frame: Frame, say: Say) -> str:
    """Tell the same in words."""
    return told(frame, title(frame, say), say=say)


class _Handover(Members):
    needs = NEEDS

    def __init__(self, group_id: str | None) -> None:
        super().__init__(group_id)
        self._before: dict[str, Partitions] = {}

    def frame(self) -> Frame:
        return compared(self._before, self.owns)[-1]

    def on_group_state(self, event: Event) -> None:
        if event.group_id == self.group_id and text(event, "to") == "PreparingRebalance":
            self._before = dict(self.owns)

    def on_fault(self, event: Event) -> None:
        if text(event, "fault") == "crash":
            self.owns.pop(event.node, None)
