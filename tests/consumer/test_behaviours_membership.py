"""Being a member: joining, rejoining, leading, leaving, and the coordinator that moves."""

import json
from dataclasses import replace

import pytest

from kafkalearn.assignors.partition_assignor import AbstractPartitionAssignor
from kafkalearn.engine.faults import AnswerWithError, Delay, Drop
from kafkalearn.errors import (
    FencedInstanceIdError,
    IllegalStateError,
    InconsistentGroupProtocolError,
)
from kafkalearn.profile import KAFKA_4_0
from kafkalearn.protocol.group import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from tests.consumer.members import (
    Member,
    answers,
    cluster,
    generations,
    group,
    partition,
    produce,
    removed,
    sent,
)

STATIC_FROM = ["2.3", "2.4", "4.0"]


def member_list(event):
    """Tell whom the answer to a join names as members."""
    return [each["member_id"][:2] for each in event.detail["fields"].get("members") or ()]


# Who leads, and what is chosen.


def test_only_the_leader_is_told_who_the_members_are():
    """Behaviour 39: it computes the assignment; followers get an empty list, and send none."""
    sim = cluster()
    first, second = group(sim, "c1", "c2")
    joined = [
        each for each in sim.trace.where(kind="respond", api="JoinGroup") if each.generation == 2
    ]
    assert {each.peer: member_list(each) for each in joined} == {"c1": ["c1", "c2"], "c2": []}
    synced = sim.trace.where(kind="send", api="SyncGroup", generation=2)
    assert [(each.node, each.detail) for each in synced if each.node == "c2"] == [("c2", None)]
    (leaders,) = [each.detail["fields"]["assignments"] for each in synced if each.node == "c1"]
    assert leaders == {
        first.member_id: '{"orders": [0]}',
        second.member_id: '{"orders": [1]}',
    }


def test_members_that_the_leader_forgets_get_nothing():
    """Behaviour 39: who is not in the leader's SyncGroup has an empty assignment."""

    class AllToOne(AbstractPartitionAssignor):
        name = "all-to-one"

        def assign(self, partitions_per_topic, subscriptions):
            first = self.sorted_members(subscriptions)[0]
            return {first: self.all_partitions_sorted(partitions_per_topic, subscriptions)}

    sim = cluster()
    first, second = group(sim, "c1", "c2", partition_assignment_strategy=[AllToOne])
    assert (first.owns, second.owns) == ("orders-0 orders-1", "")
    assert (second.generation, second.told.calls) == (2, ["revoked", "assigned"])


def test_the_assignor_is_one_that_all_know():
    """Behaviour 40: each votes for the first of its own that all others have too."""
    sim = cluster(partitions=3)
    Member(sim, "c1", partition_assignment_strategy=["range", "roundrobin"])
    Member(sim, "c2", partition_assignment_strategy=["sticky", "roundrobin"])
    sim.run_until(5000)
    chosen = [each.detail["protocol"] for each in sim.trace.where(kind="group_state")]
    assert chosen[-1] == "roundrobin"


@pytest.mark.parametrize("profile", ["1.0", "4.0"])
def test_without_a_common_assignor_the_joiner_is_refused(profile):
    """Behaviours 40 and B10: its poll raises, and the group goes on as it was."""
    sim = cluster(profile)
    (member,) = group(sim, "c1", partition_assignment_strategy=["range"])
    stranger = Member(sim, "c2", partition_assignment_strategy=["roundrobin"])
    sim.run_until(6000)
    assert {type(each) for each in stranger.errors} == {InconsistentGroupProtocolError}
    assert str(stranger.errors[0]) == (
        "JoinGroup of group 'g' is answered INCONSISTENT_GROUP_PROTOCOL: "
        "partition_assignment_strategy is ('roundrobin',), and no assignor of these suits all "
        "members"
    )
    assert (member.owns, member.generation) == ("orders-0 orders-1", 1)
    assert len(generations(sim)) == 1


def test_an_assignor_of_ones_own_decides():
    """A subclass of AbstractPartitionAssignor is asked by the leader, and named in the trace."""

    class Backwards(AbstractPartitionAssignor):
        name = "backwards"

        def assign(self, partitions_per_topic, subscriptions):
            members = self.sorted_members(subscriptions)[::-1]
            wanted = self.all_partitions_sorted(partitions_per_topic, subscriptions)
            return {each: wanted[at :: len(members)] for at, each in enumerate(members)}

    sim = cluster()
    first, second = group(sim, "c1", "c2", partition_assignment_strategy=[Backwards()])
    assert (first.owns, second.owns) == ("orders-1", "orders-0")
    assert sim.trace.where(kind="group_state")[-1].detail["protocol"] == "backwards"


