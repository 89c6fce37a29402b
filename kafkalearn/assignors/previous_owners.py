"""Who may keep what: the members' claims, checked against each other and against the cluster.

A member's claim holds if the partition still exists and nobody claims it in a newer generation.
When two members claim it in the same, newest generation, somebody is wrong and nobody keeps it.

Source: org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor, allSubscriptionsEqual
and prepopulateCurrentAssignments (3.9); KIP-341 (generations).
Differs from Kafka: there, among three or more claims of different generations, the answer can
depend on hash order.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafkalearn.records import Subscription, TopicPartition


@dataclass(slots=True)
class PreviousOwners:
    """What is left of the last assignment.

    owned: member -> its valid claims, as it listed them; members in the order of their names.
    generations: member -> the generation of its claims; -1 if it has none.
    disputed: partition -> the members that claim it in the same, newest generation.
    former: partition -> (member, generation) of the newest claim from before the newest generation
    of the group.
    """

    owned: dict[str, list[TopicPartition]]
    generations: dict[str, int]
    disputed: dict[TopicPartition, list[str]] = field(default_factory=dict)
    former: dict[TopicPartition, tuple[str, int]] = field(default_factory=dict)


def previous_owners(
    partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]
) -> PreviousOwners:
    """Weigh all claims; partitions that the cluster does not have (any more) count for nothing."""
    generations = {member: subscriptions[member].generation for member in sorted(subscriptions)}
    result = PreviousOwners({member: [] for member in generations}, generations)
    newest = max(generations.values(), default=-1)
    owner: dict[TopicPartition, str] = {}
    for member in sorted(generations, key=lambda member: -generations[member]):
        generation, mine = generations[member], result.owned[member]
        for partition in subscriptions[member].owned_partitions:
            topic, number = partition
            if number >= partitions_per_topic.get(topic, 0):
                continue
            if generation < newest:
                result.former.setdefault(partition, (member, generation))
            rival = owner.setdefault(partition, member)
            if rival == member:
                mine.append(partition)
            elif generations[rival] == generation:
                result.disputed.setdefault(partition, [rival]).append(member)
    for partition, claimants in result.disputed.items():
        result.owned[claimants[0]].remove(partition)
    return result
