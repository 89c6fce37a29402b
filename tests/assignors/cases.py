"""Reads the vectors, and says what makes an assignment valid."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kafkalearn.assignors import Subscription, TopicPartition

VECTORS = Path(__file__).parent / "vectors"
Assignment = Mapping[str, list[TopicPartition]]


def cases(*names: str) -> list[dict[str, Any]]:
    """Every case of these files."""
    return [case for name in names for case in json.loads((VECTORS / f"{name}.json").read_text())]


def partitions(pairs: list[list[Any]]) -> list[TopicPartition]:
    """Partitions from their JSON form."""
    return [TopicPartition(topic, number) for topic, number in pairs]


def subscriptions(case: dict[str, Any]) -> dict[str, Subscription]:
    """What the members of a case said."""
    return {
        member: Subscription(
            said["topics"],
            partitions(said.get("owned_partitions", [])),
            said.get("generation", -1),
            said.get("group_instance_id"),
        )
        for member, said in case["subscriptions"].items()
    }


def wanted(
    partitions_per_topic: Mapping[str, int], group: Mapping[str, Subscription]
) -> set[TopicPartition]:
    """Every partition of every topic that somebody subscribes to."""
    topics = {topic for subscription in group.values() for topic in subscription.topics}
    return {
        TopicPartition(topic, number)
        for topic in topics
        for number in range(partitions_per_topic.get(topic, 0))
    }


def check_valid(
    answer: Assignment,
    partitions_per_topic: Mapping[str, int],
    group: Mapping[str, Subscription],
    *,
    may_withhold: bool = False,
) -> None:
    """Assert: every member, each wanted partition once, and only to who subscribes to it.

    may_withhold: a partition may be missing if a member claims it (cooperative sticky).
    """
    assert answer.keys() == group.keys()
    given = [partition for mine in answer.values() for partition in mine]
    assert len(given) == len(set(given)), "a partition has two owners"
    for member, mine in answer.items():
        assert {partition.topic for partition in mine} <= set(group[member].topics)
    missing = wanted(partitions_per_topic, group) - set(given)
    if may_withhold:
        missing -= {
            each for subscription in group.values() for each in subscription.owned_partitions
        }
    assert not missing, f"nobody has {missing}"


def check_balanced(answer: Assignment, group: Mapping[str, Subscription]) -> None:
    """Assert that no partition could move to a subscriber that holds at least two fewer."""
    for member, mine in answer.items():
        for other, subscription in group.items():
            could_move = [each for each in mine if each.topic in subscription.topics]
            assert not could_move or len(mine) <= len(answer[other]) + 1, (
                f"{could_move[0]} could move from {member} ({len(mine)}) to {other}"
            )


def kept(answer: Assignment, group: Mapping[str, Subscription]) -> int:
    """How many partitions stay with a member that claims them."""
    return sum(
        len(set(mine) & set(group[member].owned_partitions)) for member, mine in answer.items()
    )
