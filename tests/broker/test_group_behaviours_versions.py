"""What differs between releases: the table of presets, then each switch by itself."""

from dataclasses import fields, replace
from pathlib import Path

import pytest

from kafkalearn import broker
from kafkalearn.broker.broker_config import BrokerConfig
from kafkalearn.broker.group_state import GroupState
from kafkalearn.config import configure
from kafkalearn.errors import Errors, InvalidRequestError
from kafkalearn.profile import KAFKA_4_0, PROFILES
from kafkalearn.profile.group_rules import GroupRules
from kafkalearn.protocol.offsets import OffsetCommitRequest
from kafkalearn.records import OffsetAndMetadata, TopicPartition
from tests.broker.groups import EVERY_PROFILE, T0, Groups, group_in
from tests.broker.world import World

T1 = TopicPartition("t", 1)
ID_FIRST = ["2.3", "2.4", "4.0"]
LONG = {"session_timeout_ms": 100_000, "rebalance_timeout_ms": 40_000}


# The presets.


@pytest.mark.parametrize(
    ("profile", "name"),
    [("0.10.1", "AwaitingSync"), ("1.0", "AwaitingSync")]
    + [(profile, "CompletingRebalance") for profile in ID_FIRST],
)
def test_the_name_of_the_state_between_join_and_sync(profile, name):
    """AwaitingSync up to 1.0, CompletingRebalance later: in descriptions and in the trace."""
    groups = group_in("AwaitingSync", profile)
    assert groups.describe().group_state == name
    assert groups.states_seen()[-1][1] == name


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_the_trace_tells_why_a_group_rebalances(profile):
    """Each change of state names the old one, the generation and the reason."""
    groups = Groups(profile)
    generation = groups.form("a")
    groups.until(500)
    groups.leave("a")
    preparing, empty = groups.seen("group_state")[-2:]
    assert (preparing[0], preparing[1]["generation"]) == (500, generation)
    detail = preparing[1]["detail"]
    assert (detail["from"], detail["to"]) == ("Stable", "PreparingRebalance")
    assert "left" in detail["reason"]
    assert (empty[1]["generation"], empty[1]["detail"]["to"]) == (generation + 1, "Empty")


@pytest.mark.parametrize("profile", ["0.10.1", "1.0"])
def test_once_each_join_without_an_id_was_a_new_member(profile):
    """Behaviour 46: a retried first join leaves a ghost behind, which holds the group up."""
    groups = Groups(profile)
    groups.form("a")
    lost, again = groups.join("b", member_id=""), groups.join("b", member_id="")
    assert groups.members == ["a", "b", "b"]
    groups.join("a")
    assert [lost.error, again.error] == ["NONE", "NONE"]
    assert lost.response.member_id != again.response.member_id


@pytest.mark.parametrize("profile", ID_FIRST)
def test_now_a_new_member_is_given_its_id_first(profile):
    """Behaviour 46: from 2.2 MEMBER_ID_REQUIRED brings the id, and only its use makes a member."""
    groups = Groups(profile)
    groups.form("a")
    asked = [groups.join_once("b", member_id=""), groups.join_once("b", member_id="")]
    assert [each.error for each in asked] == ["MEMBER_ID_REQUIRED"] * 2
    assert len({each.response.member_id for each in asked}) == 2
    assert all(each.response.member_id.startswith("b-") for each in asked)
    assert (groups.state, groups.members) == ("Stable", ["a"])
    assert groups.join_once("b").parked
    assert groups.members == ["a", "b"]


@pytest.mark.parametrize(
    ("profile", "settings"),
    [
        ("0.10.1", (0, 300_000, 1440)),
        ("1.0", (3000, 300_000, 1440)),
        ("2.3", (3000, 1_800_000, 10_080)),
        ("2.4", (3000, 1_800_000, 10_080)),
        ("4.0", (3000, 1_800_000, 10_080)),
    ],
)
def test_the_brokers_defaults(profile, settings):
    """Behaviour 14: a day, from 2.0 a week; also the initial delay and the longest session."""
    config = configure(BrokerConfig, PROFILES[profile].version, given={})
    assert settings == (
        config.group_initial_rebalance_delay_ms,
        config.group_max_session_timeout_ms,
        config.offsets_retention_minutes,
    )


