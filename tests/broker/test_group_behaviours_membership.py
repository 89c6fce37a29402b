import pytest

from kafkalearn.broker.broker_config import BrokerConfig
from kafkalearn.config import configure
from kafkalearn.profile import KAFKA_0_10_1, PROFILES
from tests.broker.groups import EVERY_PROFILE, Groups, group_in

ID_FIRST = ["2.3", "2.4", "4.0"]


def told(asked):
    """Give (error, generation, protocol, whom the leader is told of) of a join's answer."""
    answer = asked.response
    return (
        answer.error_code.name,
        answer.generation_id,
        answer.protocol_name,
        {each.member_id: each.metadata for each in answer.members},
    )


# Leaders and followers.


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_only_the_leader_hears_who_is_in_the_group(profile):
    """Behaviour 39: it gets everybody's metadata, followers get nobody's."""
    groups = Groups(profile)
    groups.form("a", "b", offers={"range": "subscribed"})
    generation = groups.group.generation_id + 1
    leader, follower = groups.join("a"), groups.join("b")
    everybody = {groups.id("a"): "a", groups.id("b"): "b"}
    assert told(leader) == ("NONE", generation, "range", everybody)
    assert told(follower) == ("NONE", generation, "range", {})
    assert {leader.response.leader, follower.response.leader} == {groups.id("a")}


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_whom_the_leader_forgets_gets_nothing(profile):
    """Behaviour 39: the leader assigns; a member that it does not name has an empty assignment."""
    groups = group_in("AwaitingSync", profile)
    follower = groups.sync("b", {"b": "a follower's word does not count"})
    assert follower.parked
    leader = groups.sync("a", {"a": "t-0 t-1"})
    assert (leader.error, leader.response.assignment) == ("NONE", "t-0 t-1")
    assert (follower.error, follower.response.assignment) == ("NONE", "")


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_members_without_partitions_are_members(profile):
    """Behaviour 60: with fewer partitions than members some have nothing, and go on beating."""
    groups = Groups(profile)
    groups.form("a", "b")
    groups.join("a")
    groups.join("b")
    groups.sync("a", {"a": "t-0", "b": ""})
    assert groups.sync("b").response.assignment == ""
    groups.until(9000)
    assert groups.heartbeat("b").error == "NONE"
    assert groups.members == ["a", "b"]


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_the_oldest_member_follows_the_leader(profile):
    """Behaviour C13: Kafka takes whichever its hash map yields first; ours is the oldest left."""
    groups = Groups(profile)
    groups.form("a", "b", "c")
    groups.leave("a")
    groups.join("c")
    leader = groups.join("b").response.leader
    assert leader == groups.id("b")


# Protocols.


def vote(*offers):
    """Let members with these offers form a group, and give the chosen protocol."""
    groups = Groups()
    joins = [
        groups.join(f"c{index}", offers=dict.fromkeys(each.split(), ""))
        for index, each in enumerate(offers)
    ]
    groups.wait()
    (chosen,) = {each.response.protocol_name for each in joins}
    return chosen


def test_the_protocol_is_chosen_by_votes():
    """Behaviour 40: each votes for the first of its list that all support; most votes win."""
    assert vote("range sticky") == "range"
    assert vote("range sticky", "sticky range", "sticky range") == "sticky"
    assert vote("range sticky", "sticky", "range sticky") == "sticky"


def test_only_what_all_support_is_voted_for():
    """Behaviour B10: two votes for a protocol that the third lacks do not count."""
    assert vote("x range sticky", "x sticky range", "sticky range") == "sticky"


def test_a_tie_goes_to_the_one_voted_for_first():
    """Behaviour C13: Kafka's answer depends on hash order; ours does not."""
    assert vote("range sticky", "sticky range") == "range"
    assert vote("sticky range", "range sticky") == "sticky"


