"""Subscriptions and assignments as the text that JoinGroup and SyncGroup carry.

Source: org.apache.kafka.clients.consumer.internals.ConsumerProtocol (3.9), where they are bytes.
"""

import json
from collections.abc import Iterable, Mapping
from reprlib import repr as short
from typing import Any

from kafkalearn.consumer.partition_states import check_partitions
from kafkalearn.errors import IllegalArgumentError, KafkaError
from kafkalearn.records import Subscription, TopicPartition


def serialize_subscription(subscription: Subscription) -> str:
    """Write what a member wants and claims; what it does not claim is left out."""
    told: dict[str, Any] = {"topics": list(subscription.topics)}
    if subscription.owned_partitions:
        told["owned_partitions"] = by_topic(subscription.owned_partitions)
    if subscription.generation >= 0:
        told["generation"] = subscription.generation
    return json.dumps(told)


def deserialize_subscription(text: str, group_instance_id: str | None) -> Subscription:
    """Read what `serialize_subscription` wrote; the instance id comes beside it."""
    told = json.loads(text)
    return Subscription(
        told["topics"],
        from_topics(told.get("owned_partitions", {})),
        told.get("generation", -1),
        group_instance_id,
    )


def serialize_assignment(partitions: Iterable[TopicPartition]) -> str:
    """Write what a member is given; '' for nothing."""
    topics = by_topic(partitions)
    return json.dumps(topics) if topics else ""


def checked_assignment(assignor: str, assignment: object) -> dict[str, tuple[TopicPartition, ...]]:
    """Give back what an assignor made; IllegalArgumentError names it if that is no assignment."""
    if not isinstance(assignment, Mapping) or not all(isinstance(each, str) for each in assignment):
        raise IllegalArgumentError(
            f"the assignor {assignor} gave {short(assignment)}: a dict of member id to a list of "
            "TopicPartition is allowed"
        )
    try:
        return {member: check_partitions(given) for member, given in assignment.items()}
    except KafkaError as error:
        raise IllegalArgumentError(f"the assignor {assignor} gave a member this: {error}") from None


def deserialize_assignment(text: str) -> list[TopicPartition]:
    """Read what `serialize_assignment` wrote."""
    return from_topics(json.loads(text)) if text else []


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Group partitions: topic -> its numbers, sorted."""
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        topics.setdefault(topic, []).append(partition)
    return topics


def from_topics(topics: Mapping[str, Iterable[int]]) -> list[TopicPartition]:
    """Undo by_topic."""
    return [
        TopicPartition(topic, number) for topic, numbers in topics.items() for number in numbers
    ]
