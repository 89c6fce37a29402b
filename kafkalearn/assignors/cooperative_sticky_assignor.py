"""Cooperative sticky: sticky, but a partition that must change hands is first only taken away.

A member goes on reading what it keeps while the group rebalances. So a partition that another
member still reads may not be handed out yet: it is withheld, its owner gives it up, and a second
rebalance, which follows at once, hands it out.

Source: KIP-429; org.apache.kafka.clients.consumer.CooperativeStickyAssignor (3.9). The documents do
not have it.
Where Kafka is odd: a partition that two members claim in the same generation is withheld if all
members subscribe to the same topics; if not, and it goes to one of the two, that one gets it at
once while the other may still read it.
"""

from collections.abc import Mapping

from kafkalearn.assignors.explanation import Change, Step
from kafkalearn.assignors.partition_assignor import Assignment
from kafkalearn.assignors.sticky_assignor import StickyAssignor
from kafkalearn.records import Subscription


class CooperativeStickyAssignor(StickyAssignor):
    """Kafka's second default from 3.0 on, beside range."""

    name = "cooperative-sticky"
    rebalance_protocol = "cooperative"

    def assign(
        self, partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> Assignment:
        """See PartitionAssignor; what must first be given up is in nobody's list."""
        builder = self._builder(partitions_per_topic, subscriptions)
        assignment = builder.build()
        transferring = builder.transferring()
        for member in set(transferring.values()):
            assignment[member] = [each for each in assignment[member] if each not in transferring]
        return assignment

    def explain(
        self, partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> list[Step]:
        """Tell sticky's steps, then what is withheld and from whom it must come first."""
        steps: list[Step] = []
        builder = self._builder(partitions_per_topic, subscriptions, steps.append)
        builder.build()
        for partition, member in sorted(builder.transferring().items()):
            owners = [
                other
                for other in sorted(subscriptions)
                if other != member and partition in subscriptions[other].owned_partitions
            ]
            sentence = (
                f"{partition} is withheld from {member}: {' and '.join(owners)} must give it up "
                "first, then a second rebalance hands it out"
            )
            steps.append(Step(sentence, (Change(partition, member, None),)))
        return steps
