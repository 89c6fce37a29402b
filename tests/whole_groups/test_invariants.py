"""Each invariant is shown a trace that it has to refuse, and what only looks like it."""

import pytest

from tests.stateful.story import Story
from tests.whole_groups.invariants import (
    callbacks_out_of_order,
    commits_beyond_positions,
    commits_of_the_old,
    commits_of_the_unprocessed,
    gaps,
    invariants_of,
    lost_records,
    message_invariants_of,
    records_of_two,
    unsettled_groups,
)

TOPICS = ("orders",)


class Members(Story):
    """A trace of consumers of topic ``orders``; nodes are named like member ids."""

    def topic(self, count=1):
        """Let the topic have so many partitions."""
        return self.event("topic_changed", topic="orders", detail={"change": "x", "count": count})

    def assigned(self, node, *partitions, generation=1, member_id=None):
        """Give a member partitions; its id is its node's name unless it is given."""
        self.event("client_state", node, detail={"from": "x", "to": "STABLE"})
        return self._handed("assigned", node, generation, partitions, member_id=member_id)

    def revoked(self, node, *partitions, generation=1, member_id=None):
        """Let a member give partitions up."""
        return self._handed("revoked", node, generation, partitions, member_id=member_id)

    def unjoined(self, node):
        """Let a member leave, by its own account."""
        return self.event("client_state", node, detail={"from": "x", "to": "UNJOINED"})

    def at(self, node, offset, reason="committed", partition=0):
        """Move a position."""
        return self._placed("position", node, partition, offset, reason=reason)

    def returned(self, node, offset, count=1, partition=0):
        """Let a poll return records."""
        return self._placed("records_returned", node, partition, offset, count=count)

    def append(self, offset, count=1, partition=0):
        """Let a broker take records."""
        return self._placed("append", None, partition, offset, count=count)

    def processed(self, offset, node="a", partition=0):
        """Let a record have its effect."""
        return self._placed("processed", node, partition, offset, sink="db")

    def stored(self, offset, member_id="a", partition=0, generation=1):
        """Let a broker store an offset of a member."""
        place = {"topic": "orders", "partition": partition, "offset": offset}
        return self.event("offset_stored", member_id=member_id, generation=generation, **place)

    def told(self, number, node="a", outcome="NONE"):
        """Run the callback of a commit."""
        message = {"message": f"commit {number}: {outcome}"}
        return self.event("logged", node, group_id=None, detail=message)

    def _handed(self, kind, node, generation, partitions, *, member_id=None):
        told = {"partitions": {"orders": list(partitions)} if partitions else {}}
        member_id = member_id or node
        return self.event(kind, node, member_id=member_id, generation=generation, detail=told)

    def _placed(self, kind, node, partition, offset, **detail):
        place = {"topic": "orders", "partition": partition, "offset": offset}
        return self.event(kind, node, group_id=None, detail=detail, **place)


def found(invariant, story, **settings):
    """List what an invariant tells of a story."""
    return list(invariant(story.trace, **settings))


def cases(**stories):
    """Make a parameter of each story with what has to be said of it, named by the keyword."""
    return pytest.mark.parametrize(
        ("story", "breaches"), stories.values(), ids=[name.replace("_", " ") for name in stories]
    )


@cases(
    two_in_one_generation=(
        Members().assigned("a", 0).assigned("b", 0),
        ["3: b has orders-0 in generation 1: a's"],
    ),
    returned_by_who_gave_it_up=(
        Members().assigned("a", 0).revoked("a", 0).returned("a", 5),
        ["3: a returns records of orders-0, not its own"],
    ),
    returned_by_who_crashed=(
        Members().assigned("a", 0).fault("crash", "a").returned("a", 5),
        ["3: a returns records of orders-0, not its own"],
    ),
    an_older_generation_that_goes_on=(
        Members().assigned("a", 0).assigned("b", 0, generation=2).returned("b", 5).returned("a", 5),
        [],
    ),
    the_same_generation_of_another_life=(
        Members().assigned("a", 0).state("Empty", "Dead", 1).assigned("b", 0),
        [],
    ),
    what_it_assigned_itself=(Members().assigned("a", 0).returned("m1", 5), []),
    the_rest_after_some_were_revoked=(
        Members().assigned("a", 0, 1).revoked("a", 1).returned("a", 5),
        [],
    ),
)
def test_records_of_a_generation_go_to_one_member(story, breaches):
    """Two owners in one generation are told, and who returns what it does not have."""
    assert found(records_of_two, story, loners=["m1"]) == breaches


