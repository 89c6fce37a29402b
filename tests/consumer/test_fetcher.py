"""Fetching ahead, and handing out: what is asked for, taken, refused, and what cannot be read."""

import pytest

from kafkalearn.consumer.completed_fetch import CompletedFetch, PartitionRecords
from kafkalearn.engine import Delay
from kafkalearn.errors import (
    ApiError,
    Errors,
    IllegalStateError,
    KafkaError,
    OffsetOutOfRangeError,
    SerializationError,
)
from kafkalearn.protocol.fetch import FetchPartition, PartitionData
from kafkalearn.records import Record, TopicPartition

T0, T1, T2 = (TopicPartition("t", number) for number in range(3))


def records(*offsets):
    """Make records whose values are their offsets."""
    return tuple(Record(offset, 0, None, str(offset).encode(), ()) for offset in offsets)


def reader(cluster, *partitions, offset=0, **config):
    """Make a consumer that is to read these partitions from an offset on, and knows leaders."""
    world = cluster(partitions=3, brokers=2)
    consumer = world.consumer(group_id="", **config)
    consumer.assign(partitions)
    for each in partitions:
        consumer.seek(each, offset)
    consumer.client.await_metadata_update(1_000)
    return world, consumer


def completed(partition, offset, *found, error=Errors.NONE):
    """Make what a fetch brought of a partition."""
    return CompletedFetch(partition, offset, PartitionData(error, 100, 0, records(*found)))


def taken(consumer):
    """Take records as a poll does; give their offsets by partition."""
    drained = consumer.fetcher.fetched_records()
    return {each: [record.offset for record in found] for each, found in drained.items()}


def broken_at_2(cluster, profile):
    """Make a consumer of whole numbers, and a partition whose third record is none."""
    kafka = cluster(profile, partitions=2)
    kafka.send("1", "2", "x", "4")
    consumer = kafka.consumer(value_deserializer=lambda data: int(data))
    consumer.assign([T0, T1])
    return kafka, consumer


def polled(consumer):
    """Poll, and pass over an error."""
    try:
        return list(consumer.poll(1_000))
    except KafkaError:
        return []


def errors_of(consumer, polls):
    """Give the errors that so many polls raise."""
    raised = []
    for _ in range(polls):
        try:
            consumer.poll(1_000)
        except KafkaError as error:
            raised.append(type(error))
    return raised


# What is asked for.


def test_one_fetch_goes_to_each_leader(cluster):
    """With all its partitions, each from its position on, and the sizes of the settings."""
    world, consumer = reader(
        cluster, T0, T1, T2, max_partition_fetch_bytes=99, fetch_min_bytes=3, fetch_max_wait_ms=70
    )
    consumer.seek(T1, 7)
    requests = consumer.fetcher.create_fetch_requests()
    by_leader = {}
    for each, offset in ((T0, 0), (T1, 7), (T2, 0)):
        leader = world.sim.cluster.find(each).leader
        by_leader.setdefault(leader, {})[each] = FetchPartition(offset, 99)
    assert len(by_leader) == 2
    assert {node: dict(each.partitions) for node, each in requests.items()} == by_leader
    for each in requests.values():
        assert (each.min_bytes, each.max_wait_ms, each.max_bytes) == (3, 70, 50 * 2**20)


def test_a_broker_that_owes_an_answer_is_not_asked(cluster):
    """One fetch at a time; the answer makes room for the next."""
    _, consumer = reader(cluster, T0)
    assert [consumer.fetcher.send_fetches() for _ in range(2)] == [1, 0]
    consumer.client.poll(1_000)
    assert not consumer.fetcher.should_block()
    assert taken(consumer) == {}
    assert consumer.fetcher.send_fetches() == 1


