"""Rows 1 to 8, 16, 17 and 19 of the list of Kafka's behaviours, and B2, C1 to C3, C9: commits."""

import pytest

from kafkalearn.assignors.partition_assignor import AbstractPartitionAssignor
from kafkalearn.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafkalearn.engine import AnswerWithError, Delay, Drop
from kafkalearn.errors import (
    CommitFailedError,
    Errors,
    KafkaTimeoutError,
    RetriableCommitFailedError,
)
from kafkalearn.records import OffsetAndMetadata, TopicPartition

T0 = TopicPartition("t", 0)
EVERY_PROFILE = ["0.10.1", "1.0", "2.3", "2.4", "4.0"]


def next_to_read(offset, partition=T0):
    """Give what a commit of one partition takes."""
    return {partition: OffsetAndMetadata(offset)}


def answers(error, count=1, *, api="OffsetCommit"):
    """Let the first `count` requests of an api be answered with an error."""
    return [AnswerWithError(api, error, nth=number) for number in range(1, count + 1)]


class Told(list):
    """Notes what a commit callback is told, and when."""

    def __init__(self, sim):
        super().__init__()
        self.sim = sim

    def callback(self, name):
        """Make a callback that notes its name."""
        return lambda offsets, error: self.append((name, self.sim.now_ms, error))

    @property
    def names(self):
        """Whose callbacks ran, in order."""
        return [name for name, _, _ in self]


# Row 1.


@pytest.mark.parametrize(("plus", "lag", "again"), [(0, 1, ["c"]), (1, 0, [])])
def test_a_committed_offset_is_the_next_to_read(cluster, plus, lag, again):
    """Behaviour 1: the offset of the record just processed delivers it again; its lag stays 1."""
    kafka = cluster()
    kafka.send("a", "b", "c")
    first = kafka.member("c1")
    last = list(first.poll(1_000))[-1]
    first.commit_sync(next_to_read(last.offset + plus))
    assert first.end_offsets([T0])[T0] - first.committed(T0).offset == lag
    first.close()
    assert kafka.read(kafka.member("c2"), 1) == again


def test_a_commit_without_offsets_is_of_the_next_to_read(cluster):
    """Behaviour 1: commit_sync() and commit_async() add the 1 by themselves."""
    kafka = cluster()
    kafka.send("a", "b", "c")
    consumer = kafka.member(max_poll_records=2)
    consumer.poll(1_000)
    consumer.commit_sync()
    assert kafka.ask() == 2
    consumer.poll(1_000)
    consumer.commit_async()
    consumer.poll(10)
    assert kafka.ask() == 3


# Row 2.


def test_commit_sync_tries_again_after_each_back_off(cluster):
    """Behaviour 2: the same request goes out every retry.backoff.ms after an answer to retry."""
    kafka = cluster(faults=answers("COORDINATOR_LOAD_IN_PROGRESS", 3))
    kafka.send("a")
    consumer = kafka.member()
    kafka.read(consumer, 1)
    before_ms = kafka.sim.now_ms
    consumer.commit_sync()
    assert [sent_ms - before_ms for sent_ms in kafka.sent("OffsetCommit")] == [0, 102, 204, 306]
    assert [error for *_, error in kafka.commits()] == ["COORDINATOR_LOAD_IN_PROGRESS"] * 3 + [None]
    assert len(kafka.sent("FindCoordinator")) == 1
    assert kafka.ask() == 1


@pytest.mark.parametrize("error", ["NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE"])
def test_commit_sync_looks_for_the_coordinator_again(cluster, error):
    """Behaviour 2: find the coordinator, send again; what is retried is the same commit."""
    kafka = cluster(faults=answers(error))
    kafka.send("a")
    consumer = kafka.member()
    kafka.read(consumer, 1)
    consumer.commit_sync()
    sent = kafka.sim.trace.where(kind="send", node="c1", api=["FindCoordinator", "OffsetCommit"])
    assert [event.api for event in sent] == [
        "FindCoordinator",
        "OffsetCommit",
        "FindCoordinator",
        "OffsetCommit",
    ]
    assert (kafka.ask(), kafka.commits()[-1][1:]) == (1, (1, "sync", None))