@cases(
    a_hole=(
        Members().assigned("a", 0).at("a", 5).returned("a", 5, 2).returned("a", 8),
        ["4: a: orders-0 goes on at 8, not 7"],
    ),
    the_same_twice=(
        Members().assigned("a", 0).at("a", 5).returned("a", 5).returned("a", 5),
        ["4: a: orders-0 goes on at 5, not 6"],
    ),
    not_from_where_it_was_told=(
        Members().assigned("a", 0).at("a", 5).returned("a", 6),
        ["3: a: orders-0 goes on at 6, not 5"],
    ),
    from_nowhere=(
        Members().assigned("a", 0).returned("a", 6),
        ["2: a: orders-0 goes on at 6, not None"],
    ),
    moved_as_if_it_had_been_returned=(
        Members().assigned("a", 0).at("a", 5).at("a", 9, "consumed").returned("a", 9),
        ["4: a: orders-0 goes on at 9, not 5"],
    ),
    from_where_it_was_before_it_was_given_up=(
        Members()
        .assigned("a", 0)
        .at("a", 5)
        .revoked("a", 0)
        .assigned("a", 0, generation=2)
        .returned("a", 5),
        ["6: a: orders-0 goes on at 5, not None"],
    ),
    kept_through_a_rebalance=(
        Members()
        .assigned("a", 0)
        .at("a", 5)
        .returned("a", 5)
        .assigned("a", 0, 1, generation=2)
        .returned("a", 6),
        [],
    ),
    a_seek=(
        Members().assigned("a", 0).at("a", 5).returned("a", 5).at("a", 0, "seek").returned("a", 0),
        [],
    ),
)
def test_polls_return_records_without_holes(story, breaches):
    """A hole, a repetition and a start from elsewhere are told; a seek may go anywhere."""
    assert found(gaps, story) == breaches


@cases(
    beyond=(
        Members().assigned("a", 0).at("a", 5).stored(6),
        ["3: a commits orders-0 at 6, and its position was 5"],
    ),
    of_another_partition=(
        Members().assigned("a", 0, 1).at("a", 5).stored(5, partition=1),
        ["3: a commits orders-1 at 5, and its position was -1"],
    ),
    of_another_member=(
        Members().assigned("a", 0).at("a", 5).stored(5, "b"),
        ["3: b commits orders-0 at 5, and its position was -1"],
    ),
    too_early=(
        Members().assigned("a", 0).stored(5).at("a", 5),
        ["2: a commits orders-0 at 5, and its position was -1"],
    ),
    late=(
        Members().assigned("a", 0).at("a", 5).at("a", 7, "consumed").stored(5).stored(7),
        [],
    ),
    of_who_is_no_member=(Members().at("m1", 5).stored(5, ""), []),
    beyond_of_who_is_no_member=(
        Members().at("m1", 5).stored(6, ""),
        ["1: no member commits orders-0 at 6, and its position was 5"],
    ),
    after_a_crash=(Members().assigned("a", 0).at("a", 5).fault("crash", "a").stored(5), []),
    kept_under_a_new_id=(
        Members().assigned("a", 0).at("a", 5).assigned("a", 0, member_id="b").stored(5, "b"),
        [],
    ),
    given_up_under_a_new_id=(
        Members().assigned("a", 0).at("a", 5).revoked("a", 0, member_id="b").stored(5, "b"),
        [],
    ),
    given_up_before_the_new_id=(
        Members()
        .assigned("a", 0)
        .at("a", 5)
        .revoked("a", 0)
        .assigned("a", 0, member_id="b")
        .stored(5, "b"),
        ["6: b commits orders-0 at 5, and its position was -1"],
    ),
)
def test_members_commit_positions(story, breaches):
    """A commit beyond the committing member's position is told."""
    assert found(commits_beyond_positions, story) == breaches


@cases(
    older=(
        Members().stable().stored(5).stored(5, generation=0),
        ["5: a of generation 0 commits, and the group is in 1"],
    ),
    gone=(
        Members().stable().stored(5, "b"),
        ["4: b of generation 1 commits, and the group is in 1"],
    ),
    beside_a_group=(
        Members().stable().stored(5, "", generation=-1),
        ["4: no member of generation -1 commits, and the group is in 1"],
    ),
    without_a_group=(Members().stored(5, "", generation=-1), []),
)
def test_members_of_now_commit(story, breaches):
    """A commit of an older generation, of who is gone and of who is no member is told."""
    assert found(commits_of_the_old, story) == breaches


@cases(
    back=(Members().told(1).told(3).told(2), ["2: a is told of commit 2 after 3"]),
    refused_at_once=(Members().told(2, outcome="RebalanceInProgressError").told(1), []),
    back_with_an_error=(
        Members().told(2).told(1, outcome="CommitFailedError"),
        ["1: a is told of commit 1 after 2"],
    ),
    two_consumers=(Members().told(2).told(1, "b").told(3), []),
    what_is_no_callback=(
        Members().told(2).event("logged", "a", detail={"message": "the automatic commit failed"}),
        [],
    ),
)
def test_callbacks_run_in_order(story, breaches):
    """A callback that comes before that of an earlier commit is told."""
    assert found(callbacks_out_of_order, story) == breaches