def test_what_waits_here_is_not_fetched_again(cluster):
    """Neither what came and was not looked at, nor what polls are taking from."""
    _, consumer = reader(cluster, T0, max_poll_records=1)
    fetcher = consumer.fetcher
    fetcher.completed_fetches.append(completed(T0, 0, 0, 1))
    assert fetcher.create_fetch_requests() == {}
    assert taken(consumer) == {T0: [0]}
    assert fetcher.create_fetch_requests() == {}
    assert taken(consumer) == {T0: [1]}
    assert fetcher.create_fetch_requests() == {}  # whether that was the last is not known yet
    assert taken(consumer) == {}
    assert [dict(each.partitions) for each in fetcher.create_fetch_requests().values()] == [
        {T0: FetchPartition(2, 2**20)}
    ]


@pytest.mark.parametrize(
    ("profile", "meanwhile"),
    [("0.10.1", [3]), ("1.0", []), ("2.3", []), ("2.4", []), ("4.0", [])],
)
@pytest.mark.parametrize("max_poll_records", [3, 4])
def test_the_next_fetch_is_sent_once_it_is_known_that_nothing_is_left(
    cluster, profile, meanwhile, max_poll_records
):
    """A poll that takes just what there was does not look further; 0.10 had read it all (0.11)."""
    kafka = cluster(profile)
    kafka.send(*"abc")
    consumer = kafka.consumer(max_poll_records=max_poll_records)
    consumer.assign([T0])
    assert kafka.read(consumer, 1) == ["a", "b", "c"]
    asked = kafka.sim.trace[-3:].where(kind="send", api="Fetch")
    positions = [each.detail["fields"]["partitions"]["t-0"]["fetch_offset"] for each in asked]
    assert positions == ([3] if max_poll_records == 4 else meanwhile)
    kafka.send("d")
    assert kafka.read(consumer, 1) == ["d"]


def test_paused_and_unplaced_partitions_are_not_fetched(cluster):
    """Until they are resumed, or have a position."""
    _, consumer = reader(cluster, T0, T1, T2)
    consumer.pause([T0])
    consumer.subscriptions.need_offset_reset(T1)
    requests = consumer.fetcher.create_fetch_requests()
    assert [list(each.partitions) for each in requests.values()] == [[T2]]


def test_an_unknown_leader_is_asked_for(cluster):
    """Nothing is fetched of its partition until metadata tells."""
    _, consumer = reader(cluster, T0)
    consumer.metadata.leaders = {}
    assert consumer.fetcher.create_fetch_requests() == {}
    assert consumer.metadata.update_requested()


# What is taken.


def test_a_poll_takes_up_to_max_poll_records(cluster):
    """From the next in line, then from the next that came; positions move past what was taken."""
    _, consumer = reader(cluster, T0, T1, max_poll_records=3)
    consumer.fetcher.completed_fetches += [completed(T0, 0, 0, 1), completed(T1, 0, 0, 1, 5)]
    assert taken(consumer) == {T0: [0, 1], T1: [0]}
    assert consumer.fetcher.next_in_line_records.partition == T1
    assert [consumer.position(each) for each in (T0, T1)] == [2, 1]
    assert taken(consumer) == {T1: [1, 5]}
    assert consumer.position(T1) == 6
    assert taken(consumer) == {}


def test_a_partition_that_is_drained_goes_to_the_end(cluster):
    """So that the others are fetched first."""
    _, consumer = reader(cluster, T0, T1, T2, max_poll_records=2)
    consumer.fetcher.completed_fetches.append(completed(T0, 0, 0, 1, 2))
    taken(consumer)
    assert list(consumer.subscriptions.assignment) == [T0, T1, T2]
    taken(consumer)
    assert list(consumer.subscriptions.assignment) == [T1, T2, T0]


def test_records_of_a_partition_that_is_wanted_are_drained(cluster):
    """Its position moves on: what the refusals below are measured by."""
    _, consumer = reader(cluster, T0)
    source = PartitionRecords(T0, 0, records=records(0, 1, 2))
    assert [each.value for each in consumer.fetcher.drain_records(source, 2)] == ["0", "1"]
    assert (source.is_drained(), consumer.position(T0)) == (False, 2)