# Each switch by itself: the test fails if the switch is ignored.

TESTED = set()


def switch(name, *, off=False, on=True, base=KAFKA_4_0, value=None):
    """Run a test under two profiles that differ in one switch alone, and say what each expects.

    value: what the switch is set to for `off` and `on`, if that is not False and True.
    """
    assert off != on
    TESTED.add(name)
    sides = zip(value or (False, True), (off, on), strict=True)
    return pytest.mark.parametrize(
        ("profile", "expected"),
        [(replace(base, **{name: each}), expected) for each, expected in sides],
        ids=["off", "on"],
    )


def outcome(ask):
    """Give the error that is answered, or ``refused`` if no client could send that."""
    try:
        return ask().error
    except InvalidRequestError:
        return "refused"


def test_every_switch_is_tested():
    """A new switch of groups is asked, and wants a test here that tells its two sides apart."""
    code = "".join(path.read_text("utf-8") for path in Path(broker.__file__).parent.glob("*.py"))
    switches = {each.name for each in fields(GroupRules)}
    through_state_name = {"completing_rebalance_name"}
    assert {each for each in switches if f"profile.{each}" not in code} == through_state_name
    assert switches == TESTED


@switch("deleted_topic_takes_offsets", off=1, on=-1)
def test_deleted_topic_takes_offsets(profile, expected):
    """Without it an offset outlives its topic, and is there when one of that name is made."""
    groups = Groups(profile)
    groups.commit()
    groups.coordinator.handle_deleted_partitions([T0], groups.now_ms)
    assert groups.committed() == expected


@switch("initial_delay_from_empty", off=0, on=3000)
def test_initial_delay_from_empty(profile, expected):
    """Without it the first joiner is answered at once."""
    groups = Groups(profile, group_initial_rebalance_delay_ms=3000)
    asked = groups.join("a")
    groups.wait(10_000)
    assert asked.at_ms == expected


@switch("empty_group_extends_delay", off=13_000, on=16_000)
def test_empty_group_extends_delay(profile, expected):
    """Without it a group that had a generation is not waited for longer."""
    groups = Groups(profile, group_initial_rebalance_delay_ms=3000)
    groups.join("old")
    groups.wait(3000)
    groups.leave("old")
    groups.until(10_000)
    asked = groups.join("a")
    groups.until(12_000)
    groups.join("b")
    groups.until(20_000)
    assert asked.at_ms == expected


@switch("first_join_checks_protocols", off="UNKNOWN_SERVER_ERROR", on="INCONSISTENT_GROUP_PROTOCOL")
def test_first_join_checks_protocols(profile, expected):
    """Without it a first join without protocols breaks inside the coordinator."""
    assert Groups(profile).join("a", offers={}).error == expected


@switch(
    "completing_rebalance_name",
    value=("AwaitingSync", "CompletingRebalance"),
    off="AwaitingSync",
    on="CompletingRebalance",
)
def test_completing_rebalance_name(profile, expected):
    """A name only: the state is the same."""
    groups = group_in("AwaitingSync", profile)
    assert groups.describe().group_state == expected
    assert [each.group_state for each in groups.list().response.groups] == [expected]


@switch(
    "sync_while_loading",
    value=(Errors.UNKNOWN_MEMBER_ID, Errors.COORDINATOR_LOAD_IN_PROGRESS),
    off="UNKNOWN_MEMBER_ID",
    on="COORDINATOR_LOAD_IN_PROGRESS",
)
def test_sync_while_loading(profile, expected):
    """It is the answer itself: which one a client of that time understands."""
    groups = Groups(profile, offsets_load_ms=100)
    groups.form("a")
    groups.fail_over()
    assert groups.sync("a").error == expected


@switch("delete_groups", off="refused", on="GROUP_ID_NOT_FOUND")
def test_delete_groups(profile, expected):
    """Without it nobody can ask."""
    assert outcome(Groups(profile).delete) == expected


