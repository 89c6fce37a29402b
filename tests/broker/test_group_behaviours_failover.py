import pytest

from kafkalearn.broker.offset_store import OffsetStore
from tests.broker.groups import EVERY_PROFILE, Groups, MemoryLog, group_in

STATIC = ["2.3", "2.4", "4.0"]


# Another broker becomes the coordinator.


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_stable_group_goes_on_under_the_new_coordinator(profile):
    """Behaviour 53: the same generation, members, leader, assignments and offsets."""
    groups = Groups(profile)
    generation = groups.form("a", "b")
    groups.commit("b", 42, metadata="note")
    groups.until(5000)
    groups.fail_over()
    groups.wait()
    assert (groups.state, groups.members) == ("Stable", ["a", "b"])
    assert groups.group.generation_id == generation
    assert groups.group.leader_id == groups.id("a")
    assert [groups.heartbeat(each).error for each in "ab"] == ["NONE", "NONE"]
    assert [groups.sync(each).response.assignment for each in "ab"] == ["of a", "of b"]
    assert groups.committed() == 42
    assert groups.commit("a", 43).error == "NONE"
    groups.join("a")
    assert groups.join("b").response.generation_id == generation + 1


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_the_trace_tells_what_was_loaded(profile):
    """Behaviour 53: each group with its state, generation, members and partition."""
    groups = Groups(profile, offsets_load_ms=100)
    generation = groups.form("a", "b")
    groups.until(400)
    groups.fail_over()
    groups.until(1000)
    ((time_ms, event),) = groups.seen("group_loaded")
    assert (time_ms, event["group_id"], event["generation"]) == (500, "g", generation)
    partition = groups.coordinator.partition_for("g")
    assert (event["topic"], event["partition"]) == ("__consumer_offsets", partition)
    assert event["detail"] == {"to": "Stable", "members": [groups.id("a"), groups.id("b")]}


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_sessions_begin_anew_when_the_group_is_loaded(profile):
    """Behaviour 53: nobody is expelled for the time during which there was no coordinator."""
    groups = Groups(profile, offsets_load_ms=30_000)
    groups.form("a")
    groups.until(9000)
    groups.fail_over()
    groups.until(48_999)
    assert groups.removed() == []
    groups.until(49_000)
    assert groups.removed() == [(49_000, "a")]


@pytest.mark.parametrize("profile", EVERY_PROFILE)
@pytest.mark.parametrize("state", ["PreparingRebalance", "AwaitingSync"])
def test_a_rebalance_under_way_is_forgotten(profile, state):
    """Behaviour 53: the new coordinator knows the last assignment that was stored."""
    groups = Groups(profile)
    generation = groups.form("a", "b")
    groups.commit("a", 7)
    groups.join("a")
    if state == "AwaitingSync":
        groups.join("b")
    assert groups.state == state
    groups.fail_over()
    groups.wait()
    assert (groups.state, groups.members) == ("Stable", ["a", "b"])
    assert groups.group.generation_id == generation
    if state == "AwaitingSync":
        assert groups.sync("a").error == "ILLEGAL_GENERATION"
    assert groups.committed() == 7


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_group_that_was_never_stable_is_not_known(profile):
    """Behaviour 53: its members are told that they are unknown, and join anew."""
    groups = Groups(profile)
    groups.join("a")
    groups.wait()
    assert groups.state == "AwaitingSync"
    groups.fail_over()
    groups.wait()
    assert groups.sync("a").error == "UNKNOWN_MEMBER_ID"
    assert groups.heartbeat("a").error == "UNKNOWN_MEMBER_ID"
    assert groups.join("a").error == "UNKNOWN_MEMBER_ID"
    assert groups.form("a2") == 1


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_an_empty_group_keeps_its_generation_and_offsets(profile):
    """Behaviour 53: what was Empty is Empty, and the generation goes on from there."""
    groups = Groups(profile)
    groups.form("a")
    groups.commit("a", 5)
    groups.leave("a")
    generation = groups.group.generation_id
    groups.fail_over()
    groups.wait()
    assert (groups.state, groups.committed()) == ("Empty", 5)
    assert groups.form("b") == generation + 1


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_offsets_without_a_group_are_loaded_too(profile):
    """Behaviour 53: a group that only stores offsets is Empty under the new coordinator."""
    groups = Groups(profile)
    groups.commit(offset=3)
    groups.commit(offset=4)
    groups.fail_over()
    groups.wait()
    assert (groups.state, groups.committed()) == ("Empty", 4)
    assert groups.commit(offset=5).error == "NONE"


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_refused_commit_is_not_in_the_log(profile):
    """Behaviour 53: what was answered with an error does not come back with a failover."""
    groups = group_in("Stable", profile)
    groups.commit("a", 5)
    groups.commit("a", 6, generation_id=99)
    groups.commit(offset=7)
    groups.fail_over()
    groups.wait()
    assert groups.committed() == 5


