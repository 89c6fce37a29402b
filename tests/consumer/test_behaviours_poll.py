"""Polling, and staying alive: what the poll loop of a consumer does, and what its heartbeats do."""

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from kafkalearn.engine.faults import Delay
from kafkalearn.errors import CommitFailedError, IllegalStateError, WakeupError
from kafkalearn.profile import profile_of
from kafkalearn.records import OffsetAndMetadata
from tests.consumer.members import (
    Member,
    answers,
    cluster,
    generations,
    group,
    names,
    partition,
    produce,
    removed,
    sent,
)

OLDER, NEWER = "1.0", "2.4"


def consumer_of(sim, name="c1", **config):
    """Make a consumer of ``orders`` that the test itself polls."""
    given = {"group_id": "g", "auto_offset_reset": "earliest", "enable_auto_commit": False}
    consumer = sim.consumer(name, **(given | config))
    consumer.subscribe(["orders"])
    return consumer


def test_nothing_happens_before_the_first_poll():
    """Behaviour 21: subscribe sets local state only; joining and fetching are done by polls."""
    sim = cluster()
    produce(sim, 1)
    consumer = consumer_of(sim)
    sim.run_until(10_000)
    assert list(sim.trace.where(node="c1")) == []
    assert consumer.assignment() == []
    assert consumer.poll(0).is_empty()
    assert names(consumer.assignment()) == "orders-0 orders-1"
    assert [each.value for each in consumer.poll(100)] == ["0"]


def test_seek_works_only_once_a_poll_has_joined():
    """Behaviour 21: before the assignment seek and seek_to_beginning are refused."""
    sim = cluster()
    produce(sim, 3)
    consumer = consumer_of(sim)
    for too_early in (
        lambda: consumer.seek(partition(), 2),
        lambda: consumer.seek_to_beginning([partition()]),
    ):
        with pytest.raises(IllegalStateError, match="No current assignment for partition orders-0"):
            too_early()
    consumer.poll(0)
    consumer.seek(partition(), 2)
    assert [each.value for each in consumer.poll(100)] == ["2"]


@pytest.mark.parametrize("profile", [OLDER, "2.3", NEWER, "4.0"])
def test_a_poll_in_ms_joins_however_long_that_takes(profile):
    """Behaviour 22: poll(0) waits for the whole initial delay, and is used to get partitions."""
    sim = cluster(profile, group_initial_rebalance_delay_ms=3000)
    consumer = consumer_of(sim)
    start_ms = sim.now_ms
    consumer.poll(0)
    assert sim.now_ms - start_ms > 3000
    assert names(consumer.assignment()) == "orders-0 orders-1"


def test_a_poll_with_a_timedelta_may_return_before_the_assignment():
    """Behaviour 22: from 2.0 on it bounds the join too, which the next polls go on with."""
    sim = cluster("2.3", group_initial_rebalance_delay_ms=3000)
    consumer = consumer_of(sim)
    start_ms = sim.now_ms
    assert consumer.poll(timedelta(0)).is_empty()
    assert (sim.now_ms - start_ms, consumer.assignment()) == (1, [])
    for _ in range(29):
        consumer.poll(timedelta(milliseconds=100))
        assert consumer.assignment() == []
    assert sim.now_ms - start_ms <= 2_901
    consumer.poll(timedelta(milliseconds=200))
    assert names(consumer.assignment()) == "orders-0 orders-1"
    assert len(sent(sim, "c1", "JoinGroup")) == 2  # the second one with the id it was given


@pytest.mark.parametrize("profile", ["0.10.1", OLDER, NEWER, "4.0"])
def test_polling_for_nothing_is_refused(profile):
    """Behaviour 23: with neither subscription nor assignment poll raises, and after unsubscribe."""
    sim = cluster(profile)
    consumer = sim.consumer("c1", group_id="g")
    for _ in range(2):
        with pytest.raises(IllegalStateError, match="not subscribed to any topics or assigned"):
            consumer.poll(100)
        consumer.subscribe(["orders"])
        consumer.poll(0)
        consumer.unsubscribe()


def test_polls_hand_out_one_fetch_bit_by_bit():
    """Behaviour 24: buffered records come without network, up to max.poll.records a poll."""
    sim = cluster(partitions=1)
    produce(sim, 5)
    consumer = consumer_of(sim, max_poll_records=2)
    values, times, fetches = [], [], []
    for _ in range(3):
        values.append([each.value for each in consumer.poll(1000)])
        times.append(sim.now_ms)
        fetches.append(len(sent(sim, "c1", "Fetch")))
    assert values == [["0", "1"], ["2", "3"], ["4"]]
    assert times[0] == times[1] == times[2]
    # Only the poll that hands out the last one sends the next fetch, before it returns.
    assert fetches == [1, 1, 2]


