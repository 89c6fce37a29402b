"""The drawing of a group: the state lit, who is waited for, names that stay text."""

import re
from xml.etree import ElementTree

import pytest

from kafkalearn import scenarios
from kafkalearn.views import group
from kafkalearn.views.drawings import group as drawn
from kafkalearn.views.language import Say


@pytest.fixture(scope="module")
def frames():
    """A second consumer joins."""
    trace = scenarios.second_member_joins()
    return group.frames(trace)


def last(frames, state):
    """Give the last frame of a state."""
    return [frame for frame in frames if frame["state"] == state][-1]


def lit(frame):
    """Give the lit state, with its class, and the arrow that was taken."""
    picture = ElementTree.fromstring(drawn.draw(frame, Say())[0])
    found = [each for each in picture.iter("g") if each.get("class")]
    return [(each.get("class"), each.findtext("text")) for each in found]


def words(pieces):
    """Give what stands between the tags."""
    return re.sub(r"<[^>]*>", " ", "".join(pieces))


def test_one_state_is_lit_and_the_way_into_it(frames):
    """Amber while it waits, green when Stable; the last arrow stands out."""
    assert lit(frames[0]) == [("kl-soft", "Empty")]
    assert lit(last(frames, "AwaitingSync")) == [("kl-taken", None), ("kl-wait", "AwaitingSync")]
    assert lit(last(frames, "Stable")) == [("kl-taken", None), ("kl-ok", "Stable")]


def test_every_move_that_a_trace_makes_has_its_arrow():
    """No scenario takes a group on a way that is not drawn."""
    for name in ("consumer_dies", "consumer_leaves", "offset_expired", "topic_grows"):
        for frame in group.frames(scenarios.run(name)):
            assert len(lit(frame)) == 1 + (frame["before"] is not None)


def test_whom_it_waits_for_and_how_long(frames):
    """The sentence names the member; the time is left to the browser."""
    frame = last(frames, "PreparingRebalance")
    before = [each for each in frames if each["waits"] == "join"][-1]
    assert "every member has joined" in words(drawn.draw(frame, Say()))
    waits = drawn.draw(before, Say())[1]
    assert "waits for JoinGroup of c1" in waits
    assert 'data-until="4023"' in waits


def test_a_piece_a_member_and_no_time_in_it(frames):
    """Rows are pieces of their own, and equal as long as their member does nothing."""
    drawings = {id(frame): drawn.draw(frame, Say()) for frame in frames}
    pieces = {piece for drawing in drawings.values() for piece in drawing}
    assert sum(map(len, pieces)) < 20_000
    assert not re.search(r"\d ms", "".join(pieces))


def test_a_state_is_never_told_by_colour_alone():
    """A crashed member is said to be crashed, a removed one why; chips become dashed."""
    trace = scenarios.consumer_dies()
    frames = group.frames(trace)
    crashed = next(each for each in frames if each["waits"] == "life")
    removed = next(each for each in frames if any(row["reason"] for row in each["members"]))
    assert re.search(r"kl-ghost.*crashed.*session.*data-until", drawn.draw(crashed, Say())[4])
    assert re.search(r"kl-removed.*removed.*no sign of life", drawn.draw(removed, Say())[4])