@pytest.mark.parametrize(
    "change",
    [
        lambda consumer: consumer.assign([T1]),
        lambda consumer: consumer.pause([T0]),
        lambda consumer: consumer.subscriptions.need_offset_reset(T0),
        lambda consumer: consumer.seek(T0, 1),
    ],
    ids=["not_assigned", "paused", "no_position", "another_offset"],
)
def test_records_that_are_not_wanted_any_more_are_thrown_away(cluster, change):
    """Whether they are next in line or not looked at yet; nothing is returned, and none is left."""
    _, consumer = reader(cluster, T0)
    change(consumer)
    source = PartitionRecords(T0, 0, records=records(0, 1, 2))
    assert consumer.fetcher.drain_records(source, 2) == []
    assert source.is_drained()
    consumer.fetcher.completed_fetches.append(completed(T0, 0, 0, 1, 2))
    assert taken(consumer) == {}
    assert consumer.fetcher.should_block()


@pytest.mark.parametrize(
    ("profile", "asks_again"), [("1.0", True), ("2.3", True), ("2.4", False), ("4.0", False)]
)
def test_what_was_fetched_of_a_paused_partition_waits_for_it_since_2_4(
    cluster, profile, asks_again
):
    """KAFKA-7548: resume() gives the rest of a fetch; before, it was fetched once more."""
    kafka = cluster(profile, partitions=2)
    kafka.send(*"abcd")
    consumer = kafka.consumer(max_poll_records=1, fetch_max_wait_ms=100)
    consumer.assign([T0, T1])
    assert kafka.read(consumer, 1) == ["a"]
    consumer.pause([T0])
    kafka.send("z", partition=1)
    assert kafka.read(consumer, 1) == ["z"]
    assert kafka.read(consumer, 1) == []  # and virtual time passes
    consumer.resume([T0])
    before = len(kafka.sim.trace)
    assert kafka.read(consumer, 1) == ["b"]
    asked = [each for each in kafka.sim.trace[before:] if each.api == "Fetch"]
    fetched_again = any("t-0" in str(each.detail) for each in asked if each.kind == "send")
    assert fetched_again is asks_again
    assert kafka.read(consumer, 2) == ["c", "d"]


@pytest.mark.parametrize("change", ["seek", "reassign"])
def test_what_waits_for_a_paused_partition_is_stale_after_other_changes(cluster, change):
    """Its turn throws it away, if the position is another or the partition was gone."""
    kafka = cluster("4.0", partitions=2)
    kafka.send(*"abcd")
    consumer = kafka.consumer(max_poll_records=1)
    consumer.assign([T0, T1])
    assert kafka.read(consumer, 1) == ["a"]
    consumer.pause([T0])
    assert consumer.poll(300).count() == 0
    if change == "seek":
        consumer.seek(T0, 3)
    else:
        consumer.assign([T1])
        consumer.assign([T0, T1])
        consumer.seek(T0, 3)
    consumer.resume([T0])
    assert kafka.read(consumer, 1) == ["d"]


@pytest.mark.parametrize(("profile", "asks_again"), [("1.0", False), ("2.3", True), ("4.0", True)])
@pytest.mark.parametrize("away", ["assign", "unsubscribe"])
@pytest.mark.parametrize("max_poll_records", [1, 500])
def test_who_assigns_something_else_throws_away_what_came(
    cluster, profile, asks_again, away, max_poll_records
):
    """KAFKA-7096 (2.1): also if it comes back; before, it found again what it had left.

    Polls have taken some of it, or nothing was looked at.
    """
    kafka = cluster(profile, partitions=2)
    kafka.send("a", "b")
    consumer = kafka.consumer(max_poll_records=max_poll_records)
    consumer.assign([T0])
    if max_poll_records == 1:
        assert kafka.read(consumer, 1) == ["a"]
        position = 1
    else:
        consumer.seek(T0, 0)
        while not consumer.fetcher.completed_fetches:
            consumer.fetcher.send_fetches()
            consumer.client.poll(10)
        position = 0
    if away == "assign":
        consumer.assign([T1])
    else:
        consumer.unsubscribe()
    consumer.assign([T0])
    consumer.seek(T0, position)
    asked = len(kafka.sent("Fetch"))
    values = ["a", "b"][position:]
    assert [each.value for each in consumer.poll(0)] == ([] if asks_again else values)
    assert kafka.read(consumer, 1) == (values if asks_again else [])
    assert len(kafka.sent("Fetch")) > asked


