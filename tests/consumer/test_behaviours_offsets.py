"""Rows 10 to 15 of the list of Kafka's behaviours, and the like: where a consumer reads."""

from datetime import timedelta

import pytest

from kafkalearn.errors import (
    IllegalArgumentError,
    KafkaTimeoutError,
    NoOffsetForPartitionError,
    OffsetOutOfRangeError,
)
from kafkalearn.records import OffsetAndMetadata, OffsetAndTimestamp, TopicPartition
from tests.consumer.members import loading

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
EVERY_PROFILE = ["0.10.1", "1.0", "2.3", "2.4", "4.0"]
MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000


def next_to_read(offset, partition=T0):
    """Give what a commit of one partition takes."""
    return {partition: OffsetAndMetadata(offset)}


def positions(kafka, node="c1"):
    """Give how each position came about: (offset, reason), without those of reading on."""
    events = kafka.sim.trace.where(kind="position", node=node)
    return [
        (event.offset, event.detail["reason"])
        for event in events
        if event.detail["reason"] != "consumed"
    ]


# Row 10.


def test_position_moves_with_polls_and_committed_with_commits(cluster):
    """Behaviour 10: processing moves neither; after a commit both are the next to read."""
    kafka = cluster()
    kafka.send(*"abcd")
    consumer = kafka.member(max_poll_records=2)
    told = [(consumer.position(T0), consumer.committed(T0))]
    consumer.poll(1_000)
    told.append((consumer.position(T0), consumer.committed(T0)))
    consumer.commit_sync()
    told.append((consumer.position(T0), consumer.committed(T0).offset))
    consumer.poll(1_000)
    told.append((consumer.position(T0), consumer.committed(T0).offset))
    assert told == [(0, None), (2, None), (2, 2), (4, 2)]


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_after_a_rebalance_the_position_is_what_was_committed(cluster, profile):
    """Behaviour 10: who keeps its partition in an eager rebalance reads it from there again."""
    kafka = cluster(profile)
    kafka.send("a", "b", "c")
    consumer = kafka.member("c1", client_id="a", partition_assignment_strategy=["range"])
    assert kafka.read(consumer, 3) == ["a", "b", "c"]
    consumer.commit_sync(next_to_read(1))
    kafka.poller("c2", client_id="b", partition_assignment_strategy=["range"])
    kafka.await_state("PreparingRebalance")
    assert kafka.read(consumer, 2) == ["b", "c"]
    assert len(kafka.sim.trace.where(kind="assigned", node="c1")) == 2
    assert positions(kafka)[-1] == (1, "committed")


@pytest.mark.parametrize("profile", ["2.4", "4.0"])
def test_a_cooperative_member_reads_on_where_it_was(cluster, profile):
    """Behaviour 10: a partition that is never given up keeps its position (2.4)."""
    kafka = cluster(profile)
    kafka.send("a", "b", "c")
    strategy = {"partition_assignment_strategy": ["cooperative-sticky"]}
    consumer = kafka.member("c1", **strategy)
    assert kafka.read(consumer, 3) == ["a", "b", "c"]
    consumer.commit_sync(next_to_read(1))
    kafka.poller("c2", **strategy)
    kafka.await_state("PreparingRebalance")
    assert kafka.read(consumer, 1) == []
    assert len(kafka.sim.trace.where(kind="assigned", node="c1")) == 2
    assert consumer.position(T0) == 3


def test_committed_asks_each_time(cluster):
    """Behaviour 10: what somebody else commits, or Kafka forgets, is seen at once."""
    kafka = cluster()
    consumer = kafka.consumer()
    consumer.assign([T0])
    consumer.commit_sync(next_to_read(1))
    other = kafka.consumer("c2")
    other.assign([T0])
    other.commit_sync({T0: OffsetAndMetadata(5, "by c2")})
    assert consumer.committed(T0) == OffsetAndMetadata(5, "by c2")
    assert consumer.committed(T1) is None


def test_before_0_11_committed_tells_what_the_consumer_knows(cluster):
    """Behaviour 10: an assigned partition is asked about once (KAFKA-5273); others each time."""
    kafka = cluster("0.10.1", partitions=2)
    consumer, other = kafka.consumer(), kafka.consumer("c2")
    consumer.assign([T0])
    other.assign([T0, T1])
    other.commit_sync(next_to_read(1) | next_to_read(1, T1))
    assert (consumer.committed(T0).offset, consumer.committed(T1).offset) == (1, 1)
    other.commit_sync(next_to_read(5) | next_to_read(5, T1))
    assert (consumer.committed(T0).offset, consumer.committed(T1).offset) == (1, 5)
    assert len(kafka.sent("OffsetFetch")) == 3
    consumer.commit_sync(next_to_read(3))
    assert (consumer.committed(T0).offset, len(kafka.sent("OffsetFetch"))) == (3, 3)


