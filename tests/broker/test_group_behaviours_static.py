from dataclasses import replace

import pytest

from kafkalearn.profile import KAFKA_4_0
from kafkalearn.protocol.group import MemberIdentity
from tests.broker.groups import Groups

STATIC = ["2.3", "2.4", "4.0"]
LONG = {"session_timeout_ms": 100_000, "rebalance_timeout_ms": 40_000}


def static_group(profile, *clients, **fields):
    """Make a Stable group of these; s and what begins with it has the instance id ``one``."""
    groups = Groups(profile)
    groups.instances.update(s="one", s2="one")
    groups.form(*clients, **fields)
    return groups


@pytest.mark.parametrize("profile", STATIC)
def test_a_leader_that_is_late_but_kept_hands_over(profile):
    """Behaviour 38: a static leader that does not rejoin stays a member; who joined leads."""
    groups = static_group(profile, "s", "b", **LONG)
    generation = groups.group.generation_id
    assert groups.group.leader_id == groups.id("s")
    joined = groups.join("b", offers={"range": "more"}, **LONG)
    groups.until(40_000)
    assert (joined.error, joined.at_ms) == ("NONE", 40_000)
    assert joined.response.leader == groups.id("b")
    everybody = [groups.id("s"), groups.id("b")]
    assert [each.member_id for each in joined.response.members] == everybody
    assert (groups.removed(), groups.group.generation_id) == ([], generation + 1)


@pytest.mark.parametrize("profile", ["0.10.1", "1.0"])
def test_before_static_members_a_late_leader_is_dropped(profile):
    """Behaviour 38: before 2.3 nobody is late and kept, so the first of those who joined leads."""
    groups = Groups(profile)
    groups.form("a", "b", **LONG)
    joined = groups.join("b", offers={"range": "more"}, **LONG)
    groups.until(40_000)
    assert groups.removed() == [(40_000, "a")]
    assert joined.response.leader == groups.id("b")
    assert [each.member_id for each in joined.response.members] == [groups.id("b")]


@pytest.mark.parametrize("profile", STATIC)
def test_if_no_static_member_comes_the_join_phase_goes_on(profile):
    """Behaviour 38: with nobody to lead, sessions decide how long."""
    groups = static_group(profile, "s", "b", **LONG)
    groups.leave("b")
    for time_ms in (40_000, 80_000, 99_999):
        groups.until(time_ms)
        assert (groups.state, groups.members) == ("PreparingRebalance", ["s"])
    groups.until(100_000)
    assert (groups.state, groups.removed()[-1]) == ("Empty", (100_000, "s"))


@pytest.mark.parametrize("profile", STATIC)
def test_a_join_phase_that_goes_on_ends_a_timeout_later(profile):
    """Behaviour 38: who has come by then goes on, and the other static member is kept."""
    groups = static_group(profile, "s", "b", **LONG)
    groups.instances.update(z="two")
    groups.form("s", "b", "z", **LONG)
    groups.leave("b")
    groups.until(50_000)
    joined = groups.join("z", **LONG)
    groups.until(79_999)
    assert joined.parked
    groups.until(80_000)
    assert (joined.error, joined.response.leader) == ("NONE", groups.id("z"))
    assert groups.members == ["s", "z"]


# Restarts.


@pytest.mark.parametrize("profile", STATIC)
@pytest.mark.parametrize("order", ["sb", "bs"])
def test_a_restart_in_time_changes_nothing_for_the_others(profile, order):
    """Behaviour 51: the same assignment under a new member id, and no rebalance."""
    groups = static_group(profile, *order)
    generation = groups.group.generation_id
    old_id = groups.id("s")
    groups.until(9999)
    groups.heartbeat("b")
    back = groups.join("s", member_id="")
    assert (back.error, back.response.generation_id) == ("NONE", generation)
    assert back.response.member_id == groups.id("s") != old_id
    assert groups.state == "Stable"
    assert groups.sync("s").response.assignment == "of s"
    assert groups.heartbeat("b").error == "NONE"
    groups.until(19_998)
    assert groups.members == list(order)


