"""Subscribing and assigning: which topics a consumer reads, and what it is told about them."""

from datetime import timedelta

import pytest

from kafkalearn.engine import Delay
from kafkalearn.errors import CommitFailedError, IllegalStateError, KafkaError
from kafkalearn.records import OffsetAndMetadata, TopicPartition
from tests.consumer.members import (
    Member,
    cluster,
    generations,
    group,
    names,
    partition,
    produce,
    removed,
    sent,
)

WAYS = {
    "topics": lambda consumer: consumer.subscribe(["orders"]),
    "pattern": lambda consumer: consumer.subscribe(pattern="orders.*"),
    "assign": lambda consumer: consumer.assign([partition()]),
}


@pytest.mark.parametrize("first", WAYS)
@pytest.mark.parametrize("second", WAYS)
def test_one_way_to_get_partitions_at_a_time(first, second):
    """Behaviour 55: topics, pattern and assign exclude each other until unsubscribe()."""
    consumer = cluster().consumer("c1", group_id="g")
    WAYS[first](consumer)
    if first != second:
        with pytest.raises(IllegalStateError, match="are mutually exclusive"):
            WAYS[second](consumer)
        consumer.unsubscribe()
    WAYS[second](consumer)


def test_subscribe_replaces_at_the_next_poll():
    """Behaviour 56: it does not add, and the partitions stay until the poll that joins again."""
    sim = cluster()
    sim.create_topic("bills", 1)
    consumer = sim.consumer("c1", group_id="g")
    consumer.subscribe(["orders"])
    consumer.poll(0)
    consumer.subscribe(["bills"])
    assert consumer.subscription() == ["bills"]
    assert names(consumer.assignment()) == "orders-0 orders-1"
    consumer.poll(0)
    assert names(consumer.assignment()) == "bills-0"
    assert [generation for _, generation in generations(sim)] == [1, 2]


def test_the_same_subscription_again_does_not_join_again():
    """Behaviour 56: only a subscription that differs from the one joined with makes it rejoin."""
    sim = cluster()
    (member,) = group(sim, "c1")
    member.do(lambda consumer: consumer.subscribe(["orders"], listener=member.told))
    sim.run_until(10_000)
    assert len(sent(sim, "c1", "JoinGroup")) == 1


@pytest.mark.parametrize("age_ms", [20_000, 300_000])
def test_a_pattern_sees_a_new_topic_at_the_next_refresh(age_ms):
    """Behaviour 57: metadata.max.age.ms after the last answer, by default 300,000 ms."""
    sim = cluster(record={"kinds": ["response", "group_state"]})
    config = {"metadata_max_age_ms": age_ms} if age_ms != 300_000 else {}
    member = Member(sim, "c1", pattern="orders.*", poll=5000, **config)
    sim.run_until(5000)
    asked_ms = sim.trace.where(kind="response", node="c1", api="Metadata")[-1].time_ms
    sim.create_topic("orders-eu", 1)
    sim.run_until(asked_ms + age_ms - 10)
    assert member.owns == "orders-0 orders-1"
    sim.run_until(asked_ms + age_ms + 6000)
    assert member.owns == "orders-0 orders-1 orders-eu-0"


def test_a_topic_that_was_missing_is_seen_once_it_is_made():
    """A consumer asks for it again each retry.backoff.ms, not only when its metadata is old."""
    sim = cluster(auto_create_topics_enable=False)
    member = Member(sim, "c1", topics=["late"])
    sim.run_until(20_000)
    assert member.owns == ""
    sim.create_topic("late")
    sim.run_until(24_000)
    assert member.owns == "late-0"


def test_a_topic_that_does_not_match_does_not_rebalance():
    """Behaviour 57: the whole name must match, and only a changed set of topics counts."""
    sim = cluster()
    (member,) = group(sim, "c1", pattern="orders", metadata_max_age_ms=2000)
    sim.create_topic("orders-eu", 1)
    sim.run_until(12_000)
    assert (member.owns, len(generations(sim))) == ("orders-0 orders-1", 1)


@pytest.mark.parametrize(("hidden", "has"), [(True, False), (False, True)])
def test_internal_topics_match_only_on_request(hidden, has):
    """Behaviour 57: exclude.internal.topics keeps __consumer_offsets out of patterns."""
    sim = cluster()
    (member,) = group(sim, "c1", pattern=".*", exclude_internal_topics=hidden)
    assert ("__consumer_offsets-0" in member.owns.split()) is has


