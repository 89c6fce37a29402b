"""What exercise 39 lets a loop live through, and what may never come of it.

Source: document 001 on ConsumerRebalanceListener; ConsumerCoordinator.onJoinPrepare (1.0.2).
"""

from collections import Counter
from collections.abc import Iterator
from random import Random

from kafkalearn.grading.judging.loop_story import TOPIC, LoopStory, Problem
from kafkalearn.grading.judging.stories import lost, repeated, unclosed, uncommitted, unfinished
from kafkalearn.trace import Trace

EVERY = 10
_BYTES = 40  # few records a fetch, so that all partitions are read in turn


def stories(check: str, seed: int) -> Iterator[LoopStory]:
    """Give the stories of one check, small ones first; equal seeds give equal stories."""
    random = Random(f"{seed} {check}")
    if check == "few-commits":
        for records in ((EVERY,), (EVERY // 2, EVERY // 2), (random.randint(2, 4) * EVERY,)):
            config = {"max_poll_records": 4, "max_partition_fetch_bytes": _BYTES}
            yield LoopStory(check, records, config=config, work_ms=2)
        yield _two(check, random)
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
    found = found or lost(trace) or repeated(trace, 0, because=because)
    if story.check != "few-commits":
        found = found or _given_on(trace)
    found = found or unclosed(story, trace)
    if found or story.starts.keys() == story.stops.keys():
        return found or uncommitted(trace)
    found = unfinished(story, trace)
    if found or story.check != "few-commits":
        return found
    is_even = len(story.starts) == 1 and sum(story.records) % EVERY == 0
    return _too_many_or_few(trace) or (uncommitted(trace) if is_even else None)


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


def _given_on(trace: Trace) -> Problem | None:
    """Find a partition that is given to somebody before all that is done of it is committed.

    Whoever hears of that by another way, as by a file, need not do a record twice; but consumers
    on several machines have no such way.
    """
    done: Counter[int | None] = Counter()
    stored: Counter[int | None] = Counter()
    for each in trace.where(kind=("processed", "offset_stored", "assigned")):
        if each.kind == "processed":
            done[each.partition] = max(done[each.partition], (each.offset or 0) + 1)
        elif each.kind == "offset_stored" and each.topic == TOPIC:
            stored[each.partition] = each.offset or 0
        elif each.kind == "assigned":
            for number in (each.detail or {})["partitions"].get(TOPIC, []):
                if stored[number] < done[number]:
                    where, told = f"{TOPIC}-{number}", (stored[number], done[number] - 1)
                    sentence = _GIVEN_ON.format(each.node, where, each.time_ms, *told)
                    return Problem("given on", sentence, each.seq)
    return None


def _too_many_or_few(trace: Trace) -> Problem | None:
    """Find a commit before its ten records are processed, or a poll before ten are committed.

    Commits while partitions are revoked are not counted; but then nothing is due for a while.
    """
    processed: Counter[str] = Counter()
    commits: Counter[str] = Counter()
    since: Counter[str] = Counter()  # the last commit
    revoking: set[str] = set()
    for each in trace.where(kind=("processed", "send", "poll", "revoked", "assigned")):
        name = each.node
        if each.kind == "processed":
            processed[name] += 1
            since[name] += 1
        elif each.kind == "revoked":
            revoking.add(name)
        elif each.kind == "assigned":
            revoking.discard(name)
        elif each.kind == "poll" and since[name] >= EVERY:
            return Problem("late", _LATE.format(name, each.time_ms, since[name]), each.seq)
        elif each.api == "OffsetCommit":
            since[name] = 0
            commits[name] += name not in revoking
            if commits[name] * EVERY > processed[name]:
                sentence = _EARLY.format(name, commits[name], each.time_ms, processed[name])
                return Problem("commits", sentence, each.seq)
    return None


_GIVEN_ON = (
    "{0} is given {1} at {2} ms and begins at {3}, as committed, though offset {4} is processed "
    "already: commit what is done while it is revoked; nothing else tells the next owner"
)
_LATE = (
    "{0} polls again at {1} ms, and has processed {2} records since its last commit: one is due "
    "after ten"
)
_EARLY = (
    "{0} sends its commit number {1} at {2} ms, and nothing is revoked: one for every ten records "
    "is allowed, and it has processed {3}"
)
