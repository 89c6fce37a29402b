import json

import pytest

from kafkalearn.profile import KAFKA_4_0
from kafkalearn.records import OffsetAndMetadata, TopicPartition
from tests.broker.groups import DAY_MS, EVERY_PROFILE, T0, Groups

CHECK_MS = 600_000
PER_COMMIT = ["0.10.1", "1.0"]
FROM_EMPTY = ["2.3", "2.4", "4.0"]
T1 = TopicPartition("t", 1)
LONG = {"session_timeout_ms": 300_000}


def beat_all(groups, clients, time_ms):
    """Let members beat often enough until then."""
    for beat_ms in range(groups.now_ms, time_ms, 250_000):
        groups.until(beat_ms)
        assert [groups.heartbeat(each).error for each in clients] == ["NONE"] * len(clients)
    groups.until(time_ms)


@pytest.mark.parametrize("profile", PER_COMMIT)
@pytest.mark.parametrize("commit_ms", [0, 1, CHECK_MS - 1])
def test_once_an_offset_lived_for_a_day_from_its_commit(profile, commit_ms):
    """Behaviour C11: it goes at the first check strictly after its time."""
    groups = Groups(profile)
    groups.until(commit_ms)
    groups.commit(offset=5)
    groups.until(DAY_MS + CHECK_MS - 1)
    assert groups.committed() == 5
    groups.until(DAY_MS + CHECK_MS)
    assert groups.committed() == -1


