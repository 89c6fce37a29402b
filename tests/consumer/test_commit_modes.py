"""The ways to commit, as an application meets them; the documents' own loops run as written."""

from datetime import timedelta

import pytest

from kafkalearn.engine import AnswerWithError
from kafkalearn.errors import (
    CommitFailedError,
    Errors,
    FencedInstanceIdError,
    KafkaError,
    KafkaTimeoutError,
    OffsetMetadataTooLargeError,
    RebalanceInProgressError,
    RetriableCommitFailedError,
    WakeupError,
)
from kafkalearn.records import OffsetAndMetadata, TopicPartition
from tests.consumer.members import loading

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
STATIC_PROFILES = ["2.3", "2.4", "4.0"]


def next_to_read(offset, partition=T0):
    """Give what a commit of one partition takes."""
    return {partition: OffsetAndMetadata(offset)}


# Given offsets.


def test_only_the_given_partitions_are_committed(cluster):
    """Each with its note; what else was read stays as it was."""
    kafka = cluster(partitions=2)
    kafka.send("a", "b")
    kafka.send("x", partition=1)
    consumer = kafka.member()
    kafka.read(consumer, 3)
    consumer.commit_sync({T0: OffsetAndMetadata(1, "half of it")})
    assert consumer.committed(T0) == OffsetAndMetadata(1, "half of it")
    assert (kafka.ask(T0), kafka.ask(T1)) == (1, None)
    consumer.commit_async(next_to_read(1, T1))
    consumer.poll(10)
    assert (kafka.ask(T0), kafka.ask(T1)) == (1, 1)


def test_given_offsets_may_go_back_and_move_no_position(cluster):
    """Nobody checks whether they were read, and nothing is read again before a restart."""
    kafka = cluster()
    kafka.send("a", "b")
    consumer = kafka.member()
    kafka.read(consumer, 2)
    consumer.commit_sync()
    consumer.commit_sync(next_to_read(0))
    assert (kafka.ask(), consumer.position(T0)) == (0, 2)
    assert kafka.read(consumer, 1) == []
    consumer.commit_sync(next_to_read(1_000))
    assert kafka.ask() == 1_000


@pytest.mark.parametrize("offsets", [None, {}])
def test_nothing_to_commit_sends_nothing(cluster, offsets):
    """A commit of no partition is done at once: the callback still waits for a poll."""
    kafka = cluster()
    consumer = kafka.consumer()
    told = []
    consumer.commit_sync(offsets)
    assert kafka.sim.now_ms == kafka.sim.trace[-1].time_ms
    assert kafka.sent("OffsetCommit") == kafka.sent("FindCoordinator") == []
    consumer.subscribe(["t"])
    consumer.poll(100)
    consumer.commit_async({}, lambda offsets, error: told.append((offsets, error)))
    assert told == []
    consumer.poll(0)
    assert told == [({}, None)]
    assert kafka.sent("OffsetCommit") == []


@pytest.mark.parametrize(("profile", "asks"), [("1.0", 1), ("2.4", 1), ("4.0", 0)])
def test_an_asynchronous_commit_of_nothing_needs_no_coordinator(cluster, profile, asks):
    """Since 3.2; before, it waits until one is known, as any other."""
    kafka = cluster(profile)
    consumer = kafka.consumer()
    consumer.assign([T0])
    told = []
    consumer.commit_async({}, lambda offsets, error: told.append((offsets, error)))
    assert len(kafka.sent("FindCoordinator")) == asks
    assert consumer.coordinator.has_pending_async_commits() is bool(asks)
    while not told:
        consumer.poll(100)
    assert told == [({}, None)]


MISSING = TopicPartition("missing", 3)


@pytest.mark.parametrize("profile", ["0.10.1", "1.0"])
def test_an_offset_of_a_topic_that_does_not_exist(cluster, profile):
    """Up to 1.1 it fails for good, and names the partition."""
    kafka = cluster(profile)
    consumer = kafka.member()
    with pytest.raises(KafkaError, match="topic or partition missing-3 does not exist"):
        consumer.commit_sync(next_to_read(1, MISSING))
    assert len(kafka.sent("OffsetCommit")) == 1


