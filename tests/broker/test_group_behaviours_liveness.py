from dataclasses import replace

import pytest

from kafkalearn.profile import KAFKA_4_0
from tests.broker.groups import EVERY_PROFILE, STATES, T0, Groups, group_in

FIVE_MINUTES_MS = 300_000
ID_FIRST = ["2.3", "2.4", "4.0"]  # a new member is given its id and joins with it
HEARTBEATS = {
    "a member": {"client": "a"},
    "a member, generation before": {"client": "a", "generation_id": 0},
    "a stranger": {"client": "nobody", "generation_id": 1},
}


def answers(groups):
    """Let each of these beat, and give the errors."""
    return {who: groups.heartbeat(**given).error for who, given in HEARTBEATS.items()}


def beat(groups, clients, until_ms):
    """Let clients beat every 5 s until then."""
    for time_ms in range(groups.now_ms + 5000, until_ms, 5000):
        groups.until(time_ms)
        for client in clients:
            groups.heartbeat(client)
    groups.until(until_ms)


# Sessions.


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_silent_member_is_expelled_at_the_end_of_its_session(profile):
    """Behaviour 32: it goes session.timeout.ms after the last heartbeat, to the millisecond."""
    groups = Groups(profile)
    groups.form("a")
    groups.until(3000)
    assert groups.heartbeat("a").error == "NONE"
    groups.until(12_999)
    assert (groups.removed(), groups.state) == ([], "Stable")
    groups.until(13_000)
    assert (groups.removed(), groups.state) == ([(13_000, "a")], "Empty")
    assert groups.heartbeat("a").error == "UNKNOWN_MEMBER_ID"


def test_a_parked_join_outlives_its_session():
    """Behaviour C4: who is parked in a join stays (32, too); its session begins with the answer."""
    groups = Groups()
    groups.form("a", "b")
    rejoin = groups.join("a")
    beat(groups, "b", 40_000)
    assert (rejoin.parked, groups.removed()) == (True, [])
    groups.join("b")
    assert rejoin.at_ms == 40_000
    groups.until(50_000)
    assert groups.removed() == [(50_000, "a"), (50_000, "b")]


def test_a_parked_sync_outlives_its_session():
    """Behaviour C4: who is parked in a sync stays (32, too); its session begins with the answer."""
    groups = Groups()
    groups.join("leader", session_timeout_ms=100_000)
    groups.join("b")
    groups.wait()
    groups.until(1000)
    follower = groups.sync("b")
    groups.until(50_000)
    assert (follower.parked, groups.removed()) == (True, [])
    groups.sync("leader", {"b": "t-0"})
    assert (follower.at_ms, follower.response.assignment) == (50_000, "t-0")
    groups.until(60_000)
    assert groups.removed() == [(60_000, "b")]


@pytest.mark.parametrize("profile", ["0.10.1", "1.0", "2.3", "2.4"])
def test_a_follower_that_never_syncs_stays_while_it_beats(profile):
    """Behaviour C4: nothing but heartbeats is asked of a member of a Stable group."""
    groups = Groups(profile)
    groups.form("a", "b")
    groups.join("a")
    groups.join("b")
    groups.sync("a")
    beat(groups, "ab", 300_000)
    assert (groups.state, groups.removed()) == ("Stable", [])
    assert groups.sync("b").error == "NONE"


@pytest.mark.parametrize(
    ("profile", "session_timeout_ms", "error"),
    [
        ("1.0", 5999, "INVALID_SESSION_TIMEOUT"),
        ("1.0", 6000, "NONE"),
        ("1.0", 300_000, "NONE"),
        ("1.0", 300_001, "INVALID_SESSION_TIMEOUT"),
        ("0.10.1", 300_001, "INVALID_SESSION_TIMEOUT"),
        ("2.3", 5999, "INVALID_SESSION_TIMEOUT"),
        ("2.3", 300_001, "NONE"),
        ("2.3", 1_800_000, "NONE"),
        ("2.3", 1_800_001, "INVALID_SESSION_TIMEOUT"),
        ("4.0", 1_800_000, "NONE"),
        ("4.0", 1_800_001, "INVALID_SESSION_TIMEOUT"),
    ],
)
def test_session_timeouts_have_bounds(profile, session_timeout_ms, error):
    """Behaviour 33: outside the broker's bounds a join is INVALID_SESSION_TIMEOUT, and no group."""
    groups = Groups(profile)
    asked = groups.join("a", session_timeout_ms=session_timeout_ms)
    groups.wait()
    assert asked.error == error
    assert (groups.state == "none") == (error != "NONE")


