"""What the brokers of a cluster share: topics, their logs, and who leads which partition.

Differs from Kafka: a partition has one durable log, which whoever leads it writes and reads. There
are no replicas, no ISR and no controller: changes of leaders and topics take no time. Where Kafka
draws the first leader by lot, ours go round; and no preferred leader gets its partitions back.
__consumer_offsets is there from the start; in Kafka the first FindCoordinator makes it.

Source: KafkaController, kafka.admin.AdminUtils, kafka.server.MetadataCache (1.0.2).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalearn.broker.broker_config import BrokerConfig
from kafkalearn.broker.partition_log import PartitionLog
from kafkalearn.errors import Errors, IllegalStateError
from kafkalearn.records import GROUP_METADATA_TOPIC_NAME, Record, TopicPartition, is_internal

if TYPE_CHECKING:
    from kafkalearn.broker.broker import Broker


@dataclass(slots=True, eq=False)
class Partition:
    """A partition with its one log. leader: a broker's name; None while no broker lives."""

    topic_partition: TopicPartition
    log: PartitionLog
    leader: str | None = None


@dataclass(slots=True, eq=False)
class Topic:
    """A topic with its partitions in order. configs: its own, where they are not the broker's."""

    name: str
    configs: Mapping[str, int]
    partitions: list[Partition]


