"""How far a group is behind, over time: what is not committed yet, and what is not read yet."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from kafkalearn.analysis.reading import Place, detail, place_of, with_groups
from kafkalearn.trace import Event

Group = tuple[str | None, Place]


class Lag(NamedTuple):
    """A partition for a group, after something of it changed; what is not known is None.

    log_end: the next offset of the log, as a broker tells it, or else the high watermark that a
    consumer saw. lag: what is not committed yet. unread: what was not returned by a poll yet.
    """

    group_id: str | None
    topic: str
    partition: int
    seq: int
    time_ms: int
    log_end: int | None
    committed: int | None
    position: int | None
    lag: int | None
    unread: int | None


class _State:
    """What is known of a partition of a group; `stored` is told by brokers, `told` by clients."""

    def __init__(self) -> None:
        self.log_end: int | None = None
        self.high_watermark: int | None = None
        self.stored: int | None = None
        self.told: int | None = None
        self.position: int | None = None


def lag(events: Iterable[Event]) -> list[Lag]:
    """Follow each partition of one run for each group, in the order of groups and partitions."""
    told = with_groups(events)
    places = [(event, group_id, each) for event, group_id in told for each in _places(event)]
    groups: dict[Place, dict[str | None, None]] = {}
    of_brokers: set[Group] = set()
    for event, group_id, place in places:
        if event.kind not in ("append", "topic_changed"):
            groups.setdefault(place, {})[group_id] = None
        if event.kind in ("offset_stored", "offset_expired"):
            of_brokers.add((group_id, place))
    states: dict[Group, _State] = {}
    shown: dict[Group, Any] = {}
    rows = []
    for event, group_id, place in places:
        of_log = event.kind in ("append", "topic_changed")
        for each in groups.get(place, ()) if of_log else (group_id,):
            state = states.setdefault((each, place), _State())
            _learn(state, event)
            now = _numbers(state, by_broker=(each, place) in of_brokers)
            if now != shown.get((each, place)) and now[1:] != (None, None):
                rows.append(Lag(each, *place, event.seq, event.time_ms, *now, *(_behind(*now))))
            shown[each, place] = now
    return sorted(rows, key=lambda row: (row[0] or "", *row[1:4]))


def _places(event: Event) -> list[Place]:
    if event.kind != "topic_changed":
        place = place_of(event)
        return [] if place is None or event.kind == "processed" else [place]
    created = detail(event, "change", wanted=str) == "created" and event.topic is not None
    count = detail(event, "count", wanted=int) or 0
    return [(event.topic or "", each) for each in range(count)] if created else []


def _learn(state: _State, event: Event) -> None:
    count = detail(event, "count", wanted=int)
    behind_it = None if event.offset is None or count is None else event.offset + count
    if event.kind == "append" and behind_it is not None:
        state.log_end = behind_it
    elif event.kind == "topic_changed":
        state.log_end = 0
    elif event.kind == "offset_stored":
        state.stored = event.offset
    elif event.kind == "offset_expired":
        state.stored = None
    elif event.kind == "commit" and event.failure is None and event.offset is not None:
        state.told = event.offset
    elif event.kind == "position" and event.offset is not None:
        state.position = event.offset
    elif event.kind == "records_returned" and behind_it is not None:
        state.position = behind_it
    seen = detail(event, "high_watermark", wanted=int)
    if seen is not None:
        state.high_watermark = max(seen, state.high_watermark or 0)


def _numbers(state: _State, *, by_broker: bool) -> tuple[int | None, int | None, int | None]:
    end = state.high_watermark if state.log_end is None else state.log_end
    return end, state.stored if by_broker else state.told, state.position


def _behind(
    end: int | None, committed: int | None, position: int | None
) -> tuple[int | None, int | None]:
    def behind(offset: int | None) -> int | None:
        return None if end is None or offset is None else max(0, end - offset)

    return behind(committed), behind(position)
