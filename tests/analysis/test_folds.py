"""The folds give the numbers that were counted by hand; see counted.py."""

import pytest

from kafkalearn import scenarios
from kafkalearn.analysis.causes import cause_of, member_of
from kafkalearn.analysis.deliveries import deliveries
from kafkalearn.analysis.lag import lag
from kafkalearn.analysis.rebalances import rebalances
from kafkalearn.engine import Crash
from kafkalearn.trace import Trace
from tests.analysis import counted


@pytest.mark.parametrize("name", scenarios.names())
def test_every_rebalance_of_a_scenario(name):
    """Its cause, its times, its members, and what it did to each partition."""
    found = rebalances(scenarios.run(name))
    assert [counted.as_counted(each) for each in found] == counted.REBALANCES[name]


@pytest.mark.parametrize("name", counted.DELIVERIES)
def test_every_record_of_a_scenario(name):
    """How often each was delivered and processed, and whether it is lost."""
    found = deliveries(scenarios.run(name))
    assert {row[2:4]: row[4:] for row in found} == counted.DELIVERIES[name]


@pytest.mark.parametrize("name", counted.LAG)
def test_the_lag_of_a_scenario_whenever_it_changes(name):
    """Not committed is not the same as not read."""
    assert [row[4:] for row in lag(scenarios.run(name))] == counted.LAG[name]


def test_what_is_committed_before_the_work_is_lost_with_a_crash():
    """All six are committed when it crashes after five effects."""
    found = deliveries(scenarios.crash_before_commit(commit_mode="before"))
    assert [(each.offset, each.delivered) for each in found if each.lost] == [(5, 1)]
    assert sum(each.duplicated for each in found) == 0


def test_a_run_without_any_effect_lost_what_it_committed():
    """A crash before the first effect: three records are committed, and nothing was processed."""
    trace = scenarios.crash_before_commit(
        commit_mode="before", records=3, crash_after=0, faults=[Crash("c1", 3028)]
    )
    assert not trace.where(kind="processed")
    assert [each.lost for each in deliveries(trace)] == [True] * 3


@pytest.mark.parametrize("recorded", [True, False])
def test_where_effects_are_not_recorded_nothing_is_called_lost(recorded):
    """A trace without `processed`, as its run_id says, and one of a log, which has no `append`."""
    kinds = ["append", "records_returned", "offset_stored", "poll"][not recorded :]
    trace = scenarios.first_member(record={"kinds": kinds})
    found = deliveries(trace)
    assert [each.delivered for each in found] == [1] * 4
    assert {(each.processed, each.lost, each.duplicated) for each in found} == {(None, None, None)}


def test_two_sinks_are_no_duplicates():
    """One effect in each of two places is what the application does; a second in one is not."""
    trace = Trace("two sinks")
    for sink in ("db", "mail", "mail"):
        detail = {"sink": sink}
        trace.record("processed", 1, "c1", topic="t", partition=0, offset=0, detail=detail)
    (row,) = deliveries(trace)
    assert (row.processed, row.duplicated) == (3, 1)


def test_a_topic_that_is_made_again_has_other_records():
    """The work on the old record 0, and its commit, say nothing of the new one."""
    found = deliveries(counted.topic_made_again())
    rows = [(each.group_id, each.offset, *each[4:]) for each in found]
    assert sorted(rows, key=repr) == sorted(counted.MADE_AGAIN, key=repr)


def test_clients_alone_tell_who_was_in_which_generation():
    """Without a coordinator's events: from the first join to the last assignment."""
    trace = scenarios.consumer_stops_polling()
    clients = rebalances(trace.where(kind=["assigned", "revoked", "client_state"]))
    assert [counted.as_counted(each)[:10] for each in clients] == [
        (1, 1, "member_joined", "stable", 2, 4, None, 3008, 0, 0),
        (2, 2, "member_left", "stable", 1, 5010, None, 5014, 1, 1),
        (3, 3, "member_joined", "stable", 2, 5516, None, 6020, 1, 1),
    ]


@pytest.mark.parametrize(
    ("reason", "cause", "member"),
    [
        ("adding new member c 1-0eb1", "member_joined", "c 1-0eb1"),
        ("Adding new member a-1 with group instance id None", "member_joined", "a-1"),
        ("c1-0eb1 left", "member_left", "c1-0eb1"),
        ("removing member a-1 on LeaveGroup", "member_left", "a-1"),
        ("removing member a-1 on heartbeat expiration", "session_timeout", "a-1"),
        ("explicit `LeaveGroup` request for (a-1) members", "member_left", "a-1"),
        ("explicit `LeaveGroup` request for (a-1,b-2) members", "member_left", None),
        ("a gave no sign of life within the session timeout", "session_timeout", "a"),
        ("member a-1 joins again", "member_rejoined", "a-1"),
        ("leader a-1 re-joining group during Stable", "member_rejoined", "a-1"),
        ("Updating metadata for member a-1 during Stable", "member_rejoined", "a-1"),
        ("static member i1 came back", "member_rejoined", "i1"),
        ("members that did not sync are gone", "rebalance_timeout", None),
        ("the moon was full", "other", None),
        (None, None, None),
    ],
)
def test_a_reason_tells_the_cause_and_the_member(reason, cause, member):
    """Ours, and those that Kafka's coordinator logs."""
    assert (cause_of(reason), member_of(reason)) == (cause, member)
