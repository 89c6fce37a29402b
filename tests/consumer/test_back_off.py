"""How long a consumer waits before it tries the same again: from 3.7 on ever longer (KIP-580)."""

from itertools import pairwise

import pytest

from kafkalearn.engine.faults import AnswerWithError
from tests.consumer.members import Member, cluster, partition, sent

CONSTANT, GROWING = (100, 110), (600, 1_010)
RELEASES = [("2.4", CONSTANT), ("4.0", GROWING)]


def refused(api, error, times):
    """Answer the first requests of one kind with an error."""
    return [AnswerWithError(api, error, nth=number + 1) for number in range(times)]


def gaps(sim, api):
    """Tell how many ms lie between the requests of one kind of c1."""
    return [late - early for (early, _), (late, _) in pairwise(sent(sim, "c1", api))]


def member_of(sim):
    """Make a consumer that has its partitions."""
    consumer = sim.consumer("c1", group_id="g", enable_auto_commit=False)
    consumer.subscribe(["orders"])
    while not consumer.assignment():
        consumer.poll(1_000)
    return consumer


def are_as_long(waits, last_ms):
    """Whether five waits begin with retry.backoff.ms, a fifth aside, and end as long as said."""
    first, *_, last = waits
    return len(waits) == 5 and 80 <= first <= 125 and last_ms[0] <= last <= last_ms[1]


@pytest.mark.parametrize(("profile", "last_ms"), RELEASES)
def test_a_commit_that_fails_again_and_again_is_tried_less_often(profile, last_ms):
    """commit_sync; what is wrong may take long to mend."""
    sim = cluster(profile, faults=refused("OffsetCommit", "COORDINATOR_LOAD_IN_PROGRESS", 5))
    member_of(sim).commit_sync()
    assert are_as_long(gaps(sim, "OffsetCommit"), last_ms)


@pytest.mark.parametrize(("profile", "last_ms"), RELEASES)
def test_committed_that_fails_again_and_again_is_asked_less_often(profile, last_ms):
    """The same for what is asked."""
    sim = cluster(profile, faults=refused("OffsetFetch", "COORDINATOR_LOAD_IN_PROGRESS", 5))
    assert sim.consumer("c1", group_id="g").committed(partition()) is None
    assert are_as_long(gaps(sim, "OffsetFetch"), last_ms)


@pytest.mark.parametrize(("profile", "last_ms"), [("2.4", (100, 225)), ("4.0", (600, 2_010))])
def test_a_coordinator_that_is_not_there_is_looked_for_less_often(profile, last_ms):
    """Each time after new metadata, which waits, too."""
    sim = cluster(profile, faults=refused("FindCoordinator", "COORDINATOR_NOT_AVAILABLE", 5))
    Member(sim, "c1")
    sim.run_until(20_000)
    waits = gaps(sim, "FindCoordinator")
    assert len(waits) == 5
    assert last_ms[0] <= waits[-1] <= last_ms[1]


@pytest.mark.parametrize(("profile", "last_ms"), RELEASES)
def test_heartbeats_that_fail_again_and_again_get_rare(profile, last_ms):
    """Until one is answered: then the next failure is the first again."""
    faults = refused("Heartbeat", "COORDINATOR_LOAD_IN_PROGRESS", 5)
    sim = cluster(
        profile, faults=[*faults, AnswerWithError("Heartbeat", "REQUEST_TIMED_OUT", nth=7)]
    )
    Member(sim, "c1")
    sim.run_until(20_000)
    waits = gaps(sim, "Heartbeat")
    assert are_as_long(waits[:5], last_ms)
    assert 80 <= waits[6] <= 125
