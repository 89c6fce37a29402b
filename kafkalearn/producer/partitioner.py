"""Which partition a record goes to: its own, or that of its key, or the next in some order.

Source: org.apache.kafka.common.utils.Utils.murmur2; DefaultPartitioner (0.10.1.1, 1.0.2, 2.4.0),
StickyPartitionCache, RoundRobinPartitioner (2.4.0), BuiltInPartitioner (3.9).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from inspect import isabstract
from random import Random
from typing import Any

from kafkalearn.clients.client_context import ClientContext
from kafkalearn.clients.metadata import Metadata
from kafkalearn.errors import ConfigError
from kafkalearn.producer.producer_config import ProducerConfig
from kafkalearn.producer.producer_record import ProducerRecord
from kafkalearn.records import TopicPartition

IsFull = Callable[[TopicPartition], bool]
_INT = 0xFFFFFFFF  # Java's int arithmetic drops what does not fit into 32 bits
_M = 0x5BD1E995
_SEED = 0x9747B28C


def murmur2(data: bytes) -> int:
    """Hash bytes to a Java int, which may be negative."""
    h = _SEED ^ len(data)
    whole = len(data) & ~3
    for start in range(0, whole, 4):
        k = int.from_bytes(data[start : start + 4], "little") * _M & _INT
        k = (k ^ k >> 24) * _M & _INT
        h = h * _M & _INT ^ k
    if whole < len(data):
        h = (h ^ int.from_bytes(data[whole:], "little")) * _M & _INT
    h = (h ^ h >> 13) * _M & _INT
    h ^= h >> 15
    return h - (1 << 32) if h >> 31 else h


def to_positive(number: int) -> int:
    """Drop the sign bit, which is not the same as abs()."""
    return number & 0x7FFFFFFF


def partition_for_key(key: bytes, partition_count: int) -> int:
    """Choose by the key alone: equal keys go together for as long as no partition is added."""
    return to_positive(murmur2(key)) % partition_count


class Partitioner(ABC):
    """Chooses where a record goes that names no partition. Made by each producer for itself.

    A class of your own, given as partitioner_class, overrides `partition`.
    Differs from Kafka: such a class is not asked a second time when a batch begins (KAFKA-9965).
    """

    def __init__(self, metadata: Metadata, random: Random) -> None:
        self.metadata = metadata
        self.random = random
        self._available: dict[str, tuple[int, list[int]]] = {}

    @abstractmethod
    def partition(self, record: ProducerRecord, key: bytes | None) -> int:
        """Choose a partition. `key` is the record's, serialised; partitions are known by then."""

    def on_new_batch(self, topic: str, previous: int) -> bool:
        """Hear that a record would begin a batch; whether to ask again for its partition."""
        return False

    def on_append(self, topic: str, size: int) -> None:  # noqa: B027 (it may do nothing)
        """Hear that a record with neither key nor partition was appended, and its bytes."""

    def available_partitions(self, topic: str) -> list[int]:
        """List the partitions that have a leader; all, if none has. A topic that went stays."""
        version, available = self._available.get(topic, (-1, []))
        everyone = range(self.metadata.partition_counts.get(topic, 0))
        if version != self.metadata.version and everyone:
            leaders = self.metadata.leaders
            available = [each for each in everyone if TopicPartition(topic, each) in leaders]
            available = available or list(everyone)
            self._available[topic] = self.metadata.version, available
        return available


class DefaultPartitioner(Partitioner):
    """By the key, where there is one."""

    def partition(self, record: ProducerRecord, key: bytes | None) -> int:
        """See Partitioner."""
        if key is None:
            return self.partition_without_key(record.topic)
        return partition_for_key(key, self.metadata.partition_counts[record.topic])

    @abstractmethod
    def partition_without_key(self, topic: str) -> int:
        """Choose a partition where only the topic is known."""


class RoundRobinPartitioner(DefaultPartitioner):
    """One after the other, from a place drawn by lot; each topic counts for itself."""

    def __init__(self, metadata: Metadata, random: Random) -> None:
        super().__init__(metadata, random)
        self._counters: dict[str, int] = {}

    def partition_without_key(self, topic: str) -> int:
        """See DefaultPartitioner."""
        counter = self._counter_of(topic)
        value = self._counters.get(counter)
        if value is None:
            value = self.random.getrandbits(31)
        self._counters[counter] = value + 1
        available = self.available_partitions(topic)
        return available[to_positive(value) % len(available)]

    def _counter_of(self, topic: str) -> str:
        return topic


class OneCounterPartitioner(RoundRobinPartitioner):
    """As above, but all topics of a producer share a counter: two sent to in turn skip half."""

    def _counter_of(self, topic: str) -> str:
        return ""


