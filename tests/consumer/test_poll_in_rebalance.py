"""What a poll does while the group rebalances: wait for it, or go on with what it has."""

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from kafkalearn.engine.faults import AnswerWithError, Delay
from kafkalearn.errors import (
    CommitFailedError,
    KafkaError,
    RebalanceInProgressError,
    WakeupError,
)
from kafkalearn.profile import KAFKA_4_0
from kafkalearn.records import OffsetAndMetadata
from tests.consumer.members import Member, answers, cluster, group, partition, produce, sent

A_SECOND = timedelta(seconds=1)
STAYS = "cooperative-sticky"


def polls_took(sim, node, *, since_ms):
    """Tell how many ms lie between the beginnings of a node's polls."""
    polls = [
        each.time_ms
        for each in sim.trace.where(kind="poll", node=node)
        if each.time_ms >= since_ms and "step" not in each.detail
    ]
    return [late - early for early, late in pairwise(polls)]


def joined(sim, node, *, since_ms):
    """Give the JoinGroups that a node sent."""
    events = sim.trace.where(kind="send", node=node, api="JoinGroup")
    return [each for each in events if each.time_ms >= since_ms]


def slow_member(sim):
    """Start a second member that keeps the group waiting: it takes 8 s for its records."""
    late = Member(sim, "c2", poll=A_SECOND, partition_assignment_strategy=[STAYS])
    sim.run_until(sim.now_ms + 5_000)
    late.busy_ms = 8_000
    sim.run_until(sim.now_ms + 2_000)
    return late


@pytest.mark.parametrize(
    ("profile", "poll", "goes_on"),
    [("2.4", A_SECOND, False), ("4.0", A_SECOND, True), ("4.0", 1_000, False)],
)
def test_a_member_reads_what_it_keeps_while_others_are_slow_to_join(profile, poll, goes_on):
    """Since 2.5 poll(timedelta) returns records in a cooperative rebalance; a poll(int) waits."""
    sim = cluster(profile, partitions=3)
    (reader,) = group(sim, "c1", poll=poll, partition_assignment_strategy=[STAYS])
    slow_member(sim)
    began_ms = sim.now_ms
    Member(sim, "c3", partition_assignment_strategy=[STAYS])
    sim.run_until(began_ms + 4_000)
    assert sim.trace.where(kind="group_state")[-1].detail["to"] == "PreparingRebalance"
    kept = reader.consumer.subscriptions.assigned_partitions()
    before = len(reader.records)
    assert kept
    for each in kept:
        produce(sim, 2, number=each.partition)
    sim.run_until(began_ms + 6_000)
    assert sim.trace.where(kind="group_state")[-1].detail["to"] == "PreparingRebalance"
    assert len(reader.records) - before == (2 * len(kept) if goes_on else 0)
    written = sim.trace.where(kind="append", topic="orders")[-2 * len(kept) :]
    returned = sim.trace.where(kind="records_returned", node="c1")[-len(kept) :]
    if goes_on:
        assert returned[-1].time_ms - written[-1].time_ms < 100  # not only as a poll ends


@pytest.mark.parametrize("profile", ["2.4", "4.0"])
def test_polls_end_in_time_while_the_group_is_not_ready(profile):
    """poll(timedelta) takes no longer than it may, and one of the next ones finishes the join."""
    sim = cluster(profile, group_initial_rebalance_delay_ms=5_000)
    member = Member(sim, "c1", poll=A_SECOND)
    sim.run_until(4_500)
    assert set(polls_took(sim, "c1", since_ms=1_000)) == {1_000}
    assert len(sent(sim, "c1", "JoinGroup")) == 2  # the second one with the id that it was given
    sim.run_until(8_000)
    assert member.owns == "orders-0 orders-1"
    assert len(sent(sim, "c1", "JoinGroup")) == 2


def test_nothing_is_read_while_the_commit_before_a_join_is_on_its_way():
    """Behaviour 8, since 3.2: polls go on, and what is committed is all that they returned."""
    sim = cluster("4.0", faults=[Delay("OffsetCommit", by_ms=3_000)])
    automatic = {"enable_auto_commit": True, "auto_commit_interval_ms": 60_000}
    first = Member(sim, "c1", poll=A_SECOND, **automatic)
    sim.run_until(5_000)
    produce(sim, 5)
    sim.run_until(6_000)
    second = Member(sim, "c2", poll=A_SECOND, **automatic)
    sim.run_until(6_500)
    assert len(sent(sim, "c1", "OffsetCommit")) == 1
    produce(sim, 5)
    sim.run_until(8_500)
    assert (len(first.records), first.told.calls) == (5, ["assigned orders-0 orders-1"])
    assert set(polls_took(sim, "c1", since_ms=6_900)) == {1_000}
    sim.run_until(12_000)
    assert first.told.calls[1:] == ["revoked orders-0 orders-1", "assigned orders-0"]
    read = [each.value for member in (first, second) for each in member.records]
    assert read == [*"01234"] * 2


