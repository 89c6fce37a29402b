"""What a simulation makes for its user: clients on nodes, topics, and sinks."""

import pytest

from kafkalearn.errors import (
    ApiError,
    ConfigError,
    IllegalArgumentError,
    IllegalStateError,
    KafkaTimeoutError,
)
from kafkalearn.simulation import Simulation


@pytest.fixture
def sim():
    """Make a simulation with topic ``t``."""
    made = Simulation(seed=1, group_initial_rebalance_delay_ms=0)
    made.create_topic("t", 1)
    yield made
    made.dispose()


def fill(sim, *values):
    """Write values to ``t``."""
    producer = sim.producer("p1")
    for value in values:
        producer.send("t", value=value)
    producer.flush()


def read(sim, name="c1"):
    """Read ``t`` from its beginning."""
    consumer = sim.consumer(name, group_id="g", auto_offset_reset="earliest")
    consumer.subscribe(["t"])
    return list(consumer.poll(1_000))


def faults(sim):
    """Tell which faults the trace has."""
    return [(each.node, each.detail["fault"]) for each in sim.trace.where(kind="fault")]


def test_a_client_lives_on_the_node_of_its_name(sim):
    """Its events are that node's; a name that is new starts it."""
    fill(sim, "v")
    assert [record.value for record in read(sim)] == ["v"]
    assert {each.node for each in sim.trace.where(kind="send")} == {"admin", "p1", "c1"}


def test_without_a_name_the_script_is_the_client(sim):
    """Outside any process."""
    assert sim.consumer(group_id="g").context.node.name == "client"


def test_within_a_process_its_own_node_is_meant(sim):
    """For both kinds of clients; another may still be named."""
    made = []

    def run():
        made.extend([sim.consumer(group_id="g"), sim.producer(), sim.consumer("c3", group_id="g")])

    sim.spawn(run, node="c2")
    sim.sleep(1)
    names = [each.context.node.name for each in (made[0], made[2])]
    assert names == ["c2", "c3"]
    assert made[1] is not made[0]


def test_a_node_that_crashed_is_restarted_by_its_next_client(sim):
    """The trace tells it."""
    fill(sim, "v")
    read(sim)
    sim.crash("c1")
    consumer = sim.consumer("c1", group_id="g")
    assert faults(sim) == [("c1", "crash"), ("c1", "restart")]
    assert consumer.context.node.alive


def test_calls_of_a_dead_consumer_are_refused(sim):
    """It is gone, also once its node is up again."""
    consumer = sim.consumer("c1", group_id="g")
    consumer.subscribe(["t"])
    consumer.poll(0)
    sim.crash("c1")
    for call in (lambda: consumer.poll(0), consumer.commit_sync, consumer.assignment):
        with pytest.raises(IllegalStateError, match=r"^c1 has crashed: its consumer is gone, make"):
            call()
    sim.consumer("c1", group_id="g")
    with pytest.raises(IllegalStateError, match="c1 has crashed"):
        consumer.poll(0)


def test_settings_come_as_arguments_or_as_properties(sim):
    """What Kafka refuses is refused for either client."""
    consumer = sim.consumer("c1", properties={"group.id": "g", "max.poll.records": "7"})
    assert (consumer.config.group_id, consumer.config.max_poll_records) == ("g", 7)
    with pytest.raises(ConfigError, match="max_poll_records is 0"):
        sim.consumer("c1", max_poll_records=0)
    with pytest.raises(ConfigError, match="acks is '2'"):
        sim.producer("p1", properties={"acks": "2"})


# Topics.


def test_topics_are_made_grown_and_deleted(sim):
    """Each is there when the call returns."""
    sim.create_topic("new", 2, configs={"retention.ms": "1000"})
    assert len(sim.cluster.topics["new"].partitions) == 2
    assert sim.cluster.topics["new"].configs == {"retention.ms": 1000}
    sim.create_partitions("new", 5)
    assert len(sim.cluster.topics["new"].partitions) == 5
    sim.delete_topic("new")
    assert "new" not in sim.cluster.topics