@pytest.mark.parametrize("profile", ["0.10.1", "1.0"])
def test_before_2_0_commit_sync_waits_without_bound(cluster, profile):
    """Behaviour 2: two minutes without a broker are waited for, and the commit is done."""
    kafka = cluster(profile)
    kafka.send("a")
    consumer = kafka.member()
    kafka.read(consumer, 1)
    before_ms = kafka.sim.now_ms
    kafka.lose_all_brokers(120_000)
    consumer.commit_sync()
    assert 120_000 < kafka.sim.now_ms - before_ms < 122_000
    assert kafka.ask() == 1


@pytest.mark.parametrize("profile", ["2.3", "4.0"])
@pytest.mark.parametrize(("config", "bound_ms"), [({}, 60_000), ({"default_api_timeout_ms": 5}, 5)])
def test_from_2_0_default_api_timeout_bounds_commit_sync(cluster, profile, config, bound_ms):
    """Behaviour 2: a KafkaTimeoutError says so; the application may try again later."""
    kafka = cluster(profile)
    kafka.send("a")
    consumer = kafka.member(**config)
    kafka.read(consumer, 1)
    before_ms = kafka.sim.now_ms
    kafka.lose_all_brokers(100_000)
    with pytest.raises(KafkaTimeoutError, match=rf"the commit was not done within {bound_ms:,} ms"):
        consumer.commit_sync()
    assert kafka.sim.now_ms - before_ms == bound_ms
    kafka.sim.run_until(before_ms + 110_000)
    consumer.poll(1_000)
    assert kafka.ask() is None


# Row 3.


@pytest.mark.parametrize(
    "faults",
    [
        answers("COORDINATOR_LOAD_IN_PROGRESS"),
        answers("NOT_COORDINATOR"),
        answers("COORDINATOR_NOT_AVAILABLE"),
        answers("REQUEST_TIMED_OUT"),
        [Drop("OffsetCommit")],
    ],
    ids=lambda faults: getattr(faults[0], "error", "a lost connection"),
)
def test_a_failed_commit_async_is_not_tried_again(cluster, faults):
    """Behaviour 3: the callback gets a RetriableCommitFailedError with its cause, and that is all.

    A second try could arrive after a later commit, and put the older offset in its place.
    """
    kafka = cluster(faults=faults)
    kafka.send("a")
    consumer = kafka.member()
    kafka.read(consumer, 1)
    told = Told(kafka.sim)
    consumer.commit_async(callback=told.callback("first"))
    for _ in range(10):
        consumer.poll(1_000)
    assert told.names == ["first"]
    error = told[0][2]
    assert type(error) is RetriableCommitFailedError
    expected = getattr(faults[0], "error", "NETWORK_EXCEPTION")
    assert error.__cause__.error is Errors.of(expected)
    assert len(kafka.sent("OffsetCommit")) == 1
    assert kafka.ask() is None


def test_a_commit_async_without_coordinator_fails_too(cluster):
    """Behaviour 3: one lookup is tried for it; if that fails, it is not kept for later."""
    kafka = cluster(faults=answers("COORDINATOR_NOT_AVAILABLE", 3, api="FindCoordinator"))
    consumer = kafka.consumer()
    consumer.assign([T0])
    told = Told(kafka.sim)
    consumer.commit_async(next_to_read(1), told.callback("first"))
    consumer.commit_async(next_to_read(2), told.callback("second"))
    for _ in range(10):
        consumer.poll(100)
    assert told.names == ["first", "second"]
    assert {type(error) for *_, error in told} == {RetriableCommitFailedError}
    assert kafka.sent("OffsetCommit") == []


def test_what_makes_no_sense_to_retry_is_told_as_it_is(cluster):
    """Behaviour 3: only what may go well later is wrapped."""
    kafka = cluster(faults=answers("OFFSET_METADATA_TOO_LARGE"))
    consumer = kafka.member()
    told = Told(kafka.sim)
    consumer.commit_async(next_to_read(1), told.callback("first"))
    consumer.poll(10)
    assert told[0][2].error is Errors.OFFSET_METADATA_TOO_LARGE
    assert not isinstance(told[0][2], RetriableCommitFailedError)


# Row 4.


