"""The group behind an explorer: what members claim, what is refused, what bad assignors get."""

import pytest

from kafkalearn.assignors import (
    CooperativeStickyAssignor,
    RangeAssignor,
    StickyAssignor,
    all_assignors,
)
from kafkalearn.records import TopicPartition
from kafkalearn.views.explorers.model import ExplorerError
from kafkalearn.views.explorers.scene import Scene

TOPICS = {"t0": 2, "t1": 2}
MEMBERS = {"c0": ["t0", "t1"], "c1": ["t0", "t1"]}


def group_of(*assignors, topics=TOPICS, members=MEMBERS):
    """Make a group under these assignors."""
    return Scene(assignors, topics=topics, members=members)


class Asked(RangeAssignor):
    """Remembers with what it was called."""

    def __init__(self):
        self.calls = []

    def assign(self, partitions_per_topic, subscriptions):
        self.calls.append((partitions_per_topic, subscriptions))
        return super().assign(partitions_per_topic, subscriptions)

    def claims(self):
        """The last call's claims: member -> (labels, generation)."""
        return {
            member: (" ".join(map(str, each.owned_partitions)), each.generation)
            for member, each in self.calls[-1][1].items()
        }


def test_members_claim_what_the_same_assignor_gave_them():
    """With the generation counted up; who is new claims nothing, of no generation."""
    asked = Asked()
    group = group_of(asked)
    assert asked.claims() == {"c0": ("", -1), "c1": ("", -1)}
    group.add_member("c2")
    assert asked.claims() == {"c0": ("t0-0 t1-0", 1), "c1": ("t0-1 t1-1", 1), "c2": ("", -1)}
    group.remove_member("c0")
    assert asked.claims() == {"c1": ("t0-1 t1-1", 2), "c2": ("", 2)}


def test_a_member_does_not_claim_what_it_no_longer_wants():
    """It gives those up before it joins again, as a client does."""
    asked = Asked()
    group_of(asked).unsubscribe("c0", "t0")
    assert asked.claims()["c0"] == ("t1-0", 1)


def test_who_left_and_comes_back_is_new():
    """The first free name is taken again; what its last bearer had is neither claimed nor kept."""
    asked = Asked()
    group = group_of(asked)
    group.remove_member("c0")
    group.add_member()
    assert group.change == "c0 joined"
    assert asked.claims() == {"c1": ("t0-0 t0-1 t1-0 t1-1", 2), "c0": ("", -1)}
    rows = {row["name"]: row for row in group.histories["range"].result["members"]}
    assert rows["c0"]["state"] == "joined"
    assert {cell["state"] for cell in rows["c0"]["partitions"]} == {"moved"}


def test_members_stand_in_the_order_of_the_reasons():
    """Who comes back stands where assignors come to it, in the table and in each picture."""
    group = group_of(RangeAssignor(), members={**MEMBERS, "c2": ["t0", "t1"]})
    group.remove_member("c1")
    group.add_member()
    assert list(group.members) == ["c0", "c1", "c2"]
    frame = group.histories["range"].frame(0)
    assert [row["name"] for row in frame["members"]] == ["c0", "c1", "c2"]


def test_a_topic_that_is_created_again_is_new():
    """It has the first free name, nobody claims a partition of it, and all of it counts as new."""
    asked = Asked()
    group = group_of(asked)
    group.remove_topic("t0")
    group.add_topic(partitions=2)
    assert group.change == "t0 was added with 2 partitions"
    assert asked.claims() == {"c0": ("t1-0", 2), "c1": ("t1-1", 2)}
    rows = group.histories["range"].result["members"]
    states = {cell["topic"]: cell["state"] for row in rows for cell in row["partitions"]}
    assert states == {"t0": "new", "t1": "kept"}


@pytest.mark.parametrize(
    ("members", "fresh"),
    [
        (["consumer1", "consumer2"], "consumer3"),
        (["consumer-1", "other"], "consumer-2"),
        (["alice", "bob"], "c0"),
        (["c5"], "c6"),
        ([], "c0"),
    ],
)
def test_a_new_name_has_the_form_of_the_first(members, fresh):
    """It counts up from there; where there is no number, from c0."""
    group = group_of(RangeAssignor(), members={member: ["t0"] for member in members})
    group.add_member()
    assert group.change == f"{fresh} joined"