@pytest.mark.parametrize(("profile", "kept"), [("1.0", [T0, T2]), ("2.3", [T0]), ("4.0", [T0])])
def test_who_assigns_less_keeps_what_came_of_the_rest(cluster, profile, kept):
    """Only what is not assigned any more goes; to assign something more changes nothing."""
    kafka = cluster(profile, partitions=3)
    consumer = kafka.consumer()
    consumer.assign([T0, T2])
    consumer.fetcher.completed_fetches.extend([completed(T0, 0, 0), completed(T2, 0, 0)])
    consumer.assign([T0, T1, T2])
    assert [each.partition for each in consumer.fetcher.completed_fetches] == [T0, T2]
    consumer.assign([T0, T1])
    assert [each.partition for each in consumer.fetcher.completed_fetches] == kept


@pytest.mark.parametrize(("profile", "kept"), [("1.0", "ab"), ("2.3", "b"), ("4.0", "b")])
def test_who_subscribes_to_less_keeps_what_came_of_those_topics(cluster, profile, kept):
    """By the topics, although the partitions of the others stay until the rebalance (2.1)."""
    kafka = cluster(profile)
    kafka.sim.create_topic("a", 1)
    kafka.sim.create_topic("b", 1)
    consumer = kafka.consumer()
    consumer.subscribe(["a", "b"])
    while not consumer.assignment():
        consumer.poll(100)
    consumer.fetcher.completed_fetches.clear()
    consumer.fetcher.completed_fetches.extend(
        completed(each, 0, 0) for each in consumer.assignment()
    )
    consumer.subscribe(["b"])
    assert "".join(each.partition.topic for each in consumer.fetcher.completed_fetches) == kept
    assert [each.topic for each in consumer.assignment()] == ["a", "b"]


@pytest.mark.parametrize("profile", ["1.0", "2.3", "4.0"])
def test_who_subscribes_to_another_pattern_keeps_what_came(cluster, profile):
    """Which topics match it, is not asked here: Kafka throws nothing away before the rebalance."""
    kafka = cluster(profile)
    kafka.send("x")
    consumer = kafka.consumer()
    consumer.subscribe(pattern="t")
    while not consumer.assignment():
        consumer.poll(0)
    consumer.fetcher.completed_fetches.clear()
    consumer.fetcher.completed_fetches.append(completed(T0, 0, 0))
    consumer.subscribe(pattern="other")
    assert [each.partition for each in consumer.fetcher.completed_fetches] == [T0]


# What cannot be read.


def test_what_comes_before_a_broken_record_is_returned_first(cluster):
    """Then each poll raises the same error, until seek() goes past it."""
    world = cluster()
    world.send("1", "2", "x", "4")
    consumer = world.consumer(group_id="", value_deserializer=lambda data: int(data))
    consumer.assign([T0])
    consumer.seek(T0, 0)
    assert world.read(consumer, 2) == [1, 2]
    for _ in range(2):
        with pytest.raises(
            SerializationError, match=r"^the record of t-0 at offset 2 cannot be re"
        ):
            consumer.poll(1_000)
        assert consumer.position(T0) == 2
    consumer.seek(T0, 3)
    assert world.read(consumer, 1) == [4]