@pytest.mark.parametrize("profile", ["2.3", "2.4", "4.0"])
def test_an_offset_of_a_topic_that_may_still_come(cluster, profile):
    """Since 2.0 its commit is retriable: commit_sync does it again, commit_async says so."""
    kafka = cluster(profile)
    consumer, told = kafka.member(), []
    began = kafka.sim.now_ms
    with pytest.raises(KafkaTimeoutError):
        consumer.commit_sync(next_to_read(1, MISSING), timeout=timedelta(seconds=1))
    assert kafka.sim.now_ms - began == 1_000
    assert len(kafka.sent("OffsetCommit")) > 3
    consumer.commit_async(next_to_read(1, MISSING), lambda _, error: told.append(error))
    consumer.poll(100)
    assert list(map(type, told)) == [RetriableCommitFailedError]


@pytest.mark.parametrize(("profile", "waits"), [("1.0", False), ("2.3", True), ("2.4", True)])
def test_a_deleted_topic_holds_up_who_read_it(cluster, profile, waits):
    """KAFKA-13310: the commit before the join is for a topic that is gone, and is tried again."""
    kafka = cluster(profile, auto_create_topics_enable=False)
    kafka.sim.create_topic("gone")
    kafka.send("a", topic="gone")
    consumer = kafka.consumer(
        enable_auto_commit=True, metadata_max_age_ms=1_000, max_poll_interval_ms=20_000
    )
    consumer.subscribe(["t", "gone"])
    assert kafka.read(consumer, 1) == ["a"]
    kafka.sim.delete_topic("gone")
    longest_ms, began = 0, kafka.sim.now_ms
    while kafka.sim.now_ms < began + 40_000:
        before = kafka.sim.now_ms
        consumer.poll(100)
        longest_ms = max(longest_ms, kafka.sim.now_ms - before)
    assert (longest_ms > 19_000) is waits
    assert consumer.assignment() == [T0]


# Waiting for a coordinator, and being out of the group.


def test_commit_sync_waits_for_the_next_coordinator(cluster):
    """It is retried until another broker has the group, and is stored once, by the same member."""
    kafka = cluster()
    kafka.send("a")
    consumer = kafka.member()
    kafka.read(consumer, 1)
    before_ms = kafka.sim.now_ms
    old = kafka.sim.coordinator_of("g")
    kafka.sim.crash(old)
    consumer.commit_sync()
    new = kafka.sim.coordinator_of("g")
    (stored,) = kafka.sim.trace.where(kind="offset_stored")
    assert new != old
    assert (stored.node, stored.offset, stored.generation) == (new, 1, 1)
    assert 6_000 <= stored.time_ms - before_ms < 6_500
    assert [error for *_, error in kafka.commits()][-1] is None
    assert len(kafka.sim.trace.where(kind="assigned")) == 1


def test_whose_partition_moved_cannot_commit_it(cluster):
    """CommitFailedError, and what the new owner committed stays; the next poll joins again."""
    kafka = cluster()
    kafka.send("a", "b")
    consumer = kafka.member("c1", max_poll_interval_ms=10_000)
    assert kafka.read(consumer, 2) == ["a", "b"]

    def take_over():
        second = kafka.member("c2")
        assert kafka.read(second, 2) == ["a", "b"]
        second.commit_sync()
        while True:
            second.poll(100)

    kafka.sim.spawn(take_over, node="c2")
    kafka.sim.sleep(20_000)  # c1 is busy with its records
    assert kafka.ask() == 2
    with pytest.raises(CommitFailedError):
        consumer.commit_sync(next_to_read(1))
    assert kafka.ask() == 2
    kafka.read(consumer, 1)
    assert len(kafka.sim.trace.where(kind="assigned", node="c1")) == 2