def test_500_records_are_the_default_of_a_poll():
    """Behaviour 24: max.poll.records is 500 since 0.10.1."""
    sim = cluster(partitions=1)
    produce(sim, 501)
    consumer = consumer_of(sim)
    assert [consumer.poll(1000).count() for _ in range(2)] == [500, 1]


def test_one_fetch_at_a_time_goes_to_a_broker():
    """Behaviour 24: the next one leaves when the one before is answered."""
    sim = cluster(partitions=6)
    group(sim, "c1")
    produce(sim, 20, number=0)
    produce(sim, 20, number=3)
    sim.run_until(20_000)
    on_their_way = {}
    for event in sim.trace.where(kind=["send", "response"], node="c1", api="Fetch"):
        on_their_way[event.peer] = on_their_way.get(event.peer, 0) + (event.kind == "send") * 2 - 1
        assert on_their_way[event.peer] in (0, 1)
    assert len(on_their_way) == 3


def test_buffered_records_of_a_paused_partition_are_kept_back():
    """Behaviour 26: what was fetched before pause() is thrown away, and fetched again later."""
    sim = cluster(partitions=1)
    produce(sim, 4)
    consumer = consumer_of(sim, max_poll_records=1)
    assert [each.value for each in consumer.poll(1000)] == ["0"]
    consumer.pause([partition()])
    assert consumer.poll(100).is_empty()
    fetches = len(sent(sim, "c1", "Fetch"))
    consumer.resume([partition()])
    assert [each.value for each in consumer.poll(1000)] == ["1"]
    assert len(sent(sim, "c1", "Fetch")) == fetches + 1


def test_buffered_records_from_before_a_seek_are_thrown_away():
    """Behaviour 26: their offset does not match the position any more."""
    sim = cluster(partitions=1)
    produce(sim, 4)
    consumer = consumer_of(sim, max_poll_records=1)
    assert [each.value for each in consumer.poll(1000)] == ["0"]
    consumer.seek(partition(), 3)
    assert [each.value for each in consumer.poll(1000)] == ["3"]


def test_buffered_records_of_a_lost_partition_are_thrown_away():
    """Behaviour 26: after a rebalance they are the new owner's alone."""
    sim = cluster()
    produce(sim, 10, number=1)
    Member(sim, "c1", max_poll_records=1, busy_ms=1500)
    sim.run_until(1000)  # by now nine more are waiting in its buffer
    second = Member(sim, "c2")
    sim.run_until(sim.now_ms + 15_000)
    assert second.owns == "orders-1"
    assert [each.value for each in second.records] == list("0123456789")
    (given_up_ms,) = [each.time_ms for each in sim.trace.where(kind="revoked", node="c1")]
    handed = sim.trace.where(kind="records_returned", node="c1")
    assert [each.offset for each in handed] == list(range(len(handed)))
    assert len(handed) < 10
    assert handed[-1].time_ms < given_up_ms


def test_records_in_the_hands_of_an_expelled_member_are_read_twice():
    """Behaviour 27: the new owner gets them again, and the commit of the old one fails."""
    sim = cluster(partitions=1)
    produce(sim, 1)
    slow = Member(sim, "c1", max_poll_interval_ms=10_000)
    sim.run_until(500)
    assert [each.value for each in slow.records] == ["0"]
    slow.do(lambda consumer: sim.sleep(12_000))
    slow.do(lambda consumer: consumer.commit_sync({partition(): OffsetAndMetadata(1)}))
    other = Member(sim, "c2")
    sim.run_until(20_000)
    assert [each.value for each in other.records] == ["0"]
    assert [type(each) for each in slow.errors] == [CommitFailedError]