@pytest.mark.parametrize(
    ("profile", "settings", "error", "waited_ms"),
    [
        ("0.10.1", {}, KafkaTimeoutError, 60_002),
        ("1.0", {"delete_topic_enable": False}, KafkaTimeoutError, 60_002),
        ("2.3", {"delete_topic_enable": False}, ApiError, 2),
    ],
)
def test_a_topic_that_may_not_be_deleted_stays(profile, settings, error, waited_ms):
    """The sentence names the setting; 0.10.1 deletes nothing unless it is told to."""
    sim = Simulation(profile=profile, **settings)
    sim.create_topic("t")
    began_ms = sim.now_ms
    with pytest.raises(error, match=r"^DeleteTopics of t: .*delete_topic_enable is False$"):
        sim.delete_topic("t")
    assert (sim.now_ms - began_ms, "t" in sim.cluster.topics) == (waited_ms, True)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda sim: sim.create_topic("t"), "^CreateTopics of t: there is a topic t already$"),
        (lambda sim: sim.create_topic("x", 0), "^CreateTopics of x: "),
        (lambda sim: sim.create_topic("a b"), "^CreateTopics of a b: "),
        (
            lambda sim: sim.create_topic("x", configs={"cleanup.policy": "compact"}),
            "^CreateTopics of x: cleanup.policy is a setting that is not built here: ",
        ),
        (lambda sim: sim.create_partitions("t", 1), "^CreatePartitions of t: "),
        (lambda sim: sim.create_partitions("none", 2), "^CreatePartitions of none: "),
        (lambda sim: sim.delete_topic("none"), "^DeleteTopics of none: "),
    ],
)
def test_what_a_broker_refuses_is_raised(sim, change, sentence):
    """With the request, the topic and the reason; nothing has changed."""
    before = {name: len(each.partitions) for name, each in sim.cluster.topics.items()}
    with pytest.raises(ApiError, match=sentence):
        change(sim)
    after = {name: len(each.partitions) for name, each in sim.cluster.topics.items()}
    assert after == before == {"__consumer_offsets": 50, "t": 1}


def test_any_broker_that_is_up_is_asked(sim):
    """Without one, nobody can be."""
    first, *others = sim.broker_names
    sim.crash(first)
    sim.create_topic("new")
    assert "new" in sim.cluster.topics
    for name in others:
        sim.crash(name)
    with pytest.raises(KafkaTimeoutError, match="DeleteTopics reaches nobody: no broker is up"):
        sim.delete_topic("new")


# Sinks.


def test_a_sink_keeps_its_effects_when_the_client_crashes(sim):
    """A record that is read again has its effect again, and the trace tells both."""
    fill(sim, "a", "b")
    sink = sim.sink("db")

    def run():
        for record in read(sim, None):
            sink.write(record)
        sim.sleep(1_000_000)

    sim.spawn(run, node="c1")
    sim.sleep(1_000)
    sim.crash("c1")
    sim.spawn(run, node="c1")
    sim.sleep(30_000)
    assert [record.value for record in sink] == ["a", "b", "a", "b"]
    told = [
        (each.node, each.topic, each.partition, each.offset, each.detail)
        for each in sim.trace.where(kind="processed")
    ]
    assert told == [("c1", "t", 0, offset, {"sink": "db"}) for offset in (0, 1, 0, 1)]


def test_a_sink_is_found_again_by_its_name(sim):
    """Another name is another sink."""
    fill(sim, "a")
    for record in read(sim):
        sim.sink("db").write(record)
    assert sim.sink("db") is sim.sink("db")
    assert (len(sim.sink("db")), len(sim.sink("mail"))) == (1, 0)
    assert repr(sim.sink("db")) == "<Sink db: 1 effects>"


def test_a_sink_takes_records_only(sim):
    """A value alone is refused, and leaves nothing behind."""
    with pytest.raises(IllegalArgumentError, match=r"^'a' is no ConsumerRecord"):
        sim.sink("db").write("a")
    assert len(sim.sink("db")) == 0
    assert not sim.trace.where(kind="processed")