@pytest.mark.parametrize("profile", ["0.10.1", "1.0", "2.3", "2.4", "4.0"])
def test_a_member_that_is_joining_cannot_commit(cluster, profile):
    """After a wakeup() out of a join the commit fails at once, and nobody is asked.

    Since 2.5 the error says that it is a rebalance that will be over.
    """
    kafka = cluster(profile)
    consumer = kafka.member("c1")
    kafka.poller("c2")
    kafka.await_state("PreparingRebalance")
    kafka.sim.create_topic("other")
    consumer.subscribe(["t", "other"])
    kafka.sim.loop.call_at(kafka.sim.now_ms + 1, consumer.wakeup)
    with pytest.raises(WakeupError):
        consumer.poll(1_000)
    with pytest.raises((CommitFailedError, RebalanceInProgressError)) as refused:
        consumer.commit_sync(next_to_read(1))
    if profile == "4.0":
        assert str(refused.value) == (
            "the commit cannot be done while the group rebalances: poll until the rebalance is "
            "over, and commit then what is still assigned"
        )
    else:
        assert refused.value.error is Errors.NONE
    assert kafka.sent("OffsetCommit") == []
    consumer.poll_once(0)
    consumer.commit_sync(next_to_read(1))
    assert kafka.ask() == 1


def test_a_wakeup_ends_commit_sync(cluster):
    """WakeupError; the commit is on its way all the same, so that it may be stored."""
    kafka = cluster()
    consumer = kafka.member()

    def wake():
        kafka.sim.sleep(1)
        consumer.wakeup()

    kafka.sim.spawn(wake, node="c1")
    with pytest.raises(WakeupError):
        consumer.commit_sync(next_to_read(1))
    kafka.sim.sleep(1)
    assert kafka.ask() == 1


def test_a_note_that_is_too_long_is_refused_for_good(cluster):
    """The broker takes 4096 bytes; it makes no sense to send it again."""
    kafka = cluster()
    consumer = kafka.member()
    consumer.commit_sync({T0: OffsetAndMetadata(1, "x" * 4_096)})
    with pytest.raises(OffsetMetadataTooLargeError):
        consumer.commit_sync({T0: OffsetAndMetadata(2, "x" * 4_097)})
    assert len(kafka.sent("OffsetCommit")) == 2
    assert kafka.ask() == 1


# Asynchronous commits.


def test_a_callback_is_told_what_was_committed(cluster):
    """Its offsets are those of the call, also when more was read since."""
    kafka = cluster()
    kafka.send("a", "b")
    consumer = kafka.member(max_poll_records=1)
    told = []
    kafka.read(consumer, 1)
    consumer.commit_async(callback=lambda offsets, error: told.append((offsets, error)))
    kafka.read(consumer, 1)
    consumer.poll(100)
    assert told == [(next_to_read(1), None)]


def test_callbacks_run_in_the_order_of_the_answers(cluster):
    """A failure keeps its place among the successes."""
    fault = AnswerWithError("OffsetCommit", "COORDINATOR_LOAD_IN_PROGRESS", nth=2)
    kafka = cluster(faults=[fault])
    consumer = kafka.member()
    told = []
    for offset in (1, 2, 3):
        consumer.commit_async(
            next_to_read(offset),
            lambda offsets, error: told.append((offsets[T0].offset, type(error))),
        )
    consumer.poll(100)
    consumer.poll(0)
    nothing = type(None)
    assert told == [(1, nothing), (2, RetriableCommitFailedError), (3, nothing)]
    assert len(kafka.sent("OffsetCommit")) == 3


def test_a_callback_that_raises_ends_the_poll_and_no_other_callback(cluster):
    """The application gets it out of its poll; the callbacks behind it run in the next."""
    kafka = cluster()
    kafka.send("a")
    consumer = kafka.member()
    told = []

    def fail(offsets, error):
        raise ZeroDivisionError("in the callback")

    consumer.commit_async(next_to_read(1), fail)
    consumer.commit_async(next_to_read(2), lambda offsets, error: told.append(offsets))
    kafka.sim.sleep(1_000)
    with pytest.raises(ZeroDivisionError, match="in the callback"):
        consumer.poll(1_000)
    assert told == []
    assert kafka.read(consumer, 1) == ["a"]
    assert told == [next_to_read(2)]
    assert kafka.ask() == 2


@pytest.mark.parametrize("profile", ["1.0", "4.0"])
def test_a_callback_that_raises_in_a_close_that_commits_reaches_the_caller(cluster, profile):
    """Kafka would log it as the commit's failure; the consumer leaves and closes all the same."""
    kafka = cluster(profile)
    kafka.send("a")
    consumer = kafka.member(**auto())
    assert kafka.read(consumer, 1) == ["a"]

    def fail(offsets, error):
        raise ValueError("the application's")

    consumer.commit_async(next_to_read(0), fail)
    kafka.sim.sleep(100)
    consumer.end_offsets([T0])  # lets the answer in
    with pytest.raises(ValueError, match="the application's"):
        consumer.close()
    assert len(kafka.sent("LeaveGroup")) == 1
    assert consumer.is_closed


