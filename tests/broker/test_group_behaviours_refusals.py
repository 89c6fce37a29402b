"""What no client of a release could send is refused by name; what none should send does no harm."""

import pytest

from kafkalearn.errors import InvalidRequestError
from kafkalearn.protocol.group import MemberIdentity
from tests.broker.groups import Groups, group_in

DYNAMIC = ["0.10.1", "1.0"]


def refused(groups, ask):
    """Let something be asked that must be refused, and give the sentence; nothing changes."""
    before = (groups.state, groups.now_ms, len(groups.events))
    with pytest.raises(InvalidRequestError) as error:
        ask()
    assert (groups.state, groups.now_ms, len(groups.events)) == before
    return str(error.value)


@pytest.mark.parametrize("profile", DYNAMIC)
@pytest.mark.parametrize("kind", ["join", "sync", "heartbeat", "commit"])
def test_group_instance_id_is_unknown_before_2_3(profile, kind):
    """The sentence names the profile, the field, its KIP and the release that has it."""
    groups = group_in("Stable", profile)
    sentence = refused(groups, lambda: getattr(groups, kind)("a", group_instance_id="one"))
    field = "group_instance_id (KIP-345, from 2.3)"
    assert sentence == f"profile {profile} does not know {field}: choose a newer one"


@pytest.mark.parametrize("profile", [*DYNAMIC, "2.3"])
def test_a_leave_group_names_no_instance_before_2_4(profile):
    """LeaveGroup got instances together with several members."""
    groups = group_in("Stable", profile)
    members = (MemberIdentity(groups.id("a"), "one"),)
    assert "more than one member id (KIP-345, from 2.4)" in refused(
        groups, lambda: groups.leave(members=members)
    )


@pytest.mark.parametrize("profile", DYNAMIC)
def test_delete_groups_is_unknown_before_1_1(profile):
    """Nobody could ask for it."""
    groups = group_in("Empty", profile)
    sentence = refused(groups, groups.delete)
    request = "DeleteGroups (KIP-229, from 1.1)"
    assert sentence == f"profile {profile} does not know {request}: choose a newer one"


@pytest.mark.parametrize("profile", [*DYNAMIC, "2.3"])
@pytest.mark.parametrize("clients", ["ab", ""])
def test_a_leave_group_names_one_member_before_2_4(profile, clients):
    """Neither two nor none."""
    groups = group_in("Stable", profile)
    sentence = refused(groups, lambda: groups.leave(*clients))
    request = "a LeaveGroup that names more than one member id (KIP-345, from 2.4)"
    assert sentence == f"profile {profile} does not know {request}: choose a newer one"


@pytest.mark.parametrize("profile", [*DYNAMIC, "2.3", "2.4"])
def test_lists_are_not_filtered_before_2_6(profile):
    """states_filter is refused, while a plain list is answered."""
    groups = group_in("Stable", profile)
    sentence = refused(groups, lambda: groups.list("Stable"))
    field = "states_filter (KIP-518, from 2.6)"
    assert sentence == f"profile {profile} does not know {field}: choose a newer one"
    assert [each.group_id for each in groups.list().response.groups] == ["g"]


@pytest.mark.parametrize("profile", [*DYNAMIC, "2.3", "2.4"])
@pytest.mark.parametrize("named", [{"protocol_name": "range"}, {"protocol_type": "consumer"}])
def test_a_sync_names_no_protocol_before_2_5(profile, named):
    """Neither its name nor its type is taken in a SyncGroup."""
    groups = group_in("AwaitingSync", profile)
    sentence = refused(groups, lambda: groups.sync("a", **named))
    request = "a SyncGroup that names its protocol (KIP-559, from 2.5)"
    assert sentence == f"profile {profile} does not know {request}: choose a newer one"


def test_from_2_5_a_sync_that_names_another_protocol_is_refused():
    """What it names has to be what the group agreed on; leaving it out is taken."""
    groups = group_in("AwaitingSync", "4.0")
    wrong = [{"protocol_name": "sticky"}, {"protocol_type": "connect"}]
    errors = [groups.sync("a", **each).error for each in wrong]
    assert errors == ["INCONSISTENT_GROUP_PROTOCOL"] * 2
    assert groups.state == "AwaitingSync"
    right = groups.sync("a", protocol_name="range", protocol_type="consumer")
    assert (right.error, right.response.protocol_name) == ("NONE", "range")
    assert right.response.protocol_type == "consumer"


@pytest.mark.parametrize(
    "named", [{}, {"protocol_name": "range"}, {"protocol_name": "sticky"}], ids=str
)
@pytest.mark.parametrize("was_empty", [False, True])
def test_a_protocol_named_before_the_group_has_one_contradicts_nothing(named, was_empty):
    """In a first rebalance, or the first after Empty, who syncs early has to join again."""
    groups = Groups("4.0", group_initial_rebalance_delay_ms=3000)
    if was_empty:
        groups.join("old")
        groups.wait(3000)
        groups.leave("old")
    groups.join("a")
    generation = groups.group.generation_id
    early = groups.sync("a", generation_id=generation, protocol_type="consumer", **named)
    assert (early.error, generation) == ("REBALANCE_IN_PROGRESS", 2 if was_empty else 0)
    other = groups.sync("a", generation_id=generation, protocol_type="connect", **named)
    assert other.error == "INCONSISTENT_GROUP_PROTOCOL"


def test_lists_are_filtered_by_state():
    """By the names that the release itself tells."""
    groups = group_in("AwaitingSync", "4.0")
    groups.commit(group_id="stored")

    def listed(*states):
        return {each.group_id: each.group_state for each in groups.list(*states).response.groups}

    assert listed() == {"g": "CompletingRebalance", "stored": "Empty"}
    assert listed("Empty") == {"stored": "Empty"}
    assert listed("Empty", "CompletingRebalance") == listed()
    assert listed("Stable") == {}


@pytest.mark.parametrize("state", ["stable", "STABLE", " Stable ", "Nonsense", ""])
def test_a_state_is_compared_without_its_case(state):
    """Nor does space around it matter; what is no state matches nothing."""
    groups = group_in("Stable", "4.0")
    found = [each.group_state for each in groups.list(state).response.groups]
    assert found == (["Stable"] if state.strip().lower() == "stable" else [])


def test_a_negative_rebalance_timeout_is_zero():
    """Kafka waits for nobody then: who has not joined at once is dropped."""
    groups = Groups()
    groups.form("a", rebalance_timeout_ms=-1)
    new = groups.join("b", rebalance_timeout_ms=-1)
    groups.wait()
    assert (new.error, groups.members) == ("NONE", ["b"])


@pytest.mark.parametrize("profile", ["2.3", "2.4", "4.0"])
def test_an_id_that_was_given_out_belongs_to_no_instance(profile):
    """Kafka's coordinator breaks off such a join, so that the client sees an unknown error."""
    groups = Groups(profile)
    groups.instances.update(s="one")
    groups.form("b", "s")
    groups.join_once("new")
    assert groups.join_once("new", group_instance_id="one").error == "UNKNOWN_SERVER_ERROR"
    assert groups.members == ["b", "s"]
