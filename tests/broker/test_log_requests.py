import pytest

from kafkalearn.broker.broker_config import BrokerConfig
from kafkalearn.config import configure
from kafkalearn.errors import InvalidRequestError
from kafkalearn.profile import KAFKA_0_10_1, KAFKA_1_0, KAFKA_4_0, profile_of
from kafkalearn.protocol.fetch import (
    EARLIEST_TIMESTAMP,
    LATEST_TIMESTAMP,
    ListOffsetsRequest,
)
from kafkalearn.protocol.produce import ProduceRequest
from kafkalearn.records import Record, TopicPartition
from tests.broker.world import World, records


@pytest.fixture
def world():
    """Two brokers; b0 leads t-0 and t-2, b1 leads t-1."""
    world = World(brokers=2, message_max_bytes=10)
    world.create("t", 3)
    world.events.clear()
    return world


def produce(batches, *, acks=1):
    return ProduceRequest(
        acks=acks,
        timeout_ms=1000,
        batches={TopicPartition(*partition): batch for partition, batch in batches.items()},
    )


def answered(response):
    return {str(key): (answer[0].name, *answer[1:]) for key, answer in response.partitions.items()}


@pytest.mark.parametrize("acks", [1, -1])
def test_produce_appends_and_tells_where(world, acks):
    """Each batch gets its base offset and the log's start; answers are in the request's order."""
    world.write("t", b"x", b"y")
    world.partition("t").log.delete_records(1)
    request = produce({("t", 2): records(b"a"), ("t", 0): records(b"b", b"c")}, acks=acks)
    assert list(answered(world.answer(request)).items()) == [
        ("t-2", ("NONE", 0, 0)),
        ("t-0", ("NONE", 2, 1)),
    ]
    assert [record.value for record in world.partition("t").log.read(1, 100)] == [b"y", b"b", b"c"]


def test_an_append_is_recorded_with_its_base_offset(world):
    """The trace tells which records came when; timestamp_ms is the first one's."""
    world.write("t", b"a", b"b", now_ms=5)
    world.write("t", b"c", now_ms=7)
    assert world.seen("append") == [
        (
            "b0",
            "append",
            5,
            {"topic": "t", "partition": 0, "offset": 0, "detail": {"count": 2, "timestamp_ms": 5}},
        ),
        (
            "b0",
            "append",
            7,
            {"topic": "t", "partition": 0, "offset": 2, "detail": {"count": 1, "timestamp_ms": 7}},
        ),
    ]


def test_acks_0_gets_no_answer(world):
    """Nobody listens; good batches are written all the same, bad ones are lost."""
    request = produce({("nowhere", 0): records(b"a"), ("t", 0): records(b"b")}, acks=0)
    assert world.ask(request) == []
    assert world.partition("t").log.log_end_offset == 1


@pytest.mark.parametrize(
    ("partition", "batch", "error"),
    [
        (("nowhere", 0), records(b"a"), "UNKNOWN_TOPIC_OR_PARTITION"),
        (("t", 3), records(b"a"), "UNKNOWN_TOPIC_OR_PARTITION"),
        (("t", -1), records(b"a"), "UNKNOWN_TOPIC_OR_PARTITION"),
        (("t", 1), records(b"a"), "NOT_LEADER_OR_FOLLOWER"),
        (("t", 1), records(b"a" * 11), "NOT_LEADER_OR_FOLLOWER"),
        (("t", 2), records(b"a" * 11), "MESSAGE_TOO_LARGE"),
        (("t", 2), records(b"a" * 6, b"b" * 5), "MESSAGE_TOO_LARGE"),
        (("__consumer_offsets", 0), records(b"a"), "INVALID_TOPIC_EXCEPTION"),
    ],
)
def test_a_batch_that_is_refused_leaves_the_others_alone(world, partition, batch, error):
    """Nothing of it is written, its answer has no offsets, and its neighbour is written."""
    request = produce({partition: batch, ("t", 0): records(b"x" * 10)})
    refused = f"{partition[0]}-{partition[1]}"
    assert answered(world.answer(request)) == {refused: (error, -1, -1), "t-0": ("NONE", 0, 0)}
    assert [event[3]["partition"] for event in world.seen("append")] == [0]


