"""Where two traces part."""

from kafkalearn.trace import Trace
from kafkalearn.trace.difference import first_difference


def trace_of(*times, run_id="run"):
    """Make a trace of polls at these times."""
    trace = Trace(run_id)
    for time_ms in times:
        trace.record("poll", time_ms, "c1")
    return trace


def test_equal_traces_do_not_part():
    """Equal events never part, whatever the run is called."""
    assert first_difference(trace_of(1, 2), trace_of(1, 2, run_id="another")) is None


def test_the_first_event_that_differs():
    """The place of the first event that differs in any column."""
    assert first_difference(trace_of(1, 2, 3), trace_of(1, 5, 3)) == 1


def test_one_that_ends_earlier():
    """A trace that is the beginning of another parts where it ends."""
    assert first_difference(trace_of(1, 2), trace_of(1, 2, 3)) == 2
    assert first_difference(trace_of(), trace_of(4)) == 0


def one_event(**columns):
    """Make a trace of one event."""
    trace = Trace("run")
    trace.record("send", 1, "c1", **columns)
    return trace


def test_what_a_message_holds_is_no_difference_by_itself():
    """Another field is none; another error, group or reason is one."""
    held = one_event(api="JoinGroup", detail={"fields": {"session_timeout_ms": 6000}})
    other = one_event(api="JoinGroup", detail={"fields": {"session_timeout_ms": 9000}})
    assert first_difference(held, other) is None
    assert first_difference(held, one_event(api="JoinGroup")) is None
    assert first_difference(held, one_event(api="JoinGroup", error="NONE")) == 0
    assert first_difference(held, one_event(api="JoinGroup", detail={"reason": "x"})) == 0


def test_a_state_with_two_names():
    """Kafka called AwaitingSync CompletingRebalance later: the same state."""
    one, other = (
        one_event(detail={"to": name}) for name in ("AwaitingSync", "CompletingRebalance")
    )
    assert first_difference(one, other) is None
