"""What happens when two things happen at once: to members, to rebalances, to the coordinator."""

import pytest

from kafkalearn.records import TopicPartition
from tests.broker.groups import EVERY_PROFILE, T0, Groups, group_in

STATIC = ["2.3", "2.4", "4.0"]
LONG = {"session_timeout_ms": 100_000, "rebalance_timeout_ms": 60_000}


# Members that come and go in the middle of a rebalance.


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_rebalance_ends_when_the_last_that_is_missing_is_expelled(profile):
    """Who is waited for is not waited for longer than its session lasts."""
    groups = group_in("PreparingRebalance", profile)
    parked = groups.join("a")
    groups.until(10_000)
    assert groups.removed() == [(10_000, "b")]
    assert (parked.error, parked.at_ms) == ("NONE", 10_000)


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_rebalance_ends_when_the_last_that_is_missing_leaves(profile):
    """Nobody else is waited for."""
    groups = group_in("PreparingRebalance", profile)
    parked = groups.join("a")
    groups.until(800)
    groups.leave("b")
    assert (parked.error, parked.at_ms, groups.members) == ("NONE", 800, ["a"])


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_the_leader_leaves_while_followers_are_parked_in_sync(profile):
    """They hear REBALANCE_IN_PROGRESS at once, and the oldest of them leads the next generation."""
    groups = Groups(profile)
    groups.form("a", "b", "c")
    for each in "abc":
        groups.join(each)
    parked = [groups.sync("b"), groups.sync("c")]
    groups.until(600)
    groups.leave("a")
    assert [(each.error, each.at_ms) for each in parked] == [("REBALANCE_IN_PROGRESS", 600)] * 2
    groups.join("c")
    assert groups.join("b").response.leader == groups.id("b")
    groups.assign("b", "c")
    assert [groups.sync(each).response.assignment for each in "bc"] == ["of b", "of c"]


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_the_leaders_sync_comes_too_late(profile):
    """A new member began the next rebalance: the assignment is refused, and parked syncs too."""
    groups = group_in("AwaitingSync", profile)
    follower = groups.sync("b")
    groups.join("c")
    assert follower.error == "REBALANCE_IN_PROGRESS"
    assert groups.sync("a", {"a": "everything"}).error == "REBALANCE_IN_PROGRESS"
    groups.join("a")
    groups.join("b")
    assert groups.state == "AwaitingSync"
    generation = groups.group.generation_id
    late = groups.sync("a", {"a": "everything"}, generation_id=generation - 1)
    assert late.error == "ILLEGAL_GENERATION"


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_member_leaves_while_its_own_sync_is_parked(profile):
    """That sync is never answered, in Kafka neither: who sent it has left by another connection."""
    groups = group_in("AwaitingSync", profile)
    parked = groups.sync("b")
    groups.leave("b")
    assert groups.join("a").error == "NONE"
    groups.assign("a")
    groups.wait(100_000)
    assert parked.parked


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_everybody_leaves_in_the_middle(profile):
    """The group is Empty, one generation on, and no timer of the rebalance is left."""
    for state in ("PreparingRebalance", "AwaitingSync"):
        groups = group_in(state, profile)
        generation = groups.group.generation_id
        groups.commit(group_id="h")
        groups.leave("b")
        groups.leave("a")
        assert (groups.state, groups.members) == ("Empty", [])
        assert groups.group.generation_id > generation
        before = len(groups.events)
        groups.until(599_999)
        assert groups.events[before:] == []


@pytest.mark.parametrize("profile", ["1.0", "2.3", "2.4", "4.0"])
def test_the_last_member_leaves_in_the_initial_delay(profile):
    """The delay is waited for, and ends Empty in generation 1."""
    groups = Groups(profile, group_initial_rebalance_delay_ms=3000)
    groups.join("a")
    groups.until(1000)
    (groups.ids["a"],) = groups.group.members  # as an administrator learns it
    groups.leave("a")
    groups.until(2999)
    assert (groups.state, groups.members) == ("PreparingRebalance", [])
    groups.until(3000)
    assert (groups.state, groups.group.generation_id) == ("Empty", 1)