def with_three_async_commits(cluster, profile):
    """Give a member after three commits whose answers are there, and what the callbacks told."""
    kafka = cluster(profile)
    consumer = kafka.member()
    told = Told(kafka.sim)
    for number, name in enumerate(("first", "second", "third"), start=1):
        consumer.commit_async(next_to_read(number), told.callback(name))
    kafka.sim.sleep(2_000)
    return kafka, consumer, told


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_callbacks_run_in_a_later_poll_only(cluster, profile):
    """Behaviour 4: not when the answer comes, but when the application polls, in their order."""
    kafka, consumer, told = with_three_async_commits(cluster, profile)
    assert kafka.ask() == 3
    assert told == []
    polled_ms = kafka.sim.now_ms
    consumer.poll(0)
    consumer.poll(0)
    assert told == [(name, polled_ms, None) for name in ("first", "second", "third")]


@pytest.mark.parametrize("profile", EVERY_PROFILE)
@pytest.mark.parametrize(
    "call",
    [
        lambda consumer: consumer.commit_sync(next_to_read(9)),
        lambda consumer: consumer.commit_async(next_to_read(9)),
    ],
    ids=["commit_sync", "commit_async"],
)
def test_callbacks_run_in_a_later_commit(cluster, profile, call):
    """Behaviour 4: these calls run them as a poll does; others do not."""
    _, consumer, told = with_three_async_commits(cluster, profile)
    consumer.committed(T0)
    consumer.position(T0)
    consumer.seek(T0, 0)
    assert told == []
    call(consumer)
    assert told.names == ["first", "second", "third"]


@pytest.mark.parametrize(("profile", "ran"), [("0.10.1", []), ("1.0", ["async"])])
def test_a_sync_commit_waits_for_the_callbacks_before_it(cluster, profile, ran):
    """Behaviour 4: from 1.0 (KAFKA-5730) commit_sync returns after an earlier commit's callback.

    Before, the offsets were applied in order and told in the other.
    """
    kafka = cluster(profile)
    consumer = kafka.member()
    told = Told(kafka.sim)
    consumer.commit_async(next_to_read(1), told.callback("async"))
    consumer.commit_sync(next_to_read(2))
    assert told.names == ran
    assert [commit[1:] for commit in kafka.commits()] == [(1, "async", None), (2, "sync", None)]
    consumer.poll(0)
    assert told.names == ["async"]


@pytest.mark.parametrize(
    ("profile", "ran"), [("1.0", []), ("2.4", []), ("4.0", ["first", "second"])]
)
def test_a_sync_commit_of_nothing_waits_for_the_callbacks_before_it(cluster, profile, ran):
    """Behaviour 4: from 3.6 (KAFKA-10337) also commit_sync({}) does, up to its timeout."""
    kafka = cluster(profile)
    consumer = kafka.member()
    told = Told(kafka.sim)
    consumer.commit_async(next_to_read(1), told.callback("first"))
    consumer.commit_async(next_to_read(2), told.callback("second"))
    consumer.commit_sync({})
    assert told.names == ran
    consumer.poll(10)
    assert told.names == ["first", "second"]
    before_ms = kafka.sim.now_ms
    consumer.commit_sync({})  # there is none on its way any more
    assert kafka.sim.now_ms == before_ms


def test_a_sync_commit_of_nothing_waits_for_default_api_timeout_at_most(cluster):
    """Behaviour 4: a KafkaTimeoutError says that asynchronous commits are not over."""
    kafka = cluster("4.0", faults=[Delay("OffsetCommit", by_ms=9_000)])
    consumer = kafka.member(default_api_timeout_ms=1_500)
    told = Told(kafka.sim)
    consumer.commit_async(next_to_read(1), told.callback("first"))
    before_ms = kafka.sim.now_ms
    with pytest.raises(KafkaTimeoutError):
        consumer.commit_sync({})
    assert (told, kafka.sim.now_ms - before_ms) == ([], 1_500)


# Row 6.


def auto(**config):
    """Give the settings of a consumer that commits by itself."""
    return {"enable_auto_commit": True, **config}


