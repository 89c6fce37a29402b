"""Who owns what, and what a rebalance moved, from a trace alone."""

import json

import pytest

from kafkalearn import scenarios
from kafkalearn.trace import Trace
from kafkalearn.views import group_assignment
from kafkalearn.views.drawings import group_assignment as drawing
from kafkalearn.views.language import Say


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


@pytest.mark.parametrize("profile", ["1.0", "4.0"])
def test_who_leaves_has_left(profile):
    """Also if it gave its partitions up before the group rebalanced."""
    last = group_assignment.frames(scenarios.consumer_leaves(profile=profile))[-1]
    assert group_assignment.as_text(last, Say()).splitlines()[1:] == [
        "  c1   2  orders-0, orders-1 (from c2)",
        "  c2   -  left",
    ]


def test_what_a_member_gave_up_to_rejoin_is_kept():
    """Who starts a rebalance revokes first; what it gets back has not come anew."""
    last = group_assignment.frames(scenarios.topic_grows())[-1]
    assert (last["kept"], last["could_keep"]) == (1, 1)


def shared(members, each):
    """Record how members are given partitions, give them up, and get those of the next one."""
    trace = Trace("many")
    for shift in (0, 1):
        trace.record("group_state", 1, "b", group_id="g", detail={"to": "PreparingRebalance"})
        for kind in ["revoked"] * shift + ["assigned"]:
            for n in range(members):
                begin = (n + shift * (kind == "assigned")) % members * each
                told = {"partitions": {"t": list(range(begin, begin + each))}}
                trace.record(kind, 1, f"c{n}", group_id="g", detail=told)
    return trace


def test_a_large_group_is_counted():
    """Twenty-four members and twenty-four partitions of each; the numbers are of all."""
    frames = group_assignment.frames(shared(100, 30))
    last = frames[-1]
    assert [len(row["partitions"]) for row in last["members"]] == [24] * 24
    assert (last["given"], last["needless"], last["more"]) == (3000, 3000, 76)
    assert group_assignment.as_text(last, Say()).splitlines()[-2:] == [
        "c23: and 6 more",
        "and 76 more",
    ]
    assert max(len(json.dumps(frame)) for frame in frames[-100:]) < 70_000


def test_rows_that_stay_are_equal_pieces():
    """What happens to one member draws its row anew, and the head."""
    before, now = (
        drawing.draw(frame, Say()) for frame in group_assignment.frames(shared(4, 1))[-2:]
    )
    assert len(set(now) - set(before)) < 6 < len(now)
