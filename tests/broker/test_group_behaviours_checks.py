"""What comes before everything: is the coordinator active, the right one, loaded; is there a group.

Each test asks with every kind of request, under every profile.
"""

import pytest

from kafkalearn.broker.group_state import GroupState
from kafkalearn.records import TopicPartition
from tests.broker.groups import EVERY_PROFILE, Groups, group_in

OTHERS = ["join", "sync", "heartbeat", "leave", "commit", "fetch", "describe", "list"]
KINDS = [*OTHERS, "delete"]
OF_MEMBERS = ["join", "sync", "heartbeat", "leave"]
DELETE_FROM = ["2.3", "2.4", "4.0"]


def answers(groups, group_id="g", *, member_id="m", generation_id=3, session_timeout_ms=10_000):
    """Ask with every kind of request that the profile knows, and give the errors by kind."""
    given = {"group_id": group_id}
    member = {**given, "member_id": member_id, "generation_id": generation_id}
    timeout = {"session_timeout_ms": session_timeout_ms}
    asked = {
        "join": lambda: groups.join("a", **given, **timeout, member_id=member_id).error,
        "sync": lambda: groups.sync("a", **member).error,
        "heartbeat": lambda: groups.heartbeat("a", **member).error,
        "leave": lambda: groups.leave("a", group_id=group_id).error,
        "commit": lambda: groups.commit("a", **member).error,
        "fetch": lambda: groups.fetch(TopicPartition("t", 0), **given).error,
        "describe": lambda: groups.describe(group_id).error_code.name,
        "list": lambda: groups.list().error,
        "delete": lambda: groups.delete(group_id).error,
    }
    return {kind: asked[kind]() for kind in kinds(groups.profile.release)}


def kinds(profile):
    """Name the requests that this profile knows."""
    return KINDS if profile in DELETE_FROM else OTHERS


def all_say(profile, error, **instead):
    """Expect one error of every kind of request, but for those that are named."""
    return dict.fromkeys(kinds(profile), error) | instead


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_coordinator_that_is_not_active_serves_nobody(profile):
    """Before its start all is COORDINATOR_NOT_AVAILABLE, and so it stays until then."""
    groups = Groups(profile)
    groups.commit(offset=5)
    groups.coordinator.groups.is_active = False
    assert answers(groups) == all_say(profile, "COORDINATOR_NOT_AVAILABLE")
    groups.coordinator.startup(groups.now_ms)
    assert groups.committed() == 5


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_another_brokers_group_is_refused(profile):
    """Behaviour 53: NOT_COORDINATOR sends the client to look for the coordinator anew."""
    groups = Groups(profile, owned=False)
    assert answers(groups) == all_say(profile, "NOT_COORDINATOR", list="NONE")


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_coordinator_that_lost_its_partition_refuses(profile):
    """Behaviour 53: from the moment of the move, members are not known here any more."""
    groups = group_in("Stable", profile)
    groups.emigrate()
    assert groups.state == "none"
    assert answers(groups) == all_say(profile, "NOT_COORDINATOR", list="NONE")


@pytest.mark.parametrize(
    ("profile", "sync"),
    [
        ("0.10.1", "UNKNOWN_MEMBER_ID"),
        ("1.0", "UNKNOWN_MEMBER_ID"),
        ("2.3", "REBALANCE_IN_PROGRESS"),
        ("2.4", "REBALANCE_IN_PROGRESS"),
        ("4.0", "COORDINATOR_LOAD_IN_PROGRESS"),
    ],
)
def test_while_loading_heartbeats_are_taken_and_the_rest_waits(profile, sync):
    """Behaviour 53: heartbeats are NONE, joins and commits COORDINATOR_LOAD_IN_PROGRESS."""
    groups = Groups(profile, offsets_load_ms=100)
    groups.bring_to("Stable")
    groups.fail_over()
    expected = all_say(profile, "COORDINATOR_LOAD_IN_PROGRESS", heartbeat="NONE", sync=sync)
    assert answers(groups) == expected
    groups.until(99)
    assert answers(groups) == expected
    groups.until(100)
    assert groups.heartbeat("a").error == "NONE"
    assert groups.list().error == "NONE"


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_what_is_said_where_there_is_no_group(profile):
    """The members of a group that is not there are unknown, and its old commits illegal."""
    groups = Groups(profile)
    expected = all_say(
        profile, "UNKNOWN_MEMBER_ID", commit="ILLEGAL_GENERATION", fetch="NONE", describe="NONE"
    )
    expected |= {"list": "NONE"}
    if profile in DELETE_FROM:
        expected["delete"] = "GROUP_ID_NOT_FOUND"
    assert answers(groups) == expected
    assert (groups.state, groups.describe().group_state) == ("none", "Dead")


