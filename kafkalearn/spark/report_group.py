"""One group's story for a report, put together from the rows of the tables."""

from collections.abc import Mapping
from typing import Any

from kafkalearn.analysis.causes import member_of
from kafkalearn.spark.report_advice import advice
from kafkalearn.spark.report_windows import began_ms

Row = dict[str, Any]
_MOST_ROWS, _MOST_CHANGES = 200, 2000


def group_of(
    about: Row, told: list[Row], *, stories: list[Row], others: Mapping[str, list[Row]]
) -> Row:
    """Put one group's story together.

    out: run_id, group_id, groups (how many there are), first_ms, last_ms, rebalances (the table's
         columns; node, leader, names (the members), owners, also), total, causes, nodes, ownership,
         membership, lag, commits, failed, advice
    """
    told = sorted(told, key=lambda row: row["rebalance"])
    by_generation = {row["generation"]: row for row in stories}
    nodes = {row["member_id"]: row["node"] for row in others["membership"]}
    known = {row["generation"] for row in told}
    untold = [
        {"rebalance": None, "generation": row["generation"], "ended_ms": row["time_ms"]}
        for row in stories
        if row["generation"] not in known
    ]
    every = sorted(told + untold, key=began_ms)
    causes: dict[str, int] = {}
    for row in told:
        causes[row["cause"] or "not known"] = causes.get(row["cause"] or "not known", 0) + 1
    for row, later in zip(every, [*every[1:], None], strict=True):
        end = about["last_ms"] if later is None else began_ms(later) - 1
        story = by_generation.get(row["generation"], {})
        row |= _told(row, story, owned=others["ownership"], nodes=nodes, end=end)
    return {
        **about,
        **others,
        "ownership": sorted(others["ownership"], key=_lane)[:_MOST_CHANGES],
        "rebalances": every[:_MOST_ROWS],
        "total": len(every),
        "causes": dict(sorted(causes.items(), key=lambda each: (-each[1], each[0]))),
        "nodes": nodes,
        "advice": advice(told, others=others, end_ms=about["last_ms"]),
    }


def _told(row: Row, story: Row, *, owned: list[Row], nodes: Row, end: int) -> Row:
    """What a generation's story adds to its rebalance. end: when the next one began."""
    reason = row.get("reason") or story.get("reason")
    named = member_of(reason)
    member_id = row.get("member_id") or (named if named in nodes else None)
    settled = end if row.get("ended_ms") is None else row["ended_ms"]
    return {
        "member_id": member_id,
        "leader": story.get("leader"),
        "also": story.get("also") or [],
        "names": story.get("members") or [],
        "reason": reason,
        "node": nodes.get(member_id or ""),
        "owners": _owners(story.get("assignment"), owned, nodes=nodes, during=(settled, end)),
    }


def _lane(row: Row) -> tuple[Any, ...]:
    return (row["topic"], row["partition"], row["from_ms"], row["node"])


def _owners(
    assignment: Mapping[str, Any] | None,
    owned: list[Row],
    *,
    nodes: Row,
    during: tuple[int, int],
) -> dict[str, dict[str, list[int]]]:
    """Who owned what in a generation: as its leader told, or else who was given it last."""
    if assignment:
        return {
            nodes.get(member) or member: {topic: sorted(each) for topic, each in parts.items()}
            for member, parts in sorted(assignment.items())
        }
    settled, end = during
    latest = {
        (row["topic"], row["partition"]): row["node"]
        for row in sorted(owned, key=lambda row: row["from_ms"])
        if row["from_ms"] <= end and (row["until_ms"] is None or row["until_ms"] > settled)
    }
    found: dict[str, dict[str, list[int]]] = {}
    for (topic, partition), node in sorted(latest.items()):
        found.setdefault(node, {}).setdefault(topic, []).append(partition)
    return dict(sorted(found.items()))
