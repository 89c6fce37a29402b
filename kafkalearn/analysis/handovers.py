"""Who owns which partition, and what each assignment changes; see `ownership` of the tables."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from kafkalearn.analysis.reading import Place, detail, partitions
from kafkalearn.trace import Event


class Gap(NamedTuple):
    """How long a partition had no owner until it was given to one."""

    topic: str
    partition: int
    ms: int


class Handover(NamedTuple):
    """What a consumer was given at a time. kept, moved: from itself, or from another."""

    group_id: str | None
    generation: int | None
    seq: int
    kept: int
    moved: int
    gaps: list[Gap]


@dataclass
class _Partition:
    """Its owners, as (node, member id), the latest node, and when it was last given up."""

    owners: set[tuple[str, str | None]] = field(default_factory=set)
    latest: str | None = None
    free_ms: int = 0


def handovers(events: Iterable[Event]) -> list[Handover]:
    """Follow the partitions of every group of one run."""
    owned: dict[tuple[str | None, Place], _Partition] = {}
    found = []
    for event in events:
        if event.kind == "assigned":
            found.append(_give(owned, event))
            continue
        revoked = set(partitions(event)) if event.kind == "revoked" else None
        of_node = revoked is not None or _is_gone(event)
        if not of_node and (event.kind != "member_removed" or event.member_id is None):
            continue
        for (_, place), partition in owned.items():
            if revoked is None or place in revoked:
                left = {
                    (node, member)
                    for node, member in partition.owners
                    if (node != event.node if of_node else member != event.member_id)
                }
                if left != partition.owners:
                    partition.owners, partition.free_ms = left, event.time_ms
    return found


def _is_gone(event: Event) -> bool:
    """Whether a node crashes, or sees itself as no member any more."""
    if event.kind == "fault":
        return bool(detail(event, "fault", wanted=str) == "crash")
    return event.kind == "client_state" and detail(event, "to", wanted=str) == "UNJOINED"


def _give(owned: dict[tuple[str | None, Place], _Partition], event: Event) -> Handover:
    kept = moved = 0
    gaps = []
    for place in partitions(event):
        partition = owned.setdefault((event.group_id, place), _Partition())
        if partition.latest is not None:
            kept += partition.latest == event.node
            moved += partition.latest != event.node
            if not partition.owners:
                gaps.append(Gap(*place, event.time_ms - partition.free_ms))
        partition.latest = event.node
        partition.owners.add((event.node, event.member_id))
    return Handover(event.group_id, event.generation, event.seq, kept, moved, gaps)