def test_a_poll_commits_positions_when_it_is_time(cluster):
    """Behaviour 6: auto.commit.interval.ms after the join, and again from each commit on."""
    kafka = cluster()
    consumer = kafka.member(**auto())
    kafka.send("a", "b")
    (assigned,) = kafka.sim.trace.where(kind="assigned")
    kafka.read(consumer, 2)
    for _ in range(12):
        consumer.poll(1_000)
    due_ms = assigned.time_ms + 5_000
    assert kafka.sent("OffsetCommit") == [due_ms, due_ms + 5_000]
    assert [commit[1:] for commit in kafka.commits()] == [(2, "auto", None)] * 2


def test_nothing_is_committed_while_nobody_polls(cluster):
    """Behaviour 6: the deadline is looked at in a poll only; the next one begins at that poll."""
    kafka = cluster()
    kafka.send("a", "b")
    consumer = kafka.member(**auto())
    kafka.read(consumer, 2)
    kafka.sim.sleep(20_000)
    assert kafka.sent("OffsetCommit") == []
    late_ms = kafka.sim.now_ms
    for _ in range(6):
        consumer.poll(1_000)
    assert kafka.sent("OffsetCommit") == [late_ms, late_ms + 5_000]


def test_an_automatic_commit_is_of_what_earlier_polls_returned(cluster):
    """Behaviour 6: what the same poll returns is not in it, although it is there already."""
    kafka = cluster()
    kafka.send("a", "b", "c")
    consumer = kafka.member(**auto(max_poll_records=2))
    assert kafka.read(consumer, 1) == ["a", "b"]
    kafka.sim.sleep(6_000)
    assert kafka.read(consumer, 1) == ["c"]
    consumer.poll(10)
    assert [commit[1:] for commit in kafka.commits()] == [(2, "auto", None)]


def test_a_failure_to_retry_pulls_the_deadline_in(cluster):
    """Behaviour 6: the next try is retry.backoff.ms after the poll that hears of the failure."""
    kafka = cluster(faults=answers("COORDINATOR_LOAD_IN_PROGRESS"))
    kafka.send("a")
    consumer = kafka.member(**auto())
    kafka.read(consumer, 1)
    for _ in range(6):
        consumer.poll(1_000)
    failed_ms, stored_ms = kafka.sent("OffsetCommit")
    heard_ms = failed_ms + 2
    assert stored_ms == heard_ms + 100
    assert [error for *_, error in kafka.commits()] == ["COORDINATOR_LOAD_IN_PROGRESS", None]
    assert len([text for text in kafka.logged() if "the automatic commit failed" in text]) == 1


def test_a_failure_for_good_waits_for_the_next_interval(cluster):
    """Behaviour 6: another try so soon would fail as well."""
    kafka = cluster(faults=answers("OFFSET_METADATA_TOO_LARGE"))
    kafka.send("a")
    consumer = kafka.member(**auto())
    kafka.read(consumer, 1)
    for _ in range(11):
        consumer.poll(1_000)
    failed_ms, stored_ms = kafka.sent("OffsetCommit")
    assert stored_ms == failed_ms + 5_000


def test_the_deadline_restarts_after_a_rebalance(cluster):
    """Behaviour 6: the interval is counted from when the partitions came."""
    kafka = cluster(partitions=2)
    consumer = kafka.member(**auto(auto_commit_interval_ms=10_000))
    kafka.poller("c2")
    for _ in range(30):
        consumer.poll(500)
    *_, again = kafka.sim.trace.where(kind="assigned", node="c1")
    kafka.send("a")
    sent = [time_ms for time_ms in kafka.sent("OffsetCommit") if time_ms > again.time_ms]
    assert sent[0] == again.time_ms + 10_000


# Row 7.


def test_a_crash_while_processing_repeats_and_loses_nothing(cluster):
    """Behaviour 7: there is no commit in the background; a crash delivers the last batch again."""
    kafka = cluster()
    kafka.send(*"abcdef")
    sink = kafka.sim.sink("db")

    def run():
        consumer = kafka.member("c1", **auto(max_poll_records=3))
        while True:
            for record in consumer.poll(1_000):
                sink.write(record)
                kafka.sim.sleep(2_000)

    kafka.sim.spawn(run, node="c1")
    kafka.sim.run_until(13_000)
    kafka.sim.crash("c1")
    done = [record.value for record in sink]
    assert done == ["a", "b", "c", "d", "e"]
    assert kafka.ask() == 3
    assert kafka.read(kafka.member("c2"), 3) == ["d", "e", "f"]


