"""Connections by name: when one that ended may be tried again."""

from random import Random

import pytest

from kafkalearn.clients.cluster_connection_states import ClusterConnectionStates, ConnectionState


def states(backoff_ms=(50, 1_000), *, failures=0):
    """Make states with one connection, broker-0, that stands."""
    made = ClusterConnectionStates(backoff_ms, Random(1))
    made.states["broker-0"] = ConnectionState(connection=object(), failures=failures)
    return made


def delay_after(made, *, now_ms=0):
    """Let broker-0's connection end; give its delay."""
    state = made.states["broker-0"]
    state.connection = object()
    made.disconnected(state, now_ms)
    return made.connection_delay("broker-0", now_ms)


def test_what_stands_or_was_never_tried_may_be_used():
    """Neither waits, and neither has failed."""
    made = states()
    for name in ("broker-0", "broker-1"):
        assert (made.connection_delay(name, 0), made.connection_failed(name)) == (0, False)
    assert made.has_ready_nodes()


def test_an_ended_connection_waits_for_its_back_off():
    """It is over when it has passed, and never negative; the failure stays known."""
    made = states((50, 50))
    assert delay_after(made, now_ms=100) == 50
    assert [made.connection_delay("broker-0", now_ms) for now_ms in (149, 150, 900)] == [1, 0, 0]
    assert made.connection_failed("broker-0")
    assert not made.has_ready_nodes()


def test_without_a_higher_maximum_the_back_off_is_always_the_same():
    """As before 0.11, without jitter."""
    made = states((50, 50))
    assert [delay_after(made) for _ in range(5)] == [50] * 5


@pytest.mark.parametrize(
    ("failures", "least_ms", "most_ms"),
    [(0, 40, 60), (1, 80, 120), (4, 640, 960), (5, 800, 1_200), (10_000, 800, 1_200)],
)
def test_the_back_off_doubles_up_to_its_maximum(failures, least_ms, most_ms):
    """A fifth of it, either way, is left to chance, also at the maximum."""
    made = states()
    drawn = []
    for _ in range(200):
        made.states["broker-0"].failures = failures
        drawn.append(delay_after(made))
    assert least_ms <= min(drawn) < least_ms * 1.05
    assert most_ms * 0.95 < max(drawn) <= most_ms


def test_failures_in_a_row_are_counted():
    """So that the next back-off is longer."""
    made = states()
    for _ in range(3):
        delay_after(made)
    assert made.states["broker-0"].failures == 3


def test_an_end_gives_whom_to_tell():
    """Oldest first, and nothing is in flight any more."""
    made = states()
    state = made.states["broker-0"]
    state.in_flight = {object(): (10, "first"), object(): (20, "second")}
    assert made.disconnected(state, 0) == ["first", "second"]
    assert state.in_flight == {}