@pytest.mark.parametrize("profile", PER_COMMIT)
def test_once_offsets_went_while_members_lived(profile):
    """Behaviour 14: up to 2.0 an idle partition loses its offset, others keep theirs."""
    groups = Groups(profile)
    groups.form("a", **LONG)
    groups.commit("a", offsets={T0: OffsetAndMetadata(1), T1: OffsetAndMetadata(1)})
    beat_all(groups, "a", DAY_MS // 2)
    groups.commit("a", offsets={T1: OffsetAndMetadata(2)})
    beat_all(groups, "a", DAY_MS + CHECK_MS)
    assert (groups.committed(T0), groups.committed(T1)) == (-1, 2)
    assert groups.state == "Stable"
    (time_ms, event) = groups.seen("offset_expired")[0]
    assert (time_ms, event["partition"], event["offset"]) == (DAY_MS + CHECK_MS, 0, 1)


@pytest.mark.parametrize("profile", FROM_EMPTY)
def test_now_offsets_stay_while_members_live(profile):
    """Behaviour 14: from 2.1 the clock runs from when the group became Empty, for all at once."""
    groups = Groups(profile)
    groups.form("a", **LONG)
    groups.commit("a", offsets={T0: OffsetAndMetadata(1)})
    beat_all(groups, "a", 8 * DAY_MS)
    assert groups.committed() == 1
    groups.commit("a", offsets={T1: OffsetAndMetadata(2)})
    groups.leave("a")
    groups.until(15 * DAY_MS - 1)
    assert (groups.committed(T0), groups.committed(T1)) == (1, 2)
    groups.until(15 * DAY_MS)
    assert (groups.committed(T0), groups.committed(T1)) == (-1, -1)
    assert groups.state == "none"


def subscribed(*topics):
    """Give the fields of a join that subscribes to these."""
    return {"offers": {"range": json.dumps({"topics": topics})}, **LONG}


@pytest.mark.parametrize(
    ("profile", "t_offset"), [("2.3", 1), ("2.4", -1), ("4.0", -1)], ids=["2.3", "2.4", "4.0"]
)
def test_offsets_of_what_nobody_subscribes_to_expire(profile, t_offset):
    """From 2.4 they age from their commits, while those of subscribed topics stay (KAFKA-8730)."""
    groups = Groups(profile)
    groups.form("a", "b", **subscribed("t"))
    others = [TopicPartition(each, 0) for each in "uv"]
    groups.commit("a", offsets={each: OffsetAndMetadata(1) for each in (T0, *others)})
    groups.join("a", **subscribed("u"))
    groups.join("b", **subscribed("v"))
    groups.assign("a", "b")
    beat_all(groups, "ab", 7 * DAY_MS - 1)
    assert [groups.committed(each) for each in (T0, *others)] == [1, 1, 1]
    beat_all(groups, "ab", 7 * DAY_MS)
    assert [groups.committed(each) for each in (T0, *others)] == [t_offset, 1, 1]
    expired = [(time_ms, each["topic"]) for time_ms, each in groups.seen("offset_expired")]
    assert expired == ([] if t_offset == 1 else [(7 * DAY_MS, "t")])


@pytest.mark.parametrize("profile", ["2.4", "4.0"])
@pytest.mark.parametrize(
    "metadata",
    ["", "x", "1", "[]", "{}", '{"topics": "u"}', '{"topics": null}', '{"topics": [["u"]]}'],
)
def test_where_a_subscription_cannot_be_read_nothing_expires(profile, metadata):
    """One such member is enough; and so it is in groups of another type than consumers."""
    groups = Groups(profile, offsets_retention_minutes=10)
    groups.form("a", offers={"range": '{"topics": ["u"]}'}, **LONG)
    groups.commit("a")
    groups.join("b", offers={"range": metadata}, **LONG)
    groups.join("a", offers={"range": '{"topics": ["u"]}'}, **LONG)
    groups.assign("a", "b")
    beat_all(groups, "ab", 2 * CHECK_MS)
    assert groups.committed() == 1


@pytest.mark.parametrize("profile", ["2.4", "4.0"])
def test_of_a_group_of_another_type_nothing_expires_while_members_live(profile):
    """What Kafka Connect's workers send is no subscription."""
    groups = Groups(profile, offsets_retention_minutes=10)
    groups.form("a", protocol_type="connect", **subscribed("u"))
    groups.commit("a")
    beat_all(groups, "a", 2 * CHECK_MS)
    assert groups.committed() == 1


@pytest.mark.parametrize("profile", ["2.4", "4.0"])
def test_who_loads_a_group_knows_its_topics(profile):
    """A coordinator that takes over goes on with what the last generation subscribed to."""
    groups = Groups(profile, offsets_retention_minutes=10)
    groups.form("a", **subscribed("u"))
    u0 = TopicPartition("u", 0)
    groups.commit("a", offsets={each: OffsetAndMetadata(1) for each in (T0, u0)})
    groups.fail_over()
    groups.wait()
    beat_all(groups, "a", CHECK_MS)
    assert (groups.state, groups.committed(T0), groups.committed(u0)) == ("Stable", -1, 1)


@pytest.mark.parametrize(("profile", "offset"), [("2.3", 1), ("2.4", -1), ("4.0", 1)])
def test_offsets_in_the_first_rebalance_after_empty(profile, offset):
    """In 2.4 all that are old go then: of an Empty group nobody subscribes (KAFKA-13636)."""
    groups = Groups(profile, offsets_retention_minutes=15, group_initial_rebalance_delay_ms=3000)
    groups.join("a", **subscribed("t"))
    groups.wait(3000)
    groups.assign("a")
    groups.commit("a")
    beat_all(groups, "a", 2 * CHECK_MS - 2000)
    groups.leave("a")
    groups.join("b", **subscribed("t"))
    groups.wait(3000)
    assert (groups.state, groups.committed()) == ("AwaitingSync", offset)


@pytest.mark.parametrize("profile", FROM_EMPTY)
def test_a_commit_does_not_keep_an_empty_group(profile):
    """Behaviour 14: once somebody was a member, only the time since Empty counts."""
    groups = Groups(profile)
    groups.form("a")
    groups.commit("a", 6)
    groups.leave("a")
    groups.until(6 * DAY_MS)
    groups.commit(offset=7)
    groups.until(7 * DAY_MS)
    assert groups.committed() == -1


@pytest.mark.parametrize("profile", FROM_EMPTY)
def test_a_group_that_only_stores_offsets_has_a_clock_per_commit(profile):
    """Behaviour 14: where nobody ever joined, each offset ages from its own commit."""
    groups = Groups(profile)
    groups.commit(offsets={T0: OffsetAndMetadata(1)})
    groups.until(3 * DAY_MS)
    groups.commit(offsets={T1: OffsetAndMetadata(2)})
    groups.until(7 * DAY_MS - 1)
    assert groups.committed(T0) == 1
    groups.until(7 * DAY_MS)
    assert (groups.committed(T0), groups.committed(T1)) == (-1, 2)
    groups.until(10 * DAY_MS)
    assert (groups.committed(T1), groups.state) == (-1, "none")


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_an_old_group_without_offsets_is_dropped(profile):
    """Behaviour C8: an Empty group goes with its last offset, and its name is free again."""
    groups = Groups(profile, offsets_retention_minutes=20)
    groups.form("a")
    groups.commit("a")
    groups.leave("a")
    groups.until(3 * CHECK_MS)
    assert groups.state == "none"
    assert groups.states_seen()[-1][1] == "Dead"
    assert groups.form("b") == 1


@pytest.mark.parametrize("profile", ["1.0", "2.3", "2.4"])
def test_outside_stable_a_description_shows_no_assignment(profile):
    """Behaviour C11: no protocol, no metadata, no assignment; just who is there."""
    groups = Groups(profile)
    groups.form("a", "b")
    stable = groups.describe()
    assert (stable.group_state, stable.protocol_type, stable.protocol_data) == (
        "Stable",
        "consumer",
        "range",
    )
    assert [each[2:] for each in stable.members] == [("a", "a", "of a"), ("b", "b", "of b")]
    groups.join("a")
    preparing = groups.describe()
    assert (preparing.group_state, preparing.protocol_data) == ("PreparingRebalance", "")
    assert [each[2:] for each in preparing.members] == [("a", "", ""), ("b", "", "")]
    groups.join("b")
    completing = groups.describe()
    name = "AwaitingSync" if profile == "1.0" else "CompletingRebalance"
    assert (completing.group_state, completing.protocol_data) == (name, "")
    assert [each[2:] for each in completing.members] == [("a", "", ""), ("b", "", "")]


# Deleted topics and deleted groups.


@pytest.mark.parametrize("profile", EVERY_PROFILE[1:])
@pytest.mark.parametrize("state", ["Stable", "PreparingRebalance", "AwaitingSync"])
def test_offsets_of_a_deleted_topic_are_forgotten(profile, state):
    """They go at once, in every state; those of other topics and the members stay."""
    groups = Groups(profile)
    other = TopicPartition("other", 0)
    groups.commit(offsets={each: OffsetAndMetadata(9) for each in (T0, T1, other)})
    groups.bring_to(state)
    groups.coordinator.handle_deleted_partitions([T0, T1, TopicPartition("t", 2)], groups.now_ms)
    assert [groups.committed(each) for each in (T0, T1, other)] == [-1, -1, 9]
    assert (groups.state, groups.members) == (state, ["a", "b"])
    groups.fail_over()
    groups.wait()
    assert [groups.committed(each) for each in (T0, T1, other)] == [-1, -1, 9]


@pytest.mark.parametrize("profile", ["1.0", "2.3", "2.4"])
def test_an_empty_group_goes_with_its_last_topic(profile):
    """Up to 3.9 the deletion of a topic drops Empty groups that have no offsets left."""
    groups = Groups(profile)
    groups.commit()
    groups.coordinator.handle_deleted_partitions([T0], groups.now_ms)
    assert groups.state == "none"


@pytest.mark.parametrize("profile", ["1.0", "2.3", "2.4"])
def test_a_refused_offset_goes_with_its_topic(profile):
    """What a commit that was refused in part leaves behind keeps the group no longer."""
    groups = Groups(profile, offset_metadata_max_bytes=1)
    notes = {T0: "", T1: "too long", TopicPartition("other", 0): "too long"}
    groups.commit(offsets={each: OffsetAndMetadata(1, note) for each, note in notes.items()})
    for partition, state in ((T0, "Empty"), (T1, "Empty"), (TopicPartition("other", 0), "none")):
        groups.coordinator.handle_deleted_partitions([partition], groups.now_ms)
        assert groups.state == state


def test_in_4_0_an_empty_group_stays_until_the_next_check():
    """The deletion of a topic takes its offsets; the next check drops the group."""
    groups = Groups(KAFKA_4_0)
    groups.commit()
    groups.coordinator.handle_deleted_partitions([T0], groups.now_ms)
    assert groups.state == "Empty"
    groups.until(CHECK_MS)
    assert groups.state == "none"


@pytest.mark.parametrize("profile", FROM_EMPTY)
def test_an_empty_group_can_be_deleted_with_its_offsets(profile):
    """Only an Empty one, even if it is named twice; the next coordinator does not know it."""
    groups = Groups(profile)
    assert groups.delete().error == "GROUP_ID_NOT_FOUND"
    groups.form("a")
    groups.commit("a")
    assert groups.delete().error == "NON_EMPTY_GROUP"
    groups.leave("a")
    asked = groups.delete("g", "h", "g")
    assert {name: each.name for name, each in asked.response.results.items()} == {
        "g": "NONE",
        "h": "GROUP_ID_NOT_FOUND",
    }
    assert (groups.state, groups.committed()) == ("none", -1)
    assert groups.states_seen()[-1] == (0, "Dead")
    groups.fail_over()
    groups.wait()
    assert (groups.state, groups.committed()) == ("none", -1)


def test_one_check_is_waited_for_however_many_groups_there_are(monkeypatch):
    """The check looks at all of them."""
    groups = Groups("2.4")
    call_at, due = groups.call_at, []

    def noted(time_ms, callback):
        due.append(time_ms)
        return call_at(time_ms, callback)

    monkeypatch.setattr(groups, "call_at", noted)
    for name in ("x", "y", "z"):
        groups.commit(group_id=name)
    assert due == [600_000]
