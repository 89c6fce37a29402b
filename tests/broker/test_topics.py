import pytest

from kafkalearn.errors import IllegalStateError
from kafkalearn.profile import KAFKA_0_10_1, KAFKA_1_0, KAFKA_2_3, KAFKA_2_4, KAFKA_4_0
from kafkalearn.protocol.metadata import (
    CreatableTopic,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    MetadataRequest,
)
from kafkalearn.records import TopicPartition
from tests.broker.world import World

OFFSETS = "__consumer_offsets"


def results(response):
    return {name: result.error_code.name for name, result in response.results.items()}


def create(world, name, partitions=1, *, node="b0", validate_only=False, **configs):
    """Give the error's name and the reason."""
    topic = CreatableTopic(partitions, {k.replace("_", "."): v for k, v in configs.items()})
    request = CreateTopicsRequest(topics={name: topic}, validate_only=validate_only)
    (result,) = world.answer(request, node=node, now_ms=7).results.values()
    return result.error_code.name, result.error_message


def test_a_new_topic_is_spread_over_the_living_brokers():
    """Leaders go round from topic to topic, and the trace tells who leads what."""
    world = World(brokers=3)
    assert create(world, "a", 2) == ("NONE", None)
    assert create(world, "b", 2) == ("NONE", None)
    assert [each.leader for each in world.cluster.topics["a"].partitions] == ["b0", "b1"]
    assert [each.leader for each in world.cluster.topics["b"].partitions] == ["b2", "b0"]
    assert world.seen("topic_changed", "leader_elected")[:3] == [
        ("b0", "topic_changed", 7, {"topic": "a", "detail": {"change": "created", "count": 2}}),
        ("b0", "leader_elected", 7, {"topic": "a", "partition": 0}),
        ("b1", "leader_elected", 7, {"topic": "a", "partition": 1}),
    ]
    world.crash("b0", 8)
    assert create(world, "c", 2, node="b1") == ("NONE", None)
    assert world.seen("topic_changed")[-1][0] == "b1"  # whoever was asked
    assert [each.leader for each in world.cluster.topics["c"].partitions] == ["b1", "b2"]


def test_minus_one_partitions_are_the_brokers_num_partitions():
    """A client may leave the number to the broker."""
    world = World(num_partitions=3)
    create(world, "t", -1)
    assert len(world.cluster.topics["t"].partitions) == 3


@pytest.mark.parametrize(
    ("name", "settings", "error", "reason"),
    [
        ("t", {"partitions": 0}, "INVALID_PARTITIONS", "0 partitions: 1 to 10,000 are allowed"),
        ("t", {"partitions": -2}, "INVALID_PARTITIONS", "-2 partitions: 1 to 10,000 are allowed"),
        ("t", {"partitions": 10_001}, "INVALID_PARTITIONS", "10,001 partitions: 1 to 10,000 are"),
        ("t", {"partitions": 10**9}, "INVALID_PARTITIONS", "1,000,000,000 partitions: 1 to"),
        ("", {}, "INVALID_TOPIC_EXCEPTION", "'' is no topic name"),
        ("a b", {}, "INVALID_TOPIC_EXCEPTION", "'a b' is no topic name"),
        ("x" * 250, {}, "INVALID_TOPIC_EXCEPTION", "is no topic name"),
        ("my.topic", {}, "TOPIC_ALREADY_EXISTS", "there is a topic my.topic already"),
        ("my_topic", {}, "INVALID_TOPIC_EXCEPTION", "my_topic collides with my.topic"),
        (OFFSETS, {}, "TOPIC_ALREADY_EXISTS", "there is a topic __consumer_offsets already"),
        ("t", {"retention": 1}, "INVALID_CONFIG", "retention.ms and retention.bytes are known"),
        ("t", {"retention_ms": -2}, "INVALID_CONFIG", "retention.ms is -2: a whole number from"),
        ("t", {"retention_ms": "x"}, "INVALID_CONFIG", "retention.ms is 'x': a whole number from"),
        ("t", {"retention_ms": True}, "INVALID_CONFIG", "retention.ms is True: a whole number"),
        ("a b", {"retention": 1}, "INVALID_CONFIG", "retention is no setting of a topic"),
        ("t", {"cleanup_policy": 1}, "INVALID_CONFIG", "cleanup.policy is a setting that is not"),
        ("a b", {"partitions": 0}, "INVALID_PARTITIONS", "0 partitions"),
    ],
)
def test_a_topic_that_kafka_refuses_is_not_made(name, settings, error, reason):
    """The first of Kafka's checks that fails names the value and what is allowed."""
    world = World()
    world.create("my.topic")
    before = list(world.cluster.topics)
    found, message = create(world, name, **settings)
    assert found == error
    assert reason in message
    assert list(world.cluster.topics) == before