def test_an_error_waits_for_the_records_before_it(cluster):
    """Those of another partition are returned; the next poll raises."""
    _, consumer = reader(cluster, T0, T1, auto_offset_reset="none")
    consumer.fetcher.completed_fetches += [
        completed(T0, 0, 0),
        completed(T1, 0, error=Errors.OFFSET_OUT_OF_RANGE),
    ]
    assert taken(consumer) == {T0: [0]}
    with pytest.raises(OffsetOutOfRangeError, match=r"^offset 0 of t-1 is not there"):
        taken(consumer)


@pytest.mark.parametrize("profile", ["1.0", "2.3", "2.4", "4.0"])
def test_a_broken_record_holds_up_every_partition(cluster, profile):
    """From 0.11 on its fetch stays the next in line, so that the others wait for a seek()."""
    kafka, consumer = broken_at_2(cluster, profile)
    assert kafka.read(consumer, 2) == [1, 2]
    kafka.send("7", partition=1)
    assert errors_of(consumer, 5) == [SerializationError] * 5
    consumer.seek(T0, 3)
    assert sorted(kafka.read(consumer, 2)) == [4, 7]


def test_before_0_11_a_broken_record_hides_those_before_it(cluster):
    """A fetch is read as a whole and dropped: other partitions go on (KAFKA-5211)."""
    kafka, consumer = broken_at_2(cluster, "0.10.1")
    assert errors_of(consumer, 4) == [SerializationError] * 4
    assert consumer.position(T0) == 0
    kafka.send("7", partition=1)
    found = [each.value for _ in range(6) for each in polled(consumer)]
    assert (found, consumer.position(T0)) == ([7], 0)
    consumer.seek(T0, 3)
    assert kafka.read(consumer, 1) == [4]


def test_before_0_11_what_was_read_as_a_whole_is_handed_out_in_pieces(cluster):
    """A key or value is deserialized once, although max.poll.records spreads it over polls."""
    kafka = cluster("0.10.1")
    kafka.send("1", "2", "3")
    read = []
    consumer = kafka.consumer(value_deserializer=lambda data: read.append(data), max_poll_records=1)
    consumer.assign([T0])
    consumer.poll(1_000)
    assert (len(read), consumer.position(T0)) == (3, 1)
    kafka.read(consumer, 2)
    assert (len(read), consumer.position(T0)) == (3, 3)


@pytest.mark.parametrize(
    ("profile", "found"),
    [("0.10.1", ["a"]), ("1.0", []), ("2.3", ["a"]), ("2.4", ["a"]), ("4.0", ["a"])],
)
def test_out_of_range_without_a_policy_holds_up_others_only_from_0_11_to_1_1(
    cluster, profile, found
):
    """Its fetch stayed first in line for good; it is dropped and asked for anew (KAFKA-6877)."""
    kafka = cluster(profile, partitions=2)
    consumer = kafka.consumer(auto_offset_reset="none")
    consumer.assign([T0, T1])
    consumer.seek(T0, 50)
    consumer.seek(T1, 0)
    assert errors_of(consumer, 2)[0] is OffsetOutOfRangeError
    kafka.send("a", partition=1)
    assert [each.value for _ in range(6) for each in polled(consumer)] == found
    assert OffsetOutOfRangeError in errors_of(consumer, 2)
    consumer.seek(T0, 0)
    consumer.seek(T1, 0)
    assert kafka.read(consumer, 1) == ["a"]


# Answers with an error.


def test_out_of_range_with_a_policy_is_a_reset(cluster):
    """The position is found anew, and reading goes on there."""
    world, consumer = reader(cluster, T0, offset=50, auto_offset_reset="earliest")
    world.send("a", "b")
    assert world.read(consumer, 2) == ["a", "b"]
    resets = [
        each.offset
        for each in world.sim.trace.where(kind="position", node="c1")
        if each.detail["reason"] == "reset"
    ]
    assert resets == [None, 0]


def test_out_of_range_without_a_policy_is_raised(cluster):
    """Again and again, until seek() goes to an offset that is there."""
    world, consumer = reader(cluster, T0, offset=50, auto_offset_reset="none")
    world.send("a")
    for _ in range(2):
        with pytest.raises(
            OffsetOutOfRangeError, match=r"^offset 50 of t-0 is not there, and auto"
        ):
            consumer.poll(1_000)
    consumer.seek(T0, 0)
    assert world.read(consumer, 1) == ["a"]


