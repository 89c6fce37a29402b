"""Stories of loops: which are told, how one is made simpler, what is said of its trace."""

import io
import json
from dataclasses import replace

import pytest

from kafkalearn.engine.faults import AnswerWithError, Crash, Delay, Freeze
from kafkalearn.grading.exercise import Exercise
from kafkalearn.grading.judging.judge import decide
from kafkalearn.grading.judging.loop_story import LoopStory, broken, simpler
from kafkalearn.grading.judging.smallest import Finding
from kafkalearn.grading.judging.stories import (
    LoopCases,
    lost,
    repeated,
    unclosed,
    uncommitted,
    unfinished,
)
from kafkalearn.grading.judging.story_run import StoryRun
from kafkalearn.trace import Trace
from tests.grading.loops import CALM, EXERCISES, asker, at_least_once, done, played

ONE = LoopStory("one", (2,), config={"max_poll_records": 2})


def trace_of(*rows):
    """A trace of (kind, node, partition, offset) in orders, a ms apart."""
    trace = Trace("by hand")
    for at_ms, (kind, node, partition, offset) in enumerate(rows):
        trace.record(kind, at_ms, node, topic="orders", partition=partition, offset=offset)
    return trace


def test_a_calm_story_ends_when_all_is_processed_and_committed():
    """In the order of the log, each once, and not much later than needed."""
    trace = played(at_least_once)
    assert sorted(done(trace)) == [
        ("c1", 0, 0),
        ("c1", 0, 1),
        ("c1", 0, 2),
        *([("c1", 1, 0), ("c1", 1, 1)]),
    ]
    assert trace[-1].time_ms < 1000


def test_a_consumer_that_crashed_starts_again_and_goes_by_what_is_committed():
    """After its old session has ended; what was not committed comes again."""
    trace = played(at_least_once, replace(ONE, faults=(Crash("c1", 125),)))
    faults = [(each.time_ms, (each.detail or {})["fault"]) for each in trace.where(kind="fault")]
    assert faults == [(125, "crash"), (325, "restart")]
    assert done(trace) == [("c1", 0, 0), ("c1", 0, 0), ("c1", 0, 1)]


def test_a_kafka_error_that_ends_a_loop_starts_its_program_again():
    """As a supervisor does: here after CommitFailedError, as a record took too long."""
    trace = played(at_least_once, replace(ONE, slow={(0, 1): 2000}))
    assert "CommitFailedError" in trace.where(kind="logged")[0].detail["message"]
    assert done(trace) == [("c1", 0, 0), ("c1", 0, 1)] * 2
    assert not lost(trace)
    assert not unfinished(ONE, trace)


def test_a_consumer_that_is_told_to_stop_is_woken_up():
    """Once, in the poll in which it waits; it closes and does not come back."""
    trace = played(at_least_once, replace(ONE, stops={"c1": 500}))
    (left,) = trace.where(kind="send", api="LeaveGroup")
    assert left.time_ms == 500
    assert not unclosed(replace(ONE, stops={"c1": 500}), trace)


def test_who_is_told_to_stop_and_does_not_close_is_found():
    """The program ends, but its group does not know."""

    def loop(consumer, process):
        consumer.subscribe(["orders"])
        while True:
            consumer.poll(100)

    story = replace(ONE, stops={"c1": 300})
    problem = unclosed(story, played(loop, story))
    assert problem.sentence.startswith("c1 was told to stop at 300 ms, and was never closed")


def test_a_consumer_told_to_stop_before_it_started_stays_away():
    """Its start is late, or its restart would be."""
    assert not played(at_least_once, replace(ONE, starts={"c1": 300}, stops={"c1": 200})).where(
        kind="poll"
    )
    story = replace(ONE, faults=(Crash("c1", 125),), stops={"c1": 200})
    assert done(played(at_least_once, story)) == [("c1", 0, 0)]


def test_faults_are_placed_by_the_loops_own_run():
    """Just before and just after what it did, evenly spread, never more than asked for."""
    story = replace(ONE, breaks=(("crash", 100), ("crash", 2)))
    trace = played(at_least_once, story)
    crashes = [each.faults for each in broken(story, trace)]
    times = [fault.at_ms for (fault,) in crashes]
    processed = [each.time_ms for each in trace.where(kind="processed")]
    assert {at_ms + late for at_ms in processed for late in (0, 1)} <= set(times)
    assert times == sorted(times)
    few = [each.faults for each in broken(replace(story, breaks=(("crash", 3),)), trace)]
    assert len(few) == 3
    assert few[-1] == crashes[-1]
    assert {each.breaks for each in broken(story, trace)} == {(("crash", 2),)}


def test_a_second_fault_comes_after_the_first():
    """It is placed by the run with the first one in it."""
    story = replace(ONE, faults=(Crash("c1", 125),), breaks=(("crash", 9),))
    second = [each.faults[1].at_ms for each in broken(story, played(at_least_once, story))]
    assert second
    assert min(second) > 1000  # by then it is back in the group


