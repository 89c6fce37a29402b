"""The exercises 11, 25, 32 and 37: what their judges say, and in what words.

That each check catches what it must is proven in tests/grading/test_kit.py.
"""

import gc
from typing import Any

import pytest

from kafkalearn.grading.answering.learner import CheckFailedError, asker, check
from kafkalearn.grading.answering.wire import encode
from tests.exercises.answers_a import (
    COMMIT,
    EXERCISES,
    FUNCTIONS,
    LOADED,
    PARTITION,
    PATTERN,
    TRIGGERS,
    answer_of,
    book,
    passed,
    verdict,
)

SEEDS = range(20)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "25_rebalance_triggers"])
def test_the_packages_own_answer_is_not_the_learners(name):
    """It would be right, and is told that it is not lent; the package has none for exercise 25."""
    path = EXERCISES / name / "wrong" / "calls_the_package.ipynb"
    caught_by = book(path)["metadata"]["kafkalearn"]["caught_by"]
    answer = answer_of(path)
    assert verdict(name, caught_by, answer).passed
    with pytest.raises(CheckFailedError, match="this exercise does not lend"):
        check(f"{name}/{caught_by}", answer)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("answer", [None, "", [], {}, True, 7, 1.5, (1, 2), [None], {"a": None}])
def test_an_answer_of_another_kind_is_told_what_is_wanted(name, answer):
    """Each check says no in words, and the judge itself never fails."""
    for each in LOADED[name].checks:
        told = verdict(name, each.name, lambda *_: answer)
        assert not told.passed
        assert "the judge itself failed" not in told.text


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_example_is_true(name):
    """What the starter promises to come out does come out of the solution."""
    namespace: dict[str, Any] = {}
    cells = book(EXERCISES / name / "solution.ipynb")["cells"]
    sources = {cell["id"]: "".join(cell["source"]) for cell in cells}
    exec(sources["example"] + "\n" + sources["answer"], namespace)
    assert eval(sources["example-again"], namespace) is True


def test_what_the_judge_leaves_behind_is_not_borrowed_by_the_learner():
    """While an answer is watched no rubbish of a simulation is freed, which would run its code."""
    ask = asker(lambda: len([[] for _ in range(20_000)]), LOADED[TRIGGERS].lent_modules)
    question = {"question": encode(())}
    before = gc.get_threshold()
    gc.collect()
    gc.disable()
    try:
        next(iter(LOADED[TRIGGERS].judge.inputs("any-story", seed=1_000_000)))
        gc.set_threshold(gc.get_count()[0] + 5000)  # so that the answer would free it
        gc.enable()
        assert ask(question) == {"returned": 20_000}
        assert gc.isenabled()
    finally:
        gc.set_threshold(*before)
        gc.enable()


# What is said: the smallest case that fails, in words.


def said(name, stem, check_name, *, seed=0):
    """Give the lines that a wrong answer is told."""
    answer = answer_of(EXERCISES / name / "wrong" / f"{stem}.ipynb")
    return verdict(name, check_name, answer, seed=seed).text.splitlines()


def test_11_says_how_a_sign_is_lost():
    """The shortest key whose hash goes astray, and its way step by step."""
    assert said(PARTITION, "takes_abs", "sign") == [
        "sign: the key b'tt' goes to partition 2, not 0: its hash -711,811,146 is negative; "
        "neither abs() nor % leaves out the sign bit",
        "",
        "partition: None   key: b'tt'",
        "3 partitions, with a leader: 0, 1, 2   counter: 1",
        "",
        "step              value",
        "its bytes         74 74",
        "murmur2           -711,811,146",
        "without sign bit  1,435,672,502",
        "expected          2",
        "got               0              <- differs",
    ]


def test_11_takes_a_sign_for_one_mistake_only():
    """Whoever takes abs() has understood the rest, and gets the points for it."""
    answer = answer_of(EXERCISES / PARTITION / "wrong" / "takes_abs.ipynb")
    for seed in SEEDS:
        assert passed(PARTITION, answer, seed=seed) == ["hash", "any-bytes", "who-decides"]