@switch("group_id_checked_everywhere", off="UNKNOWN_MEMBER_ID", on="INVALID_GROUP_ID")
def test_group_id_checked_everywhere(profile, expected):
    """Without it only a join looks whether there is a group id."""
    assert Groups(profile).heartbeat("a", group_id="").error == expected


@switch("offsets_expire_from_empty", off=-1, on=1)
def test_offsets_expire_from_empty(profile, expected):
    """Without it an offset ages although its group lives."""
    groups = Groups(profile, offsets_retention_minutes=10)
    groups.form("a", session_timeout_ms=1_800_000)
    groups.commit("a")
    groups.until(1_800_000 - 1)
    assert (groups.members, groups.committed()) == (["a"], expected)


U0 = TopicPartition("u", 0)
SLOW = {"session_timeout_ms": 1_500_000, "rebalance_timeout_ms": 1_500_000}


def subscribed_to_u(profile):
    """Commit for t and u, where the only member subscribes to u; offsets live for 10 minutes."""
    groups = Groups(profile, offsets_retention_minutes=10)
    groups.form("a", offers={"range": '{"topics": ["u"]}'}, **SLOW)
    groups.commit("a", offsets={each: OffsetAndMetadata(5) for each in (T0, U0)})
    return groups


@switch("unsubscribed_offsets_expire", off=5, on=-1, value=("never", "in_stable"))
def test_unsubscribed_offsets_expire(profile, expected):
    """Without it all offsets stay while members live."""
    groups = subscribed_to_u(profile)
    groups.until(600_000)
    assert (groups.committed(), groups.committed(U0)) == (expected, 5)


@switch(
    "unsubscribed_offsets_expire", off=(-1, 5), on=(5, 5), value=("in_every_state", "in_stable")
)
def test_unsubscribed_offsets_expire_in_stable(profile, expected):
    """Before, they went during a rebalance, too; the topics are those of the last generation."""
    groups = subscribed_to_u(profile)
    groups.until(500_000)
    groups.join("b", offers={"range": '{"topics": ["t"]}'}, **SLOW)
    groups.until(600_000)
    assert groups.state == "PreparingRebalance"
    assert (groups.committed(), groups.committed(U0)) == expected


@switch("new_member_join_timeout", off="parked", on="UNKNOWN_MEMBER_ID")
def test_new_member_join_timeout(profile, expected):
    """Without it a first join is parked as long as the rebalance lasts."""
    groups = Groups(profile)
    given = {"session_timeout_ms": 1_800_000, "rebalance_timeout_ms": 1_800_000}
    groups.form("a", **given)
    new = groups.join("b", **given)
    groups.until(300_000)
    assert new.error == expected


@switch("member_id_required", off="parked", on="MEMBER_ID_REQUIRED")
def test_member_id_required(profile, expected):
    """Without it a first join makes a member."""
    assert Groups(profile).join_once("a").error == expected


@switch("static_members", off="refused", on="parked")
def test_static_members(profile, expected):
    """Without it there is no group.instance.id."""
    assert outcome(lambda: Groups(profile).join("a", group_instance_id="one")) == expected


@switch("dead_group_moves", off="UNKNOWN_MEMBER_ID", on="COORDINATOR_NOT_AVAILABLE")
def test_dead_group_moves(profile, expected):
    """Without it the client gives up its id where it should look for the coordinator."""
    groups = group_in("Stable", profile)
    groups.group.transition_to(GroupState.DEAD, groups.now_ms)
    assert groups.heartbeat("a").error == expected


@switch("completing_checks_generation", off="NONE", on="ILLEGAL_GENERATION")
def test_completing_checks_generation(profile, expected):
    """Without it a heartbeat between join and sync may have any generation."""
    assert group_in("AwaitingSync", profile).heartbeat("a", generation_id=99).error == expected


@switch("commit_checks_member_first", off="REBALANCE_IN_PROGRESS", on="UNKNOWN_MEMBER_ID")
def test_commit_checks_member_first(profile, expected):
    """Without it even a stranger hears REBALANCE_IN_PROGRESS between join and sync."""
    assert group_in("AwaitingSync", profile).commit().error == expected


