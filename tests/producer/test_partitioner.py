import random
from dataclasses import replace

import pytest

from kafkalearn.clients.exponential_backoff import ExponentialBackoff
from kafkalearn.clients.metadata import Metadata
from kafkalearn.errors import ConfigError
from kafkalearn.producer.partitioner import (
    DefaultPartitioner,
    KeylessRoundRobin,
    KeylessSticky,
    OneCounterPartitioner,
    Partitioner,
    RoundRobinPartitioner,
    StickyPartitioner,
    UniformStickyPartitioner,
    murmur2,
    partition_for_key,
    to_positive,
)
from kafkalearn.producer.producer_record import ProducerRecord
from kafkalearn.records import TopicPartition
from kafkalearn.simulation import Simulation


def metadata(*, without_leader=(), **counts):
    """A cluster as a client knows it: topic=how many partitions."""
    known = Metadata(
        ["broker-0"], refresh_backoff=ExponentialBackoff(100), metadata_expire_ms=300_000
    )
    known.partition_counts = dict(counts)
    known.leaders = {
        TopicPartition(topic, number): "broker-0"
        for topic, count in counts.items()
        for number in range(count)
        if number not in without_leader
    }
    return known


def sends(partitioner, topics):
    """Where records without key go, one for each topic that is named."""
    return [partitioner.partition(ProducerRecord(topic), None) for topic in topics.split()]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"abc", 479470107),
    ],
)
def test_a_key_is_hashed_as_kafka_does(key, expected):
    """Behaviour 69: the vectors of Kafka's own test."""
    assert murmur2(key) == expected


def test_a_hash_loses_its_sign_bit_and_is_not_negated():
    """Behaviour 69: toPositive is & 0x7fffffff; abs() would choose another partition."""
    assert to_positive(-973932308) == 1173551340
    assert partition_for_key(b"21", 7) == 1173551340 % 7 == 3
    assert abs(-973932308) % 7 == 6


def test_equal_keys_go_together_until_the_topic_grows():
    """Behaviour 69: key -> hash % partitions, so that more partitions move keys."""
    keys = [str(number).encode() for number in range(6)]
    assert [partition_for_key(key, 2) for key in keys] == [
        to_positive(murmur2(key)) % 2 for key in keys
    ]
    partitioner = RoundRobinPartitioner(metadata(orders=3), random.Random(0))
    again = [partitioner.partition(ProducerRecord("orders"), b"abc") for _ in range(3)]
    assert again == [479470107 % 3] * 3
    partitioner.metadata.partition_counts["orders"] = 4
    assert partitioner.partition(ProducerRecord("orders"), b"abc") == 479470107 % 4 != again[0]


def test_topics_that_share_a_counter_skip_partitions():
    """Behaviour 70, up to 0.10.1: sent to in turn, each of two topics uses half its partitions."""
    partitioner = OneCounterPartitioner(metadata(a=2, b=2), random.Random(0))
    chosen = sends(partitioner, "a b a b a b")
    assert [len(set(chosen[0::2])), len(set(chosen[1::2]))] == [1, 1]


def test_topics_that_count_for_themselves_use_all_partitions():
    """Behaviour 70, 0.10.2 to 2.3: the same sends reach every partition of both."""
    partitioner = RoundRobinPartitioner(metadata(a=2, b=2), random.Random(0))
    chosen = sends(partitioner, "a b a b a b")
    assert [chosen[0], chosen[2], chosen[4]] in ([0, 1, 0], [1, 0, 1])
    assert [chosen[1], chosen[3], chosen[5]] in ([0, 1, 0], [1, 0, 1])


@pytest.mark.parametrize("kind", [OneCounterPartitioner, RoundRobinPartitioner])
def test_round_robin_starts_anywhere(kind):
    """Behaviour 70: the start is drawn by lot, so not every producer begins with 0."""
    starts = {sends(kind(metadata(a=5), random.Random(seed)), "a")[0] for seed in range(60)}
    assert starts == {0, 1, 2, 3, 4}