def test_a_callback_may_commit(cluster):
    """It runs in the application's process, so that it may use the consumer."""
    kafka = cluster()
    consumer = kafka.member()
    consumer.commit_async(
        next_to_read(1), lambda offsets, error: consumer.commit_sync(next_to_read(2))
    )
    consumer.poll(100)
    consumer.poll(0)
    assert [commit[1:] for commit in kafka.commits()] == [(1, "async", None), (2, "sync", None)]


def test_without_a_callback_a_failure_is_logged(cluster):
    """Nobody else would ever know."""
    kafka = cluster(faults=[AnswerWithError("OffsetCommit", "NOT_COORDINATOR")])
    consumer = kafka.member()
    consumer.commit_async(next_to_read(1))
    consumer.poll(100)
    consumer.poll(0)
    (text,) = kafka.logged()
    assert text.startswith("an asynchronous commit failed: the commit failed, and a later one may")


@pytest.mark.parametrize(("knows_sequence", "committed"), [(False, 1), (True, 2)])
def test_why_an_asynchronous_commit_is_not_tried_again(cluster, knows_sequence, committed):
    """A retry puts the older offset over the newer one, unless it knows that it was overtaken."""
    kafka = cluster(faults=[AnswerWithError("OffsetCommit", "COORDINATOR_LOAD_IN_PROGRESS")])
    consumer = kafka.member()
    latest = []

    def commit(offset):
        latest.append(offset)
        mine = len(latest)

        def on_complete(offsets, error):
            overtaken = len(latest) > mine
            if error is not None and not (knows_sequence and overtaken):
                consumer.commit_async(offsets)

        consumer.commit_async(next_to_read(offset), on_complete)

    commit(1)
    commit(2)
    consumer.poll(100)
    consumer.poll(100)
    assert kafka.ask() == committed


# A static member whose place another took (2.3).


def fenced(cluster, profile):
    """Give a member with an instance id that a second consumer has taken meanwhile.

    Heartbeats are rare, so that it is a commit that hears of it.
    """
    kafka = cluster(profile)
    static = {"group_instance_id": "one", "session_timeout_ms": 30_000}
    consumer = kafka.member("c1", heartbeat_interval_ms=29_000, **static)
    kafka.poller("c2", **static)
    kafka.sim.sleep(1_000)
    return kafka, consumer


@pytest.mark.parametrize("profile", STATIC_PROFILES)
def test_a_fenced_member_cannot_commit(cluster, profile):
    """FencedInstanceIdError, which is not for retrying."""
    kafka, consumer = fenced(cluster, profile)
    with pytest.raises(FencedInstanceIdError):
        consumer.commit_sync(next_to_read(1))
    assert len(kafka.sent("OffsetCommit")) == 1
    assert kafka.ask() is None


@pytest.mark.parametrize("profile", STATIC_PROFILES)
@pytest.mark.parametrize(
    "call",
    [
        lambda consumer: consumer.poll(100),
        lambda consumer: consumer.commit_sync(next_to_read(2)),
        lambda consumer: consumer.commit_async(next_to_read(2)),
    ],
    ids=["poll", "commit_sync", "commit_async"],
)
def test_a_fenced_asynchronous_commit_lets_the_next_call_raise(cluster, profile, call):
    """That call, and each after it, so that nobody can overlook it; no callback is run."""
    kafka, consumer = fenced(cluster, profile)
    told = []
    consumer.commit_async(next_to_read(1), lambda offsets, error: told.append(error))
    kafka.sim.sleep(100)
    consumer.end_offsets([T0])  # lets the answer in
    for _ in range(2):
        with pytest.raises(FencedInstanceIdError, match="another consumer has"):
            call(consumer)
    assert told == []
    assert len(kafka.sent("OffsetCommit")) == 1


# Automatic commits.


