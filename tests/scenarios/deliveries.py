"""What became of the records of one partition when its only consumer crashed: a fold over a trace.

Only events count: append, records_returned, processed, offset_stored, and the crash itself.
"""

from typing import NamedTuple

TOPIC = "orders"


class Crash(NamedTuple):
    """A crash, and what came of it. All are offsets of one partition.

    committed: from where the next life reads. position: up to where polls had returned before it.
    processed: those with an effect before it. again: those that were returned before, and are
    after it. duplicates: those with an effect before, and after it. lost: those that were appended
    and never had an effect.
    """

    committed: int
    position: int
    processed: list[int]
    again: list[int]
    duplicates: list[int]
    lost: list[int]


def crash_of(trace, node="c1"):
    """Count what the one crash of a node did."""
    events = [each for each in trace if each.topic == TOPIC or each.kind == "fault"]
    crashes = [
        place
        for place, each in enumerate(events)
        if each.kind == "fault" and each.node == node and each.detail["fault"] == "crash"
    ]
    (at,) = crashes
    before, after = events[:at], events[at:]
    # A commit that was on its way when the consumer crashed may still be stored.
    first = next((n for n, each in enumerate(after) if each.kind == "records_returned"), len(after))
    committed = [each.offset for each in before + after[:first] if each.kind == "offset_stored"]
    appended, returned = _records(before + after, "append"), _records(before, "records_returned")
    effects, later = _effects(before), _effects(after)
    return Crash(
        committed=committed[-1] if committed else 0,
        position=max(returned, default=-1) + 1,
        processed=sorted(effects),
        again=sorted(set(_records(after, "records_returned")) & set(returned)),
        duplicates=sorted(
            offset for offset in {*effects, *later} if (effects + later).count(offset) > 1
        ),
        lost=sorted({*appended} - {*effects, *later}),
    )


def _records(events, kind):
    return [
        offset
        for each in events
        if each.kind == kind
        for offset in range(each.offset, each.offset + each.detail["count"])
    ]


def _effects(events):
    return [each.offset for each in events if each.kind == "processed"]
