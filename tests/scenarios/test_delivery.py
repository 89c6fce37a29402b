"""Delivery: whenever a consumer crashes, what is lost and what comes twice follows from 3 numbers.

They are the committed offset, the position (what polls have returned) and what was processed.
"""

import pytest

from kafkalearn import scenarios
from kafkalearn.engine import Crash
from kafkalearn.scenarios.story import TOPIC, Story
from kafkalearn.simulation import Simulation
from kafkalearn.trace import Trace
from tests.scenarios import deliveries
from tests.scenarios.deliveries import crash_of

KINDS = ["append", "records_returned", "processed", "offset_stored", "fault"]
RECORDS = 8


WORLDS = [{"profile": "1.0"}, {"profile": "4.0"}, {"latency_ms": 4}]


def interrupted(commit_mode, at_ms, **settings):
    """Tell the story of a crash at a time; the world's own crash is left out."""
    return scenarios.crash_before_commit(
        commit_mode=commit_mode,
        records=RECORDS,
        max_poll_records=3,
        crash_after=0,
        faults=[Crash("c1", at_ms)],
        record={"kinds": KINDS},
        **settings,
    )


def window(commit_mode, **settings):
    """Give each ms from before the first record to after the last commit."""
    trace = scenarios.crash_before_commit(
        commit_mode=commit_mode, records=RECORDS, crash_after=0, **settings
    )
    first = trace.where(kind="assigned")[0].time_ms
    last = trace.where(kind="client_state", node="c1", generation=-1)
    left = next(each.time_ms for each in last if each.time_ms > first)
    return range(first - 1, left + 1)


def check_commit_after_processing(crash):
    """Nothing is lost; the rest is as far as the numbers say, record by record."""
    assert crash.lost == []
    assert crash.processed == list(range(len(crash.processed)))
    assert crash.committed <= len(crash.processed) <= crash.position
    assert crash.again == list(range(crash.committed, crash.position))
    assert crash.duplicates == list(range(crash.committed, len(crash.processed)))


def check_commit_before_processing(crash):
    """Committed and not processed is lost; not committed comes again, and had no effect yet."""
    assert crash.processed == list(range(len(crash.processed)))
    assert len(crash.processed) <= crash.position
    assert crash.lost == list(range(len(crash.processed), crash.committed))
    assert crash.again == list(range(crash.committed, crash.position))
    assert crash.duplicates == []


@pytest.mark.parametrize("settings", WORLDS, ids=str)
def test_commit_sync_after_processing_loses_nothing(settings):
    """At every ms: position - committed records come again, processed - committed are twice."""
    crashes = [crash_of(interrupted("sync", ms, **settings)) for ms in window("sync", **settings)]
    for crash in crashes:
        check_commit_after_processing(crash)
    assert {crash.committed for crash in crashes} == {0, 3, 6, RECORDS}
    assert {len(crash.again) for crash in crashes} == {0, 2, 3}
    assert {len(crash.duplicates) for crash in crashes} == {0, 1, 2, 3}


@pytest.mark.parametrize("settings", WORLDS, ids=str)
def test_commit_before_processing_loses_what_is_not_processed(settings):
    """At every ms: committed - processed records are lost, and none is processed twice."""
    times = window("before", **settings)
    crashes = [crash_of(interrupted("before", ms, **settings)) for ms in times]
    for crash in crashes:
        check_commit_before_processing(crash)
    assert {len(crash.lost) for crash in crashes} == {0, 1, 2, 3}


@pytest.mark.parametrize("commit_mode", ["auto", "async"])
def test_other_commits_after_processing_lose_nothing_either(commit_mode):
    """Behaviour 7: with the work in the poll loop, an automatic commit is of what is processed."""
    for ms in window(commit_mode):
        check_commit_after_processing(crash_of(interrupted(commit_mode, ms)))


# Within a ms.

STEPS = ("before process", "after process", "before commit", "after commit")


def stopped_at(step, nth, *, commit_first):
    """Let a consumer crash at the nth time it comes to a step; a second one reads the rest."""
    sim = Simulation(name=f"{step} {nth}", brokers=1, record={"kinds": KINDS})
    story = Story(sim)
    left = {step: nth}

    def come_to(here):
        if here in left:
            left[here] -= 1
            if left[here] == 0:
                sim.crash("c1")

    def commit(consumer):
        come_to("before commit")
        consumer.commit_sync()
        come_to("after commit")

    def loop(consumer):
        consumer.subscribe([TOPIC])
        while consumer.context.now_ms < sim.stop_ms:
            records = consumer.poll(100)
            if records and commit_first:
                commit(consumer)
            for record in records:
                come_to("before process")
                story.database.write(record)
                come_to("after process")
            if records and not commit_first:
                commit(consumer)

    story.topic(partitions=1, records=RECORDS)
    for _ in ("once", "again"):
        sim.stop_ms = sim.now_ms + 10_000
        story.start("c1", loop, enable_auto_commit=False, max_poll_records=3)
        story.run_until(lambda: not story.is_up("c1"))
    trace = sim.trace[:]
    sim.dispose()
    return trace