def test_polling_on_after_an_error_loses_what_was_not_processed(cluster):
    """Behaviour 7: the next poll takes the whole last batch for done, and may commit it."""
    kafka = cluster()
    kafka.send("a", "b", "c")
    consumer = kafka.member("c1", **auto())
    assert kafka.read(consumer, 3) == ["a", "b", "c"]
    kafka.sim.sleep(6_000)  # processing failed at a, and the error is swallowed
    consumer.poll(10)
    kafka.sim.crash("c1")
    assert kafka.ask() == 3
    assert kafka.read(kafka.member("c2"), 1) == []


# Row 8.


def test_a_close_commits_what_was_never_processed(cluster):
    """Behaviour 8: close() in a finally commits the last batch although processing raised."""
    kafka = cluster()
    kafka.send("a", "b", "c")
    sink = kafka.sim.sink("db")
    consumer = kafka.member("c1", **auto())

    def run():
        try:
            for record in consumer.poll(1_000):
                if record.value == "b":
                    raise ZeroDivisionError
                sink.write(record)
        finally:
            consumer.close()

    with pytest.raises(ZeroDivisionError):
        run()
    assert [record.value for record in sink] == ["a"]
    assert kafka.ask() == 3
    assert kafka.read(kafka.member("c2"), 1) == []


def test_a_close_commits_before_it_leaves(cluster):
    """Behaviour 8: it waits for the commit's answer, so that the group still knows the member."""
    kafka = cluster()
    kafka.send("a")
    consumer = kafka.member(**auto())
    kafka.read(consumer, 1)
    closed_ms = kafka.sim.now_ms
    consumer.close()
    assert kafka.commits() == [(closed_ms + 2, 1, "auto", None)]
    assert kafka.sent("LeaveGroup") == [closed_ms + 2]


class Watching(ConsumerRebalanceListener):
    """Notes what is committed at each call."""

    def __init__(self, kafka):
        self.kafka = kafka
        self.calls = []

    def on_partitions_revoked(self, partitions):
        if partitions:
            self.calls.append(("revoked", self.kafka.ask()))

    def on_partitions_assigned(self, partitions):
        self.calls.append(("assigned", self.kafka.ask()))


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_rejoin_commits_before_the_listener_is_told(cluster, profile):
    """Behaviour 8: the commit is over when on_partitions_revoked is called."""
    kafka = cluster(profile, partitions=2)
    kafka.send("a", "b")
    watching = Watching(kafka)
    consumer = kafka.member("c1", listener=watching, **auto(auto_commit_interval_ms=60_000))
    kafka.read(consumer, 2)
    kafka.poller("c2")
    for _ in range(10):
        consumer.poll(1_000)
    assert watching.calls == [("assigned", None), ("revoked", 2), ("assigned", 2)]
    assert len(consumer.assignment()) == 1


def test_a_failed_commit_before_a_rejoin_is_only_logged(cluster):
    """Behaviour 8: the member rejoins all the same, and reads again what was not committed."""
    kafka = cluster(faults=answers("OFFSET_METADATA_TOO_LARGE"), partitions=2)
    kafka.send("a", "b")
    consumer = kafka.member("c1", **auto(auto_commit_interval_ms=60_000))
    kafka.read(consumer, 2)
    kafka.poller("c2")
    again = kafka.read(consumer, 2)
    (text,) = kafka.logged()
    assert text.startswith("the automatic commit failed")
    assert again == ["a", "b"]


def test_a_close_goes_on_after_a_failed_commit(cluster):
    """Behaviour 8: the error is only logged, and the member leaves."""
    kafka = cluster(faults=answers("OFFSET_METADATA_TOO_LARGE"))
    kafka.send("a")
    consumer = kafka.member(**auto())
    kafka.read(consumer, 1)
    consumer.close()
    assert len(kafka.logged()) == 1
    assert len(kafka.sent("LeaveGroup")) == 1
    assert kafka.ask() is None


# Row 16, B2, C2 and C9: a consumer that uses assign() is no member.