@pytest.mark.parametrize("profile", EVERY_PROFILE)
@pytest.mark.parametrize("state", ["PreparingRebalance", "AwaitingSync", "Stable"])
@pytest.mark.parametrize("wrong", [{"offers": {"sticky": ""}}, {"protocol_type": "connect"}])
def test_who_has_nothing_in_common_is_refused(profile, state, wrong):
    """Behaviour 40: the joiner alone gets INCONSISTENT_GROUP_PROTOCOL, and the group goes on."""
    groups = group_in(state, profile)
    before = (groups.state, groups.group.generation_id, groups.members)
    assert groups.join("c", **wrong).error == "INCONSISTENT_GROUP_PROTOCOL"
    assert (groups.state, groups.group.generation_id, groups.members) == before


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_member_that_is_refused_keeps_its_place(profile):
    """Behaviour B10: even a parked one stays parked when its next join is refused."""
    groups = group_in("PreparingRebalance", profile)
    parked = groups.join("a")
    assert groups.join("a", offers={"sticky": ""}).error == "INCONSISTENT_GROUP_PROTOCOL"
    assert groups.join("a", session_timeout_ms=1).error == "INVALID_SESSION_TIMEOUT"
    groups.join("b")
    assert parked.error == "NONE"


@pytest.mark.parametrize("profile", ["1.0", "2.3", "2.4"])
@pytest.mark.parametrize("wrong", [{"offers": {}}, {"protocol_type": ""}])
def test_a_refused_first_join_leaves_an_empty_group(profile, wrong):
    """Behaviour C10: it is there until the next check, and so a commit of generation 0 tells."""
    groups = Groups(profile)
    assert groups.join("a", **wrong).error == "INCONSISTENT_GROUP_PROTOCOL"
    assert (groups.state, groups.describe().group_state) == ("Empty", "Empty")
    groups.until(599_999)
    assert groups.state == "Empty"
    groups.until(600_000)
    assert (groups.state, groups.describe().group_state) == ("none", "Dead")


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_join_with_an_unknown_id_leaves_nothing(profile):
    """Behaviour C10: who was a member of a group that is gone does not bring it back."""
    groups = Groups(profile)
    assert groups.join("a", member_id="old").error == "UNKNOWN_MEMBER_ID"
    assert groups.state == "none"


# Joins by state.


def rejoin(profile, state, client, **fields):
    """Let a member join again, and give the error, the new state, and the generations gone by."""
    groups = group_in(state, profile)
    before = groups.group.generation_id
    asked = groups.join(client, **fields)
    return asked.error, groups.state, groups.group.generation_id - before


@pytest.mark.parametrize("profile", EVERY_PROFILE)
@pytest.mark.parametrize(
    ("state", "client", "fields", "result"),
    [
        ("Stable", "a", {}, ("parked", "PreparingRebalance", 0)),
        ("Stable", "b", {}, ("NONE", "Stable", 0)),
        ("Stable", "b", {"offers": {"range": "more"}}, ("parked", "PreparingRebalance", 0)),
        ("AwaitingSync", "a", {}, ("NONE", "AwaitingSync", 0)),
        ("AwaitingSync", "b", {}, ("NONE", "AwaitingSync", 0)),
        ("AwaitingSync", "b", {"offers": {"range": "more"}}, ("parked", "PreparingRebalance", 0)),
        ("PreparingRebalance", "a", {}, ("parked", "PreparingRebalance", 0)),
        ("PreparingRebalance", "b", {}, ("NONE", "AwaitingSync", 1)),
        ("Stable", "nobody", {"member_id": "x"}, ("UNKNOWN_MEMBER_ID", "Stable", 0)),
        ("AwaitingSync", "nobody", {"member_id": "x"}, ("UNKNOWN_MEMBER_ID", "AwaitingSync", 0)),
        ("Empty", "nobody", {"member_id": "x"}, ("UNKNOWN_MEMBER_ID", "Empty", 0)),
        ("Empty", "a", {}, ("UNKNOWN_MEMBER_ID", "Empty", 0)),
    ],
)
def test_a_join_by_state(profile, state, client, fields, result):
    """Behaviour 42: the leader and changed metadata rebalance; the same again is told the same."""
    assert rejoin(profile, state, client, **fields) == result


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_lost_answer_is_given_again(profile):
    """Behaviour B8: between join and sync the same metadata get the same answer again."""
    groups = group_in("AwaitingSync", profile)
    everybody = {groups.id("a"): "a", groups.id("b"): "b"}
    generation = groups.group.generation_id
    assert told(groups.join("a")) == ("NONE", generation, "range", everybody)
    assert told(groups.join("b")) == ("NONE", generation, "range", {})
    assert groups.group.generation_id == generation


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_changed_metadata_sends_parked_syncs_back(profile):
    """Behaviour B8: a follower that offers something else makes the others join again."""
    groups = group_in("AwaitingSync", profile)
    parked = groups.sync("b")
    assert groups.join("a", offers={"range": "more"}).parked
    assert parked.error == "REBALANCE_IN_PROGRESS"
    assert groups.join("b").error == "NONE"


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_follower_may_change_its_mind_in_a_stable_group(profile):
    """Behaviour B8: the same metadata are told the current generation; others make a new one."""
    groups = group_in("Stable", profile)
    generation = groups.group.generation_id
    assert told(groups.join("b")) == ("NONE", generation, "range", {})
    assert groups.join("b", offers={"range": "b", "sticky": "b"}).parked
    assert groups.join("a").response.generation_id == generation + 1


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_leader_that_joins_again_and_again_never_lets_the_group_rest(profile):
    """Behaviour 49: each join of the leader in a Stable group is a rebalance."""
    groups = Groups(profile)
    first = groups.form("a", "b")
    for generation in range(first + 1, first + 6):
        assert groups.join("a").parked
        assert groups.heartbeat("b").error == "REBALANCE_IN_PROGRESS"
        groups.join("b")
        groups.assign("a", "b")
        assert groups.group.generation_id == generation


