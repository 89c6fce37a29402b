import pytest

from kafkalearn.broker.cluster import OffsetsTopic
from kafkalearn.errors import Errors, IllegalStateError, InvalidRequestError
from kafkalearn.profile import KAFKA_0_10_1, KAFKA_1_0, KAFKA_2_3, KAFKA_4_0
from kafkalearn.protocol.group import FindCoordinatorRequest, HeartbeatRequest, SyncGroupRequest
from kafkalearn.protocol.message import Request
from kafkalearn.protocol.offsets import OffsetCommitRequest
from kafkalearn.records import OffsetAndMetadata, TopicPartition
from tests.broker.world import World, records

OFFSETS = "__consumer_offsets"
UNKNOWN = "UNKNOWN_TOPIC_OR_PARTITION"


def leaders(world, topic):
    return [partition.leader for partition in world.cluster.topics[topic].partitions]


def test_the_offsets_topic_is_there_from_the_start():
    """Its partitions are spread over the brokers, and each coordinator hears of its own."""
    world = World(brokers=2)
    assert leaders(world, OFFSETS) == ["b0", "b1", "b0", "b1"]
    assert world.told == [
        ("b0", "startup", 0),
        ("b0", "immigration 0", 0),
        ("b0", "immigration 2", 0),
        ("b1", "startup", 0),
        ("b1", "immigration 1", 0),
        ("b1", "immigration 3", 0),
    ]


def test_a_crash_gives_its_partitions_to_the_next_living_broker():
    """In ring order, so that equal runs elect alike; its coordinator hears, the trace tells."""
    world = World(brokers=3)
    world.create("t", 3)
    world.events.clear()
    world.told.clear()
    world.crash("b1", 5)
    assert leaders(world, "t") == ["b0", "b2", "b2"]
    assert leaders(world, OFFSETS) == ["b0", "b2", "b2", "b0"]
    assert world.told == [("b2", "immigration 1", 5)]
    taken = {"detail": {"previous": "b1"}}
    assert world.seen("leader_elected") == [
        ("b2", "leader_elected", 5, {"topic": "t", "partition": 1, **taken}),
    ]
    world.crash("b2", 6)
    assert leaders(world, "t") == ["b0", "b0", "b0"]


def test_records_outlive_the_broker_that_wrote_them():
    """The log is the cluster's: whoever leads next goes on where it ended."""
    world = World(brokers=2)
    world.create("t")
    world.write("t", b"a")
    world.crash("b0", 5)
    assert world.write("t", b"b", now_ms=6) == 1
    assert [record.value for record in world.partition("t").log.read_all()] == [b"a", b"b"]


def test_a_broker_that_comes_back_takes_only_what_nobody_leads():
    """Nothing is taken from a living leader; after a total outage the first one up gets all."""
    world = World(brokers=2)
    world.create("t", 2)
    world.crash("b0", 1)
    world.told.clear()
    world.start("b0", 2)
    assert leaders(world, "t") == ["b1", "b1"]
    assert world.told == [("b0", "startup", 2)]
    world.crash("b0", 3)
    world.crash("b1", 4)
    assert leaders(world, "t") == [None, None]
    world.events.clear()
    world.start("b1", 5)
    assert leaders(world, "t") == ["b1", "b1"]
    assert world.seen("leader_elected")[-1] == (
        "b1",
        "leader_elected",
        5,
        {"topic": "t", "partition": 1},
    )
    assert [each for each in world.told if each[2] == 5] == [
        ("b1", "startup", 5),
        *[("b1", f"immigration {number}", 5) for number in range(4)],
    ]


def test_a_leader_can_be_moved_by_hand():
    """The old coordinator lets its groups go before the new one takes them; twice is once."""
    world = World(brokers=2)
    world.told.clear()
    for _ in range(2):
        world.cluster.move_leader(world.partition(OFFSETS, 2), "b1", now_ms=8)
    assert world.told == [("b0", "emigration 2", 8), ("b1", "immigration 2", 8)]
    assert world.seen("leader_elected") == []  # an empty partition of Kafka's own concerns nobody


def test_who_leads_by_hand_is_in_the_trace():
    """With the one who led before."""
    world = World(brokers=2)
    world.create("t", 1)
    world.events.clear()
    world.cluster.move_leader(world.partition("t"), "b1", now_ms=8)
    assert world.seen("leader_elected") == [
        ("b1", "leader_elected", 8, {"topic": "t", "partition": 0, "detail": {"previous": "b0"}})
    ]


def test_a_leader_can_be_moved_from_a_partition_without_one():
    """Nobody has to resign."""
    world = World(brokers=2)
    partition = world.partition(OFFSETS)
    partition.leader = None
    world.cluster.move_leader(partition, "b1", now_ms=8)
    assert world.told[-1] == ("b1", "immigration 0", 8)


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda world: world.start("b9", 1), "b9 is not of this cluster: the brokers are b0, b1"),
        (lambda world: world.start("b1", 1), "b1 is up already: the brokers are b0, b1"),
        (
            lambda world: world.cluster.broker_down("b9", now_ms=1),
            "b9 is not up: of the brokers, b0, b1 are",
        ),
        (
            lambda world: world.cluster.move_leader(world.partition(OFFSETS), "b9", now_ms=1),
            "b9 is not up: of the brokers, b0, b1 are",
        ),
    ],
)
def test_a_broker_that_is_not_there_is_named(act, sentence):
    """And so are those there are."""
    with pytest.raises(IllegalStateError, match=sentence):
        act(World(brokers=2))


