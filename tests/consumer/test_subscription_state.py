"""What a consumer subscribes to and has, and how far it is: allowed and refused."""

import re

import pytest

from kafkalearn.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafkalearn.consumer.offset_reset_strategy import OffsetResetStrategy
from kafkalearn.consumer.partition_states import TopicPartitionState
from kafkalearn.consumer.subscription_state import SubscriptionState, SubscriptionType
from kafkalearn.errors import IllegalArgumentError, IllegalStateError, InvalidTopicError
from kafkalearn.records import OffsetAndMetadata, TopicPartition

T0, T1, T2 = (TopicPartition("t", number) for number in range(3))
U0 = TopicPartition("u", 0)
NOBODY = ConsumerRebalanceListener()
WAYS = {
    SubscriptionType.AUTO_TOPICS: lambda state: state.subscribe(["t"], NOBODY),
    SubscriptionType.AUTO_PATTERN: lambda state: state.subscribe_pattern("t.*", NOBODY),
    SubscriptionType.USER_ASSIGNED: lambda state: state.assign_from_user([T0]),
}


class Told(ConsumerRebalanceListener):
    """Notes what it is told."""

    def __init__(self):
        self.calls = []

    def on_partitions_revoked(self, partitions):
        self.calls.append(("revoked", partitions))


@pytest.fixture
def changes():
    """List what on_change was told: reason, partition, position, paused."""
    return []


@pytest.fixture
def state(changes):
    """Make one that subscribes to nothing yet and resets to the earliest offset."""
    return SubscriptionState(
        OffsetResetStrategy.EARLIEST,
        on_change=lambda reason, partition, now: changes.append(
            (reason, partition, now.position, now.paused)
        ),
    )


def fields(state):
    """Give all that a subscription changes."""
    return (
        state.subscription_type,
        state.subscribed_pattern,
        state.subscription,
        state.user_assignment,
        state.assignment,
        state.group_subscription,
        state.listener,
    )


def test_a_new_consumer_has_nothing(state):
    """No way is chosen, and committed offsets are to be asked for."""
    assert fields(state)[:-1] == (SubscriptionType.NONE, None, (), (), {}, ())
    assert type(state.listener) is ConsumerRebalanceListener
    assert state.need_fetch_committed_offsets
    assert state.has_no_subscription_or_user_assignment()
    assert not state.partitions_auto_assigned()
    assert not state.has_pattern_subscription()


@pytest.mark.parametrize(
    ("way", "auto", "pattern"),
    [
        (SubscriptionType.AUTO_TOPICS, True, False),
        (SubscriptionType.AUTO_PATTERN, True, True),
        (SubscriptionType.USER_ASSIGNED, False, False),
    ],
)
def test_each_way_says_what_it_is(state, way, auto, pattern):
    """The three questions of the poll are answered from the type."""
    WAYS[way](state)
    assert state.subscription_type is way
    assert state.partitions_auto_assigned() is auto
    assert state.has_pattern_subscription() is pattern
    assert not state.has_no_subscription_or_user_assignment()


@pytest.mark.parametrize("second", WAYS)
@pytest.mark.parametrize("first", WAYS)
def test_the_three_ways_are_mutually_exclusive_until_unsubscribe(state, first, second):
    """Behaviour 55: another way is refused and changes nothing; after unsubscribe it is taken."""
    WAYS[first](state)
    before = fields(state)
    if first is second:
        WAYS[second](state)
    else:
        with pytest.raises(IllegalStateError) as refused:
            WAYS[second](state)
        assert str(refused.value) == (
            "Subscription to topics, partitions and pattern are mutually exclusive: "
            f"this one is {first.name} until unsubscribe()"
        )
    assert fields(state) == before
    state.unsubscribe()
    WAYS[second](state)
    assert state.subscription_type is second


@pytest.mark.parametrize("way", WAYS)
def test_unsubscribe_forgets_everything(state, way):
    """Topics, pattern, partitions and the group's topics."""
    WAYS[way](state)
    if state.partitions_auto_assigned():
        state.group_subscribe(["other"])
    state.unsubscribe()
    assert fields(state)[:-1] == (SubscriptionType.NONE, None, (), (), {}, ())