class StickyPartitioner(DefaultPartitioner):
    """All to one partition, until a record does not fit into its batch."""

    def __init__(self, metadata: Metadata, random: Random) -> None:
        super().__init__(metadata, random)
        self._current: dict[str, int] = {}

    def partition_without_key(self, topic: str) -> int:
        """See DefaultPartitioner."""
        if topic not in self._current:
            self._current[topic] = self.random.choice(self.available_partitions(topic))
        return self._current[topic]

    def on_new_batch(self, topic: str, previous: int) -> bool:
        """Go on to another partition, at random, if it is the current one that needs a batch."""
        current = self._current.get(topic)
        if current is None or current == previous:
            available = self.available_partitions(topic)
            others = [each for each in available if each != current]
            self._current[topic] = self.random.choice(others or available)
        return True


class UniformStickyPartitioner(DefaultPartitioner):
    """All to one partition, until batch.size bytes went there; then any (Java: BuiltInPartitioner).

    As long as a batch is open it goes on, up to twice as many bytes.
    is_full: whether a partition has no batch that is open.
    Differs from Kafka: partitioner.adaptive.partitioning.enable, by which a partition with a long
    queue is chosen less often, is not built.
    """

    def __init__(
        self, metadata: Metadata, random: Random, *, batch_size: int, is_full: IsFull
    ) -> None:
        super().__init__(metadata, random)
        self._batch_size = max(1, batch_size)
        self._is_full = is_full
        self._current: dict[str, tuple[int, int]] = {}  # topic -> (partition, bytes so far)

    def partition_without_key(self, topic: str) -> int:
        """See DefaultPartitioner."""
        if topic not in self._current:
            self._current[topic] = self._draw(topic)
        self.on_append(topic, 0)  # the batch that held a change up may be full by now
        return self._current[topic][0]

    def on_new_batch(self, topic: str, previous: int) -> bool:
        """Go on if that partition, whose batch has just been closed, had enough."""
        before = self._current.get(topic)
        if before is None or before[0] != previous:
            return False
        self.on_append(topic, 0)
        return self._current[topic] != before

    def on_append(self, topic: str, size: int) -> None:
        """Go on to another partition if this one had enough."""
        current, produced = self._current[topic]
        produced += size
        enough = self._batch_size * (1 if self._is_full(TopicPartition(topic, current)) else 2)
        self._current[topic] = (current, produced) if produced < enough else self._draw(topic)

    def _draw(self, topic: str) -> tuple[int, int]:
        return self.random.choice(self.available_partitions(topic)), 0


class KeylessRoundRobin(RoundRobinPartitioner):
    """Kafka's class RoundRobinPartitioner: one after the other from 0, whatever the key (2.4).

    It is asked again where a batch begins, and so leaves out a partition (KAFKA-9965).
    """

    def partition(self, record: ProducerRecord, key: bytes | None) -> int:
        """See Partitioner."""
        self._counters.setdefault(record.topic, 0)
        return self.partition_without_key(record.topic)

    def on_new_batch(self, topic: str, previous: int) -> bool:
        """Go on, as nothing is remembered of the answer before."""
        return True


class KeylessSticky(StickyPartitioner):
    """Kafka's class UniformStickyPartitioner: sticky, whatever the key (2.4)."""

    def partition(self, record: ProducerRecord, key: bytes | None) -> int:
        """See Partitioner."""
        return self.partition_without_key(record.topic)


def partitioner_of(
    context: ClientContext, config: ProducerConfig, *, metadata: Metadata, is_full: IsFull
) -> Partitioner:
    """Make a producer's own: of partitioner_class, or else as its release does."""
    rule, given = context.profile.null_key_partitioner, config.partitioner_class
    kind: Any = _OF_RULE[rule] if given is None else given
    if given is DefaultPartitioner:
        kind = "DefaultPartitioner"
    if isinstance(kind, str):
        kind = _NAMED.get(kind.rpartition(".")[2], {}).get(rule)
    if not (isinstance(kind, type) and issubclass(kind, Partitioner)) or isabstract(kind):
        names = ", ".join(name for name, kinds in _NAMED.items() if rule in kinds)
        raise ConfigError(
            f"partitioner_class is {given!r}: None or a class derived from Partitioner is allowed, "
            f"and of Kafka's own, by name, {names}"
        )
    if issubclass(kind, UniformStickyPartitioner):
        return kind(metadata, context.random, batch_size=config.batch_size, is_full=is_full)
    return kind(metadata, context.random)


_OF_RULE: dict[str, type[Partitioner]] = {
    "round_robin_one_counter": OneCounterPartitioner,
    "round_robin_per_topic": RoundRobinPartitioner,
    "sticky": StickyPartitioner,
    "uniform_sticky": UniformStickyPartitioner,
}
# Kafka's classes, by the rule that their release has for records without key.
_NAMED: dict[str, dict[str, type[Partitioner]]] = {
    "DefaultPartitioner": _OF_RULE | {"uniform_sticky": StickyPartitioner},
    "RoundRobinPartitioner": dict.fromkeys(("sticky", "uniform_sticky"), KeylessRoundRobin),
    "UniformStickyPartitioner": {"sticky": KeylessSticky},
}
