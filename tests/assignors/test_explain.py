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


def test_sticky_tells_who_may_have_one_more():
    """When everybody holds the smaller share, the rest goes round once, with its own reason."""
    group = {"c0": Subscription(["t"]), "c1": Subscription(["t"])}
    assert sentences("sticky", {"t": 3}, group)[1:] == [
        "t-0 has no owner: it goes to c0 (c0 holds 0 of 1 and is next)",
        "t-1 has no owner: it goes to c1 (c1 holds 0 of 1 and is next)",
        "t-2 has no owner: it goes to c0 "
        "(all hold 1 now, and c0 is the next that may have one more)",
    ]


def test_sticky_tells_what_a_member_with_too_much_gives_up():
    """Its share is named, and who gets what it gave up hears from whom it comes."""
    group = {
        "a": Subscription(["t"], [("t", number) for number in range(4)], 1),
        "b": Subscription(["t"]),
    }
    assert sentences("sticky", {"t": 4}, group)[1:] == [
        "a keeps t-0, t-1: it owned them in generation 1",
        "a gives up t-2, t-3: its share is 2",
        "a gave t-2 up: it goes to b (b holds 0 of 2 and is next)",
        "a gave t-3 up: it goes to b (b holds 1 of 2 and is next)",
    ]


def test_sticky_tells_that_there_is_no_share_for_all():
    """More members than partitions: a claim fails without anybody else's being better."""
    group = {name: Subscription(["t"], [("t", number)]) for number, name in enumerate("ab")}
    assert sentences("sticky", {"t": 1}, group | {"a": Subscription(["t"])})[0] == (
        "b's claim to t-1 does not count: there is no such partition, or nobody subscribes to it"
    )
    both = {"a": Subscription(["t"], [("t", 0)]), "b": Subscription(["t"], [("t", 1)])}
    three = both | {"c": Subscription(["t"], [("t", 2)])}
    assert sentences("sticky", {"t": 3, "u": 1}, three)[:4] == [
        "3 partitions over 3 members: 1 each",
        "a keeps t-0: it owned it before",
        "b keeps t-1: it owned it before",
        "c keeps t-2: it owned it before",
    ]


def test_sticky_tells_which_topics_a_member_no_longer_wants():
    """Unequal subscriptions: each topic is named once, and all partitions of it are given up."""
    group = {
        "a": Subscription(["t"], [("t", 0), ("u", 0), ("u", 1), ("v", 0)], 2),
        "b": Subscription(["t", "u", "v"]),
    }
    assert sentences("sticky", {"t": 1, "u": 2, "v": 1}, group)[:2] == [
        "a keeps t-0: it owned it in generation 2",
        "a gives up u-0, u-1, v-0: it no longer subscribes to u, v",
    ]


def test_sticky_tells_that_a_partition_comes_back():
    """One of the same topic had just gone the other way: that one returns, so that two stay."""
    t0, t1 = [("t0", number) for number in range(3)], [("t1", number) for number in range(4)]
    group = {
        "a": Subscription(["t0", "t1"], [t0[1], t0[2], t1[3]], 1),
        "b": Subscription(["t0", "t1"], [t0[2], *t1[:3]], 1),
        "c": Subscription(["t0", "t1"], [*t0[:2], *t1[2:]], 3),
        "d": Subscription(["t0"], [t0[1]], 1),
    }
    assert sentences("sticky", {"t0": 3, "t1": 4}, group)[-5:] == [
        "t0-2 has no owner: it goes to a, the lightest that wants t0 (it holds 0)",
        "t1-2 moves from c (4) to b (2): b owned it in generation 1",
        "t1-3 moves from c (3) to a (1): a owned it in generation 1",
        "t0-0 moves from c (2) to d (0)",
        "t1-2 moves from b (3) to c (1): back to where it was",
    ]


def test_sticky_weighs_all_partitions_once_one_member_lost_a_topic():
    """c lost t1: not only what was handed out may move, though d, who comes later, lost nothing."""
    t0, t1 = [("t0", number) for number in range(3)], [("t1", number) for number in range(4)]
    group = {
        "a": Subscription(["t0", "t1"], [t0[0], t1[2]], 1),
        "b": Subscription(["t1"], [*t0[1:], t1[1], t1[3]], 1),
        "c": Subscription(["t0"], [t0[1], *t1[2:]], 2),
        "d": Subscription(["t0", "t1"], [*t0, t1[0]], 2),
    }
    moves = [each for each in sentences("sticky", {"t0": 3, "t1": 4}, group) if "moves" in each]
    assert moves == ["t0-0 moves from d (3) to c (0)"]


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
    """Write name and assign: explain shows a step a member, by name in whatever order they come."""

    class TwoToTheFirst(AbstractPartitionAssignor):
        name = "first"

        def assign(self, partitions_per_topic, subscriptions):
            first, *_ = self.sorted_members(subscriptions)
            every = self.all_partitions_sorted(partitions_per_topic, subscriptions)
            return {each: every[:2] if each == first else every[2:] for each in subscriptions}

    mine, group = TwoToTheFirst(), {"b": Subscription(["t"]), "a": Subscription(["t"])}
    steps = mine.explain({"t": 3}, group)
    assert [step.sentence for step in steps] == ["first gives a t-0, t-1", "first gives b t-2"]
    assert follow(steps, group) == mine.assign({"t": 3}, group)


def test_follow_refuses_a_step_that_takes_what_is_not_there():
    """The replay is a check: a move from a member that does not hold the partition fails."""
    partition = TopicPartition("t", 0)
    with pytest.raises(ValueError, match="not in list"):
        follow([Step("wrong", (Change(partition, "a", "b"),))], ["a", "b"])


def test_a_table_has_a_line_a_member():
    """Sorted by name, aligned, and a member with nothing says so."""
    assignment = {"consumer10": [TopicPartition("t", 0), TopicPartition("t", 1)], "c": []}
    assert table(assignment) == "c           nothing\nconsumer10  t-0, t-1"
    assert table({}) == ""
