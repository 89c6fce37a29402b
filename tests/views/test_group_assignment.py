"""Who owns what, and what a rebalance moved, from a trace alone."""

from kafkalearn import scenarios
from kafkalearn.trace import Trace
from kafkalearn.views import group_assignment


def owned(frame):
    """Give member -> its partitions."""
    return {
        row["name"]: [f"{cell['topic']}-{cell['partition']}" for cell in row["partitions"]]
        for row in frame["members"]
        if row["count"]
    }


def owned_by(trace, **more):
    """Give what members own in the end."""
    return owned(group_assignment.frames(trace, **more)[-1])


def test_a_second_member_takes_its_share():
    """After the rebalance each has one partition, and one has moved."""
    frames = group_assignment.frames(scenarios.second_member_joins())
    assert owned(frames[0]) == {}
    assert {"c1": ["orders-0", "orders-1"]} in [owned(frame) for frame in frames]
    shared = [f for f in frames if owned(f) == {"c1": ["orders-0"], "c2": ["orders-1"]}]
    assert shared[0]["moved"] == 1


def test_two_groups_are_followed_apart():
    """A partition that another group reads too has not moved to it."""
    trace = Trace("two")
    for node, group_id in (("c1", "a"), ("c2", "b")):
        owned = {"partitions": {"t": [0]}}
        trace.record("assigned", 1, node, group_id=group_id, detail=owned)
        trace.record("group_state", 2, "b0", group_id=group_id, detail={"to": "PreparingRebalance"})
    assert owned_by(trace) == {"c1": ["t-0"]}
    assert owned_by(trace, group_id="b") == {"c2": ["t-0"]}


def test_a_crash_leaves_partitions_without_an_owner():
    """What a crashed member had is given to the one that is left."""
    frames = group_assignment.frames(scenarios.consumer_dies())
    last = frames[-1]
    assert owned(last) == {"c1": ["orders-0", "orders-1"]}
