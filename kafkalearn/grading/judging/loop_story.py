"""What happens to the consumers that run a loop: plain data, so that it can be made simpler."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, TypeVar

from kafkalearn.engine.faults import AnswerWithError, Crash, Delay, Fault, FaultPlan
from kafkalearn.grading.judging.smallest import simpler_value
from kafkalearn.trace import Event, Trace

Key = TypeVar("Key")
TOPIC = "orders"
GROUP = "billing"
COMMIT_ERROR = "COORDINATOR_LOAD_IN_PROGRESS"
_DELAY_MS = 300
_WORTH_A_FAULT = ("records_returned", "processed", "commit")


@dataclass(frozen=True)
class LoopStory:
    """A topic that holds records, consumers that come and go, and what goes wrong.

    check: which check tells it, for judge.py. records: how many each partition of TOPIC holds.
    starts, stops: ms at which a consumer starts, and is told to stop: a call that waits then raises
    WakeupError. config: a consumer's settings, beside those of every story.
    work_ms: what process() takes for a record. slow: (partition, offset) -> what it takes the first
    time.
    restart_ms: how long after its crash, or after a Kafka error ended it, a consumer starts again.
    patience_ms: when all ends, after the last thing that is planned.
    breaks: what is to happen in further stories, one thing after the other, wherever this loop's
    own run says that it may matter: "crash", "stop", "commit" (one fails, at once or late) or
    "commits" (one and the next fail), and in how many places at most.
    """

    check: str
    records: tuple[int, ...]
    starts: Mapping[str, int] = field(default_factory=lambda: {"c1": 100})
    stops: Mapping[str, int] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    work_ms: int = 10
    slow: Mapping[tuple[int, int], int] = field(default_factory=dict)
    faults: FaultPlan = ()
    restart_ms: int = 200
    patience_ms: int = 4000
    breaks: tuple[tuple[str, int], ...] = ()

    @property
    def planned_until_ms(self) -> int:
        """When the last planned thing happens; a message that is to go wrong has no time."""
        times = [getattr(fault, "at_ms", 0) + getattr(fault, "for_ms", 0) for fault in self.faults]
        return max([*self.starts.values(), *self.stops.values(), *times])

    def __str__(self) -> str:
        """Tell it in a few words."""
        held = (f"{count} in {TOPIC}-{number}" for number, count in enumerate(self.records))
        said = [f"records: {', '.join(held)}"]
        said += [f"{name} starts at {at} ms" for name, at in self.starts.items()]
        said += [f"process() takes {self.work_ms} ms"]
        said += [f"{ms} ms once, for {TOPIC}-{p} offset {o}" for (p, o), ms in self.slow.items()]
        said += [f"{name} is told to stop at {at} ms" for name, at in self.stops.items()]
        said += [_told(fault) for fault in self.faults]
        return "; ".join(said)


class Problem(NamedTuple):
    """What a trace shows to be wrong.

    kind: the promise that is broken. seq: the event to look at.
    """

    kind: str
    sentence: str
    seq: int


def broken(story: LoopStory, trace: Trace) -> list[LoopStory]:
    """Give the story with one more thing that happens, wherever its run shows; see `breaks`."""
    if not story.breaks:
        return []
    (kind, most), *rest = story.breaks
    story = replace(story, breaks=tuple(rest))
    if kind in ("commit", "commits"):
        plans = _commit_faults(trace, in_a_row=kind == "commits")
        found = [replace(story, faults=(*story.faults, *plan)) for plan in plans]
    elif kind == "crash":
        found = [
            replace(story, faults=(*story.faults, Crash(node, at_ms)))
            for at_ms, node in _moments(story, trace)
        ]
    else:
        found = [
            replace(story, stops={**story.stops, node: at_ms})
            for at_ms, node in _moments(story, trace)
            if node not in story.stops
        ]
    step = max(1, -(-len(found) // most))
    return found[::-step][::-1]  # the last is always among them


def telling(events: Iterable[Event]) -> Iterator[Event]:
    """Leave out commits that commit once more what is committed."""
    known: dict[tuple[Any, ...], Any] = {}
    for each in events:
        if each.kind in ("commit", "offset_stored") and each.error is None:
            where = (each.kind, each.topic, each.partition)
            if known.get(where) == each.offset:
                continue
            known[where] = each.offset
        yield each


def _moments(story: LoopStory, trace: Trace) -> list[tuple[int, str]]:
    """Give the ms just before and just after each thing that a consumer did after the last."""
    since_ms = max([0, *story.stops.values(), *(getattr(f, "at_ms", 0) for f in story.faults)])
    events = telling(trace.where(kind=_WORTH_A_FAULT, node=list(story.starts)))
    moments = {(each.time_ms + late, each.node) for each in events for late in (0, 1)}
    return sorted(each for each in moments if each[0] > since_ms)


def _commit_faults(trace: Trace, *, in_a_row: bool) -> list[FaultPlan]:
    count = len(trace.where(kind="send", api="OffsetCommit"))
    errors = [AnswerWithError("OffsetCommit", COMMIT_ERROR, nth) for nth in range(1, count + 1)]
    if in_a_row:
        return list(itertools.pairwise(errors))
    late = [Delay("OffsetCommit", _DELAY_MS, each.nth, part="response") for each in errors]
    return [(each,) for each in errors] + list(zip(errors, late, strict=True))


def simpler(story: LoopStory) -> Iterator[LoopStory]:
    """Give the stories that are one step simpler, the largest cuts first."""
    for faults in simpler_value(story.faults):
        yield replace(story, faults=faults)
    for records in simpler_value(story.records):
        if any(records):
            yield replace(story, records=records)
    for gone in story.starts if len(story.starts) > 1 else ():
        yield replace(story, starts=_without(story.starts, gone))
    for gone in story.stops:
        yield replace(story, stops=_without(story.stops, gone))
    for which in story.slow:
        yield replace(story, slow=_without(story.slow, which))
    yield from _earlier(story)


def _without(times: Mapping[Key, int], gone: Key) -> dict[Key, int]:
    return {each: ms for each, ms in times.items() if each != gone}


def _earlier(story: LoopStory) -> Iterator[LoopStory]:
    """Shift all that is planned together, then halve the fields of each fault."""
    for by_ms in (500, 100):
        crashes = [each.at_ms for each in story.faults if isinstance(each, Crash)]
        times = [*story.stops.values(), *crashes]
        if times and min(times) > by_ms + min(story.starts.values()):
            yield replace(
                story,
                stops={name: at - by_ms for name, at in story.stops.items()},
                faults=tuple(_shifted(each, by_ms) for each in story.faults),
            )
    for i, fault in enumerate(story.faults):
        for each in fields(fault):
            value = getattr(fault, each.name)
            if type(value) is int and value > 1 and each.name != "at_ms":
                less = replace(fault, **{each.name: value // 2})
                yield replace(story, faults=(*story.faults[:i], less, *story.faults[i + 1 :]))


def _shifted(fault: Fault, by_ms: int) -> Fault:
    return replace(fault, at_ms=fault.at_ms - by_ms) if isinstance(fault, Crash) else fault


def _told(fault: Fault) -> str:
    if isinstance(fault, Crash):
        return f"{fault.node} crashes at {fault.at_ms} ms"
    if isinstance(fault, AnswerWithError):
        return f"commit number {fault.nth} is answered {fault.error}"
    if isinstance(fault, Delay):
        return f"the answer to commit number {fault.nth} is {fault.by_ms} ms late"
    return str(fault)
