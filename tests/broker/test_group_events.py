"""What a coordinator records of a group, column by column: views and tables have nothing else."""

import json
import re

from tests.broker.groups import DAY_MS, T0, Groups

UUID = r"-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def recorded(groups, *, since=0):
    """Give (time, kind, columns) of what was recorded; a member id is what it begins with."""
    return json.loads(re.sub(UUID, "", json.dumps(groups.events[since:])))


def test_an_id_that_was_given_out_is_told_before_its_join():
    """It is pending until it is joined with, and then no more a member of its own."""
    groups = Groups("2.4")
    groups.join_once("a")
    groups.join("a")
    assert recorded(groups)[:2] == [
        [
            "member_joined",
            0,
            {"group_id": "g", "member_id": "a", "generation": 0, "detail": {"pending": True}},
        ],
        [
            "member_joined",
            0,
            {
                "group_id": "g",
                "member_id": "a",
                "generation": 0,
                "detail": {"client_id": "a", "instance_id": None},
            },
        ],
    ]


def state(before, after, reason, *, generation, protocol="range", **detail):
    """Give the columns of a change of state in a group of a, which leads, and the instance one."""
    told = {"from": before, "to": after, "reason": reason, "leader": "a", "protocol": protocol}
    return {
        "group_id": "g",
        "generation": generation,
        "detail": {**told, "members": ["a", "one"], **detail},
    }


def test_a_change_of_state_tells_why_and_who_is_in_the_group():
    """The generation counts up when the joins have ended; whose answer waits is named."""
    groups = Groups("2.4")
    groups.instances.update(s="one")
    groups.join("a")
    groups.wait()
    groups.join("s")
    groups.join("a")
    groups.wait(2_000)
    groups.sync("s")
    groups.sync("a", {"a": "", "s": ""})
    changes = [each for each in recorded(groups) if each[0] == "group_state"]
    between = "CompletingRebalance"
    assert changes[2:] == [
        [
            "group_state",
            0,
            state(
                between,
                "PreparingRebalance",
                "adding new member one",
                generation=1,
                waiting_join=["one"],
            ),
        ],
        [
            "group_state",
            0,
            state(
                "PreparingRebalance",
                between,
                "the join phase ended",
                generation=2,
                waiting_join=["a", "one"],
            ),
        ],
        ["group_state", 2_000, state(between, "Stable", "the leader assigned", generation=2)],
    ]
    assert groups.group.state_since_ms == 2_000


def test_a_member_that_goes_is_told_with_the_reason():
    """Who left, who was silent, who came back under a new id, and which id was never used."""
    groups = Groups("2.4")
    groups.instances.update(s="one")
    groups.form("a", "b", "s")
    groups.join_once("gone")
    groups.leave("gone")
    groups.join_once("late")
    groups.wait(5)
    groups.ids["s"] = ""
    groups.join("s")
    groups.leave("b")
    groups.wait(20_000)
    gone = [(time_ms, columns) for kind, time_ms, columns in recorded(groups) if "removed" in kind]
    assert [(time_ms, each["member_id"], each["detail"]["reason"]) for time_ms, each in gone] == [
        (0, "gone", "left"),
        (5, "one", "instance one came back under a new id"),
        (5, "b", "left"),
        (10_000, "a", "no sign of life within the session timeout"),
        (10_000, "late", "nobody joined with it within the session timeout"),
        (10_005, "one", "no sign of life within the session timeout"),
    ]
    assert all(each["group_id"] == "g" and each["generation"] for _, each in gone)


def test_an_offset_is_told_when_it_is_stored_and_when_it_goes():
    """With who committed it, what was noted, and why it is gone."""
    groups = Groups("1.0")
    groups.form("a")
    groups.wait(7)
    groups.commit("a", 3, metadata="note")
    stored = {"topic": "t", "partition": 0, "offset": 3}
    assert recorded(groups)[-1] == [
        "offset_stored",
        7,
        {
            "group_id": "g",
            "member_id": "a",
            "generation": 1,
            **stored,
            "detail": {"metadata": "note"},
        },
    ]
    groups.coordinator.handle_deleted_partitions([T0], 9)
    gone = {"group_id": "g", **stored, "detail": {"reason": "topic deleted"}}
    assert recorded(groups)[-1] == ["offset_expired", 9, gone]
    groups.leave("a")
    groups.commit(offset=3)
    groups.wait(2 * DAY_MS)
    kind, _, columns = recorded(groups)[-2]
    assert (kind, columns) == ("offset_expired", {**gone, "detail": {"reason": "expired"}})


def test_a_group_that_was_read_back_is_told_with_its_members():
    """And with the partition of __consumer_offsets that it came from."""
    groups = Groups("1.0", offsets_load_ms=50)
    groups.form("a", "b")
    groups.wait(5)
    begun = len(groups.events)
    groups.fail_over()
    groups.wait(50)
    partition = groups.coordinator.partition_for("g")
    columns = {"group_id": "g", "generation": groups.group.generation_id, "partition": partition}
    columns |= {"topic": "__consumer_offsets", "detail": {"to": "Stable", "members": ["a", "b"]}}
    assert recorded(groups, since=begun) == [["group_loaded", 55, columns]]


def test_the_end_of_a_group_is_written_at_its_moment():
    """Tombstones of its offsets and of itself: key without a value, and the time of the request."""
    groups = Groups("2.4")
    groups.commit(offset=3)
    groups.wait(40)
    groups.delete()
    written = [record for records in groups.log.partitions.values() for record in records[-2:]]
    assert [(each.timestamp_ms, json.loads(each.key), each.value) for each in written] == [
        (40, ["offset", "g", "t", 0], None),
        (40, ["group", "g"], None),
    ]