def stand_alone(kafka, name="alone", **config):
    """Make a consumer that reads t-0 beside any group."""
    consumer = kafka.consumer(name, **config)
    consumer.assign([T0])
    return consumer


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_assign_commits_with_generation_minus_one(cluster, profile):
    """Behaviour 16: it names no member; no group and an Empty one take that."""
    kafka = cluster(profile)
    alone = stand_alone(kafka)
    alone.commit_sync(next_to_read(1))
    assert kafka.ask() == 1
    member = kafka.member()
    member.close()
    alone.commit_sync(next_to_read(2))
    assert kafka.ask() == 2
    events = kafka.sim.trace.where(kind="commit", node="alone")
    assert [(each.generation, each.member_id) for each in events] == [(-1, None)] * 2
    assert kafka.sent("JoinGroup", "alone") == kafka.sent("Heartbeat", "alone") == []


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_assign_is_refused_in_a_live_group(cluster, profile):
    """Behaviour 16: in a group with members it is an unknown one, and stores nothing."""
    kafka = cluster(profile)
    kafka.poller("c1")
    kafka.sim.sleep(4_000)
    alone = stand_alone(kafka)
    with pytest.raises(CommitFailedError, match=r"uses assign\(\) with the group id") as refused:
        alone.commit_sync(next_to_read(1))
    assert refused.value.error is Errors.UNKNOWN_MEMBER_ID
    told = Told(kafka.sim)
    alone.commit_async(next_to_read(1), told.callback("async"))
    alone.poll(100)
    alone.poll(0)
    assert [type(error) for *_, error in told] == [CommitFailedError]
    assert kafka.ask() is None


def test_assign_in_a_live_group_only_logs_automatic_commits(cluster):
    """Behaviour 16: it goes on reading, and its progress is never stored."""
    kafka = cluster()
    kafka.poller("c1")
    kafka.sim.sleep(4_000)
    kafka.send("a")
    alone = stand_alone(kafka, **auto())
    assert kafka.read(alone, 1) == ["a"]
    for _ in range(6):
        alone.poll(1_000)
    # The first is early, as the first poll did not know the coordinator yet.
    refused = (1, "auto", "UNKNOWN_MEMBER_ID")
    assert [commit[1:] for commit in kafka.commits("alone")] == [refused, refused]
    texts = kafka.logged("alone")
    assert len(texts) == 2
    assert all(text.startswith("the automatic commit failed: the commit") for text in texts)
    assert kafka.ask() is None


class Slow(AbstractPartitionAssignor):
    """Takes its time between join and sync, then gives t-0 to the first member."""

    name = "slow"

    def __init__(self, sim, ms):
        self.sim = sim
        self.ms = ms

    def assign(self, partitions_per_topic, subscriptions):
        self.sim.sleep(self.ms)
        return {member: [T0] if member == min(subscriptions) else [] for member in subscriptions}


STATE_FIRST = ["0.10.1", "1.0", "2.3"]  # between join and sync, who asks does not matter


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_stand_alone_commit_in_each_state(cluster, profile):
    """Behaviour B2: taken without a group and in an Empty one, else the member is unknown.

    Behaviour C2 is that up to 2.3 the state between join and sync comes before the membership.
    """
    kafka = cluster(profile)
    alone = stand_alone(kafka)
    alone.commit_sync(next_to_read(1))
    assert kafka.ask() == 1
    answers = {}
    kafka.poller("c1", partition_assignment_strategy=[Slow(kafka.sim, 2_000)])
    for state in ("AwaitingSync", "Stable"):
        kafka.await_state(state)
        with pytest.raises(CommitFailedError) as refused:
            alone.commit_sync(next_to_read(2))
        answers[state] = refused.value.error.name
    kafka.sim.crash("c1")
    kafka.await_state("Empty")
    assert kafka.ask() == 1
    alone.commit_sync(next_to_read(3))
    assert kafka.ask() == 3
    between = "REBALANCE_IN_PROGRESS" if profile in STATE_FIRST else "UNKNOWN_MEMBER_ID"
    assert answers == {"AwaitingSync": between, "Stable": "UNKNOWN_MEMBER_ID"}