# Row 11.


def test_latest_is_the_default_and_skips_what_was_there(cluster):
    """Behaviour 11: without a committed offset only what comes after the assignment is read."""
    kafka = cluster()
    kafka.send("a", "b")
    consumer = kafka.sim.consumer("c1", group_id="g")
    consumer.subscribe(["t"])
    consumer.poll(100)
    kafka.send("c")
    assert kafka.read(consumer, 1) == ["c"]
    assert positions(kafka) == [(None, "reset"), (2, "reset")]


@pytest.mark.parametrize("policy", ["latest", "earliest", "none"])
def test_a_committed_offset_beats_the_policy(cluster, policy):
    """Behaviour 11: auto.offset.reset is not looked at where something is committed."""
    kafka = cluster()
    kafka.send("a", "b", "c")
    kafka.member("c1").commit_sync(next_to_read(1))
    kafka.sim.crash("c1")
    kafka.await_state("Empty")
    consumer = kafka.member("c2", auto_offset_reset=policy)
    assert kafka.read(consumer, 2) == ["b", "c"]
    assert positions(kafka, "c2") == [(1, "committed")]


@pytest.mark.parametrize(
    ("policy", "read"), [("latest", ["late"]), ("earliest", ["early", "late"])]
)
def test_a_new_partition_is_seen_late(cluster, policy, read):
    """Behaviour 11: with latest, what is sent to it before metadata.max.age.ms is over is lost."""
    kafka = cluster()
    consumer = kafka.member(auto_offset_reset=policy)
    kafka.sim.create_partitions("t", 2)
    producer = kafka.sim.producer("p2")
    producer.send("t", partition=1, value="early")
    producer.flush()
    values = []
    while len(consumer.assignment()) < 2:
        values += [record.value for record in consumer.poll(1_000)]
        assert kafka.sim.now_ms < 310_000
    assert kafka.sim.now_ms > 300_000
    values += [record.value for record in consumer.poll(100)]
    producer.send("t", partition=1, value="late")
    producer.flush()
    assert values + kafka.read(consumer, 1) == read


def test_a_seek_goes_before_what_is_committed(cluster):
    """Behaviour 11: pending resets come first, then committed offsets, then the policy."""
    kafka = cluster(partitions=3)
    for partition in range(3):
        kafka.send("a", "b", "c", partition=partition)
    t0, t1, t2 = (TopicPartition("t", number) for number in range(3))
    committer = kafka.consumer("c2")
    committer.assign([t0, t1])
    committer.commit_sync({t0: OffsetAndMetadata(1), t1: OffsetAndMetadata(2)})
    consumer = kafka.consumer(auto_offset_reset="latest")
    consumer.assign([t0, t1, t2])
    consumer.seek_to_beginning([t0])
    assert [consumer.position(each) for each in (t0, t1, t2)] == [0, 2, 3]


@pytest.mark.parametrize(("go", "offset"), [("seek_to_beginning", 0), ("seek_to_end", 3)])
def test_committed_offsets_are_not_asked_for_in_vain(cluster, go, offset):
    """Behaviour 11: who resets all its partitions sends no OffsetFetch."""
    kafka = cluster()
    kafka.send("a", "b", "c")
    consumer = kafka.consumer()
    consumer.assign([T0])
    getattr(consumer, go)()
    assert consumer.position(T0) == offset
    assert kafka.sent("OffsetFetch") == []


# Row 12.


@pytest.mark.parametrize("profile", EVERY_PROFILE)
@pytest.mark.parametrize(
    "call",
    [lambda consumer: consumer.poll(1_000), lambda consumer: consumer.position(T0)],
    ids=["poll", "position"],
)
def test_without_policy_and_commit_there_is_no_offset(cluster, profile, call):
    """Behaviour 12: NoOffsetForPartitionError, again and again until seek() or a commit."""
    kafka = cluster(profile)
    kafka.send("a", "b")
    consumer = kafka.consumer(auto_offset_reset="none")
    consumer.assign([T0])
    for _ in range(2):
        with pytest.raises(NoOffsetForPartitionError) as refused:
            call(consumer)
    assert str(refused.value) == (
        "nothing is committed for t-0, and auto_offset_reset is none: seek() to an offset, or set "
        "auto_offset_reset to earliest or latest"
    )
    consumer.seek(T0, 1)
    assert kafka.read(consumer, 1) == ["b"]


