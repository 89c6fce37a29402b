"""What must hold for every group, tried on groups that hypothesis makes up."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.assignors import Subscription, TopicPartition, all_assignors, assignor, follow
from tests.assignors.cases import check_balanced, check_valid, kept

NAMES = [each.name for each in all_assignors()]
TOPICS = ["t0", "t1", "t2", "t3"]
counts = st.dictionaries(st.sampled_from(TOPICS), st.integers(0, 7))
claims = st.lists(
    st.builds(TopicPartition, st.sampled_from(TOPICS), st.integers(0, 7)), unique=True, max_size=12
)
members = st.builds(
    Subscription,
    st.lists(st.sampled_from(TOPICS), unique=True),
    claims,
    st.integers(-1, 3),
    st.none() | st.sampled_from(["i0", "i1", "i2"]),
)
groups = st.dictionaries(st.sampled_from([f"c{i}" for i in range(7)]), members, max_size=7)


@pytest.mark.parametrize("name", NAMES)
@given(counts=counts, group=groups)
def test_each_partition_has_one_owner_that_wants_it(name, counts, group):
    """Every partition of a subscribed topic once, and nobody gets what it did not subscribe to."""
    answer = assignor(name).assign(counts, group)
    check_valid(answer, counts, group, may_withhold=name == "cooperative-sticky")


@pytest.mark.parametrize("name", NAMES)
@given(counts=counts, group=groups, shuffle=st.randoms(use_true_random=False))
def test_the_order_of_dicts_changes_nothing(name, counts, group, shuffle):
    """The same group, its dicts filled in another order, gets the same answer and reasons."""

    def mixed(mapping):
        keys = list(mapping)
        shuffle.shuffle(keys)
        return {key: mapping[key] for key in keys}

    chosen = assignor(name)
    assert chosen.assign(mixed(counts), mixed(group)) == chosen.assign(counts, group)
    assert chosen.explain(mixed(counts), mixed(group)) == chosen.explain(counts, group)


@pytest.mark.parametrize("name", NAMES)
@given(counts=counts, group=groups)
def test_the_steps_rebuild_the_assignment(name, counts, group):
    """explain and assign never part ways."""
    chosen = assignor(name)
    assert follow(chosen.explain(counts, group), group) == chosen.assign(counts, group)


@given(counts=counts, group=groups)
def test_sticky_is_balanced(counts, group):
    """No partition could move to a subscriber that holds at least two fewer."""
    check_balanced(assignor("sticky").assign(counts, group), group)


@given(
    counts=counts,
    topics=st.lists(st.sampled_from(TOPICS), unique=True, min_size=1),
    size=st.integers(1, 7),
)
def test_range_differs_by_at_most_one_a_topic_and_round_robin_by_one_in_all(counts, topics, size):
    """With equal subscriptions both are even, range only within each topic."""
    group = {f"c{i}": Subscription(topics) for i in range(size)}
    sizes = [len(mine) for mine in assignor("roundrobin").assign(counts, group).values()]
    assert max(sizes) - min(sizes) <= 1
    for topic in topics:
        sizes = [
            sum(partition.topic == topic for partition in mine)
            for mine in assignor("range").assign(counts, group).values()
        ]
        assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("name", ["sticky", "cooperative-sticky"])
@given(counts=counts, group=groups)
def test_asked_again_nothing_moves(name, counts, group):
    """A balanced answer, fed back as claims, is the answer again (cooperative: from round 2)."""
    chosen = assignor(name)
    for generation in range(5, 8):
        answer = chosen.assign(counts, group)
        group = {
            member: Subscription(group[member].topics, mine, generation)
            for member, mine in answer.items()
        }
    again = chosen.assign(counts, group)
    assert {m: set(mine) for m, mine in again.items()} == {
        m: set(mine) for m, mine in answer.items()
    }
    check_valid(again, counts, group)


@given(counts=counts, size=st.integers(2, 7), leaver=st.integers(0, 6))
def test_when_a_member_leaves_sticky_moves_only_what_it_owned(counts, size, leaver):
    """With equal subscriptions the survivors keep everything they had."""
    group = {f"c{i}": Subscription(TOPICS) for i in range(size)}
    answer = assignor("sticky").assign(counts, group)
    gone = f"c{leaver % size}"
    survivors = {
        member: Subscription(TOPICS, mine, 1) for member, mine in answer.items() if member != gone
    }
    after = assignor("sticky").assign(counts, survivors)
    assert kept(after, survivors) == sum(len(mine) for m, mine in answer.items() if m != gone)


@given(counts=counts, size=st.integers(1, 6))
def test_when_a_member_joins_sticky_moves_only_to_it(counts, size):
    """With equal subscriptions no partition goes from one old member to another."""
    group = {f"c{i}": Subscription(TOPICS) for i in range(size)}
    answer = assignor("sticky").assign(counts, group)
    joined = {member: Subscription(TOPICS, mine, 1) for member, mine in answer.items()}
    after = assignor("sticky").assign(counts, joined | {"new": Subscription(TOPICS)})
    for member, mine in answer.items():
        assert set(after[member]) <= set(mine)


def test_cooperative_hands_out_in_two_rounds_what_sticky_does_in_one():
    """What is withheld in the first rebalance reaches its new owner in the second."""
    counts = {"t0": 6}
    owned = [TopicPartition("t0", number) for number in range(6)]
    group = {"a": Subscription(["t0"], owned, 1), "b": Subscription(["t0"])}
    first = assignor("cooperative-sticky").assign(counts, group)
    assert first == {"a": owned[:3], "b": []}
    given_up = {"a": Subscription(["t0"], owned[:3], 2), "b": Subscription(["t0"], [], 2)}
    assert assignor("cooperative-sticky").assign(counts, given_up) == {
        "a": owned[:3],
        "b": owned[3:],
    }


ANSWERS = """
import random
from kafkalearn.assignors import Subscription, TopicPartition, all_assignors
draw = random.Random(7)
counts = {f"t{i}": draw.randint(1, 9) for i in range(6)}
every = [TopicPartition(topic, number) for topic in counts for number in range(counts[topic])]
group = {
    f"c{i}": Subscription(draw.sample(sorted(counts), 3), draw.sample(every, 5), draw.randint(1, 3))
    for i in range(9)
}
for each in all_assignors():
    print(each.name, each.assign(counts, group))
    print([(step.sentence, step.changes) for step in each.explain(counts, group)])
"""


def test_no_answer_depends_on_how_strings_hash():
    """Fresh processes with different hash seeds print the same assignments and reasons."""
    root = Path(__file__).parents[2]
    seeds = random.Random(0).sample(range(1, 1000), 3)
    printed = {
        subprocess.run(
            [sys.executable, "-c", ANSWERS],
            env={"PYTHONHASHSEED": str(seed), "PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in seeds
    }
    assert len(printed) == 1
    assert "cooperative-sticky" in printed.pop()
