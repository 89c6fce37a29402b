"""What exercise 36 lets a loop live through, and what may never come of it.

Source: documents 000 and 002 on commitAsync; ConsumerCoordinator.commitOffsetsAsync (1.0.2).
"""

from collections.abc import Iterator
from random import Random

from kafkalearn.grading.loop_story import TOPIC, LoopStory, Problem
from kafkalearn.grading.stories import lost, repeated, unclosed, uncommitted, unfinished
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
    wrong = _went_back(trace) or lost(story, trace) or repeated(trace, 0, because="nobody crashed")
    if wrong or story.stops:
        return wrong or uncommitted(trace) or unclosed(story, trace)
    if story.check == "never-back":
        return unfinished(story, trace)
    wrong = unfinished(story, trace) or uncommitted(trace)
    return wrong or (_waited(trace) if story.check == "does-not-wait" else None)


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