def test_assign_beside_a_live_group():
    """Behaviour 59: both read the same partitions; nobody is fenced, and its commit fails."""
    sim = cluster(partitions=1)
    (member,) = group(sim, "c1")
    alone = sim.consumer("c2", group_id="g", auto_offset_reset="earliest", enable_auto_commit=False)
    alone.assign([partition()])
    produce(sim, 2)
    assert [each.value for each in alone.poll(1000)] == ["0", "1"]
    sim.run_until(sim.now_ms + 1000)
    assert [each.value for each in member.records] == ["0", "1"]
    with pytest.raises(CommitFailedError, match="assign"):
        alone.commit_sync({partition(): OffsetAndMetadata(2)})
    assert sent(sim, "c2", "JoinGroup", "Heartbeat") == []
    assert (len(generations(sim)), removed(sim)) == (1, [])


def test_assign_does_not_see_added_partitions():
    """Behaviour 59: without a group nobody deals out what is new."""
    sim = cluster(partitions=1)
    alone = sim.consumer("c1", metadata_max_age_ms=1000)
    alone.assign([partition()])
    alone.poll(100)
    sim.create_partitions("orders", 3)
    for _ in range(5):
        alone.poll(1000)
    assert names(alone.assignment()) == "orders-0"


def test_a_member_too_many_waits_without_partitions():
    """Behaviour 60: it is a member with an empty assignment, and keeps sending heartbeats."""
    sim = cluster(partitions=1)
    first, second = group(sim, "c1", "c2")
    sim.run_until(30_000)
    assert (first.owns, second.owns) == ("orders-0", "")
    assert len(sent(sim, "c2", "Heartbeat")) == 7  # one in 3,000 ms
    assert removed(sim) == []
    sim.crash("c1")
    sim.run_until(45_000)
    assert second.owns == "orders-0"


@pytest.mark.parametrize(
    ("ids", "shares"), [(("a", "b"), [4, 2]), (("b", "a"), [2, 4])], ids=["a first", "a last"]
)
def test_range_favours_the_first_by_client_id(ids, shares):
    """Behaviour 61: member ids begin with client.id, and the first gets one more of each topic."""
    sim = cluster(partitions=3)
    sim.create_topic("bills", 3)
    members = [
        Member(sim, f"c{number}", topics=["orders", "bills"], client_id=client_id)
        for number, client_id in enumerate(ids)
    ]
    sim.run_until(15_000)
    assert [len(each.owns.split()) for each in members] == shares


@pytest.mark.parametrize("profile", ["1.0", "2.3", "2.4"])
def test_sticky_keeps_partitions_but_gives_all_up_first(profile):
    """Behaviour 63: it is eager, so that the listener sees all revoked, and most come back."""
    sim = cluster(profile, partitions=4)
    sticky = {"partition_assignment_strategy": ["sticky"]}
    first, second = group(sim, "c1", "c2", **sticky)
    kept = first.owns
    everything = "orders-0 orders-1 orders-2 orders-3"
    assert first.told.calls[-3:] == [
        f"assigned {everything}",
        f"revoked {everything}",
        f"assigned {kept}",
    ]
    (third,) = group(sim, "c3", **sticky)
    counts = sorted(len(each.owns.split()) for each in (first, second, third))
    assert counts == [1, 1, 2]
    assert set(first.owns.split()) <= set(kept.split())


@pytest.mark.parametrize("profile", ["0.10.1", "1.0", "2.3", "2.4", "4.0"])
def test_what_an_eager_listener_is_told(profile):
    """Behaviour 67: all partitions before each rejoin; nothing at the first join since 2.4."""
    sim = cluster(profile)
    range_only = {"partition_assignment_strategy": ["range"]}
    first, second = group(sim, "c1", "c2", **range_only)
    start = [] if profile in ("2.4", "4.0") else ["revoked"]
    assert first.told.calls == [
        *start,
        "assigned orders-0 orders-1",
        "revoked orders-0 orders-1",
        "assigned orders-0",
    ]
    assert second.told.calls == [*start, "assigned orders-1"]


@pytest.mark.parametrize("profile", ["1.0", "2.3", "2.4"])
def test_partitions_are_still_there_while_they_are_revoked(profile):
    """Behaviour 67: a commit within on_partitions_revoked works, as the member is still in."""
    sim = cluster(profile, partitions=1)
    produce(sim, 2)
    (member,) = group(sim, "c1")
    member.told.on_partitions_revoked = lambda partitions: member.consumer.commit_sync()
    Member(sim, "c2")
    sim.run_until(12_000)
    (commit,) = sim.trace.where(kind="commit", node="c1")
    assert (commit.offset, commit.error, commit.generation) == (2, None, 1)


@pytest.mark.parametrize("profile", ["1.0", "2.3", "2.4", "4.0"])
@pytest.mark.parametrize("method", ["on_partitions_revoked", "on_partitions_assigned"])
def test_a_listener_that_raises(profile, method):
    """Behaviour 67: before 2.4 it is logged; since then poll raises, and the next one goes on."""
    sim = cluster(profile)
    (member,) = group(sim, "c1")
    raised = []

    def fail(partitions):
        if not raised:
            raised.append(names(partitions))
            raise ValueError("no")

    setattr(member.told, method, fail)
    member.do(lambda consumer: consumer.coordinator.request_rejoin())
    sim.run_until(12_000)
    text = f"the rebalance listener's {method} raised ValueError('no')"
    logged = [each.detail["message"] for each in sim.trace.where(kind="logged", node="c1")]
    told = [str(each) for each in member.errors]
    assert (logged, told) == (([text], []) if profile in ("1.0", "2.3") else ([], [text]))
    assert (raised, member.owns) == (["orders-0 orders-1"], "orders-0 orders-1")