@pytest.mark.parametrize("step", STEPS)
def test_a_crash_at_any_step_after_processing(step):
    """Between any two steps of the loop, even in the same ms."""
    crashes = [
        crash_of(stopped_at(step, nth, commit_first=False))
        for nth in range(1, (RECORDS if "process" in step else 3) + 1)
    ]
    for crash in crashes:
        check_commit_after_processing(crash)
    expected = {
        "before process": [0, 1, 2, 0, 1, 2, 0, 1],
        "after process": [1, 2, 3, 1, 2, 3, 1, 2],
        "before commit": [3, 3, 2],
        "after commit": [0, 0, 0],
    }
    assert [len(crash.duplicates) for crash in crashes] == expected[step]


@pytest.mark.parametrize("step", STEPS)
def test_a_crash_at_any_step_after_committing_first(step):
    """Between any two steps of the loop, even in the same ms."""
    crashes = [
        crash_of(stopped_at(step, nth, commit_first=True))
        for nth in range(1, (RECORDS if "process" in step else 3) + 1)
    ]
    for crash in crashes:
        check_commit_before_processing(crash)
    expected = {
        "before process": [3, 2, 1, 3, 2, 1, 2, 1],
        "after process": [2, 1, 0, 2, 1, 0, 1, 0],
        "before commit": [0, 0, 0],
        "after commit": [3, 3, 2],
    }
    assert [len(crash.lost) for crash in crashes] == expected[step]


# The fold itself.


def made_up(*told):
    """Make a trace of (kind, offset, count) and crashes."""
    trace = Trace("made up")
    for kind, *numbers in told:
        if kind == "crash":
            trace.record("fault", 0, "c1", detail={"fault": "crash"})
            continue
        offset, *count = numbers
        detail = {"count": count[0]} if count else None
        trace.record(kind, 0, "c1", topic=TOPIC, partition=0, offset=offset, detail=detail)
    return trace


SOUND = [
    ("append", 0, 3),
    ("records_returned", 0, 2),
    ("processed", 0),
    ("offset_stored", 1),
    ("processed", 1),
    ("crash",),
    ("records_returned", 1, 2),
    ("processed", 1),
    ("processed", 2),
    ("offset_stored", 3),
]


def without(*gone):
    """Leave lines of the sound trace out."""
    return [each for place, each in enumerate(SOUND) if place not in gone]


def test_the_fold_counts_what_a_trace_tells():
    """Redelivered and twice processed are not the same."""
    assert crash_of(made_up(*SOUND)) == deliveries.Crash(
        committed=1, position=2, processed=[0, 1], again=[1], duplicates=[1], lost=[]
    )


def test_a_record_without_effect_is_lost():
    """The check of commits after processing can fail."""
    crash = crash_of(made_up(*without(8)))
    assert crash.lost == [2]
    with pytest.raises(AssertionError):
        check_commit_after_processing(crash)


def test_a_commit_on_its_way_counts():
    """What is stored after the crash, before the next life reads, is where that begins."""
    crash = crash_of(made_up(*SOUND[:6], ("offset_stored", 2), ("records_returned", 2, 1)))
    assert (crash.committed, crash.again, crash.lost) == (2, [], [2])


@pytest.mark.parametrize(
    "told",
    [
        [*SOUND, ("processed", 0)],
        [*without(6), ("records_returned", 0, 3)],
        without(3),
        [*SOUND[:7], *SOUND[8:]],
    ],
    ids=["an effect too many", "delivered from too early", "nothing committed", "no second effect"],
)
def test_other_numbers_are_refused(told):
    """More or fewer duplicates than processed - committed, or records than position - committed."""
    with pytest.raises(AssertionError):
        check_commit_after_processing(crash_of(made_up(*told)))


@pytest.mark.parametrize(
    "told", [SOUND, [*without(4, 7), ("offset_stored", 3)]], ids=["a duplicate", "nothing lost"]
)
def test_other_numbers_are_refused_of_commits_before_processing(told):
    """Behind the committed offset nothing is processed, and from it on nothing is missing."""
    with pytest.raises(AssertionError):
        check_commit_before_processing(crash_of(made_up(*told)))