def auto(**config):
    """Give the settings of a consumer that commits by itself."""
    return {"enable_auto_commit": True, **config}


def test_assign_commits_what_it_replaces(cluster):
    """There is no rebalance that would do it."""
    kafka = cluster(partitions=2)
    kafka.send("a", "b")
    consumer = kafka.consumer(**auto())
    consumer.assign([T0])
    assert kafka.read(consumer, 2) == ["a", "b"]
    consumer.assign([T1])
    consumer.poll(10)
    assert kafka.ask() == 2


@pytest.mark.parametrize("profile", ["2.3", "2.4", "4.0"])
@pytest.mark.parametrize(("waits_ms", "committed"), [(0, None), (5_000, 2)])
def test_from_1_1_assign_commits_only_when_it_is_time(cluster, profile, waits_ms, committed):
    """Before auto.commit.interval.ms is over nothing is sent (KAFKA-6362)."""
    kafka = cluster(profile, partitions=2)
    kafka.send("a", "b")
    consumer = kafka.consumer(**auto())
    consumer.assign([T0])
    assert kafka.read(consumer, 2) == ["a", "b"]
    kafka.sim.sleep(waits_ms)
    consumer.assign([T1])
    consumer.poll(1_000)
    assert kafka.ask() == committed


def test_unsubscribe_commits_nothing(cluster):
    """Unlike close(), it leaves at once, and the batch is read again."""
    kafka = cluster()
    kafka.send("a")
    consumer = kafka.member(**auto())
    kafka.read(consumer, 1)
    consumer.unsubscribe()
    assert kafka.sent("OffsetCommit") == []
    assert kafka.read(kafka.member("c2"), 1) == ["a"]


@pytest.mark.parametrize(("automatic", "committed"), [(True, 1), (False, None)])
def test_close_commits_only_if_that_is_automatic(cluster, automatic, committed):
    """Who commits by hand does so before close()."""
    kafka = cluster()
    kafka.send("a")
    consumer = kafka.member(enable_auto_commit=automatic)
    kafka.read(consumer, 1)
    consumer.close()
    assert kafka.ask() == committed


def test_a_close_without_coordinator_ends_in_its_time(cluster):
    """It tries to commit until its timeout, then the consumer is closed all the same."""
    kafka = cluster()
    kafka.send("a")
    consumer = kafka.member(**auto())
    kafka.read(consumer, 1)
    before_ms = kafka.sim.now_ms
    for name in kafka.sim.broker_names:
        kafka.sim.crash(name)
    consumer.close(timeout_ms=2_000)
    assert kafka.sim.now_ms - before_ms == 2_000
    assert kafka.logged() == ["the automatic commit was not done in time"]


# Interceptors.


class Interceptor:
    """Keeps what it sees."""

    def __init__(self, *, keep=None, fails=False):
        self.seen = []
        self.keep = keep
        self.fails = fails

    def on_consume(self, records):
        if self.fails:
            raise ZeroDivisionError("on_consume")
        self.seen.append([record.value for record in records])
        if self.keep is None:
            return records
        return type(records)(
            {
                partition: [each for each in records.records(partition) if self.keep(each)]
                for partition in records.partitions()
            }
        )

    def on_commit(self, offsets):
        if self.fails:
            raise ZeroDivisionError("on_commit")
        self.seen.append(dict(offsets))


def test_interceptors_see_records_one_after_the_other(cluster):
    """Each gets what the one before made of them, the application what the last did."""
    kafka = cluster()
    kafka.send("a", "b", "c")
    first = Interceptor(keep=lambda record: record.value != "b")
    second = Interceptor()
    consumer = kafka.member(interceptor_classes=[first, second])
    assert [record.value for record in consumer.poll(1_000)] == ["a", "c"]
    assert (first.seen, second.seen) == ([["a", "b", "c"]], [["a", "c"]])
    assert consumer.position(T0) == 3