@pytest.mark.parametrize("poll", [timedelta(milliseconds=10), 10])
def test_a_commit_before_a_join_that_may_succeed_is_sent_again(poll):
    """As long as the rebalance may take: by later polls, or by one poll(int), which waits."""
    unavailable = [
        AnswerWithError("OffsetCommit", "COORDINATOR_LOAD_IN_PROGRESS", nth=n) for n in (1, 2)
    ]
    sim = cluster("4.0", faults=unavailable)
    first = Member(sim, "c1", poll=poll, enable_auto_commit=True, auto_commit_interval_ms=60_000)
    sim.run_until(5_000)
    produce(sim, 5)
    sim.run_until(6_000)
    Member(sim, "c2")
    sim.run_until(12_000)
    began_ms, _, ended_ms = (time_ms for time_ms, _ in sent(sim, "c1", "OffsetCommit"))
    between = [
        each for each in sim.trace.where(kind="poll", node="c1") if "step" not in each.detail
    ]
    polls = sum(began_ms < each.time_ms <= ended_ms for each in between)
    assert (polls == 0) is (poll == 10)
    (stored,) = {each.offset for each in sim.trace.where(kind="offset_stored") if each.offset}
    assert (stored, first.owns) == (5, "orders-0")


def test_a_poll_that_saw_another_subscription_joins_although_it_changes_back():
    """Since 2.5: or the partitions, about to be given up, would be read no more."""
    sim = cluster("4.0", faults=[Delay("OffsetCommit", by_ms=1_500, node="c2")])
    Member(sim, "c1")
    sim.run_until(5_000)
    automatic = {"enable_auto_commit": True, "auto_commit_interval_ms": 600_000}
    member = Member(sim, "c2", poll=timedelta(milliseconds=100), **automatic)
    sim.run_until(15_000)
    produce(sim, 3, number=1)
    for topics in (["orders", "more"], ["orders"]):
        sim.run_until(sim.now_ms + 500)
        member.do(lambda consumer, told=topics: consumer.subscribe(told, listener=member.told))
    sim.run_until(30_000)
    produce(sim, 3, number=1)
    sim.run_until(31_000)
    assert member.told.calls[1:] == ["revoked orders-1", "assigned orders-1"]
    (join,) = joined(sim, "c2", since_ms=15_000)
    assert "more" not in str(join.detail)
    assert len(member.records) == 6


@pytest.mark.parametrize("profile", ["2.3", "2.4", "4.0"])
def test_a_subscription_that_changes_during_the_join_is_joined_for(profile):
    """An assignment that was made for the one before is not taken (2.3)."""
    sim = cluster(profile, faults=[Delay("JoinGroup", by_ms=3_000, nth=2, part="response")])
    sim.create_topic("more")
    member = Member(sim, "c1", topics=["orders", "more"], poll=A_SECOND)
    sim.run_until(1_500)
    member.do(lambda consumer: consumer.subscribe(["orders"], listener=member.told))
    sim.run_until(10_000)
    assert (member.errors, member.owns) == ([], "orders-0 orders-1")
    assert [each for each in member.told.calls if "assigned" in each] == [
        "assigned orders-0 orders-1"
    ]


@pytest.mark.parametrize(("profile", "reads"), [("2.4", True), ("4.0", False)])
def test_a_wakeup_in_the_commit_before_a_join(profile, reads):
    """The member joins without giving up, and since 3.2 it reads no more of what it keeps then."""
    sim = cluster(profile, faults=[Delay("OffsetCommit", by_ms=1_500, node="c1")])
    automatic = {"enable_auto_commit": True, "auto_commit_interval_ms": 600_000}
    (member,) = group(sim, "c1", **automatic)
    produce(sim, 3)
    sim.run_until(6_000)
    Member(sim, "c2")
    while not sent(sim, "c1", "OffsetCommit"):
        sim.run_until(sim.now_ms + 100)
    member.consumer.wakeup()
    sim.run_until(20_000)
    produce(sim, 3)
    sim.run_until(25_000)
    assert [type(each) for each in member.errors] == [WakeupError]
    assert (member.told.calls[1:], member.owns) == (["assigned"], "orders-0")
    assert len(member.records) == (6 if reads else 3)