@switch("commit_needs_partition", off="NONE", on="UNKNOWN_TOPIC_OR_PARTITION")
def test_commit_needs_partition(profile, expected):
    """Without it a partition is committed that its topic does not have."""
    world = World(profile=profile)
    world.create("t", 1)
    request = OffsetCommitRequest(group_id="g", offsets={T1: OffsetAndMetadata(1)})
    assert world.answer(request).partitions[T1].name == expected


@switch("batch_leave", off=("refused", 0), on=("NONE", 1))
def test_batch_leave(profile, expected):
    """Without it one request names one member, and its answer is the answer of all."""
    groups = Groups(profile)
    groups.form("a", "b", "c")
    assert (
        outcome(lambda: groups.leave("a", "b")),
        len(groups.leave("c").response.members),
    ) == expected


@switch("describe_tells_instances", off=None, on="one")
def test_describe_tells_instances(profile, expected):
    """Without it a description does not say who is static."""
    groups = Groups(profile)
    groups.instances.update(s="one")
    groups.form("s")
    assert groups.describe().members[0].group_instance_id == expected


@switch("sync_names_protocol", off="refused", on="INCONSISTENT_GROUP_PROTOCOL")
def test_sync_names_protocol(profile, expected):
    """Without it a sync cannot say which protocol it means."""
    groups = group_in("AwaitingSync", profile)
    assert outcome(lambda: groups.sync("a", protocol_name="sticky")) == expected


@switch("static_restart_rebalances", off="NONE", on="parked")
def test_static_restart_rebalances(profile, expected):
    """Without it an instance that restarts between join and sync is just taken in."""
    groups = Groups(profile)
    groups.instances.update(s="one")
    groups.form("b", "s")
    groups.join("b")
    groups.join("s")
    assert groups.join("s", member_id="").error == expected


@switch("heartbeat_ok_in_completing_rebalance", off="REBALANCE_IN_PROGRESS", on="NONE")
def test_heartbeat_ok_in_completing_rebalance(profile, expected):
    """Without it a heartbeat between join and sync sends the member back."""
    assert group_in("AwaitingSync", profile).heartbeat("a").error == expected


@switch("heartbeat_limits_first_join", off="parked", on="UNKNOWN_MEMBER_ID")
def test_heartbeat_limits_first_join(profile, expected):
    """Without it a member that beat while its first join was parked waits as long as it takes."""
    groups = Groups(profile)
    groups.form("a", session_timeout_ms=1_000_000, rebalance_timeout_ms=1_000_000)
    new = groups.join("b")
    assert groups.heartbeat("b", generation_id=1).error == "REBALANCE_IN_PROGRESS"
    groups.until(10_000)
    assert new.error == expected
    groups.until(300_000)
    assert new.error == expected


@switch("full_group_counts_joins", off=["b"], on=["a"])
def test_full_group_counts_joins(profile, expected):
    """Without it an id that was given out comes in, and then the first to join again has to go."""
    groups = Groups(profile, group_max_size=1)
    groups.join_once("a")
    groups.join_once("b")
    for client in ("a", "b", "a"):
        groups.join_once(client)
        groups.wait()
    assert (groups.members, groups.state) == (expected, "AwaitingSync")


@switch("list_groups_states", off=("", "refused"), on=("Stable", "NONE"))
def test_list_groups_states(profile, expected):
    """Without it a list says no states, and cannot be filtered by them."""
    groups = group_in("Stable", profile)
    (listed,) = groups.list().response.groups
    assert (listed.group_state, outcome(lambda: groups.list("Stable"))) == expected


@switch("pending_sync_expires", off=[], on=[(40_000, "a"), (40_000, "b")])
def test_pending_sync_expires(profile, expected):
    """Without it who never syncs is waited for while its session lasts."""
    groups = Groups(profile)
    groups.join("a", **LONG)
    groups.join("b", **LONG)
    groups.until(50_000)
    assert groups.removed() == expected