@pytest.mark.parametrize(
    ("profile", "first"),
    [
        (KAFKA_1_0, ["INVALID_CONFIG", "INVALID_PARTITIONS", "TOPIC_ALREADY_EXISTS"]),
        (KAFKA_2_3, ["TOPIC_ALREADY_EXISTS"]),
        (KAFKA_4_0, ["TOPIC_ALREADY_EXISTS"]),
    ],
)
def test_when_it_is_seen_that_a_topic_exists(profile, first):
    """At the end in 1.0; before anything else since 2.3.1 (KAFKA-8875)."""
    world = World(profile=profile)
    world.create("t")
    wrong = [{"retention": 1, "partitions": 0}, {"partitions": 0}, {}]
    found = [create(world, "t", **settings)[0] for settings in wrong]
    assert list(dict.fromkeys(found)) == first


@pytest.mark.parametrize(
    ("profile", "errors"),
    [
        (KAFKA_2_4, ["INVALID_CONFIG", "INVALID_PARTITIONS", "INVALID_TOPIC_EXCEPTION"]),
        (KAFKA_4_0, ["INVALID_TOPIC_EXCEPTION"] * 3),
    ],
)
@pytest.mark.parametrize("name", ["a b", "my_topic"])
def test_when_it_is_seen_that_a_name_is_wrong(profile, errors, name):
    """Last up to 2.4, first in 4.0; the settings are looked at before the number of partitions."""
    world = World(profile=profile)
    world.create("my.topic")
    wrong = [{"retention": 1, "partitions": 0}, {"partitions": 0}, {}]
    assert [create(world, name, **settings)[0] for settings in wrong] == errors
    assert create(world, "t", **wrong[0])[0] == "INVALID_CONFIG"


def test_one_bad_topic_does_not_stop_the_others():
    """Each has its own result, in the request's order."""
    world = World()
    request = CreateTopicsRequest(topics={"": CreatableTopic(), "t": CreatableTopic()})
    assert list(results(world.answer(request)).items()) == [
        ("", "INVALID_TOPIC_EXCEPTION"),
        ("t", "NONE"),
    ]
    assert "t" in world.cluster.topics


def test_validating_makes_nothing():
    """validate_only tells what would happen."""
    world = World()
    assert create(world, "t", validate_only=True) == ("NONE", None)
    assert create(world, "t", 0, validate_only=True)[0] == "INVALID_PARTITIONS"
    assert (list(world.cluster.topics), world.events) == ([OFFSETS], [])


def test_a_topic_grows_while_its_records_stay():
    """New partitions are empty and have their own leaders."""
    world = World(brokers=2)
    world.create("t")
    world.write("t", b"a")
    world.events.clear()
    request = CreatePartitionsRequest(topics={"t": 3})
    assert results(world.answer(request, now_ms=9)) == {"t": "NONE"}
    ends = [each.log.log_end_offset for each in world.cluster.topics["t"].partitions]
    assert ends == [1, 0, 0]
    assert [each.leader for each in world.cluster.topics["t"].partitions] == ["b0", "b1", "b0"]
    grown = {"change": "partitions_added", "count": 3}
    assert world.seen("topic_changed", "leader_elected") == [
        ("b0", "topic_changed", 9, {"topic": "t", "detail": grown}),
        ("b1", "leader_elected", 9, {"topic": "t", "partition": 1}),
        ("b0", "leader_elected", 9, {"topic": "t", "partition": 2}),
    ]


def test_a_grown_topic_keeps_its_own_settings():
    """The new partitions age as the old ones do."""
    world = World()
    world.create("t", retention_ms=-1)
    world.answer(CreatePartitionsRequest(topics={"t": 2}))
    world.write("t", b"a", partition=1)
    assert world.timers.waiting == []