def test_commits_fail_alone_late_or_in_a_row():
    """Each of those that the loop sent."""
    story = replace(ONE, breaks=(("commit", 99),))
    trace = played(at_least_once, story)
    count = len(trace.where(kind="send", api="OffsetCommit"))
    plans = [each.faults for each in broken(story, trace)]
    error = AnswerWithError("OffsetCommit", "COORDINATOR_LOAD_IN_PROGRESS", 1)
    assert plans[0] == (error,)
    assert plans[count] == (error, Delay("OffsetCommit", 300, 1, part="response"))
    in_a_row = broken(replace(story, breaks=(("commits", 99),)), trace)
    assert [[each.nth for each in story.faults] for story in in_a_row] == [
        [nth, nth + 1] for nth in range(1, count)
    ]


def test_simpler_stories_drop_shift_and_halve():
    """Each is one step away, and stays a story that can be told."""
    story = LoopStory(
        "x",
        (4, 2),
        starts={"c1": 100, "c2": 200},
        stops={"c2": 2000},
        slow={(0, 1): 500},
        faults=(
            Crash("c1", 1500),
            Freeze("c2", 1600, 400),
            AnswerWithError("OffsetCommit", "X", 4),
        ),
    )
    found = list(simpler(story))
    assert replace(story, records=(4,)) in found
    assert replace(story, records=(2, 2)) in found
    assert replace(story, starts={"c1": 100}) in found
    assert replace(story, stops={}) in found
    assert replace(story, slow={}) in found
    assert {len(each.faults) for each in found} == {2, 3}
    assert any(each.stops == {"c2": 1500} and each.faults[0].at_ms == 1000 for each in found)
    assert any(each.faults[-1] == replace(story.faults[-1], nth=2) for each in found)
    assert any(each.faults[1:2] == (Freeze("c2", 1600, 200),) for each in found)
    assert story not in found
    assert all(any(each.records) and each.starts for each in found)


def test_the_simplest_story_has_nothing_simpler():
    """So that making smaller ends."""
    assert list(simpler(LoopStory("x", (1,)))) == []


def test_lost_is_what_the_committed_offset_passed_and_nobody_did():
    """And an event to look at: the one that passed it."""
    trace = trace_of(
        ("processed", "c1", 1, 0),
        ("offset_stored", "b", 1, 1),
        ("offset_stored", "b", 1, 3),
        ("processed", "c1", 1, 2),
    )
    problem = lost(trace)
    assert problem.sentence == (
        "orders-1 offset 1 was lost: it was never processed, and the committed offset 3 passed it"
    )
    assert problem.seq == 2
    assert lost(trace_of(("processed", "c1", 1, 0), ("offset_stored", "b", 1, 1))) is None


def test_repeats_are_counted_over_all_records():
    """The first that is one too many is named."""
    trace = trace_of(*(("processed", "c1", 0, offset) for offset in (0, 1, 0, 1, 1)))
    assert repeated(trace, 3, because="three may") is None
    problem = repeated(trace, 1, because="one may")
    assert problem.seq == 3
    assert problem.sentence == "2 records came again, orders-0 offset 1 as the last: one may"
    assert repeated(trace, 0, because="none may").sentence == (
        "orders-0 offset 0 was processed again: none may"
    )


def test_what_is_left_undone_or_uncommitted_is_named():
    """By partition, the first in order."""
    trace = trace_of(("processed", "c1", 0, 0), ("offset_stored", "b", 0, 0))
    assert unfinished(ONE, trace).sentence.startswith("orders-0 offset 1 was never processed")
    assert uncommitted(trace).sentence == (
        "orders-0 was processed up to offset 0, but 0 is committed at the end, not 1"
    )
    assert "but nothing is committed" in uncommitted(trace[:1]).sentence
    assert uncommitted(trace_of(("processed", "c1", 0, 0), ("offset_stored", "b", 0, 1))) is None


def test_only_who_had_something_and_left_without_a_word_is_unclosed():
    """Each is looked at by itself: another's partitions, and another's leaving, are not its own."""
    story = replace(ONE, starts={"c1": 0, "c2": 0}, stops={"c1": 7, "c2": 9})
    trace = Trace("by hand")
    trace.record("assigned", 1, "c1", topic="orders", partition=0)
    trace.record("send", 8, "c1", api="LeaveGroup")
    assert unclosed(story, trace) is None
    trace.record("send", 9, "c2", api="JoinGroup")
    assert unclosed(story, trace) is None
    trace.record("assigned", 9, "c2", topic="orders", partition=1)
    problem = unclosed(story, trace)
    assert (problem.kind, problem.seq) == ("unclosed", 3)
    assert problem.sentence.startswith("c2 was told to stop at 9 ms, and was never closed")
    trace.record("send", 10, "c2", api="LeaveGroup")
    assert unclosed(story, trace) is None