@cases(
    never_processed=(
        Members().append(0, 2).processed(0),
        ["0: orders-0 1 was never processed"],
    ),
    of_another_partition=(
        Members().append(0).processed(0, partition=1),
        ["0: orders-0 0 was never processed"],
    ),
    before_it_was_there=(
        Members().processed(0).append(0),
        ["1: orders-0 0 was never processed"],
    ),
    twice=(Members().append(0).processed(0).processed(0, "b"), []),
)
def test_every_record_is_processed(story, breaches):
    """A record that a broker took and nobody processed is told."""
    asked = {"topics": TOPICS, "acknowledged": []}
    assert found(lost_records, story, settled_seq=9, **asked) == breaches


def test_what_comes_when_all_have_ended_is_not_lost():
    """A producer gave it up, sent it again and closed; the first copy was on its way for long."""
    story, asked = (
        Members().append(0).processed(0).append(1),
        {"topics": TOPICS, "acknowledged": []},
    )
    assert found(lost_records, story, settled_seq=2, **asked) == []
    assert len(found(lost_records, story, settled_seq=3, **asked)) == 1


def test_what_is_acknowledged_is_there():
    """A record that a producer was told of and no broker took is told."""
    story = Members().append(0).processed(0)
    breach = "orders-0 1 was acknowledged, and no broker has it"
    places = [("orders", 0, 0), ("orders", 0, 1)]
    asked = {"topics": TOPICS, "settled_seq": 9}
    assert found(lost_records, story, acknowledged=places, **asked) == [breach]
    assert found(lost_records, story, acknowledged=places[:1], **asked) == []


@cases(
    before=(
        Members().processed(0).stored(2).processed(1),
        ["1: orders-0 is committed at 2, and 1 is not processed"],
    ),
    a_hole=(
        Members().processed(0).processed(2).stored(3),
        ["2: orders-0 is committed at 3, and 1 is not processed"],
    ),
    of_another_partition=(
        Members().processed(0).stored(1, partition=1),
        ["1: orders-1 is committed at 1, and 0 is not processed"],
    ),
    after=(Members().processed(0).processed(1, "b").stored(1).stored(2).stored(1), []),
)
def test_what_is_committed_was_processed(story, breaches):
    """A committed offset that passes a record without an effect is told."""
    assert found(commits_of_the_unprocessed, story) == breaches


@cases(
    rebalancing=(
        Members().topic().stable().assigned("a", 0).state("Stable", "PreparingRebalance", 1),
        ["the group is PreparingRebalance"],
    ),
    without_a_coordinator=(
        Members().topic().stable().assigned("a", 0).fault("crash", "broker-0"),
        ["the group is Empty"],
    ),
    nobody_has_it=(
        Members().topic(2).stable().assigned("a", 0),
        ["orders-1 belongs to nobody"],
    ),
    its_owner_crashed=(
        Members().topic().stable().assigned("a", 0).fault("crash", "a"),
        ["orders-0 belongs to nobody"],
    ),
    its_owner_left=(
        Members().topic().stable().assigned("a", 0).unjoined("a"),
        ["orders-0 belongs to nobody"],
    ),
    two_have_it=(
        Members().topic().stable().assigned("a", 0).assigned("b", 0, generation=2),
        ["orders-0 belongs to a and b"],
    ),
    grown=(
        Members().topic().stable().assigned("a", 0).topic(2),
        ["orders-1 belongs to nobody"],
    ),
    no_topic=(Members().stable(), ["a topic is missing"]),
    settled=(
        Members().topic(2).stable().assigned("a", 0).assigned("b", 1),
        [],
    ),
)
def test_groups_get_settled(story, breaches):
    """A group that is not Stable in the end is told, and a partition without just one owner."""
    assert found(unsettled_groups, story, topics=TOPICS) == breaches


def test_every_invariant_is_asked():
    """A run is shown to all folds but those about what it may lose."""
    always = ["states", "generations", "ghosts", "owners", "gaps", "positions", "committers"]
    always += ["callbacks"]

    def asked(**plan):
        return list(invariants_of(topics=TOPICS, acknowledged=[], loners=[], **plan))

    assert asked(loses_nothing=False, settled_seq=9) == always
    assert asked(loses_nothing=True, settled_seq=None) == [*always, "unprocessed"]
    assert asked(loses_nothing=True, settled_seq=0) == [*always, "unprocessed", "lost"]
    assert list(message_invariants_of(joins_end_silently=False)) == [
        "commits",
        "refusals",
        "answers",
    ]