def test_subscribe_replaces(state):
    """Behaviour 56: it does not add; the partitions stay until the group rebalances."""
    state.subscribe(["t", "u", "t"], NOBODY)
    state.assign_from_subscribed([T0])
    listener = Told()
    state.subscribe(["v"], listener)
    assert state.subscription == ("v",)
    assert state.assigned_partitions() == [T0]
    assert state.listener is listener


def test_topics_are_in_order_however_they_came(state):
    """Equal subscriptions compare equal, a set as well as a list."""
    state.subscribe({"b", "c", "a"}, NOBODY)
    assert state.subscription == ("a", "b", "c")


def test_the_group_subscription_grows_until_it_is_reset(state):
    """The leader adds the others' topics; before the next join each member drops them."""
    state.subscribe(["b"], NOBODY)
    state.group_subscribe(["c", "a"])
    state.subscribe(["d"], NOBODY)
    assert state.group_subscription == ("a", "b", "c", "d")
    state.reset_group_subscription()
    assert state.group_subscription == ("d",)


def test_who_assigns_for_itself_has_no_group(state):
    """Topics of other members are refused."""
    state.assign_from_user([T0])
    with pytest.raises(IllegalStateError, match="mutually exclusive: this one is USER_ASSIGNED"):
        state.group_subscribe(["u"])
    assert state.group_subscription == ()


@pytest.mark.parametrize("pattern", ["t[0-9]", re.compile("t[0-9]")])
def test_a_pattern_matches_whole_names(state, pattern):
    """As Java's matches() does, and not find()."""
    state.subscribe_pattern(pattern, NOBODY)
    names = ["t1", "t10", "at1", "u"]
    assert [each for each in names if state.matches_subscribed_pattern(each)] == ["t1"]
    assert state.subscription == ()


def test_without_a_pattern_nothing_matches(state):
    """Topics that are named are no pattern."""
    state.subscribe(["t"], NOBODY)
    assert not state.matches_subscribed_pattern("t")


def test_a_pattern_says_whether_other_topics_match(state):
    """Only then the group has to rebalance; the order in which they come does not count."""
    state.subscribe_pattern("t.*", NOBODY)
    assert [
        state.subscribe_from_pattern(topics) for topics in (["t1"], ["t2", "t1"], ["t1", "t2"], [])
    ] == [True, True, False, True]
    assert state.subscription == ()
    assert state.group_subscription == ("t1", "t2")


@pytest.mark.parametrize("way", [SubscriptionType.AUTO_TOPICS, SubscriptionType.USER_ASSIGNED])
def test_only_a_pattern_takes_what_matches(state, way):
    """The message names the type that there is."""
    WAYS[way](state)
    with pytest.raises(IllegalArgumentError, match=f"is {way.name}: only one with a pattern"):
        state.subscribe_from_pattern(["t1"])


def test_the_users_assignment_replaces_and_keeps_what_stays(state):
    """Position and pause of a partition that stays are kept; a new one begins anew."""
    state.assign_from_user([T1, T0])
    state.commits_refreshed()
    state.seek(T1, 5)
    state.pause(T1)
    state.assign_from_user([T2, T1])
    assert state.assignment == {
        T1: TopicPartitionState(position=5, paused=True),
        T2: TopicPartitionState(),
    }
    assert state.user_assignment == (T1, T2)
    assert state.refresh_commits_needed()


def test_the_same_assignment_again_changes_nothing(state):
    """No offsets are asked for again, and whose turn it is stays."""
    state.assign_from_user([T0, T1])
    state.move_to_end(T0)
    state.commits_refreshed()
    state.assign_from_user([T0, T1, T0])
    assert state.assigned_partitions() == [T1, T0]
    assert not state.refresh_commits_needed()


def test_the_groups_assignment_keeps_what_stays(state):
    """As the cooperative protocol needs it."""
    state.subscribe(["t"], NOBODY)
    state.assign_from_subscribed([T0, T1])
    state.seek(T1, 5)
    state.commits_refreshed()
    state.assign_from_subscribed([T2, T1])
    assert state.assignment == {T1: TopicPartitionState(position=5), T2: TopicPartitionState()}
    assert state.user_assignment == ()
    assert state.refresh_commits_needed()