def test_the_bounds_are_the_brokers_settings():
    """Behaviour 33: an administrator may move them."""
    groups = Groups(group_min_session_timeout_ms=10, group_max_session_timeout_ms=20)
    errors = [groups.join(f"c{ms}", session_timeout_ms=ms).error for ms in (9, 10, 20, 21)]
    refused = "INVALID_SESSION_TIMEOUT"
    assert errors == [refused, "parked", "parked", refused]


# Heartbeats.


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_heartbeat_is_how_members_hear_of_a_rebalance(profile):
    """Behaviour 34: it is no failure: the coordinator says nothing until a member asks."""
    groups = Groups(profile)
    groups.form("a", "b")
    new = groups.join("c")
    assert [groups.heartbeat(each).error for each in "ab"] == ["REBALANCE_IN_PROGRESS"] * 2
    assert groups.members == ["a", "b", "c"]
    groups.join("a")
    groups.join("b")
    assert new.error == "NONE"


@pytest.mark.parametrize("profile", EVERY_PROFILE)
@pytest.mark.parametrize("state", STATES)
def test_heartbeats_are_answered_by_state(profile, state):
    """Behaviour 44: membership first, then the generation, then what the state says."""
    refused = {
        "a member": "UNKNOWN_MEMBER_ID",
        "a member, generation before": "UNKNOWN_MEMBER_ID",
        "a stranger": "UNKNOWN_MEMBER_ID",
    }
    known = {**refused, "a member": "NONE", "a member, generation before": "ILLEGAL_GENERATION"}
    rejoin = {**known, "a member": "REBALANCE_IN_PROGRESS"}
    expected = {
        "Empty": refused,
        "PreparingRebalance": rejoin,
        "AwaitingSync": known if profile == "4.0" else rejoin,
        "Stable": known,
    }
    if state == "AwaitingSync" and profile in ("0.10.1", "1.0"):
        rejoin["a member, generation before"] = "REBALANCE_IN_PROGRESS"
    assert answers(group_in(state, profile)) == expected[state]


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_heartbeats_while_a_rebalance_prepares_keep_members(profile):
    """Behaviour 44: REBALANCE_IN_PROGRESS restarts the session of who asked."""
    groups = group_in("PreparingRebalance", profile)
    groups.until(9000)
    assert groups.heartbeat("b").error == "REBALANCE_IN_PROGRESS"
    groups.until(18_999)
    assert groups.removed() == []
    groups.until(19_000)
    assert groups.removed() == [(19_000, "b")]


@pytest.mark.parametrize(
    ("profile", "gone_ms"),
    [("0.10.1", 10_000), ("1.0", 10_000), ("2.3", 10_000), ("2.4", 10_000), ("4.0", 19_000)],
)
def test_heartbeats_between_join_and_sync(profile, gone_ms):
    """Behaviour B11: they are NONE and keep the member from 2.6.1 on; before, they do neither."""
    groups = group_in("AwaitingSync", profile)
    groups.sync("b")
    groups.until(9000)
    answer = "NONE" if profile == "4.0" else "REBALANCE_IN_PROGRESS"
    assert groups.heartbeat("a").error == answer
    groups.until(19_000)
    assert groups.removed() == [(gone_ms, "a")]