def test_an_assignor_that_raises_ends_the_leaders_poll():
    """What it raises comes out of poll as it is, and the next poll tries again."""

    class Moody(AbstractPartitionAssignor):
        name = "moody"
        calls = 0

        def assign(self, partitions_per_topic, subscriptions):
            Moody.calls += 1
            if Moody.calls == 1:
                raise ValueError("not today")
            wanted = self.all_partitions_sorted(partitions_per_topic, subscriptions)
            return {self.sorted_members(subscriptions)[0]: wanted}

    sim = cluster()
    (member,) = group(sim, "c1", partition_assignment_strategy=[Moody])
    assert [repr(each) for each in member.errors] == ["ValueError('not today')"]
    assert member.owns == "orders-0 orders-1"


# Joining again.


def test_a_leader_that_joins_again_always_rebalances_the_group():
    """Behaviours 42, 49 and B8: each time it does so the generation goes up."""
    sim = cluster()
    leader, _ = group(sim, "c1", "c2")
    for _ in range(3):
        leader.do(lambda consumer: consumer.coordinator.request_rejoin())
        sim.run_until(sim.now_ms + 5000)
    assert [generation for _, generation in generations(sim)] == [1, 2, 3, 4, 5]


def test_a_follower_that_joins_again_changes_nothing():
    """Behaviours 42 and B8: with the same metadata it gets its generation back at once."""
    sim = cluster()
    _, follower = group(sim, "c1", "c2")
    joins = len(sent(sim, "c2", "JoinGroup"))
    follower.do(lambda consumer: consumer.coordinator.request_rejoin())
    sim.run_until(15_000)
    assert len(sent(sim, "c2", "JoinGroup")) == joins + 1
    assert [generation for _, generation in generations(sim)] == [1, 2]
    assert (follower.owns, follower.generation) == ("orders-1", 2)


@pytest.mark.parametrize("profile", ["1.0", "4.0"])
def test_a_join_whose_answer_gets_lost_is_asked_again(profile):
    """Behaviour 42: a known member with the same metadata gets the same generation once more."""
    lost = Drop("JoinGroup", nth=2 if profile == "1.0" else 3, node="c1", part="response")
    sim = cluster(profile, faults=[lost])
    first, second = group(sim, "c1", "c2")
    sim.run_until(20_000)
    assert [each.detail["message"] for each in sim.trace.where(kind="dropped")] == ["response"]
    assert (first.owns, second.owns) == ("orders-0", "orders-1")
    assert {each[1] for each in removed(sim)} == set()
    assert first.member_id == sim.trace.where(kind="member_joined")[0].member_id


def test_an_unknown_member_starts_anew_at_once():
    """Behaviour 42: a join answered UNKNOWN_MEMBER_ID is repeated without an id."""
    sim = cluster(faults=[AnswerWithError("JoinGroup", "UNKNOWN_MEMBER_ID", nth=2, node="c1")])
    (member,) = group(sim, "c1")
    before = member.member_id
    member.do(lambda consumer: consumer.coordinator.request_rejoin())
    sim.run_until(20_000)
    assert answers(sim, "c1", "JoinGroup") == ["NONE", "UNKNOWN_MEMBER_ID", "NONE"]
    assert (member.errors, member.member_id == before) == ([], False)


def test_a_follower_waits_for_the_leaders_sync():
    """Behaviour 43: its SyncGroup is parked until the assignment is there."""
    sim = cluster(faults=[Delay("SyncGroup", by_ms=2000, nth=2, node="c1")])
    _, follower = group(sim, "c1", "c2")
    sim.run_until(20_000)
    asked_ms = sent(sim, "c2", "SyncGroup")[0][0]
    arrived = sim.trace.where(kind="receive", api="SyncGroup", peer="c1")[1]
    answered = sim.trace.where(kind="respond", api="SyncGroup", peer="c2")[0]
    assert answered.time_ms == arrived.time_ms >= asked_ms + 2000
    assert follower.owns == "orders-1"


def test_a_sync_that_comes_too_late_joins_again():
    """Behaviour 43: PreparingRebalance answers REBALANCE_IN_PROGRESS, and poll does the rest."""
    sim = cluster(faults=[Delay("SyncGroup", by_ms=2000, nth=1, node="c1")])
    first = Member(sim, "c1")
    sim.run_until(1000)
    second = Member(sim, "c2")
    sim.run_until(10_000)
    assert answers(sim, "c1", "SyncGroup") == ["REBALANCE_IN_PROGRESS", "NONE"]
    assert (first.owns, second.owns, first.errors) == ("orders-0", "orders-1", [])