def test_only_the_partitions_without_offset_are_named(cluster):
    """Behaviour 12: what is committed for others does not help, and is not complained about."""
    kafka = cluster(partitions=2)
    consumer = kafka.consumer(auto_offset_reset="none")
    consumer.assign([T0, T1])
    consumer.commit_sync(next_to_read(0))
    with pytest.raises(NoOffsetForPartitionError, match=r"nothing is committed for t-1, and"):
        consumer.poll(1_000)
    assert consumer.position(T0) == 0


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_out_of_range_without_policy(cluster, profile):
    """Behaviour 12: OffsetOutOfRangeError, again and again until seek()."""
    kafka = cluster(profile)
    kafka.send("a", "b")
    consumer = kafka.consumer(auto_offset_reset="none")
    consumer.assign([T0])
    consumer.seek(T0, 99)
    for _ in range(2):
        with pytest.raises(OffsetOutOfRangeError) as refused:
            kafka.read(consumer, 1)
    assert str(refused.value) == (
        "offset 99 of t-0 is not there, and auto_offset_reset is none: seek() to one that is, or "
        "set auto_offset_reset to earliest or latest"
    )
    consumer.seek(T0, 1)
    assert kafka.read(consumer, 1) == ["b"]


@pytest.mark.parametrize(("policy", "read"), [("earliest", ["a", "b", "c"]), ("latest", ["c"])])
def test_out_of_range_with_a_policy(cluster, policy, read):
    """Behaviour 12: the policy decides also for a position that is not in the log."""
    kafka = cluster()
    kafka.send("a", "b")
    consumer = kafka.consumer(auto_offset_reset=policy)
    consumer.assign([T0])
    consumer.seek(T0, 99)
    values = kafka.read(consumer, 2)
    kafka.send("c")
    assert values + kafka.read(consumer, 1) == read
    assert positions(kafka)[0] == (99, "seek")
    assert positions(kafka)[1] == (None, "reset")


def with_retention(cluster, **settings):
    """Make a cluster whose topic ``short`` keeps records for a minute."""
    kafka = cluster(log_retention_check_interval_ms=1_000, **settings)
    kafka.sim.create_topic("short", configs={"retention.ms": MINUTE_MS})
    return kafka, TopicPartition("short", 0)


def test_what_was_not_read_before_retention_is_lost(cluster):
    """Behaviour 12: the committed offset is out of range, and earliest goes to the log's start."""
    kafka, s0 = with_retention(cluster)
    kafka.send("a", "b", "c", topic="short")
    consumer = kafka.consumer()
    consumer.assign([s0])
    consumer.commit_sync(next_to_read(1, s0))
    kafka.sim.sleep(2 * MINUTE_MS)
    kafka.send("d", topic="short")
    assert kafka.read(consumer, 1) == ["d"]
    assert positions(kafka) == [(1, "committed"), (None, "reset"), (3, "reset")]


# Row 14.


@pytest.mark.parametrize(
    ("profile", "days"), [("0.10.1", 1), ("1.0", 1), ("2.3", 7), ("2.4", 7), ("4.0", 7)]
)
def test_how_long_an_idle_group_is_remembered(cluster, profile, days):
    """Behaviour 14: 1 day up to 1.1, 7 days from 2.0; a group that comes later begins anew."""
    kafka = cluster(profile, log_retention_ms=-1)
    kafka.send("a", "b")
    consumer = kafka.member()
    kafka.read(consumer, 2)
    consumer.commit_sync()
    consumer.close()
    left_ms = kafka.sim.now_ms
    kafka.sim.run_until(left_ms + days * DAY_MS - MINUTE_MS)
    assert kafka.ask() == 2
    kafka.sim.run_until(left_ms + days * DAY_MS + 11 * MINUTE_MS)
    assert kafka.ask() is None
    assert kafka.read(kafka.member("c2"), 2) == ["a", "b"]


def idle_but_alive(cluster, profile):
    """Let a member poll an idle topic for longer than offsets.retention.minutes."""
    kafka = cluster(profile, offsets_retention_minutes=1, offsets_retention_check_interval_ms=1_000)
    kafka.send("a", "b")
    consumer = kafka.member()
    kafka.read(consumer, 2)
    consumer.commit_sync()
    for _ in range(30):
        consumer.poll(5_000)
    return kafka, consumer


