"""The exercises 42, 43 and 44, assignors: what judges hold to be right, and in what words.

That each check catches what it must is proven in tests/grading/test_kit.py.
"""

import json
from contextlib import suppress
from functools import cache
from itertools import product
from pathlib import Path
from random import Random

import pytest

from kafkalearn.assignors import RoundRobinAssignor, StickyAssignor
from kafkalearn.grading import CheckFailedError, check
from kafkalearn.grading.answering.learner import answer_message
from kafkalearn.grading.exercise import load
from kafkalearn.grading.judging import assignments
from kafkalearn.grading.judging.judge import cases_of, decide
from kafkalearn.grading.kit import answers_of
from kafkalearn.records import Subscription, TopicPartition
from tests.assignors.cases import cases, check_balanced, subscriptions

EXERCISES = Path(__file__).parents[2] / "exercises"
NAMES = ["42_round_robin_assignor", "43_sticky_assignor", "44_your_own_assignor"]
ROUND_ROBIN, STICKY, BY_LAG = LOADED = [load(EXERCISES / name) for name in NAMES]
WRONG = [path for name in NAMES for path in sorted((EXERCISES / name / "wrong").glob("*.ipynb"))]
BORROWED = [path for path in WRONG if path.stem == "calls_the_package"]
each_exercise = pytest.mark.parametrize("exercise", LOADED, ids=lambda each: each.name)


@cache
def answers(path):
    """What a notebook hands to each of its checks."""
    return answers_of(path)


def asker(answer):
    """Ask this answer here, as the judge asks over its socket."""
    return lambda message: answer_message(answer, message)


def says_no(exercise, check, answer, seed):
    """Whether the check finds something; nothing is made small, which takes longer."""
    kind = cases_of(exercise, asker(answer))
    return any(found for _, found in kind.tried(check, seed))


def said(exercise, check, answer, seed=0):
    """What the judge says, line by line."""
    verdict = decide(exercise, check, seed=seed, ask=asker(answer))
    assert not verdict.passed
    return verdict.text.splitlines()


def wrong(exercise, stem, check):
    """A wrong answer, as it is handed to a check."""
    return answers(EXERCISES / exercise.name / "wrong" / f"{stem}.ipynb")[check]


def every_case(exercise, seeds=range(6)):
    """All that an exercise asks about under some seeds."""
    names = [each.name for each in exercise.checks]
    return (
        case for name, seed in product(names, seeds) for case in exercise.judge.inputs(name, seed)
    )


@pytest.mark.parametrize("path", BORROWED, ids=lambda path: path.parts[-3])
def test_the_packages_own_assignor_is_not_the_learners(path):
    """It would be right, and is told that it is not lent."""
    exercise = load(path.parents[1])
    for each in exercise.checks:
        assert not says_no(exercise, each.name, answers(path)[each.name], 0)
        with pytest.raises(CheckFailedError, match="this exercise does not lend kafkalearn"):
            check(f"{exercise.name}/{each.name}", answers(path)[each.name])


@each_exercise
def test_small_groups_are_asked_about_first(exercise):
    """So that the first that goes wrong is small."""
    for each in exercise.checks:
        first, *_, last = exercise.judge.inputs(each.name, 1)
        assert sum(map(len, first)) <= sum(map(len, last))


@each_exercise
@pytest.mark.parametrize("answer", [None, "", [], {}, 7, (1, 2), [None, {}], {"a": None}, {1: []}])
def test_an_answer_of_another_kind_is_told_what_is_wanted(exercise, answer):
    """Each check says no in words, and the judge itself never fails."""
    for each in exercise.checks:
        lines = said(exercise, each.name, lambda *_: answer)
        assert "the judge itself failed" not in lines[0]


def test_round_robins_reference_agrees_with_the_package_and_with_kafka():
    """The judge's slow way, the package's, and Kafka's own answers are the same."""
    judge = ROUND_ROBIN.judge
    for case in every_case(ROUND_ROBIN):
        assert judge.problem(case, RoundRobinAssignor().assign(*case)) is None
    asked = 0
    for case in cases("roundrobin"):
        group = case["partitions_per_topic"], subscriptions(case)
        if not any(member.group_instance_id for member in group[1].values()):
            expected = {
                m: [TopicPartition(*p) for p in mine] for m, mine in case["expected"].items()
            }
            assert judge.problem(group, expected) is None
            asked += 1
    assert asked > 10