@pytest.mark.parametrize(
    ("profile", "poll", "told"),
    [
        ("2.4", 100, "revoked"),
        ("2.4", A_SECOND, "revoked"),
        ("4.0", 100, "revoked"),
        ("4.0", A_SECOND, "lost"),
    ],
)
def test_who_is_told_by_the_commit_before_a_join_that_it_is_out(profile, poll, told):
    """Partitions are lost by who knows before; a poll that does not wait knows with the next."""
    sim = cluster(profile, faults=[AnswerWithError("OffsetCommit", "UNKNOWN_MEMBER_ID")])
    automatic = {"enable_auto_commit": True, "auto_commit_interval_ms": 600_000}
    (member,) = group(sim, "c1", poll=poll, **automatic)
    produce(sim, 3)
    sim.run_until(6_000)
    Member(sim, "c2")
    sim.run_until(20_000)
    assert answers(sim, "c1", "OffsetCommit") == ["UNKNOWN_MEMBER_ID"]
    assert member.told.calls[1] == f"{told} orders-0 orders-1"


@pytest.mark.parametrize(("profile", "keeps"), [("2.4", True), ("4.0", False)])
def test_who_falls_out_while_it_joins(profile, keeps):
    """It claims partitions that others may have; since 2.7.2 it loses them first."""
    refused = AnswerWithError("JoinGroup", "UNKNOWN_MEMBER_ID", nth=3, node="c1")
    sim = cluster(profile, faults=[refused])
    (member,) = group(sim, "c1", partition_assignment_strategy=[STAYS])
    Member(sim, "c2", partition_assignment_strategy=[STAYS])
    sim.run_until(12_000)
    _, anew, _ = joined(sim, "c1", since_ms=5_000)
    assert anew.member_id is None
    assert ("owned_partitions" in anew.detail["fields"]["protocols"][0]["metadata"]) is keeps
    assert ("lost orders-0 orders-1" in member.told.calls) is not keeps


@pytest.mark.parametrize(
    ("profile", "interval_ms", "timeout_ms", "waits_ms"),
    [
        ("1.0", 10_000, 40_000, 40_000),
        ("2.3", 10_000, 30_000, 15_000),
        ("2.4", 10_000, 30_000, 15_000),
        ("4.0", 10_000, 30_000, 30_000),
        ("4.0", 60_000, 30_000, 65_000),
    ],
)
def test_how_long_a_join_is_waited_for(profile, interval_ms, timeout_ms, waits_ms):
    """As long as any request; since 2.0 the rebalance timeout and 5 s; since 2.6 the longer."""
    late = Delay("JoinGroup", by_ms=200_000, node="c1", part="response")
    sim = cluster(profile, faults=[late])
    Member(sim, "c1", max_poll_interval_ms=interval_ms, request_timeout_ms=timeout_ms)
    sim.run_until(100_000)
    first, second, *_ = sent(sim, "c1", "JoinGroup")
    assert waits_ms <= second[0] - first[0] < waits_ms + 1_000


@pytest.mark.parametrize(("profile", "asks"), [("1.0", False), ("2.3", True), ("4.0", True)])
def test_a_member_with_a_pattern_asks_for_metadata_before_it_joins_again(profile, asks):
    """Since 2.0: so that one new topic makes one rebalance, not one for each member."""
    sim = cluster(profile)
    group(sim, "c1", pattern="orders.*", metadata_max_age_ms=300_000)
    began_ms = sim.now_ms
    Member(sim, "c2", pattern="orders.*")
    sim.run_until(began_ms + 6_000)
    asked = [api for _, api in sent(sim, "c1", "Metadata", "JoinGroup", since_ms=began_ms)]
    assert asked.index("JoinGroup") == (1 if asks else 0)


@pytest.mark.parametrize(("profile", "told"), [("2.4", "revoked"), ("4.0", "lost")])
def test_to_leave_in_the_middle_of_a_rebalance_loses_the_partitions(profile, told):
    """Since 2.6: others may have them already, so that nothing should be committed any more."""
    sim = cluster(profile, partitions=3)
    (leaver,) = group(sim, "c1", poll=A_SECOND, partition_assignment_strategy=[STAYS])
    slow_member(sim)
    kept = leaver.owns
    Member(sim, "c3", partition_assignment_strategy=[STAYS])
    sim.run_until(sim.now_ms + 4_500)
    assert leaver.consumer.coordinator.state.value == "REBALANCING"
    leaver.close()
    sim.run_until(sim.now_ms + 1_500)
    assert leaver.told.calls[-1] == f"{told} {kept}"


