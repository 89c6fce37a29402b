"""The strip along a trace: where to jump to, and what is drawn there."""

from xml.etree import ElementTree

import pytest

from kafkalearn import scenarios
from kafkalearn.trace import Trace
from kafkalearn.views.drawings.track import stops, track
from kafkalearn.views.language import Say


@pytest.fixture(scope="module")
def trace():
    """A member does not poll in time: three rebalances, commits, one of them refused."""
    return scenarios.consumer_stops_polling()


def marks(picture):
    """Give class, title and place of what is drawn, but for the rail."""
    return [
        (each.get("class"), each.findtext("title"), each.get("d") or each.get("x"))
        for each in ElementTree.fromstring(picture)
        if each.get("class") != "kl-rail"
    ]


def test_stops_are_what_buttons_jump_to(trace):
    """Rebalances where they begin, errors where they are answered, faults."""
    found = stops(trace)
    assert [trace[k].detail["to"] for k in found["rebalance"]] == ["PreparingRebalance"] * 3
    assert [trace[k].error for k in found["error"]] == ["REBALANCE_IN_PROGRESS"] * 2
    assert found["error"] == [
        e.seq for e in trace if e.kind in ("respond", "commit") and e.error not in (None, "NONE")
    ]
    assert found["fault"] == []
    crash = stops(scenarios.consumer_dies())
    assert len(crash["fault"]) == 1


def test_what_is_one_thing_is_one_stop():
    """Partitions that are committed together are jumped to once."""
    trace = Trace("both")
    for time in (2, 2, 3):
        trace.record("commit", time, "c1", topic="t", partition=0, offset=1)
    trace.record("commit", 3, "c1", topic="t", partition=0, offset=1, error="X")
    assert stops(trace) == {
        "rebalance": [],
        "commit": [0, 2],
        "error": [3],
        "fault": [],
    }


def test_places_count_from_the_window(trace):
    """In a window the same stops are found, from its beginning on."""
    cut = stops(trace)["rebalance"][1]
    assert stops(trace, range(cut, len(trace)))["rebalance"][0] == 0


def test_a_rebalance_is_a_box_as_long_as_it_takes():
    """It names its group; one that began before the window begins with it, the last one stays."""
    trace = Trace("boxes")
    for to in ("PreparingRebalance", "AwaitingSync", "Stable", "PreparingRebalance"):
        trace.record("group_state", 1, "b", group_id="<g>", detail={"to": to})
    title = "rebalance of group <g>"
    told = [("kl-rebalance", title, "0"), ("kl-rebalance", title, "750")]
    assert marks(track(trace, None, say=Say())) == told
    assert marks(track(trace, range(1, 3), say=Say())) == [("kl-rebalance", title, "0")]


def test_ticks_have_titles(trace):
    """Commits, errors and faults are one path each, which says what it is in each language."""
    crash = scenarios.consumer_dies()
    kinds = [(kind, title) for kind, title, _ in marks(track(crash, None, say=Say()))]
    assert ("kl-bad", "errors") in kinds
    assert ("kl-fault", "faults") in kinds
    assert ("kl-ok", "提交") in [mark[:2] for mark in marks(track(trace, None, say=Say("zh")))]


def test_a_tick_is_in_the_middle_of_its_event():
    """The strip is divided evenly among the events."""
    trace = Trace("two")
    trace.record("poll", 1, "c1")
    trace.record("fault", 2, "c1", detail={"fault": "crash"})
    assert marks(track(trace, None, say=Say())) == [("kl-fault", "faults", "M750 0V26")]


def test_an_empty_trace_has_an_empty_strip():
    """Nothing happened: a rail, and nothing to jump to."""
    assert marks(track(Trace("empty"), None, say=Say())) == []
    assert set(map(tuple, stops(Trace("empty")).values())) == {()}