@pytest.mark.parametrize("profile", STATE_FIRST)
def test_between_join_and_sync_everybody_hears_of_the_rebalance(cluster, profile):
    """Behaviour C2: REBALANCE_IN_PROGRESS even for generation -1, up to 2.3; nothing is stored."""
    kafka = cluster(profile)
    kafka.poller("c1", partition_assignment_strategy=[Slow(kafka.sim, 2_000)])
    kafka.await_state("AwaitingSync")
    told = Told(kafka.sim)
    alone = stand_alone(kafka)
    alone.commit_async(next_to_read(1), told.callback("alone"))
    alone.poll(100)
    alone.poll(0)
    assert [error.error.name for *_, error in told] == ["REBALANCE_IN_PROGRESS"]
    assert kafka.ask() is None


# Row 17: what a member does with each answer.


def deaf(count=600):
    """Let no heartbeat count; the client goes on, and the broker misses it."""
    return answers("COORDINATOR_LOAD_IN_PROGRESS", count, api="Heartbeat")


@pytest.mark.parametrize(
    ("profile", "error", "keeps"),
    [(profile, "UNKNOWN_MEMBER_ID", False) for profile in EVERY_PROFILE]
    + [(profile, "ILLEGAL_GENERATION", profile == "4.0") for profile in EVERY_PROFILE]
    + [(profile, "REBALANCE_IN_PROGRESS", False) for profile in STATE_FIRST]
    + [("2.4", "REBALANCE_IN_PROGRESS", True)],
)
def test_a_member_that_is_out_joins_again(cluster, profile, error, keeps):
    """Behaviour 17: each is a CommitFailedError, and the next poll joins, as a new member.

    From 2.4 a member keeps its id and generation when all it hears is REBALANCE_IN_PROGRESS; since
    3.2 (KAFKA-13419) its id when it hears ILLEGAL_GENERATION.
    """
    kafka = cluster(profile, faults=answers(error))
    kafka.send("a")
    consumer = kafka.member()
    kafka.read(consumer, 1)
    (assigned,) = kafka.sim.trace.where(kind="assigned")
    with pytest.raises(CommitFailedError) as refused:
        consumer.commit_sync()
    assert refused.value.error is Errors.of(error)
    assert len(kafka.sent("OffsetCommit")) == 1
    before = len(kafka.sim.trace)
    consumer.poll_once(0)
    join = next(each for each in kafka.sim.trace[before:] if each.api == "JoinGroup")
    assert join.member_id == (assigned.member_id if keeps else None)


@pytest.mark.parametrize(
    ("profile", "error"), [("1.0", "UNKNOWN_MEMBER_ID"), ("2.3", "COORDINATOR_NOT_AVAILABLE")]
)
def test_a_dead_group_answers_by_release(cluster, profile, error):
    """Behaviour 17: from 2.3 the answer of a Dead group is one to retry, and the commit is done."""
    kafka = cluster(profile, faults=answers(error))
    consumer = kafka.member()
    if profile == "1.0":
        with pytest.raises(CommitFailedError):
            consumer.commit_sync(next_to_read(1))
        assert kafka.ask() is None
    else:
        consumer.commit_sync(next_to_read(1))
        assert kafka.ask() == 1


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_commit_counts_as_a_heartbeat(cluster, profile):
    """Behaviour 17: whose heartbeats get lost stays a member as long as it commits."""
    kafka = cluster(profile, faults=deaf())
    consumer = kafka.member(session_timeout_ms=10_000)
    for offset in range(1, 8):
        kafka.sim.sleep(4_000)
        consumer.commit_sync(next_to_read(offset))
    removed = kafka.sim.trace.where(kind="member_removed")
    assert list(removed) == []
    *_, stored = kafka.sim.trace.where(kind="offset_stored")
    kafka.sim.run_until(stored.time_ms + 9_999)
    assert list(kafka.sim.trace.where(kind="member_removed")) == []
    kafka.sim.sleep(2)
    assert len(kafka.sim.trace.where(kind="member_removed")) == 1


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_member_commits_with_its_old_generation_while_others_join(cluster, profile):
    """Behaviour C3: PreparingRebalance takes commits, and they and heartbeats keep it a member."""
    kafka = cluster(profile)
    kafka.send("a")
    consumer = kafka.member("c1", session_timeout_ms=10_000)
    assert kafka.read(consumer, 1) == ["a"]
    (assigned,) = kafka.sim.trace.where(kind="assigned")
    kafka.poller("c2")
    kafka.await_state("PreparingRebalance")
    kafka.sim.sleep(60_000)  # c1 is busy with its record
    consumer.commit_sync()
    assert kafka.ask() == 1
    (commit,) = kafka.sim.trace.where(kind="commit", node="c1")
    assert (commit.generation, commit.error) == (1, None)
    assert list(kafka.sim.trace.where(kind="member_removed", member_id=assigned.member_id)) == []
    consumer.poll(1_000)
    *_, again = kafka.sim.trace.where(kind="assigned", node="c1")
    assert (again.member_id, again.generation) == (assigned.member_id, 2)