@pytest.mark.parametrize("profile", ["0.10.1", "1.0"])
def test_the_generation_is_not_asked_for_between_join_and_sync(profile):
    """Behaviour C1: a known member always hears REBALANCE_IN_PROGRESS there."""
    groups = group_in("AwaitingSync", profile)
    for generation in (-1, 0, 1, 99):
        assert groups.heartbeat("a", generation_id=generation).error == "REBALANCE_IN_PROGRESS"
    assert groups.heartbeat("nobody").error == "UNKNOWN_MEMBER_ID"


@pytest.mark.parametrize("profile", ["0.10.1", "1.0"])
def test_a_leader_that_beats_and_never_syncs_is_expelled(profile):
    """Behaviour C1: its session ends, and the parked followers hear REBALANCE_IN_PROGRESS."""
    groups = group_in("AwaitingSync", profile)
    follower = groups.sync("b")
    beat(groups, "a", 12_000)
    assert groups.removed() == [(10_000, "a")]
    assert (follower.error, follower.at_ms) == ("REBALANCE_IN_PROGRESS", 10_000)
    assert groups.state == "PreparingRebalance"


@pytest.mark.parametrize(
    ("profile", "error"),
    [("0.10.1", "REBALANCE_IN_PROGRESS"), ("1.0", "REBALANCE_IN_PROGRESS")]
    + [(profile, "ILLEGAL_GENERATION") for profile in ("2.3", "2.4", "4.0")],
)
def test_a_wrong_generation_between_join_and_sync(profile, error):
    """Behaviour B11: it is ILLEGAL_GENERATION only from 2.3 on."""
    assert group_in("AwaitingSync", profile).heartbeat("a", generation_id=0).error == error


# What restarts a session, and what does not.


def ends_at(act, *, state="Stable", profile="1.0"):
    """Let b act at 4 s and say when its session is over."""
    groups = group_in(state, profile)
    groups.until(4000)
    act(groups)
    groups.until(30_000)
    return next(time_ms for time_ms, client in groups.removed() if client == "b")


def test_signs_of_life_restart_the_session():
    """Behaviour B3: a heartbeat, also in a rebalance; a commit that is taken; a sync; a rejoin."""
    assert ends_at(lambda groups: groups.heartbeat("b")) == 14_000
    assert ends_at(lambda groups: groups.heartbeat("b"), state="PreparingRebalance") == 14_000
    assert ends_at(lambda groups: groups.commit("b")) == 14_000
    assert ends_at(lambda groups: groups.commit("b"), state="PreparingRebalance") == 14_000
    assert ends_at(lambda groups: groups.sync("b")) == 14_000
    assert ends_at(lambda groups: groups.join("b"), state="PreparingRebalance") == 14_000


def test_other_requests_do_not_restart_the_session():
    """Behaviour B3: not so a refused commit, a fetch of offsets, a describe."""
    assert ends_at(lambda groups: groups.commit("b", generation_id=99)) == 10_000
    assert ends_at(lambda groups: groups.commit("b"), state="AwaitingSync") == 10_000
    assert ends_at(lambda groups: groups.heartbeat("b", generation_id=99)) == 10_000
    assert ends_at(lambda groups: groups.sync("b", generation_id=99)) == 10_000
    assert ends_at(lambda groups: groups.fetch(T0)) == 10_000
    assert ends_at(lambda groups: groups.describe()) == 10_000


def test_the_session_of_a_parked_member_begins_with_its_answer():
    """Behaviour B3: the follower's sync waits from 1 s to 5 s, so it is expelled at 15 s."""
    groups = group_in("AwaitingSync")
    groups.until(1000)
    parked = groups.sync("b")
    groups.until(5000)
    groups.sync("a")
    assert parked.at_ms == 5000
    groups.until(15_000)
    assert groups.removed() == [(15_000, "a"), (15_000, "b")]


# Ids that were given out.