@pytest.mark.parametrize("profile", ["2.4", "4.0"])
@pytest.mark.parametrize("error", ["ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID"])
def test_who_falls_out_by_a_heartbeat_loses_its_partitions(profile, error):
    """Also where the member id stays its own, as it does with ILLEGAL_GENERATION since 3.2."""
    sim = cluster(profile, faults=[AnswerWithError("Heartbeat", error, nth=2)])
    (member,) = group(sim, "c1")
    before = member.member_id
    sim.run_until(60_000)  # the coordinator may wait for the member that it believes to have
    assert member.told.calls[1:] == ["lost orders-0 orders-1", "assigned orders-0 orders-1"]
    keeps = (profile, error) == ("4.0", "ILLEGAL_GENERATION")
    assert (member.member_id == before) is keeps


@pytest.mark.parametrize("profile", ["1.0", "2.4", "4.0"])
@pytest.mark.parametrize(
    ("api", "error"),
    [
        ("JoinGroup", "ILLEGAL_GENERATION"),
        ("JoinGroup", "REQUEST_TIMED_OUT"),
        ("SyncGroup", "COORDINATOR_LOAD_IN_PROGRESS"),
        ("SyncGroup", "REQUEST_TIMED_OUT"),
    ],
)
def test_an_error_that_kafka_does_not_expect_is_raised(profile, api, error):
    """Although its name promises that another try may help; the next poll tries all the same."""
    sim = cluster(profile, faults=[AnswerWithError(api, error)])
    member = Member(sim, "c1")
    sim.run_until(5_000)
    assert [type(each) for each in member.errors] == [KafkaError]
    assert error in str(member.errors[0])
    assert member.owns == "orders-0 orders-1"


@pytest.mark.parametrize(
    ("profile", "error", "raised"),
    [
        ("2.4", "UNKNOWN_MEMBER_ID", CommitFailedError),
        ("4.0", "UNKNOWN_MEMBER_ID", RebalanceInProgressError),
        ("4.0", "ILLEGAL_GENERATION", RebalanceInProgressError),
        ("4.0", "FENCED_INSTANCE_ID", RebalanceInProgressError),
    ],
)
def test_a_commit_of_the_generation_before_does_not_disturb_the_join(profile, error, raised):
    """Since 2.6 its refusal tells nothing that the member, which joins anew, does not know."""
    out, refused = (
        AnswerWithError("Heartbeat", "ILLEGAL_GENERATION"),
        AnswerWithError("OffsetCommit", error),
    )
    sim = cluster(profile, faults=[out, refused], group_initial_rebalance_delay_ms=2_000)
    consumer = sim.consumer("c1", group_id="g", enable_auto_commit=False)
    consumer.subscribe(["orders"])
    while not consumer.poll(A_SECOND) and not consumer.assignment():
        pass
    told, due_ms = [], consumer.coordinator.heartbeat.due_ms
    sim.sleep(due_ms + 1 - sim.now_ms)
    assert sim.trace.where(kind="send", api="Heartbeat")
    consumer.commit_async(
        {partition(): OffsetAndMetadata(0)}, lambda _, why: told.append(type(why))
    )
    began_ms = sim.now_ms
    while not (told and consumer.assignment()):
        consumer.poll(A_SECOND)
    assert told == [raised]
    joins = [api for _, api in sent(sim, "c1", "JoinGroup", since_ms=began_ms)]
    assert len(joins) == (1 if profile == "4.0" else 2)


@pytest.mark.parametrize(("profile", "comes_first"), [("1.0", "join"), ("4.0", "records")])
def test_whether_a_poll_that_has_to_join_returns_what_it_got(profile, comes_first):
    """Up to 2.4 the join comes first, so that the group gets stable soon."""
    sim = cluster(profile, partitions=1)
    (member,) = group(sim, "c1", poll=1_000)
    sim.run_until(sim.now_ms + 250)
    member.consumer.coordinator.request_rejoin()
    began = len(sim.trace)
    produce(sim, 1)
    sim.run_until(sim.now_ms + 2_000)
    told = [
        "join" if each.api == "JoinGroup" else "records"
        for each in sim.trace[began:]
        if each.node == "c1"
        and (each.kind == "records_returned" or (each.kind == "send" and each.api == "JoinGroup"))
    ]
    assert told[0] == comes_first
    again = ["0"] if comes_first == "records" else []  # nobody committed it before the join
    assert [each.value for each in member.records] == ["0", *again]


