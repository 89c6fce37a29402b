"""Heartbeats: when one is due, when a session or a poll is overdue; and the process that beats."""

from itertools import pairwise

import pytest

from kafkalearn.clients.exponential_backoff import ExponentialBackoff
from kafkalearn.clients.network_client import NEVER_MS
from kafkalearn.consumer.heartbeat import Heartbeat
from tests.consumer.members import Member, cluster, generations, group, removed, sent


@pytest.fixture(params=[False, True], ids=["1.0", "2.1"])
def has_timers(request):
    """Whether the times are timers."""
    return request.param


@pytest.fixture
def heartbeat(has_timers):
    """Make the times of a member that joined at 1,000 ms."""
    made = Heartbeat(
        session_timeout_ms=10_000,
        heartbeat_interval_ms=3_000,
        max_poll_interval_ms=30_000,
        retry_backoff=ExponentialBackoff(100),
        has_timers=has_timers,
    )
    made.reset_timeouts(1_000)
    return made


def test_the_first_is_due_an_interval_after_the_join(heartbeat):
    """And it stays due."""
    times = [heartbeat.time_to_next_heartbeat(now_ms) for now_ms in (1_000, 3_999, 4_000, 9_000)]
    assert times == [3_000, 1, 0, 0]
    assert [heartbeat.should_heartbeat(now_ms) for now_ms in (3_999, 4_000)] == [False, True]


def test_the_next_is_due_an_interval_after_the_last_was_sent(heartbeat):
    """Whenever that was answered."""
    heartbeat.sent_heartbeat(4_500)
    heartbeat.receive_heartbeat(6_000)
    assert heartbeat.time_to_next_heartbeat(6_000) == 1_500


def test_after_a_failure_the_next_is_due_sooner(heartbeat, has_timers):
    """retry.backoff.ms after it was sent, since 2.1 after it failed; later the interval again."""
    heartbeat.sent_heartbeat(4_000)
    heartbeat.fail_heartbeat(4_005)
    assert heartbeat.time_to_next_heartbeat(4_010) == (95 if has_timers else 90)
    heartbeat.sent_heartbeat(4_105)
    assert heartbeat.time_to_next_heartbeat(4_105) == 3_000


def test_a_join_forgets_the_failure(heartbeat):
    """All times begin anew with it."""
    heartbeat.fail_heartbeat(2_000)
    heartbeat.reset_timeouts(50_000)
    assert heartbeat.time_to_next_heartbeat(50_000) == 3_000
    assert not heartbeat.session_timeout_expired(59_999)
    assert not heartbeat.poll_timeout_expired(79_999)


def test_a_session_ends_after_its_timeout_without_an_answer(heartbeat, has_timers):
    """In the very ms only since 2.1; sending alone is no answer, and the join counts as one."""
    heartbeat.sent_heartbeat(9_000)
    ends = [heartbeat.session_timeout_expired(now_ms) for now_ms in (10_999, 11_000, 11_001)]
    assert ends == [False, has_timers, True]
    heartbeat.receive_heartbeat(9_002)
    ends = [heartbeat.session_timeout_expired(now_ms) for now_ms in (19_001, 19_002, 19_003)]
    assert ends == [False, has_timers, True]


def test_a_poll_is_overdue_after_its_interval(heartbeat, has_timers):
    """In the very ms only since 2.1; heartbeats do not count as polls."""
    heartbeat.poll(2_000)
    heartbeat.receive_heartbeat(30_000)
    late = [heartbeat.poll_timeout_expired(now_ms) for now_ms in (31_999, 32_000, 32_001)]
    assert late == [False, has_timers, True]


def test_the_next_expiry_is_the_first_ms_that_is_late(heartbeat, has_timers):
    """Of session or poll, whichever ends first; 0 once one has."""
    late_ms = 0 if has_timers else 1
    assert heartbeat.time_to_next_expiry(1_000) == 10_000 + late_ms
    heartbeat.receive_heartbeat(25_000)
    assert heartbeat.time_to_next_expiry(25_000) == 6_000 + late_ms
    assert heartbeat.time_to_next_expiry(99_000) == 0


def test_to_restart_a_session_leaves_poll_and_heartbeat_alone(heartbeat):
    """As when the coordinator is found again (2.1)."""
    heartbeat.reset_session_timeout(3_500)
    assert heartbeat.time_to_next_heartbeat(3_500) == 500
    assert not heartbeat.session_timeout_expired(13_499)
    assert heartbeat.poll_timeout_expired(31_001)


# The process that beats.


def test_a_busy_member_keeps_beating_until_the_poll_is_overdue():
    """Every interval, without any poll; then it leaves by itself, and beats no more."""
    sim = cluster()
    member = Member(sim, "c1", max_poll_interval_ms=20_000)
    sim.run_until(sim.now_ms + 5_000)
    member.busy_ms = 60_000
    sim.run_until(sim.now_ms + 60_000)
    left = sent(sim, "c1", "LeaveGroup")
    assert len(left) == 1
    beats = [time_ms for time_ms, _ in sent(sim, "c1", "Heartbeat")]
    assert {late - early for early, late in pairwise(beats)} == {3_000}
    assert beats[-1] < left[0][0] <= beats[-1] + 3_000
    assert [client for _, client, _ in removed(sim)] == ["c1"]
    sim.dispose()


def test_a_closed_consumer_beats_no_more():
    """The process ends with it."""
    sim = cluster()
    member = Member(sim, "c1")
    sim.run_until(sim.now_ms + 5_000)
    assert len(generations(sim)) == 1
    member.close()
    sim.run_until(sim.now_ms + 1_000)
    closed_ms = sim.now_ms
    sim.run_until(closed_ms + 20_000)
    assert sent(sim, "c1", "Heartbeat", since_ms=closed_ms) == []
    sim.dispose()


def test_a_poll_learns_when_a_heartbeat_is_due():
    """Never for who has not joined; else in so many ms, and 0 as long as it is due."""
    sim = cluster()
    (member,) = group(sim, "c1", poll=500)
    coordinator = member.consumer.coordinator
    due_ms = coordinator.heartbeat.due_ms
    times = [coordinator.time_to_next_heartbeat(due_ms + ms) for ms in (-1_000, 0, 5)]
    assert times == [1_000, 0, 0]
    assert sim.consumer("c2", group_id="g").coordinator.time_to_next_heartbeat(0) == NEVER_MS
