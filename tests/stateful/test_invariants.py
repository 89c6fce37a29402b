"""Each invariant is shown what it has to refuse, and what only looks like it."""

import pytest

from tests.stateful.answers import unanswered_requests
from tests.stateful.commits import commits_half_done, lost_commits
from tests.stateful.followed import MOVED
from tests.stateful.invariants import (
    events_of_the_gone,
    generations_that_go_back,
    illegal_transitions,
    invariants_of,
    partitions_of_two,
)
from tests.stateful.story import Story

RETENTION_MS = 60_000


def found(invariant, story, **settings):
    """List what an invariant tells of a story."""
    return list(invariant(story.trace, **settings))


def cases(**stories):
    """Make a parameter of each story with what has to be said of it, named by the keyword."""
    return pytest.mark.parametrize(
        ("story", "breaches"), stories.values(), ids=[name.replace("_", " ") for name in stories]
    )


@cases(
    a_leap=(
        Story().joined("a").state("Empty", "AwaitingSync", members="a"),
        ["1: billing goes from Empty to AwaitingSync"],
    ),
    a_leap_under_the_newer_name=(
        Story().state("Empty", "PreparingRebalance").state("PreparingRebalance", "Stable"),
        ["1: billing goes from PreparingRebalance to Stable"],
    ),
    from_a_state_that_it_was_not_in=(
        Story().stable().state("Empty", "PreparingRebalance", 1, members="a"),
        ["4: billing leaves Empty, but was Stable"],
    ),
    up_from_the_dead=(
        Story().state("Empty", "Dead").state("Dead", "Empty"),
        ["1: billing leaves Dead, but was Empty", "1: billing goes from Dead to Empty"],
    ),
    all_that_is_allowed=(
        Story()
        .stable()
        .state("Stable", "PreparingRebalance", 1)
        .state("PreparingRebalance", "CompletingRebalance", 2)
        .state("CompletingRebalance", "PreparingRebalance", 2)
        .state("PreparingRebalance", "Empty", 3)
        .state("Empty", "Dead", 3),
        [],
    ),
    a_new_coordinator=(
        Story()
        .stable()
        .fault("crash")
        .later(100, "broker-1")
        .loaded("Stable", 1, "a")
        .state("Stable", "PreparingRebalance", 1),
        [],
    ),
)
def test_states_follow_each_other_by_the_table(story, breaches):
    """A move that Kafka's table does not have is told, and one from another state than before."""
    assert found(illegal_transitions, story) == breaches


@cases(
    back=(
        Story().stable().state("Stable", "PreparingRebalance", 0),
        ["4: billing comes from generation 1 to 0"],
    ),
    a_join_phase_that_does_not_count=(
        Story().state("Empty", "PreparingRebalance").state("PreparingRebalance", "Empty"),
        ["1: billing comes from generation 0 to 0"],
    ),
    loaded_as_older=(
        Story().stable(generation=1).fault("crash").loaded("Stable", 0),
        ["5: billing is loaded in generation 0, not 1"],
    ),
    loaded_with_what_was_not_stored=(
        Story()
        .stable()
        .state("Stable", "PreparingRebalance", 1)
        .state("PreparingRebalance", "AwaitingSync", 2)
        .fault("crash")
        .loaded("Stable", 2),
        ["7: billing is loaded in generation 2, not 1"],
    ),
    not_loaded_at_all=(
        Story().stable().fault("crash").joined("b"),
        ["5: billing begins anew: generation 1 is lost"],
    ),
    an_old_member_that_is_heard=(
        Story().stable().asks(0, "SyncGroup", generation=0).answers(0, "SyncGroup", generation=0),
        ["6: billing: SyncGroup of 0 is accepted in generation 1"],
    ),
    an_old_commit_that_is_heard=(
        Story().stable().answers(0, "OffsetCommit", generation=0, partitions={"orders-0": "NONE"}),
        ["4: billing: OffsetCommit of 0 is accepted in generation 1"],
    ),
    anew_after_the_end=(
        Story().stable().state("Stable", "Dead", 1, reason="deleted").joined("b"),
        [],
    ),
    on_with_what_was_stored=(
        Story().stable().state("Stable", "Dead", 1, reason=MOVED).loaded("Stable", 1, "a"),
        [],
    ),
    an_old_commit_that_is_refused=(
        Story().stable().answers(0, "OffsetCommit", generation=0, partitions={"orders-0": "NO"}),
        [],
    ),
)
def test_generations_never_go_back(story, breaches):
    """A generation that falls, stands still or is lost is told; only an end begins anew."""
    assert found(generations_that_go_back, story) == breaches


