"""The interface of assignors, and what a learner's own assignor extends.

Source: document 002, "AbstractPartitionAssignor";
org.apache.kafka.clients.consumer.internals.AbstractPartitionAssignor (3.9).
"""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from itertools import repeat

from kafkalearn.assignors.explanation import Step, names
from kafkalearn.errors import InvalidAssignmentInputError
from kafkalearn.records import Subscription, TopicPartition, check_topic, whole_number

Assignment = dict[str, list[TopicPartition]]

# TopicPartition._make without its Python frame: big groups make tens of thousands.
_new_partition = partial(tuple.__new__, TopicPartition)


class PartitionAssignor(ABC):
    """Decides which member of a group reads which partition. Runs on the group's leader, a client.

    Assignors are pure: no state between calls, and no answer depends on the order of a dict or set.

    rebalance_protocol: ``eager``, all is revoked before each join, or ``cooperative`` (KIP-429).
    reads_claims: whether members have to tell what they owned before.
    """

    rebalance_protocol = "eager"
    reads_claims = False

    @property
    @abstractmethod
    def name(self) -> str:
        """The name that members vote with, as in ``partition.assignment.strategy``."""

    @abstractmethod
    def assign(
        self, partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> Assignment:
        """Give every member its partitions.

        partitions_per_topic: topic -> number of partitions, as the cluster's metadata has it.
            Topics that nobody subscribes to are passed over; one with 0 partitions is missing.
        subscriptions: member id -> what that member wants and claims.
        out: member id -> partitions; every member is there, maybe with an empty list.

        Errors: InvalidTopicError, InvalidAssignmentInputError; both name the value and what is
        allowed.
        """


class AbstractPartitionAssignor(PartitionAssignor):
    """Extend this: give a `name` and write `assign`; the helpers below are the documents' own."""

    def explain(
        self, partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> list[Step]:
        """Tell the steps that lead to `assign`'s answer, each with a sentence.

        An assignor that tells no reasons of its own still shows what it did, a member a step.
        `explanation.follow(steps, members)` rebuilds the assignment from the steps alone.
        """
        assignment = self.assign(partitions_per_topic, subscriptions)
        return [
            Step.give(
                member, partitions, sentence=f"{self.name} gives {member} {names(partitions)}"
            )
            for member, partitions in sorted(assignment.items())
            if partitions
        ]

    @staticmethod
    def partitions(topic: str, num_partitions: int) -> list[TopicPartition]:
        """List the partitions of a topic, 0 first."""
        return list(map(_new_partition, zip(repeat(topic), range(num_partitions), strict=False)))

    @staticmethod
    def consumers_per_topic(subscriptions: Mapping[str, Subscription]) -> dict[str, list[str]]:
        """Topic -> the members that subscribe to it, sorted as `sorted_members` does."""
        consumers: dict[str, list[str]] = defaultdict(list)
        for member in AbstractPartitionAssignor.sorted_members(subscriptions):
            for topic in subscriptions[member].topics:
                consumers[topic].append(member)
        return dict(consumers)

    @staticmethod
    def all_partitions_sorted(
        partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> list[TopicPartition]:
        """List every partition of every subscribed topic, by topic name and number."""
        topics = set().union(*{subscription.topics for subscription in subscriptions.values()})
        return [
            partition
            for topic in sorted(topics & partitions_per_topic.keys())
            for partition in AbstractPartitionAssignor.partitions(
                topic, partitions_per_topic[topic]
            )
        ]

    @staticmethod
    def sorted_members(subscriptions: Mapping[str, Subscription]) -> list[str]:
        """Static members by instance id, then dynamic ones by member id (Java: MemberInfo)."""
        static = {
            member: (instance_id, member)
            for member, subscription in subscriptions.items()
            if (instance_id := subscription.group_instance_id) is not None
        }
        dynamic = subscriptions.keys() - static.keys() if static else subscriptions
        return sorted(static, key=static.__getitem__) + sorted(dynamic)


def check_inputs(
    partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]
) -> None:
    """Refuse what no cluster could send; see PartitionAssignor.assign for what is allowed."""
    for what, value in (
        ("partitions_per_topic", partitions_per_topic),
        ("subscriptions", subscriptions),
    ):
        if not isinstance(value, Mapping):
            raise InvalidAssignmentInputError(
                f"{what} is a {type(value).__name__}: a dict is allowed"
            )
    for topic, count in partitions_per_topic.items():
        whole_number(count, f"the number of partitions of {check_topic(topic)}", least=0)
    for member, subscription in subscriptions.items():
        if not isinstance(member, str) or not member:
            raise InvalidAssignmentInputError(
                f"the member id {member!r} is not allowed: it must be a text that is not empty"
            )
        if not isinstance(subscription, Subscription):
            raise InvalidAssignmentInputError(
                f"{member} has a {type(subscription).__name__} as its subscription: "
                "Subscription(topics, ...) is allowed"
            )
