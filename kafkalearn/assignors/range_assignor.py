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
    """One topic, ready to be cut; the names are the document's."""

    name: str
    consumers: list[str]
    num_partitions: int
    num_partitions_per_consumer: int
    consumers_with_extra_partition: int

    def runs(self) -> Iterator[tuple[str, list[TopicPartition]]]:
        """Give each member that gets something, with its run: first those that take one more."""
        partitions = AbstractPartitionAssignor.partitions(self.name, self.num_partitions)
        each, extra = self.num_partitions_per_consumer, self.consumers_with_extra_partition
        longer, shorter = self.consumers[:extra], self.consumers[extra:] if each else ()
        start = 0
        for length, consumers in ((each + 1, longer), (each, shorter)):
            for consumer in consumers:
                end = start + length
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
            consumers, num_partitions = consumers_per_topic[topic], partitions_per_topic[topic]
            if num_partitions:
                yield _Topic(
                    topic, consumers, num_partitions, *divmod(num_partitions, len(consumers))
                )


def _division(topic: _Topic) -> str:
    partitions = count(topic.num_partitions, "partition")
    consumers, each = count(len(topic.consumers), "consumer"), topic.num_partitions_per_consumer
    sentence = f"{partitions} over {consumers}: {each} each"
    extra = topic.consumers_with_extra_partition
    if extra == 1:
        sentence += f", 1 left over, so {topic.consumers[0]} takes one more"
    elif extra:
        *firsts, last = topic.consumers[:extra]
        sentence += f", {extra} left over, so {', '.join(firsts)} and {last} take one more"
    return sentence