def assigned(story, **texts):
    """Go on with a leader's assignment in generation 1: texts by member."""
    return story.asks(0, "SyncGroup", member_id="a", generation=1, assignments=texts)


def given(story, number, member_id, assignment, generation=1):
    """Go on with a member that is told its assignment."""
    told = {"assignment": assignment} if assignment else {}
    return story.answers(number, "SyncGroup", member_id=member_id, generation=generation, **told)


@cases(
    two_owners=(
        given(given(assigned(Story(), a="t-0 t-1", b="t-1"), 0, "a", "t-0 t-1"), 1, "b", "t-1"),
        ["3: t-1 is a's and b's"],
    ),
    what_nobody_sent=(
        given(assigned(Story(), a="t-0"), 0, "a", "t-1"),
        ["2: a is told 't-1', and no leader sent that with the rest"],
    ),
    more_than_nothing=(
        given(assigned(Story(), a="t-0"), 1, "b", "t-1"),
        ["2: b is told 't-1', and no leader sent that with the rest"],
    ),
    halves_of_two_assignments=(
        given(
            given(assigned(assigned(Story(), a="t-0"), a="t-1", b="t-0"), 0, "a", "t-1"),
            1,
            "b",
            "",
        ),
        ["5: b is told '', and no leader sent that with the rest"],
    ),
    another_assignment_later=(
        given(given(assigned(assigned(Story(), a="t-0"), a="t-1"), 0, "a", "t-0"), 1, "a", "t-1"),
        ["5: a is told 't-1', after 't-0'"],
    ),
    one_each=(
        given(given(assigned(Story(), a="t-0", b="t-1"), 0, "a", "t-0"), 1, "b", "t-1"),
        [],
    ),
    a_static_member_under_a_new_id=(
        given(
            given(assigned(Story().joined("a", "i1"), a="t-0"), 0, "a", "t-0").joined("b", "i1"),
            1,
            "b",
            "t-0",
        ),
        [],
    ),
    the_same_generation_of_another_life=(
        given(
            assigned(
                given(assigned(Story(), a="t-0"), 0, "a", "t-0").state("Empty", "Dead", 1),
                b="t-0",
            ),
            1,
            "b",
            "t-0",
        ),
        [],
    ),
)
def test_a_partition_has_one_owner(story, breaches):
    """Two owners in one generation are told, and an assignment that is not the leader's."""
    assert found(partitions_of_two, story, instances_may_be_missed=False) == breaches


def test_an_instance_may_be_missed_in_old_releases():
    """Before 2.5, a static member that restarts before the leader assigns gets nothing."""
    story = assigned(Story().joined("a", "i1").joined("b", "i1"), a="t-0")
    story = given(story, 0, "b", "")
    breach = "4: i1 is told '', and no leader sent that with the rest"
    assert found(partitions_of_two, story, instances_may_be_missed=False) == [breach]
    assert found(partitions_of_two, story, instances_may_be_missed=True) == []