def test_a_problem_names_its_kind_its_event_and_the_crashes_before():
    """A kind tells failures apart while a story is made small; the event is where to look."""
    trace = trace_of(
        ("processed", "c1", 0, 0),
        ("offset_stored", "b", 0, 2),
        ("processed", "c1", 0, 0),
    )
    trace.record("fault", 4, "c1", detail={"fault": "crash"})
    trace.record("fault", 5, "c1", detail={"fault": "restart"})
    trace.record("fault", 6, "c2", detail={"fault": "crash"})
    crashes = ", after c1 crashed at 4 ms and c2 crashed at 6 ms"
    found = {
        problem.kind: (problem.seq, crashes in problem.sentence)
        for problem in (
            lost(trace),
            unfinished(ONE, trace),
            repeated(trace, 0, because="none may"),
            uncommitted(trace),
        )
    }
    assert found == {
        "lost": (1, True),
        "unfinished": (5, True),
        "repeated": (2, True),
        "uncommitted": (1, True),
    }
    assert repeated(trace, 0, because="none may").sentence.endswith(f"{crashes}: none may")
    assert uncommitted(trace[:1]).seq == 0


def test_what_lies_in_other_topics_is_no_part_of_a_story():
    """Offsets of another topic neither lose a record nor commit one."""
    trace = Trace("by hand")
    trace.record("processed", 0, "c1", topic="orders", partition=0, offset=0)
    trace.record("offset_stored", 1, "b", topic="orders", partition=0, offset=1)
    trace.record("offset_stored", 2, "b", topic="others", partition=0, offset=9)
    assert lost(trace) is None
    assert uncommitted(trace) is None


def test_a_shown_story_can_be_stepped_through():
    """The whole trace, and the place of the event that showed it."""

    def loop(consumer, process):
        consumer.subscribe(["orders"])
        while True:
            records = consumer.poll(100)
            consumer.commit_sync()
            for record in records:
                process(record)

    exercise = EXERCISES["38_loss_and_duplicates"]
    shown = decide(exercise, "nothing-lost", seed=0, ask=asker(loop)).shown
    trace = Trace.from_jsonl(io.StringIO(shown.story.jsonl))
    assert trace[shown.story.step].kind == "offset_stored"
    assert "was lost" in shown.story.caption
    assert json.loads(shown.detail)["story"]["step"] == shown.story.step
    lines = shown.text.splitlines()
    assert 5 < len(lines) < 25
    assert lines[2].split()[1:2] == ["ms"]  # nothing is left out before the first
    assert sum(line.startswith("->") for line in lines) == 1


def test_a_long_story_is_told_by_what_is_near_and_by_who_came_and_went():
    """At most some 20 lines; what is left out shows."""
    story = LoopStory("long", (40, 40), starts={"c1": 100, "c2": 300}, patience_ms=1500)
    trace = played(at_least_once, story)
    last = trace.where(kind="processed")[-1].seq
    cases = LoopCases(EXERCISES["38_loss_and_duplicates"], asker(at_least_once))
    lines = cases.shown(story, Finding("", "", (trace, last))).text.splitlines()
    assert 15 < len(lines) < 28
    assert "   ..." in lines
    assert any("takes c2" in line for line in lines)
    assert any(line.startswith("->") and "has processed" in line for line in lines)


def test_a_mistake_of_the_judge_is_no_pass():
    """A problem() that fails is told as such."""
    exercise = EXERCISES["38_loss_and_duplicates"]
    broken_judge = exercise.files["judge.py"].replace("    crashes = sum(", "    crashes = oops(")
    broken_exercise = Exercise.of(exercise.name, {**exercise.files, "judge.py": broken_judge})
    said = decide(broken_exercise, "reads-all", seed=0, ask=asker(at_least_once)).sentence
    assert said.startswith("reads-all: the judge itself failed")


def test_a_loop_that_calls_and_calls_is_ended_while_time_stands_still():
    """By the number of calls, not by a clock; polling each ms is no such thing."""

    def busy(consumer, process):
        consumer.subscribe(["orders"])
        while True:
            for record in consumer.poll(0):
                process(record)
            consumer.commit_sync()

    assert len(done(played(busy))) == 5
    run = StoryRun(CALM, asker(lambda consumer, _: [consumer.paused() for _ in iter(int, 1)]))
    with pytest.raises(
        BaseException,
        match=r"goes on calling paused at 100 ms, after \d+ calls: time passes only in",
    ):
        run.play()


def test_a_wakeup_of_its_own_is_no_reason_to_end():
    """Who wakes itself up and ends by that is started again, and gets no further."""

    def loop(consumer, process):
        consumer.wakeup()
        consumer.subscribe(["orders"])
        consumer.poll(100)

    trace = played(loop, ONE)
    assert unfinished(ONE, trace).kind == "unfinished"
    assert len(trace.where(kind="logged")) > 3
