import pytest

from kafkalearn.broker.group_metadata import GroupMetadata
from kafkalearn.broker.group_state import VALID_PREVIOUS_STATES, GroupState
from kafkalearn.broker.member_metadata import MemberMetadata
from kafkalearn.errors import Errors, IllegalStateError, KafkaError
from kafkalearn.protocol.group import JoinGroupRequestProtocol, JoinGroupResponseMember

S = GroupState
ALLOWED = {
    (S.EMPTY, S.PREPARING_REBALANCE),
    (S.EMPTY, S.DEAD),
    (S.PREPARING_REBALANCE, S.AWAITING_SYNC),
    (S.PREPARING_REBALANCE, S.EMPTY),
    (S.PREPARING_REBALANCE, S.DEAD),
    (S.AWAITING_SYNC, S.STABLE),
    (S.AWAITING_SYNC, S.PREPARING_REBALANCE),
    (S.AWAITING_SYNC, S.DEAD),
    (S.STABLE, S.PREPARING_REBALANCE),
    (S.STABLE, S.DEAD),
    (S.DEAD, S.DEAD),
}
MOVES = [(before, after) for before in S for after in S]


def member(member_id, *offers, instance=None, rebalance_timeout_ms=60_000):
    """Make a member that offers these protocols, its id being its metadata."""
    return MemberMetadata(
        member_id=member_id,
        group_instance_id=instance,
        client_id=member_id,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=rebalance_timeout_ms,
        supported_protocols=tuple(
            JoinGroupRequestProtocol(name, member_id) for name in offers or ("range",)
        ),
    )


def group_of(*members):
    """Make a group that these joined, in this order."""
    group = GroupMetadata("g", 0)
    group.protocol_type = "consumer"
    for each in members:
        group.add(each)
    return group


# States.


def test_the_table_of_moves_is_kafkas():
    """A move that is not listed here is refused: 11 of 25 are legal."""
    table = {
        (before, after) for after, befores in VALID_PREVIOUS_STATES.items() for before in befores
    }
    assert table == ALLOWED
    assert set(VALID_PREVIOUS_STATES) == set(S)


@pytest.mark.parametrize(("before", "after"), MOVES, ids=lambda state: state.value)
def test_each_move_is_made_or_refused(before, after):
    """A legal one notes the time; an illegal one says what may come before, and changes nothing."""
    group = GroupMetadata("g", 100)
    group.state = before
    if (before, after) in ALLOWED:
        group.transition_to(after, 250)
        assert (group.state, group.state_since_ms) == (after, 250)
        return
    with pytest.raises(IllegalStateError) as error:
        group.transition_to(after, 250)
    sentence = str(error.value)
    assert f"group g cannot go from {before.value} to {after.value}" in sentence
    for each in VALID_PREVIOUS_STATES[after]:
        assert each.value in sentence.split("only")[1]
    assert (group.state, group.state_since_ms) == (before, 100)


@pytest.mark.parametrize("state", S, ids=lambda state: state.value)
def test_a_state_is_found_by_its_name(state):
    """It is called as in 1.0."""
    assert GroupState.of(state.value) is state


def test_the_newer_name_is_the_same_state():
    """CompletingRebalance is AwaitingSync."""
    assert GroupState.of("CompletingRebalance") is S.AWAITING_SYNC


@pytest.mark.parametrize("name", ["", "stable", "Rebalancing", "AWAITING_SYNC"])
def test_another_name_is_refused(name):
    """The sentence names it, and those that there are."""
    with pytest.raises(KafkaError) as error:
        GroupState.of(name)
    assert str(error.value) == (
        f"{name!r} is no state of a group: Empty, PreparingRebalance, AwaitingSync, Stable, Dead "
        "or CompletingRebalance is allowed"
    )


# Generations.