def test_kafkas_sticky_answers_keep_what_the_exercise_asks_for():
    """The package's assignor passes, also where a bound says how many partitions can stay."""
    for case in every_case(STICKY):
        answer = StickyAssignor().assign(*case)
        assert STICKY.judge.problem(case, answer) is None
        check_balanced(answer, case[1])


def test_the_bound_on_what_can_stay_is_the_most_that_any_balanced_answer_keeps():
    """Where all subscribe to the same: tried on every way to share out five partitions."""
    t0 = [TopicPartition("t0", number) for number in range(5)]
    for seed in range(30):
        draw = Random(seed)
        owned = {m: [] for m in ("a", "b", "c")}
        for partition in t0:
            owned[draw.choice(["a", "a", "b", "c"])].append(partition)
        group = {"t0": 5}, {m: Subscription(["t0"], mine, 1) for m, mine in owned.items()}
        owners = assignments.owners_before(group)
        most = 0
        for takers in product(owned, repeat=5):
            sizes = [takers.count(member) for member in owned]
            if max(sizes) - min(sizes) <= 1:
                most = max(most, sum(owners.get(p) == m for p, m in zip(t0, takers, strict=True)))
        assert (
            STICKY.judge.most_that_can_stay(owners, dict.fromkeys(owned, t0[:1]) | {"a": t0[:3]})
            == most
        )


def test_dealing_the_largest_lag_first_is_within_four_thirds_of_the_best():
    """What an answer may not be worse than is itself good: every way to share out was tried."""
    judge = BY_LAG.judge
    for seed in range(30):
        draw = Random(seed)
        lags = [draw.randint(1, 20) for _ in range(6)]
        members = ("a", "b", "c")
        shares = product(range(3), repeat=6)
        best = min(
            max(sum(lag for lag, i in zip(lags, each, strict=True) if i == k) for k in range(3))
            for each in shares
        )
        group = {"t0": lags}, dict.fromkeys(members, Subscription(["t0"]))
        loads = [sum(lags[p.partition] for p in mine) for mine in judge.dealt_anew(group).values()]
        assert best <= max(loads) <= best * 4 / 3


def test_the_reference_by_lag_keeps_its_own_promises():
    """On all that is asked, and it is an answer to the last check in any order."""
    judge = BY_LAG.judge
    for case in every_case(BY_LAG):
        turned = [dict(reversed(part.items())) for part in case]
        assert judge.problem(case, [judge.reference(*case), judge.reference(*turned)]) is None


def test_a_better_answer_by_lag_passes_too():
    """Dealing the largest first gives 7; 6 is the best, and nobody has to deal like that."""
    case = {"t0": [3, 3, 2, 2, 2]}, dict.fromkeys(("a", "b"), Subscription(["t0"]))
    t0 = [TopicPartition("t0", number) for number in range(5)]
    assert [len(mine) for mine in BY_LAG.judge.dealt_anew(case).values()] == [3, 2]  # 3 + 2 + 2
    assert BY_LAG.judge.problem(case, {"a": t0[:2], "b": t0[2:]}) is None


def test_what_is_owned_may_move_if_that_makes_the_heaviest_lighter():
    """c0 carries 9 and no single move helps; dealing anew helps, and is asked for."""
    t0 = [TopicPartition("t0", number) for number in range(4)]
    owned = {"c0": t0[:2], "c1": t0[2:]}
    case = (
        {"t0": [6, 6, 5, 3]},
        {member: Subscription(["t0"], mine, 1) for member, mine in owned.items()},
    )
    assert BY_LAG.judge.problem(case, owned) == (
        "c0 carries 12; if the largest lags are dealt first, nobody carries over 11"
    )
    assert BY_LAG.judge.problem(case, {"c0": [t0[0], t0[2]], "c1": [t0[1], t0[3]]}) is None


OWNED_IS_TRUSTED_UNLESS = {
    "a move helps": lambda case, owned: BY_LAG.judge._could_move(case, owned),
    "it is heavy": lambda case, owned: BY_LAG.judge._too_heavy(case, owned),
    "it is not all": lambda case, owned: assignments.forgotten(BY_LAG.judge._group(case), owned),
    "it is not valid": lambda case, owned: assignments.malformed(BY_LAG.judge._group(case), owned),
}


@pytest.mark.parametrize("left_out", list(OWNED_IS_TRUSTED_UNLESS))
def test_what_is_owned_is_looked_at_from_every_side(left_out):
    """Who keeps it without one of these questions is caught by a fixed case of stays-put."""
    asked = [ask for name, ask in OWNED_IS_TRUSTED_UNLESS.items() if name != left_out]

    def assign(lags, group):
        owned = {member: list(group[member].owned_partitions) for member in group}
        case = lags, group
        with suppress(IndexError):
            if any(owned.values()) and not any(ask(case, owned) for ask in asked):
                return owned
        return BY_LAG.judge.reference(lags, group)

    assert says_no(BY_LAG, "stays-put", assign, 0)