@pytest.mark.parametrize("profile", STATIC)
def test_an_unused_id_does_not_hold_the_initial_delay_up(profile):
    """The delay ends when it ends; who uses the id later begins another rebalance."""
    groups = Groups(profile, group_initial_rebalance_delay_ms=3000)
    joined = groups.join("a")
    groups.until(100)
    groups.join_once("late")
    groups.until(3000)
    assert (joined.error, joined.at_ms) == ("NONE", 3000)
    groups.assign("a")
    groups.until(5000)
    assert groups.join_once("late").parked
    assert groups.heartbeat("a").error == "REBALANCE_IN_PROGRESS"


@pytest.mark.parametrize(("profile", "end_ms"), [("2.3", 12_050), ("2.4", 12_050), ("4.0", 10_000)])
def test_an_unused_id_expires_in_the_initial_delay(profile, end_ms):
    """It ends neither earlier nor later for that; only in 4.0 it ends with the last missing id."""
    groups = Groups(profile, group_initial_rebalance_delay_ms=12_000)
    groups.join_once("ghost")
    groups.until(50)
    joined = groups.join("a")
    groups.until(9_999)
    assert len(groups.group.pending_members) == 1
    groups.until(10_000)
    assert list(groups.group.pending_members) == []
    assert joined.parked is (end_ms > 10_000)
    groups.until(20_000)
    assert joined.at_ms == end_ms


@pytest.mark.parametrize("profile", STATIC)
def test_an_unused_id_leaves_in_the_initial_delay(profile):
    """The delay is waited for in every release."""
    groups = Groups(profile, group_initial_rebalance_delay_ms=12_000)
    groups.join_once("ghost")
    joined = groups.join("a")
    groups.until(1000)
    assert groups.leave("ghost").error == "NONE"
    groups.until(20_000)
    assert joined.at_ms == 12_000


@pytest.mark.parametrize("profile", STATIC)
def test_an_unused_id_expires_after_its_group_was_deleted(profile):
    """Its timer went with the group, and a new group of that name does not know the id."""
    groups = Groups(profile)
    groups.join_once("ghost")
    assert groups.delete().error == "NONE"
    groups.until(5000)
    generation = groups.form("a", **LONG)
    groups.join_once("b")
    groups.until(10_000)
    assert len(groups.group.pending_members) == 1
    assert (groups.state, groups.group.generation_id) == ("Stable", generation)
    assert groups.join_once("ghost").error == "UNKNOWN_MEMBER_ID"


@pytest.mark.parametrize("profile", STATIC)
def test_a_restarted_instance_keeps_only_its_new_session(profile):
    """The timer of the member id that is gone expels nobody."""
    groups = Groups(profile)
    groups.instances.update(s="one")
    groups.form("b", "s", session_timeout_ms=20_000)
    groups.until(15_000)
    groups.heartbeat("b")
    groups.join("s", member_id="", session_timeout_ms=20_000)
    groups.until(34_999)
    assert groups.members == ["b", "s"]
    groups.until(35_000)
    assert groups.members == []


def test_an_instance_that_never_synced_restarts():
    """In a Stable group it is told its assignment, and the sync phase's end does not drop it."""
    groups = Groups("4.0")
    groups.instances.update(s="one")
    groups.form("b", "s", **LONG)
    groups.join("b", offers={"range": "more"}, **LONG)
    groups.join("s", **LONG)
    groups.sync("b", {"b": "t-0", "s": "t-1"})
    groups.until(1000)
    assert groups.join("s", member_id="", **LONG).error == "NONE"
    assert groups.sync("s").response.assignment == "t-1"
    groups.until(60_000)
    assert groups.members == ["b", "s"]


# Coordinators that come and go.