NOT_ASSIGNED = "No current assignment for partition t-0: poll until the group"
FROM_A_JOIN = {  # what the listener does -> what poll raises in 2.4, and in 4.0
    "a KafkaException": (
        lambda consumer: fail_with(CommitFailedError("mine")),
        (KafkaError, "the rebalance listener's METHOD raised CommitFailedError('mine')"),
        (CommitFailedError, "mine"),
    ),
    "one of Java's own": (
        lambda consumer: consumer.seek(TopicPartition("t", 0), 5),
        (KafkaError, f"the rebalance listener's METHOD raised IllegalStateError('{NOT_ASSIGNED}"),
        (KafkaError, f"the rebalance listener's METHOD raised IllegalStateError('{NOT_ASSIGNED}"),
    ),
}


def fail_with(error):
    """Raise it, where a lambda cannot."""
    raise error


@pytest.mark.parametrize("profile", ["2.4", "4.0"])
@pytest.mark.parametrize("what", FROM_A_JOIN)
@pytest.mark.parametrize("method", ["on_partitions_assigned", "on_partitions_revoked"])
def test_what_a_listener_raises_at_the_end_of_a_join(profile, what, method):
    """Since 2.6 an error of Kafka's reaches poll's caller as itself, whichever call raised it."""
    does, *expected = FROM_A_JOIN[what]
    sim = cluster(profile)
    cooperative = {"partition_assignment_strategy": ["cooperative-sticky"]}
    (member,) = group(sim, "c1", **cooperative)
    setattr(member.told, method, lambda partitions: does(member.consumer))
    if method == "on_partitions_assigned":
        member.do(lambda consumer: consumer.coordinator.request_rejoin())
    Member(sim, "c2", **cooperative)  # so that c1 has one to give up
    sim.run_until(sim.now_ms + 4_000)
    kind, text = expected[profile == "4.0"]
    assert type(member.errors[0]) is kind
    assert str(member.errors[0]).startswith(text.replace("METHOD", method))


@pytest.mark.parametrize("profile", ["2.4", "4.0"])
def test_what_a_listener_raises_before_a_join_is_wrapped(profile):
    """Also an error of Kafka's, and also since 2.6: only the end of a join passes it on."""
    sim = cluster(profile)
    (member,) = group(sim, "c1", partition_assignment_strategy=["range"])
    member.told.on_partitions_revoked = lambda partitions: fail_with(CommitFailedError("mine"))
    for action in (
        lambda consumer: consumer.coordinator.request_rejoin(),
        lambda consumer: consumer.unsubscribe(),
    ):
        member.do(action)
        sim.run_until(sim.now_ms + 4_000)
    before_join, before_leave = member.errors[:2]
    text = "the rebalance listener's on_partitions_revoked raised CommitFailedError('mine')"
    assert (type(before_join), str(before_join)) == (KafkaError, text)
    assert (type(before_leave), str(before_leave)) == (KafkaError, text)
    reasons = [each.detail["reason"] for each in sim.trace.where(kind="revoked", node="c1")]
    assert reasons == ["a rebalance", "the consumer leaves"]


@pytest.mark.parametrize(("profile", "told"), [("1.0", "revoked"), ("2.4", "lost")])
def test_partitions_of_an_expelled_member(profile, told):
    """Behaviour 67: since 2.4 a member that was thrown out hears that they are lost."""
    sim = cluster(profile)
    (member,) = group(sim, "c1", partition_assignment_strategy=["range"])
    sim.freeze("c1", 15_000)
    sim.run_until(25_000)
    assert member.told.calls[-2:] == [f"{told} orders-0 orders-1", "assigned orders-0 orders-1"]
    (gone,) = sim.trace.where(kind="revoked", node="c1")
    assert gone.detail.get("lost") is (True if profile == "2.4" else None)


def test_a_poll_with_a_timedelta_bounds_the_wait_for_a_pattern_too():
    """A pattern needs the topics of the cluster first; what they take is part of the time (2.0)."""
    sim = cluster("2.4", faults=[Delay("Metadata", by_ms=1_000, part="response")])
    sim.sleep(5_000)
    consumer = sim.consumer("c1", group_id="g")
    consumer.subscribe(pattern="orders.*")
    begun_ms = sim.now_ms
    assert consumer.poll(timedelta(milliseconds=100)).is_empty()
    assert sim.now_ms - begun_ms == 100