class Cluster:
    """Topics by name, and brokers that come and go. `nodes` are in ring order.

    A new leader records leader_elected, even one that is frozen and learns of it later.
    """

    def __init__(self, nodes: Sequence[str], *, config: BrokerConfig) -> None:
        self.nodes = tuple(nodes)
        self.config = config
        self.topics: dict[str, Topic] = {}
        self._by_name: dict[TopicPartition, Partition] = {}
        self._brokers: dict[str, Broker] = {}  # those that hear what they are told
        self._living: set[str] = set()  # those that nobody has missed yet
        self._placed = 0  # how many partitions got a leader in turn
        offsets_topic = Topic(GROUP_METADATA_TOPIC_NAME, {}, [])
        for index in range(config.offsets_topic_num_partitions):
            topic_partition = TopicPartition(GROUP_METADATA_TOPIC_NAME, index)
            leader = self.nodes[index % len(self.nodes)]
            offsets_topic.partitions.append(Partition(topic_partition, PartitionLog(), leader))
        self._add(offsets_topic, offsets_topic.partitions)

    @property
    def living_brokers(self) -> list[str]:
        """The names of the brokers that count as up, in ring order."""
        return [node for node in self.nodes if node in self._living]

    def find(self, topic_partition: TopicPartition) -> Partition | None:
        """Find a partition by topic and number; None if the cluster does not have it."""
        return self._by_name.get(topic_partition)

    def find_led_by(self, node: str, topic_partition: TopicPartition) -> Partition | Errors:
        """Find a partition that this broker leads, or say why it cannot serve it."""
        partition = self._by_name.get(topic_partition)
        if partition is None:
            return Errors.UNKNOWN_TOPIC_OR_PARTITION
        return partition if partition.leader == node else Errors.NOT_LEADER_OR_FOLLOWER

    def led_by(self, node: str) -> list[Partition]:
        """List the partitions that a broker leads."""
        return [partition for partition in self._partitions() if partition.leader == node]

    # Records.

    def append(self, partition: Partition, records: Sequence[Record], *, now_ms: int) -> int:
        """Write records, at least one, tell the leader, and give the first one's offset."""
        base_offset = partition.log.append(records)
        if partition.leader in self._brokers:
            topic, number = partition.topic_partition
            detail = {"count": len(records), "timestamp_ms": records[0].timestamp_ms}
            leader, where = self._brokers[partition.leader], {"topic": topic, "partition": number}
            leader.record("append", now_ms, **where, offset=base_offset, detail=detail)
            leader.log_changed(partition, now_ms)
        return base_offset

    # Topics. What may be asked for is checked, and recorded, in admin_manager.py.

    def create_topic(
        self, name: str, num_partitions: int, *, configs: Mapping[str, int], now_ms: int
    ) -> None:
        """Make a topic that does not exist."""
        self._grow(Topic(name, configs, []), num_partitions, now_ms)

    def create_partitions(self, name: str, total_count: int, *, now_ms: int) -> None:
        """Give a topic more partitions; the records that it has stay where they are."""
        self._grow(self.topics[name], total_count, now_ms)

    def delete_topic(self, name: str, *, now_ms: int) -> None:
        """Throw a topic and its records away."""
        topic = self.topics.pop(name)
        gone = [partition.topic_partition for partition in topic.partitions]
        for each in gone:
            del self._by_name[each]
        for leader, partitions in _by_leader(topic.partitions).items():
            if leader in self._brokers:
                self._brokers[leader].resign(partitions, now_ms)
        for node in self.living_brokers:
            if node in self._brokers:
                self._brokers[node].topic_deleted(gone, now_ms)

    def _grow(self, topic: Topic, total_count: int, now_ms: int) -> None:
        living = self.living_brokers
        if not living:
            raise IllegalStateError(f"{topic.name} gets no leader: no broker is up")
        retention_ms = topic.configs.get("retention.ms", self.config.log_retention_ms)
        retention_bytes = topic.configs.get("retention.bytes", self.config.log_retention_bytes)
        new = []
        for index in range(len(topic.partitions), total_count):
            log = PartitionLog(retention_ms=retention_ms, retention_bytes=retention_bytes)
            new.append(Partition(TopicPartition(topic.name, index), log))
        topic.partitions += new
        self._add(topic, new)
        for partition in new:
            self._elect(partition, living[self._placed % len(living)], now_ms)
            self._placed += 1
        self._tell_leaders(new, now_ms)

    # Leaders.

    def broker_up(self, node: str, broker: "Broker", *, now_ms: int) -> None:
        """Let a broker in: it leads what nobody leads. What it led before its crash moved on."""
        if node not in self.nodes or node in self._living:
            problem = "is up already" if node in self._living else "is not of this cluster"
            raise IllegalStateError(f"{node} {problem}: the brokers are {', '.join(self.nodes)}")
        self._brokers[node] = broker
        self._living.add(node)
        for partition in self._partitions():
            if partition.leader is None:
                self._elect(partition, node, now_ms)
        self._tell_leaders(self.led_by(node), now_ms)

    def broker_lost(self, node: str) -> None:
        """Tell a broker that crashed nothing any more. It counts as up until broker_down."""
        self._brokers.pop(node, None)

    def broker_down(self, node: str, *, now_ms: int) -> None:
        """Notice a crash: the next living broker in the ring leads what this one led."""
        self._check_is_up(node)
        self.broker_lost(node)
        self._living.remove(node)
        place = self.nodes.index(node)
        ring = self.nodes[place + 1 :] + self.nodes[:place]
        successor = next((each for each in ring if each in self._living), None)
        moved = self.led_by(node)
        for partition in moved:
            self._elect(partition, successor, now_ms)
        self._tell_leaders(moved, now_ms)

    def move_leader(self, partition: Partition, node: str, *, now_ms: int) -> None:
        """Let another living broker lead a partition, as an administrator may."""
        self._check_is_up(node)
        previous = partition.leader
        if previous == node:
            return
        self._elect(partition, node, now_ms)
        if previous in self._brokers:
            self._brokers[previous].resign([partition], now_ms)
        self._tell_leaders([partition], now_ms)

    def _partitions(self) -> list[Partition]:
        return [each for topic in self.topics.values() for each in topic.partitions]

    def _add(self, topic: Topic, partitions: Iterable[Partition]) -> None:
        self.topics[topic.name] = topic
        self._by_name.update((each.topic_partition, each) for each in partitions)

    def _check_is_up(self, node: str) -> None:
        if node not in self._living:
            living = ", ".join(self.living_brokers) or "none"
            raise IllegalStateError(f"{node} is not up: of the brokers, {living} are")

    def _elect(self, partition: Partition, node: str | None, now_ms: int) -> None:
        previous, partition.leader = partition.leader, node
        # Empty partitions of the offsets topic move by the dozen, and concern nobody.
        silent = is_internal(partition.topic_partition.topic) and not partition.log.log_end_offset
        if node in self._brokers and not silent:
            topic, number = partition.topic_partition
            detail = None if previous is None else {"previous": previous}
            self._brokers[node].record(
                "leader_elected", now_ms, topic=topic, partition=number, detail=detail
            )

    def _tell_leaders(self, partitions: Iterable[Partition], now_ms: int) -> None:
        for leader, led in _by_leader(partitions).items():
            if leader in self._brokers:
                self._brokers[leader].become_leader(led, now_ms)


def _by_leader(partitions: Iterable[Partition]) -> dict[str | None, list[Partition]]:
    led: dict[str | None, list[Partition]] = {}
    for partition in partitions:
        led.setdefault(partition.leader, []).append(partition)
    return led


class OffsetsTopic:
    """The logs of __consumer_offsets, as OffsetStore asks for them."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def append(self, partition: int, records: Iterable[Record]) -> None:
        """See OffsetsLog; the records are as old as the moment."""
        written = tuple(records)
        if written:
            now_ms = written[-1].timestamp_ms
            self._cluster.append(self._partition(partition), written, now_ms=now_ms)

    def read_all(self, partition: int) -> Sequence[Record]:
        """See OffsetsLog."""
        return self._partition(partition).log.read_all()

    def _partition(self, partition: int) -> Partition:
        return self._cluster.topics[GROUP_METADATA_TOPIC_NAME].partitions[partition]