@pytest.mark.parametrize("profile", EVERY_PROFILE)
@pytest.mark.parametrize("state", ["PreparingRebalance", "AwaitingSync", "Stable", "Empty"])
def test_nothing_happens_to_a_group_that_went_to_another_coordinator(profile, state):
    """No session, no rebalance, no expiry of offsets: all timers of the group are gone."""
    groups = group_in(state, profile)
    groups.commit("a" if state != "Empty" else "nobody")
    groups.emigrate()
    events, records = len(groups.events), str(groups.log.partitions)
    groups.wait(30 * 86_400_000)
    assert (groups.events[events:], str(groups.log.partitions)) == ([], records)


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_the_partition_goes_while_it_is_being_read(profile):
    """The reading is given up: no group appears on a broker that is not its coordinator."""
    groups = Groups(profile, offsets_load_ms=100)
    groups.form("a")
    groups.fail_over()
    groups.until(50)
    groups.emigrate()
    assert groups.heartbeat("a").error == "NOT_COORDINATOR"
    groups.until(1000)
    assert groups.state == "none"
    assert groups.heartbeat("a").error == "NOT_COORDINATOR"
    groups.immigrate()
    assert groups.heartbeat("a").error == "NONE"
    assert groups.commit("a").error == "COORDINATOR_LOAD_IN_PROGRESS"
    groups.until(1100)
    assert (groups.state, groups.commit("a").error) == ("Stable", "NONE")


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_partition_that_is_being_read_comes_again(profile):
    """It is read once: the second time says nothing new."""
    groups = Groups(profile, offsets_load_ms=100)
    groups.form("a")
    groups.fail_over()
    groups.until(50)
    groups.immigrate()
    groups.until(1000)
    assert groups.state == "Stable"
    assert [time_ms for time_ms, _ in groups.seen("group_loaded")] == [100]


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_partition_that_is_led_already_comes_again(profile):
    """Groups that are known stay as they are: parked requests are answered, members remembered."""
    groups = group_in("PreparingRebalance", profile)
    parked, generation = groups.join("a"), groups.group.generation_id
    groups.immigrate()
    groups.wait()
    assert groups.state == "PreparingRebalance"
    groups.join("b")
    assert (parked.error, groups.group.generation_id) == ("NONE", generation + 1)


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_dead_brokers_timers_do_not_write(profile):
    """What it planned for its members dies with it: only the new coordinator expels them."""
    groups = Groups(profile)
    groups.form("a", "b")
    groups.join("a")
    groups.until(2000)
    groups.fail_over()
    groups.until(12_000)
    assert groups.removed() == [(12_000, "a"), (12_000, "b")]
    assert groups.state == "Empty"


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_two_failovers_in_a_row(profile):
    """The third coordinator knows what the first one stored, while the second was reading it."""
    groups = Groups(profile, offsets_load_ms=100)
    generation = groups.form("a")
    groups.commit("a", 11)
    groups.fail_over()
    groups.until(60)
    groups.fail_over()
    groups.until(159)
    assert groups.commit("a", 12).error == "COORDINATOR_LOAD_IN_PROGRESS"
    groups.until(160)
    assert (groups.committed(), groups.group.generation_id) == (11, generation)
    assert groups.commit("a", 12).error == "NONE"


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_checks_for_old_offsets_go_on_after_a_failover(profile):
    """The new coordinator's checks are 10 minutes apart from its own start."""
    groups = Groups(profile, offsets_retention_minutes=1)
    groups.until(1000)
    groups.commit()
    groups.fail_over()
    groups.wait()
    groups.until(600_999)
    assert groups.committed() == 1
    groups.until(601_000)
    assert (groups.committed(), groups.state) == (-1, "none")


# Topics that go.


@pytest.mark.parametrize("profile", EVERY_PROFILE[1:])
def test_an_offset_of_a_deleted_topic_can_be_committed_again(profile):
    """A topic of the same name may come back; the group forgot the old offset."""
    groups = group_in("Stable", profile)
    groups.commit("a", 100)
    groups.coordinator.handle_deleted_partitions([T0], groups.now_ms)
    assert groups.committed() == -1
    groups.commit("a", 3)
    groups.fail_over()
    groups.wait()
    assert groups.committed() == 3


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_deleted_topic_that_nobody_committed_changes_nothing(profile):
    """Nothing is written, nothing is recorded."""
    groups = group_in("Stable", profile)
    groups.commit("a")
    before = (len(groups.events), str(groups.log.partitions))
    groups.coordinator.handle_deleted_partitions([TopicPartition("x", 0)], groups.now_ms)
    assert (len(groups.events), str(groups.log.partitions)) == before