def test_who_leaves_before_its_assignment_comes_joins_anew():
    """Its heartbeats leave for an application that does not poll; the late assignment is no use."""
    late = Delay("SyncGroup", by_ms=8_000, part="response")
    sim = cluster("4.0", faults=[late])
    member = Member(sim, "c1", poll=timedelta(milliseconds=100), max_poll_interval_ms=5_000)
    sim.run_until(1_000)
    assert member.consumer.coordinator.state.value == "COMPLETING_REBALANCE"
    first = member.member_id
    member.do(lambda consumer: sim.sleep(15_000))
    sim.run_until(12_000)
    assert len(sent(sim, "c1", "LeaveGroup")) == 1
    assert (member.owns, member.generation) == ("", -1)
    sim.run_until(30_000)
    assert (member.owns, member.errors) == ("orders-0 orders-1", [])
    assert member.member_id != first
    assert member.told.calls == ["assigned orders-0 orders-1"]


@pytest.mark.parametrize(
    ("profile", "raised"), [("2.4", CommitFailedError), ("4.0", RebalanceInProgressError)]
)
def test_a_commit_that_is_refused_as_the_group_rebalances_says_so(profile, raised):
    """Since 2.5: what is still assigned can be committed after the rebalance."""
    sim = cluster(profile, faults=[AnswerWithError("OffsetCommit", "REBALANCE_IN_PROGRESS")])
    (member,) = group(sim, "c1")
    member.do(lambda consumer: consumer.commit_sync({partition(): OffsetAndMetadata(0)}))
    sim.run_until(sim.now_ms + 1_000)
    assert [type(each) for each in member.errors] == [raised]


def test_a_commit_that_failed_is_not_waited_for_any_more():
    """commit_sync of nothing waits for those on their way (3.6), and this one is not."""
    sim = cluster("4.0", faults=[AnswerWithError("OffsetCommit", "OFFSET_METADATA_TOO_LARGE")])
    (member,) = group(sim, "c1")
    told, took = [], []

    def commit(consumer):
        consumer.commit_async({partition(): OffsetAndMetadata(0)}, lambda _, why: told.append(why))
        for _ in range(2):
            began_ms = sim.now_ms
            consumer.commit_sync({})
            took.append(sim.now_ms - began_ms)

    member.do(commit)
    sim.run_until(sim.now_ms + 1_000)
    assert (len(told), member.errors) == (1, [])
    assert 0 < took[0] < 100
    assert took[1] == 0


def test_the_trace_tells_who_changes_its_state_and_who_polls():
    """By the member's id, as far as it has one, and the group's."""
    sim = cluster("4.0")
    (member,) = group(sim, "c1")
    changes = {
        each.detail["to"]: each.member_id
        for each in sim.trace.where(kind="client_state", node="c1")
    }
    assert changes == {
        "REBALANCING": None,
        "COMPLETING_REBALANCE": member.member_id,
        "STABLE": member.member_id,
    }
    assert {each.group_id for each in sim.trace.where(kind="poll", node="c1")} == {"g"}


@pytest.mark.parametrize("throws_away", [False, True])
def test_a_member_gets_nothing_more_of_a_topic_that_it_has_left(throws_away):
    """A poll goes on in the rebalance, with what came before only of what is still subscribed to.

    Without the rule of 2.1 it would hand out, and commit, the rest of the topic that was left.
    """
    rules = replace(KAFKA_4_0, unassigned_fetches_are_dropped=throws_away)
    sim = cluster(rules, partitions=1)
    sim.create_topic("bills", 1)
    for topic in ("bills", "orders"):
        produce(sim, 20, topic=topic)
    consumer = sim.consumer(
        "c1",
        group_id="g",
        auto_offset_reset="earliest",
        max_poll_records=15,
        partition_assignment_strategy=[STAYS],
    )
    consumer.subscribe(["bills", "orders"])
    first = ()
    while not first:
        first = consumer.poll(A_SECOND)
    (left,) = {each.topic for each in first}
    consumer.subscribe([{"bills": "orders", "orders": "bills"}[left]])
    rest = [each.value for each in consumer.poll(A_SECOND) if each.topic == left]
    assert rest == ([] if throws_away else ["15", "16", "17", "18", "19"])
