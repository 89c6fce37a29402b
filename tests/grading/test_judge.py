"""The judge of exercise 41, without kernels: who passes, who is caught, and what is said."""

import pytest

from kafkalearn.assignors import RangeAssignor
from kafkalearn.grading.judging.judge import Verdict, decide
from kafkalearn.records import TopicPartition
from tests.grading.submissions import (
    CHECKS,
    EXERCISE,
    FOLDER,
    answer_of,
    asker,
    changed,
)

SEEDS = range(20)


def verdicts(answer, seed=0, exercise=EXERCISE):
    """What the judge says about each check."""
    return {name: decide(exercise, name, seed=seed, ask=asker(answer)) for name in CHECKS}


def passed(answer, seed):
    """The checks that an answer passes."""
    return [name for name, verdict in verdicts(answer, seed).items() if verdict.passed]


def test_a_starter_is_told_that_it_is_not_written_yet():
    """NotImplementedError is no mistake of the learner, and one sentence is all there is to say."""
    said = verdicts(answer_of(FOLDER / "starter.ipynb"))["by-name"].text
    assert said == "by-name: not written yet: your answer still raises NotImplementedError"


def test_small_groups_are_asked_about_first():
    """So that the first that goes wrong is small, whatever the seed."""
    for name in CHECKS:
        sizes = [
            len(members) + sum(topics.values())
            for topics, members in EXERCISE.judge.inputs(name, 1)
        ]
        assert sizes == sorted(sizes)


def test_the_reference_agrees_with_the_package():
    """The judge's slow way and the package's RangeAssignor agree on all inputs of 20 seeds."""
    for name in CHECKS:
        for seed in SEEDS:
            for arguments in EXERCISE.judge.inputs(name, seed):
                kafka = RangeAssignor().assign(*arguments)
                assert EXERCISE.judge.problem(arguments, kafka) is None


def asked_with(change):
    """The verdict on a right answer whose replies are changed, and how often it was asked."""
    ask, said = asker(answer_of(FOLDER / "solution.ipynb")), []

    def changed_ask(message):
        said.append(message)
        return change(ask(message))

    return decide(EXERCISE, "random-groups", seed=1, ask=changed_ask), said


def test_cases_are_asked_about_in_groups_that_grow():
    """A check of forty cases takes four messages; each case is answered and judged for itself."""
    verdict, said = asked_with(lambda reply: reply)
    assert [len(message["each"]) for message in said] == [4, 8, 16, 12]
    assert verdict.sentence == "random-groups: right in 40 of 40 cases"


@pytest.mark.parametrize(
    "change",
    [
        lambda each: {"each": each[:-1]},
        lambda each: {"each": len(each)},
        lambda each: {"refused": "the answer is longer than 2 MB"},
    ],
)
def test_a_group_that_is_not_answered_is_asked_about_one_by_one(change):
    """Answers that together are too long, or too few, are still heard one at a time."""
    verdict, said = asked_with(lambda reply: change(reply["each"]) if "each" in reply else reply)
    assert len(said) == 4 + 40
    assert verdict.passed


def test_what_is_no_answer_in_a_group_fails_its_case():
    """Nothing that a group's reply holds passes for an answer but an answer."""
    verdict, _ = asked_with(lambda reply: {"each": ["yes"] * len(reply.get("each", []))})
    assert verdict.sentence == "random-groups: no answer came back"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda members: None, "the answer is None (is a `return` missing?)"),
        (lambda members: [], "the answer is a list"),
        (lambda members: {}, "a is missing"),
        (lambda members: {m: [] for m in [*members, "z"]}, "'z', which is no member"),
        (lambda members: dict.fromkeys(members, ()), "a gets a tuple"),
        (lambda members: {m: [("t0", 0)] for m in members}, "TopicPartition(topic, number) is"),
        (lambda members: {m: [TopicPartition("t0", 5)] for m in members}, "t0-5, which does not"),
        (lambda members: {m: [TopicPartition("t9", 0)] for m in members}, "t9-0, which does not"),
        (lambda members: {m: [] for m in members}, "a gets nothing; range gives it t0-0"),
        (lambda members: {m: {1} for m in members}, "the answer holds a set"),
    ],
)
def test_a_malformed_answer_gets_its_own_sentence(answer, said):
    """The smallest group shows what is malformed; each reason fits its answer."""
    verdict = decide(EXERCISE, "by-name", seed=0, ask=asker(lambda _, members: answer(members)))
    assert not verdict.passed
    assert said in verdict.sentence


