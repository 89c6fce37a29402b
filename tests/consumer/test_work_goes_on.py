"""What a poll with a short timedelta has begun, the next ones go on with (2.0, KIP-266)."""

from datetime import timedelta

import pytest

from kafkalearn.engine import AnswerWithError, Delay, Drop
from kafkalearn.errors import ApiError, NoOffsetForPartitionError, WakeupError
from kafkalearn.records import OffsetAndMetadata, TopicPartition

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
LATER = ["2.3", "2.4", "4.0"]


def poll_shortly(kafka, consumer, *, until, for_ms=5_000):
    """Call poll(timedelta(0)) every other ms until something is so; give the values."""
    values = []
    for _ in range(for_ms // 2):
        values += [record.value for record in consumer.poll(timedelta(0))]
        if until(values):
            return values
        kafka.sim.sleep(1)
    raise AssertionError(f"it was not so within {for_ms:,} ms: {values}")


def read_shortly(kafka, consumer, count):
    """Poll so until `count` records came."""
    return poll_shortly(kafka, consumer, until=lambda values: len(values) >= count)


def until_sent(kafka, consumer, api):
    """Poll so until the consumer has sent this."""
    poll_shortly(kafka, consumer, until=lambda _: kafka.sent(api))


def assigned(kafka, *partitions, **config):
    """Make a consumer that uses assign()."""
    consumer = kafka.consumer(**config)
    consumer.assign(partitions or [T0])
    return consumer


def subscribed(kafka, **config):
    """Make a consumer that is to join."""
    consumer = kafka.consumer(**config)
    consumer.subscribe(["t"])
    return consumer


def placed(kafka):
    """Give where the consumer was placed, and why."""
    return [
        (event.offset, event.detail["reason"])
        for event in kafka.sim.trace.where(kind="position", node="c1")
        if event.offset is not None and event.detail["reason"] != "consumed"
    ]


@pytest.mark.parametrize("profile", LATER)
@pytest.mark.parametrize("make", [subscribed, assigned])
def test_polls_that_do_not_wait_read_all_and_ask_once(cluster, profile, make):
    """Each request is sent once, however many polls come before its answer."""
    kafka = cluster(profile, group_initial_rebalance_delay_ms=100)
    kafka.send("a", "b", "c")
    assert read_shortly(kafka, make(kafka), 3) == ["a", "b", "c"]
    apis = ("FindCoordinator", "SyncGroup", "OffsetFetch", "ListOffsets")
    joins = int(make is subscribed)
    assert [len(kafka.sent(api)) for api in apis] == [1, joins, 1, 1]


@pytest.mark.parametrize("profile", LATER)
def test_polls_that_do_not_wait_begin_at_the_committed_offset(cluster, profile):
    """A log is only asked about a partition for which nothing is committed."""
    kafka = cluster(profile, partitions=2)
    kafka.send("a", "b", "c")
    kafka.send("d", partition=1)
    assigned(kafka, T0).commit_sync({T0: OffsetAndMetadata(2)})
    consumer = assigned(kafka, T0, T1)
    assert sorted(read_shortly(kafka, consumer, 2)) == ["c", "d"]
    assert sorted(placed(kafka)) == [(0, "reset"), (2, "committed")]
    (asked,) = kafka.sim.trace.where(kind="send", node="c1", api="ListOffsets")
    assert (asked.topic, asked.partition) == T1


@pytest.mark.parametrize("profile", LATER)
def test_without_a_group_only_the_logs_are_asked(cluster, profile):
    """There is no coordinator to ask for committed offsets."""
    kafka = cluster(profile)
    kafka.send("a")
    assert read_shortly(kafka, assigned(kafka, group_id=""), 1) == ["a"]
    apis = ("FindCoordinator", "OffsetFetch", "ListOffsets")
    assert [len(kafka.sent(api)) for api in apis] == [0, 0, 1]


@pytest.mark.parametrize("profile", LATER)
def test_a_timedelta_bounds_joining_and_waiting_together(cluster, profile):
    """What the join took is not there any more for the records."""
    kafka = cluster(profile, group_initial_rebalance_delay_ms=60)
    consumer = subscribed(kafka)
    start_ms = kafka.sim.now_ms
    assert consumer.poll(timedelta(milliseconds=200)).is_empty()
    assert (kafka.sim.now_ms - start_ms, consumer.assignment()) == (200, [T0])


@pytest.mark.parametrize(("profile", "position"), [("1.0", 0), *((each, None) for each in LATER)])
def test_a_poll_in_ms_waits_for_the_join_and_not_for_a_reset(cluster, profile, position):
    """poll(0) has partitions; from 2.0 on only the committed offsets are waited for as well."""
    kafka = cluster(profile)
    consumer = subscribed(kafka)
    consumer.poll(0)
    assert consumer.assignment() == [T0]
    assert consumer.subscriptions.position(T0) == position
    assert [len(kafka.sent(api)) for api in ("OffsetFetch", "ListOffsets")] == [1, 1]
    assert consumer.position(T0) == 0
    assert [len(kafka.sent(api)) for api in ("OffsetFetch", "ListOffsets")] == [1, 1]


@pytest.mark.parametrize(
    ("profile", "resets", "is_first"),
    [("1.0", True, True), *((each, True, False) for each in LATER), ("2.4", False, True)],
)
def test_the_first_poll_in_ms_after_a_long_join(cluster, profile, resets, is_first):
    """Its time is over by then, so that it goes through its steps once: a reset is only begun."""
    kafka = cluster(profile)
    kafka.send("a")
    if not resets:
        assigned(kafka).commit_sync({T0: OffsetAndMetadata(0)})
    consumer = subscribed(kafka)
    values = [[record.value for record in consumer.poll(1_000)] for _ in range(2)]
    assert values == ([["a"], []] if is_first else [[], ["a"]])


# Committed offsets.


@pytest.mark.parametrize(("profile", "asked"), [("1.0", 2), *((each, 1) for each in LATER)])
def test_a_wakeup_leaves_the_request_for_the_next_poll(cluster, profile, asked):
    """Before 2.0 the next poll asks again."""
    kafka = cluster(profile, faults=[Delay("OffsetFetch", by_ms=1_000, part="response")])
    kafka.send("a")
    consumer = assigned(kafka)

    def interrupt():
        kafka.sim.sleep(500)
        consumer.wakeup()

    kafka.sim.spawn(interrupt, node="other")
    with pytest.raises(WakeupError):
        consumer.poll(5_000)
    assert [record.value for record in consumer.poll(5_000)] == ["a"]
    assert len(kafka.sent("OffsetFetch")) == asked


@pytest.mark.parametrize("profile", LATER)
@pytest.mark.parametrize(
    ("rebalances", "asked", "begin"),
    [(False, 1, [(0, "reset")]), (True, 2, [(2, "committed")])],
    ids=["same generation", "next generation"],
)
def test_an_answer_counts_for_its_generation(cluster, profile, rebalances, asked, begin):
    """It is used however old it is; after a rebalance what is committed is asked for anew."""
    kafka = cluster(profile, group_initial_rebalance_delay_ms=100)
    kafka.send("a", "b", "c")
    consumer = subscribed(kafka, client_id="a", partition_assignment_strategy=["range"])
    until_sent(kafka, consumer, "OffsetFetch")
    consumer.commit_sync({T0: OffsetAndMetadata(2)})
    if rebalances:
        kafka.poller("c2", client_id="b", partition_assignment_strategy=["range"])
        kafka.await_state("PreparingRebalance")
        kafka.sim.sleep(3_000)  # a heartbeat tells the member
    poll_shortly(kafka, consumer, until=lambda _: placed(kafka))
    assert (placed(kafka)[:1], len(kafka.sent("OffsetFetch"))) == (begin, asked)


@pytest.mark.parametrize("profile", LATER)
def test_an_answer_counts_for_its_partitions(cluster, profile):
    """Who asks for others forgets it: here committed(), and then the poll asks again."""
    kafka = cluster(profile, partitions=2)
    kafka.send("a")
    consumer = assigned(kafka)
    until_sent(kafka, consumer, "OffsetFetch")
    assert consumer.committed(T1) is None
    assert read_shortly(kafka, consumer, 1) == ["a"]
    asked = kafka.sim.trace.where(kind="send", node="c1", api="OffsetFetch")
    assert [each.partition for each in asked] == [0, 1, 0]


@pytest.mark.parametrize("profile", LATER)
@pytest.mark.parametrize(
    "fault",
    [
        AnswerWithError("OffsetFetch", "COORDINATOR_LOAD_IN_PROGRESS"),
        AnswerWithError("OffsetFetch", "NOT_COORDINATOR"),
        Drop("OffsetFetch", part="response"),
    ],
    ids=str,
)
def test_committed_offsets_are_asked_for_until_they_come(cluster, profile, fault):
    """An answer that is worth another try, or that gets lost, leads to just one more request."""
    kafka = cluster(profile, faults=[fault])
    kafka.send("a")
    assert read_shortly(kafka, assigned(kafka), 1) == ["a"]
    assert len(kafka.sent("OffsetFetch")) == 2


@pytest.mark.parametrize("profile", LATER)
def test_a_refused_offset_fetch_is_raised_by_the_poll_that_learns_of_it(cluster, profile):
    """The one after that asks again."""
    kafka = cluster(profile, faults=[AnswerWithError("OffsetFetch", "INVALID_GROUP_ID")])
    kafka.send("a")
    consumer = assigned(kafka)
    until_sent(kafka, consumer, "OffsetFetch")
    with pytest.raises(ApiError, match="OffsetFetch of group 'g' is answered INVALID_GROUP_ID"):
        read_shortly(kafka, consumer, 1)
    assert read_shortly(kafka, consumer, 1) == ["a"]
    assert len(kafka.sent("OffsetFetch")) == 2


@pytest.mark.parametrize("profile", LATER)
def test_nothing_committed_and_no_reset_is_raised(cluster, profile):
    """It is so at each further poll, which asks again; no log is asked."""
    kafka = cluster(profile)
    kafka.send("a")
    consumer = assigned(kafka, auto_offset_reset="none")
    for _ in range(2):
        with pytest.raises(NoOffsetForPartitionError, match="nothing is committed for t-0"):
            read_shortly(kafka, consumer, 1)
    assert [len(kafka.sent(api)) for api in ("OffsetFetch", "ListOffsets")] == [2, 0]
    consumer.seek(T0, 0)
    assert read_shortly(kafka, consumer, 1) == ["a"]


# Resets.


@pytest.mark.parametrize("profile", LATER)
def test_a_reset_on_its_way_is_not_asked_for_again(cluster, profile):
    """Not within request.timeout.ms; the records of other partitions come meanwhile."""
    kafka = cluster(profile, partitions=2, faults=[Delay("ListOffsets", by_ms=2_000)])
    kafka.send("a")
    kafka.send("b", partition=1)
    consumer = assigned(kafka, T0, T1)
    consumer.seek(T1, 0)
    start_ms = kafka.sim.now_ms
    assert read_shortly(kafka, consumer, 1) == ["b"]
    assert kafka.sim.now_ms - start_ms < 100
    assert read_shortly(kafka, consumer, 1) == ["a"]
    assert kafka.sim.now_ms - start_ms > 2_000
    assert len(kafka.sent("ListOffsets")) == 1


@pytest.mark.parametrize("profile", LATER)
@pytest.mark.parametrize(
    "fault",
    [
        AnswerWithError("ListOffsets", "NOT_LEADER_OR_FOLLOWER"),
        AnswerWithError("ListOffsets", "UNKNOWN_TOPIC_OR_PARTITION"),
        Drop("ListOffsets", part="response"),
    ],
    ids=str,
)
@pytest.mark.parametrize("short", [True, False], ids=["short polls", "one poll"])
def test_a_reset_that_failed_is_tried_again(cluster, profile, fault, short):
    """After retry.backoff.ms, and metadata is asked for; polls raise nothing."""
    kafka = cluster(profile, faults=[fault])
    kafka.send("a")
    consumer = assigned(kafka, retry_backoff_ms=300)
    values = read_shortly(kafka, consumer, 1) if short else kafka.read(consumer, 1)
    assert values == ["a"]
    first_ms, second_ms = kafka.sent("ListOffsets")
    assert 300 < second_ms - first_ms < 620
    consumer.poll(100)
    assert first_ms < kafka.sent("Metadata")[-1] < first_ms + 400
    assert placed(kafka) == [(0, "reset")]


@pytest.mark.parametrize("profile", LATER)
@pytest.mark.parametrize(
    ("act", "begin", "asked"),
    [
        (lambda consumer: consumer.seek(T0, 1), [(1, "seek")], 1),
        (lambda consumer: consumer.seek_to_end([T0]), [(3, "reset")], 2),
        (lambda consumer: consumer.seek_to_beginning([T0]), [(0, "reset")], 2),
        (lambda consumer: consumer.assign([T1]), [(0, "reset")], 2),
    ],
    ids=["seek", "another end", "the same end", "not assigned"],
)
def test_an_answer_is_only_for_who_still_waits_for_it(cluster, profile, act, begin, asked):
    """A position, another reset or another assignment that came in between stays."""
    late = Delay("ListOffsets", by_ms=500, part="response")
    kafka = cluster(profile, partitions=2, faults=[late])
    kafka.send("a", "b", "c")
    consumer = assigned(kafka)
    until_sent(kafka, consumer, "ListOffsets")
    act(consumer)
    poll_shortly(kafka, consumer, until=lambda _: kafka.sim.now_ms > 2_000)
    assert (placed(kafka), len(kafka.sent("ListOffsets"))) == (begin, asked)


@pytest.mark.parametrize("profile", LATER)
def test_a_reset_waits_for_a_leader(cluster, profile):
    """While the leader is down polls raise nothing, and its return is enough."""
    kafka = cluster(profile)
    kafka.send("a")
    consumer = assigned(kafka, group_id="")
    kafka.lose_all_brokers(3_000)
    assert read_shortly(kafka, consumer, 1) == ["a"]
    assert placed(kafka) == [(0, "reset")]