@pytest.mark.parametrize("error", ["ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID"])
@pytest.mark.parametrize("api", ["SyncGroup", "Heartbeat"])
def test_who_is_out_of_the_group_joins_as_a_new_member(api, error):
    """Behaviours 43 and 44: these errors make the member forget its id; poll joins again."""
    sim = cluster(faults=[AnswerWithError(api, error, node="c1")])
    (member,) = group(sim, "c1")
    sim.run_until(20_000)
    joined = [each.member_id for each in sim.trace.where(kind="member_joined")]
    assert len(set(joined)) == 2
    assert (member.member_id, member.errors) == (joined[-1], [])


@pytest.mark.parametrize(
    ("profile", "answer"),
    [
        (replace(KAFKA_4_0, heartbeat_ok_in_completing_rebalance=False), "REBALANCE_IN_PROGRESS"),
        (KAFKA_4_0, "NONE"),
    ],
)
def test_a_heartbeat_between_join_and_sync(profile, answer):
    """Behaviour 44: REBALANCE_IN_PROGRESS up to 2.6.0, NONE since; neither harms the join."""
    sim = cluster(profile, faults=[Delay("SyncGroup", by_ms=7000, nth=2, node="c1")])
    _, follower = group(sim, "c1", "c2")
    sim.run_until(13_500)
    joins = len(sent(sim, "c2", "JoinGroup"))
    assert answers(sim, "c2", "Heartbeat")[:2] == [answer] * 2
    assert (follower.owns, follower.generation) == ("orders-1", 2)
    sim.run_until(20_000)
    assert len(sent(sim, "c2", "JoinGroup")) == joins


@pytest.mark.parametrize(("profile", "owned"), [("2.4", ""), ("4.0", "orders-1")])
def test_a_member_that_never_syncs(profile, owned):
    """Behaviours 45, B7 and C4: it keeps its partition for ever up to 2.8.0 if it beats."""
    sim = cluster(profile)
    (member,) = group(sim, "c1", max_poll_interval_ms=20_000)
    coordinator = sim.coordinator_of("g")
    protocols = (JoinGroupRequestProtocol("range", '{"topics": ["orders"]}'),)
    if profile == "4.0":
        protocols += (JoinGroupRequestProtocol("cooperative-sticky", '{"topics": ["orders"]}'),)

    def ghost():
        join = JoinGroupRequest(
            group_id="g",
            session_timeout_ms=10_000,
            rebalance_timeout_ms=20_000,
            member_id="",
            protocols=protocols,
        )
        given = sim.request(coordinator, join).member_id
        joined = sim.request(coordinator, replace(join, member_id=given))
        beat = HeartbeatRequest(group_id="g", member_id=given, generation_id=joined.generation_id)
        while True:
            sim.request(coordinator, beat)
            sim.sleep(3000)

    sim.spawn(ghost, node="ghost")
    sim.run_until(20_000)
    assert member.owns == "orders-0"
    sim.run_until(60_000)
    assert member.owns == f"orders-0 {owned}".strip()


@pytest.mark.parametrize(
    ("profile", "members", "waits_ms"), [("1.0", 2, 10_000), ("2.3", 1, 0), ("4.0", 1, 0)]
)
def test_a_first_join_whose_answer_gets_lost(profile, members, waits_ms):
    """Behaviour 46: before 2.2 the retry is a second member, and the first one a ghost."""
    lost = Drop("JoinGroup", nth=1 if profile == "1.0" else 2, node="c1", part="response")
    sim = cluster(profile, faults=[lost])
    member = Member(sim, "c1")
    sim.run_until(30_000)
    joined = [
        each for each in sim.trace.where(kind="member_joined") if not each.detail.get("pending")
    ]
    assert len(joined) == members
    assert member.owns == "orders-0 orders-1"
    (assigned_ms,) = [each.time_ms for each in sim.trace.where(kind="assigned")]
    assert waits_ms <= assigned_ms < waits_ms + 1000


