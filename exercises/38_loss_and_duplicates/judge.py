"""What exercise 38 lets a loop live through, and what may never come of it.

Source: documents 000, 002 and 004 on when offsets are committed.
"""

from collections.abc import Iterator
from random import Random

from kafkalearn.grading.judging.loop_story import LoopStory, Problem
from kafkalearn.grading.judging.stories import lost, repeated, uncommitted, unfinished
from kafkalearn.trace import Trace


def stories(check: str, seed: int) -> Iterator[LoopStory]:
    """Give the stories of one check, small ones first; equal seeds give equal stories."""
    random = Random(f"{seed} {check}")
    if check == "slow-record":
        yield from _slow(check, random)
        return
    first = {
        "reads-all": LoopStory(check, (3,), config={"max_poll_records": 2}),
        "nothing-lost": LoopStory(
            check, (3,), config={"max_poll_records": 2}, breaks=(("crash", 8),)
        ),
        "few-repeats": LoopStory(
            check, (6,), config={"max_poll_records": 2}, breaks=(("crash", 6),)
        ),
    }
    yield first[check]
    if check == "few-repeats":  # a commit that fails unseen leaves two polls to repeat
        breaks = (("commit", 4), ("crash", 6))
        yield LoopStory(check, (4,), config={"max_poll_records": 2}, breaks=breaks)
    breaks = {
        "reads-all": (),
        "nothing-lost": (("crash", 4), ("crash", 2)),
        "few-repeats": (("crash", 4),),
    }
    for _ in range(3 if check == "reads-all" else 1):
        yield LoopStory(
            check,
            tuple(random.randint(2, 4) for _ in range(random.randint(1, 3))),
            config={"max_poll_records": random.randint(2, 3)},
            work_ms=random.randint(3, 30),
            breaks=breaks[check],
        )


def _slow(check: str, random: Random) -> Iterator[LoopStory]:
    """One record takes longer than max.poll.interval.ms, for one consumer, then for two."""
    for consumers in (1, 2, 2):
        count = random.randint(2, 4)
        yield LoopStory(
            check,
            (count,) * consumers,
            starts={f"c{number + 1}": 100 + 10 * number for number in range(consumers)},
            config={"max_poll_records": 2},
            slow={(random.randrange(consumers), random.randrange(count)): 3000},
        )


def problem(story: LoopStory, trace: Trace) -> Problem | None:
    """Name what was lost, left, or done again more often than the crashes excuse."""
    crashes = sum((each.detail or {})["fault"] == "crash" for each in trace.where(kind="fault"))
    one_poll = int(story.config["max_poll_records"])
    allowed = one_poll * (crashes + len(story.slow))
    each = "record that takes too long" if story.slow else "crash"
    because = (
        f"at most {allowed} may, those of one poll for each {each}"
        if allowed
        else "nobody crashed, so nothing may come again"
    )
    return (
        lost(trace)
        or unfinished(story, trace)
        or repeated(trace, allowed, because=because)
        or (uncommitted(trace) if story.check == "reads-all" else None)
    )
