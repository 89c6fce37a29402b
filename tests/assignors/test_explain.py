"""The reasons, as a learner reads them."""

import pytest

from kafkalearn.assignors import (
    AbstractPartitionAssignor,
    Change,
    Step,
    Subscription,
    TopicPartition,
    assignor,
    follow,
    table,
)


def sentences(name, counts, group):
    return [step.sentence for step in assignor(name).explain(counts, group)]


def test_range_tells_the_division_then_each_run():
    """Seven over five, in words."""
    five = {f"c{i}": Subscription(["t"]) for i in range(5)}
    assert sentences("range", {"t": 7}, five)[:3] == [
        "t: 7 partitions over 5 consumers: 1 each, 2 left over, so c0 and c1 take one more",
        "c0 takes t-0, t-1",
        "c1 takes t-2, t-3",
    ]


def test_round_robin_tells_who_is_passed_over():
    """A member that does not want the topic is named."""
    group = {"c0": Subscription(["b"]), "c1": Subscription(["a", "b"])}
    assert sentences("roundrobin", {"a": 1, "b": 1}, group) == [
        "a-0 goes to c1, the next in the circle; passed over, since not subscribed to a: c0",
        "b-0 goes to c0, the next in the circle",
    ]


def test_sticky_tells_shares_what_is_kept_and_what_is_handed_out():
    """Equal subscriptions: the quota first, then who keeps, then who gets."""
    group = {
        "c0": Subscription(["t"], [("t", 0), ("t", 2)], 4),
        "c1": Subscription(["t"]),
    }
    assert sentences("sticky", {"t": 3}, group) == [
        "3 partitions over 2 members: 1 each, and 1 of them one more",
        "c0 keeps t-0, t-2: it owned them in generation 4",
        "t-1 has no owner: it goes to c1 (c1 holds 0 of 1 and is next)",
    ]


def test_sticky_tells_moves_with_both_loads():
    """Unequal subscriptions: a move names from whom, to whom, and how much each held."""
    group = {
        "c1": Subscription(["t2"]),
        "c3": Subscription(["t1", "t2"], [("t2", 0), ("t2", 1), ("t2", 2)], 4),
    }
    assert sentences("sticky", {"t1": 1, "t2": 3}, group) == [
        "c3 keeps t2-0, t2-1, t2-2: it owned them in generation 4",
        "t1-0 has no owner: it goes to c3, the lightest that wants t1 (it holds 3)",
        "t2-0 moves from c3 (4) to c1 (0)",
        "t2-1 moves from c3 (3) to c1 (1)",
    ]


def test_sticky_tells_that_a_partition_goes_back_to_a_former_owner():
    """A claim from an older generation decides where a partition goes that must move anyway."""
    every = [("t", number) for number in range(6)]
    group = {
        "a": Subscription(["t", "u"]),
        "b": Subscription(["t"], [("t", 0)], 3),
        "c": Subscription(["t"], every, 4),
    }
    told = sentences("sticky", {"t": 6}, group)
    assert "t-0 moves from c (6) to b (0): b owned it in generation 3" in told


def test_sticky_tells_which_claims_fail():
    """Stale claims, disputed ones and those to what is gone are all named, with their reasons."""
    group = {
        "a": Subscription(["t"], [("t", 0), ("t", 1)], 5),
        "b": Subscription(["t"], [("t", 1)], 4),
        "c": Subscription(["t"], [("t", 0), ("gone", 7)], 5),
        "d": Subscription(["t"], [("t", 1), ("t", 0)], 3),
    }
    newer = "and another member's is newer"
    assert sentences("sticky", {"t": 3}, group)[:5] == [
        "a and c claim t-0 in the same generation 5: somebody is wrong, so nobody keeps it",
        f"b's claim to t-1 does not count: it is of generation 4, {newer}",
        "c's claim to gone-7 does not count: there is no such partition, or nobody subscribes to "
        "it",
        f"d's claim to t-1 does not count: it is of generation 3, {newer}",
        f"d's claim to t-0 does not count: it is of generation 3, {newer}",
    ]


def test_cooperative_tells_what_is_withheld_and_from_whom_it_must_come():
    """The last step says who must give it up first."""
    group = {
        "a": Subscription(["t"], [("t", 0), ("t", 1)], 1),
        "b": Subscription(["t"]),
    }
    assert sentences("cooperative-sticky", {"t": 2}, group)[-1] == (
        "t-1 is withheld from b: a must give it up first, then a second rebalance hands it out"
    )


def test_a_learners_assignor_explains_itself_without_a_line_more():
    """Extend AbstractPartitionAssignor, write name and assign: explain shows a step a member."""

    class EverythingToTheFirst(AbstractPartitionAssignor):
        name = "first"

        def assign(self, partitions_per_topic, subscriptions):
            first, *rest = self.sorted_members(subscriptions)
            every = self.all_partitions_sorted(partitions_per_topic, subscriptions)
            return {first: every} | {member: [] for member in rest}

    mine, group = EverythingToTheFirst(), {"b": Subscription(["t"]), "a": Subscription(["t"])}
    steps = mine.explain({"t": 2}, group)
    assert [step.sentence for step in steps] == ["first gives a t-0, t-1"]
    assert follow(steps, group) == mine.assign({"t": 2}, group)


def test_follow_refuses_a_step_that_takes_what_is_not_there():
    """The replay is a check: a move from a member that does not hold the partition fails."""
    partition = TopicPartition("t", 0)
    with pytest.raises(ValueError, match="not in list"):
        follow([Step("wrong", (Change(partition, "a", "b"),))], ["a", "b"])


def test_a_table_has_a_line_a_member():
    """Sorted by name, aligned, and a member with nothing says so."""
    assignment = {"consumer10": [TopicPartition("t", 0), TopicPartition("t", 1)], "c": []}
    assert table(assignment) == "c           nothing\nconsumer10  t-0, t-1"