@pytest.mark.parametrize("profile", ID_FIRST)
def test_an_id_that_is_not_used_expires(profile):
    """Behaviour B4: session.timeout.ms after it was given out; nobody may join with it then."""
    groups = Groups(profile)
    asked = groups.join_once("a")
    assert (asked.error, list(groups.group.pending_members)) == (
        "MEMBER_ID_REQUIRED",
        [groups.id("a")],
    )
    groups.until(9999)
    assert groups.group.pending_members
    groups.until(10_000)
    assert not groups.group.pending_members
    assert groups.join_once("a").error == "UNKNOWN_MEMBER_ID"


@pytest.mark.parametrize("profile", ID_FIRST)
def test_an_id_that_is_not_used_holds_a_rebalance_up(profile):
    """Behaviour B4: all members have joined, and yet they wait until it expires."""
    groups = Groups(profile)
    groups.form("a", "b")
    groups.until(1000)
    groups.join_once("ghost")
    groups.until(2000)
    parked = [groups.join("a"), groups.join("b")]
    groups.until(10_999)
    assert [each.error for each in parked] == ["parked", "parked"]
    groups.until(11_000)
    assert [(each.error, each.at_ms) for each in parked] == [("NONE", 11_000)] * 2


@pytest.mark.parametrize("profile", ID_FIRST)
@pytest.mark.parametrize("state", STATES)
def test_an_id_that_is_not_used_is_no_member(profile, state):
    """Behaviour B4: heartbeat, sync and commit are UNKNOWN_MEMBER_ID, whatever the state."""
    groups = group_in(state, profile)
    groups.join_once("ghost")
    generation = groups.group.generation_id
    named = {"member_id": groups.id("ghost"), "generation_id": generation}
    commit = "UNKNOWN_MEMBER_ID"
    if state == "AwaitingSync" and profile == "2.3":
        commit = "REBALANCE_IN_PROGRESS"
    assert groups.heartbeat("ghost", **named).error == "UNKNOWN_MEMBER_ID"
    assert groups.sync("ghost", **named).error == "UNKNOWN_MEMBER_ID"
    assert groups.commit("ghost", **named).error == commit


@pytest.mark.parametrize("profile", ID_FIRST)
def test_an_id_that_is_not_used_can_leave(profile):
    """Behaviour B4: the rebalance that waited for it ends at once."""
    groups = Groups(profile)
    generation = groups.form("a", "b")
    groups.join("a")
    groups.join_once("ghost")
    parked = groups.join("b")
    assert parked.parked
    groups.until(500)
    assert groups.leave("ghost").error == "NONE"
    assert (parked.error, parked.at_ms) == ("NONE", 500)
    assert (groups.state, groups.group.generation_id) == ("AwaitingSync", generation + 1)
    assert groups.leave("ghost").error == "UNKNOWN_MEMBER_ID"


# The ends of the join and the sync phase.


def test_a_member_that_does_not_poll_stops_the_world():
    """Behaviour 35: everybody waits for it as long as the longest of the rebalance timeouts."""
    groups = Groups()
    groups.join("a", rebalance_timeout_ms=20_000)
    groups.join("b", rebalance_timeout_ms=70_000)
    groups.wait()
    groups.assign("a", "b")
    groups.until(1000)
    new = groups.join("c", rebalance_timeout_ms=30_000)
    again = groups.join("a")
    beat(groups, "b", 70_999)
    assert (new.parked, again.parked) == (True, True)
    groups.until(71_000)
    assert [(each.error, each.at_ms) for each in (new, again)] == [("NONE", 71_000)] * 2
    assert groups.removed() == [(71_000, "b")]
    assert groups.members == ["a", "c"]