@pytest.mark.parametrize(
    ("profile", "first_ms", "both_ms"),
    [("0.10.1", 0, 0), ("1.0", 3000, 6000), ("2.4", 3000, 6000), ("4.0", 3000, 6000)],
)
def test_the_first_rebalance_waits_for_others(profile, first_ms, both_ms):
    """Behaviour 47: 3,000 ms since 0.11, and longer while others come at generation 0."""
    for joiners, expected_ms in ((1, first_ms), (2, both_ms)):
        sim = cluster(profile, **delay_of(profile))
        Member(sim, "c1")
        sim.run_until(2000)
        if joiners == 2:
            Member(sim, "c2")
        sim.run_until(9000)
        times = [time_ms for time_ms, _ in generations(sim)]
        assert expected_ms <= times[0] < expected_ms + 20


@pytest.mark.parametrize(("profile", "waits_ms"), [("1.0", 3000), ("2.4", 3000), ("4.0", 6000)])
def test_a_group_that_had_a_generation(profile, waits_ms):
    """Behaviours 47, B5 and C7: it waits 3,000 ms once more, extended for others only in 4.0."""
    sim = cluster(profile, **delay_of(profile))
    Member(sim, "c1").close()
    sim.run_until(10_000)
    assert sim.trace.where(kind="group_state")[-1].detail["to"] == "Empty"
    Member(sim, "c2")
    sim.run_until(12_000)
    Member(sim, "c3")
    sim.run_until(20_000)
    stable_ms = next(time_ms for time_ms, _ in generations(sim) if time_ms > 10_000)
    assert 10_000 + waits_ms <= stable_ms < 10_000 + waits_ms + 20


def delay_of(profile):
    """Keep the release's own initial delay, which `cluster` turns off."""
    return {"group_initial_rebalance_delay_ms": 0 if profile == "0.10.1" else 3000}


# Leaving.


@pytest.mark.parametrize("way", ["close", "unsubscribe"])
@pytest.mark.parametrize("profile", ["1.0", "4.0"])
def test_who_leaves_is_replaced_at_once(profile, way):
    """Behaviour 50: close and unsubscribe send LeaveGroup; the others learn it by heartbeat."""
    sim = cluster(profile)
    first, second = group(sim, "c1", "c2")
    if way == "close":
        second.close()
    else:
        second.do(lambda consumer: consumer.unsubscribe())
    sim.run_until(14_000)
    assert len(sent(sim, "c2", "LeaveGroup")) == 1
    assert [each[1:] for each in removed(sim)] == [("c2", "left")]
    assert first.owns == "orders-0 orders-1"


def test_who_crashes_is_waited_for():
    """Behaviour 50: a killed consumer sends nothing, and its partitions lie idle for a session."""
    sim = cluster()
    first, _ = group(sim, "c1", "c2")
    sim.crash("c2")
    sim.run_until(16_000)
    assert (sent(sim, "c2", "LeaveGroup"), first.owns) == ([], "orders-0")
    sim.run_until(23_000)
    assert first.owns == "orders-0 orders-1"


def test_a_leave_that_gets_lost_is_not_repeated():
    """Behaviour 50: it is an attempt; the session timeout does what it was meant to do."""
    sim = cluster(faults=[Drop("LeaveGroup", node="c2")])
    first, second = group(sim, "c1", "c2")
    second.close()
    sim.run_until(14_000)
    assert (len(sent(sim, "c2", "LeaveGroup")), first.owns) == (1, "orders-0")
    sim.run_until(25_000)
    assert removed(sim)[-1][2] == "no sign of life within the session timeout"
    assert first.owns == "orders-0 orders-1"


# Static members.


@pytest.mark.parametrize("profile", STATIC_FROM)
def test_a_static_member_comes_back_to_its_partitions(profile):
    """Behaviours 51 and B9: no LeaveGroup; a restart within the session rebalances nobody."""
    sim = cluster(profile)
    (first,) = group(sim, "c1", group_instance_id="one")
    (second,) = group(sim, "c2", group_instance_id="two")
    before = second.member_id
    second.close()
    sim.run_until(13_000)
    assert sent(sim, "c2", "LeaveGroup") == []
    (again,) = group(sim, "c2", group_instance_id="two")
    assert (first.owns, again.owns) == ("orders-0", "orders-1")
    assert again.member_id != before
    assert [generation for _, generation in generations(sim)] == [1, 2]
    assert (again.generation, first.told.calls.count("assigned orders-0")) == (2, 1)


@pytest.mark.parametrize("profile", STATIC_FROM)
def test_a_static_member_that_stays_away_is_missed(profile):
    """Behaviour 51: after the session timeout its partitions go to others."""
    sim = cluster(profile, partitions=2)
    (first,) = group(sim, "c1", group_instance_id="one", session_timeout_ms=10_000)
    (second,) = group(sim, "c2", group_instance_id="two", session_timeout_ms=10_000)
    second.close()
    sim.run_until(24_000)
    assert [each[2] for each in removed(sim)] == ["no sign of life within the session timeout"]
    assert first.owns == "orders-0 orders-1"