# Syncs by state.


@pytest.mark.parametrize("profile", EVERY_PROFILE)
@pytest.mark.parametrize(
    ("state", "error"),
    [
        ("Empty", "UNKNOWN_MEMBER_ID"),
        ("PreparingRebalance", "REBALANCE_IN_PROGRESS"),
        ("AwaitingSync", "parked"),
        ("Stable", "NONE"),
    ],
)
def test_a_sync_by_state(profile, state, error):
    """Behaviour 43: a follower waits for the leader's; in a Stable group it is answered at once."""
    groups = group_in(state, profile)
    generation = groups.generations["b"]
    assert groups.sync("b").error == error
    refused = "UNKNOWN_MEMBER_ID" if state == "Empty" else "ILLEGAL_GENERATION"
    assert groups.sync("b", generation_id=generation + 1).error == refused
    stranger = groups.sync("nobody", member_id="x", generation_id=generation)
    assert stranger.error == "UNKNOWN_MEMBER_ID"


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_sync_in_a_stable_group_tells_what_was_assigned(profile):
    """Behaviour 43: whoever asks again gets its own assignment, the leader's new one is ignored."""
    groups = group_in("Stable", profile)
    assert groups.sync("a", {"a": "everything"}).response.assignment == "of a"
    assert groups.sync("b").response.assignment == "of b"


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_parked_syncs_are_answered_with_the_leaders(profile):
    """Behaviour 43: those that wait, and the leader, are answered in the same moment."""
    groups = group_in("AwaitingSync", profile)
    follower = groups.sync("b")
    groups.until(2500)
    leader = groups.sync("a", {"a": "t-0", "b": "t-1"})
    assert [(each.at_ms, each.response.assignment) for each in (leader, follower)] == [
        (2500, "t-0"),
        (2500, "t-1"),
    ]
    assert groups.state == "Stable"


# Repeated requests.


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_repeated_join_takes_the_place_of_the_parked_one(profile):
    """Behaviour C5: only the last one is answered, and its metadata count."""
    groups = group_in("PreparingRebalance", profile)
    second = groups.join("a", offers={"range": "second"})
    third = groups.join("a", offers={"range": "third"})
    groups.join("b")
    assert [second.error, third.error] == ["parked", "NONE"]
    assert {each.metadata for each in third.response.members} == {"third", "b"}
    groups.wait(1_000_000)
    assert second.parked


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_repeated_sync_takes_the_place_of_the_parked_one(profile):
    """Behaviour C5: only the last one is answered; a repeat that is refused changes nothing."""
    groups = group_in("AwaitingSync", profile)
    first, second = groups.sync("b"), groups.sync("b")
    assert groups.sync("b", generation_id=99).error == "ILLEGAL_GENERATION"
    groups.sync("a")
    assert [first.error, second.error] == ["parked", "NONE"]


# Timeouts.


