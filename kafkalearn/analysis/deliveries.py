"""What became of each record: delivered and processed how often, lost, duplicated."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kafkalearn.analysis.reading import Place, detail, place_of, with_groups
from kafkalearn.trace import Event

NOT_RECORDED = r' kinds=\[(?!.*"processed")'
"""Finds a run whose run_id says that `processed` is not among what it records."""
_Log = tuple[Place, int]
Group = tuple[str | None, Place, int]
"""A group, a partition, and how often its topic had been created: then, it has other records."""


class Delivery(NamedTuple):
    """A record and a group that read or committed its partition; none, if no group did.

    lost: the group's committed offset is behind it, and it never had an effect. duplicated: how
    many effects are more than one, in each sink. processed, lost and duplicated are None where no
    effect can be known: an imported log tells of none. A topic that was deleted and made again has
    other records, under the same offsets.
    """

    group_id: str | None
    topic: str
    partition: int
    offset: int
    delivered: int
    processed: int | None
    lost: bool | None
    duplicated: int | None


def deliveries(events: Iterable[Event]) -> list[Delivery]:
    """Follow each record of one run, in the order of groups, partitions and offsets."""
    told = list(_of_places(with_groups(events)))
    delivered, effects = Counter[tuple[Group, int]](), Counter[tuple[Group, int, str | None]]()
    appended: dict[_Log, set[int]] = {}
    groups: dict[_Log, set[str | None]] = {}
    effects_known = False
    for of, event in told:
        log = of[1:]
        if event.kind != "append":
            groups.setdefault(log, set()).add(of[0])
        else:
            appended.setdefault(log, set()).update(_offsets(event))
            effects_known |= not re.search(NOT_RECORDED, event.run_id)
        if event.kind == "records_returned":
            delivered.update((of, each) for each in _offsets(event))
        elif event.kind == "processed" and event.offset is not None:
            effects[of, event.offset, detail(event, "sink", wanted=str)] += 1
            effects_known = True
    met = {(of, each) for of, each, _ in effects} | set(delivered)
    for log, offsets in appended.items():
        for group_id in groups.get(log) or {None}:
            met |= {((group_id, *log), each) for each in offsets}
    committed = _committed(told)
    processed, duplicated = Counter[tuple[Group, int]](), Counter[tuple[Group, int]]()
    for (of, offset, _), count in effects.items():
        processed[of, offset] += count
        duplicated[of, offset] += count - 1
    rows = []
    for of, offset in sorted(met, key=lambda each: (each[0][0] or "", *each[0][1:], each[1])):
        lost = offset < committed.get(of, 0) and not processed[of, offset]
        known = (processed[of, offset], lost, duplicated[of, offset])
        judged = known if effects_known else (None, None, None)
        rows.append(Delivery(of[0], *of[1], offset, delivered[of, offset], *judged))
    return rows


def _offsets(event: Event) -> Iterable[int]:
    count = detail(event, "count", wanted=int)
    known = event.offset is not None and count is not None
    return range(event.offset or 0, (event.offset or 0) + (count or 0)) if known else ()


def _committed(told: list[tuple[Group, Event]]) -> dict[Group, int]:
    """Give each group's last committed offsets, as brokers tell them, or else its consumers."""
    by_broker: dict[Group, int] = {}
    by_client: dict[Group, int] = {}
    for of, event in told:
        if event.kind in ("offset_stored", "offset_expired"):
            by_broker[of] = 0 if event.kind == "offset_expired" else event.offset or 0
        elif event.kind == "commit" and event.failure is None and event.offset is not None:
            by_client[of] = event.offset
    return by_client | by_broker


def _of_places(told: list[tuple[Event, str | None]]) -> Iterator[tuple[Group, Event]]:
    lives = Counter[str | None]()
    for event, group_id in told:
        if event.kind == "topic_changed":
            lives[event.topic] += detail(event, "change", wanted=str) == "created"
        elif (place := place_of(event)) is not None:
            yield (group_id, place, lives[event.topic]), event