@pytest.mark.parametrize("profile", STATIC_FROM)
def test_a_second_member_with_the_same_instance_id_fences_the_first(profile):
    """Behaviours 51 and B9: FENCED_INSTANCE_ID ends the first one's polls."""
    sim = cluster(profile)
    (first,) = group(sim, "c1", group_instance_id="one")
    first.ends_with_error = True
    second = Member(sim, "c2", group_instance_id="one")
    sim.run_until(15_000)
    assert {type(each) for each in first.errors} == {FencedInstanceIdError}
    assert second.owns == "orders-0 orders-1"
    assert (second.errors, [generation for _, generation in generations(sim)]) == ([], [1])


@pytest.mark.parametrize(("profile", "takes_it_back"), [("2.4", False), ("4.0", True)])
def test_who_polls_on_although_fenced_takes_the_place_back(profile, takes_it_back):
    """Behaviour 51: it is fatal; since 2.6 a fenced member is reset, so that it joins once more."""
    sim = cluster(profile)
    (first,) = group(sim, "c1", group_instance_id="one")
    second = Member(sim, "c2", group_instance_id="one")
    sim.run_until(15_000)
    assert {type(each) for each in first.errors} == {FencedInstanceIdError}
    joined_again = first.told.calls.count("assigned orders-0 orders-1") > 1
    assert (joined_again, bool(second.errors)) == (takes_it_back, takes_it_back)


@pytest.mark.parametrize("profile", STATIC_FROM)
def test_a_static_member_that_does_not_poll_just_stops_beating(profile):
    """Behaviour 51: max.poll.interval.ms makes it send no LeaveGroup; the session decides."""
    sim = cluster(profile)
    config = {"group_instance_id": "one", "session_timeout_ms": 20_000}
    (member,) = group(sim, "c1", max_poll_interval_ms=10_000, **config)
    last_poll_ms = sim.trace.where(kind="poll", node="c1")[-1].time_ms
    member.do(lambda consumer: sim.sleep(60_000))
    sim.run_until(last_poll_ms + 25_000)
    assert (sent(sim, "c1", "LeaveGroup"), removed(sim)) == ([], [])
    assert sent(sim, "c1", "Heartbeat")[-1][0] <= last_poll_ms + 10_100
    sim.run_until(last_poll_ms + 32_000)
    assert [each[2] for each in removed(sim)] == ["no sign of life within the session timeout"]


@pytest.mark.parametrize("profile", STATIC_FROM)
def test_a_late_static_leader_is_kept_but_does_not_lead(profile):
    """Behaviours 38 and B6: at the end of the rebalance timeout another member leads."""
    sim = cluster(profile)
    slow = {"session_timeout_ms": 60_000, "max_poll_interval_ms": 20_000}
    (leader,) = group(sim, "c1", group_instance_id="one", **slow)
    sim.freeze("c1", 40_000)
    second = Member(sim, "c2", **slow)
    sim.run_until(30_000)
    assert removed(sim) == []
    joined = sim.trace.where(kind="respond", api="JoinGroup", peer="c2")[-1]
    assert joined.detail["fields"]["leader"] == second.member_id
    assert sorted(member_list(joined)) == ["c2", "on"]  # one is still a member
    assert second.owns == "orders-1"
    sim.run_until(60_000)
    assert (leader.owns, second.owns) == ("orders-0", "orders-1")


@pytest.mark.parametrize("profile", ["1.0", *STATIC_FROM])
def test_a_late_dynamic_leader_is_dropped(profile):
    """Behaviours 38 and B6: without an instance id it is out at the end of that time."""
    sim = cluster(profile)
    slow = {"session_timeout_ms": 60_000, "max_poll_interval_ms": 20_000}
    group(sim, "c1", **slow)
    sim.freeze("c1", 40_000)
    second = Member(sim, "c2", **slow)
    sim.run_until(30_000)
    assert [each[1] for each in removed(sim)] == ["c1"]
    assert second.owns == "orders-0 orders-1"


# The coordinator.