def test_nobody_calls_a_member():
    """Behaviour 35: it hears of the rebalance when it asks, however late."""
    groups = Groups()
    groups.form("a", "b", session_timeout_ms=200_000)
    groups.until(1000)
    groups.join("a")
    groups.until(61_000)
    groups.assign("a")
    assert groups.heartbeat("b").error == "UNKNOWN_MEMBER_ID"
    groups.join("b", member_id="")
    assert groups.heartbeat("a").error == "REBALANCE_IN_PROGRESS"


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_dynamic_members_that_are_late_are_dropped(profile):
    """Behaviour B6: the join phase lasts for the longest rebalance timeout, then goes without."""
    groups = Groups(profile)
    groups.form("a", "b", "c", session_timeout_ms=100_000, rebalance_timeout_ms=40_000)
    groups.until(5000)
    parked = groups.join("a", session_timeout_ms=100_000, rebalance_timeout_ms=40_000)
    groups.until(44_999)
    assert parked.parked
    groups.until(45_000)
    assert (parked.error, parked.at_ms) == ("NONE", 45_000)
    assert groups.removed() == [(45_000, "b"), (45_000, "c")]
    assert (groups.state, groups.members) == ("AwaitingSync", ["a"])


@pytest.mark.parametrize("profile", ID_FIRST)
def test_static_members_that_are_late_are_kept(profile):
    """Behaviour B6: a late static member is still of the group, and can be given partitions."""
    groups = Groups(profile)
    groups.instances.update(s="i1")
    groups.form("a", "s", "c", session_timeout_ms=100_000, rebalance_timeout_ms=40_000)
    parked = groups.join("a", session_timeout_ms=100_000, rebalance_timeout_ms=40_000)
    groups.until(40_000)
    assert groups.removed() == [(40_000, "c")]
    assert [each.member_id for each in parked.response.members] == [groups.id("a"), groups.id("s")]


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_rebalance_that_nobody_joins_ends_empty(profile):
    """Behaviour B6: nobody left, so the group is Empty when the time is up."""
    groups = Groups(profile)
    given = {"session_timeout_ms": 100_000, "rebalance_timeout_ms": 40_000}
    generation = groups.form("a", "b", **given)
    groups.until(1000)
    groups.join("a", **given)
    groups.leave("a")
    groups.until(40_999)
    assert groups.state == "PreparingRebalance"
    groups.until(41_000)
    assert groups.removed() == [(1000, "a"), (41_000, "b")]
    assert (groups.state, groups.group.generation_id) == ("Empty", generation + 1)


@pytest.mark.parametrize(
    ("profile", "limit_ms"),
    [(replace(KAFKA_4_0, pending_sync_expires=False), None), (KAFKA_4_0, 60_000)],
)
def test_a_member_that_never_syncs(profile, limit_ms):
    """Behaviour 45: without a limit the group hangs while it beats; from 2.8.1 there is one."""
    groups = group_in("AwaitingSync", profile)
    groups.until(1000)
    follower = groups.sync("b")
    beat(groups, "a", 59_999)
    assert (follower.parked, groups.removed()) == (True, [])
    beat(groups, "a", 600_000)
    if limit_ms is None:
        assert (follower.parked, groups.state) == (True, "AwaitingSync")
    else:
        assert (follower.error, follower.at_ms) == ("REBALANCE_IN_PROGRESS", limit_ms)
        assert groups.removed()[0] == (limit_ms, "a")


def test_the_sync_phase_has_the_rebalance_timeout():
    """Behaviour B7: who never synced is removed when it is over, the leader too."""
    groups = Groups("4.0")
    groups.form("a", "b", "c", rebalance_timeout_ms=30_000)
    groups.until(7000)
    for each in "abc":
        groups.join(each, rebalance_timeout_ms=30_000)
    followers = [groups.sync("b"), groups.sync("c")]
    beat(groups, "a", 36_999)
    assert groups.removed() == []
    groups.until(37_000)
    assert groups.removed() == [(37_000, "a")]
    assert [(each.error, each.at_ms) for each in followers] == [
        ("REBALANCE_IN_PROGRESS", 37_000)
    ] * 2
    assert groups.state == "PreparingRebalance"