@pytest.mark.parametrize(
    ("profile", "several"),
    [(KAFKA_0_10_1, "NONE"), (KAFKA_1_0, "MESSAGE_TOO_LARGE"), (KAFKA_4_0, "MESSAGE_TOO_LARGE")],
    ids=["0.10.1", "1.0", "4.0"],
)
def test_what_message_max_bytes_measures(profile, several):
    """Up to 0.10 each message, then the batch; one message too large refuses all of its batch."""
    world = World(profile=profile, message_max_bytes=10)
    world.create("t", 3)
    batches = [records(b"a" * 10, b"b" * 10), records(b"a", b"b" * 11), records(b"a" * 4, b"b" * 6)]
    request = produce({("t", number): batch for number, batch in enumerate(batches)})
    told = [error for error, *_ in answered(world.answer(request)).values()]
    assert told == [several, "MESSAGE_TOO_LARGE", "NONE"]
    ends = [world.partition("t", number).log.log_end_offset for number in range(3)]
    assert ends == [2 if several == "NONE" else 0, 0, 2]


@pytest.mark.parametrize("acks", [2, -2])
def test_acks_that_do_not_exist_are_refused(world, acks):
    """Nothing is written; a topic that is not there is told first."""
    batches = {("t", 0): records(b"a"), ("t", 1): records(b"a"), ("nowhere", 0): records(b"a")}
    assert answered(world.answer(produce(batches, acks=acks))) == {
        "t-0": ("INVALID_REQUIRED_ACKS", -1, -1),
        "t-1": ("INVALID_REQUIRED_ACKS", -1, -1),
        "nowhere-0": ("UNKNOWN_TOPIC_OR_PARTITION", -1, -1),
    }
    assert world.partition("t").log.log_end_offset == 0


def test_an_empty_batch_is_refused_before_anything_is_written(world):
    """No client can send it, so the request as a whole is an error of who made it."""
    with pytest.raises(InvalidRequestError, match="t-2 is empty: one record or more is allowed"):
        world.ask(produce({("t", 0): records(b"a"), ("t", 2): ()}))
    assert world.partition("t").log.log_end_offset == 0


def test_asking_about_topics_is_the_only_way_to_make_one(world):
    """Produce to an unknown topic does not create it."""
    world.ask(produce({("nowhere", 0): records(b"a")}))
    assert "nowhere" not in world.cluster.topics


def list_offsets(world, timestamp, *partitions):
    partitions = [TopicPartition("t", number) for number in partitions or (0,)]
    answer = world.answer(ListOffsetsRequest(partitions=dict.fromkeys(partitions, timestamp)))
    return {str(key): (found[0].name, *found[1:]) for key, found in answer.partitions.items()}


@pytest.mark.parametrize(
    ("timestamp", "found"),
    [
        (EARLIEST_TIMESTAMP, (-1, 1)),
        (LATEST_TIMESTAMP, (-1, 3)),
        (0, (20, 1)),
        (21, (30, 2)),
        (31, (-1, -1)),
    ],
)
def test_list_offsets_finds_what_consumers_can_read(world, timestamp, found):
    """The earliest is the log's start, the latest the high watermark; none is as young: -1."""
    log = world.partition("t").log
    log.append(Record(-1, time_ms, None, b"x") for time_ms in (10, 20, 30))
    log.delete_records(1)
    assert list_offsets(world, timestamp) == {"t-0": ("NONE", *found)}


def test_an_empty_log_has_an_offset_but_no_time(world):
    """Both ends are 0, and no record is as young as any time."""
    found = [list_offsets(world, each)["t-0"] for each in (-2, -1, 0)]
    assert found == [("NONE", -1, 0), ("NONE", -1, 0), ("NONE", -1, -1)]


def test_list_offsets_asks_the_leader(world):
    """Errors stand beside what was found."""
    assert list_offsets(world, LATEST_TIMESTAMP, 0, 1, 9) == {
        "t-0": ("NONE", -1, 0),
        "t-1": ("NOT_LEADER_OR_FOLLOWER", -1, -1),
        "t-9": ("UNKNOWN_TOPIC_OR_PARTITION", -1, -1),
    }


@pytest.mark.parametrize(
    ("profile", "size"),
    [(each, 1_000_012) for each in ("0.10.1", "1.0", "2.3", "2.4")] + [("4.0", 1_048_588)],
)
def test_how_large_a_batch_may_be_by_default(profile, size):
    """message.max.bytes is 1,000,000 and 12 bytes around a batch; since 2.5, 1 MiB and 12."""
    assert configure(BrokerConfig, profile_of(profile).version, given={}).message_max_bytes == size
