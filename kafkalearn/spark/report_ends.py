"""Each time that a member of a group was gone: who, when, why, and when its client was back."""

import re
from collections import Counter, deque
from typing import Any

from kafkalearn.analysis.causes import LEFT, POLL_REASON, POLL_TIMEOUT, cause_of

Row = dict[str, Any]
SILENT = "session_timeout"
FAULTS = (SILENT, "rebalance_timeout", POLL_TIMEOUT)
_GONE = (SILENT, POLL_TIMEOUT, LEFT)
_NAMES = 4
_AFTER_NAME = r"-[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$"


def client(row: Row) -> str | None:
    """Name the client of a member: a coordinator tells only the id, which begins with it."""
    return row["node"] or (row["member_id"] and re.sub(_AFTER_NAME, "", row["member_id"]))


def ends_of(told: list[Row], members: list[Row]) -> list[Row]:
    """Find each end of a membership, as a rebalance names it, or else as its own row has it.

    out: member_id, node, instance_id, name, left_ms, cause, reason, back_ms (when its client
         joined again, under whatever id), gap_ms (how long a partition had no owner, at most)
    """
    gone = [row for row in told if row["cause"] in _GONE]
    causes = {row["member_id"]: row for row in reversed(gone)}
    found = [
        (member, causes.get(member["member_id"]) or _during(member["left_ms"], told))
        for member in members
        if member["left_ms"] is not None
    ]
    covered = {id(row) for _, row in found}
    # The same id may be gone twice, and a log may not tell whose end it was.
    alone = [(None, row) for row in gone if id(row) not in covered]
    ends = [end for end in (_end(*each) for each in found + alone) if end["left_ms"] is not None]
    ends.sort(key=lambda end: (end["left_ms"], end["member_id"] or ""))
    _find_back(ends, members, told=told)
    return ends


def _during(ms: int, told: list[Row]) -> Row:
    """Find the rebalance that went on at a time."""
    for row in told:
        end = row["ended_ms"] if row["ended_ms"] is not None else row["started_ms"]
        if end is not None and (row["started_ms"] or end) <= ms <= end:
            return row
    return {}


def _end(member: Row | None, row: Row) -> Row:
    """Put together what a member's own row tells, and the rebalance that its end belongs to."""
    who = member or {"instance_id": None, "node": None} | row
    own = {"left_ms": row.get("started_ms"), "reason": None} | (member or {})
    is_named = bool(row) and row["cause"] in _GONE and row["member_id"] == who["member_id"]
    reason = f"{own['reason'] or ''} {(row.get('reason') if is_named else '') or ''}"
    cause = row["cause"] if is_named else cause_of(own["reason"])
    is_late = cause != SILENT and re.search(POLL_REASON, reason)
    return {
        **{name: who[name] for name in ("member_id", "node", "instance_id")},
        "name": client(who),
        "left_ms": own["left_ms"],
        "cause": POLL_TIMEOUT if is_late else cause,
        "reason": reason,
        "gap_ms": max((gap["ms"] for gap in row.get("unowned") or ()), default=0),
    }


def _find_back(ends: list[Row], members: list[Row], *, told: list[Row]) -> None:
    """Give each end the first join of its client after it which no end before has."""
    joins: dict[str | None, deque[int]] = {}
    for row in sorted(members, key=lambda row: row["joined_ms"] or 0):
        if row["joined_ms"] is not None:
            joins.setdefault(client(row), deque()).append(row["joined_ms"])
    listed: dict[str, list[int]] = {}
    for row in told:
        for member_id in row.get("names") or ():
            listed.setdefault(member_id, []).append(row["joined_ms"] or row["ended_ms"] or 0)
    for end in ends:
        of_client = joins.get(end["name"], deque()) if end["name"] else deque()
        while of_client and of_client[0] < end["left_ms"]:
            of_client.popleft()
        back = [of_client.popleft()] if of_client else []
        back += [ms for ms in listed.get(end["member_id"], ()) if ms > end["left_ms"]]
        end["back_ms"] = min(back, default=None)


def said(seen: str, setting: str, *, why: str) -> Row:
    """Make a piece of advice, see `advice`."""
    return {"seen": seen, "setting": setting, "why": why}


def how_often(ends: list[Row]) -> str:
    """Begin a sentence about all of them."""
    return "Once" if len(ends) == 1 else f"{len(ends)} times"


def names_of(ends: list[Row]) -> str:
    """Name clients, the most frequent first."""
    names = Counter(end["name"] or "not known who" for end in ends)
    in_order = sorted(names.items(), key=lambda each: (-each[1], each[0]))
    few = in_order[:_NAMES]
    told = [f"{name} ({count})" if 1 < count < len(ends) else name for name, count in few]
    return ", ".join(told) + (f" and {len(names) - _NAMES} more" if len(names) > _NAMES else "")