@cases(
    a_timer_of_the_removed=(
        Story().stable().removed("a").removed("a"),
        ["5: member_removed of billing: a was no member any more"],
    ),
    a_timer_after_the_end=(
        Story().stable().state("Stable", "Dead", 1, members="a").removed("a"),
        ["5: member_removed of billing: a was no member any more"],
    ),
    a_timer_of_an_earlier_life=(
        Story().stable().state("Stable", "Dead", 1, members="a").joined("b").removed("a"),
        ["6: member_removed of billing: a was no member any more"],
    ),
    twice_in=(
        Story().joined("a").joined("a"),
        ["1: member_joined of billing: a was a member already"],
    ),
    an_id_that_is_given_out_twice=(
        Story().pending("a").pending("a"),
        ["1: member_joined of billing: a was a member already"],
    ),
    an_id_that_is_waited_for_after_it_was_used=(
        Story().pending("a").joined("a").removed("a").removed("a"),
        ["3: member_removed of billing: a was no member any more"],
    ),
    an_id_that_is_no_member=(
        Story().pending("a").state("Empty", "PreparingRebalance", members="a"),
        ["1: group_state of billing: the members are not those that came and did not go"],
    ),
    an_id_that_nobody_used=(Story().pending("a").removed("a"), []),
    who_did_not_come=(
        Story().joined("a").state("Empty", "PreparingRebalance", members="a b"),
        ["1: group_state of billing: the members are not those that came and did not go"],
    ),
    a_dead_broker=(
        Story().stable().fault("crash").removed("a"),
        [
            "5: member_removed of billing by broker-0, which is dead",
            "5: member_removed of billing: a was no member any more",
        ],
    ),
    two_coordinators=(
        Story().stable().later(1, "broker-1").removed("a"),
        ["4: member_removed of billing by broker-1, but broker-0 coordinates it"],
    ),
    a_broker_that_is_back=(
        Story().stable().fault("crash").fault("restart").loaded("Stable", 1, "a").removed("a"),
        [],
    ),
    a_coordinator_that_takes_over=(
        Story()
        .stable()
        .state("Stable", "Dead", 1, members="a", reason=MOVED)
        .later(1, "broker-1")
        .loaded("Stable", 1, "a")
        .removed("a"),
        [],
    ),
)
def test_nothing_is_done_by_who_is_gone(story, breaches):
    """Removed members, dead brokers and former coordinators do nothing."""
    assert found(events_of_the_gone, story) == breaches


@cases(
    lost=(
        Story().commits(0).fetches(1, -1),
        ["6: billing: orders-0 is told as -1 '', but is 5 ''"],
    ),
    refused_and_kept=(
        Story().commits(0).commits(1, offset=6, error="ILLEGAL_GENERATION").fetches(2, 6),
        ["10: billing: orders-0 is told as 6 '', but is 5 ''"],
    ),
    changed_between_two_fetches=(
        Story().commits(0).commits(1, offset=6, error=None).fetches(2, 6).fetches(3, 5),
        ["12: billing: orders-0 is told as 5 '', but is 6 ''"],
    ),
    too_early=(
        Story().commits(0).later(RETENTION_MS - 1).expires(5),
        ["4: billing: orders-0 loses 5 after 59999 ms"],
    ),
    what_is_not_there=(
        Story().commits(0).later(RETENTION_MS).expires(6),
        ["4: billing: orders-0 loses 6, which it does not have"],
    ),
    of_a_topic_that_is_there=(
        Story().commits(0).expires(5, reason="topic deleted"),
        ["4: orders was not deleted"],
    ),
    with_its_group=(
        Story().commits(0).state("Empty", "Dead", reason="empty, without offsets"),
        ["4: billing: ends with orders-0 at 5 ''"],
    ),
    kept=(Story().commits(0).fault("crash").later(100, "broker-1").fetches(1, 5), []),
    overwritten=(Story().commits(0).commits(1, offset=6).fetches(2, 6), []),
    not_answered_and_kept=(Story().commits(0).commits(1, offset=6, error=None).fetches(2, 6), []),
    not_answered_and_lost=(Story().commits(0).commits(1, offset=6, error=None).fetches(2, 5), []),
    expired=(Story().commits(0).later(RETENTION_MS).expires(5).fetches(1, -1), []),
    expired_since_the_group_is_empty=(
        Story()
        .state("PreparingRebalance", "Empty")
        .later(RETENTION_MS)
        .commits(0)
        .later(1)
        .expires(5),
        [],
    ),
    deleted_with_its_topic=(
        Story()
        .commits(0)
        .event("topic_changed", group_id=None, topic="orders", detail={"change": "deleted"})
        .expires(5, reason="topic deleted")
        .fetches(1, -1),
        [],
    ),
    deleted_with_its_group=(
        Story().commits(0).state("Empty", "Dead", reason="deleted").fetches(1, -1),
        [],
    ),
)
def test_a_commit_that_was_answered_is_kept(story, breaches):
    """What is told later is the last commit that was accepted, until something ends it."""
    assert found(lost_commits, story, retention_ms=RETENTION_MS) == breaches