def test_round_robin_passes_over_partitions_without_leader():
    """Behaviour 70: only AVAILABLE partitions; without any, all of them."""
    known = metadata(a=3, without_leader=[1])
    assert set(sends(RoundRobinPartitioner(known, random.Random(0)), "a a a a")) == {0, 2}
    nobody = metadata(a=3, without_leader=[0, 1, 2])
    assert set(sends(RoundRobinPartitioner(nobody, random.Random(0)), "a a a")) == {0, 1, 2}


def test_new_metadata_is_looked_at():
    """A partition that gets its leader back is used again."""
    known = metadata(a=2, without_leader=[1])
    partitioner = RoundRobinPartitioner(known, random.Random(0))
    assert sends(partitioner, "a a") == [0, 0]
    known.leaders[TopicPartition("a", 1)] = "broker-0"
    known.version += 1
    assert set(sends(partitioner, "a a")) == {0, 1}


def test_a_topic_that_went_meanwhile_is_as_it_was():
    """While a record waited for room the metadata may have lost its topic."""
    known = metadata(a=2)
    partitioner = RoundRobinPartitioner(known, random.Random(0))
    before = list(partitioner.available_partitions("a"))
    known.partition_counts.clear()
    known.version += 1
    assert partitioner.available_partitions("a") == before == [0, 1]


def test_sticky_stays_until_a_batch_begins():
    """Behaviour 70, 2.4 (KIP-480): another partition for each batch, never the same again."""
    partitioner = StickyPartitioner(metadata(a=3), random.Random(0))
    chosen = sends(partitioner, "a a a a")
    assert len(set(chosen)) == 1
    for _ in range(10):
        before = sends(partitioner, "a")[0]
        assert partitioner.on_new_batch("a", before) is True
        assert sends(partitioner, "a a")[0] != before


def test_a_batch_elsewhere_does_not_move_sticky():
    """A record with a key that begins a batch in another partition changes nothing."""
    partitioner = StickyPartitioner(metadata(a=3), random.Random(0))
    (current,) = sends(partitioner, "a")
    partitioner.on_new_batch("a", (current + 1) % 3)
    assert sends(partitioner, "a") == [current]


def test_sticky_has_no_choice_with_one_partition():
    """It goes on where it is."""
    partitioner = StickyPartitioner(metadata(a=1), random.Random(0))
    partitioner.on_new_batch("a", 0)
    assert sends(partitioner, "a a") == [0, 0]


def test_uniform_sticky_moves_by_bytes():
    """Behaviour 70, 3.3 (KIP-794): on after batch.size bytes, if no batch is open."""
    drawn = DrawsInTurn()
    partitioner = UniformStickyPartitioner(
        metadata(a=3), drawn, batch_size=100, is_full=lambda partition: True
    )
    chosen = []
    for _ in range(6):
        chosen += sends(partitioner, "a")
        partitioner.on_append("a", 50)
    assert chosen == [0, 0, 1, 1, 2, 2]


def test_uniform_sticky_waits_for_an_open_batch():
    """Up to twice the bytes; or less, if the batch is full when the next record comes."""
    open_batches = {TopicPartition("a", 0), TopicPartition("a", 1)}
    partitioner = UniformStickyPartitioner(
        metadata(a=3),
        DrawsInTurn(),
        batch_size=100,
        is_full=lambda partition: partition not in open_batches,
    )
    chosen = []
    for number in range(7):
        if number == 6:
            open_batches.clear()
        chosen += sends(partitioner, "a")
        partitioner.on_append("a", 50)
    assert chosen == [0, 0, 0, 0, 1, 1, 2]


class DrawsInTurn:
    """Chance that is none."""

    def __init__(self):
        self.count = -1

    def choice(self, options):
        """Give one after the other."""
        self.count += 1
        return options[self.count % len(options)]


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ("0.10.1", OneCounterPartitioner),
        ("1.0", RoundRobinPartitioner),
        ("2.3", RoundRobinPartitioner),
        ("2.4", StickyPartitioner),
        ("4.0", UniformStickyPartitioner),
    ],
)
def test_each_release_has_its_partitioner(make, profile, expected):
    """Behaviour 70, both sides of each change."""
    assert type(make(profile).producer()._partitioner) is expected