@switch("skip_assignment", off=("its old id", 0, False), on=("its new id", 1, True))
def test_skip_assignment(profile, expected):
    """Without it a restarted leader is told of its old id, so that it does not assign."""
    groups = Groups(profile)
    groups.instances.update(s="one")
    groups.form("s")
    names = {groups.id("s"): "its old id"}
    answer = groups.join("s", member_id="").response
    names[groups.id("s")] = "its new id"
    assert (names[answer.leader], len(answer.members), answer.skip_assignment) == expected


@switch("rejoin_updates_timeouts", off=(60_000, 10_000), on=(90_000, 20_000))
def test_rejoin_updates_timeouts(profile, expected):
    """Without it a member keeps the timeouts that it came with."""
    groups = Groups(profile)
    groups.form("a")
    groups.join("a", session_timeout_ms=20_000, rebalance_timeout_ms=90_000)
    (member,) = groups.group.members.values()
    assert (member.rebalance_timeout_ms, member.session_timeout_ms) == expected


@switch("refused_offset_is_forgotten", off="Empty", on="none")
def test_refused_offset_is_forgotten(profile, expected):
    """Without it one refused partition keeps the group for ever, once another was accepted."""
    groups = Groups(profile, offset_metadata_max_bytes=4, offsets_retention_minutes=1)
    groups.commit(offsets={T0: OffsetAndMetadata(1, "12345"), T1: OffsetAndMetadata(1)})
    groups.until(10 * 600_000)
    assert (groups.committed(T1), groups.state) == (-1, expected)


@switch("expiry_ends_initial_delay", off=12_000, on=10_000)
def test_expiry_ends_initial_delay(profile, expected):
    """Without it a delay is waited for to its end; nobody waits for who joins in it later."""
    groups = Groups(profile, group_initial_rebalance_delay_ms=12_000)
    groups.join_once("ghost")
    joined = groups.join("a")
    groups.until(12_000)
    assert joined.at_ms == expected


@switch("cleanup_waits_for_check", off="none", on="Empty")
def test_cleanup_waits_for_check(profile, expected):
    """Without it an Empty group goes with the topic of its last offset."""
    groups = Groups(profile)
    groups.commit()
    groups.coordinator.handle_deleted_partitions([T0], groups.now_ms)
    assert groups.state == expected


@switch("sync_in_stable_keeps_session", off=14_000, on=10_000)
def test_sync_in_stable_keeps_session(profile, expected):
    """Without it a sync in a Stable group counts as a heartbeat."""
    groups = Groups(profile)
    groups.form("a")
    groups.until(4000)
    groups.sync("a")
    groups.until(20_000)
    assert groups.removed() == [(expected, "a")]


@switch("leave_in_one_step", off="REBALANCE_IN_PROGRESS", on="parked")
def test_leave_in_one_step(profile, expected):
    """Without it a later one of those who leave hears of the rebalance that the first one made."""
    groups = Groups(profile)
    groups.form("a", "b", "c")
    for each in "abc":
        groups.join(each)
    last = groups.sync("b")
    assert groups.leave("a", "b").error == "NONE"
    assert (last.error, groups.members) == (expected, ["c"])


@switch("leave_in_one_step", off="Stable", on="PreparingRebalance")
def test_leave_in_one_step_of_an_unused_id(profile, expected):
    """With it a group rebalances although only an id has left that nobody used."""
    groups = group_in("Stable", profile)
    groups.join_once("ghost")
    assert groups.leave("ghost").error == "NONE"
    assert groups.state == expected


@switch("describe_shows_assignment", off=["", ""], on=["of a", "of b"])
def test_describe_shows_assignment(profile, expected):
    """Without it a description outside Stable says nothing of assignments."""
    members = group_in("PreparingRebalance", profile).describe().members
    assert [each.member_assignment for each in members] == expected


@switch("admin_sees_stored_groups", off=("Empty", 1), on=("Dead", 0))
def test_admin_sees_stored_groups(profile, expected):
    """Without it a group that only a refused commit made is seen."""
    groups = Groups(profile, offset_metadata_max_bytes=4)
    assert groups.commit(metadata="12345").error == "OFFSET_METADATA_TOO_LARGE"
    found = (groups.describe().group_state, len(groups.list().response.groups))
    assert found == expected
    groups.join_once("a", group_id="h")
    assert groups.describe("h").group_state == "Empty"