def test_the_rebalance_timeout_is_fixed_when_the_rebalance_starts():
    """Behaviour C6: who joins later with a longer one does not make this rebalance longer."""
    groups = Groups()
    given = {"session_timeout_ms": 100_000}
    groups.form("a", "b", rebalance_timeout_ms=20_000, **given)
    groups.until(1000)
    parked = groups.join("a", **given)
    groups.until(2000)
    groups.join("c", rebalance_timeout_ms=90_000, **given)
    groups.until(21_000)
    assert (parked.error, parked.at_ms) == ("NONE", 21_000)
    groups.assign("a", "c")
    groups.join("a", **given)
    groups.until(111_000)
    assert groups.removed() == [(21_000, "b"), (111_000, "c")]


@pytest.mark.parametrize(
    ("profile", "session_ms", "rebalance_ms"),
    [("1.0", 10_000, 20_000), ("2.4", 10_000, 20_000), ("4.0", 40_000, 90_000)],
)
def test_timeouts_of_a_rejoin(profile, session_ms, rebalance_ms):
    """Behaviour C6: up to 3.3 a member keeps the timeouts that it first came with."""
    groups = Groups(profile)
    groups.form("a", rebalance_timeout_ms=20_000)
    groups.join("a", session_timeout_ms=40_000, rebalance_timeout_ms=90_000)
    assert groups.group.rebalance_timeout_ms == rebalance_ms
    groups.sync("a")
    groups.until(200_000)
    assert groups.removed() == [(session_ms, "a")]


# Leaving.


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_leaving_rebalances_at_once(profile):
    """Behaviour 50: the others hear of it with their next heartbeat."""
    groups = group_in("Stable", profile)
    groups.until(3000)
    assert groups.leave("b").error == "NONE"
    assert groups.removed() == [(3000, "b")]
    assert groups.state == "PreparingRebalance"
    assert groups.heartbeat("a").error == "REBALANCE_IN_PROGRESS"
    assert groups.join("a").error == "NONE"


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_who_is_killed_is_missed_only_when_its_session_ends(profile):
    """Behaviour 50: without a LeaveGroup the others wait out the session timeout."""
    groups = group_in("Stable", profile)
    groups.until(9000)
    assert groups.heartbeat("a").error == "NONE"
    groups.until(9999)
    assert groups.heartbeat("a").error == "NONE"
    groups.until(10_000)
    assert groups.removed() == [(10_000, "b")]
    assert groups.heartbeat("a").error == "REBALANCE_IN_PROGRESS"


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_who_is_no_member_cannot_leave(profile):
    """Behaviour 50: UNKNOWN_MEMBER_ID, also where there is no group."""
    groups = Groups(profile)
    assert groups.leave("a").error == "UNKNOWN_MEMBER_ID"
    groups.form("a")
    assert [groups.leave("a").error, groups.leave("a").error] == ["NONE", "UNKNOWN_MEMBER_ID"]


@pytest.mark.parametrize("profile", ID_FIRST)
def test_a_parked_join_that_others_let_leave(profile):
    """Behaviour B10: it is answered UNKNOWN_MEMBER_ID when somebody else's LeaveGroup names it."""
    groups = group_in("Stable", profile)
    parked = groups.join("a")
    groups.until(700)
    assert groups.leave("a").error == "NONE"
    assert (parked.error, parked.at_ms) == ("UNKNOWN_MEMBER_ID", 700)


# The initial delay.


def answered_at(joins, profile="1.0", **settings):
    """Let clients join at these times and give when their joins were answered."""
    groups = Groups(profile, **settings)
    asked = []
    for time_ms in joins:
        groups.until(time_ms)
        asked.append(groups.join(f"c{time_ms}", rebalance_timeout_ms=7000))
    groups.wait(20_000)
    return [each.at_ms for each in asked]


DELAYED = {"group_initial_rebalance_delay_ms": 3000}


@pytest.mark.parametrize("profile", ["1.0", "2.3", "2.4", "4.0"])
@pytest.mark.parametrize(
    ("joins", "answers_ms"),
    [
        ([0], 3000),
        ([500], 3500),
        ([0, 2000], 6000),
        ([0, 2999], 6000),
        ([0, 2400, 4800], 7000),
        ([0, 2400, 4800, 6500], 7000),
    ],
)
def test_the_initial_delay(profile, joins, answers_ms):
    """Behaviour 47: alone, 3000 ms; with others on, in steps, up to the rebalance timeout."""
    assert answered_at(joins, profile, **DELAYED) == [answers_ms] * len(joins)


