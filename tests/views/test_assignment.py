"""Frames of an assignment: what was kept, what moved and whether it had to, as data and as text."""

import json

import pytest

from kafkalearn.assignors import Step
from kafkalearn.records import TopicPartition
from kafkalearn.views.assignment import frames
from kafkalearn.views.drawings.assignment_text import as_text


def owns(text):
    """Read ``a0 b1`` as partitions of the topics a and b."""
    return [TopicPartition(word[0], int(word[1:])) for word in text.split()]


def group(**members):
    """Read an assignment: ``group(c0="a0 a1")``."""
    return {member: owns(text) for member, text in members.items()}


def told(frame):
    """Shorten a frame to member -> label, state, other."""
    return {
        row["name"]: [
            f"{cell['topic']}{cell['partition']} {cell['state']} {cell['other']}"
            for cell in row["partitions"]
        ]
        for row in frame["members"]
    }


DEALT = group(c0="a0 b1 d0", c1="a1 c0 d1", c2="b0 c1")
DEALT_AGAIN = group(c0="a0 b0 c0 d0", c2="a1 b1 c1 d1")
STUCK = group(c0="a0 b1 d0 a1", c2="b0 c1 c0 d1")


def test_dealing_again_moves_what_need_not_move():
    """Round robin after c1 left: two partitions change hands between members that both stay."""
    [frame] = frames(DEALT, DEALT_AGAIN)
    assert told(frame) == {
        "c0": ["a0 kept c0", "b0 needless c2", "c0 orphaned c1", "d0 kept c0"],
        "c1": ["a1 left c2", "c0 left c0", "d1 left c2"],
        "c2": ["a1 orphaned c1", "b1 needless c0", "c1 kept c2", "d1 orphaned c1"],
    }
    assert (frame["kept"], frame["could_keep"], frame["needless"]) == (3, 5, 2)
    assert (frame["moved"], frame["orphaned"], frame["left"]) == (0, 3, ["c1"])


def test_one_partition_is_one():
    """Its noun is in the singular."""
    [frame] = frames({}, group(c0="a0"))
    assert as_text(frame).startswith("1 partition given, 0 spread")


def test_sticking_moves_only_what_was_orphaned():
    """The same change, kept five of five."""
    [frame] = frames(DEALT, STUCK)
    assert (frame["kept"], frame["could_keep"], frame["needless"]) == (5, 5, 0)
    assert (frame["fewest"], frame["most"], frame["spread"]) == (4, 4, 0)


def test_what_a_newcomer_needs_is_no_needless_move():
    """c1 joins and gets one; c0, who gave it, got nothing in its place."""
    [frame] = frames(group(c0="a0 a1"), group(c0="a0", c1="a1"))
    assert told(frame) == {"c0": ["a0 kept c0"], "c1": ["a1 moved c0"]}
    assert [row["state"] for row in frame["members"]] == ["stayed", "joined"]
    assert (frame["moved"], frame["needless"]) == (1, 0)


def test_a_move_is_needed_where_the_new_owner_could_not_read_the_other():
    """c1 reads only topic a, so c0 could not have kept a0 and given b0 instead."""
    before, after = group(c0="a0", c1="", c2="b0"), group(c0="b0", c1="a0", c2="")
    both = owns("a0 b0")
    [free] = frames(before, after)
    [bound] = frames(before, after, may_read={"c0": both, "c1": owns("a0"), "c2": both})
    assert (free["needless"], bound["needless"]) == (1, 0)


def test_who_no_longer_subscribes_could_not_keep_it():
    """c0 is still there but wants topic a no longer: the move had to be."""
    before, after = group(c0="a0", c1="b0"), group(c0="b0", c1="a0")
    [frame] = frames(before, after, may_read={"c0": owns("b0"), "c1": owns("a0 b0")})
    assert told(frame) == {"c0": ["b0 moved c1"], "c1": ["a0 moved c0"]}
    assert (frame["could_keep"], frame["kept"]) == (1, 0)


def test_the_first_assignment_is_all_new():
    """Before it, nobody owned anything."""
    [frame] = frames({}, group(c0="a0"))
    assert told(frame) == {"c0": ["a0 new None"]}
    assert frame["first"]


