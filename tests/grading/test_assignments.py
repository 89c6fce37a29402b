"""What the judges of assignors share: what makes an answer an assignment, table and picture."""

from xml.etree import ElementTree

import pytest

from kafkalearn.grading.judging import assignment_picture, assignments
from kafkalearn.grading.judging.assignments import all_want
from kafkalearn.records import Subscription, TopicPartition

T0, T1 = (TopicPartition("t0", number) for number in range(2))
PAIR = {"t0": 2}, all_want(["t0"], "a b")
RIGHT = {"a": [T0], "b": [T1]}


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            None,
            "the answer is None (is a `return` missing?): "
            "a dict of member -> list of TopicPartition is wanted",
        ),
        ({"a": []}, "b is missing: every member is in the answer, maybe with an empty list"),
        (RIGHT | {"z": []}, "the answer holds 'z', which is no member of this group"),
        (RIGHT | {"b": (T1,)}, "b gets a tuple: a list of TopicPartition is wanted"),
        (RIGHT | {"b": ["t0-1"]}, "b gets 't0-1': TopicPartition(topic, number) is wanted"),
        (RIGHT | {"b": [[1]]}, "b gets [1]: TopicPartition(topic, number) is wanted"),
        (RIGHT | {"b": [TopicPartition("t0", 2)]}, "b gets t0-2, which does not exist"),
        (RIGHT | {"b": [TopicPartition("t0", -1)]}, "b gets t0--1, which does not exist"),
        (RIGHT | {"b": [T0]}, "t0-0 is given twice: to a and to b"),
        (RIGHT | {"b": [T1, T1]}, "t0-1 is given twice: to b and to b"),
    ],
)
def test_what_is_no_assignment_gets_its_own_sentence(answer, sentence):
    """The first thing that is wrong is named, with what is wanted."""
    assert assignments.malformed(PAIR, RIGHT) is None
    assert assignments.malformed(PAIR, answer) == sentence


def test_nobody_gets_what_it_did_not_ask_for():
    """A topic that another member subscribes to is no answer either."""
    group = {"t0": 2}, all_want(["t0"], "a") | all_want([], "b")
    assert assignments.malformed(group, RIGHT) == "b gets t0-1, but does not subscribe to t0"


def test_a_partition_that_nobody_gets_is_named():
    """One of a topic without subscribers may lie there."""
    group = {"t0": 2, "unwanted": 3}, all_want(["t0", "unknown"], "a b")
    assert assignments.forgotten(group, RIGHT) is None
    assert assignments.forgotten(group, {"a": [], "b": [T1]}) == (
        "t0-0 goes to nobody, though a subscribes to it"
    )


@pytest.mark.parametrize(
    ("claims", "owner"),
    [
        ({"a": ("t0", 1)}, "a"),
        ({"a": ("t0", 1), "b": ("t0", 2)}, "b"),
        ({"b": ("t0", 2), "a": ("t0", 1), "c": ("t0", 0)}, "b"),
        ({"a": ("t0", 2), "b": ("t0", 2)}, None),
        ({"a": ("t0", 2), "b": ("t0", 2), "c": ("t0", 1)}, None),
        ({"a": ("t1", 1)}, None),
        ({"a": ("t1", 2), "b": ("t0", 1)}, None),
    ],
)
def test_the_newest_claim_is_right_and_of_two_such_none(claims, owner):
    """A claim to what one no longer subscribes to counts for nothing, and hides older ones."""
    group = (
        {"t0": 1, "t1": 1},
        {m: Subscription([topic], [T0], generation) for m, (topic, generation) in claims.items()},
    )
    assert assignments.owners_before(group).get(T0) == owner
    assert assignments.owned_before(group) == {
        m: [T0] if m == owner else [] for m in sorted(claims)
    }


def test_a_claim_to_a_partition_that_is_gone_is_none():
    """A topic may have been made anew with fewer partitions."""
    group = {"t0": 1}, {"a": Subscription(["t0"], [T0, T1], 3)}
    assert assignments.owned_before(group) == {"a": [T0]}


def test_a_table_of_many_members_says_how_many_there_are():
    """Twelve rows are shown, and no row of an answer that is none is marked."""
    group = {"t0": 2}, all_want(["t0"], " ".join(f"c{i:02}" for i in range(13)))
    table = assignments.table(group, {"expected": RIGHT, "got": None}, differ=True)
    assert table.caption.endswith("c11 … (13 in all, the first 12 are shown)")
    assert (len(table.rows), table.rows[0], table.marked) == (12, ("c00", "t0", "-", "-"), ())


def drawn(picture):
    """The texts of each matrix in a picture, which must be well-formed."""
    panels = ElementTree.fromstring(picture).iter("svg")
    return [" ".join("".join(each.itertext()) for each in svg.iter("text")) for svg in panels]


def test_the_picture_of_two_answers_outlines_what_differs():
    """The learner's matrix says under a partition whose it is; what nobody got has no owner."""
    picture = assignment_picture.compared(
        PAIR, {"a": [T1], "b": []}, expected=RIGHT, assignor="range"
    )
    right, got = drawn(picture)
    assert right == "expected: range 2 partitions given 0 spread (1 each) a 1 t0-0 b 1 t0-1"
    assert got == (
        "got: your answer 1 partition given 1 spread (0 to 1 each) "
        "a 1 t0-1 from b b 0 nothing no owner 1 t0-0"
    )
    assert "range gives it to another member" in picture


def test_the_picture_of_a_change_tells_kept_moved_and_needless():
    """A right answer keeps one; this one swaps both, which need not be."""
    group = (
        {"t0": 2},
        {"a": Subscription(["t0"], [T0], 1), "b": Subscription(["t0"], [T1], 1)},
    )
    answers = {"one right answer": RIGHT, "got": {"a": [T1], "b": [T0]}}
    right, got = drawn(assignment_picture.changed(group, answers))
    assert right.startswith("one right answer 2 of 2 kept 0 moved needlessly")
    assert got.startswith("got 0 of 2 kept 2 moved needlessly")
    assert "⇄ from b" in got


@pytest.mark.parametrize("answer", [None, 3, [RIGHT]])
def test_what_is_no_assignment_has_no_picture(answer):
    """There is nothing to draw: the sentence says it all."""
    assert assignment_picture.compared(PAIR, answer, expected=RIGHT, assignor="range") == ""
    assert assignment_picture.changed(PAIR, {"right": RIGHT, "got": answer}) == ""


@pytest.mark.parametrize(
    "answer",
    [{}, {"a": None}, {"a": [T0, T0, [1], TopicPartition("x", 9)]}, {"a": [T0], "b": [T0], 7: 7}],
)
def test_a_malformed_assignment_is_drawn_as_far_as_it_can_be(answer):
    """What is no partition of the group is left out."""
    assert (
        len(drawn(assignment_picture.compared(PAIR, answer, expected=RIGHT, assignor="range"))) == 2
    )


def test_a_group_of_many_members_has_no_picture():
    """It would be longer than a page."""
    group = {"t0": 2}, all_want(["t0"], " ".join(f"c{i:02}" for i in range(13)))
    answer = {member: [] for member in group[1]}
    assert assignment_picture.compared(group, answer, expected=answer, assignor="range") == ""


def test_names_in_a_picture_are_escaped():
    """A member may be called anything."""
    group = {"t0": 1}, {"<b>&\"'": Subscription(["t0"])}
    answer = {"<b>&\"'": [T0]}
    picture = assignment_picture.compared(group, answer, expected=answer, assignor="range")
    assert "<b>&\"'" in drawn(picture)[1]
    assert "<b>" not in picture