@pytest.mark.parametrize("profile", PROFILES.values())
def test_the_initial_delay_is_3000_ms_from_0_11_on(profile):
    """Behaviour 47: that is the broker's default, and 0.10.1 knows no delay."""
    delay_ms = 0 if profile is KAFKA_0_10_1 else 3000
    config = configure(BrokerConfig, profile.version, given={})
    assert config.group_initial_rebalance_delay_ms == delay_ms


@pytest.mark.parametrize("joins", [[0], [0, 2000]])
def test_0_10_1_answers_a_first_join_at_once(joins):
    """Behaviour 47: there the first joiner leads a group of its own until it hears of others."""
    assert answered_at(joins, "0.10.1", **DELAYED)[0] == 0


@pytest.mark.parametrize(
    ("profile", "second_ms"), [("1.0", 3000), ("2.3", 3000), ("2.4", 3000), ("4.0", 6000)]
)
def test_the_initial_delay_of_a_group_with_a_past(profile, second_ms):
    """Behaviour B5: up to 3.9 newcomers extend it at generation 0 only, in 4.0 in any Empty one."""
    groups = Groups(profile, **DELAYED)
    groups.join("old")
    groups.wait(3000)
    groups.leave("old")
    start_ms = groups.now_ms
    first = groups.join("a")
    groups.wait(2000)
    second = groups.join("b")
    groups.wait(10_000)
    assert [each.at_ms - start_ms for each in (first, second)] == [second_ms, second_ms]


@pytest.mark.parametrize("profile", ["1.0", "2.3", "2.4"])
def test_a_group_with_a_past_waits_once(profile):
    """Behaviour C7: it is delayed whenever it comes from Empty, but not extended."""
    groups = Groups(profile, **DELAYED)
    groups.join("old")
    groups.wait(3000)
    groups.leave("old")
    assert groups.state == "Empty"
    start_ms = groups.now_ms
    alone = groups.join("a")
    groups.wait(2999)
    assert alone.parked
    groups.wait(1)
    assert alone.at_ms == start_ms + 3000


@pytest.mark.parametrize("profile", ["1.0", "2.3", "2.4", "4.0"])
def test_only_a_group_that_was_empty_is_delayed(profile):
    """Behaviour C7: a rebalance of a group with members ends as soon as all have joined."""
    groups = Groups(profile, **DELAYED)
    groups.join("a")
    groups.wait(3000)
    groups.assign("a")
    new = groups.join("b")
    groups.join("a")
    assert (new.error, new.at_ms) == ("NONE", 3000)


# Generations.


@pytest.mark.parametrize("profile", ["1.0", "2.3", "2.4"])
def test_generations_begin_again_when_the_group_was_dropped(profile):
    """Behaviour C8: an Empty group without offsets goes at the next check, every 10 minutes."""
    groups = Groups(profile)
    groups.form("a")
    groups.leave("a")
    assert groups.group.generation_id == 2
    groups.until(599_999)
    assert groups.state == "Empty"
    groups.until(600_000)
    assert groups.state == "none"
    assert groups.join("b").parked
    groups.wait()
    assert groups.group.generation_id == 1


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_generations_go_on_while_the_group_is_kept(profile):
    """Behaviour C8: becoming Empty counts one up, and offsets keep the group and its count."""
    groups = Groups(profile)
    groups.form("a")
    groups.commit("a")
    groups.leave("a")
    groups.until(700_000)
    assert (groups.state, groups.group.generation_id) == ("Empty", 2)
    assert groups.form("b") == 3


def test_a_member_that_was_dropped_leaves_no_timer_behind():
    """Behaviour C12: brokers up to 2.1 rebalance once more when its session ends; this is left out.

    Differs from Kafka: there a second rebalance would begin at 50 s.
    """
    groups = Groups()
    given = {"rebalance_timeout_ms": 40_000}
    groups.form("a", "b", session_timeout_ms=45_000, **given)
    groups.until(5000)
    groups.heartbeat("b")
    groups.join("a")
    groups.until(45_000)
    assert groups.removed() == [(45_000, "b")]
    groups.assign("a")
    groups.until(60_000)
    assert groups.state == "Stable"