@pytest.mark.parametrize(
    ("profile", "told", "late_ms"),
    [(OLDER, "revoked", 1), ("2.3", "revoked", 0), (NEWER, "lost", 0), ("4.0", "lost", 0)],
)
def test_a_member_that_does_not_poll_leaves_by_itself(profile, told, late_ms):
    """Behaviour 28: its heartbeats send LeaveGroup; the application learns it in its next poll.

    Its time is over in the very ms since 2.1; before, in the next one.
    """
    sim = cluster(profile, partitions=1)
    # Without answers to fetches, which let a poll go through its steps once more.
    (member,) = group(sim, "c1", max_poll_interval_ms=10_000, fetch_max_wait_ms=20_000)
    before = member.member_id
    member.do(lambda consumer: sim.sleep(30_000))
    last_poll_ms = sim.trace.where(kind="poll", node="c1")[-1].time_ms
    sim.run_until(last_poll_ms + 30_000)
    (leave,) = sent(sim, "c1", "LeaveGroup")
    assert leave[0] == last_poll_ms + 10_000 + late_ms
    assert [each[1:] for each in removed(sim)] == [("c1", "left")]
    assert len(member.told.calls) == (2 if told == "revoked" else 1)  # nothing was called meanwhile
    assert sent(sim, "c1", "Heartbeat", since_ms=leave[0]) == []
    sim.run_until(last_poll_ms + 31_000)
    assert member.told.calls[-2:] == [f"{told} orders-0", "assigned orders-0"]
    assert member.member_id != before
    assert member.errors == []


def test_no_poll_at_all_is_noticed_by_the_client_alone():
    """Behaviour 28: a broker hears heartbeats, and would keep a member that never polls."""
    sim = cluster(partitions=1)
    (member,) = group(sim, "c1", max_poll_interval_ms=100_000)
    member.do(lambda consumer: sim.sleep(90_000))
    sim.run_until(90_000)
    assert removed(sim) == []
    beats = [time_ms for time_ms, _ in sent(sim, "c1", "Heartbeat", since_ms=10_000)]
    assert {later - earlier for earlier, later in pairwise(beats)} == {3000}


@pytest.mark.parametrize(("profile", "beats"), [(NEWER, 0), ("4.0", 2)])
def test_heartbeats_between_join_and_sync(profile, beats):
    """Behaviour 30: they stop there up to 2.6; from 2.7 on they go on (KAFKA-10134)."""
    late = Delay("SyncGroup", by_ms=7000, nth=2, node="c1")
    sim = cluster(profile, faults=[late])
    _, follower = group(sim, "c1", "c2")
    sim.run_until(20_000)
    assert follower.owns == "orders-1"
    (sync_ms, _), *_ = sent(sim, "c2", "SyncGroup")
    assigned_ms = sim.trace.where(kind="assigned", node="c2")[0].time_ms
    assert assigned_ms - sync_ms > 7000
    between = [each for each, _ in sent(sim, "c2", "Heartbeat") if sync_ms < each < assigned_ms]
    assert len(between) == beats
    assert set(answers(sim, "c2", "Heartbeat")) == {"NONE"}


def test_a_crash_is_noticed_after_the_session_timeout():
    """Behaviour 32: the member goes just so long after its last sign of life, and not earlier."""
    sim = cluster()
    group(sim, "c1", "c2")
    sim.crash("c2")
    sim.run_until(30_000)
    last_ms = sim.trace.where(kind="receive", peer="c2", api="Heartbeat")[-1].time_ms
    assert removed(sim) == [(last_ms + 10_000, "c2", "no sign of life within the session timeout")]


def test_a_member_that_waits_for_the_others_does_not_expire():
    """Behaviour 32: who is parked in a join sends no heartbeats, and is kept all the same."""
    sim = cluster()
    (busy,) = group(sim, "c1", max_poll_interval_ms=60_000)
    busy.do(lambda consumer: sim.sleep(25_000))
    waiting = Member(sim, "c2")
    sim.run_until(29_000)
    assert (sent(sim, "c2", "Heartbeat"), removed(sim), waiting.owns) == ([], [], "")
    sim.run_until(31_000)
    assert (busy.owns, waiting.owns) == ("orders-0", "orders-1")


def test_a_heartbeat_is_how_a_member_hears_of_a_rebalance():
    """Behaviour 34: REBALANCE_IN_PROGRESS is no error; the next poll joins again."""
    sim = cluster()
    first, _ = group(sim, "c1", "c2")
    assert answers(sim, "c1", "Heartbeat").count("REBALANCE_IN_PROGRESS") == 1
    heard_ms = sim.trace.where(node="c1", error="REBALANCE_IN_PROGRESS", kind="response")[0].time_ms
    assert sent(sim, "c1", "JoinGroup")[-1][0] <= heard_ms + 100
    assert first.errors == []
    assert list(sim.trace.where(kind="logged")) == []


