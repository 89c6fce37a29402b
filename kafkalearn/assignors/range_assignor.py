"""Range: each topic by itself, cut into even runs, the first members taking one more.

Source: document 002 (and 000), "RangeAssignor"; org.apache.kafka.clients.consumer.RangeAssignor (3.9).
Differs from Kafka: racks (KIP-881) are not modelled.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kafkalearn.assignors.explanation import Step
from kafkalearn.assignors.partition_assignor import (
    AbstractPartitionAssignor,
    Assignment,
    check_inputs,
    names,
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
        partitions = AbstractPartitionAssignor.partitions(self.name, self.num_partitions)
        for i, consumer in enumerate(self.consumers):
            start = self.each * i + min(i, self.extra)
            length = self.each + (1 if i < self.extra else 0)
            yield consumer, partitions[start : start + length]


class RangeAssignor(AbstractPartitionAssignor):
    """Kafka's default in the documents' time; still the first of its defaults."""

    name = "range"

    def assign(
        self, partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> Assignment:
        """See PartitionAssignor; each list goes topic by topic, in the topics' alphabetical order."""
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
                if run:
                    steps.append(Step.give(consumer, run, f"{consumer} takes {names(run)}"))
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
    count, consumers = topic.num_partitions, topic.consumers
    sentence = f"{_plural(count, 'partition')} over {_plural(len(consumers), 'consumer')}: {topic.each} each"
    if topic.extra:
        first = consumers[: topic.extra]
        sentence += f", {topic.extra} left over, so {_list(first)} {'takes' if len(first) == 1 else 'take'} one more"
    return sentence


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _list(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