# The order of the checks: each situation beside all that come after it.


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_not_active_comes_before_not_coordinator(profile):
    """A coordinator that is neither says the first."""
    groups = Groups(profile, owned=False)
    groups.coordinator.groups.is_active = False
    assert answers(groups) == all_say(profile, "COORDINATOR_NOT_AVAILABLE")


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_not_active_comes_before_loading(profile):
    """Even a heartbeat and a sync hear of it."""
    groups = Groups(profile, offsets_load_ms=100)
    groups.commit()
    groups.fail_over()
    groups.coordinator.groups.is_active = False
    assert answers(groups) == all_say(profile, "COORDINATOR_NOT_AVAILABLE")


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_not_coordinator_comes_before_the_group(profile):
    """Who is not the coordinator does not say whether the group exists."""
    groups = Groups(profile, owned=False)
    with_id = answers(groups)
    without = answers(groups, member_id="", generation_id=-1)
    assert with_id == without == all_say(profile, "NOT_COORDINATOR", list="NONE")
    assert groups.state == "none"


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_session_timeouts_and_the_coordinator(profile):
    """The session timeout is looked at last; 4.0 itself looks at it first, which is left out."""
    groups = Groups(profile, owned=False)
    assert groups.join("a", session_timeout_ms=1).error == "NOT_COORDINATOR"
    groups.immigrate()
    assert groups.join("a", member_id="x", session_timeout_ms=1).error == "INVALID_SESSION_TIMEOUT"


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_not_active_comes_before_the_empty_group_id(profile):
    """So it is up to 1.1 and in 4.0.

    Differs from Kafka 2.0 to 3.9: INVALID_GROUP_ID comes first there.
    """
    groups = Groups(profile)
    groups.coordinator.groups.is_active = False
    assert answers(groups, "") == all_say(profile, "COORDINATOR_NOT_AVAILABLE")


@pytest.mark.parametrize("profile", ["2.3", "2.4", "4.0"])
def test_the_empty_group_id_comes_before_not_coordinator(profile):
    """From 2.0 all requests of members hear INVALID_GROUP_ID, on whichever broker."""
    groups = Groups(profile, owned=False)
    expected = all_say(profile, "NOT_COORDINATOR", list="NONE")
    assert answers(groups, "") == expected | dict.fromkeys(OF_MEMBERS, "INVALID_GROUP_ID")


@pytest.mark.parametrize("profile", ["0.10.1", "1.0"])
def test_up_to_1_1_only_joins_ask_for_a_group_id(profile):
    """A join without one is INVALID_GROUP_ID, everything else looks for the group ''."""
    groups = Groups(profile)
    assert answers(groups, "") == all_say(
        profile,
        "UNKNOWN_MEMBER_ID",
        join="INVALID_GROUP_ID",
        commit="ILLEGAL_GENERATION",
        fetch="NONE",
        describe="NONE",
        list="NONE",
    )


@pytest.mark.parametrize("profile", ["0.10.1", "1.0"])
def test_up_to_1_1_an_empty_group_id_comes_before_not_coordinator(profile):
    """A join without a group id is refused for that, on whichever broker."""
    groups = Groups(profile, owned=False)
    assert groups.join("a", group_id="").error == "INVALID_GROUP_ID"


# A group that is Dead: only a race shows one to a client.


def dead_group(profile):
    """Make a Stable group of a and b whose coordinator is just giving it up."""
    groups = group_in("Stable", profile)
    groups.group.transition_to(GroupState.DEAD, groups.now_ms)
    return groups


@pytest.mark.parametrize(
    ("profile", "error"),
    [("0.10.1", "UNKNOWN_MEMBER_ID"), ("1.0", "UNKNOWN_MEMBER_ID")]
    + [(profile, "COORDINATOR_NOT_AVAILABLE") for profile in ("2.3", "2.4", "4.0")],
)
def test_a_dead_group_serves_no_member(profile, error):
    """Behaviour B11: UNKNOWN_MEMBER_ID; from 2.3 COORDINATOR_NOT_AVAILABLE, so clients look anew.

    Behaviour 17 says it of commits, 42 of joins and 44 of heartbeats.
    """
    groups = dead_group(profile)
    member = {"join": "a", "sync": "a", "heartbeat": "a", "leave": "a", "commit": "a"}
    assert {
        kind: getattr(groups, kind)(who).error for kind, who in member.items()
    } == dict.fromkeys(member, error)
    assert groups.join("new", member_id="").error == error
    assert groups.commit().error == error
    assert groups.state == "Dead"


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_no_timer_of_a_dead_group_brings_it_back(profile):
    """What was planned for its members happens to nobody once the coordinator gave it up."""
    groups = group_in("PreparingRebalance", profile)
    groups.emigrate()
    before = len(groups.events)
    groups.wait(1_000_000)
    assert groups.events[before:] == []


@pytest.mark.parametrize("profile", ["1.0", "2.4"])
def test_a_dead_group_can_be_looked_at(profile):
    """Up to 3.9 a fetch finds nothing, and a description tells that it is Dead, without errors."""
    groups = dead_group(profile)
    assert groups.fetch(TopicPartition("t", 0)).error == "NONE"
    assert groups.committed() == -1
    assert (groups.describe().error_code.name, groups.describe().group_state) == ("NONE", "Dead")


@pytest.mark.parametrize("profile", ["2.3", "2.4"])
def test_a_dead_group_cannot_be_deleted(profile):
    """To DeleteGroups it does not exist any more."""
    assert dead_group(profile).delete().error == "GROUP_ID_NOT_FOUND"