def test_interceptors_see_each_commit_that_succeeds(cluster):
    """By hand, waiting or not, and automatic; a failed one they do not see."""
    kafka = cluster(faults=[AnswerWithError("OffsetCommit", "OFFSET_METADATA_TOO_LARGE")])
    interceptor = Interceptor()
    kafka.send("a")
    consumer = kafka.member(interceptor_classes=[interceptor], **auto())
    consumer.commit_async(next_to_read(7))  # is refused
    kafka.read(consumer, 1)
    del interceptor.seen[:]
    consumer.commit_async(next_to_read(8))
    consumer.poll(100)
    consumer.commit_sync(next_to_read(9))
    consumer.close()
    assert interceptor.seen == [next_to_read(8), next_to_read(9), next_to_read(1)]


def test_an_interceptor_sees_a_commit_before_the_callback_runs(cluster):
    """It sees the answer when that comes, the callback waits for the application's poll."""
    kafka = cluster()
    interceptor = Interceptor()
    consumer = kafka.member(interceptor_classes=[interceptor])
    seen = []
    consumer.commit_async(next_to_read(1), lambda offsets, error: seen.extend(interceptor.seen))
    consumer.end_offsets([T0])
    assert (interceptor.seen, seen) == ([next_to_read(1)], [])
    consumer.poll(0)
    assert seen == [next_to_read(1)]


def test_interceptors_are_closed_with_their_consumer(cluster):
    """Once, after the last commit; one that raises, or has no close(), does not stop the rest."""
    kafka = cluster()
    kafka.send("a")
    told = []

    class Closed(Interceptor):
        def close(self):
            told.append(self.seen)
            if self.fails:
                raise ZeroDivisionError("close")

    first, second, third = Closed(), Interceptor(), Closed()
    consumer = kafka.member(interceptor_classes=[first, second, third], **auto())
    kafka.read(consumer, 1)
    first.fails = True
    consumer.close()
    consumer.close()
    assert told == [[["a"]], [["a"], next_to_read(1)]]
    assert "interceptor Closed.close raised ZeroDivisionError('close')" in kafka.logged()


def test_an_interceptor_that_raises_is_passed_over(cluster):
    """It harms neither the application nor the next one, and is logged."""
    kafka = cluster()
    kafka.send("a")
    second = Interceptor()
    consumer = kafka.member(interceptor_classes=[Interceptor(fails=True), second])
    assert kafka.read(consumer, 1) == ["a"]
    consumer.commit_sync()
    assert second.seen == [["a"], next_to_read(1)]
    assert kafka.logged() == [
        "interceptor Interceptor.on_consume raised ZeroDivisionError('on_consume')",
        "interceptor Interceptor.on_commit raised ZeroDivisionError('on_commit')",
    ]


# The documents' own loops.


def test_the_loop_that_commits_partition_by_partition(cluster, capsys):
    """Document 002: last_offset + 1 is the next to read, so that a restart repeats nothing."""
    kafka = cluster(partitions=2)
    kafka.send("a", "b")
    kafka.send("x", partition=1)
    consumer = kafka.member("c1")
    running = iter([True, True, False])

    def loop():
        try:
            while next(running):
                records = consumer.poll(2**63 - 1)
                for partition in records.partitions():
                    partition_records = records.records(partition)
                    for record in partition_records:
                        print(f"{record.offset}: {record.value}")
                    last_offset = partition_records[-1].offset
                    consumer.commit_sync({partition: OffsetAndMetadata(last_offset + 1)})
        finally:
            consumer.close()

    kafka.sim.spawn(loop, node="c1")
    kafka.sim.sleep(1_000)
    kafka.send("c")
    kafka.sim.sleep(1_000)
    assert sorted(capsys.readouterr().out.splitlines()) == ["0: a", "0: x", "1: b", "2: c"]
    assert (kafka.ask(T0), kafka.ask(T1)) == (3, 1)
    assert len(kafka.sent("OffsetCommit")) == 3
    assert len(kafka.sent("LeaveGroup")) == 1
    assert kafka.read(kafka.member("c2"), 1) == []


def test_java_properties_as_text(cluster):
    """Document 002: enable.auto.commit and auto.commit.interval.ms as Java writes them."""
    kafka = cluster()
    kafka.send("a")
    props = {}
    props["group.id"] = "g"
    props["auto.offset.reset"] = "earliest"
    props["enable.auto.commit"] = "true"
    props["auto.commit.interval.ms"] = "1000"
    consumer = kafka.sim.consumer("c1", properties=props)
    consumer.subscribe(["t"])
    for _ in range(35):
        consumer.poll(100)
    (assigned,) = kafka.sim.trace.where(kind="assigned")
    due_ms = [assigned.time_ms + 1_000 * number for number in (1, 2, 3)]
    assert kafka.sent("OffsetCommit") == due_ms
    assert {commit[1:] for commit in kafka.commits()} == {(1, "auto", None)}