@pytest.mark.parametrize("profile", STATIC)
def test_a_restart_is_in_the_trace(profile):
    """Behaviour 51: the old member id goes and the new one comes, in the same moment."""
    groups = static_group(profile, "b", "s")
    old_id = groups.id("s")
    groups.until(500)
    before = len(groups.events)
    groups.join("s", member_id="")
    told = [(kind, time_ms, each["member_id"]) for kind, time_ms, each in groups.events[before:]]
    assert told == [("member_removed", 500, old_id), ("member_joined", 500, groups.id("s"))]


@pytest.mark.parametrize("profile", STATIC)
def test_a_restart_that_comes_too_late_is_a_new_member(profile):
    """Behaviour 51: at the end of the session the instance is gone, and others rebalance."""
    groups = static_group(profile, "s", "b")
    groups.until(9000)
    groups.heartbeat("b")
    groups.until(10_000)
    assert groups.removed() == [(10_000, "s")]
    assert groups.heartbeat("b").error == "REBALANCE_IN_PROGRESS"
    assert groups.join("s", member_id="").parked


@pytest.mark.parametrize("profile", STATIC)
def test_the_second_holder_of_an_instance_fences_the_first(profile):
    """Behaviour 51: whatever the first one sends is FENCED_INSTANCE_ID from then on."""
    groups = static_group(profile, "s", "b")
    groups.join("s2")
    assert groups.id("s2") != groups.id("s")
    assert {
        "heartbeat": groups.heartbeat("s").error,
        "sync": groups.sync("s").error,
        "commit": groups.commit("s").error,
        "join": groups.join_once("s").error,
    } == dict.fromkeys(["heartbeat", "sync", "commit", "join"], "FENCED_INSTANCE_ID")
    assert groups.heartbeat("s2").error == "NONE"
    assert groups.committed() == -1


@pytest.mark.parametrize("profile", ["2.4", "4.0"])
def test_the_first_holder_cannot_take_the_second_with_it(profile):
    """Behaviour 51: its LeaveGroup is FENCED_INSTANCE_ID, too, where it names the instance."""
    groups = static_group(profile, "s", "b")
    old = MemberIdentity(groups.id("s"), "one")
    groups.join("s2")
    assert groups.leave(members=(old,)).error == "FENCED_INSTANCE_ID"
    assert groups.members == ["s2", "b"]


@pytest.mark.parametrize("profile", STATIC)
@pytest.mark.parametrize("request_name", ["heartbeat", "sync", "commit"])
def test_fencing_comes_before_membership_and_generation(profile, request_name):
    """Behaviour 51: a wrong id with a known instance is fenced, however wrong the rest is."""
    groups = static_group(profile, "s", "b")
    send = getattr(groups, request_name)
    assert send("s", member_id="x", generation_id=99).error == "FENCED_INSTANCE_ID"


@pytest.mark.parametrize("profile", STATIC)
def test_a_restarted_leader_must_not_assign(profile):
    """Behaviour B9: up to 3.1 it is told of its old id as leader; from 3.2 to skip assigning."""
    groups = static_group(profile, "s", "b")
    old_id = groups.id("s")
    answer = groups.join("s", member_id="").response
    told = [each.member_id for each in answer.members]
    if profile == "4.0":
        assert (answer.leader, answer.skip_assignment) == (groups.id("s"), True)
        assert told == [groups.id("s"), groups.id("b")]
    else:
        assert (answer.leader, answer.skip_assignment, told) == (old_id, False, [])
    assert groups.group.leader_id == groups.id("s")


