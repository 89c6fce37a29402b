"""One of several consumers comes, goes, or is late: how long its partitions have no reader."""

import pytest

from kafkalearn.errors import ConfigError
from kafkalearn.scenarios import group_changes
from kafkalearn.scenarios.groups import CHANGES

ALL = {"c1": [0, 1], "c2": [2, 3], "c3": [4, 5]}
TWO = {"c1": [0, 1, 2], "c2": [3, 4, 5]}


def shares(trace):
    """Say for each generation when it was given, and who got what."""
    found = {}
    for event in trace.where(kind="assigned"):
        of = found.setdefault(event.generation, (event.time_ms, {}))[1]
        of[event.node] = event.detail["partitions"].get("orders", [])
    return list(found.values())


def removed(trace):
    """List when and why members were dropped."""
    return [(e.time_ms, e.detail["reason"]) for e in trace.where(kind="member_removed")]


@pytest.mark.parametrize(
    ("change", "expected", "gone"),
    [
        ("crash", [ALL, TWO], [(13_009, "no sign of life within the session timeout")]),
        ("leave", [ALL, TWO], [(7517, "left")]),
        ("freeze", [ALL, TWO, ALL], [(13_009, "no sign of life within the session timeout")]),
        ("slow", [ALL, TWO, ALL], [(14_516, "left")]),
        ("join", [TWO, ALL], []),
        ("none", [ALL], []),
    ],
)
def test_each_change_of_a_group(change, expected, gone):
    """Who has what in each generation; a crash costs the session, a slow one its poll interval."""
    trace = group_changes(change=change)
    assert [share for _, share in shares(trace)] == expected
    assert removed(trace) == gone


def test_the_records_of_a_dead_member_wait():
    """What comes while nobody reads is processed after the rebalance, and before it nothing is."""
    trace = group_changes()
    again = shares(trace)[1][0]
    waiting = [e.time_ms for e in trace.where(kind="append", topic="orders", partition=[4, 5])]
    assert [ms for ms in waiting if 7500 < ms < again] == [10_005, 11_005]
    late = trace.where(kind="processed", partition=[4, 5])
    assert not [e.time_ms for e in late if 7500 < e.time_ms < again]
    assert {e.node for e in late if e.time_ms > again} == {"c2"}


@pytest.mark.parametrize(
    "settings",
    [
        {"change": "freeze", "for_ms": 4000},
        {"change": "freeze", "for_ms": 8000, "session_timeout_ms": 10_000},
        {"change": "slow", "for_ms": 4000},
        {"change": "slow", "for_ms": 8000, "max_poll_interval_ms": 9000},
        {"change": "slow", "members": 4, "partitions": 3},
    ],
    ids=str,
)
def test_who_is_late_for_less_than_is_allowed_stays(settings):
    """No rebalance, and nobody is dropped; nor is who has no partition ever slow."""
    trace = group_changes(**settings)
    assert len(shares(trace)) == 1
    assert removed(trace) == []


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("at_ms", [0, 3000])
def test_a_change_may_come_before_the_group_is_stable(change, at_ms):
    """The story ends all the same, with every partition read by somebody."""
    last = shares(group_changes(change=change, at_ms=at_ms))[-1][1]
    assert sorted(n for share in last.values() for n in share) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("change", ["crash", "leave"])
def test_the_only_member_goes(change):
    """The group gets Empty, and the story is over."""
    trace = group_changes(members=1, change=change)
    assert trace.where(kind="group_state")[-1].detail["to"] == "Empty"


@pytest.mark.parametrize("change", CHANGES)
def test_it_is_bounded(change):
    """The largest group with the shortest intervals is a trace that a view can hold a part of."""
    trace = group_changes(
        change=change, members=12, partitions=24, at_ms=10_000, heartbeat_interval_ms=500
    )
    assert len(trace) < 8000
    assert trace[-1].time_ms < 40_000


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"members": 0}, "members is 0: 1 to 12 is allowed"),
        ({"members": 13}, "members is 13: 1 to 12 is allowed"),
        ({"partitions": 0}, "partitions is 0: 1 to 24 is allowed"),
        ({"at_ms": 60_001}, "at_ms is 60001: 0 to 60000 is allowed"),
        ({"for_ms": -1}, "for_ms is -1: a whole number from 0 up is allowed"),
        ({"change": "explode"}, "change is 'explode': one of crash, leave, freeze, slow, join, no"),
        (
            {"heartbeat_interval_ms": 6000},
            "heartbeat_interval_ms is 6000: less than session_timeout_ms, 6000, is allowed",
        ),
        ({"assignor": "fair"}, "partition_assignment_strategy names 'fair'"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(settings, sentence):
    """It names the value and what is allowed."""
    with pytest.raises(ConfigError) as refused:
        group_changes(**settings)
    assert str(refused.value).startswith(sentence)
