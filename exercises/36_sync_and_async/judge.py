"""What exercise 36 lets a loop live through, and what may never come of it.

Source: documents 000 and 002 on commitAsync; ConsumerCoordinator.commitOffsetsAsync (1.0.2).
"""

from collections.abc import Iterator
from random import Random

from kafkalearn.grading.judging.loop_story import TOPIC, LoopStory, Problem
from kafkalearn.grading.judging.stories import lost, repeated, unclosed, uncommitted, unfinished
from kafkalearn.trace import Trace

_BREAKS: dict[str, tuple[tuple[str, int], ...]] = {
    "does-not-wait": (),
    "never-back": (("commit", 8),),
    "made-good": (("commit", 6),),
    "last-word": (("stop", 3), ("commits", 2)),
}


def stories(check: str, seed: int) -> Iterator[LoopStory]:
    """Give the stories of one check, small ones first; equal seeds give equal stories."""
    random = Random(f"{seed} {check}")
    breaks = _BREAKS[check]
    yield LoopStory(check, (4,), config={"max_poll_records": 2}, work_ms=0, breaks=breaks)
    yield LoopStory(
        check,
        tuple(random.randint(2, 4) for _ in range(random.randint(1, 2))),
        config={"max_poll_records": random.randint(1, 2)},
        work_ms=random.randint(1, 20),
        breaks=breaks,
    )


def problem(story: LoopStory, trace: Trace) -> Problem | None:
    """Name what went back, was left uncommitted, lost or done twice, or waited for."""
    wrong = _went_back(trace) or lost(trace) or repeated(trace, 0, because="nobody crashed")
    if wrong or story.stops:
        return wrong or uncommitted(trace) or unclosed(story, trace)
    if story.check == "never-back":
        return unfinished(story, trace)
    wrong = unfinished(story, trace) or uncommitted(trace)
    if wrong or story.check != "does-not-wait":
        return wrong
    return _waited(trace) or _too_early_or_late(trace)


def _went_back(trace: Trace) -> Problem | None:
    committed: dict[int | None, int] = {}
    for stored in trace.where(kind="offset_stored", topic=TOPIC):
        before, now = committed.get(stored.partition, 0), stored.offset or 0
        if now < before:
            return Problem(
                "back",
                f"the committed offset of {TOPIC}-{stored.partition} went back from {before} to "
                f"{now}: after a crash now, records would come again",
                stored.seq,
            )
        committed[stored.partition] = now
    return None


def _waited(trace: Trace) -> Problem | None:
    for commit in trace.where(kind="commit"):
        if (commit.detail or {})["mode"] == "sync":
            return Problem(
                "waited",
                f"at {commit.time_ms} ms your loop waited for a commit, though nobody told it to "
                "stop",
                commit.seq,
            )
    return None


def _too_early_or_late(trace: Trace) -> Problem | None:
    """Find a commit of what is not processed yet, or a poll before what is processed is committed.

    Who lets one commit at a time be on its way hears of its end in the next poll, and is excused.
    """
    done: dict[str, int] = {}
    said: dict[str, int] = {}
    is_on_its_way = was_on_its_way = False
    for each in trace.where(kind=("processed", "send", "commit", "poll")):
        where = f"{TOPIC}-{each.partition}"
        if each.kind == "processed":
            done[where] = (each.offset or 0) + 1
        elif each.kind == "send" and each.api == "OffsetCommit":
            is_on_its_way = True
            offsets = (each.detail or {})["fields"]["offsets"]
            said |= {partition: entry["offset"] for partition, entry in offsets.items()}
            if found := _first(said, beyond=done):
                return Problem("early", _EARLY.format(*found, each.time_ms), each.seq)
        elif each.kind == "commit":
            is_on_its_way = is_on_its_way and each.offset != said.get(where)
        elif each.kind == "poll" and "timeout_ms" in (each.detail or {}):
            found = _first(done, beyond=said)
            if found and not was_on_its_way:
                return Problem("late", _LATE.format(*found, each.time_ms), each.seq)
            was_on_its_way = is_on_its_way
    return None


_EARLY = (
    "{0} offset {1} was not processed yet when your loop committed it at {2} ms: after a crash "
    "now, nobody would process it"
)
_LATE = "your loop polls again at {2} ms, and has not committed {0} offset {1}, which is processed"


def _first(ends: dict[str, int], *, beyond: dict[str, int]) -> tuple[str, int] | None:
    """Name a partition, and the first offset of it, that one side has and the other has not."""
    for partition, end in sorted(ends.items()):
        if end > beyond.get(partition, 0):
            return partition, beyond.get(partition, 0)
    return None