def test_enable_auto_commit_false_as_text(cluster):
    """The text false is no true."""
    kafka = cluster()
    kafka.send("a")
    props = {"group.id": "g", "auto.offset.reset": "earliest", "enable.auto.commit": "false"}
    consumer = kafka.sim.consumer("c1", properties=props)
    consumer.subscribe(["t"])
    for _ in range(12):
        consumer.poll(1_000)
    consumer.close()
    assert kafka.sent("OffsetCommit") == []


def test_assigning_other_partitions_commits_what_was_read_of_these(cluster):
    """No rebalance follows that would do it; where no coordinator is known nothing is asked."""
    world = cluster(partitions=2)
    world.send("a")
    for known in (True, False):
        group = f"known-{known}"
        consumer = world.consumer(f"c-{known}", group_id=group, enable_auto_commit=True)
        consumer.assign([TopicPartition("t", 0)])
        assert world.read(consumer, 1) == ["a"]
        if not known:
            consumer.coordinator.mark_coordinator_unknown()
        asked = len(world.sent("OffsetCommit", node=f"c-{known}"))
        consumer.assign([TopicPartition("t", 1)])
        assert len(world.sent("OffsetCommit", node=f"c-{known}")) - asked == int(known)
        consumer.poll(100)
        assert world.ask(TopicPartition("t", 0), group) == (1 if known else None)


@pytest.mark.parametrize("is_answered", [True, False])
def test_a_commit_that_waits_for_a_coordinator_is_waited_for_once(cluster, is_answered):
    """It counts as waiting, which close asks for, until it is over: however that ends."""
    refused = AnswerWithError("FindCoordinator", "COORDINATOR_NOT_AVAILABLE")
    kafka = cluster(faults=[] if is_answered else [refused])
    kafka.send("a")
    consumer = kafka.consumer()
    consumer.assign([T0])
    told = []
    consumer.commit_async(next_to_read(1), lambda offsets, error: told.append(error))
    assert consumer.coordinator.has_pending_async_commits()
    while not told:
        consumer.poll(100)
    assert [type(each) for each in told] == [
        type(None) if is_answered else RetriableCommitFailedError
    ]
    assert not consumer.coordinator.has_pending_async_commits()


def test_close_looks_for_the_coordinator_that_a_commit_waits_for(cluster):
    """It was called before anybody knew one; close sends it, and waits for its end."""
    kafka = cluster()
    kafka.send("a")
    consumer = kafka.consumer()
    consumer.assign([T0])
    consumer.commit_async(next_to_read(1))
    consumer.close()
    assert [commit[1:] for commit in kafka.commits()] == [(1, "async", None)]
    assert kafka.ask() == 1


def test_the_first_automatic_commit_comes_after_an_interval(cluster):
    """It is counted from when the consumer was made, where there is no join to count from."""
    kafka = cluster("4.0")
    kafka.send("a")
    start_ms = kafka.sim.now_ms
    consumer = kafka.consumer(enable_auto_commit=True)
    consumer.assign([T0])
    while not kafka.commits():
        consumer.poll(100)
    assert 5_000 <= kafka.commits()[0][0] - start_ms < 5_200


def test_a_commit_is_tried_until_its_time_is_over_and_not_once_more(cluster):
    """default.api.timeout.ms bounds the tries, one each retry.backoff.ms."""
    kafka = cluster("2.4", faults=loading("OffsetCommit"))
    kafka.send("a")
    consumer = kafka.member(default_api_timeout_ms=250, retry_backoff_ms=100)
    begun_ms = kafka.sim.now_ms
    with pytest.raises(KafkaTimeoutError):
        consumer.commit_sync(next_to_read(1))
    assert kafka.sim.now_ms - begun_ms == 250
    assert [sent_ms - begun_ms for sent_ms in kafka.sent("OffsetCommit")] == [0, 102, 204]
