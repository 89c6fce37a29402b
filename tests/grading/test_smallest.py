"""Failing cases are made small: deterministic, bounded, and still failing in the same way."""

from kafkalearn.grading.judging.smallest import (
    MOST_TRIES,
    Finding,
    simpler_arguments,
    simpler_value,
    smallest,
)
from kafkalearn.records import Subscription, TopicPartition


def shrunk(case, fails):
    """The smallest case, and how often was asked on the way."""
    asked = []

    def find(candidate):
        asked.append(candidate)
        return fails(candidate)

    small, found = smallest(case, fails(case), simpler=simpler_arguments, find=find)
    assert fails(small) == found
    return small, len(asked)


def wrong(condition, evidence=None):
    """A finding if the condition holds."""
    return Finding("wrong", "wrong", evidence) if condition else None


def test_what_the_failure_does_not_need_is_left_out():
    """Of twenty members and counts up to a hundred, two members and one partition are left."""
    counts = {f"t{i}": 100 for i in range(5)}
    members = {f"c{i}": Subscription([f"t{i % 5}", "t3"]) for i in range(20)}

    def fails(case):
        counts, members = case
        readers = [m for m, wants in members.items() if "t3" in wants.topics]
        return wrong(counts.get("t3", 0) >= 1 and len(readers) >= 2)

    (counts, members), asked = shrunk((counts, members), fails)
    assert counts == {"t3": 1}
    assert [wants.topics for wants in members.values()] == [("t3",), ("t3",)]
    assert asked < 100


def test_a_smaller_case_must_fail_in_the_same_kind():
    """An exception on an empty list does not replace a wrong answer on a longer one."""

    def fails(case):
        if not case[0]:
            return Finding("stopped", "IndexError", None)
        return wrong(max(case[0]) > 3)

    assert shrunk(([1, 9, 2],), fails)[0] == ([4],)


def test_the_number_of_questions_is_bounded():
    """A case that shrinks for ever is given up after so many tries, and what there is, is kept."""
    small, asked = shrunk((10**9, list(range(400))), lambda case: wrong(sum(case[1]) > 1000))
    assert asked <= MOST_TRIES
    assert sum(small[1]) > 1000


def test_simpler_values_are_simpler_and_keep_their_kind():
    """Collections, counts and subscriptions lose something; text, None and partitions stay."""
    assert list(simpler_value([1, "a"])) == [["a"], [1], [0, "a"]]
    assert list(simpler_value((5,))) == [(), (0,), (2,), (4,)]
    assert list(simpler_value({"t": 1})) == [{}, {"t": 0}]
    assert [each.topics for each in simpler_value(Subscription(["a", "b"]))] == [("b",), ("a",)]
    for value in ("text", None, True, 0, -1, 1.5, TopicPartition("t", 1)):
        assert list(simpler_value(value)) == []
