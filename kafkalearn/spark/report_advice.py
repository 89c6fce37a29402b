"""Which settings would have helped a group: only what its own numbers support, and those beside.

Rows are those of the tables, of one group. What happened often is one piece of advice.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from typing import Any

from kafkalearn.analysis.causes import LEFT, POLL_TIMEOUT
from kafkalearn.spark.report_ends import FAULTS, SILENT, client, ends_of, how_often, names_of, said
from kafkalearn.spark.report_refusals import refused_commits

Row = dict[str, Any]
_AT_START_MS, _RESTART_MS = 10_000, 60_000  # what is further apart is another story
_LONGEST_SESSION_MS = 300_000  # the longest that brokers allowed by default before 2.3
_STATIC = "A static member that is back in time makes no rebalance, leaving or returning."
_IF_RESTARTED = "; if it was restarted, group.instance.id as well"
_EXCEEDED = r"(?:\((\d+) ?ms\) )?exceeded by (\d+) ?ms"


def advice(told: list[Row], *, others: Mapping[str, list[Row]], end_ms: int) -> list[Row]:
    """Judge a group's rebalances and commits. end_ms: when the events end.

    out: seen (what happened, with its numbers), setting, why (it would have helped)
    """
    members = others["membership"]
    ends = ends_of(told, members)
    late, silent, left = (
        [end for end in ends if end["cause"] == cause] for cause in (POLL_TIMEOUT, SILENT, LEFT)
    )
    dynamic = [end for end in left if not end["instance_id"]]
    back = _soon(dynamic, _RESTART_MS)
    return [
        *(_late(late, end_ms) if late else ()),
        *(_silent(silent, end_ms) if silent else ()),
        *_start(told, members),
        *(_restarts(back) if back else ()),
        *_replaced([end for end in dynamic if end not in back], members, told=told),
        *_given_back(told),
        *_fenced(others["fenced"]),
        *refused_commits(others["failed"], ends),
    ]


def _soon(ends: list[Row], most_ms: float) -> list[Row]:
    """Choose those whose client joined again within a time."""
    is_back = (end for end in ends if end["back_ms"] is not None)
    return [end for end in is_back if end["back_ms"] - end["left_ms"] <= most_ms]


def _longest(back: list[Row]) -> str:
    return f"{max(end['back_ms'] - end['left_ms'] for end in back):,} ms"


def _most(ends: list[Row]) -> str:
    return "" if len(ends) == 1 else "at most "


def _away(back: list[Row], ends: list[Row]) -> str:
    """Say how often clients came back, and how soon."""
    often = "It" if len(ends) == 1 else "Each time it" if back == ends else f"{how_often(back)} it"
    return f"{often} joined again, {_most(ends)}{_longest(back)} later."


def _missed(ends: list[Row], end_ms: int) -> str:
    """Say for how long at least those who did not come back were away."""
    least = min((end["back_ms"] or end_ms) - end["left_ms"] for end in ends)
    who = "it" if len(ends) == 1 else "any of them"
    return f"No event tells that {who} joined again in the {least:,} ms after that."


def _gap(ends: list[Row]) -> str:
    longest = max(end["gap_ms"] for end in ends)
    return f" A partition had no owner for up to {longest:,} ms." if longest else ""


def _late(ends: list[Row], end_ms: int) -> Iterable[Row]:
    """Members that left by themselves, since their application did not poll in time."""
    back = _soon(ends, float("inf"))
    past = [(end, re.search(_EXCEEDED, end["reason"])) for end in ends]
    late = {id(end): int(found[2]) for end, found in past if found}
    seen = f"{how_often(ends)} a consumer did not poll in time and left: {names_of(ends)}. "
    seen += _away(back, ends) if back else _missed(ends, end_ms)
    if late:
        seen += f" It was {_most(ends)}{max(late.values()):,} ms late when it left."
    larger, why = "", "How much larger is not known."
    if back:
        needed = max(end["back_ms"] - end["left_ms"] + late.get(id(end), 0) for end in back)
        larger = f" by more than {needed:,} ms"
        if was := {int(found[1]) for _, found in past if found and found[1]}:
            larger += f", that is more than {max(was) + needed:,} ms"
        why = "It would have polled in time and stayed a member."
    larger = f"max.poll.interval.ms larger{larger}, or max.poll.records smaller"
    yield said(seen + _gap(ends), larger, why=why)


def _silent(ends: list[Row], end_ms: int) -> Iterable[Row]:
    """Members that were removed, since no heartbeat came; if none came back, they may be dead."""
    back = _soon(ends, _LONGEST_SESSION_MS)
    seen = f"{how_often(ends)} no heartbeat came in time and a consumer was removed: "
    seen += f"{names_of(ends)}. "
    if back:
        yield said(
            seen + _away(back, ends) + _gap(ends),
            f"session.timeout.ms larger by more than {_longest(back)}"
            + ("" if all(end["instance_id"] for end in ends) else _IF_RESTARTED),
            why=(
                "It would have been back before its session ended. If it was not restarted, look "
                "for what held its heartbeats up: garbage collection, no processor time, the "
                "network."
            ),
        )
    else:
        yield said(
            seen + _missed(ends, end_ms) + _gap(ends),
            "session.timeout.ms smaller",
            why="If it was dead, others would have had its partitions sooner.",
        )


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
        yield said(
            f"The group began with {len(joins)} rebalances within {wide}, each for a consumer that "
            "joined.",
            f"the broker's group.initial.rebalance.delay.ms more than {wide}",
            why=f"1 rebalance instead of {len(joins)}; but an empty group always waits that long.",
        )


def _restarts(back: list[Row]) -> Iterable[Row]:
    """Clients that left and came back soon after: each restart is two rebalances."""
    yield said(
        f"{how_often(back)} a consumer left: {names_of(back)}. {_away(back, back)}",
        f"group.instance.id, with session.timeout.ms more than {_longest(back)}",
        why=_STATIC,
    )


def _replaced(left: list[Row], members: list[Row], *, told: list[Row]) -> Iterable[Row]:
    """Clients that left soon after another one had come to stay, as in a rolling restart."""
    new = [row for row in members if row["joined_ms"] is not None]
    new.sort(key=lambda row: (row["joined_ms"], row["member_id"]))
    times = [row["joined_ms"] for row in new]
    pairs: dict[str, tuple[Row, int]] = {}
    for end in left:
        ms = end["left_ms"]
        near = new[bisect_left(times, ms - _RESTART_MS) : bisect_right(times, ms)]
        for row in sorted(near, key=lambda row: client(row) != end["name"]):
            stays = row["left_ms"] is None or row["left_ms"] - ms > _RESTART_MS
            if stays and row["member_id"] not in pairs:
                pairs[row["member_id"]] = (end, ms - row["joined_ms"])
                break
    if len(pairs) > 1:
        ends = [end for end, _ in pairs.values()]
        longest = max(ms for _, ms in pairs.values())
        concerned = {*pairs, *(end["member_id"] for end in ends)}
        count = sum(row["member_id"] in concerned for row in told)
        yield said(
            f"{len(ends)} times a consumer left after another one had come to stay, at most "
            f"{longest:,} ms before, as in a rolling restart: {names_of(ends)}. Rebalances for "
            f"these: {count}.",
            "group.instance.id, each stopped before its successor starts with the same id, and "
            "session.timeout.ms more than that takes",
            why=_STATIC,
        )


def _given_back(told: list[Row]) -> Iterable[Row]:
    """Partitions taken away and given back: gaps beyond those of partitions that moved."""
    rows = [
        row
        for row in told
        if row["cause"] not in FAULTS  # What a member lost comes back to it under any strategy.
        and row["kept"]
        and len(row["unowned"] or ()) > (row["moved"] or 0)
    ]
    if rows:
        least = sum(min(row["kept"], len(row["unowned"]) - (row["moved"] or 0)) for row in rows)
        longest = max(gap["ms"] for row in rows for gap in row["unowned"])
        yield said(
            f"In {len(rows)} rebalances at least {least:,} partitions came back to the consumer "
            f"that had them; meanwhile nobody did, for up to {longest:,} ms.",
            "partition.assignment.strategy: cooperative-sticky",
            why="Consumers keep what stays theirs, and read on while the rest moves.",
        )


def _fenced(rows: list[Row]) -> Iterable[Row]:
    """Static members of whom there was another one under the same name."""
    if rows:
        ends = [{"name": row["node"]} for row in rows]
        yield said(
            "Fenced, since another process came with the same group.instance.id: "
            f"{names_of(ends)}.",
            "group.instance.id another one for each process",
            why="Of two that share one, only the later is a member; the other ends with an error.",
        )