def test_a_withheld_partition_waits_in_the_row_of_who_gets_it():
    """It counts for nobody until its owner has given it up."""
    before, after = group(c0="a0 a1"), group(c0="a0", c1="")
    [frame] = frames(before, after, awaited=group(c1="a1"))
    assert told(frame) == {"c0": ["a0 kept c0"], "c1": ["a1 waiting c0"]}
    assert [row["count"] for row in frame["members"]] == [1, 0]
    assert (frame["waiting"], frame["unowned"]) == (1, [])


def test_a_partition_that_nobody_got_is_named():
    """An assignor that forgets one does not hide it."""
    [frame] = frames({}, group(c0="a0"), may_read=group(c0="a0 a1"))
    assert [(cell["topic"], cell["partition"]) for cell in frame["unowned"]] == [("a", 1)]


def test_a_partition_that_is_gone_is_neither_kept_nor_lost():
    """The topic shrank: what no longer exists could not be kept."""
    [frame] = frames(group(c0="a0 a1"), group(c0="a0"), may_read=group(c0="a0"))
    assert (frame["kept"], frame["could_keep"], frame["unowned"]) == (1, 1, [])


def test_each_step_fills_the_frame_further():
    """One frame for each reason, with what it touches, and then the result."""
    steps = [
        Step("two for two"),
        Step.give("c0", owns("a0"), sentence="c0 takes a-0"),
        Step.give("c1", owns("a1"), sentence="c1 takes a-1"),
    ]
    shown = frames({}, group(c0="a0", c1="a1"), steps=steps)
    assert [sum(row["count"] for row in frame["members"]) for frame in shown] == [0, 1, 2, 2]
    assert [len(frame["unowned"]) for frame in shown] == [2, 1, 0, 0]
    assert shown[1]["step"] == {
        "number": 2,
        "of": 3,
        "sentence": "c0 takes a-0",
        "partitions": [["a", 0]],
    }
    assert shown[-1]["step"] is None


def test_frames_are_plain_json():
    """What the browser and a saved page get comes back the same."""
    shown = frames(DEALT, STUCK, steps=[Step.give("c0", owns("a0"), sentence="c0 takes a-0")])
    assert json.loads(json.dumps(shown)) == shown


def test_a_step_marks_what_the_whole_change_moves_needlessly():
    """From the first deal on, though c2 has nothing yet that it could have given instead."""
    deal = Step.give("c0", owns("b0"), sentence="b-0 goes to c0")
    first, _ = frames(DEALT, DEALT_AGAIN, steps=[deal])
    assert told(first)["c0"] == ["b0 needless c2"]


def test_the_text_says_all_that_the_picture_shows():
    """One line a member, aligned, and from whom each partition came."""
    [frame] = frames(DEALT, DEALT_AGAIN)
    assert as_text(frame, "roundrobin").splitlines() == [
        "roundrobin: 3 of 5 kept, 2 moved needlessly, 0 spread (4 each)",
        "  c0   4  a-0, b-0 (from c2, needlessly), c-0 (from c1), d-0",
        "  c1   -  left",
        "  c2   4  a-1 (from c1), b-1 (from c0, needlessly), c-1, d-1 (from c1)",
    ]


@pytest.mark.parametrize(
    ("frame", "line"),
    [
        (frames({}, group(c0="a0"))[-1], "  c0   1  a-0"),
        (frames(group(c0="a0"), group(c0="a0 a1"))[-1], "  c0   2  a-0, a-1 (new)"),
        (frames(group(c0="a0"), group(c0=""), awaited=group(c0="a0"))[-1], "(waits for c0)"),
        (frames({}, group(c0=""), may_read=group(c0="a0"))[-1], "  no owner   1  a-0"),
        (frames({}, {"two\nlines": owns("a0")})[-1], r"  two\nlines   1  a-0"),
    ],
)
def test_the_text_has_each_state(frame, line):
    """New, waiting, without an owner, and a name with a line feed in it."""
    assert line in as_text(frame)
