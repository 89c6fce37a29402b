"""Needless moves: as many as could have been undone together, as trying everything finds them."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.assignors import RoundRobinAssignor
from kafkalearn.records import TopicPartition
from kafkalearn.views.explorers.explored_group import ExploredGroup
from kafkalearn.views.needless import needless

MEMBERS = ("c0", "c1", "c2", "c3")
PARTITIONS = [TopicPartition("t", number) for number in range(6)]


def owns(numbers):
    """Read ``013`` as partitions of the topic t."""
    return [TopicPartition("t", int(number)) for number in numbers]


def group(**members):
    """Read an assignment: ``group(c0="01")``."""
    return {member: owns(numbers) for member, numbers in members.items()}


def homes_of(before):
    """Give the former owners."""
    return {partition: member for member, owned in before.items() for partition in owned}


def undoings(homes, after, may_read):
    """Try every arrangement of what did not stay, and give each set that comes home in one."""
    loose = [(p, m) for m, owned in after.items() for p in owned if homes.get(p) != m]
    for arrangement in set(permutations(member for _, member in loose)):
        now = [(p, old, new) for (p, old), new in zip(loose, arrangement, strict=True)]
        if all(old == new or p in may_read[new] for p, old, new in now):
            yield {p for p, _, new in now if homes.get(p) == new}


@st.composite
def changes(draw):
    """A rebalance in which anybody got anything that it may read; c4 has left."""
    may_read = {member: draw(st.sets(st.sampled_from(PARTITIONS))) for member in MEMBERS}
    homes, after = {}, {member: [] for member in MEMBERS}
    for partition in PARTITIONS:
        if (home := draw(st.sampled_from([*MEMBERS, "c4", None]))) is not None:
            homes[partition] = home
        if readers := [member for member in MEMBERS if partition in may_read[member]]:
            after[draw(st.sampled_from(readers))].append(partition)
    return homes, after, may_read


def assert_the_most_is_undone(found, homes, after, may_read):
    """Compare with all ways to undo moves: it is one of them, and none is larger."""
    possible = list(undoings(homes, after, may_read))
    assert found in possible
    assert len(found) == max(map(len, possible))


@settings(max_examples=500, deadline=None)
@given(changes())
def test_no_arrangement_undoes_more(change):
    """What is found can be undone together, and nothing larger can."""
    homes, after, may_read = change
    assert_the_most_is_undone(needless(homes, after, may_read=may_read), homes, after, may_read)


@settings(max_examples=200, deadline=None)
@given(changes())
def test_where_everybody_may_read_everything_places_are_enough(change):
    """Not to say who may read what finds as many as to say that all may read all."""
    homes, after, _ = change
    assert_the_most_is_undone(needless(homes, after, may_read=None), homes, after, EVERYTHING)


EVERYTHING = {member: {*PARTITIONS} for member in MEMBERS}


@pytest.mark.parametrize(
    ("before", "after", "may_read", "found"),
    [
        pytest.param(
            group(c0="0", c1="1"), group(c0="1", c1="0"), EVERYTHING, "01", id="a swap of two"
        ),
        pytest.param(
            group(c0="0", c1="1", c2="2"),
            group(c0="1", c1="2", c2="0"),
            {"c0": {*owns("01")}, "c1": {*owns("12")}, "c2": {*owns("20")}},
            "012",
            id="a circle of three, where no two could swap",
        ),
        pytest.param(
            group(c0="0", c3="1"),
            group(c0="1", c1="0"),
            EVERYTHING,
            "0",
            id="what the former owner got came from one who left",
        ),
        pytest.param(
            group(c0="01"), group(c0="0", c1="1"), EVERYTHING, "", id="a newcomer got its share"
        ),
        pytest.param(
            group(c0="0", c1="1"),
            group(c0="1", c1="0"),
            {"c0": {*owns("1")}, "c1": {*owns("01")}},
            "",
            id="its former owner may no longer read it",
        ),
    ],
)
def test_what_could_have_stayed(before, after, may_read, found):
    """The circles behind each answer are small enough to be followed by hand."""
    assert needless(homes_of(before), after, may_read=may_read) == {*owns(found)}


def test_moves_that_share_what_was_got_instead_count_once():
    """c2's t1-0 went to c3, and c3's t1-1 to c0: one could have stayed, not both."""
    everything = ["t0", "t1", "t2"]
    explored = ExploredGroup(
        [RoundRobinAssignor()],
        topics={"t0": 1, "t1": 2, "t2": 2},
        members={"c0": ["t1"], "c1": ["t0"], "c2": everything, "c3": everything},
    )
    explored.remove_member("c1")
    assert explored.histories["roundrobin"].result["needless"] == 1