def test_what_was_given_up_in_between_begins_anew(state):
    """As the eager protocol needs it: position and pause are gone."""
    state.subscribe(["t"], NOBODY)
    state.assign_from_subscribed([T0])
    state.seek(T0, 5)
    state.pause(T0)
    state.assign_from_subscribed([])
    assert state.assignment == {}
    state.assign_from_subscribed([T0])
    assert state.assignment == {T0: TopicPartitionState()}


@pytest.mark.parametrize(
    ("way", "sentence"),
    [
        (SubscriptionType.AUTO_TOPICS, "assigned u-0, whose topic is not in the subscription: t"),
        (SubscriptionType.AUTO_PATTERN, "assigned u-0, whose topic does not match the pattern"),
    ],
)
def test_the_group_cannot_assign_what_was_not_asked_for(state, way, sentence):
    """Nothing of such an assignment is taken."""
    WAYS[way](state)
    state.assign_from_subscribed([T1])
    with pytest.raises(IllegalArgumentError, match=sentence):
        state.assign_from_subscribed([T0, U0])
    assert state.assigned_partitions() == [T1]


def test_a_group_assigns_nothing_to_who_did_not_subscribe(state):
    """Neither before a subscription nor beside an assignment of the user's."""
    with pytest.raises(IllegalArgumentError, match="the subscription is NONE"):
        state.assign_from_subscribed([T0])
    state.assign_from_user([T0])
    with pytest.raises(IllegalArgumentError, match="the subscription is USER_ASSIGNED"):
        state.assign_from_subscribed([T1])
    assert state.assigned_partitions() == [T0]


@pytest.mark.parametrize("topics", ["orders", None, 7])
def test_topics_are_a_list(state, topics):
    """One name alone is refused: its letters would be topics."""
    with pytest.raises(IllegalArgumentError, match="a list of topic names is allowed"):
        state.subscribe(topics, NOBODY)
    assert state.has_no_subscription_or_user_assignment()


@pytest.mark.parametrize("topic", ["", "a b", None])
def test_a_topic_that_kafka_refuses(state, topic):
    """Whether it is subscribed to, matched or in a partition."""
    with pytest.raises(InvalidTopicError):
        state.subscribe(["t", topic], NOBODY)
    with pytest.raises(InvalidTopicError):
        state.assign_from_user([T0, (topic, 0)])
    assert state.has_no_subscription_or_user_assignment()


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("t(", "missing \\), unterminated subpattern"),
        ("", "not empty"),
        (b"t", "text"),
        (None, "first argument must be string or compiled pattern"),
    ],
)
def test_a_pattern_that_is_none(state, pattern, why):
    """The message shows it and says what is wrong."""
    with pytest.raises(IllegalArgumentError, match=f"is no pattern of topic names: .*{why}"):
        state.subscribe_pattern(pattern, NOBODY)
    assert state.has_no_subscription_or_user_assignment()


@pytest.mark.parametrize("listener", [None, print, Told], ids=["None", "a function", "a class"])
def test_a_listener_that_is_none(state, listener):
    """It is refused before anything changes, for topics as for a pattern."""
    for subscribe in (state.subscribe, state.subscribe_pattern):
        with pytest.raises(IllegalArgumentError, match="derives from ConsumerRebalanceListener"):
            subscribe("t" if subscribe == state.subscribe_pattern else ["t"], listener)
    assert state.has_no_subscription_or_user_assignment()


@pytest.mark.parametrize("partitions", ["t-0", None, 7])
def test_partitions_are_a_list(state, partitions):
    """One alone is refused."""
    with pytest.raises(IllegalArgumentError, match="a list of TopicPartition is allowed"):
        state.assign_from_user(partitions)