@pytest.mark.parametrize(
    ("profile", "name", "expected"),
    [
        ("0.10.1", "DefaultPartitioner", OneCounterPartitioner),
        ("1.0", "DefaultPartitioner", RoundRobinPartitioner),
        ("2.4", "DefaultPartitioner", StickyPartitioner),
        ("4.0", "DefaultPartitioner", StickyPartitioner),
        ("2.4", "RoundRobinPartitioner", KeylessRoundRobin),
        ("4.0", "RoundRobinPartitioner", KeylessRoundRobin),
        ("2.4", "UniformStickyPartitioner", KeylessSticky),
        ("1.0", DefaultPartitioner, RoundRobinPartitioner),
        ("1.0", UniformStickyPartitioner, UniformStickyPartitioner),
    ],
)
def test_kafkas_own_may_be_asked_for(make, profile, name, expected):
    """By the name of Java's class, with its package or without, or as a class."""
    world = make(profile)
    for prefix in ("", "org.apache.kafka.clients.producer.") if isinstance(name, str) else [None]:
        given = name if prefix is None else prefix + name
        producer = world.producer(f"p{prefix}", partitioner_class=given)
        assert type(producer._partitioner) is expected
        assert producer.send("orders", value="a").get().partition == 0


@pytest.mark.parametrize(
    ("profile", "given", "names"),
    [
        ("2.3", "RoundRobinPartitioner", "DefaultPartitioner"),
        ("2.4", "Mine", "DefaultPartitioner, RoundRobinPartitioner, UniformStickyPartitioner"),
        ("4.0", "UniformStickyPartitioner", "DefaultPartitioner, RoundRobinPartitioner"),
        ("1.0", Partitioner, "DefaultPartitioner"),
    ],
)
def test_a_partitioner_that_is_none(make, profile, given, names):
    """A name that the release does not have, and a class that leaves something open."""
    with pytest.raises(ConfigError) as error:
        make(profile).producer(partitioner_class=given)
    assert str(error.value) == (
        f"partitioner_class is {given!r}: None or a class derived from Partitioner is allowed, "
        f"and of Kafka's own, by name, {names}"
    )


@pytest.mark.parametrize("counts", [[0, 5, 0, 5], [5, 5, 0]])
def test_round_robin_whatever_the_key(make, counts):
    """Asked again for each batch that would begin, it leaves partitions out (KAFKA-9965)."""
    world = make("2.4", topics={"orders": len(counts)})
    producer = world.producer(partitioner_class="RoundRobinPartitioner", linger_ms=1000)
    sent = [producer.send("orders", key="same", value="a") for _ in range(10)]
    producer.flush()
    chosen = [future.get().partition for future in sent]
    assert [chosen.count(each) for each in range(len(counts))] == counts


def test_sticky_whatever_the_key(make):
    """UniformStickyPartitioner of 2.4: keys that are apart by their hash stay together."""
    world = make("2.4", topics={"orders": 4})
    producer = world.producer(partitioner_class="UniformStickyPartitioner", linger_ms=1000)
    sent = [producer.send("orders", key=str(key), value="a") for key in range(10)]
    producer.flush()
    assert len({future.get().partition for future in sent}) == 1


def test_a_switch_alone_chooses_it(make):
    """A profile of one's own may have another rule."""
    profile = replace(make("1.0").sim.profile, null_key_partitioner="sticky")
    assert type(make(profile).producer()._partitioner) is StickyPartitioner


@pytest.mark.parametrize(
    ("profile", "sends", "batches"), [("2.4", 4, [(1, 3)]), ("4.0", 16, [(1, 3), (1, 3)])]
)
def test_a_batch_that_refused_a_record_does_not_linger(profile, sends, batches):
    """It is closed and sent, and the record goes on: no batch of a few records is left behind."""
    sim = Simulation(profile=profile, brokers=1, seed=2)
    sim.create_topic("t", 3)
    producer = sim.producer("p", linger_ms=10_000, batch_size=100)
    producer.partitions_for("t")
    begun_ms = sim.now_ms
    for _ in range(sends):
        producer.send("t", value="x" * 30)
    sim.sleep(5_000)
    told = [
        (each.time_ms - begun_ms, each.detail["count"], each.partition)
        for each in sim.trace.where(kind="append")
    ]
    first = [each[:2] for each in told if each[2] == told[0][2]]
    assert first == batches