def test_a_member_that_does_not_poll_stops_the_world():
    """Behaviour 35: all wait for the largest max.poll.interval.ms of the members at most."""
    sim = cluster()
    busy = Member(sim, "c1", max_poll_interval_ms=30_000)
    sim.run_until(5000)
    busy.do(lambda consumer: sim.sleep(100_000))
    sim.run_until(5100)
    last_poll_ms = sim.trace.where(kind="poll", node="c1")[-1].time_ms
    waiting = Member(sim, "c2", max_poll_interval_ms=10_000)
    sim.run_until(last_poll_ms + 30_000)
    assert waiting.owns == ""
    sim.run_until(last_poll_ms + 30_100)
    assert waiting.owns == "orders-0 orders-1"
    assert len(generations(sim)) == 2


def test_the_world_goes_on_as_soon_as_the_last_one_polls():
    """Behaviour 35: a member that comes back earlier ends the wait."""
    sim = cluster()
    (busy,) = group(sim, "c1")
    busy.do(lambda consumer: sim.sleep(20_000))
    waiting = Member(sim, "c2")
    sim.run_until(24_900)
    assert waiting.owns == ""
    sim.run_until(25_300)
    assert (busy.owns, waiting.owns) == ("orders-0", "orders-1")


def test_slow_is_not_frozen_is_not_crashed():
    """Behaviours 28 and 32: three ways to be away for 20 s, told apart by the heartbeats."""

    def away(how):
        sim = cluster(partitions=1)
        (member,) = group(sim, "c1")
        before = member.member_id
        if how == "slow":
            member.do(lambda consumer: sim.sleep(20_000))
        elif how == "frozen":
            sim.freeze("c1", 20_000)
        else:
            sim.crash("c1")
        sim.run_until(24_900)
        beats = len(sent(sim, "c1", "Heartbeat", since_ms=5000))
        gone = [each[2] for each in removed(sim)]
        sim.run_until(30_000)
        return beats, gone, member.member_id == before, len(generations(sim))

    expired = ["no sign of life within the session timeout"]
    assert away("slow") == (7, [], True, 1)
    assert away("frozen") == (0, expired, False, 2)
    assert away("crashed") == (0, expired, True, 1)  # nobody is there to join again


def test_wakeup_ends_the_poll_that_waits():
    """wakeup() from another process raises within the poll at once."""
    sim = cluster()
    (member,) = group(sim, "c1", poll=60_000)
    sim.run_until(20_000)
    member.consumer.wakeup()
    sim.run_until(20_001)
    assert [str(each) for each in member.errors] == ["wakeup() was called"]
    member.close()
    sim.run_until(90_000)
    assert sent(sim, "c1", "LeaveGroup")


def test_wakeup_before_a_poll_is_kept_for_it():
    """wakeup() while nobody polls raises in the next poll, and only there."""
    sim = cluster()
    consumer = consumer_of(sim)
    consumer.poll(0)
    consumer.wakeup()
    start_ms = sim.now_ms
    with pytest.raises(WakeupError):
        consumer.poll(1000)
    assert sim.now_ms == start_ms
    consumer.poll(100)


@pytest.mark.parametrize("profile", [OLDER, "4.0"])
def test_a_join_goes_on_after_a_wakeup(profile):
    """The next poll waits for the join that was begun, and sends no other."""
    sim = cluster(profile, group_initial_rebalance_delay_ms=3000)
    member = Member(sim, "c1")
    sim.run_until(1000)
    joins = sent(sim, "c1", "JoinGroup")
    member.consumer.wakeup()
    sim.run_until(5000)
    assert [type(each) for each in member.errors] == [WakeupError]
    assert sent(sim, "c1", "JoinGroup") == joins
    assert member.owns == "orders-0 orders-1"
    assert member.told.calls == [*["revoked"][: profile == OLDER], "assigned orders-0 orders-1"]


@pytest.mark.parametrize(("profile", "calls"), [(OLDER, 2), ("2.3", 2), (NEWER, 1)])
def test_a_wakeup_while_partitions_are_given_up(profile, calls):
    """A listener that lets a WakeupError out is called again at the next poll, before 2.4."""
    sim = cluster(profile)
    (member,) = group(sim, "c1")
    revoked = []

    def revoke(partitions):
        revoked.append(names(partitions))
        if len(revoked) == 1:
            raise WakeupError("wakeup() was called")

    member.told.on_partitions_revoked = revoke
    member.do(lambda consumer: consumer.coordinator.request_rejoin())
    sim.run_until(10_000)
    assert [type(each) for each in member.errors] == [WakeupError]
    assert revoked == ["orders-0 orders-1"] * calls
    assert member.owns == "orders-0 orders-1"


