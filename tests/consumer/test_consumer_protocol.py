"""Subscriptions and assignments as text: there and back."""

import pytest

from kafkalearn.consumer.consumer_protocol import (
    by_topic,
    deserialize_assignment,
    deserialize_subscription,
    from_topics,
    serialize_assignment,
    serialize_subscription,
)
from kafkalearn.records import Subscription, TopicPartition

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)


@pytest.mark.parametrize(
    ("subscription", "text"),
    [
        (Subscription(["a"]), '{"topics": ["a"]}'),
        (Subscription([]), '{"topics": []}'),
        (
            Subscription(["a", "b"], [A0, A1, B0], 0),
            '{"topics": ["a", "b"], "owned_partitions": {"a": [0, 1], "b": [0]}, "generation": 0}',
        ),
    ],
)
def test_a_subscription_goes_there_and_back(subscription, text):
    """What is not claimed is left out; generation 0 is one."""
    assert serialize_subscription(subscription) == text
    assert deserialize_subscription(text, None) == subscription


def test_the_instance_id_comes_beside_the_text():
    """JoinGroup has a field of its own for it."""
    text = serialize_subscription(Subscription(["a"], group_instance_id="i"))
    assert text == '{"topics": ["a"]}'
    assert deserialize_subscription(text, "i") == Subscription(["a"], group_instance_id="i")


@pytest.mark.parametrize(
    ("partitions", "text"),
    [([], ""), ([B0], '{"b": [0]}'), ([B0, A1, A0], '{"a": [0, 1], "b": [0]}')],
)
def test_an_assignment_goes_there_and_back(partitions, text):
    """Sorted; nothing at all is no text."""
    assert serialize_assignment(partitions) == text
    assert deserialize_assignment(text) == sorted(partitions)


def test_partitions_are_grouped_by_topic_and_back():
    """Topics and numbers in order."""
    assert by_topic([B0, A1, A0]) == {"a": [0, 1], "b": [0]}
    assert from_topics({"a": [0, 1], "b": [0]}) == [A0, A1, B0]