def test_a_partition_given_twice_is_named():
    """Every member gets everything: the smallest group has two members and one partition."""

    def everything(counts, members):
        partitions = [TopicPartition(topic, n) for topic in counts for n in range(counts[topic])]
        return {member: partitions if wants.topics else [] for member, wants in members.items()}

    verdict = decide(EXERCISE, "seven-over-five", seed=0, ask=asker(everything))
    assert verdict.sentence == "seven-over-five: t0-0 is given twice: to c0 and to c1"
    assert "Partitions: t0 has 1" in verdict.text


def test_what_cannot_be_read_is_one_kind_of_failure():
    """Whichever side refuses an answer, the smallest group in which that happens is shown."""

    def answer(_, members):
        return {m: [TopicPartition("t0", "x")] if len(members) > 1 else {m} for m in members}

    verdict = decide(EXERCISE, "seven-over-five", seed=0, ask=asker(answer))
    assert verdict.sentence.startswith("seven-over-five: the answer holds a set: only None, bool")
    assert verdict.shown.table.caption.splitlines()[0] == "Partitions: none"


def test_a_subscription_is_respected():
    """Giving a member a topic that it does not want is named before anything else."""
    everything = answer_of(FOLDER / "wrong" / "all_topics_together.ipynb")
    assert "but does not subscribe to" in verdicts(everything)["nobody-forgotten"].sentence


def test_the_order_within_a_list_is_free():
    """A member's partitions may come in any order."""
    solution = answer_of(FOLDER / "solution.ipynb")

    def backwards(*group):
        return {member: partitions[::-1] for member, partitions in solution(*group).items()}

    assert passed(backwards, 0) == CHECKS


def test_changing_the_inputs_does_not_change_the_case():
    """An answer that empties what it was given is judged by what was asked."""

    def empties(partitions_per_topic, subscriptions):
        partitions_per_topic.clear()
        subscriptions.clear()
        return {}

    assert passed(empties, 0) == []


def test_an_exception_is_told_with_the_line_that_raised_it():
    """The learner sees the kind, the message and the source line, on one line."""

    def answer(partitions_per_topic, subscriptions):
        return partitions_per_topic["nowhere\n"]

    said = verdicts(answer)["by-name"].sentence
    assert said.startswith("by-name: your code stopped with KeyError: 'nowhere\\n' (at: return")


def test_sys_exit_inside_an_answer_is_an_exception_like_any_other():
    """A function that exits has failed the check, not ended it."""
    said = verdicts(lambda *_: exit_with_success())["by-name"].sentence
    assert "your code stopped with SystemExit: 0" in said


def exit_with_success():
    """Leave as if all were well."""
    raise SystemExit(0)


def test_the_smallest_case_is_shown_in_words():
    """The verdict ends with a group that can lose nothing more, what range gives, and what came."""
    as_they_come = answer_of(FOLDER / "wrong" / "members_as_they_come.ipynb")
    verdict = decide(EXERCISE, "random-groups", seed=3, ask=asker(as_they_come))
    assert verdict.text.splitlines() == [
        "random-groups: c10 gets nothing; range gives it t0-0",
        "",
        "Partitions: t0 has 1",
        "Members, in the order of your dict: c8, c10",
        "",
        "member  subscribes to  expected  got",
        "c10     t0             t0-0      nothing  <- differs",
        "c8      t0             nothing   t0-0     <- differs",
    ]


def test_a_judge_that_fails_or_asks_nothing_lets_nobody_pass():
    """A mistake in an exercise is a failed check that says so."""
    solution = answer_of(FOLDER / "solution.ipynb")
    broken = changed(judge=("    if sentence", "    raise LookupError('oops')\n    if sentence"))
    assert verdicts(solution, exercise=broken)["by-name"] == Verdict(
        False, "by-name: the judge itself failed, tell your teacher: LookupError('oops')"
    )
    silent = changed(
        judge=('groups = list(_GROUPS[check](Random(f"{seed} {check}")))', "groups = []")
    )
    verdict = verdicts(solution, exercise=silent)["by-name"]
    assert (verdict.passed, verdict.sentence[:37]) == (
        False,
        "by-name: the exercise has no inputs f",
    )