def test_withheld_partitions_wait_and_the_follow_up_hands_them_out():
    """Only the assignor that withheld rebalances again, and the comparison stays with the start."""
    group = group_of(CooperativeStickyAssignor(), StickyAssignor())
    group.add_member("c2")
    cooperative, eager = group.histories.values()
    assert cooperative.result["waiting"] == 1
    assert cooperative.answer["c2"] == []
    before = cooperative.before
    group.rebalance()
    assert cooperative.result["waiting"] == 0
    assert cooperative.answer == eager.answer
    assert cooperative.before == before
    assert (cooperative.generation, eager.generation) == (3, 2)
    assert (cooperative.result["moved"], cooperative.result["needless"]) == (1, 0)


def test_there_is_no_follow_up_when_nothing_waits():
    """It says why."""
    with pytest.raises(ExplorerError, match="no partition waits"):
        group_of(*all_assignors()).rebalance()


def test_the_same_number_of_partitions_is_no_change():
    """No rebalance, and the picture of the last change stays."""
    group = group_of(RangeAssignor())
    group.remove_member("c1")
    group.set_partitions("t0", 2)
    assert group.change == "c1 left"


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda g: g.add_member("c0"), "already is a member c0"),
        (lambda g: g.add_member(""), "text of 1 to 249 characters"),
        (lambda g: g.add_member(7), "text of 1 to 249 characters"),
        (lambda g: g.add_member("c2", ["t9"]), "no topic 't9': t0, t1 are allowed"),
        (lambda g: g.add_member("c2", "t0"), "a list of topic names"),
        (lambda g: g.remove_member("c9"), "no member 'c9': c0, c1 are allowed"),
        (lambda g: g.remove_member(["c0"]), "no member"),
        (lambda g: g.add_topic("t0"), "already is a topic t0"),
        (lambda g: g.add_topic("no spaces"), "is no topic name"),
        (lambda g: g.add_topic("t9", -1), "from 0 up is allowed"),
        (lambda g: g.remove_topic("t9"), "no topic 't9'"),
        (lambda g: g.set_partitions("t9", 1), "no topic 't9'"),
        (lambda g: g.set_partitions("t0", 25), "t0 is 25: 0 to 24 are allowed"),
        (lambda g: g.set_partitions("t0", None), "t0 is None: a whole number"),
        (lambda g: g.set_partitions("t0", 1.5), "t0 is 1.5: a whole number"),
        (lambda g: g.subscribe("c0", "t0"), "c0 already subscribes to t0"),
        (lambda g: g.subscribe("c0", "t9"), "no topic 't9'"),
        (lambda g: g.unsubscribe("c9", "t0"), "no member 'c9'"),
    ],
)
def test_a_wrong_value_is_named_and_changes_nothing(act, sentence):
    """Each refusal says what is allowed."""
    group = group_of(*all_assignors())
    with pytest.raises(ValueError, match=sentence):
        act(group)
    assert (group.topics, group.members) == (TOPICS, {m: tuple(t) for m, t in MEMBERS.items()})
    assert {each.generation for each in group.histories.values()} == {1}


def test_the_bounds_are_reached_and_then_refused():
    """12 members and 6 topics fit; one more is refused in a sentence."""
    group = group_of(*all_assignors())
    for _ in range(10):
        group.add_member()
    for _ in range(4):
        group.add_topic(partitions=24)
    with pytest.raises(ExplorerError, match="c12 is one member too many: at most 12"):
        group.add_member()
    with pytest.raises(ExplorerError, match="t6 is one topic too many: at most 6"):
        group.add_topic()


