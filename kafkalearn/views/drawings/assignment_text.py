"""Frames of an assignment in words: for check cells, screen readers, and what pictures say."""

from collections.abc import Iterator, Mapping

from kafkalearn.trace.text import columns, padded
from kafkalearn.views.assignment import Cell, Frame, Row
from kafkalearn.views.wording import listed, plural, shown

Clauses = tuple[tuple[str, str], ...]  # what an assignor did, as (verb, the rest)


def remark(cell: Cell, *, first: bool, limit: int = 24) -> str:
    """Say in a few words what happened to a partition; nothing where nothing did."""
    other = shown(cell["other"] or "", limit)
    return {
        "kept": "",
        "moved": f"from {other}",
        "needless": f"from {other}",
        "orphaned": f"from {other}",
        "new": "" if first else "new",
        "waiting": f"waits for {other}",
        "left": f"to {other}" if other else "",
        "unowned": "",
    }[cell["state"]]


def counts(frame: Frame) -> list[tuple[str, str]]:
    """Give the numbers of a frame, each with what it counts."""
    each = f"{frame['fewest']}" if not frame["spread"] else f"{frame['fewest']} to {frame['most']}"
    spread = (str(frame["spread"]), f"spread ({each} each)")
    if frame["first"]:
        return [(str(sum(row["count"] for row in frame["members"])), "partitions given"), spread]
    return [
        (str(frame["kept"]), f"of {frame['could_keep']} kept"),
        (str(frame["needless"]), "moved needlessly"),
        spread,
    ]


def as_text(frame: Frame, title: str = "") -> str:
    """Tell in words all that a picture shows, one line a member."""
    return "\n".join(_lines(frame, title))


def _lines(frame: Frame, title: str) -> Iterator[str]:
    step = frame["step"]
    head = [f"{number} {what}" for number, what in counts(frame)]
    if step is not None:
        head = [f"reason {step['number']} of {step['of']}"]
    yield (f"{title}: " if title else "") + ", ".join(head)
    names = [shown(row["name"]) for row in frame["members"]] + ["no owner"] * bool(frame["unowned"])
    width = max(map(columns, names), default=0)
    for row in frame["members"]:
        said = _row_text(row, first=frame["first"])
        yield f"  {padded(shown(row['name']), width)}  {said}".rstrip()
    if frame["unowned"]:
        labels = ", ".join(label(cell) for cell in frame["unowned"])
        yield f"  {padded('no owner', width)}  {len(frame['unowned']):>2}  {labels}"


def _row_text(row: Row, *, first: bool) -> str:
    if row["state"] == "left":
        return " -  left"
    cells = []
    for cell in row["partitions"]:
        said = remark(cell, first=first)
        if cell["state"] == "needless":
            said += ", needlessly"
        cells.append(f"{label(cell)} ({said})" if said else label(cell))
    return f"{row['count']:>2}  {', '.join(cells)}"


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
    return "move", f"only the {handed} that must move"
