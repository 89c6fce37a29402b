"""The answer is a loop: a case is a story, played in a simulation, and judged by its trace alone.

judge.py of such an exercise defines ``stories(check, seed) -> Iterable[LoopStory]``, small ones
first, and ``problem(story, trace) -> Problem | None``. Stories with faults are made here, from what
a learner's loop did without: see LoopStory.breaks.
"""

import io
from collections.abc import Iterable, Iterator
from typing import Any

from kafkalearn.grading.exercise import Exercise
from kafkalearn.grading.judging.cases import Ask, Shown, Story
from kafkalearn.grading.judging.loop_calls import StoryOverError
from kafkalearn.grading.judging.loop_story import (
    TOPIC,
    LoopStory,
    Problem,
    broken,
    simpler,
    telling,
)
from kafkalearn.grading.judging.smallest import Finding
from kafkalearn.grading.judging.story_run import StoryRun
from kafkalearn.grading.judging.wording import raised_in_words
from kafkalearn.trace import Event, Trace, describe
from kafkalearn.views.wording import plural

_TOLD = (
    *("records_returned", "processed", "commit", "offset_stored", "assigned", "revoked"),
    *("member_joined", "member_removed", "fault", "logged"),
)
_WEIGHTY = ("assigned", "revoked", "member_joined", "member_removed", "fault", "logged")
_LINES = 20
_LINES_NEAR = 12
_OWN_WORDS = ("ended", "calls", "refused")  # sentences of ours; any other is a learner's exception


class LoopCases:
    """One kind of exercise: loops."""

    def __init__(self, exercise: Exercise, ask: Ask) -> None:
        self._exercise = exercise
        self._judge: Any = exercise.judge
        self._ask = ask
        self._trace: Trace | None = None

    def tried(self, check: str, seed: int) -> Iterator[tuple[LoopStory, Finding | None]]:
        """Play judge.py's stories, each followed by those in which something breaks."""
        for story in self._judge.stories(check, seed):
            for each in self.with_faults(story):
                yield each, self.find(each)

    def with_faults(self, story: LoopStory) -> Iterator[LoopStory]:
        """Give a story and, once `find` has played it, those in which something breaks."""
        self._trace = None
        yield story
        if self._trace is not None:
            for further in broken(story, self._trace):
                yield from self.with_faults(further)

    def find(self, case: LoopStory) -> Finding | None:
        """Play the story, and judge its trace."""
        run = StoryRun(case, self._ask)
        self._trace = trace = run.sim.trace
        try:
            run.play()
        except StoryOverError as over:
            said = str(over)
            said = said if over.kind in _OWN_WORDS else raised_in_words(said, self._exercise)
            return Finding(said, over.kind, (trace, len(trace) - 1))
        problem: Problem | None = self._judge.problem(case, trace)
        return problem and Finding(problem.sentence, problem.kind, (trace, problem.seq))

    def simpler(self, case: LoopStory) -> Iterable[LoopStory]:
        """Give the stories that are one step simpler."""
        return simpler(case)

    def shown(self, case: LoopStory, found: Finding) -> Shown:
        """Lay out the story, what matters of its run in words, and all of it to step through."""
        trace, seq = found.evidence
        begin_ms = min(case.starts.values())
        told = [each for each in trace if each.kind in _TOLD or _is_meant(each, seq)]
        news = {each.seq for each in telling(told) if each.kind != "commit" or each.error} | {seq}
        events = [each for each in told if each.time_ms >= begin_ms and each.seq in news]
        text = io.StringIO()
        trace.to_jsonl(text)
        story = Story(found.sentence, text.getvalue(), seq, str(case))
        return Shown("\n".join([str(case), "", *_lines(events, seq)]), story=story)


def _is_meant(event: Event, seq: int) -> bool:
    """Whether a poll or a commit's request, which are not told of otherwise, is what went wrong."""
    return event.seq == seq and (event.kind == "poll" or event.api == "OffsetCommit")


