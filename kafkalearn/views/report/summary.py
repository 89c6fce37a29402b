"""A group in a few sentences: what happened, who is to blame, what partitions went through."""

from collections.abc import Mapping
from typing import Any

from kafkalearn.views.report import words
from kafkalearn.views.wording import listed, plural, shown

Row = Mapping[str, Any]
_NAMES, _LONG_MS = 4, 1000


def summary(group: Row) -> str:
    """Tell a group in a few sentences."""
    wide = words.lasted(group["last_ms"] - group["first_ms"])
    told = f"{plural(sum(group['causes'].values()), 'rebalance')} in {wide} of events"
    told += f": {why(group)}." if group["causes"] else "."
    if times := [(took(row), row["generation"]) for row in group["rebalances"] if took(row)]:
        longest, number = max(times, key=lambda each: each[0])
        told += f" The longest, to generation {words.told(number)}, took {words.lasted(longest)}."
    if (gaps := unowned(group)) != words.NOT_KNOWN:
        told += f" Partitions without an owner: {gaps}."
    if (both := _doubled(group)) >= _LONG_MS:
        told += f" A partition had two owners at once for {words.lasted(both)}."
    by_end = sorted(group["ownership"], key=lambda row: row["until_ms"] or group["last_ms"])
    ends = {(row["topic"], row["partition"]): row["until_ms"] for row in by_end}
    idle = max((group["last_ms"] - end for end in ends.values() if end is not None), default=0)
    if idle >= _LONG_MS and not unseen(group):
        told += f" At the end a partition had no owner for {words.lasted(idle)}."
    return told


def _doubled(group: Row) -> int:
    """For how many ms, at most, one that had not noticed its end and another had a partition."""
    most, before = 0, dict[tuple[str, int], tuple[int, str]]()
    for row in sorted(group["ownership"], key=lambda row: row["from_ms"]):
        end = group["last_ms"] if row["until_ms"] is None else row["until_ms"]
        until, node = before.get((row["topic"], row["partition"]), (0, row["node"]))
        if node != row["node"]:
            most = max(most, min(end, until) - row["from_ms"])
        before[row["topic"], row["partition"]] = max((until, node), (end, row["node"]))
    return most


def unseen(group: Row) -> bool:
    """Whether of some member no event tells what it owned: its log is not here."""
    seen, nodes = {row["node"] for row in group["ownership"]}, group["nodes"]
    names = (name for row in group["rebalances"] for name in row.get("names") or ())
    return any((nodes.get(name) or name) not in seen for name in names)


def why(group: Row) -> str:
    """Count what a group's rebalances were due to, with those who are to blame."""
    blamed: dict[str, list[str]] = {}
    for row in group["rebalances"]:
        if row["rebalance"] and row["node"]:
            blamed.setdefault(row["cause"] or words.NOT_KNOWN, []).append(shown(row["node"], 30))
    told = []
    for cause, count in group["causes"].items():
        who = sorted(set(blamed.get(cause, ())))
        more = [f"{len(who) - _NAMES} more"] if len(who) > _NAMES else []
        by = f" ({listed(who[:_NAMES] + more)})" if who else ""
        told.append(f"{count} × {words.cause(cause)}{by}")
    return listed(told)


def unowned(group: Row) -> str:
    """Say how often partitions had no owner, and for how long at most."""
    rows = group["rebalances"]
    gaps = [gap["ms"] for row in rows for gap in row.get("unowned") or ()]
    if not gaps:
        return "no gap" if any(row.get("kept") is not None for row in rows) else words.NOT_KNOWN
    return f"{plural(len(gaps), 'gap')} of up to {words.lasted(max(gaps))}"


def took(row: Row) -> Any:
    """How long a rebalance took, in ms; None if that is not known."""
    begin, end = row.get("started_ms"), row.get("ended_ms")
    return None if begin is None or end is None else end - begin