def test_the_next_generation_of_members_awaits_their_syncs():
    """One more, the chosen protocol, and AwaitingSync."""
    group = group_of(member("a", "range", "sticky"), member("b", "sticky"))
    group.transition_to(S.PREPARING_REBALANCE, 5)
    group.init_next_generation(9)
    found = (group.generation_id, group.protocol_name, group.state, group.state_since_ms)
    assert found == (1, "sticky", S.AWAITING_SYNC, 9)


def test_the_next_generation_of_nobody_is_empty():
    """One more, and no protocol."""
    group = group_of()
    group.transition_to(S.PREPARING_REBALANCE, 5)
    group.protocol_name = "range"
    group.init_next_generation(9)
    assert (group.generation_id, group.protocol_name, group.state) == (1, None, S.EMPTY)


@pytest.mark.parametrize("state", [S.EMPTY, S.AWAITING_SYNC, S.STABLE, S.DEAD])
def test_no_generation_begins_outside_a_rebalance(state):
    """A generation follows a join phase and nothing else."""
    group = group_of(member("a"))
    group.state = state
    with pytest.raises(IllegalStateError):
        group.init_next_generation(9)


# Members.


def test_the_first_member_leads_until_it_goes():
    """Then the oldest of the others does, and in the end nobody."""
    a, b, c = member("a"), member("b"), member("c")
    group = group_of(a, b, c)
    assert group.leader_id == "a"
    group.remove(b)
    assert group.leader_id == "a"
    group.remove(a)
    assert group.leader_id == "c"
    group.remove(c)
    assert (group.leader_id, group.members) == (None, {})


def test_a_restarted_instance_keeps_its_place():
    """New id, same position, same lead, and the old id is gone."""
    a, b = member("a", instance="one"), member("b")
    group = group_of(a, b)
    group.replace_static_member(a, "a2")
    assert (list(group.members), group.leader_id) == (["a2", "b"], "a2")
    assert group.static_members == {"one": "a2"}
    assert (a.member_id, a.is_static_member, b.is_static_member) == ("a2", True, False)


def test_who_has_joined_is_counted():
    """All are waited for, and ids that were given out, too."""
    a, b = member("a"), member("b")
    group = group_of(a, b)
    first, second = print, repr  # anything that can be called
    assert group.not_yet_rejoined_members() == [a, b]
    assert group.park_join(a, first) is None
    assert group.park_join(a, second) is first
    assert (group.not_yet_rejoined_members(), group.has_all_members_joined()) == ([b], False)
    group.park_join(b, first)
    assert group.has_all_members_joined()
    group.pending_members["c"] = None
    assert not group.has_all_members_joined()
    del group.pending_members["c"]
    assert group.park_join(a, None) is second
    assert not group.has_all_members_joined()
    group.remove(a)
    assert group.has_all_members_joined()


def test_nobody_has_joined_an_empty_group_and_nobody_is_missing():
    """So a rebalance that lost its last member ends."""
    group = group_of()
    assert group.has_all_members_joined()
    assert (group.not_yet_rejoined_members(), group.rebalance_timeout_ms) == ([], 0)


def test_a_leader_is_elected_among_those_who_joined():
    """The leader stays if it joined; else the oldest that did; nobody if none did."""
    a, b, c = member("a", instance="one"), member("b"), member("c")
    group = group_of(a, b, c)
    assert not group.maybe_elect_new_joined_leader()
    group.park_join(c, print)
    assert group.maybe_elect_new_joined_leader()
    assert group.leader_id == "c"
    group.park_join(a, print)
    assert group.maybe_elect_new_joined_leader()
    assert group.leader_id == "c"
    assert not group_of().maybe_elect_new_joined_leader()


def test_the_rebalance_timeout_is_the_longest():
    """Of all members, whoever it is."""
    group = group_of(member("a", rebalance_timeout_ms=7), member("b", rebalance_timeout_ms=9))
    assert group.rebalance_timeout_ms == 9


