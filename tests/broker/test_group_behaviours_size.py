"""How many members a group may have: group.max.size (KIP-389, from 2.2)."""

import pytest

from kafkalearn.errors import ConfigError
from tests.broker.groups import Groups

SIZED = ["2.3", "2.4", "4.0"]
REACHED = "GROUP_MAX_SIZE_REACHED"
LONG = {"session_timeout_ms": 100_000}


def loaded(profile, *clients):
    """Give groups whose new coordinator allows two members, and has read a group of `clients`."""
    groups = Groups(profile)
    groups.form(*clients, **LONG)
    groups.configure(group_max_size=2)
    groups.fail_over()
    groups.wait()
    return groups


@pytest.mark.parametrize("profile", ["0.10.1", "1.0"])
def test_before_2_2_nothing_bounds_a_group(profile):
    """There is no such setting: to give it is an error, not a setting without effect."""
    with pytest.raises(ConfigError, match=r"group_max_size is known from Kafka 2\.2 on"):
        Groups(profile, group_max_size=1)


@pytest.mark.parametrize("profile", SIZED)
@pytest.mark.parametrize("state", ["Stable", "AwaitingSync"])
def test_a_full_group_turns_a_new_member_away(profile, state):
    """It is told no id, and the members do not notice; when one of them leaves there is room."""
    groups = Groups(profile, group_max_size=2)
    groups.bring_to(state)
    refused = groups.join("c")
    assert (refused.error, refused.response.member_id) == (REACHED, "")
    assert (groups.state, groups.members) == (state, ["a", "b"])
    assert groups.join("a").error == ("parked" if state == "Stable" else "NONE")
    groups.leave("b")
    assert groups.join("c").error in ("NONE", "parked")
    assert groups.members == ["a", "c"]


@pytest.mark.parametrize("profile", SIZED)
def test_members_of_a_full_group_rebalance_as_always(profile):
    """Who is in may join again, also while the group rebalances."""
    groups = Groups(profile, group_max_size=2)
    groups.form("a", "b")
    first, again = groups.join("a"), groups.join("a")
    assert (first.error, again.error) == ("parked", "parked")
    assert groups.join("b").error == "NONE"
    assert (again.error, groups.members) == ("NONE", ["a", "b"])


@pytest.mark.parametrize("profile", ["2.3", "2.4"])
def test_an_id_came_into_a_full_group(profile):
    """Up to 2.5; and who waits there may ask again, although there is one member too many."""
    groups = Groups(profile, group_max_size=1)
    groups.join_once("b")
    groups.form("a")
    assert [groups.join_once("b").error for _ in range(2)] == ["parked", "parked"]
    assert (groups.state, groups.members) == ("PreparingRebalance", ["a", "b"])


@pytest.mark.parametrize("profile", SIZED)
def test_ids_that_are_not_used_take_no_room(profile):
    """Only members are counted."""
    groups = Groups(profile, group_max_size=1)
    assert [groups.join_once(each).error for each in "abc"] == ["MEMBER_ID_REQUIRED"] * 3


def test_an_id_that_finds_the_group_full_is_given_up():
    """From 2.6 it expires at once, so it does not hold a later rebalance up."""
    groups = Groups("4.0", group_max_size=1)
    groups.join_once("late")
    groups.form("a")
    assert groups.join_once("late").error == REACHED
    assert (list(groups.group.pending_members), groups.state) == ([], "Stable")
    assert groups.removed()[-1] == (groups.now_ms, "late")
    assert groups.seen("member_removed")[-1][1]["detail"]["reason"] == "the group is full"
    assert groups.join("a").error == "NONE"


@pytest.mark.parametrize("profile", SIZED)
def test_a_static_member_cannot_restart_into_a_full_group(profile):
    """Without its member id it counts as one more, until its session ended."""
    groups = Groups(profile, group_max_size=2)
    groups.instances.update(s="one")
    groups.form("a", "s", session_timeout_ms=20_000)
    assert groups.join("s", member_id="").error == REACHED
    groups.until(19_000)
    groups.heartbeat("a")
    groups.until(20_000)
    assert groups.join("s", member_id="").parked
    assert groups.members == ["a", "s"]


@pytest.mark.parametrize("profile", SIZED)
def test_a_group_that_is_loaded_too_large_rebalances(profile):
    """So that members can commit before some have to go; one that fits stays Stable."""
    groups = loaded(profile, "a", "b", "c")
    assert (groups.state, groups.members) == ("PreparingRebalance", ["a", "b", "c"])
    _, change = groups.seen("group_state")[-1]
    assert change["detail"]["reason"] == "it was loaded with more members than group.max.size"
    assert groups.commit("a").error == "NONE"
    assert groups.heartbeat("a").error == "REBALANCE_IN_PROGRESS"
    assert loaded(profile, "a", "b").state == "Stable"


@pytest.mark.parametrize("profile", ["2.3", "2.4"])
def test_the_first_to_join_again_had_to_go(profile):
    """Up to 2.5; the join phase ends with the others, and the leader may be among the first."""
    groups = loaded(profile, "a", "b", "c")
    answers = [groups.join(each, **LONG) for each in "abc"]
    assert [each.error for each in answers] == [REACHED, "NONE", "NONE"]
    assert groups.removed()[-1] == (groups.now_ms, "a")
    assert groups.seen("member_removed")[-1][1]["detail"]["reason"] == "the group is full"
    assert (groups.state, groups.members) == ("AwaitingSync", ["b", "c"])
    assert groups.group.is_leader(groups.id("b"))


def test_the_last_to_join_again_has_to_go():
    """From 2.6; in 4.0 the join phase then lasts until its timeout, as if it were still missing."""
    groups = loaded("4.0", "a", "b", "c")
    _, *answers = [groups.join(each, **LONG) for each in "abac"]  # who waits may ask again
    assert [each.error for each in answers] == ["parked", "parked", REACHED]
    assert groups.members == ["a", "b"]
    groups.until(59_999)
    assert groups.state == "PreparingRebalance"
    groups.until(60_000)
    assert [each.error for each in answers[:2]] == ["NONE", "NONE"]