@pytest.mark.parametrize("profile", STATIC)
def test_a_restarted_follower_is_told_who_leads(profile):
    """Behaviour B9: nothing is special about a follower that comes back."""
    groups = static_group(profile, "b", "s")
    answer = groups.join("s", member_id="").response
    assert (answer.leader, answer.skip_assignment, answer.members) == (groups.id("b"), False, ())


@pytest.mark.parametrize(
    ("profile", "error", "state"),
    [
        ("2.3", "NONE", "Stable"),
        ("2.4", "NONE", "Stable"),
        ("4.0", "parked", "PreparingRebalance"),
    ],
)
def test_a_restart_that_changes_the_vote(profile, error, state):
    """Behaviour B9: from 2.5 the group rebalances if another protocol would be chosen now."""
    groups = static_group(profile, "b", "s", offers={"range": "", "sticky": ""})
    assert groups.group.protocol_name == "range"
    back = groups.join("s", member_id="", offers={"sticky": ""})
    assert (back.error, groups.state) == (error, state)


@pytest.mark.parametrize("profile", STATIC)
def test_a_restart_with_other_metadata_does_not_rebalance(profile):
    """Behaviour B9: only the chosen protocol counts, not what a member sends with it."""
    groups = static_group(profile, "b", "s")
    back = groups.join("s", member_id="", offers={"range": "changed", "sticky": "new"})
    assert (back.error, groups.state) == ("NONE", "Stable")


@pytest.mark.parametrize(
    ("profile", "error", "state"),
    [
        ("2.3", "NONE", "AwaitingSync"),
        ("2.4", "NONE", "AwaitingSync"),
        ("4.0", "parked", "PreparingRebalance"),
    ],
)
def test_a_restart_between_join_and_sync(profile, error, state):
    """Behaviour B9: from 2.5 it rebalances, for the leader may know of the old id alone."""
    groups = static_group(profile, "b", "s")
    generation = groups.group.generation_id + 1
    groups.join("b")
    groups.join("s")
    back = groups.join("s", member_id="")
    assert (back.error, groups.state) == (error, state)
    if error == "NONE":
        assert back.response.generation_id == generation


@pytest.mark.parametrize("profile", STATIC)
def test_a_parked_join_is_fenced_by_a_restart(profile):
    """Behaviour B9: the old holder is answered at once, under its old id, and the new one waits."""
    groups = static_group(profile, "s", "b")
    old_id = groups.id("s")
    parked = groups.join("s")
    groups.until(300)
    new = groups.join("s2")
    assert (parked.error, parked.at_ms) == ("FENCED_INSTANCE_ID", 300)
    assert parked.response.member_id == old_id
    assert new.parked
    groups.join("b")
    assert (new.error, groups.members) == ("NONE", ["s2", "b"])


@pytest.mark.parametrize("profile", STATIC)
def test_a_parked_sync_is_fenced_by_a_restart(profile):
    """Behaviour B9: the old holder's sync is answered FENCED_INSTANCE_ID."""
    groups = static_group(profile, "b", "s")
    groups.join("b")
    groups.join("s")
    parked = groups.sync("s")
    groups.until(300)
    groups.join("s2")
    assert (parked.error, parked.at_ms) == ("FENCED_INSTANCE_ID", 300)


@pytest.mark.parametrize("profile", STATIC)
def test_a_known_member_id_may_leave_its_instance_out(profile):
    """Behaviour B9: what a static member sends without its instance id is taken."""
    groups = static_group(profile, "s", "b")
    bare = {"group_instance_id": None}
    assert groups.heartbeat("s", **bare).error == "NONE"
    assert groups.commit("s", **bare).error == "NONE"
    assert groups.sync("s", **bare).error == "NONE"
    assert groups.join("s", **bare).parked  # it leads


@pytest.mark.parametrize("profile", STATIC)
def test_an_instance_that_the_group_does_not_know(profile):
    """Behaviour B9: a join that names one beside a member's id is UNKNOWN_MEMBER_ID."""
    groups = static_group(profile, "b", "s")
    assert groups.join("b", group_instance_id="two").error == "UNKNOWN_MEMBER_ID"