@pytest.mark.parametrize(
    ("name", "count", "error", "reason"),
    [
        ("t", 2, "INVALID_PARTITIONS", "t has 2 partitions: more is allowed, up to 10,000, not 2"),
        ("t", 1, "INVALID_PARTITIONS", "t has 2 partitions: more is allowed, up to 10,000, not 1"),
        ("t", 10_001, "INVALID_PARTITIONS", "more is allowed, up to 10,000, not 10,001"),
        ("nowhere", 2, "UNKNOWN_TOPIC_OR_PARTITION", "there is no topic nowhere"),
        (OFFSETS, 9, "INVALID_TOPIC_EXCEPTION", "__consumer_offsets is Kafka's own"),
    ],
)
def test_a_topic_only_grows(name, count, error, reason):
    """Fewer or as many partitions are refused, and so is what is not a user's topic."""
    world = World()
    world.create("t", 2)
    (result,) = world.answer(CreatePartitionsRequest(topics={name: count})).results.values()
    assert result.error_code.name == error
    assert reason in result.error_message
    assert len(world.cluster.topics["t"].partitions) == 2


def test_a_deleted_topic_is_gone_with_its_records():
    """All brokers are told; one that is made again with the name begins at 0."""
    world = World(brokers=2)
    world.create("t", 2)
    world.write("t", b"a")
    world.events.clear()
    world.told.clear()
    response = world.answer(
        DeleteTopicsRequest(topic_names=("t", "nowhere", OFFSETS, "t")), now_ms=9
    )
    assert results(response) == {
        "t": "NONE",
        "nowhere": "UNKNOWN_TOPIC_OR_PARTITION",
        OFFSETS: "INVALID_TOPIC_EXCEPTION",
    }
    assert world.seen("topic_changed") == [
        ("b0", "topic_changed", 9, {"topic": "t", "detail": {"change": "deleted"}})
    ]
    assert world.told == [("b0", "deleted t-0 t-1", 9), ("b1", "deleted t-0 t-1", 9)]
    assert world.cluster.find(TopicPartition("t", 0)) is None
    world.create("t")
    assert world.write("t", b"b") == 0


NAMED = ("t", "nowhere", OFFSETS)
UNKNOWN, DISABLED = "UNKNOWN_TOPIC_OR_PARTITION", "TOPIC_DELETION_DISABLED"
LATE = {"t": "REQUEST_TIMED_OUT", "nowhere": UNKNOWN, OFFSETS: "INVALID_TOPIC_EXCEPTION"}


@pytest.mark.parametrize(
    ("profile", "settings", "told"),
    [
        (KAFKA_0_10_1, {}, LATE),
        (KAFKA_1_0, {"delete_topic_enable": False}, LATE),
        (KAFKA_2_3, {"delete_topic_enable": False}, dict.fromkeys(NAMED, DISABLED)),
        (KAFKA_4_0, {"delete_topic_enable": False}, dict.fromkeys(NAMED, DISABLED)),
    ],
    ids=["0.10.1", "1.0", "2.3", "4.0"],
)
@pytest.mark.parametrize("timeout_ms", [-1, 0, 1, 700])
def test_without_delete_topic_enable_topics_stay(profile, settings, told, timeout_ms):
    """As up to 0.11 by default: once the deletion timed out, since 2.1 it is refused at once."""
    world = World(profile=profile, **settings)
    world.create("t")
    world.write("t", b"a")
    request = DeleteTopicsRequest(topic_names=NAMED, timeout_ms=timeout_ms)
    answers = world.ask(request, now_ms=9)
    waits = told is LATE and timeout_ms > 0
    world.timers.run_until(8 + timeout_ms)
    assert len(answers) == (0 if waits else 1)
    world.timers.run_until(9 + timeout_ms)
    (response,) = answers
    assert results(response) == told
    assert "delete_topic_enable is False" in response.results["t"].error_message
    assert world.write("t", b"b") == 1


@pytest.mark.parametrize("profile", [KAFKA_0_10_1, KAFKA_1_0], ids=["0.10.1", "1.0"])
def test_a_deletion_without_a_topic_that_is_there_is_answered_at_once(profile):
    """There is nothing to wait for."""
    world = World(profile=profile, delete_topic_enable=False)
    answer = world.answer(DeleteTopicsRequest(topic_names=("nowhere",)))
    assert results(answer) == {"nowhere": UNKNOWN}


def test_with_delete_topic_enable_0_10_1_deletes():
    """So does who ran it in earnest."""
    world = World(profile=KAFKA_0_10_1, delete_topic_enable=True)
    world.create("t")
    assert results(world.answer(DeleteTopicsRequest(topic_names=("t",)))) == {"t": "NONE"}
    assert "t" not in world.cluster.topics


def test_a_topic_may_have_ten_thousand_partitions():
    """More is refused, so that a typing error does not fill the memory."""
    world = World()
    assert create(world, "t", 10_000) == ("NONE", None)
    assert len(world.cluster.topics["t"].partitions) == 10_000


