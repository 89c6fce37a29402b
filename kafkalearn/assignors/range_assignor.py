"""Range: each topic by itself, cut into even runs, the first members taking one more.

Source: document 002 (and 000), "RangeAssignor"; org.apache.kafka.clients.consumer.RangeAssignor
(3.9).
Differs from Kafka: racks (KIP-881) are not modelled.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kafkalearn.assignors.explanation import Step, count, names
from kafkalearn.assignors.partition_assignor import (
    AbstractPartitionAssignor,
    Assignment,
    check_inputs,
)
from kafkalearn.records import Subscription, TopicPartition


class _Topic(NamedTuple):
    """One topic, ready to be cut: `extra` members take one partition more than `each`."""

    name: str
    consumers: list[str]
    num_partitions: int
    each: int
    extra: int

    def runs(self) -> Iterator[tuple[str, list[TopicPartition]]]:
        """Yield each member that gets something, with its run."""
        partitions = AbstractPartitionAssignor.partitions(self.name, self.num_partitions)
        start = 0
        for i, consumer in enumerate(self.consumers[: self.num_partitions]):
            end = start + self.each + (i < self.extra)
            yield consumer, partitions[start:end]
            start = end


class RangeAssignor(AbstractPartitionAssignor):
    """Kafka's default in the documents' time; still the first of its defaults."""

    name = "range"

    def assign(
        self, partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> Assignment:
        """See PartitionAssignor; each list goes topic by topic, in the order of their names."""
        assignment: Assignment = {member: [] for member in subscriptions}
        for topic in self._topics(partitions_per_topic, subscriptions):
            for consumer, run in topic.runs():
                assignment[consumer] += run
        return assignment

    def explain(
        self, partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> list[Step]:
        """Tell, topic by topic, the division and then each member's run."""
        steps = []
        for topic in self._topics(partitions_per_topic, subscriptions):
            steps.append(Step(f"{topic.name}: {_division(topic)}"))
            for consumer, run in topic.runs():
                steps.append(Step.give(consumer, run, sentence=f"{consumer} takes {names(run)}"))
        return steps

    def _topics(
        self, partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> Iterator[_Topic]:
        check_inputs(partitions_per_topic, subscriptions)
        consumers_per_topic = self.consumers_per_topic(subscriptions)
        for topic in sorted(consumers_per_topic.keys() & partitions_per_topic.keys()):
            consumers = consumers_per_topic[topic]
            each, extra = divmod(partitions_per_topic[topic], len(consumers))
            if each or extra:
                yield _Topic(topic, consumers, partitions_per_topic[topic], each, extra)


def _division(topic: _Topic) -> str:
    partitions = count(topic.num_partitions, "partition")
    sentence = f"{partitions} over {count(len(topic.consumers), 'consumer')}: {topic.each} each"
    if topic.extra == 1:
        sentence += f", 1 left over, so {topic.consumers[0]} takes one more"
    elif topic.extra:
        *firsts, last = topic.consumers[: topic.extra]
        sentence += f", {topic.extra} left over, so {', '.join(firsts)} and {last} take one more"
    return sentence
