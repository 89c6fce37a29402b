"""How often, why and how long a group rebalanced, and what that did to partitions."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from kafkalearn.analysis.causes import LEFT, POLL_REASON, POLL_TIMEOUT, cause_of, member_of
from kafkalearn.analysis.handovers import Gap, Handover, handovers
from kafkalearn.analysis.reading import detail
from kafkalearn.trace import Event
from kafkalearn.trace.kind import SYNC_STATES


class Rebalance(NamedTuple):
    """A rebalance, as the group's coordinator tells it, or else its consumers' generations.

    rebalance: 1, 2 … outcome: stable, empty, interrupted (by the next) or unfinished. join_ms:
    until all had joined; sync_ms: from then until Stable. kept, moved: partitions that the same
    consumer was given, or another one; None if nothing was. unowned: how long each that had an
    owner before had none. What is not known is None.
    """

    group_id: str
    rebalance: int
    generation: int | None
    cause: str | None
    reason: str | None
    member_id: str | None
    outcome: str
    members: int | None
    started_ms: int | None
    joined_ms: int | None
    ended_ms: int | None
    join_ms: int | None
    sync_ms: int | None
    kept: int | None
    moved: int | None
    unowned: list[Gap]
    unowned_ms: int | None


@dataclass
class _Told:
    """What is known of a rebalance so far. given_seq: from when on its assignments are."""

    seq: int
    reason: str | None = None
    cause: str | None = None
    started_ms: int | None = None
    joined_ms: int | None = None
    ended_ms: int | None = None
    outcome: str | None = None
    generation: int | None = None
    members: int | None = None
    given_seq: int | None = None
    nodes: set[str] = field(default_factory=set)


def rebalances(events: Iterable[Event]) -> list[Rebalance]:
    """List every rebalance of every group of one run, in the order of groups and time."""
    events = list(events)
    given = handovers(events)
    too_late = _too_late(events)
    rows = []
    for group_id, told in sorted((_of_clients(events) | _of_coordinators(events)).items()):
        of_group = [each for each in given if each.group_id == group_id]
        for number, each in enumerate(told, start=1):
            member = member_of(each.reason)
            is_late = too_late.get((group_id, member), each.seq) < each.seq
            cause = each.cause or cause_of(each.reason)
            kept, moved, gaps, gaps_ms = _effects(_while(each, told[number:], of_group))
            rows.append(
                Rebalance(
                    *(group_id, number, each.generation),
                    *(POLL_TIMEOUT if cause == LEFT and is_late else cause, each.reason, member),
                    each.outcome or ("unfinished" if number == len(told) else "interrupted"),
                    *(each.members, *_times(each)),
                    *(kept, moved),
                    gaps,
                    gaps_ms,
                )
            )
    return rows


_Ms = int | None


def _times(told: _Told) -> tuple[_Ms, _Ms, _Ms, _Ms, _Ms]:
    """Give started, joined, ended, and how long the join and the sync phase took."""
    started, joined, ended = told.started_ms, told.joined_ms, told.ended_ms
    all_here = ended if told.outcome == "empty" and joined is None else joined
    is_stable = told.outcome == "stable"
    join_ms = None if all_here is None or started is None else all_here - started
    sync_ms = None if not is_stable or ended is None or joined is None else ended - joined
    return started, joined, ended, join_ms, sync_ms


def _while(told: _Told, later: list[_Told], given: list[Handover]) -> list[Handover]:
    """Find what was given in a rebalance: its generation's, until that number comes again."""
    if told.given_seq is None or told.generation is None:
        return []
    again = [each.given_seq for each in later if each.generation == told.generation]
    end = next((seq for seq in again if seq is not None), None)
    return [
        each
        for each in given
        if each.generation == told.generation
        and told.given_seq <= each.seq
        and (end is None or each.seq < end)
    ]


def _effects(given: list[Handover]) -> tuple[int | None, int | None, list[Gap], int | None]:
    gaps = sorted(gap for each in given for gap in each.gaps)
    unowned_ms = sum(gap.ms for gap in gaps) if gaps else None
    if not given:
        return None, None, gaps, unowned_ms
    return sum(each.kept for each in given), sum(each.moved for each in given), gaps, unowned_ms


def _too_late(events: list[Event]) -> dict[tuple[str | None, str | None], int]:
    """Find the members whose applications did not poll in time: (group, member) -> first seq."""
    members: dict[str, str] = {}
    found: dict[tuple[str | None, str | None], int] = {}
    for event in events:
        if event.kind not in ("client_state", "assigned"):
            continue
        told = detail(event, "reason", wanted=str) or ""
        if event.kind == "client_state" and re.search(POLL_REASON, told):
            found.setdefault((event.group_id, members.get(event.node)), event.seq)
        if event.member_id:
            members[event.node] = event.member_id
    return found


def _of_coordinators(events: list[Event]) -> dict[str, list[_Told]]:
    """Read the states of each group, from one PreparingRebalance to the next."""
    groups: dict[str, list[_Told]] = {}
    for event in events:
        if event.kind != "group_state" or event.group_id is None:
            continue
        told, to = groups.setdefault(event.group_id, []), detail(event, "to", wanted=str)
        if to == "PreparingRebalance":
            reason = detail(event, "reason", wanted=str)
            told.append(_Told(event.seq, reason=reason, started_ms=event.time_ms))
        elif to in (*SYNC_STATES, "Stable", "Empty"):
            if not told and to != "Empty":
                told.append(_Told(event.seq))  # the events begin in the middle of it
            if told:
                _learn(told[-1], event, to)
    return groups


def _learn(told: _Told, event: Event, to: str) -> None:
    if told.given_seq is None:
        members = detail(event, "members", wanted=list)
        told.members = None if members is None else len(members)
        told.generation, told.given_seq = event.generation, event.seq
    if to in ("Stable", "Empty"):
        if told.outcome is None:
            told.outcome, told.ended_ms = to.lower(), event.time_ms
    elif told.joined_ms is None:
        told.joined_ms = event.time_ms


def _of_clients(events: list[Event]) -> dict[str, list[_Told]]:
    """Read what clients alone can tell: who was in a generation, from the first join on."""
    groups: dict[str, dict[int, _Told]] = {}
    joins: dict[str, Event] = {}
    for event in events:
        if event.group_id is None:
            continue
        if event.kind == "assigned" and event.generation is not None and event.generation >= 0:
            first = joins.pop(event.group_id, None)
            told = groups.setdefault(event.group_id, {}).setdefault(
                event.generation, _Told((first or event).seq, generation=event.generation)
            )
            if first is not None and told.started_ms is None:
                told.started_ms = first.time_ms
            if told.given_seq is None:
                told.given_seq = event.seq
            told.ended_ms, told.outcome = event.time_ms, "stable"
            told.nodes.add(event.node)
        elif _is_join(event):
            joins.setdefault(event.group_id, event)
    for of_group in groups.values():
        earlier: set[str] | None = None
        for told in of_group.values():
            came, went = told.nodes - (earlier or set()), (earlier or set()) - told.nodes
            told.cause = "member_joined" if came else LEFT if went else None
            told.members, earlier = len(told.nodes), told.nodes
    return {group_id: list(of_group.values()) for group_id, of_group in groups.items()}


def _is_join(event: Event) -> bool:
    if event.kind == "send":
        return event.api == "JoinGroup"
    is_state = event.kind == "client_state" and detail(event, "to", wanted=str) == "REBALANCING"
    return event.kind == "revoked" or is_state