def test_the_sync_phase_ends_in_a_stable_group_too():
    """Behaviour B7: a follower that beats but never synced is removed, and the rest rebalance."""
    groups = Groups("4.0")
    groups.form("a", "b", rebalance_timeout_ms=30_000, session_timeout_ms=100_000)
    groups.until(1000)
    for each in "ab":
        groups.join(each, rebalance_timeout_ms=30_000, session_timeout_ms=100_000)
    groups.sync("a")
    assert groups.state == "Stable"
    groups.until(30_999)
    assert groups.state == "Stable"
    groups.until(31_000)
    assert groups.removed() == [(31_000, "b")]
    assert groups.state == "PreparingRebalance"


def test_who_synced_is_safe():
    """Behaviour B7: when all have synced, nothing happens at the rebalance timeout."""
    groups = Groups("4.0")
    groups.form("a", "b", rebalance_timeout_ms=30_000, session_timeout_ms=100_000)
    groups.until(99_999)
    assert (groups.state, groups.removed()) == ("Stable", [])


def test_another_rebalance_waits_for_syncs_anew():
    """Behaviour B7: what was left of the last wait does not count against who has joined again."""
    groups = Groups("4.0")
    waits = {"rebalance_timeout_ms": 30_000, "session_timeout_ms": 100_000}
    groups.form("a", "b", **waits)
    for begins_ms, clients in ((1_000, "ab"), (11_000, "cab")):
        groups.until(begins_ms)
        for each in clients:
            groups.join(each, **waits)
    assert groups.state == "AwaitingSync"
    groups.until(40_999)
    assert (groups.state, groups.removed()) == ("AwaitingSync", [])
    groups.until(41_000)
    assert groups.removed() == [(41_000, "a"), (41_000, "b"), (41_000, "c")]


@pytest.mark.parametrize("profile", ID_FIRST)
def test_a_new_member_waits_five_minutes_at_most(profile):
    """Behaviour B11: from 2.1.1 a first join that is parked so long is UNKNOWN_MEMBER_ID."""
    groups = Groups(profile)
    given = {"session_timeout_ms": 1_800_000, "rebalance_timeout_ms": 1_000_000}
    groups.form("a", **given)
    new = groups.join("b", **given)
    groups.until(FIVE_MINUTES_MS - 1)
    assert new.parked
    groups.until(FIVE_MINUTES_MS)
    assert (new.error, new.at_ms) == ("UNKNOWN_MEMBER_ID", FIVE_MINUTES_MS)
    assert groups.members == ["a"]


@pytest.mark.parametrize("profile", ["0.10.1", "1.0", "2.3", "2.4"])
@pytest.mark.parametrize("sign", ["heartbeat", "commit"])
def test_a_sign_of_life_during_a_first_join_once_ended_nothing(profile, sign):
    """Up to 2.4 the member stays in the join, and its session begins with the answer."""
    groups = Groups(profile)
    given = {"session_timeout_ms": 300_000, "rebalance_timeout_ms": 400_000}
    groups.form("a", **given)
    new = groups.join("b")
    groups.until(1000)
    groups.ids["b"] = list(groups.group.members)[-1]  # as an administrator learns it
    getattr(groups, sign)("b", generation_id=1)
    groups.until(200_000)
    groups.heartbeat("a")
    groups.until(399_000)
    assert new.parked
    groups.join("a", **given)
    assert (new.error, new.at_ms) == ("NONE", 399_000)
    groups.until(409_000)
    assert groups.removed() == [(409_000, "b")]


@pytest.mark.parametrize("profile", ["0.10.1", "1.0"])
def test_a_new_member_once_waited_for_as_long_as_it_took(profile):
    """Behaviour B11: before 2.1.1 nothing bounds a first join but the rebalance itself."""
    groups = Groups(profile)
    given = {"session_timeout_ms": 300_000, "rebalance_timeout_ms": 1_000_000}
    groups.form("a", **given)
    new = groups.join("b", **given)
    for time_ms in range(200_000, 1_000_000, 200_000):
        groups.until(time_ms)
        groups.heartbeat("a")
    groups.until(999_999)
    assert new.parked
    groups.until(1_000_000)
    assert (new.error, groups.removed()) == ("NONE", [(1_000_000, "a")])