@pytest.mark.parametrize("profile", ["0.10.1", "1.0"])
def test_before_2_1_an_idle_topic_loses_its_offset(cluster, profile):
    """Behaviour 14: the clock runs from the last commit, though the group lives all the time."""
    kafka, consumer = idle_but_alive(cluster, profile)
    assert kafka.ask() is None
    assert consumer.position(T0) == 2
    kafka.send("c")
    assert kafka.read(consumer, 1) == ["c"]
    kafka.sim.crash("c1")
    assert kafka.read(kafka.member("c2"), 3) == ["a", "b", "c"]


@pytest.mark.parametrize("profile", ["2.3", "2.4", "4.0"])
def test_from_2_1_the_clock_runs_from_when_the_group_is_empty(cluster, profile):
    """Behaviour 14: a live group keeps its offsets (KIP-211); after it left they age."""
    kafka, consumer = idle_but_alive(cluster, profile)
    assert consumer.committed(T0).offset == 2
    consumer.close()
    kafka.sim.sleep(MINUTE_MS - 2_000)
    assert kafka.ask() == 2
    kafka.sim.sleep(4_000)
    assert kafka.ask() is None


# Row 15.


def test_lag_is_the_end_minus_the_committed_offset(cluster):
    """Behaviour 15: 0 when all is committed, whatever the position; it grows with what is sent."""
    kafka = cluster()
    kafka.send("a", "b", "c")
    consumer = kafka.member()

    def lag():
        return consumer.end_offsets([T0])[T0] - consumer.committed(T0).offset

    kafka.read(consumer, 3)
    consumer.commit_sync(next_to_read(1))
    lags = [lag()]
    consumer.commit_sync()
    lags.append(lag())
    kafka.send("d", "e")
    lags.append(lag())
    kafka.read(consumer, 2)
    lags.append(lag())
    assert lags == [2, 0, 2, 2]


def test_retention_leaves_a_lag_that_nobody_can_read(cluster):
    """Behaviour 15: where the committed offset is below the log's start, lag is of what is gone."""
    kafka, s0 = with_retention(cluster)
    kafka.send("a", "b", "c", topic="short")
    consumer = kafka.consumer()
    consumer.assign([s0])
    consumer.commit_sync(next_to_read(1, s0))
    kafka.sim.sleep(2 * MINUTE_MS)
    assert consumer.end_offsets([s0])[s0] - consumer.committed(s0).offset == 2
    assert consumer.beginning_offsets([s0]) == consumer.end_offsets([s0]) == {s0: 3}
    assert kafka.read(consumer, 1) == []


# Seeking, pausing, asking the logs.


def test_seek_reads_on_from_there_and_commits_nothing(cluster):
    """Back and forth at the next poll; the committed offset stays until a commit."""
    kafka = cluster()
    kafka.send(*"abcd")
    consumer = kafka.member(max_poll_records=2)
    assert kafka.read(consumer, 2) == ["a", "b"]
    consumer.commit_sync()
    consumer.seek(T0, 0)
    assert (consumer.position(T0), kafka.ask()) == (0, 2)
    assert kafka.read(consumer, 2) == ["a", "b"]
    consumer.seek(T0, 3)
    assert kafka.read(consumer, 1) == ["d"]
    consumer.seek(T0, 1)
    consumer.commit_sync()
    assert kafka.ask() == 1


def test_seek_to_beginning_and_end_are_found_when_needed(cluster):
    """What the end is, is asked at the next poll or position(), not before."""
    kafka = cluster(partitions=2)
    kafka.send("a", "b")
    consumer = kafka.member()
    consumer.seek_to_end([T0])
    kafka.send("c")
    assert consumer.position(T0) == 3
    assert consumer.position(T1) == 0
    consumer.seek_to_beginning()
    assert kafka.read(consumer, 3) == ["a", "b", "c"]