@pytest.mark.parametrize(
    "partition", ["t-0", ("t",), ("t", -1), ("t", 2**31), ("t", True), ("t", "0"), ["t", 0]]
)
def test_a_partition_that_is_none(state, partition):
    """Its number is from 0 to Java's largest int; asking for its state is no better."""
    sentence = re.escape(f"{partition!r} is no partition")
    with pytest.raises(IllegalArgumentError, match=sentence):
        state.assign_from_user([T0, partition])
    with pytest.raises(IllegalArgumentError, match=sentence):
        state.pause(partition)
    assert state.has_no_subscription_or_user_assignment()


@pytest.mark.parametrize(
    "ask",
    [
        lambda state: state.position(T0),
        lambda state: state.position(T0, 1),
        lambda state: state.seek(T0, 1),
        lambda state: state.need_offset_reset(T0),
        lambda state: state.is_offset_reset_needed(T0),
        lambda state: state.reset_strategy(T0),
        lambda state: state.committed(T0),
        lambda state: state.committed(T0, OffsetAndMetadata(1)),
        lambda state: state.update_high_watermark(T0, 1),
        lambda state: state.pause(T0),
        lambda state: state.resume(T0),
        lambda state: state.resume(("t", 0)),
    ],
)
def test_a_partition_that_is_not_assigned_has_no_state(state, changes, ask):
    """Behaviour 21: seek before the assignment, like the rest, says what to do."""
    state.subscribe(["t"], NOBODY)
    with pytest.raises(IllegalStateError) as refused:
        ask(state)
    assert str(refused.value) == (
        "No current assignment for partition t-0: poll until the group assigns it, or name it in "
        "assign()"
    )
    assert (state.assignment, changes) == ({}, [])


def test_whether_something_is_so_may_be_asked_of_any_partition(state):
    """A partition that is not assigned is simply not fetchable."""
    state.assign_from_user([T1])
    state.seek(T1, 0)
    asked = [state.is_assigned, state.is_fetchable, state.has_valid_position]
    assert [ask(T0) for ask in asked] == [False] * 3
    assert [ask(T1) for ask in asked] == [True] * 3


def test_what_is_fetched(state):
    """Only what is not paused and has a position; the two lists say what is amiss with the rest."""
    state.assign_from_user([T0, T1, T2])
    state.seek(T0, 0)
    state.seek(T1, 0)
    state.pause(T1)
    assert [state.is_fetchable(each) for each in (T0, T1, T2)] == [True, False, False]
    assert state.paused_partitions() == [T1]
    assert state.missing_fetch_positions() == [T2]
    assert not state.has_all_fetch_positions()
    assert state.has_all_fetch_positions([T0, T1])
    assert not state.has_all_fetch_positions([T0, U0])
    state.seek(T2, 0)
    state.resume(T1)
    assert state.has_all_fetch_positions()


def test_each_partition_gets_its_turn(state):
    """What was served goes to the end; of one that is gone there is nothing to move."""
    state.assign_from_user([T2, T0, T1])
    state.move_to_end(T0)
    state.move_to_end(U0)
    assert state.assigned_partitions() == [T1, T2, T0]


def test_partitions_begin_in_order_however_they_came(state):
    """By topic and number, so that equal runs fetch alike."""
    state.subscribe(["t", "u"], NOBODY)
    state.assign_from_subscribed({U0, T1, T0})
    assert state.assigned_partitions() == [T0, T1, U0]


def test_a_position_moves_on_from_a_position(state, changes):
    """The first one is set by seek; moving on is told, standing still is not."""
    state.assign_from_user([T0])
    assert state.position(T0) is None
    with pytest.raises(IllegalStateError, match="t-0 has no position to move on from to 5"):
        state.position(T0, 5)
    state.seek(T0, 3, reason="committed")
    assert [state.position(T0, 5), state.position(T0, 5), state.position(T0)] == [5, 5, 5]
    assert changes == [("committed", T0, 3, False), ("consumed", T0, 5, False)]


@pytest.mark.parametrize("offset", [-1, 1.5, True, "7", None])
def test_an_offset_that_nobody_can_seek_to(state, changes, offset):
    """The message names the partition and the value."""
    state.assign_from_user([T0])
    with pytest.raises(IllegalArgumentError, match=f"seek to in t-0 is {offset!r}: a whole number"):
        state.seek(T0, offset)
    assert (state.position(T0), changes) == (None, [])


