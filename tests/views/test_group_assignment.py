"""Who owns what, and what a rebalance moved, from a trace alone."""

from kafkalearn import scenarios
from kafkalearn.trace import Trace
from kafkalearn.views import group_assignment
from kafkalearn.views.language import Say


def owned(frame):
    """Give member -> its partitions."""
    return {
        row["name"]: [f"{cell['topic']}-{cell['partition']}" for cell in row["partitions"]]
        for row in frame["members"]
        if row["count"]
    }


def test_a_second_member_takes_its_share():
    """After the rebalance each has one partition, and one has moved."""
    frames = group_assignment.frames(scenarios.second_member_joins())
    assert owned(frames[0]) == {}
    assert {"c1": ["orders-0", "orders-1"]} in [owned(frame) for frame in frames]
    shared = [f for f in frames if owned(f) == {"c1": ["orders-0"], "c2": ["orders-1"]}]
    assert shared[0]["moved"] == 1


def test_a_crash_leaves_partitions_without_an_owner():
    """What a crashed member had is given to the one that is left."""
    frames = group_assignment.frames(scenarios.consumer_dies())
    last = frames[-1]
    assert owned(last) == {"c1": ["orders-0", "orders-1"]}


def test_an_imported_trace_may_name_no_partitions():
    """Odd or absent partitions are nobody's."""
    trace = Trace("odd")
    trace.record("assigned", 0, "c1")
    trace.record("assigned", 1, "c1", detail={"partitions": {"t": [0, "x", -1, True], "u": 3}})
    frames = group_assignment.frames(trace)
    assert [owned(frame) for frame in frames] == [{}, {"c1": ["t-0"]}]
    assert "c1" in group_assignment.as_text(frames[-1], Say())