def test_a_paused_partition_is_not_fetched(cluster):
    """Other partitions are; its position stays, and resume() goes on from there."""
    kafka = cluster(partitions=2)
    kafka.send("a", "b")
    kafka.send("x", "y", partition=1)
    consumer = kafka.member()
    consumer.pause([T0])
    assert consumer.paused() == [T0]
    assert kafka.read(consumer, 3) == ["x", "y"]
    assert consumer.position(T0) == 0
    fetched = kafka.sim.trace.where(kind="records_returned", topic="t", partition=0)
    assert list(fetched) == []
    consumer.resume([T0])
    assert consumer.paused() == []
    assert kafka.read(consumer, 2) == ["a", "b"]


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_rebalance_undoes_a_pause(cluster, profile):
    """An eager one gives the partitions anew, and nobody remembers that one was paused."""
    kafka = cluster(profile)
    consumer = kafka.member("c1", client_id="a", partition_assignment_strategy=["range"])
    consumer.pause([T0])
    kafka.poller("c2", client_id="b", partition_assignment_strategy=["range"])
    kafka.await_state("PreparingRebalance")
    assert consumer.paused() == [T0]
    assert kafka.read(consumer, 1) == []
    assert len(kafka.sim.trace.where(kind="assigned", node="c1")) == 2
    assert consumer.assignment() == [T0]
    assert consumer.paused() == []


def test_a_member_that_paused_everything_stays_a_member(cluster):
    """Polling without records is how long work is done without leaving the group."""
    kafka = cluster()
    kafka.send("a", "b")
    consumer = kafka.member(max_poll_interval_ms=10_000, max_poll_records=1)
    assert kafka.read(consumer, 1) == ["a"]
    consumer.pause(consumer.assignment())
    for _ in range(60):
        assert consumer.poll(1_000).is_empty()
    consumer.resume(consumer.assignment())
    assert kafka.read(consumer, 1) == ["b"]
    assert len(kafka.sim.trace.where(kind="assigned")) == 1


def test_the_first_and_the_next_offset_of_each_log(cluster):
    """beginning_offsets and end_offsets move no position, and need no assignment."""
    kafka = cluster(partitions=2)
    kafka.send("a", "b", "c")
    consumer = kafka.consumer()
    assert consumer.beginning_offsets([T1, T0]) == {T1: 0, T0: 0}
    assert consumer.end_offsets([T1, T0]) == {T1: 0, T0: 3}
    assert consumer.end_offsets([]) == {}
    assert list(kafka.sim.trace.where(kind="position")) == []


def test_offsets_for_times(cluster):
    """The first record at or after each time; None where all are older."""
    kafka = cluster(partitions=2)
    for time_ms in (100, 200, 300):
        kafka.send("a", timestamp_ms=time_ms)
    consumer = kafka.consumer()
    found = [
        consumer.offsets_for_times({T0: time_ms, T1: time_ms}) for time_ms in (0, 200, 201, 301)
    ]
    assert found == [
        {T0: OffsetAndTimestamp(0, 100), T1: None},
        {T0: OffsetAndTimestamp(1, 200), T1: None},
        {T0: OffsetAndTimestamp(2, 300), T1: None},
        {T0: None, T1: None},
    ]


# Without brokers.

ASK = {
    "committed": lambda consumer: consumer.committed(T0),
    "position": lambda consumer: consumer.position(T0),
    "beginning_offsets": lambda consumer: consumer.beginning_offsets([T0]),
    "end_offsets": lambda consumer: consumer.end_offsets([T0]),
    "offsets_for_times": lambda consumer: consumer.offsets_for_times({T0: 0}),
}


def without_brokers(cluster, profile, for_ms, **config):
    """Give a consumer of t-0 that knows nothing yet, and no broker to ask for a while."""
    kafka = cluster(profile)
    consumer = kafka.consumer(**config)
    consumer.assign([T0])
    kafka.lose_all_brokers(for_ms)
    return kafka, consumer


@pytest.mark.parametrize("profile", ["2.3", "2.4", "4.0"])
@pytest.mark.parametrize("ask", ASK.values(), ids=ASK)
@pytest.mark.parametrize(("config", "bound_ms"), [({}, 60_000), ({"default_api_timeout_ms": 7}, 7)])
def test_from_2_0_default_api_timeout_bounds_what_asks(cluster, profile, ask, config, bound_ms):
    """A KafkaTimeoutError at just that time; with enough of it, the call works later.

    What asks for the end of a log came to that last, with 3.2 (KAFKA-13637).
    """
    if ask is ASK["end_offsets"] and profile != "4.0":
        bound_ms = 30_000  # request.timeout.ms, whatever default.api.timeout.ms is
    kafka, consumer = without_brokers(cluster, profile, 100_000, **config)
    before_ms = kafka.sim.now_ms
    with pytest.raises(KafkaTimeoutError):
        ask(consumer)
    assert kafka.sim.now_ms - before_ms == bound_ms
    kafka.sim.run_until(110_000)
    if not config:
        ask(consumer)


