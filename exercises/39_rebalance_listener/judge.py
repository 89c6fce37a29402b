"""What exercise 39 lets a loop live through, and what may never come of it.

Source: document 001 on ConsumerRebalanceListener; ConsumerCoordinator.onJoinPrepare (1.0.2).
"""

from collections.abc import Iterator
from random import Random

from kafkalearn.grading.loop_story import TOPIC, LoopStory, Problem
from kafkalearn.grading.stories import lost, repeated, unclosed, uncommitted, unfinished
from kafkalearn.trace import Trace

EVERY = 10
_BYTES = 40  # few records a fetch, so that all partitions are read in turn


def stories(check: str, seed: int) -> Iterator[LoopStory]:
    """Give the stories of one check, small ones first; equal seeds give equal stories."""
    random = Random(f"{seed} {check}")
    if check == "few-commits":
        for count in (EVERY, random.randint(2, 4) * EVERY):
            yield LoopStory(check, (count,), config={"max_poll_records": 4}, work_ms=2)
    elif check == "says-goodbye":
        yield LoopStory(
            check, (12,), config={"max_poll_records": 4}, work_ms=10, breaks=(("stop", 12),)
        )
        yield _two(check, random, stops={"c2": random.randint(900, 1400)})
    else:
        yield LoopStory(
            check,
            (24, 24),
            starts={"c1": 100, "c2": 200},
            config={"max_poll_records": 3, "max_partition_fetch_bytes": _BYTES},
            work_ms=25,
        )
        for _ in range(2):
            yield _two(check, random)


def _two(check: str, random: Random, stops: dict[str, int] | None = None) -> LoopStory:
    """Two consumers; the second comes while the first is at work."""
    partitions = random.randint(2, 3)
    return LoopStory(
        check,
        tuple(random.randint(20, 26) for _ in range(partitions)),
        starts={"c1": 100, "c2": random.randint(200, 500)},
        stops=stops or {},
        config={
            "max_poll_records": random.choice((3, 4, 7)),
            "max_partition_fetch_bytes": _BYTES,
        },
        work_ms=random.randint(20, 30),
    )


def problem(story: LoopStory, trace: Trace) -> Problem | None:
    """Name what was lost, done twice or left, who spoke for another, and needless commits."""
    because = "nobody crashed, so nothing may come again"
    found = _of_another(trace) if story.check == "only-your-own" else None
    found = (
        found or lost(story, trace) or repeated(trace, 0, because=because) or unclosed(story, trace)
    )
    if found or story.starts.keys() == story.stops.keys():
        return found or uncommitted(trace)
    found = unfinished(story, trace)
    if found or story.check != "few-commits":
        return found
    return _too_many(trace) or uncommitted(trace)


def _of_another(trace: Trace) -> Problem | None:
    """Find an offset that was stored for a member whose generation does not have the partition."""
    owned = {
        (each.member_id, each.generation): (each.detail or {})["partitions"]
        for each in trace.where(kind="assigned")
    }
    for stored in trace.where(kind="offset_stored", topic=TOPIC):
        mine = owned.get((stored.member_id, stored.generation), {}).get(TOPIC, [])
        if stored.partition not in mine:
            has = ", ".join(f"{TOPIC}-{number}" for number in mine) or "nothing"
            return Problem(
                "another's",
                f"offset {stored.offset} of {TOPIC}-{stored.partition} was committed at "
                f"{stored.time_ms} ms by a consumer that had {has} then",
                stored.seq,
            )
    return None


def _too_many(trace: Trace) -> Problem | None:
    commits = trace.where(kind="send", api="OffsetCommit")
    processed = len(trace.where(kind="processed"))
    allowed = processed // EVERY
    if len(commits) > allowed:
        return Problem(
            "commits",
            f"commit number {len(commits)} was sent when {processed} records were processed: for "
            f"these, {allowed} are allowed",
            commits[allowed].seq,
        )
    return None