def test_out_of_range_at_a_position_of_before_is_no_matter(cluster):
    """The application has moved on in between."""
    _, consumer = reader(cluster, T0, auto_offset_reset="none")
    consumer.fetcher.completed_fetches.append(completed(T0, 50, error=Errors.OFFSET_OUT_OF_RANGE))
    assert taken(consumer) == {}
    assert consumer.position(T0) == 0


@pytest.mark.parametrize(
    ("error", "asks"),
    [
        (Errors.NOT_LEADER_OR_FOLLOWER, True),
        (Errors.UNKNOWN_TOPIC_OR_PARTITION, True),
        (Errors.UNKNOWN_SERVER_ERROR, False),
    ],
)
def test_errors_that_pass_put_the_partition_last(cluster, error, asks):
    """Metadata is asked for where it may be out of date; the position stays."""
    _, consumer = reader(cluster, T0, T1)
    consumer.fetcher.completed_fetches.append(completed(T0, 0, error=error))
    assert taken(consumer) == {}
    assert consumer.metadata.update_requested() is asks
    assert list(consumer.subscriptions.assignment) == [T1, T0]
    assert consumer.position(T0) == 0


def test_an_error_that_no_fetch_has_is_raised(cluster):
    """The sentence names it."""
    _, consumer = reader(cluster, T0)
    consumer.fetcher.completed_fetches.append(completed(T0, 0, error=Errors.INVALID_GROUP_ID))
    with pytest.raises(IllegalStateError, match=r"^a fetch of t-0 is answered INVALID_GROUP_ID$"):
        taken(consumer)


def test_what_could_not_be_used_is_taken_again():
    """Records that are put back are the next ones, from their own offset on."""
    source = PartitionRecords(T0, 3, records=records(3, 4, 6, 9))
    assert source.drain_records(3) == records(3, 4, 6)
    source.put_back(records(4, 6))
    assert (source.fetch_offset, source.is_drained()) == (4, False)
    assert source.drain_records(9) == records(4, 6, 9)
    assert (source.fetch_offset, source.is_drained()) == (10, True)
    assert source.drain_records(1) == ()


def test_a_record_that_cannot_be_read_stops_every_poll_until_it_is_passed(cluster):
    """What comes before it is given first; it is met again and again until a seek."""
    world = cluster()
    world.send("1", "2", "x", "4")
    consumer = world.consumer(group_id="", value_deserializer=lambda data: int(data))
    consumer.assign([T0])
    assert world.read(consumer, 2) == [1, 2]
    for _ in range(2):
        with pytest.raises(SerializationError) as refused:
            consumer.poll(1_000)
        assert str(refused.value) == (
            "the record of t-0 at offset 2 cannot be read: invalid literal for int() with base 10: "
            "b'x'; seek() past it to go on"
        )
        assert consumer.position(T0) == 2
    consumer.seek(T0, 3)
    assert world.read(consumer, 1) == [4]


def test_key_and_value_are_read_each_in_its_way(cluster):
    """By their own deserialisers; a record without a key has none."""
    world = cluster()
    world.send("1", key="7")
    world.send("2")
    given = {"key_deserializer": lambda data: -int(data), "value_deserializer": bytes.decode}
    consumer = world.consumer(group_id="", **given)
    consumer.assign([T0])
    found = [(record.key, record.value, record.offset) for record in consumer.poll(1_000)]
    assert found == [(-7, "1", 0), (None, "2", 1)]


def test_headers_come_with_their_record(cluster):
    """As they were sent, in their order; a value may be missing."""
    world = cluster()
    headers = (("trace", b"1"), ("trace", b"2"), ("empty", None))
    world.send("a", headers=headers)
    world.send("b")
    consumer = world.consumer(group_id="")
    consumer.assign([T0])
    assert [each.headers for each in consumer.poll(1_000)] == [headers, ()]