@pytest.mark.parametrize("profile", ["1.0", "4.0"])
def test_a_new_coordinator_goes_on_with_the_same_generation(profile):
    """Behaviour 53: it reads the group from __consumer_offsets, and the members find it."""
    sim = cluster(profile, partitions=2)
    first, second = group(sim, "c1", "c2")
    old = sim.coordinator_of("g")
    ids = [first.member_id, second.member_id]
    sim.crash(old)
    sim.run_until(40_000)
    assert sim.coordinator_of("g") != old
    assert [first.member_id, second.member_id] == ids
    assert (first.owns, second.owns) == ("orders-0", "orders-1")
    assert [generation for _, generation in generations(sim)] == [1, 2]
    assert (first.errors, second.errors, removed(sim)) == ([], [], [])
    (loaded,) = sim.trace.where(kind="group_loaded", group_id="g")
    assert (loaded.generation, loaded.node) == (2, sim.coordinator_of("g"))


def test_not_coordinator_makes_a_member_look_again():
    """Behaviour 53: after the error it finds the coordinator, and stays in its generation."""
    sim = cluster(faults=[AnswerWithError("Heartbeat", "NOT_COORDINATOR", node="c1")])
    (member,) = group(sim, "c1")
    sim.run_until(10_000)
    assert answers(sim, "c1", "Heartbeat")[:2] == ["NOT_COORDINATOR", "NONE"]
    # Found twice: the first time reconnect.backoff.ms forbids the connection.
    assert len(sent(sim, "c1", "FindCoordinator")) == 3
    assert (member.generation, len(sent(sim, "c1", "JoinGroup"))) == (1, 1)


def test_a_join_while_the_group_is_read_is_tried_again():
    """Behaviour 53: COORDINATOR_LOAD_IN_PROGRESS is waited out with retry.backoff.ms."""
    sim = cluster(offsets_load_ms=1000)
    group(sim, "c1")
    sim.crash(sim.coordinator_of("g"))
    sim.run_until(sim.now_ms + 6100)  # the cluster has noticed
    second = Member(sim, "c2")
    sim.run_until(40_000)
    *errors, last = answers(sim, "c2", "JoinGroup")
    assert (set(errors), last) == ({"COORDINATOR_LOAD_IN_PROGRESS"}, "NONE")
    assert second.owns == "orders-1"


def test_a_member_whose_connection_breaks_stays():
    """Behaviour 53: lost and found again, the coordinator knows it under the same generation."""
    sim = cluster(faults=[Drop("Heartbeat", nth=2, node="c1")])
    (member,) = group(sim, "c1")
    before = member.member_id
    sim.run_until(30_000)
    # Found twice: the first time reconnect.backoff.ms forbids the connection.
    assert len(sent(sim, "c1", "FindCoordinator")) == 3
    assert (member.member_id, member.generation) == (before, 1)
    assert (removed(sim), member.errors) == ([], [])


@pytest.mark.parametrize(
    ("group_id", "number"),
    [("rbgh664", 25), ("test", 48), ("group1", 40), ("polygenelubricants", 0)],
)
def test_a_group_has_its_coordinator_by_its_name(group_id, number):
    """Behaviour 54: the leader of partition abs(hash(group_id)) % 50 of __consumer_offsets."""
    sim = cluster()
    Member(sim, "c1", group_id=group_id)
    sim.run_until(3000)
    leader = sim.cluster.find(partition(number, "__consumer_offsets")).leader
    assert {each.peer for each in sim.trace.where(kind="send", api="JoinGroup")} == {leader}


# Why a group rebalances.


def rebalanced(sim, *, within_ms, owns, member):
    """Tell whether just one new generation came, and the member has what it should."""
    before = len(generations(sim))
    sim.run_until(sim.now_ms + within_ms)
    return (len(generations(sim)) - before, member.owns) == (1, owns)


def test_a_change_of_subscription_rebalances():
    """Cause: a member subscribes to other topics, which its next poll tells the group."""
    sim = cluster()
    sim.create_topic("bills", 1)
    first, second = group(sim, "c1", "c2")
    second.do(lambda consumer: consumer.subscribe(["bills"], listener=second.told))
    assert rebalanced(sim, within_ms=5000, owns="orders-0 orders-1", member=first)
    assert second.owns == "bills-0"


