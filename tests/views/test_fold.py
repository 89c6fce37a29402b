"""Models run over traces: frames that are shared, windows, and what is missing."""

from typing import ClassVar

from kafkalearn.trace import Trace
from kafkalearn.views.fold import (
    default_group,
    fold,
    mapping,
    missing,
    number,
    partitions,
    text,
    texts,
)


class Counting:
    """Counts the events of a topic; its frames are lists, so that sharing can be seen."""

    needs: ClassVar = {"append": ("topic", "partition")}

    def __init__(self):
        self.count = 0

    def on_append(self, event):
        self.count += 1

    def frame(self):
        return [self.count]


def example():
    """A trace of a poll, an append, one without a partition, and one more."""
    trace = Trace("example")
    trace.record("poll", 0, "c1")
    trace.record("append", 1, "b0", topic="t", partition=0)
    trace.record("append", 2, "b0", topic="t")
    trace.record("append", 3, "b0", topic="t", partition=1)
    return trace


def test_a_frame_for_each_event():
    """An event that tells nothing, for want of a column, changes nothing; its frame is the same."""
    frames = fold(example(), Counting())
    assert frames == [[0], [1], [1], [2]]
    assert frames[1] is frames[2]


def test_an_equal_frame_is_the_one_before():
    """An event that changes nothing that is shown makes no new frame."""

    class Parity(Counting):
        def frame(self):
            return [self.count > 0]

    frames = fold(example(), Parity())
    assert frames == [[False], [True], [True], [True]]
    assert frames[1] is frames[3]


def test_a_window_begins_with_what_came_before():
    """Frames of a window know of the events before it."""
    assert fold(example(), Counting(), window=range(2, 4)) == [[1], [2]]
    assert fold(example(), Counting(), window=range(9, 9)) == []


def test_an_empty_trace_has_no_frames():
    """Nothing happened, nothing is shown."""
    assert fold(Trace("empty"), Counting()) == []


def test_missing_kinds_and_columns():
    """A kind that is absent is named; a column only if it is absent everywhere."""
    needs = {"append": ("topic", "offset"), "commit": (), "poll": ("group_id",)}
    told = missing(example(), needs, essential=("append", "commit", "poll"))
    assert told == ["append (offset)", "commit", "poll (group_id)"]
    assert missing(example(), {"append": ("partition",)}, essential=("append",)) == []


def test_the_default_group_has_members():
    """A group that is only asked about is followed if there is no other."""
    trace = Trace("groups")
    assert default_group(trace) is None
    trace.record("send", 1, "admin", api="DescribeGroups", group_id="asked")
    assert default_group(trace) == "asked"
    trace.record("assigned", 2, "c1", group_id="joined", detail={"partitions": {"t": [1, -1, "0"]}})
    assert default_group(trace) == "joined"
    assert partitions(trace[1]) == [("t", 1)]


def test_none_is_no_failure():
    """An answer's NONE, and no error at all, are none."""
    trace = Trace("errors")
    for error in (None, "NONE", "UNKNOWN_MEMBER_ID"):
        trace.record("respond", 1, "b0", error=error)
    assert [event.failure for event in trace] == [None, None, "UNKNOWN_MEMBER_ID"]


def test_a_detail_may_hold_anything():
    """What is no such value as is asked for counts as absent."""
    trace = Trace("odd")
    trace.record("poll", 0, "c1", detail={"members": [1, "a", None], "count": True, "fields": 3})
    event = trace[0]
    assert texts(event, "members") == ["a"]
    assert texts(event, "absent") == []
    assert number(event, "count") is None
    assert mapping(event, "fields") == {}
    assert text(event, "count") is None