def test_a_reset_forgets_the_position_until_one_is_found(state, changes):
    """The given strategy or the default one; seek ends it."""
    state.assign_from_user([T0, T1])
    state.seek(T0, 3)
    state.need_offset_reset(T0)
    state.need_offset_reset(T1, OffsetResetStrategy.LATEST)
    assert [state.is_offset_reset_needed(each) for each in (T0, T1)] == [True, True]
    assert [state.reset_strategy(each) for each in (T0, T1)] == [
        OffsetResetStrategy.EARLIEST,
        OffsetResetStrategy.LATEST,
    ]
    assert not state.has_valid_position(T0)
    state.seek(T0, 0, reason="reset")
    assert state.assignment[T0] == TopicPartitionState(position=0)
    assert not state.is_offset_reset_needed(T0)
    assert changes == [
        ("seek", T0, 3, False),
        ("reset", T0, None, False),
        ("reset", T1, None, False),
        ("reset", T0, 0, False),
    ]


@pytest.mark.parametrize(
    ("name", "reads_all_the_same"), [("latest", True), ("earliest", True), ("none", False)]
)
def test_the_default_strategy_comes_from_the_setting(name, reads_all_the_same):
    """The strategies' values are those of auto.offset.reset; none is no policy."""
    state = SubscriptionState(OffsetResetStrategy(name))
    assert state.has_default_offset_reset_policy() is reads_all_the_same
    state.assign_from_user([T0])
    state.need_offset_reset(T0)
    assert state.reset_strategy(T0) is OffsetResetStrategy(name)


def test_pause_and_resume_are_told_once(state, changes):
    """Neither touches the position; a second pause changes nothing."""
    state.assign_from_user([T0])
    state.seek(T0, 3)
    changes.clear()
    for change in (state.resume, state.pause, state.pause, state.resume):
        change(T0)
    assert changes == [("paused", T0, 3, True), ("resumed", T0, 3, False)]


def test_without_a_hook_all_works_the_same():
    """Nobody has to listen."""
    state = SubscriptionState(OffsetResetStrategy.LATEST)
    state.assign_from_user([T0])
    state.seek(T0, 3)
    state.pause(T0)
    assert state.assignment == {T0: TopicPartitionState(position=3, paused=True)}


def test_what_is_committed_is_noted_per_partition(state, changes):
    """It is no change of what is read next, so nobody is told."""
    state.assign_from_user([T0, T1])
    assert state.committed(T0, OffsetAndMetadata(3, "note")) == OffsetAndMetadata(3, "note")
    assert [state.committed(each) for each in (T0, T1)] == [OffsetAndMetadata(3, "note"), None]
    assert changes == []


def test_all_consumed_is_where_the_positions_are(state):
    """The next offset to read; paused ones too, but not one whose position is unknown."""
    state.assign_from_user([T0, T1, T2])
    state.seek(T0, 3)
    state.seek(T1, 0)
    state.pause(T1)
    state.need_offset_reset(T2)
    assert state.all_consumed() == {T0: OffsetAndMetadata(3), T1: OffsetAndMetadata(0)}


def test_committed_offsets_are_asked_for_when_they_may_be_stale(state):
    """From the start and on demand, until they came."""
    asked = [state.refresh_commits_needed()]
    state.commits_refreshed()
    asked.append(state.refresh_commits_needed())
    state.need_refresh_commits()
    asked.append(state.refresh_commits_needed())
    assert asked == [True, False, True]


def test_lost_partitions_count_as_revoked_unless_the_listener_tells_them_apart():
    """The default of on_partitions_lost, and a listener that has its own."""
    plain, own = Told(), Told()
    own.on_partitions_lost = lambda partitions: own.calls.append(("lost", partitions))
    for listener in (plain, own):
        listener.on_partitions_assigned([T0])
        listener.on_partitions_lost([T0])
    assert (plain.calls, own.calls) == ([("revoked", [T0])], [("lost", [T0])])
