"""Pictures of assignments for feedback and notebooks: two matrices, as the views draw them.

They are SVG in HTML; their colours come from the views' look.css, which the page has to hold.
"""

from collections.abc import Mapping
from html import escape

from kafkalearn.grading.judging.assignments import (
    ROWS_SHOWN,
    Assignment,
    Group,
    owned_before,
    readable,
)
from kafkalearn.records import TopicPartition
from kafkalearn.views.assignment import Frame, frames
from kafkalearn.views.drawings.matrix import panel
from kafkalearn.views.wording import tag

_PANELS = "display:flex;flex-wrap:wrap;gap:14px 36px;align-items:flex-start;margin-top:10px"
_SAID = "margin:8px 0 4px;font:13px/1.4 var(--sans);color:var(--soft)"
_FITTING = '<svg style="flex:1 1 340px;max-width:464px;height:auto" '


def compared(group: Group, answer: object, *, expected: Assignment, assignor: str) -> str:
    """Draw the only right answer, and this one with what differs outlined; '' if it is none."""
    got = _drawable(group, answer)
    if got is None:
        return ""
    may_read = readable(group)
    by_name = {member: expected[member] for member in got}
    (right,) = frames({}, by_name, may_read=may_read)
    (frame,) = frames(by_name, got, may_read=may_read)
    frame["first"] = True  # nothing moved: both are answers to the same question
    cells = [cell for row in frame["members"] for cell in row["partitions"]]
    for cell in cells:
        cell["state"] = "moved" if cell["state"] == "needless" else cell["state"]
    differs = any(cell["state"] == "moved" for cell in cells)
    said = f"Outlined: {assignor} gives it to another member, named below it." if differs else ""
    return _picture({f"expected: {assignor}": right, "got: your answer": frame}, said)


def changed(group: Group, answers: Mapping[str, object]) -> str:
    """Draw what answers, by title, change of what was owned; '' if one of them is none."""
    panels, was_there = {}, {m: said.generation >= 0 for m, said in group[1].items()}
    before = {member: mine for member, mine in owned_before(group).items() if was_there[member]}
    for title, answer in answers.items():
        got = _drawable(group, answer)
        if got is None:
            return ""
        panels[title] = frames(before, got, may_read=readable(group))[-1]
    said = "Outlined: changed hands, its owner before is named below; ⇄ it could have stayed there."
    return _picture(panels, said if any(before.values()) else "")


def _drawable(group: Group, answer: object) -> Assignment | None:
    """What there is of partitions in an answer, member by member; None if none can be drawn."""
    members = sorted(group[1])
    if not isinstance(answer, dict) or len(members) > ROWS_SHOWN:
        return None
    exists = {partition for partitions in readable(group).values() for partition in partitions}
    lists = {member: answer.get(member) for member in members}
    return {
        member: [p for p in got if isinstance(p, TopicPartition) and p in exists]
        if isinstance(got, list)
        else []
        for member, got in lists.items()
    }


def _picture(panels: Mapping[str, Frame], said: str) -> str:
    drawn = (panel(frame, title).replace("<svg ", _FITTING, 1) for title, frame in panels.items())
    note = tag("p", escape(said), style=_SAID) if said else ""
    return tag("div", tag("div", "".join(drawn), style=_PANELS) + note, class_="kl")
