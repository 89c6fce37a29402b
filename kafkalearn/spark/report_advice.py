"""Which settings would have helped a group: only what its own numbers support, and those beside.

Rows are those of the tables, of one group.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from kafkalearn.analysis.causes import LEFT, POLL_REASON, POLL_TIMEOUT, cause_of

Row = dict[str, Any]
_AT_START_MS, _RESTART_MS = 10_000, 60_000  # what is further apart is a story of its own
_GONE = ("session_timeout", POLL_TIMEOUT, LEFT)
_EVICTED = ("UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS")


def advice(told: list[Row], *, others: Mapping[str, list[Row]]) -> list[Row]:
    """Judge a group's rebalances and commits.

    out: seen (what happened, with its numbers), setting, why (it would have helped)
    """
    members = others["membership"]
    in_order = sorted(members, key=lambda row: (row["left_ms"] or 0, row["member_id"]))
    gone = [(row, _cause(row, told)) for row in in_order if row["left_ms"] is not None]
    return [
        *(_late(row, members, told) for row, cause in gone if cause == POLL_TIMEOUT),
        *(_silent(row, members, told) for row, cause in gone if cause == "session_timeout"),
        *_start(told, members),
        *_restarts([row for row, cause in gone if cause == LEFT], members),
        *_given_back(told),
        *_commits(others["failed"]),
    ]


def _said(seen: str, setting: str, why: str) -> Row:
    return {"seen": seen, "setting": setting, "why": why}


def _cause(row: Row, told: list[Row]) -> str | None:
    """Why a member is gone: as the rebalance says that names it, or else as its own reason."""
    named = (each["cause"] for each in told if each["member_id"] == row["member_id"])
    cause = next((each for each in named if each in _GONE), None)
    if cause in (None, LEFT) and re.search(POLL_REASON, row["reason"] or ""):
        return POLL_TIMEOUT
    return cause or cause_of(row["reason"])


def _late(row: Row, members: list[Row], told: list[Row]) -> Row:
    """A member that left by itself, since its application did not poll in time."""
    name, back_ms = row["node"] or row["member_id"], _back(row, members)
    if back_ms is None:
        return _said(
            f"{name} did not poll in time and left, and never joined again.{_gap(row, told)}",
            "max.poll.interval.ms larger, or max.poll.records smaller",
            "How much larger is not known.",
        )
    away = back_ms - row["left_ms"]
    found = re.search(r"exceeded by (\d+) ?ms", row["reason"] or "")
    past = int(found[1]) if found else 0
    more = f" It was {past:,} ms late when it left." if past else ""
    return _said(
        f"{name} did not poll in time and left, and joined again {away:,} ms later.{more}"
        + _gap(row, told),
        f"max.poll.interval.ms larger by more than {away + past:,} ms, or max.poll.records smaller",
        "It would have polled in time and stayed a member.",
    )


def _silent(row: Row, members: list[Row], told: list[Row]) -> Row:
    """A member that was removed, since no heartbeat of it came."""
    name, back_ms = row["node"] or row["member_id"], _back(row, members)
    seen = f"No heartbeat of {name} came in time, and it was removed"
    if back_ms is None:
        return _said(
            f"{seen}; it never joined again.{_gap(row, told)}",
            "session.timeout.ms smaller",
            "If it was dead, others would have had its partitions sooner.",
        )
    away = f"{back_ms - row['left_ms']:,} ms"
    return _said(
        f"{seen}; it joined again {away} later.{_gap(row, told)}",
        f"session.timeout.ms larger by more than {away}; if it was restarted, group.instance.id "
        "as well",
        "It would have been back before its session ended.",
    )


def _gap(row: Row, told: list[Row]) -> str:
    """Say for how long partitions had no owner in the rebalance that a member's end belongs to."""
    for each in told:
        end = each["ended_ms"] if each["ended_ms"] is not None else each["started_ms"]
        is_within = end is not None and (each["started_ms"] or end) <= row["left_ms"] <= end
        if each["unowned_ms"] and (is_within or each["member_id"] == row["member_id"]):
            return f" Partitions had no owner for {each['unowned_ms']:,} ms, added up."
    return ""