@pytest.mark.parametrize("kind", ["heartbeat", "sync", "commit"])
@pytest.mark.parametrize("profile", STATIC)
def test_an_instance_that_the_group_does_not_know_beside_a_member(profile, kind):
    """As from 3.0 on; Kafka before that only refused a wrong holder, which is left out here."""
    groups = static_group(profile, "b", "s")
    assert getattr(groups, kind)("b", group_instance_id="two").error == "UNKNOWN_MEMBER_ID"


# Leaving.


@pytest.mark.parametrize("profile", ["2.4", "4.0"])
def test_an_administrator_lets_an_instance_leave(profile):
    """Behaviour 51: a static member does not leave by itself; LeaveGroup may name its instance."""
    groups = static_group(profile, "s", "b")
    asked = groups.leave(members=(MemberIdentity("", "one"), MemberIdentity("", "two")))
    assert [each.error_code.name for each in asked.response.members] == [
        "NONE",
        "UNKNOWN_MEMBER_ID",
    ]
    assert (groups.state, groups.members) == ("PreparingRebalance", ["b"])
    assert groups.heartbeat("s").error == "UNKNOWN_MEMBER_ID"


@pytest.mark.parametrize("profile", STATIC)
def test_a_new_static_member_that_restarts_waits_like_the_others(profile):
    """A parked join keeps its member, also if it replaced another that was parked and new."""
    groups = Groups(profile)
    groups.instances.update(s="one")
    groups.form("b", session_timeout_ms=100_000)
    first = groups.join("s")
    groups.until(1000)
    second = groups.join("s", member_id="")
    assert first.error == "FENCED_INSTANCE_ID"
    groups.until(59_000)
    assert (second.error, groups.members) == ("parked", ["b", "s"])


def restarted_before_its_first_sync(profile):
    """Let the leader assign, and s restart in Stable while its first sync is still missing."""
    groups = static_group(profile, "b", "s", **LONG)
    groups.join("b", **LONG)
    groups.join("s", **LONG)
    groups.sync("b", {"b": "of b", "s": "of s"})
    assert groups.join("s", member_id="", **LONG).error == "NONE"
    assert groups.state == "Stable"
    return groups


@pytest.mark.parametrize(
    ("profile", "heartbeat", "state"),
    [
        ("2.4", "NONE", "Stable"),
        (replace(KAFKA_4_0, pending_sync_expires=False), "NONE", "Stable"),
        ("4.0", "REBALANCE_IN_PROGRESS", "PreparingRebalance"),
    ],
    ids=["2.4", "off", "4.0"],
)
@pytest.mark.parametrize("syncs", [True, False])
def test_the_sync_phase_waits_for_the_id_before_the_restart(profile, heartbeat, state, syncs):
    """From 2.8.1 the group rebalances at its end, and loses nobody: the old id is no member."""
    groups = restarted_before_its_first_sync(profile)
    if syncs:
        assert groups.sync("s").response.assignment == "of s"
    before = groups.removed()
    groups.until(39_999)
    assert groups.heartbeat("s").error == "NONE"
    groups.until(40_000)
    assert (groups.heartbeat("s").error, groups.state) == (heartbeat, state)
    assert (groups.members, groups.removed()) == (["b", "s"], before)


def test_a_rebalance_ends_the_wait_for_the_id_before_the_restart():
    """The next generation's sync phase knows of its own members alone, and ends with them."""
    groups = restarted_before_its_first_sync("4.0")
    groups.form("b", "s", **LONG)
    generation = groups.group.generation_id
    for time_ms in (40_000, 80_000):
        groups.until(time_ms)
        assert [groups.heartbeat(each).error for each in "bs"] == ["NONE", "NONE"]
    assert (groups.state, groups.group.generation_id) == ("Stable", generation)