def test_32_says_that_a_part_of_a_name_is_not_the_name():
    """One update and one topic are left of the cluster."""
    assert said(PATTERN, "ties_the_ends_by_hand", "whole-names") == [
        "whole-names: update 1: orders2 is there, but 'orders|mails' does not match the whole name",
        "",
        "pattern: orders|mails",
        "internal: __consumer_offsets, __transaction_state",
        "",
        "update  topics     expected        got",
        "1       orders2:1  nothing, joins  orders2, joins  <- differs",
    ]


def test_32_says_why_it_joins():
    """A topic that grew is named with both numbers."""
    sentence = said(PATTERN, "counts_no_partitions", "partitions")[0]
    assert sentence == "partitions: update 2: it joins: orders has 2 partitions instead of 1"


def test_32_says_which_topic_is_gone_though_another_came():
    """The smallest exchange that leaves all totals as they were."""
    lines = said(PATTERN, "counts_all_together", "rejoin")
    assert lines[0] == "rejoin: update 2: it joins: orders is gone"
    assert lines[-1] == "2       orders-eu:1  orders-eu, joins  orders-eu, stays  <- differs"


def test_37_refuses_generations_that_the_group_has_not_reached():
    """A group that was read from an old copy may be behind its members."""
    sentence = said(COMMIT, "refuses_old_ones_only", "with-members")[0]
    assert sentence.endswith(
        "with generation 2 to a group that is Stable, in generation 1, is answered "
        'ILLEGAL_GENERATION, not NONE: "is it its generation?" decides (2, the group\'s is 1)'
    )


def test_37_says_which_check_decides():
    """Kafka's checks down to the one that the answer has in another place."""
    lines = said(COMMIT, "members_before_the_state", "in-a-rebalance")
    assert lines[0].startswith("in-a-rebalance: the commit of c1-")
    assert lines[0].endswith(
        "with generation 0 to a group that is AwaitingSync, in generation 1, is answered "
        'REBALANCE_IN_PROGRESS, not ILLEGAL_GENERATION: "is it waiting for a sync?" decides '
        "(AwaitingSync)"
    )
    assert lines[-1] == "is it waiting for a sync?   AwaitingSync     REBALANCE_IN_PROGRESS"


def test_25_shows_the_shortest_story_and_what_came_before():
    """Of a story with several steps the one is left that the answer misreads."""
    lines = said(TRIGGERS, "joins_are_joins", "topics")
    assert lines[0] == (
        "topics: generation 1: a rebalance begins at 8,009 ms, by subscription_changed, "
        "not 'member_joined'"
    )
    assert lines[2:5] == [
        "1 member subscribes to orders",
        "then: c1 subscribes to mails instead of orders",
        "Before the rebalance of generation 1:",
    ]
    assert lines[10].endswith("broker-0 is asked by c1 to let it join group billing (JoinGroup)")
    assert max(map(len, lines[5:11])) < 100
    assert lines[-1].split() == [
        *("1", "8,009", "ms", "subscription_changed", "member_joined", "<-", "differs"),
    ]


def test_25_knows_the_good_bye_of_one_who_was_given_up_long_ago():
    """It comes shortly before another member is removed, and is shown next to that."""
    lines = said(TRIGGERS, "any_good_bye_will_do", "silence")
    assert lines[0] == (
        "silence: generation 2: a rebalance begins at 31,017 ms, by session_timeout, "
        "not 'member_left'"
    )
    assert lines[3:7] == [
        "then: c2 works for 4 s before it polls again",
        "then: c2 leaves before its next poll",
        "then: c2 stands still for 21 s",
        "then: c3 crashes",
    ]


def test_25_compares_a_member_with_itself():
    """The other member joined later, with fewer topics: that is no change of a subscription."""
    lines = said(TRIGGERS, "compares_with_anybody", "topics")
    assert lines[0].endswith("by partitions_changed, not 'subscription_changed'")
    assert lines[2:5] == [
        "2 members subscribe to orders",
        "then: c1 subscribes to orders and mails",
        "then: orders gets one more partition",
    ]
