"""One poll, step by step, from a trace alone."""

import pytest

from kafkalearn import scenarios
from kafkalearn.errors import ConfigError
from kafkalearn.trace import Trace
from kafkalearn.views import poll
from kafkalearn.views.language import Say


@pytest.fixture(scope="module")
def trace():
    """A consumer's first polls."""
    return scenarios.first_member()


def states(frame):
    """Give each step's state."""
    return {step["name"]: step["state"] for step in frame["steps"]}


def test_the_first_poll_goes_through_all_steps(trace):
    """A first poll finds the coordinator, joins, finds positions, fetches and returns."""
    whose, events = poll.events_of(trace)
    last = poll.frames(trace, events)[-1]
    assert whose == "c1"
    did = {step["name"]: step["did"] for step in last["steps"]}
    assert did == {
        "poll": [],
        "ensure_coordinator_ready": ["FindCoordinator"],
        "ensure_active_group": ["JoinGroup", "SyncGroup", "on_partitions_assigned"],
        "maybe_auto_commit_offsets_async": [],
        "update_fetch_positions": ["OffsetFetch", "ListOffsets"],
        "fetched_records (1st)": [],
        "send_fetches": ["Fetch"],
        "client.poll": [],
        "fetched_records (2nd)": ["Fetch"],
    }
    assert last["returned"] == 4


def test_one_step_is_now(trace):
    """At every event of a poll exactly one step is the present one, and none after it is done."""
    for frame in poll.frames(trace):
        now = [name for name, state in states(frame).items() if state == "now"]
        assert len(now) == (1 if frame["count"] else 0)


def test_a_later_poll_passes_what_is_done(trace):
    """A member in step has neither to find its coordinator nor to join."""
    _, events = poll.events_of(trace, node="c1", number=2)
    last = states(poll.frames(trace, events)[-1])
    assert last["ensure_coordinator_ready"] == last["ensure_active_group"] == "passed"
    assert last["client.poll"] == "now"


def test_what_lies_ready_is_returned_at_once():
    """A poll that finds records sends no Fetch before it returns them, and does not wait."""
    trace = scenarios.crash_before_commit()
    _, events = poll.events_of(trace, number=2)
    assert states(poll.frames(trace, events)[-1]) == {
        "poll": "done",
        **dict.fromkeys(poll.STEPS[1:5], "passed"),
        "fetched_records (1st)": "now",
        **dict.fromkeys(poll.STEPS[6:], "ahead"),
    }


def test_it_is_told_in_words(trace):
    """The text has a line for each step, with what came of it."""
    _, events = poll.events_of(trace, node="c1", number=1)
    told = poll.as_text(poll.frames(trace, events)[-1], Say())
    assert told.splitlines()[0] == "Poll 1 of c1"
    assert "✓ ensure_coordinator_ready: FindCoordinator" in told.splitlines()
    assert told.splitlines()[-1] == "records so far: 4; it waits for 500 ms at most"


def test_a_poll_that_is_not_there_is_refused(trace):
    """The number of polls is told; a trace without polls has none."""
    with pytest.raises(ConfigError, match="poll number 99 of c1: there are"):
        poll.events_of(trace, node="c1", number=99)
    with pytest.raises(ConfigError, match="poll number 1 of anybody: there are 0"):
        poll.events_of(Trace("empty"))
