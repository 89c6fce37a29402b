"""The same group, as kafka-python's and aiokafka's assignors want it. Bench extra only."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from types import SimpleNamespace

import aiokafka.coordinator.assignors.range as aio_range
import aiokafka.coordinator.assignors.roundrobin as aio_roundrobin
import aiokafka.coordinator.assignors.sticky.sticky_assignor as aio_sticky
import kafka.coordinator.assignors.range as kp_range
import kafka.coordinator.assignors.roundrobin as kp_roundrobin
import kafka.coordinator.assignors.sticky.sticky_assignor as kp_sticky
from aiokafka.coordinator.protocol import ConsumerProtocolMemberMetadata
from aiokafka.structs import TopicPartition as AioTopicPartition
from kafka.structs import TopicPartition as KpTopicPartition

from kafkalearn.assignors import Subscription

KAFKA_PYTHON = {
    "range": kp_range.RangePartitionAssignor,
    "roundrobin": kp_roundrobin.RoundRobinPartitionAssignor,
    "sticky": kp_sticky.StickyPartitionAssignor,
}
AIOKAFKA = {
    "range": aio_range.RangePartitionAssignor,
    "roundrobin": aio_roundrobin.RoundRobinPartitionAssignor,
    "sticky": aio_sticky.StickyPartitionAssignor,
}


class Cluster:
    """As much of a cluster's metadata as an assignor asks for."""

    def __init__(self, partitions_per_topic: Mapping[str, int]) -> None:
        self._partitions = {topic: set(range(n)) for topic, n in partitions_per_topic.items()}

    def topics(self) -> set[str]:
        """Every topic."""
        return set(self._partitions)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """The partition numbers of `topic`, None if there is no such topic."""
        return self._partitions.get(topic)


def kafka_python(
    name: str, partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]
) -> Callable[[], object]:
    """Prepare a call of kafka-python's assignor; only the call itself is measured."""
    assignor = KAFKA_PYTHON[name]()
    cluster = Cluster(partitions_per_topic)
    members = []
    for member, subscription in subscriptions.items():
        if name == "sticky":
            owned = [KpTopicPartition(*each) for each in subscription.owned_partitions] or None
            metadata = assignor._metadata(subscription.topics, owned, subscription.generation)
        else:
            metadata = assignor.metadata(subscription.topics)
        members.append(SimpleNamespace(member_id=member, group_instance_id=None, metadata=metadata))
    return lambda: assignor.assign(cluster, members)


def aiokafka(
    name: str, partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]
) -> Callable[[], object]:
    """Prepare a call of aiokafka's assignor; only the call itself is measured."""
    assignor = AIOKAFKA[name]
    cluster = Cluster(partitions_per_topic)
    members = {}
    for member, subscription in subscriptions.items():
        if name == "sticky":
            owned = [AioTopicPartition(*each) for each in subscription.owned_partitions] or None
            members[member] = assignor._metadata(
                subscription.topics, owned, subscription.generation
            )
        else:
            members[member] = ConsumerProtocolMemberMetadata(0, list(subscription.topics), b"")
    return lambda: assignor.assign(cluster, members)


def sizes(assignment: Mapping[str, object]) -> dict[str, int]:
    """How many partitions a peer gave each member."""
    result: dict[str, int] = defaultdict(int)
    for member, theirs in assignment.items():
        rows = getattr(theirs, "assigned_partitions", None) or getattr(theirs, "assignment", theirs)
        result[member] = sum(
            len(row[1] if isinstance(row, tuple) else row.partitions) for row in rows
        )
    return result