def test_a_fetch_that_is_not_allowed_is_an_error_of_the_api(cluster):
    """TOPIC_AUTHORIZATION_FAILED, as a poll may meet it, with its partition."""
    _, consumer = reader(cluster, T0)
    error = Errors.TOPIC_AUTHORIZATION_FAILED
    consumer.fetcher.completed_fetches.append(completed(T0, 0, error=error))
    with pytest.raises(ApiError, match=r"^the topic of t-0 may not be read") as caught:
        taken(consumer)
    assert caught.value.error is error


@pytest.mark.parametrize("profile", ["1.0", "2.3", "2.4", "4.0"])
def test_what_is_here_is_read_while_no_broker_can_be_reached(cluster, profile):
    """assign() waits for metadata then, as to send would fail at once, and returns what it has."""
    kafka = cluster(profile)
    kafka.send(*"abcd")
    consumer = kafka.consumer(max_poll_records=1, request_timeout_ms=12_000)
    consumer.assign([T0])
    assert kafka.read(consumer, 1) == ["a"]
    kafka.lose_all_brokers(600_000)
    consumer.poll(0)
    kafka.sim.sleep(15_000)  # and every connection is found to be broken
    assert [record.value for _ in range(6) for record in consumer.poll(1_000)] == ["c", "d"]


@pytest.mark.parametrize(
    ("profile", "goes"), [("1.0", False), ("2.3", True), ("2.4", True), ("4.0", True)]
)
def test_a_fetch_beside_a_request_of_another_kind(cluster, profile, goes):
    """KAFKA-8052: a broker that still owes an answer about metadata may be asked for records."""
    late = Delay("Metadata", 3_000, nth=3, node="c1")
    kafka = cluster(profile, brokers=1, faults=[late])
    consumer = kafka.consumer(metadata_max_age_ms=1_000, fetch_max_wait_ms=100)
    consumer.assign([T0])
    kafka.send("a")
    assert kafka.read(consumer, 1) == ["a"]
    while len(kafka.sent("Metadata")) < 3:
        consumer.poll(50)
    consumer.poll(5_000)
    asked_ms = kafka.sent("Metadata")[2]
    assert any(0 < each - asked_ms < 2_000 for each in kafka.sent("Fetch")) is goes


# A topic that is not there yet.


@pytest.mark.parametrize(
    ("profile", "asks_often"),
    [("0.10.1", False), ("1.0", True), ("2.3", True), ("2.4", True), ("4.0", True)],
)
def test_a_topic_that_is_not_there_yet_is_asked_for(cluster, profile, asks_often):
    """KAFKA-4631: until 0.10.2 a consumer looked again after metadata.max.age.ms only."""
    kafka = cluster(profile, auto_create_topics_enable=False)
    consumer = kafka.consumer(metadata_max_age_ms=60_000)
    consumer.subscribe(["late"])
    while kafka.sim.now_ms < 5_000:
        consumer.poll(200)
    kafka.sim.create_topic("late")
    made_ms = kafka.sim.now_ms
    while not consumer.assignment():
        consumer.poll(200)
    assert (kafka.sim.now_ms - made_ms < 1_000) is asks_often
    assert (len(kafka.sent("Metadata")) > 5) is asks_often


@pytest.mark.parametrize(
    ("profile", "asks"), [("0.10.1", 1), ("1.0", 1), ("2.3", 2), ("2.4", 2), ("4.0", 2)]
)
def test_topics_that_a_pattern_matches_are_asked_for(cluster, profile, asks):
    """Since 2.3 once more, although the first answer was about all topics."""
    kafka = cluster(profile)
    consumer = kafka.consumer()
    consumer.subscribe(pattern="t.*")
    while kafka.sim.now_ms < 10_000:
        consumer.poll(200)
    assert (consumer.assignment(), len(kafka.sent("Metadata"))) == ([T0], asks)