def _lines(events: list[Event], seq: int) -> Iterator[str]:
    """Tell what came just before and after an event, and of the rest who came and went."""
    at = next((i for i, each in enumerate(events) if each.seq >= seq), len(events) - 1)
    near = range(max(0, at - _LINES_NEAR), min(len(events), at + 3))
    far = [i for i in range(near.start) if events[i].kind in _WEIGHTY]
    shown = [*far[len(near) - _LINES :], *near]
    for i, before in zip(shown, [-1, *shown], strict=False):
        if i != before + 1:
            yield "   ..."
        mark = "->" if events[i].seq == seq else "  "
        yield f"{mark} {events[i].time_ms:>5} ms  {describe(events[i])}"
    if shown and shown[-1] < len(events) - 1:
        yield "   ..."


# What judges ask of a trace. `analysis.deliveries` counts the same, but names no event to look at.


def lost(trace: Trace) -> Problem | None:
    """Find a record that the committed offset passed, and that had no effect by the end."""
    done = _done(trace)
    for stored in trace.where(kind="offset_stored", topic=TOPIC):
        for offset in range(stored.offset or 0):
            if (stored.partition, offset) not in done:
                return Problem(
                    "lost",
                    f"{TOPIC}-{stored.partition} offset {offset} was lost: it was never processed, "
                    f"and the committed offset {stored.offset} passed it{_after(trace)}",
                    stored.seq,
                )
    return None


def unfinished(story: LoopStory, trace: Trace) -> Problem | None:
    """Find a record that was not processed, though there was time."""
    done = _done(trace)
    for partition, count in enumerate(story.records):
        for offset in range(count):
            if (partition, offset) not in done:
                return Problem(
                    "unfinished",
                    f"{TOPIC}-{partition} offset {offset} was never processed, though all ended "
                    f"only at {trace[-1].time_ms} ms{_after(trace)}",
                    len(trace) - 1,
                )
    return None


def repeated(trace: Trace, allowed: int, *, because: str) -> Problem | None:
    """Find the first record that is processed again when `allowed` were so before."""
    done: set[tuple[int | None, int | None]] = set()
    again = 0
    for each in trace.where(kind="processed"):
        again += (each.partition, each.offset) in done
        done.add((each.partition, each.offset))
        if again > allowed:
            which = f"{TOPIC}-{each.partition} offset {each.offset}"
            said = f"{which} was processed again"
            if allowed:
                said = f"{plural(again, 'record')} came again, {which} as the last"
            return Problem("repeated", f"{said}{_after(trace)}: {because}", each.seq)
    return None


def uncommitted(trace: Trace) -> Problem | None:
    """Find a partition whose committed offset is not behind its last processed record."""
    ends: dict[int | None, int] = {}
    for each in trace.where(kind="processed"):
        ends[each.partition] = max(ends.get(each.partition, 0), (each.offset or 0) + 1)
    for partition, end in sorted(ends.items(), key=str):
        stored = trace.where(kind="offset_stored", topic=TOPIC, partition=partition)
        if not stored or stored[-1].offset != end:
            committed = f"{stored[-1].offset}" if stored else "nothing"
            return Problem(
                "uncommitted",
                f"{TOPIC}-{partition} was processed up to offset {end - 1}, but {committed} is "
                f"committed at the end, not {end}{_after(trace)}",
                stored[-1].seq if stored else len(trace) - 1,
            )
    return None


def unclosed(story: LoopStory, trace: Trace) -> Problem | None:
    """Find a consumer that was told to stop, and was never closed."""
    for name, at_ms in story.stops.items():
        left = trace.where(kind="send", api="LeaveGroup", node=name)
        if not left and trace.where(kind="assigned", node=name):
            return Problem(
                "unclosed",
                f"{name} was told to stop at {at_ms} ms, and was never closed: its group waits for "
                "it until its session ends",
                len(trace) - 1,
            )
    return None


def _done(trace: Trace) -> set[tuple[int | None, int | None]]:
    return {(each.partition, each.offset) for each in trace.where(kind="processed")}


def _after(trace: Trace) -> str:
    faults = [
        f"{each.node} crashed at {each.time_ms} ms"
        for each in trace.where(kind="fault")
        if (each.detail or {})["fault"] == "crash"
    ]
    return f", after {' and '.join(faults)}" if faults else ""