def _back(row: Row, members: list[Row]) -> int | None:
    """When the client of a member that is gone joined again."""
    back = [
        each["joined_ms"]
        for each in members
        if each["node"] is not None and each["node"] == row["node"]
        if each["joined_ms"] is not None and each["joined_ms"] >= row["left_ms"]
    ]
    return min(back, default=None)


def _start(told: list[Row], members: list[Row]) -> Iterable[Row]:
    """Clients that came one by one, and each made the group rebalance again."""
    nodes = {row["member_id"]: row["node"] for row in members}
    joins: list[int] = []
    seen: set[str] = set()
    for row in told:
        node = nodes.get(row["member_id"]) or row["member_id"]
        if row["cause"] != "member_joined" or row["started_ms"] is None or node in seen:
            break
        if joins and row["started_ms"] - joins[-1] > _AT_START_MS:
            break
        joins.append(row["started_ms"])
        seen |= {node} if node else set()
    if len(joins) > 1:
        wide = f"{joins[-1] - joins[0]:,} ms"
        yield _said(
            f"The group began with {len(joins)} rebalances within {wide}, each for a consumer that "
            "joined.",
            f"the broker's group.initial.rebalance.delay.ms more than {wide}",
            f"1 rebalance instead of {len(joins)}; but an empty group always waits that long.",
        )


def _restarts(left: list[Row], members: list[Row]) -> Iterable[Row]:
    """Clients that left and came back soon after: each restart is two rebalances."""
    back = [(row, _back(row, members)) for row in left if not row["instance_id"]]
    away = {
        (row["node"], row["left_ms"]): back_ms - row["left_ms"]
        for row, back_ms in back
        if back_ms is not None and back_ms - row["left_ms"] <= _RESTART_MS
    }
    if away:
        longest = f"{max(away.values()):,} ms"
        names = ", ".join(sorted({node for node, _ in away}))
        yield _said(
            f"{len(away)} times a consumer left and joined again, at most {longest} later: "
            f"{names}.",
            f"group.instance.id, with session.timeout.ms more than {longest}",
            "A static member that is back in time makes no rebalance: neither when it goes nor "
            "when it returns.",
        )


def _given_back(told: list[Row]) -> Iterable[Row]:
    """Partitions that were taken away and given to the same consumer again."""
    rows = [row for row in told if row["kept"] and row["unowned_ms"]]
    if rows:
        kept, moved = (sum(row[name] or 0 for row in rows) for name in ("kept", "moved"))
        gaps = sum(row["unowned_ms"] for row in rows)
        yield _said(
            f"In {len(rows)} rebalances {kept:,} partitions came back to the consumer that had "
            f"them, and {moved:,} moved; meanwhile they had no owner for {gaps:,} ms, added up.",
            "partition.assignment.strategy: cooperative-sticky",
            "Consumers keep what they are to keep, and go on reading it while the others' moves.",
        )


def _commits(failed: list[Row]) -> Iterable[Row]:
    """Commits of consumers that were no members any more: their records are read again."""
    late = [row for row in failed if row["outcome"] in _EVICTED]
    if late:
        known = [row for row in late if None not in (row["committed"], row["offset"])]
        again = sum(max(0, row["offset"] - row["committed"]) for row in known)
        told = f"{again:,} records were to be read again" if known else ""
        unknown = f"how many records of {len(late) - len(known)} of them came again is not known"
        parts = [told, unknown if len(known) < len(late) else ""]
        names = ", ".join(sorted({row["outcome"] for row in late}))
        yield _said(
            f"Failed commits of a partition, since the member was gone or the group rebalanced "
            f"({names}): {len(late)}; {'; '.join(filter(None, parts))}.",
            "commit in on_partitions_revoked, and after fewer records",
            "What is committed before the partitions are given up is not read again.",
        )