@cases(
    refused_and_stored=(
        Story().commits(0, error="UNKNOWN_MEMBER_ID"),
        [
            "3: ['orders-0'] are stored, [] answered NONE",
            "3: a commit did ['offset_stored']",
        ],
    ),
    accepted_and_not_stored=(
        Story().commits(0, stored=False),
        ["2: [] are stored, ['orders-0'] answered NONE"],
    ),
    refused_with_an_effect=(
        Story()
        .asks(0, "OffsetCommit", offsets={})
        .removed("a")
        .answers(0, "OffsetCommit", partitions={"orders-0": "ILLEGAL_GENERATION"}),
        ["3: a commit did ['member_removed']"],
    ),
    accepted=(Story().commits(0), []),
    refused=(Story().commits(0, error="ILLEGAL_GENERATION", stored=False), []),
)
def test_a_refused_commit_changes_nothing(story, breaches):
    """What is stored is what is answered NONE, and a refusal has no other effect."""
    assert found(commits_half_done, story) == breaches


def join(number, story=None, member_id=None):
    """Go on with a JoinGroup that arrives."""
    return (story or Story()).asks(number, "JoinGroup", member_id=member_id)


NEVER = ["1: JoinGroup of c to broker-0 is never answered"]


@cases(
    never=(join(0), NEVER),
    twice=(
        join(0).answers(0, "JoinGroup").answers(0, "JoinGroup"),
        ["3: JoinGroup of c is answered, but does not wait"],
    ),
    what_was_not_asked=(
        Story().answers(0, "JoinGroup"),
        ["0: JoinGroup of c is answered, but does not wait"],
    ),
    a_refused_repeat=(
        join(1, join(0, member_id="a"), "a").answers(1, "JoinGroup", "FENCED_INSTANCE_ID"),
        NEVER,
    ),
    a_repeat_of_another=(join(1, join(0, member_id="a"), "b").answers(1, "JoinGroup"), NEVER),
    a_repeat_after_the_join_phase=(
        join(1, join(0, member_id="a").state("PreparingRebalance", "Empty", 2), "a").answers(
            1, "JoinGroup"
        ),
        NEVER,
    ),
    removed_after_the_sync_phase=(
        Story()
        .asks(0, "SyncGroup", member_id="a")
        .state("CompletingRebalance", "PreparingRebalance")
        .removed("a"),
        ["1: SyncGroup of c to broker-0 is never answered"],
    ),
    a_repeat_elsewhere=(
        join(1, join(0, member_id="a").later(1, "broker-1"), "a").answers(1, "JoinGroup"),
        NEVER,
    ),
    another_connection=(
        join(0).event("dropped", "broker-1", peer="c", detail={"message": "request"}),
        NEVER,
    ),
    a_removed_member=(join(0, member_id="a").removed("a"), NEVER),
    another_broker=(join(0).fault("crash", "broker-1"), NEVER),
    a_repeat=(join(1, join(0, member_id="a"), "a").later(1).answers(1, "JoinGroup"), []),
    its_connection=(join(0).event("dropped", "c", peer="broker-0", detail={}), []),
    its_connection_while_it_was_on_its_way=(
        Story()
        .event("send", "c", peer="broker-0", api="JoinGroup", correlation_id=0)
        .event("dropped", "c", peer="broker-0", api="Heartbeat", correlation_id=1)
        .event("receive", peer="c", api="JoinGroup", correlation_id=0),
        [],
    ),
    its_broker=(join(0).fault("crash"), []),
    its_client=(join(0).fault("crash", "c"), []),
    removed_while_it_syncs=(Story().asks(0, "SyncGroup", member_id="a").removed("a"), []),
)
def test_who_is_parked_is_answered_once(story, breaches):
    """Silence is told unless the connection died, or the same member asked again."""
    assert found(unanswered_requests, story, joins_end_silently=False) == breaches


def test_a_join_may_end_silently_in_old_releases():
    """Before 2.1.1, a new member that is removed while it joins hears nothing."""
    story = join(0).joined("a").removed("a")
    assert found(unanswered_requests, story, joins_end_silently=False) == NEVER
    assert found(unanswered_requests, story, joins_end_silently=True) == []


def test_all_invariants_are_named():
    """Whoever asks for the invariants gets each of them, ready to be shown events."""
    story = Story().stable().commits(0)
    invariants = invariants_of(
        joins_end_silently=False, instances_may_be_missed=False, retention_ms=RETENTION_MS
    )
    told = {name: list(each(story.trace)) for name, each in invariants.items()}
    names = ("states", "generations", "owners", "ghosts", "commits", "refusals", "answers")
    assert told == {name: [] for name in names}