def test_a_group_may_run_empty():
    """No member, no topic, no partition: nothing fails."""
    group = group_of(*all_assignors(), topics={"t0": 1}, members={"c0": ["t0"]})
    group.set_partitions("t0", 0)
    assert {each.result["most"] for each in group.histories.values()} == {0}
    group.remove_topic("t0")
    group.remove_member("c0")
    group.add_member()
    assert group.said().startswith("c0 joined: ")
    assert [each.failure for each in group.histories.values()] == [""] * 4


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"assignors": []}, "1 to 6 with different names"),
        ({"assignors": 7}, "the assignors are 7: a list is allowed"),
        ({"assignors": RangeAssignor()}, r"a list is allowed, as in \[RangeAssignor\(\)\]"),
        ({"assignors": [RangeAssignor]}, r"RangeAssignor is a class: write RangeAssignor\(\)"),
        ({"assignors": [RangeAssignor(), RangeAssignor()]}, "different names"),
        ({"assignors": ["range"]}, "is no assignor"),
        ({"topics": ["t0"]}, "a dict is allowed"),
        ({"members": ["c0"]}, "a dict is allowed"),
        ({"topics": {"t0": 25}}, "0 to 24 are allowed"),
        ({"members": {f"c{n}": [] for n in range(13)}}, "at most 12"),
        ({"members": {"c0": ["t9"]}}, "no topic 't9'"),
    ],
)
def test_a_wrong_beginning_is_named(arguments, sentence):
    """The constructor refuses what the controls would refuse."""
    given = {"assignors": [RangeAssignor()], "topics": TOPICS, "members": MEMBERS} | arguments
    with pytest.raises(ValueError, match=sentence):
        Scene(given.pop("assignors"), **given)


class Answers:
    """A learner's assignor that answers as it is told."""

    name = "mine"

    def __init__(self, answer):
        self.answer = answer

    def assign(self, partitions_per_topic, subscriptions):
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


A, B = TopicPartition("t0", 0), TopicPartition("t0", 1)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (RuntimeError("oh no"), "assign failed with RuntimeError: oh no"),
        (None, "assign gave a NoneType: a dict member -> partitions is allowed"),
        ({"c9": []}, "assign gave partitions to 'c9', who is no member"),
        ({"c0": [A], "c1": [A]}, "assign gave t0-0 to c1, but c0 already has it"),
        ({"c0": [A, A]}, "assign gave t0-0 to c0, but c0 already has it"),
        ({"c0": [("t0", 1.0)]}, "assign gave t0-1.0 to c0, but there is no such partition"),
        ({"c0": [("t0", True)]}, "assign gave t0-True to c0, but there is no such partition"),
        (SystemExit(3), "assign failed with SystemExit: 3"),
        ({"c0": [("t0", 7)]}, "assign gave t0-7 to c0, but there is no such partition"),
        ({"c1": [("t1", 0)]}, "assign gave t1-0 to c1, who does not subscribe to t1"),
        ({"c0": [7]}, "assign failed with TypeError"),
    ],
)
def test_a_wrong_answer_of_an_own_assignor_becomes_a_sentence(answer, sentence):
    """The explorer goes on, and says what is wrong in that assignor's place."""
    members = {"c0": ["t0", "t1"], "c1": ["t0"]}
    group = group_of(RangeAssignor(), Answers(answer), members=members)
    group.add_member("c2", ["t0"])
    assert group.histories["mine"].failure.startswith(sentence)
    assert group.histories["range"].failure == ""
    assert "mine fails to assign" in group.said()


def test_an_own_assignor_that_forgets_a_partition_is_shown_doing_so():
    """A plain tuple will do as a partition, and what nobody got is named."""
    group = group_of(Answers({"c0": [("t0", 0)]}), topics={"t0": 2}, members={"c0": ["t0"]})
    history = group.histories["mine"]
    assert history.answer == {"c0": [A]}
    assert [(cell["topic"], cell["partition"]) for cell in history.result["unowned"]] == [tuple(B)]
    assert "mine gives each 1 and leaves 1 partition with no owner" in group.said()


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (
            lambda g: g.remove_member("c1"),
            "c1 left: range, roundrobin, sticky and cooperative-sticky move only its 2 partitions.",
        ),
        (
            lambda g: g.add_member(),
            "c2 joined: range moves nothing; roundrobin moves 1 that need not move; sticky moves "
            "1, not needlessly; cooperative-sticky moves nothing and holds back 1 that must be "
            "given up first.",
        ),
        (
            lambda g: g.set_partitions("t0", 3),
            "t0 now has 3 partitions instead of 2: range moves 1 that need not move; roundrobin "
            "moves 2 that need not move; sticky and cooperative-sticky move nothing.",
        ),
    ],
)
def test_one_sentence_says_what_happened(act, sentence):
    """The change first, then the assignors, those of one outcome together."""
    group = group_of(*all_assignors())
    act(group)
    assert group.said() == sentence