def test_without_a_living_broker_no_topic_is_made():
    """It would have no leader, and the sentence says so."""
    world = World()
    world.crash("b0", 1)
    with pytest.raises(IllegalStateError, match="u gets no leader: no broker is up"):
        world.cluster.create_topic("u", 1, configs={}, now_ms=2)
    assert list(world.cluster.topics) == [OFFSETS]


def described(response):
    return {
        topic.name: (
            topic.error_code.name,
            topic.is_internal,
            [
                (each.error_code.name, each.partition_index, each.leader)
                for each in topic.partitions
            ],
        )
        for topic in response.topics
    }


def test_metadata_tells_brokers_topics_and_leaders():
    """Topics are in the order asked for, once each; all of them are None, the internal one too."""
    world = World(brokers=2)
    world.create("a")
    world.create("b", 2)
    a = ("NONE", False, [("NONE", 0, "b0")])
    b = ("NONE", False, [("NONE", 0, "b1"), ("NONE", 1, "b0")])
    response = world.answer(MetadataRequest(topics=("b", "a", "b")), node="b1")
    assert response.brokers == ("b0", "b1")
    assert list(described(response).items()) == [("b", b), ("a", a)]
    everything = described(world.answer(MetadataRequest()))
    internal = [("NONE", number, f"b{number % 2}") for number in range(4)]
    assert everything == {OFFSETS: ("NONE", True, internal), "a": a, "b": b}
    assert described(world.answer(MetadataRequest(topics=()))) == {}


def test_metadata_tells_who_is_missing():
    """A dead broker is not listed; while nobody lives to lead, a partition has no leader."""
    world = World(brokers=2)
    world.create("t", 2)
    world.crash("b0", 1)
    response = world.answer(MetadataRequest(topics=("t",)), node="b1")
    assert response.brokers == ("b1",)
    leaders = [("NONE", 0, "b1"), ("NONE", 1, "b1")]
    assert described(response) == {"t": ("NONE", False, leaders)}
    partition = world.partition("t")
    partition.leader = None  # not to be seen while a broker lives that could be asked
    found = described(world.answer(MetadataRequest(topics=("t",)), node="b1"))
    assert found["t"][2][0] == ("LEADER_NOT_AVAILABLE", 0, "")


@pytest.mark.parametrize(
    ("profile", "first"),
    [(KAFKA_2_4, "LEADER_NOT_AVAILABLE"), (KAFKA_4_0, "UNKNOWN_TOPIC_OR_PARTITION")],
)
def test_asking_about_a_topic_makes_it(profile, first):
    """The first answer has an error, by the release; the next one has the leaders."""
    world = World(profile=profile, num_partitions=2)
    request = MetadataRequest(topics=("new",))
    assert described(world.answer(request)) == {"new": (first, False, [])}
    leaders = [("NONE", 0, "b0"), ("NONE", 1, "b0")]
    assert described(world.answer(request)) == {"new": ("NONE", False, leaders)}


@pytest.mark.parametrize(
    ("settings", "allow"),
    [({"auto_create_topics_enable": False}, True), ({}, False)],
)
def test_a_topic_is_made_only_if_broker_and_client_want_it(settings, allow):
    """Otherwise it is unknown, now and later."""
    world = World(**settings)
    request = MetadataRequest(topics=("new",), allow_auto_topic_creation=allow)
    for _ in range(2):
        found = described(world.answer(request))
        assert found == {"new": ("UNKNOWN_TOPIC_OR_PARTITION", False, [])}


def test_a_name_that_collides_is_unknown_where_the_controller_makes_the_topics():
    """In 4.0 the broker that is asked knows of nothing but names that no topic may have."""
    world = World(profile=KAFKA_4_0)
    world.create("my.topic")
    request = MetadataRequest(topics=("my_topic", "a b"))
    for _ in range(2):
        found = {name: each[0] for name, each in described(world.answer(request)).items()}
        assert found == {"my_topic": "UNKNOWN_TOPIC_OR_PARTITION", "a b": "INVALID_TOPIC_EXCEPTION"}


def test_a_topic_that_cannot_be_made_is_told_with_its_error():
    """A name that collides or is not legal."""
    world = World()
    world.create("my.topic")
    found = described(world.answer(MetadataRequest(topics=("my_topic", "a b"))))
    assert found == dict.fromkeys(("my_topic", "a b"), ("INVALID_TOPIC_EXCEPTION", False, []))
