"""Who reads what, and what the last rebalance moved, as members were told: from a trace alone.

The frames are those of `assignment`, which compares two assignments.
"""

from kafkalearn.trace import Event, Trace
from kafkalearn.views import assignment
from kafkalearn.views.drawings.assignment_text import as_text as told
from kafkalearn.views.fold import Needs, default_group, fold, text
from kafkalearn.views.group.members import Members, Partitions
from kafkalearn.views.language import Say
from kafkalearn.views.wording import shown

NEEDS: Needs = {
    **dict.fromkeys(("assigned", "revoked", "group_state", "fault"), ()),
    "client_state": ("group_id",),
}
_LEAVES = ("the consumer closes", "the consumer unsubscribed from all topics")
ESSENTIAL = ("assigned",)
LIMIT = 24


class Frame(assignment.Frame):
    """At most `LIMIT` members, and `LIMIT` partitions of each; the numbers are of the whole.

    more: members that are left out. cut: so many partitions of whom are; None: of nobody.
    """

    more: int
    cut: list[tuple[str | None, int]]


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
    return "\n".join([told(frame, title(frame, say), say=say), *left_out(frame, say)])


def left_out(frame: Frame, say: Say) -> list[str]:
    """Say in lines what the picture leaves out."""
    lines = [
        f"{say('no owner') if name is None else shown(name)}: {say('and {} more', count)}"
        for name, count in frame["cut"]
    ]
    return [*lines, say("and {} more", frame["more"])] if frame["more"] else lines


class _Handover(Members):
    needs = NEEDS

    def __init__(self, group_id: str | None) -> None:
        super().__init__(group_id)
        self._before: dict[str, Partitions] = {}
        self._given: dict[str, Partitions] = {}  # what each owned when it was last given something

    def frame(self) -> Frame:
        (frame,) = assignment.frames(self._before, self.owns)
        rows, nobody_s = frame["members"], frame["unowned"]
        drawn = rows[:LIMIT]
        sizes = [(row["name"], len(row["partitions"])) for row in drawn] + [(None, len(nobody_s))]
        return {
            **frame,
            "members": [{**row, "partitions": row["partitions"][:LIMIT]} for row in drawn],
            "left": frame["left"][:LIMIT],
            "unowned": nobody_s[:LIMIT],
            "more": len(rows) - len(drawn),
            "cut": [(name, size - LIMIT) for name, size in sizes if size > LIMIT],
        }

    def on_group_state(self, event: Event) -> None:
        if event.group_id == self.group_id and text(event, "to") == "PreparingRebalance":
            self._before = self._given
            self._given = {node: self._given.get(node, ()) for node in self.owns}

    def on_assigned(self, event: Event) -> None:
        super().on_assigned(event)
        if event.group_id == self.group_id:
            self._given[event.node] = self.owns[event.node]

    def on_client_state(self, event: Event) -> None:
        if event.group_id == self.group_id and text(event, "reason") in _LEAVES:
            self.owns.pop(event.node, None)

    def on_fault(self, event: Event) -> None:
        if text(event, "fault") == "crash":
            self.owns.pop(event.node, None)
