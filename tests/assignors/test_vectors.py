"""Kafka 3.9's own answers, case by case."""

import pytest

from kafkalearn.assignors import assignor, follow
from tests.assignors.cases import (
    cases,
    check_balanced,
    check_valid,
    kept,
    partitions,
    subscriptions,
)


def expected(case):
    return {member: partitions(pairs) for member, pairs in case["expected"].items()}


@pytest.mark.parametrize(
    "case",
    cases("range", "roundrobin", "sticky", "cooperative-sticky"),
    ids=lambda case: case["name"],
)
def test_the_answer_is_kafkas(case):
    """Lists, sets or properties agree, as the case's order says."""
    group = subscriptions(case)
    answer = assignor(case["assignor"]).assign(case["partitions_per_topic"], group)
    if case["order"] == "exact":
        assert answer == expected(case)
    elif case["order"] == "set":
        assert {member: set(mine) for member, mine in answer.items()} == {
            member: set(mine) for member, mine in expected(case).items()
        }
    else:
        assert case["order"] == "hash"
        check_hash_case(case, answer, group)


def check_hash_case(case, answer, group):
    check_valid(
        answer,
        case["partitions_per_topic"],
        group,
        may_withhold=case["assignor"] == "cooperative-sticky",
    )
    if case["sizes_fixed"]:
        assert sorted(map(len, answer.values())) == sorted(map(len, expected(case).values()))
    least, most = case["kept_range"]
    assert least <= kept(answer, group) <= most


@pytest.mark.parametrize("case", cases("quirks"), ids=lambda case: case["name"])
def test_where_kafka_fails_the_answer_is_valid_and_balanced(case):
    """No exception, no partition lost or doubled, nothing that could move to a lighter member."""
    group = subscriptions(case)
    counts = case["partitions_per_topic"]
    cooperative = case["assignor"] == "cooperative-sticky"
    check_valid(
        assignor(case["assignor"]).assign(counts, group), counts, group, may_withhold=cooperative
    )
    check_balanced(assignor("sticky").assign(counts, group), group)


@pytest.mark.parametrize(
    "case",
    cases("range", "roundrobin", "sticky", "cooperative-sticky", "quirks"),
    ids=lambda case: case["name"],
)
def test_the_steps_alone_rebuild_the_answer(case):
    """explain tells everything that assign does, in sentences and in changes."""
    group = subscriptions(case)
    chosen, counts = assignor(case["assignor"]), case["partitions_per_topic"]
    steps = chosen.explain(counts, group)
    assert follow(steps, group) == chosen.assign(counts, group)
    assert all(step.sentence for step in steps)