def test_a_group_is_sent_to_the_leader_of_its_partition():
    """Any broker can be asked, about any key, an empty one included."""
    world = World(brokers=2)
    for node in world.brokers:
        for key, coordinator in (("g", "b1"), ("gg", "b0"), ("", "b0")):
            answer = world.answer(FindCoordinatorRequest(key=key), node=node)
            assert (answer.error_code, answer.node) == (Errors.NONE, coordinator)


def test_without_a_leader_there_is_no_coordinator():
    """The client looks again later."""
    world = World()
    world.partition(OFFSETS, 1).leader = None
    answer = world.answer(FindCoordinatorRequest(key="g"))
    assert (answer.error_code, answer.node) == (Errors.COORDINATOR_NOT_AVAILABLE, "")


def commit(*partitions):
    offsets = {TopicPartition(*each): OffsetAndMetadata(5) for each in partitions}
    return OffsetCommitRequest(group_id="g", offsets=offsets)


def test_the_coordinator_judges_what_exists():
    """A commit with a partition that does not exist goes on without it; answers keep the order."""
    world = World(profile=KAFKA_2_3)
    world.create("t", 2)
    request = commit(("nowhere", 0), ("t", 1), ("t", 2), ("t", 0))
    errors = world.answer(request, now_ms=3).partitions
    assert [(str(key), error.name) for key, error in errors.items()] == [
        ("nowhere-0", UNKNOWN),
        ("t-1", "NONE"),
        ("t-2", UNKNOWN),
        ("t-0", "NONE"),
    ]
    node, judged, now_ms = world.told[-1]
    assert (node, now_ms, judged) == ("b0", 3, commit(("t", 1), ("t", 0)))


@pytest.mark.parametrize(
    ("profile", "error"),
    [
        (KAFKA_0_10_1, Errors.NONE),
        (KAFKA_1_0, Errors.NONE),
        (KAFKA_2_3, Errors.UNKNOWN_TOPIC_OR_PARTITION),
        (KAFKA_4_0, Errors.UNKNOWN_TOPIC_OR_PARTITION),
    ],
    ids=["0.10.1", "1.0", "2.3", "4.0"],
)
def test_a_commit_for_a_partition_that_its_topic_does_not_have(profile, error):
    """Before 2.0 it was kept: only the topic was looked up, and one without it is refused there."""
    world = World(profile=profile)
    world.create("t", 1)
    answer = world.answer(commit(("t", 0), ("t", 99), ("nowhere", 0)))
    assert list(answer.partitions.values()) == [Errors.NONE, error, Errors.of(UNKNOWN)]
    (_, request, _) = world.told[-1]
    assert len(request.offsets) == (1 if error else 2)


def test_a_commit_of_nothing_that_exists_never_reaches_the_coordinator():
    """So it is no heartbeat either; no partition at all is answered with none."""
    world = World()
    world.told.clear()
    assert world.answer(commit(("nowhere", 0))).partitions == {
        TopicPartition("nowhere", 0): Errors.UNKNOWN_TOPIC_OR_PARTITION
    }
    assert world.answer(commit()).partitions == {}
    assert world.told == []


def test_group_requests_go_to_the_coordinator():
    """As they are, with the time and the way to answer."""
    world = World()
    request = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
    assert world.answer(request, now_ms=9).error_code is Errors.NONE
    assert world.told[-1] == ("b0", request, 9)


class StrangeRequest(Request):
    """A request that no broker knows."""

    api = "Strange"


@pytest.mark.parametrize(
    "request_", [StrangeRequest(), SyncGroupRequest(group_id="g", generation_id=1, member_id="m")]
)
def test_a_request_that_no_handler_knows_is_refused(request_):
    """It is named, with those that there are; this coordinator knows no SyncGroup."""
    sentence = f"{type(request_).__name__} is no request: HeartbeatRequest, .*MetadataRequest"
    with pytest.raises(InvalidRequestError, match=sentence):
        World().ask(request_)


def test_the_coordinator_writes_to_the_logs_of_the_offsets_topic():
    """Its records are in the trace, and whoever takes the partition over reads them all."""
    world = World(brokers=2)
    topic = OffsetsTopic(world.cluster)
    topic.append(1, records(b"a", b"b", timestamp_ms=4))
    topic.append(1, ())
    assert [record.value for record in topic.read_all(1)] == [b"a", b"b"]
    assert list(topic.read_all(0)) == []
    detail = {"count": 2, "timestamp_ms": 4}
    assert world.seen("append") == [
        ("b1", "append", 4, {"topic": OFFSETS, "partition": 1, "offset": 0, "detail": detail})
    ]
