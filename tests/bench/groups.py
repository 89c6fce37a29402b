"""The groups that the benchmarks share out: seeded, so that every run measures the same."""

import random
from collections.abc import Mapping

from kafkalearn.assignors import Subscription, TopicPartition

Group = dict[str, Subscription]


def equal(members: int, partitions: int, topics: int = 20) -> tuple[dict[str, int], Group]:
    """All members subscribe to all topics."""
    counts = {f"topic-{i:03d}": partitions // topics for i in range(topics)}
    return counts, {f"consumer-{i:05d}": Subscription(counts) for i in range(members)}


def unequal(members: int, partitions: int, topics: int) -> tuple[dict[str, int], Group]:
    """Each member subscribes to a random choice of the topics, from one to all of them."""
    draw = random.Random(1)
    counts = {f"topic-{i:03d}": partitions // topics for i in range(topics)}
    return counts, {
        f"consumer-{i:05d}": Subscription(draw.sample(list(counts), draw.randint(1, topics)))
        for i in range(members)
    }


def one_left(group: Group, answer: Mapping[str, list[TopicPartition]]) -> Group:
    """The same group after it got `answer`, without the member in the middle."""
    gone = sorted(group)[len(group) // 2]
    return {
        member: Subscription(subscription.topics, answer[member], 1)
        for member, subscription in group.items()
        if member != gone
    }


def one_owns_all(counts: Mapping[str, int], group: Group) -> Group:
    """The worst start: a newcomer's group, and one old member that owned every partition."""
    every = [TopicPartition(topic, i) for topic, count in counts.items() for i in range(count)]
    return group | {"consumer-old": Subscription(counts, every, 1)}
