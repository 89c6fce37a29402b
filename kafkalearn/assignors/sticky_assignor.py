"""Sticky: as even as can be, and then as few moves as can be.

The idea in four lines. Each member says what it owned and in which generation. Claims that still
hold are kept. What has no owner goes to members that hold little. A partition is taken from a
member only if that makes the group more even. When both aims cannot be had, evenness comes first.

Kafka has two ways of doing this, and which one runs shows in the answer: if all members subscribe
to the same topics, everybody's share is known beforehand (constrained_assignment_builder.py); if
not, it balances step by step (general_assignment_builder.py).

Source: document 002, "StickyAssignor"; KIP-54, KIP-341;
org.apache.kafka.clients.consumer.StickyAssignor and internals.AbstractStickyAssignor (3.9).
Differs from Kafka: a member with no topics never counts as subscribing to what the others do. Kafka
takes it so when its hash map yields that member first, and may then hand it partitions, or throw.
"""

from collections.abc import Mapping

from kafkalearn.assignors.constrained_assignment_builder import ConstrainedAssignmentBuilder
from kafkalearn.assignors.explanation import Step, Tell
from kafkalearn.assignors.general_assignment_builder import GeneralAssignmentBuilder
from kafkalearn.assignors.partition_assignor import (
    AbstractPartitionAssignor,
    Assignment,
    check_inputs,
)
from kafkalearn.assignors.previous_owners import PreviousOwners, previous_owners
from kafkalearn.records import Subscription


class StickyAssignor(AbstractPartitionAssignor):
    """Eager: owners stay, but all members still revoke everything before each rebalance."""

    name = "sticky"
    reads_claims = True

    def assign(
        self, partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> Assignment:
        """See PartitionAssignor; each list begins with what was kept."""
        return self._builder(partitions_per_topic, subscriptions).build()

    def explain(
        self, partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> list[Step]:
        """Tell failed claims, who keeps and gives up what, then each gift and each move."""
        steps: list[Step] = []
        self._builder(partitions_per_topic, subscriptions, steps.append).build()
        return steps

    def _builder(
        self,
        partitions_per_topic: Mapping[str, int],
        subscriptions: Mapping[str, Subscription],
        tell: Tell | None = None,
    ) -> ConstrainedAssignmentBuilder | GeneralAssignmentBuilder:
        """Weigh the claims and choose the way: by shares if all subscribe to the same topics."""
        check_inputs(partitions_per_topic, subscriptions)
        topics = set().union(*{subscription.topics for subscription in subscriptions.values()})
        counts = {topic: n for topic, n in partitions_per_topic.items() if n and topic in topics}
        previous = previous_owners(counts, subscriptions)
        if tell:
            _tell_failed_claims(subscriptions, counts, previous, tell=tell)
        if all(len(subscription.topics) == len(topics) for subscription in subscriptions.values()):
            return ConstrainedAssignmentBuilder(counts, previous, tell=tell)
        return GeneralAssignmentBuilder(counts, subscriptions, previous=previous, tell=tell)


def _tell_failed_claims(
    subscriptions: Mapping[str, Subscription],
    partitions_per_topic: Mapping[str, int],
    previous: PreviousOwners,
    *,
    tell: Tell,
) -> None:
    for partition, claimants in sorted(previous.disputed.items()):
        sentence = f"{' and '.join(claimants)} claim {partition} in the same generation"
        generation = previous.generations[claimants[0]]
        tell(Step(f"{sentence} {generation}: somebody is wrong, so nobody keeps it"))
    for member in sorted(subscriptions):
        kept, generation = set(previous.owned[member]), previous.generations[member]
        for partition in subscriptions[member].owned_partitions:
            if partition.partition >= partitions_per_topic.get(partition.topic, 0):
                why = "there is no such partition, or nobody subscribes to it"
            elif partition in kept or member in previous.disputed.get(partition, ()):
                continue
            else:
                why = f"it is of generation {generation}, and another member's is newer"
            tell(Step(f"{member}'s claim to {partition} does not count: {why}"))
