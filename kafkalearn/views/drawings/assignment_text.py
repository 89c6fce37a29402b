"""Frames of an assignment in words: for check cells, screen readers, and what pictures say."""

from collections.abc import Mapping

from kafkalearn.views.assignment import Cell, Frame, Row
from kafkalearn.views.language import Say
from kafkalearn.views.wording import aligned, listed, plural, shown

Clauses = tuple[tuple[str, str], ...]  # what an assignor did, as (verb, the rest)
_ENGLISH = Say()
_REMARKS = {
    **dict.fromkeys(("moved", "needless", "orphaned"), "from {}"),
    "new": "new",
    "waiting": "waits for {}",
    "left": "to {}",
}


def remark(cell: Cell, *, first: bool, limit: int = 24, say: Say = _ENGLISH) -> str:
    """Say in a few words what happened to a partition; nothing where nothing did."""
    state, other = cell["state"], shown(cell["other"] or "", limit)
    if state not in _REMARKS or (state == "new" and first) or (state == "left" and not other):
        return ""
    return say(_REMARKS[state], other)


def counts(frame: Frame, say: Say = _ENGLISH) -> list[tuple[str, str]]:
    """Give the numbers of a frame, each with what it counts."""
    fewest, most = frame["fewest"], frame["most"]
    each = say("{} to {}", fewest, most) if frame["spread"] else str(most)
    spread = (str(frame["spread"]), say("spread ({} each)", each))
    if frame["first"]:
        given = "partition given" if frame["given"] == 1 else "partitions given"
        return [(str(frame["given"]), say(given)), spread]
    return [
        (str(frame["kept"]), say("of {} kept", frame["could_keep"])),
        (str(frame["needless"]), say("moved needlessly")),
        spread,
    ]


def as_text(frame: Frame, title: str = "", *, say: Say = _ENGLISH) -> str:
    """Tell in words all that a picture shows, one line a member."""
    step = frame["step"]
    head = ", ".join(f"{number} {what}" for number, what in counts(frame, say))
    if step is not None:
        head = say("reason {} of {}", step["number"], step["of"])
    rows = [(shown(row["name"]), *_told(row, frame["first"], say)) for row in frame["members"]]
    if cells := frame["unowned"]:
        rows.append((say("no owner"), f"{len(cells):>2}", ", ".join(map(label, cells))))
    lines = [f"  {line}" for line in aligned(rows, right=[1])]
    return "\n".join([f"{title}: {head}" if title else head, *lines])


def _told(row: Row, first: bool, say: Say) -> tuple[str, str]:
    if row["state"] == "left":
        return " -", say("left")
    cells = []
    for cell in row["partitions"]:
        said = remark(cell, first=first, say=say)
        if cell["state"] == "needless":
            said = say("{}, needlessly", said)
        cells.append(f"{label(cell)} ({said})" if said else label(cell))
    return f"{row['count']:>2}", ", ".join(cells)


def label(cell: Cell, limit: int = 250) -> str:
    """``orders-3``; a long topic is shortened, the number never."""
    return f"{shown(cell['topic'], limit)}-{cell['partition']}"


def outcome(change: str, frames: Mapping[str, Frame | None]) -> str:
    """Say in one sentence what happened and what each assignor made of it; None: it failed."""
    together: dict[Clauses, list[str]] = {}
    for name, frame in frames.items():
        together.setdefault(_clauses(frame), []).append(shown(name))
    said = [_said(names, clauses) for clauses, names in together.items() if clauses]
    return f"{change}: {'; '.join(said)}." if said else f"{change}."


def _said(names: list[str], clauses: Clauses) -> str:
    verbs = [f"{verb}{'s' if len(names) == 1 else ''} {rest}" for verb, rest in clauses]
    return f"{listed(names)} {listed(verbs)}"


def _clauses(frame: Frame | None) -> Clauses:
    if frame is None:
        return (("fail", "to assign"),)
    if not frame["members"]:
        return ()
    clauses = [("give", _each(frame))] if frame["first"] else [_moves(frame)]
    if frame["waiting"]:
        clauses.append(("hold", f"back {frame['waiting']} that must be given up first"))
    if frame["unowned"]:
        clauses.append(("leave", f"{plural(len(frame['unowned']), 'partition')} with no owner"))
    return tuple(clauses)


def _each(frame: Frame) -> str:
    fewest, most = frame["fewest"], frame["most"]
    return f"each {most}" if fewest == most else f"each {fewest} to {most}"


def _moves(frame: Frame) -> tuple[str, str]:
    handed = frame["moved"] + frame["orphaned"]
    if frame["needless"]:
        return "move", f"{frame['needless']} that need not move"
    if not handed:
        return "move", "nothing"
    if not frame["moved"] and len(frame["left"]) == 1:
        return "move", f"only its {plural(handed, 'partition')}"
    return "move", f"{handed}, {'none' if handed > 1 else 'not'} needlessly"