@pytest.mark.parametrize(
    ("profile", "steps"),
    [
        (OLDER, ["send OffsetCommit", "commit", "send LeaveGroup", "client_state"]),
        (NEWER, ["send OffsetCommit", "commit", "revoked", "send LeaveGroup", "client_state"]),
    ],
)
def test_close_commits_then_leaves(profile, steps):
    """Behaviours 8 and 50: close commits what polls returned, gives up (2.4), leaves, and waits."""
    sim = cluster(profile, partitions=1)
    produce(sim, 1)
    (member,) = group(sim, "c1", enable_auto_commit=True, auto_commit_interval_ms=60_000)
    start = len(sim.trace)
    member.close()
    sim.run_until(6000)
    wanted = sim.trace[start:].where(node="c1", kind=["send", "commit", "revoked", "client_state"])
    own = [each for each in wanted if each.api != "Fetch"]
    assert [f"{each.kind} {each.api or ''}".strip() for each in own] == steps
    assert [each.offset for each in own if each.kind == "commit"] == [1]
    assert answers(sim, "c1", "LeaveGroup") == ["NONE"]
    assert member.told.calls[-1].startswith("revoked") is (profile == NEWER)


@pytest.mark.parametrize("profile", ["0.10.1", "1.0", "2.3", "2.4", "4.0"])
@pytest.mark.parametrize("automatic", [False, True])
def test_close_runs_no_callbacks_of_commits(profile, automatic):
    """Behaviour 4: who wants to be told calls commit_sync first, as an automatic commit does."""
    sim = cluster(profile, partitions=1)
    consumer = consumer_of(sim, enable_auto_commit=automatic)
    consumer.poll(0)
    told = []
    consumer.commit_async(
        {partition(): OffsetAndMetadata(7)}, lambda offsets, error: told.append((offsets, error))
    )
    sim.run_until(sim.now_ms + 100)
    consumer.end_offsets([partition()])  # lets the answer in
    assert told == []
    consumer.close()
    assert told == ([({partition(): OffsetAndMetadata(7)}, None)] if automatic else [])


@pytest.mark.parametrize("timeout_ms", [2_000, 20_000])
def test_close_does_not_wait_for_ever(timeout_ms):
    """It ends after its timeout, or request.timeout.ms; and a second one does nothing."""
    sim = cluster("4.0", partitions=1)
    produce(sim, 1)
    consumer = consumer_of(sim, enable_auto_commit=True, request_timeout_ms=12_000)
    while not consumer.poll(1_000):
        pass
    for name in sim.broker_names:
        sim.freeze(name, 60_000)
    start_ms = sim.now_ms
    consumer.close(timeout_ms)
    assert sim.now_ms - start_ms == min(timeout_ms, 12_000)
    consumer.close()
    assert sim.now_ms - start_ms == min(timeout_ms, 12_000)


@pytest.mark.parametrize("profile", ["0.10.1", "1.0"])
def test_assign_does_not_wait_for_brokers_longer_than_its_poll(profile):
    """Before 2.0 the timeout of a poll bounds that wait, too, where no group is to be joined."""
    sim = cluster(profile)
    consumer = sim.consumer("c1", enable_auto_commit=False)
    consumer.assign([partition()])
    consumer.seek(partition(), 0)
    consumer.poll(1_000)
    for name in sim.broker_names:
        sim.crash(name)
    sim.sleep(1_000)
    begun_ms = sim.now_ms
    assert consumer.poll(500).is_empty()
    assert 500 <= sim.now_ms - begun_ms <= 600


@pytest.mark.parametrize("release", ["2.3", "2.4", "4.0"])
@pytest.mark.parametrize("first", [True, False])
def test_whose_coordinator_was_away_polled_all_the_same(release, first):
    """Since 2.0 a poll counts from its beginning: who polls through an outage stays a member."""
    profile = replace(profile_of(release), poll_heartbeat_first=first)
    assert profile_of(release).poll_heartbeat_first
    left = []
    for back_ms in range(18_000, 19_200, 200):
        sim = cluster(profile)
        poll = timedelta(milliseconds=50)
        member = Member(sim, "c1", poll=poll, busy_ms=1_000, max_poll_interval_ms=6_000)
        sim.run_until(8_000)
        for name in sim.broker_names:
            sim.crash(name)
        sim.run_until(back_ms)
        for name in sim.broker_names:
            sim.restart(name)
        sim.run_until(38_000)
        left += sent(sim, "c1", "LeaveGroup")
        assert not member.errors
    assert bool(left) is not first