@pytest.mark.parametrize("profile", STATIC)
def test_static_members_are_static_after_a_failover(profile):
    """Behaviour 53: the new coordinator knows who holds which instance."""
    groups = Groups(profile)
    groups.instances.update(s="one", s2="one")
    generation = groups.form("s", "b")
    groups.fail_over()
    groups.wait()
    assert groups.join("s2").response.generation_id == generation
    assert groups.heartbeat("s").error == "FENCED_INSTANCE_ID"


@pytest.mark.parametrize(
    ("profile", "known"),
    [
        ("2.3", False),
        ("2.4", False),
        ("4.0", True),
    ],
)
def test_whether_a_restarted_instance_is_in_the_log(profile, known):
    """Now the new id is stored at once; once, a failover brought the old one back."""
    groups = Groups(profile)
    groups.instances.update(s="one")
    groups.form("s", "b")
    groups.join("s", member_id="")
    groups.fail_over()
    groups.wait()
    assert groups.heartbeat("s").error == ("NONE" if known else "FENCED_INSTANCE_ID")


@pytest.mark.parametrize("profile", STATIC)
def test_an_id_that_was_given_out_is_forgotten(profile):
    """Behaviour 53: it is in no log, so who joins with it is unknown."""
    groups = group_in("Stable", profile)
    groups.join_once("new")
    groups.fail_over()
    groups.wait()
    assert groups.join_once("new").error == "UNKNOWN_MEMBER_ID"


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_parked_joins_are_sent_to_the_new_coordinator(profile):
    """Behaviour 53: who is parked hears NOT_COORDINATOR when the coordinator moves."""
    groups = Groups(profile)
    groups.form("a", "b")
    parked = [groups.join("a"), groups.join("c")]
    groups.until(2000)
    groups.emigrate()
    assert [(each.error, each.at_ms) for each in parked] == [("NOT_COORDINATOR", 2000)] * 2
    assert parked[0].response.member_id == groups.id("a")


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_parked_syncs_are_sent_to_the_new_coordinator(profile):
    """Behaviour 53: so do those whose sync is parked."""
    groups = group_in("AwaitingSync", profile)
    parked = groups.sync("b")
    groups.emigrate()
    assert parked.error == "NOT_COORDINATOR"


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_group_may_come_back(profile):
    """Behaviour 53: a partition that is led again is read again."""
    groups = Groups(profile)
    generation = groups.form("a")
    groups.emigrate()
    assert groups.heartbeat("a").error == "NOT_COORDINATOR"
    groups.immigrate()
    groups.wait()
    assert groups.heartbeat("a").error == "NONE"
    assert groups.group.generation_id == generation


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_only_the_groups_of_the_partition_that_moved_go(profile):
    """Behaviour 53: the coordinator of test (48) may change while that of group1 (40) does not."""
    groups = Groups(profile)
    for name in ("test", "group1"):
        groups.commit(group_id=name)
    groups.coordinator.handle_group_emigration(48, groups.now_ms)
    found = {name: groups.describe(name).error_code.name for name in ("test", "group1")}
    assert found == {"test": "NOT_COORDINATOR", "group1": "NONE"}


@pytest.mark.parametrize(
    ("profile", "told"), [*((each, {"test"}) for each in EVERY_PROFILE[:-1]), ("4.0", set())]
)
def test_a_list_while_a_partition_is_being_read(profile, told):
    """It is COORDINATOR_LOAD_IN_PROGRESS; up to 3.9 it names the groups that are known already."""
    groups = Groups(profile, offsets_load_ms=100)
    for name in ("test", "group1"):
        groups.commit(group_id=name)
    groups.start()
    groups.coordinator.handle_group_immigration(48, groups.now_ms)
    groups.wait(100)
    groups.coordinator.handle_group_immigration(40, groups.now_ms)
    listed = groups.list()
    assert listed.error == "COORDINATOR_LOAD_IN_PROGRESS"
    assert {each.group_id for each in listed.response.groups} == told
    groups.wait(100)
    assert {each.group_id for each in groups.list().response.groups} == {"test", "group1"}


# Which partition, and so which broker, that is.


@pytest.mark.parametrize(
    ("group_id", "partition"),
    [
        ("rbgh664", 25),
        ("test_consumer", 7),
        ("stl-jss-product-event-reader-group", 45),
        ("AutoBalancerControllerConsumerGroup-group-7514695428000162748", 30),
        ("plus1connect-group-authenticator-256297f8-4159-4d2b-b2cb-487028b3fa5b", 43),
        ("test", 48),
        ("group1", 40),
        ("polygenelubricants", 0),
        ("", 0),
    ],
)
def test_the_partition_of_a_group(group_id, partition):
    """Behaviour 54: abs(hash) % 50, where the least of all ints counts as 0."""
    assert OffsetStore(MemoryLog(), 50).partition_for(group_id) == partition
    assert Groups().coordinator.partition_for(group_id) == partition


def test_a_group_is_stored_in_its_partition():
    """Behaviour 54: members and offsets of a group are records of that partition alone."""
    groups = Groups()
    groups.form("a")
    groups.commit("a")
    groups.commit(group_id="test")
    expected = {groups.coordinator.partition_for("g"): 2, 48: 1}
    assert {number: len(each) for number, each in groups.log.partitions.items()} == expected
