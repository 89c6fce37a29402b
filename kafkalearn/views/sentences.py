"""The one sentence above a picture: what happened, and what each assignor made of it."""

from collections.abc import Mapping

from kafkalearn.views.assignment import Frame
from kafkalearn.views.wording import listed, plural, shown


def outcome(change: str, frames: Mapping[str, Frame | None]) -> str:
    """Name the change, then the assignors, grouped by outcome; None is one that failed."""
    together: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for name, frame in frames.items():
        together.setdefault(_clauses(frame), []).append(shown(name))
    said = [_said(names, clauses) for clauses, names in together.items() if clauses]
    return f"{change}: {'; '.join(said)}." if said else f"{change}."


def _said(names: list[str], clauses: tuple[tuple[str, str], ...]) -> str:
    verbs = [f"{verb}{'s' if len(names) == 1 else ''} {rest}" for verb, rest in clauses]
    return f"{listed(names)} {listed(verbs)}"


def _clauses(frame: Frame | None) -> tuple[tuple[str, str], ...]:
    """Say what an assignor did, as (verb, the rest)."""
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