def test_the_smallest_case_of_the_table_that_two_documents_print():
    """The circle that begins anew: two topics of one partition are enough."""
    begins_anew = wrong(ROUND_ROBIN, "circle_begins_anew", "random-groups")
    assert said(ROUND_ROBIN, "random-groups", begins_anew, seed=3) == [
        "random-groups: c1 gets t0-0 t1-0; round robin gives it t0-0",
        "",
        "Partitions: t0 has 1, t1 has 1",
        "Members, in the order of your dict: c1, c10",
        "",
        "member  subscribes to  expected  got",
        "c1      t0 t1          t0-0      t0-0 t1-0  <- differs",
        "c10     t1             t1-0      nothing    <- differs",
    ]


def test_the_smallest_case_of_a_needless_move():
    """What moved, what could have stayed, and one right answer."""
    assert said(STICKY, "member-joins", wrong(STICKY, "takes_all_from_one", "member-joins")) == [
        "member-joins: 3 partitions stay with their owners; in a balanced answer 4 can",
        "",
        "Partitions: t0 has 6",
        "Members, in the order of your dict: c0, c1, new, newer",
        "",
        "member  subscribes to  owned           one right answer  got",
        "c0      t0             t0-1 t0-2       t0-1 t0-2         t0-1 t0-5",
        "c1      t0             t0-3 t0-4 t0-5  t0-3 t0-4         t0-3 t0-4",
        "new     t0             nothing         t0-0              t0-0",
        "newer   t0             nothing         t0-5              t0-2",
    ]


def test_the_smallest_case_of_a_stale_claim():
    """The generations of both claims are told."""
    assert said(STICKY, "stale-claims", wrong(STICKY, "believes_the_last", "stale-claims")) == [
        "stale-claims: 0 partitions stay with their owners; in a balanced answer 1 can",
        "",
        "Partitions: t0 has 2",
        "Members, in the order of your dict: a, b",
        "Owned in generation: a in 5, b in 4",
        "",
        "member  subscribes to  owned  one right answer  got",
        "a       t0             t0-0   t0-0              t0-1",
        "b       t0             t0-0   t0-1              t0-0",
    ]


def test_the_smallest_case_of_a_move_that_helps():
    """Lags and loads are told."""
    never_again = wrong(BY_LAG, "never_looks_again", "no-move-helps")
    assert said(BY_LAG, "no-move-helps", never_again) == [
        "no-move-helps: t0-0 (lag 1) could move from c0 (carries 2) to c1 (carries 0)",
        "",
        "Partitions: t0 has 1, t1 has 1",
        "Members, in the order of your dict: c0, c1",
        "Lags, partition 0 first: t0 1; t1 1",
        "",
        "member  subscribes to  one right answer  got",
        "c0      t0 t1          t1-0 (carries 1)  t0-0 t1-0 (carries 2)",
        "c1      t0             t0-0 (carries 1)  nothing",
    ]


def test_the_smallest_case_of_an_answer_that_a_dict_decides():
    """Both answers are shown, the one to the dicts turned round last."""
    as_they_come = wrong(BY_LAG, "as_they_come", "any-order")
    assert said(BY_LAG, "any-order", as_they_come) == [
        "any-order: a gets nothing; with both dicts turned round it gets t0-0",
        "",
        "Partitions: t0 has 1",
        "Members, in the order of your dict: b, a",
        "Lags, partition 0 first: t0 0",
        "",
        "member  subscribes to  got               got, turned round",
        "a       t0             nothing           t0-0 (carries 0)",
        "b       t0             t0-0 (carries 0)  nothing",
    ]


@pytest.mark.parametrize("path", [p for p in WRONG if p not in BORROWED], ids=lambda p: p.stem)
def test_each_wrong_answer_gets_a_picture_of_both_assignments(path):
    """Two matrices, a right one and the learner's; the same each time."""
    exercise = load(path.parents[1])
    caught_by = json.loads(path.read_text(encoding="utf-8"))["metadata"]["kafkalearn"]["caught_by"]
    first, again = (
        decide(exercise, caught_by, seed=0, ask=asker(answers(path)[caught_by])).shown
        for _ in range(2)
    )
    assert first == again
    assert first.picture.count('class="kl-matrix"') == 2