BOUNDED = {
    "commit_sync": lambda consumer, timeout: consumer.commit_sync(next_to_read(1), timeout=timeout),
    "committed": lambda consumer, timeout: consumer.committed(T0, timeout=timeout),
    "position": lambda consumer, timeout: consumer.position(T0, timeout=timeout),
    "beginning_offsets": lambda consumer, timeout: consumer.beginning_offsets(
        [T0], timeout=timeout
    ),
    "end_offsets": lambda consumer, timeout: consumer.end_offsets([T0], timeout=timeout),
    "offsets_for_times": lambda consumer, timeout: consumer.offsets_for_times(
        {T0: 0}, timeout=timeout
    ),
}


@pytest.mark.parametrize("profile", ["2.3", "4.0"])
@pytest.mark.parametrize("ask", BOUNDED.values(), ids=BOUNDED)
@pytest.mark.parametrize("bound_ms", [0, 700, 70_000])
def test_from_2_0_a_call_may_have_a_timeout_of_its_own(cluster, profile, ask, bound_ms):
    """It goes before default.api.timeout.ms, be it shorter or longer (KIP-266)."""
    kafka, consumer = without_brokers(cluster, profile, 100_000)
    before_ms = kafka.sim.now_ms
    with pytest.raises(KafkaTimeoutError):
        ask(consumer, timedelta(milliseconds=bound_ms))
    assert kafka.sim.now_ms - before_ms == bound_ms
    kafka.sim.run_until(110_000)
    ask(consumer, timedelta(minutes=1))


@pytest.mark.parametrize("ask", BOUNDED.values(), ids=BOUNDED)
@pytest.mark.parametrize(
    ("profile", "timeout", "message"),
    [
        ("1.0", timedelta(1), "Kafka 1.0 has no timeout here, 2.0 does: leave it out"),
        ("0.10.1", timedelta(1), "Kafka 0.10.1 has no timeout here, 2.0 does: leave it out"),
        ("2.3", 100, "timeout is 100: None or a timedelta is allowed"),
        ("2.3", timedelta(-1), "Timeout must not be negative: it is -1 day, 0:00:00"),
    ],
)
def test_a_timeout_that_is_refused(cluster, ask, profile, timeout, message):
    """Before 2.0 these calls have none; it is a Duration, which is never negative."""
    consumer = cluster(profile).consumer()
    consumer.assign([T0])
    with pytest.raises(IllegalArgumentError, match=f"^{message}$"):
        ask(consumer, timeout)


@pytest.mark.parametrize("ask", ["committed", "position"])
def test_before_2_0_what_asks_waits_without_bound(cluster, ask):
    """Two minutes without a broker are waited for."""
    kafka, consumer = without_brokers(cluster, "1.0", 120_000)
    before_ms = kafka.sim.now_ms
    assert ASK[ask](consumer) == {"committed": None, "position": 0}[ask]
    assert 120_000 < kafka.sim.now_ms - before_ms < 122_000


@pytest.mark.parametrize("ask", ["beginning_offsets", "end_offsets", "offsets_for_times"])
def test_before_2_0_request_timeout_bounds_what_asks_the_logs(cluster, ask):
    """Those calls have had a bound since they exist."""
    kafka, consumer = without_brokers(cluster, "1.0", 100_000, request_timeout_ms=11_000)
    before_ms = kafka.sim.now_ms
    with pytest.raises(KafkaTimeoutError, match="no offsets were found within 11,000 ms"):
        ASK[ask](consumer)
    assert kafka.sim.now_ms - before_ms == 11_000


def test_what_is_committed_is_asked_again_until_its_time_is_over(cluster):
    """committed() passes over an error that another try may not meet, within its time."""
    kafka = cluster("2.4", faults=loading("OffsetFetch"))
    kafka.send("a")
    consumer = kafka.consumer(default_api_timeout_ms=250, retry_backoff_ms=100)
    consumer.assign([T0])
    consumer.commit_sync({T0: OffsetAndMetadata(1)})
    begun_ms = kafka.sim.now_ms
    with pytest.raises(KafkaTimeoutError):
        consumer.committed(T0)
    assert kafka.sim.now_ms - begun_ms == 250
    assert [sent_ms - begun_ms for sent_ms in kafka.sent("OffsetFetch")] == [0, 102, 204]
    assert consumer.committed(T0) == OffsetAndMetadata(1)