@pytest.mark.parametrize("age_ms", [12_000, 20_000])
def test_added_partitions_rebalance_when_the_leader_sees_them(age_ms):
    """Cause: the leader's metadata refresh finds more partitions; followers do not look."""
    sim = cluster()
    (leader,) = group(sim, "c1", metadata_max_age_ms=age_ms)
    (follower,) = group(sim, "c2", metadata_max_age_ms=1000)
    sim.create_partitions("orders", 4)
    grown_ms = sim.now_ms
    seen_ms = next(
        each.time_ms + age_ms
        for each in reversed(sim.trace.where(kind="response", node="c1", api="Metadata"))
    )
    sim.run_until(seen_ms - 100)
    assert (grown_ms < sim.now_ms, leader.owns, follower.owns) == (True, "orders-0", "orders-1")
    sim.run_until(seen_ms + 4000)
    assert (leader.owns, follower.owns) == ("orders-0 orders-1", "orders-2 orders-3")


def test_a_deleted_topic_rebalances():
    """Cause: a topic that a pattern matched is gone at the next metadata refresh."""
    sim = cluster()
    sim.create_topic("orders-eu", 1)
    (member,) = group(sim, "c1", pattern="orders.*", metadata_max_age_ms=5000)
    assert member.owns == "orders-0 orders-1 orders-eu-0"
    sim.delete_topic("orders-eu")
    assert rebalanced(sim, within_ms=8000, owns="orders-0 orders-1", member=member)


def test_no_cause_no_rebalance():
    """A group at rest stays in its generation."""
    sim = cluster()
    group(sim, "c1", "c2")
    produce(sim, 3)
    sim.run_until(120_000)
    assert [generation for _, generation in generations(sim)] == [1, 2]


# Cooperative rebalancing.

COOPERATIVE = {"partition_assignment_strategy": ["cooperative-sticky"]}


@pytest.mark.parametrize("profile", ["2.4", "4.0"])
def test_cooperative_members_keep_what_they_keep(profile):
    """Behaviour 64: two rebalances move one partition; the others are never given up."""
    sim = cluster(profile, partitions=4)
    first, second = group(sim, "c1", "c2", **COOPERATIVE)
    assert first.told.calls == [
        "assigned orders-0 orders-1 orders-2 orders-3",
        "revoked orders-2 orders-3",
        "assigned",
        "assigned",
    ]
    assert second.told.calls == ["assigned", "assigned orders-2 orders-3"]
    assert [generation for _, generation in generations(sim)] == [1, 2, 3]
    assert (first.owns, second.owns) == ("orders-0 orders-1", "orders-2 orders-3")


@pytest.mark.parametrize("profile", ["2.4", "4.0"])
def test_cooperative_members_read_on_while_others_join(profile):
    """Behaviour 64: what is kept can still be polled; an eager member gives up all of it."""
    kept = {}
    for assignor in ("cooperative-sticky", "range"):
        sim = cluster(profile, partitions=4)
        (first,) = group(sim, "c1", partition_assignment_strategy=[assignor])
        Member(sim, "c2", partition_assignment_strategy=[assignor])
        kept[assignor] = set()
        for ms in range(sim.now_ms, sim.now_ms + 2000):
            sim.run_until(ms)
            if len(generations(sim)) == 1:
                kept[assignor].add(first.owns)
    assert kept["cooperative-sticky"] == {"orders-0 orders-1 orders-2 orders-3"}
    assert kept["range"] == {"orders-0 orders-1 orders-2 orders-3", ""}


@pytest.mark.parametrize("profile", ["2.4", "4.0"])
def test_a_cooperative_listener_that_raises_does_not_lose_a_partition(profile):
    """Behaviour 64: the error comes out of poll, and the second rebalance happens all the same."""
    sim = cluster(profile, partitions=2)
    (first,) = group(sim, "c1", **COOPERATIVE)

    def revoke(partitions):
        raise ValueError("no")

    first.told.on_partitions_revoked = revoke
    (second,) = group(sim, "c2", **COOPERATIVE)
    assert [str(each) for each in first.errors] == [
        "the rebalance listener's on_partitions_revoked raised ValueError('no')"
    ]
    assert (first.owns, second.owns) == ("orders-0", "orders-1")


def test_cooperative_and_eager_members_do_not_mix():
    """Behaviour 64: there is no assignor that both know, so that the joiner is refused."""
    sim = cluster("2.4")
    group(sim, "c1", **COOPERATIVE)
    eager = Member(sim, "c2", partition_assignment_strategy=["range"])
    sim.run_until(6000)
    assert {type(each) for each in eager.errors} == {InconsistentGroupProtocolError}