@pytest.mark.parametrize("profile", EVERY_PROFILE)
@pytest.mark.parametrize(
    ("check_ms", "error"), [(600_000, "UNKNOWN_MEMBER_ID"), (1_000, "ILLEGAL_GENERATION")]
)
def test_a_member_that_its_group_forgot(cluster, profile, check_ms, error):
    """Behaviour C9: an Empty group does not know it; one that is gone has no such generation."""
    kafka = cluster(profile, faults=deaf(), offsets_retention_check_interval_ms=check_ms)
    consumer = kafka.member(session_timeout_ms=10_000)
    kafka.sim.sleep(15_000)
    with pytest.raises(CommitFailedError) as refused:
        consumer.commit_sync(next_to_read(1))
    assert refused.value.error is Errors.of(error)
    assert kafka.ask() is None


def test_a_leader_that_dies_between_join_and_sync(cluster):
    """Behaviour C1: its session ends, those who wait hear of the rebalance, and join without it."""
    kafka = cluster(partitions=2)
    kafka.poller("c1", partition_assignment_strategy=[Slow(kafka.sim, 5_000)])
    kafka.sim.sleep(1_000)
    kafka.poller("c2", partition_assignment_strategy=[Slow(kafka.sim, 0)])
    kafka.await_state("AwaitingSync")
    *_, awaiting = kafka.sim.trace.where(kind="group_state")
    kafka.sim.crash("c1")
    kafka.await_state("Stable")
    (removed,) = kafka.sim.trace.where(kind="member_removed")
    assert removed.time_ms == awaiting.time_ms + 10_000
    syncs = kafka.sim.trace.where(kind="response", node="c2", api="SyncGroup")
    assert [(each.time_ms, each.error) for each in syncs][:1] == [
        (removed.time_ms + 1, "REBALANCE_IN_PROGRESS")
    ]
    assert [each.node for each in kafka.sim.trace.where(kind="assigned")] == ["c2"]


# Row 19.


def after_a_long_pause(cluster):
    """Let more than max.poll.interval.ms pass between two polls."""
    kafka = cluster()
    consumer = kafka.member(max_poll_interval_ms=10_000)
    kafka.sim.sleep(20_000)
    return consumer


def after_a_lost_session(cluster):
    """Let the session end although the application polls in time."""
    kafka = cluster(faults=deaf())
    consumer = kafka.member()
    kafka.sim.sleep(15_000)
    return consumer


def beside_a_live_group(cluster):
    """Use assign() with the group id of others."""
    kafka = cluster()
    kafka.poller("c1")
    kafka.sim.sleep(5_000)
    return stand_alone(kafka)


@pytest.mark.parametrize(
    ("cause", "error"),
    [
        (after_a_long_pause, "NONE"),
        (after_a_lost_session, "UNKNOWN_MEMBER_ID"),
        (beside_a_live_group, "UNKNOWN_MEMBER_ID"),
    ],
)
def test_one_text_for_every_way_out_of_the_group(cluster, cause, error):
    """Behaviour 19: the text is the same whatever the cause, so it names all of them."""
    consumer = cause(cluster)
    with pytest.raises(CommitFailedError) as refused:
        consumer.commit_sync(next_to_read(1))
    assert str(refused.value) == (
        "the commit cannot be done: this consumer is no active member of the group, and others may "
        "have its partitions. Either more than max.poll.interval.ms passed between two polls, or "
        "the session ended, or this consumer uses assign() with the group id of a live group. Poll "
        "to join again; against the first, process fewer records a poll (max.poll.records) or "
        "allow more time"
    )
    assert refused.value.error is Errors.of(error)
