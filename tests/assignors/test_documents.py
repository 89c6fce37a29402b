"""Every assignment example of the documents, and those of StickyAssignor's javadoc."""

from kafkalearn.assignors import (
    RangeAssignor,
    RoundRobinAssignor,
    StickyAssignor,
    Subscription,
    TopicPartition,
)
from tests.assignors.cases import kept


def named(assignment):
    """The assignment as people write it."""
    return {member: " ".join(map(str, mine)) for member, mine in assignment.items()}


def group(**topics):
    return {member: Subscription(names.split()) for member, names in topics.items()}


FIVE_AND_SEVEN = {"t1": 5, "t2": 7}
FIRST_THREE_TAKE_BOTH = group(c0="t1 t2", c1="t1 t2", c2="t1 t2", c3="t2", c4="t2")
NESTED = group(consumer1="t1", consumer2="t1 t2", consumer3="t1 t2 t3")


def test_range_seven_over_five():
    """Documents 000 and 002: the first two take one more."""
    five = group(c0="t", c1="t", c2="t", c3="t", c4="t")
    assert named(RangeAssignor().assign({"t": 7}, five)) == {
        "c0": "t-0 t-1",
        "c1": "t-2 t-3",
        "c2": "t-4",
        "c3": "t-5",
        "c4": "t-6",
    }


def test_range_two_topics_of_which_only_three_take_the_first():
    """Documents 000 and 002: each topic is cut by itself."""
    assert named(RangeAssignor().assign(FIVE_AND_SEVEN, FIRST_THREE_TAKE_BOTH)) == {
        "c0": "t1-0 t1-1 t2-0 t2-1",
        "c1": "t1-2 t1-3 t2-2 t2-3",
        "c2": "t1-4 t2-4",
        "c3": "t2-5",
        "c4": "t2-6",
    }


def test_round_robin_seven_over_three():
    """Documents 000 and 002: dealt like cards."""
    three = group(c0="t", c1="t", c2="t")
    assert named(RoundRobinAssignor().assign({"t": 7}, three)) == {
        "c0": "t-0 t-3 t-6",
        "c1": "t-1 t-4",
        "c2": "t-2 t-5",
    }


def test_round_robin_two_topics_goes_on_where_the_first_ended():
    """Kafka deals t2-0 to c3: the circle does not start again with each topic.

    Documents 000 and 002 print a table in which it does start again (t2-0 to c0); the code that
    they print beside it gives the answer here.
    """
    answer = named(RoundRobinAssignor().assign(FIVE_AND_SEVEN, FIRST_THREE_TAKE_BOTH))
    assert answer == {
        "c0": "t1-0 t1-3 t2-3",
        "c1": "t1-1 t1-4 t2-4",
        "c2": "t1-2 t2-0 t2-5",
        "c3": "t2-1 t2-6",
        "c4": "t2-2",
    }


def test_sticky_nested_subscriptions():
    """Document 002 prints another table, with a partition that does not exist; this is Kafka's."""
    counts = {"t1": 2, "t2": 3, "t3": 4}
    assert named(StickyAssignor().assign(counts, NESTED)) == {
        "consumer1": "t1-0 t1-1",
        "consumer2": "t2-0 t2-1 t2-2",
        "consumer3": "t3-0 t3-1 t3-2 t3-3",
    }