@pytest.mark.parametrize(
    ("member_id", "instance", "error"),
    [
        ("a", None, Errors.NONE),
        ("s", None, Errors.NONE),
        ("s", "one", Errors.NONE),
        ("a", "one", Errors.FENCED_INSTANCE_ID),
        ("x", "one", Errors.FENCED_INSTANCE_ID),
        ("x", None, Errors.UNKNOWN_MEMBER_ID),
        ("", None, Errors.UNKNOWN_MEMBER_ID),
        ("s", "two", Errors.UNKNOWN_MEMBER_ID),
    ],
)
def test_who_is_a_member(member_id, instance, error):
    """Known by its id; where an instance is named, its holder."""
    group = group_of(member("a"), member("s", instance="one"))
    assert group.validate_member(member_id, instance) is error


# Protocols.


@pytest.mark.parametrize(
    ("lists", "chosen"),
    [
        (["range"], "range"),
        (["range sticky"], "range"),
        (["range sticky", "sticky range", "sticky range"], "sticky"),
        (["range sticky", "sticky"], "sticky"),
        (["x range y", "y range x", "range z"], "range"),
        (["range sticky", "sticky range"], "range"),
        (["sticky range", "range sticky"], "sticky"),
    ],
)
def test_members_vote_for_a_protocol(lists, chosen):
    """Each for the first of its list that all support; a tie goes to what the oldest wants."""
    members = [member(f"m{index}", *each.split()) for index, each in enumerate(lists)]
    assert group_of(*members).select_protocol() == chosen


def test_what_members_support_follows_their_changes():
    """A change, a departure and a newcomer each move what all have in common."""
    a, b = member("a", "range", "sticky"), member("b", "range")
    group = group_of(a, b)
    group.state = S.STABLE
    assert group.supports_protocols("consumer", ["range"])
    assert not group.supports_protocols("consumer", ["sticky"])
    group.update_protocols(b, member("b", "sticky").supported_protocols)
    assert not group.supports_protocols("consumer", ["range"])
    assert group.supports_protocols("consumer", ["range", "sticky"])
    group.remove(b)
    assert group.supports_protocols("consumer", ["range"])


@pytest.mark.parametrize(
    ("state", "protocol_type", "names", "fits"),
    [
        (S.STABLE, "consumer", ["range"], True),
        (S.STABLE, "consumer", ["other", "range"], True),
        (S.STABLE, "consumer", ["other"], False),
        (S.STABLE, "consumer", [], False),
        (S.STABLE, "connect", ["range"], False),
        (S.EMPTY, "anything", ["anything"], True),
        (S.EMPTY, "", ["range"], False),
        (S.EMPTY, "consumer", [], False),
    ],
)
def test_which_joiners_fit(state, protocol_type, names, fits):
    """An Empty group takes any type and protocol, but not none; others what all support."""
    group = group_of() if state is S.EMPTY else group_of(member("a"))
    group.state = state
    assert group.supports_protocols(protocol_type, names) is fits


def test_the_leader_is_told_of_the_chosen_metadata():
    """Each member with its instance and what it sent with the chosen protocol."""
    group = group_of(member("a", "range", "sticky"), member("s", "sticky", instance="one"))
    group.protocol_name = "sticky"
    assert group.current_member_metadata() == (
        JoinGroupResponseMember("a", None, "a"),
        JoinGroupResponseMember("s", "one", "s"),
    )
    group.protocol_name = "range"
    assert group.current_member_metadata()[1] == JoinGroupResponseMember("s", "one", "")


def test_metadata_that_are_the_same_match():
    """Names, texts and their order count."""
    offers = [JoinGroupRequestProtocol("range", "x"), JoinGroupRequestProtocol("sticky", "y")]
    one = member("a")
    one.supported_protocols = tuple(offers)
    assert one.matches(offers)
    assert not one.matches(offers[::-1])
    assert not one.matches(offers[:1])
    assert not one.matches([offers[0], JoinGroupRequestProtocol("sticky", "z")])