@pytest.mark.parametrize(
    ("leave", "reason"),
    [
        (lambda consumer: consumer.unsubscribe(), "the consumer unsubscribed from all topics"),
        (lambda consumer: consumer.close(), "the consumer closes"),
    ],
)
def test_what_becomes_of_a_member_is_told_with_its_reason(leave, reason):
    """Each change of its state that it did not ask for, and why its partitions went."""
    sim = cluster("2.4")
    (member,) = group(sim, "c1")
    member.ended = True
    sim.run_until(sim.now_ms + 1_000)
    leave(member.consumer)
    moves = [
        (each.detail["from"], each.detail["to"], each.generation, each.detail.get("reason"))
        for each in sim.trace.where(kind="client_state", node="c1")
    ]
    assert moves == [
        ("UNJOINED", "REBALANCING", -1, None),
        ("REBALANCING", "UNJOINED", -1, "JoinGroup of group 'g' is answered MEMBER_ID_REQUIRED"),
        ("UNJOINED", "REBALANCING", -1, None),
        ("REBALANCING", "STABLE", 1, None),
        ("STABLE", "UNJOINED", -1, reason),
    ]
    (revoked,) = sim.trace.where(kind="revoked", node="c1")
    assert revoked.detail == {"partitions": {"orders": [0, 1]}, "reason": "the consumer leaves"}


@pytest.mark.parametrize(
    ("assignor", "claimed"), [("cooperative-sticky", {"t": [0]}), ("sticky", {"t": [0], "u": [0]})]
)
def test_a_cooperative_member_claims_what_it_has_and_an_eager_one_what_it_was_given(
    assignor, claimed
):
    """After a topic was given up: the one tells what it still reads, the other what it had."""
    sim = cluster("2.4", topic="t", partitions=1)
    sim.create_topic("u", 1)
    (member,) = group(sim, "c1", topics=["t", "u"], partition_assignment_strategy=[assignor])
    coordinator, offered = member.consumer.coordinator, []
    metadata = coordinator.metadata

    def noted():
        offered.append(metadata())
        return offered[-1]

    coordinator.metadata = noted
    member.do(lambda consumer: consumer.subscribe(["t"]))
    sim.run_until(sim.now_ms + 5_000)
    text = json.loads(offered[0][0].metadata)
    assert (text["topics"], text["owned_partitions"]) == (["t"], claimed)


def test_a_join_waits_longer_than_other_requests():
    """Its answer comes when the others have joined: it is not given up after request.timeout.ms."""
    sim = cluster("2.4")
    (busy,) = group(sim, "c1")
    busy.do(lambda consumer: sim.sleep(60_000))
    sim.run_until(sim.now_ms + 1_000)
    second = Member(sim, "c2")
    sim.run_until(sim.now_ms + 70_000)
    assert second.owns == "orders-1"
    assert len(sent(sim, "c2", "JoinGroup")) == 2  # the first one got the id
    assert not sim.trace.where(kind="disconnected")


@pytest.mark.parametrize(
    ("profile", "named"), [("2.4", (None, None)), ("4.0", ("consumer", "range"))]
)
def test_a_sync_names_the_protocol(profile, named):
    """Since 2.5 (KIP-559), so that what lies between can read the assignments."""
    sim = cluster(profile)
    group(sim, "c1")
    (sync,) = sim.trace.where(kind="send", api="SyncGroup")
    told = sync.detail["fields"]
    assert (told.get("protocol_type"), told.get("protocol_name")) == named


def test_a_refused_heartbeat_is_the_reason_for_what_follows():
    """Both are told with the event: which request, which error."""
    sim = cluster(faults=[AnswerWithError("Heartbeat", "UNKNOWN_MEMBER_ID", nth=2)])
    group(sim, "c1")
    sim.run_until(sim.now_ms + 5_000)
    moves = sim.trace.where(kind="client_state", node="c1")
    reasons = [each.detail["reason"] for each in moves if "reason" in each.detail]
    assert reasons == ["Heartbeat: UNKNOWN_MEMBER_ID"]


def test_partitions_that_a_rebalance_takes_are_given_up_for_it():
    """The event says why, where no other reason is given (2.4)."""
    sim = cluster("2.4")
    group(sim, "c1", "c2")
    (revoked,) = sim.trace.where(kind="revoked", node="c1")
    assert revoked.detail["reason"] == "a rebalance"


def test_an_assignor_that_was_not_offered_is_refused():
    """No broker chooses one; if one did, the error would say which there are."""
    sim = cluster()
    consumer = sim.consumer("c1", group_id="g", partition_assignment_strategy=["range", "sticky"])
    with pytest.raises(IllegalStateError) as refused:
        consumer.coordinator.perform_assignment("c1-1", "roundrobin", members=())
    text = "the group chose the assignor 'roundrobin': range, sticky are offered"
    assert str(refused.value) == text