def test_javadoc_example_1():
    """When C1 leaves, round robin keeps 3 of the 5 others in place, sticky all 5.

    The javadoc (1.0.0 to 3.9) gives t2-0 to C0 and t0-1 to C2; since the equal-subscription
    algorithm of 2.4, C0 gets t0-1 and C2 t2-0, which keeps and balances as well.
    """
    counts = {"t0": 2, "t1": 2, "t2": 2, "t3": 2}
    topics = "t0 t1 t2 t3"
    three = group(C0=topics, C1=topics, C2=topics)
    fresh = StickyAssignor().assign(counts, three)
    assert named(fresh) == {"C0": "t0-0 t1-1 t3-0", "C1": "t0-1 t2-0 t3-1", "C2": "t1-0 t2-1"}
    assert fresh == RoundRobinAssignor().assign(counts, three)
    two = {member: Subscription(topics.split(), fresh[member], 1) for member in ("C0", "C2")}
    assert named(RoundRobinAssignor().assign(counts, two)) == {
        "C0": "t0-0 t1-0 t2-0 t3-0",
        "C2": "t0-1 t1-1 t2-1 t3-1",
    }
    assert named(StickyAssignor().assign(counts, two)) == {
        "C0": "t0-0 t3-0 t1-1 t0-1",
        "C2": "t1-0 t2-1 t2-0 t3-1",
    }


def test_javadoc_example_2():
    """StickyAssignor (1.0.0): nested subscriptions, and C0 leaves."""
    counts = {"t0": 1, "t1": 2, "t2": 3}
    nested = group(C0="t0", C1="t0 t1", C2="t0 t1 t2")
    fresh = StickyAssignor().assign(counts, nested)
    assert named(fresh) == {"C0": "t0-0", "C1": "t1-0 t1-1", "C2": "t2-0 t2-1 t2-2"}
    left = {
        member: Subscription(nested[member].topics, fresh[member], 1) for member in ("C1", "C2")
    }
    assert named(StickyAssignor().assign(counts, left)) == {
        "C1": "t1-0 t1-1 t0-0",
        "C2": "t2-0 t2-1 t2-2",
    }
    assert named(RoundRobinAssignor().assign(counts, left)) == {
        "C1": "t0-0 t1-1",
        "C2": "t1-0 t2-0 t2-1 t2-2",
    }


def test_range_skew_grows_with_the_topics():
    """With k topics of 3 partitions over 2 members give 2k against k."""
    k = 4
    counts = {f"t{i}": 3 for i in range(k)}
    two = {member: Subscription(list(counts)) for member in ("c0", "c1")}
    assert [len(mine) for mine in RangeAssignor().assign(counts, two).values()] == [2 * k, k]


def test_more_consumers_than_partitions():
    """The extra members are there, with nothing."""
    three = group(c0="t", c1="t", c2="t")
    for assignor in (RangeAssignor(), RoundRobinAssignor(), StickyAssignor()):
        assert assignor.assign({"t": 1}, three) == {
            "c0": [TopicPartition("t", 0)],
            "c1": [],
            "c2": [],
        }


def test_static_members_go_first():
    """KIP-345: range and round robin take static members by instance id, before dynamic ones."""
    members = {
        "a": Subscription(["t"]),
        "y": Subscription(["t"], group_instance_id="2"),
        "z": Subscription(["t"], group_instance_id="1"),
    }
    for assignor in (RangeAssignor(), RoundRobinAssignor()):
        answer = named(assignor.assign({"t": 3}, members))
        assert answer == {"z": "t-0", "y": "t-1", "a": "t-2"}


def test_a_partition_that_went_the_other_way_returns_instead():
    """No two partitions of a topic change places: that would keep two fewer (KIP-54, isSticky)."""
    counts = {"t0": 7, "t1": 15, "t3": 4, "t4": 13}

    def member(topics, **owned):
        claims = [(topic, number) for topic, numbers in owned.items() for number in numbers]
        return Subscription(topics.split(), claims, 3 if claims else -1)

    members = {
        "m1": member("t1"),
        "m3": member("t4 t1 t3", t1=[1], t4=[1, 2, 3, 5, 6, 10]),
        "m4": member("t4"),
        "m5": member("t4 t0 t1", t1=[0, 6, 8, 9, 12, 14], t4=[9, 11, 12]),
    }
    answer = StickyAssignor().assign(counts, members)
    assert kept(answer, members) == 7
    there = set(members["m3"].owned_partitions) & set(answer["m5"])
    back = set(members["m5"].owned_partitions) & set(answer["m3"])
    assert not ({each.topic for each in there} & {each.topic for each in back})
