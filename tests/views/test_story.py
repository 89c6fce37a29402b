"""What the browser gets: pieces once each, windows, and two runs aligned."""

import json
from itertools import pairwise

import pytest

from kafkalearn import scenarios
from kafkalearn.trace import Trace
from kafkalearn.views.language import Say
from kafkalearn.views.panes import PANES, Look
from kafkalearn.views.story import MAX_EVENTS, aligned, story, window_of

EVERYTHING = ("messages", *PANES, "fields")


def trace_of(*times):
    """Make a trace of polls at these times."""
    trace = Trace("run")
    for time_ms in times:
        trace.record("poll", time_ms, "c1")
    return trace


def told(trace, panes=EVERYTHING):
    """Tell a whole trace in English."""
    return story([trace], [window_of(trace)], look=Look(Say(), panes, {}))


@pytest.mark.parametrize("name", scenarios.names())
def test_every_scenario_is_told_whole(name):
    """Each event has a time, a caption, its fields and a place in the diagram; all is JSON."""
    trace = scenarios.run(name)
    whole = told(trace)
    (run,) = whole["runs"]
    assert run["times"] == [event.time_ms for event in trace]
    for held in ("nodes", "captions", "fields"):
        assert len(run[held]) == len(trace)
    assert len(run["messages"]["geometry"]) == len(trace)
    assert json.loads(json.dumps(whole)) == json.loads(json.dumps(told(trace)))
    assert whole["steps"] == [[k] for k in range(len(trace))]


def test_pieces_are_kept_once():
    """No text stands twice in the table, and every number that is used leads into it."""
    whole = told(scenarios.second_member_joins())
    assert len(set(whole["strings"])) == len(whole["strings"])
    (run,) = whole["runs"]
    used = {piece for pane in run["panes"] for _, pieces in pane["changes"] for piece in pieces}
    used |= {*run["captions"], *run["fields"], run["track"]}
    used |= {run["messages"]["head"], run["messages"]["body"]}
    assert used == set(range(len(whole["strings"])))


def test_a_pane_changes_only_where_it_looks_different():
    """Changes go up, begin at the first event, and differ from the one before."""
    (run,) = told(scenarios.consumer_dies())["runs"]
    for pane in run["panes"]:
        places = [place for place, _ in pane["changes"]]
        assert places[0] == 0
        assert places == sorted(set(places))
        drawn = [pieces for _, pieces in pane["changes"]]
        assert all(now != before for before, now in pairwise(drawn))


def test_a_long_trace_is_shown_through_a_window():
    """At most so many events are shown; the window stays within the trace."""
    long = trace_of(*range(MAX_EVENTS + 500))
    assert window_of(long) == range(MAX_EVENTS)
    assert window_of(long, range(1400, 9999)) == range(1400, 1500)
    assert len(window_of(long, range(9999, 10_000))) == 0
    assert window_of(Trace("empty")) == range(0)
    later = story([long], [range(1490, 1500)], look=Look(Say(), EVERYTHING, {}))
    assert later["runs"][0]["times"] == list(range(1490, 1500))


def test_a_window_knows_what_came_before():
    """A pane shows in a late window what it shows there in the whole trace."""
    trace = scenarios.second_member_joins()
    late = range(len(trace) - 3, len(trace))
    whole = told(trace, ("group",))
    part = story([trace], [late], look=Look(Say(), ("group",), {}))

    def last(each):
        return [each["strings"][piece] for piece in each["runs"][0]["panes"][0]["changes"][-1][1]]

    assert last(part) == last(whole)


def test_two_runs_are_one_until_they_part():
    """Before the first difference a step moves both; then the earlier event comes first."""
    before, after = trace_of(1, 2, 5, 9), trace_of(1, 2, 4, 9, 12)
    found = aligned(before, after, windows=[range(4), range(5)])
    assert found == {
        "steps": [[0, 0], [1, 1], [1, 2], [2, 2], [3, 3], [3, 4]],
        "difference": 2,
    }


def test_equal_runs_never_part():
    """The same story twice has no first difference."""
    found = aligned(trace_of(1, 2), trace_of(1, 2), windows=[range(2), range(2)])
    assert found == {"steps": [[0, 0], [1, 1]], "difference": None}


def test_one_run_ends_earlier():
    """A run that has ended stays at its last event."""
    found = aligned(trace_of(1, 2, 3), trace_of(1), windows=[range(3), range(1)])
    assert found == {"steps": [[0, 0], [1, 0], [2, 0]], "difference": 1}


def test_runs_that_part_at_once():
    """A run that has not begun shows nothing yet: -1."""
    found = aligned(trace_of(5), trace_of(1), windows=[range(1), range(1)])
    assert found == {"steps": [[-1, 0], [0, 0]], "difference": 0}


def test_a_window_of_two_runs_marks_where_they_part():
    """The difference counts from where the window begins; none is marked outside of it."""
    before, after = trace_of(*range(10)), trace_of(*range(7), 70, 80, 90)
    inside = aligned(before, after, windows=[range(5, 10), range(5, 10)])
    assert inside["difference"] == 2
    assert inside["steps"][:2] == [[0, 0], [1, 1]]
    before_it = aligned(before, after, windows=[range(4), range(4)])
    assert before_it == {"steps": [[0, 0], [1, 1], [2, 2], [3, 3]], "difference": None}
    behind = aligned(before, after, windows=[range(8, 10), range(8, 10)])
    assert behind["difference"] is None
