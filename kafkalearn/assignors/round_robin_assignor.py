"""Round robin: all partitions of all topics in one row, dealt out like cards.

Source: document 002 (and 000), "RoundRobinAssignor";
org.apache.kafka.clients.consumer.RoundRobinAssignor (3.9).
"""

from collections.abc import Iterator, Mapping

from kafkalearn.assignors.explanation import Step
from kafkalearn.assignors.partition_assignor import (
    AbstractPartitionAssignor,
    Assignment,
    check_inputs,
)
from kafkalearn.records import Subscription, TopicPartition


class RoundRobinAssignor(AbstractPartitionAssignor):
    """Members sit in a circle; whoever does not want the next partition is passed over."""

    name = "roundrobin"

    def assign(
        self, partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> Assignment:
        """See PartitionAssignor; each list is in the order in which the partitions were dealt."""
        assignment: Assignment = {member: [] for member in subscriptions}
        for partition, consumer, _ in self._deal(partitions_per_topic, subscriptions):
            assignment[consumer].append(partition)
        return assignment

    def explain(
        self, partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> list[Step]:
        """Tell, partition by partition, who is next and who was passed over."""
        steps = []
        for partition, consumer, passed in self._deal(partitions_per_topic, subscriptions):
            sentence = f"{partition} goes to {consumer}, the next in the circle"
            if passed:
                sentence += (
                    f"; passed over, since not subscribed to {partition.topic}: {', '.join(passed)}"
                )
            steps.append(Step.give(consumer, (partition,), sentence=sentence))
        return steps

    def _deal(
        self, partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> Iterator[tuple[TopicPartition, str, list[str]]]:
        """Yield (partition, who gets it, who was passed over for it)."""
        check_inputs(partitions_per_topic, subscriptions)
        members = self.sorted_members(subscriptions)
        topic_sets = {each.topics: frozenset(each.topics) for each in subscriptions.values()}
        wanted = [topic_sets[subscriptions[member].topics] for member in members]
        last, turn = len(members) - 1, 0
        for partition in self.all_partitions_sorted(partitions_per_topic, subscriptions):
            passed = []
            while partition.topic not in wanted[turn]:
                passed.append(members[turn])
                turn = turn + 1 if turn < last else 0
            yield partition, members[turn], passed
            turn = turn + 1 if turn < last else 0
