"""Runs of whole groups come far, can be repeated, and tell what broke."""

from dataclasses import replace

import pytest

from kafkalearn.engine.faults import Crash, CutOff, Freeze, Restart
from kafkalearn.profile import PROFILES
from tests.whole_groups.chunks import SEEDS, chunks
from tests.whole_groups.draw import plan_of
from tests.whole_groups.outcome import FEW, Outcome, outcome_of
from tests.whole_groups.plan import (
    BROKERS,
    COMMIT_BEFORE,
    COMMITS,
    MESSAGES_EVERY,
    Change,
    Life,
    MemberPlan,
    Plan,
    unfair,
)
from tests.whole_groups.run import Run

PLANS = [plan_of(seed) for seed in SEEDS]
MEMBERS = [member for plan in PLANS for member in plan.members]
C1 = MemberPlan(
    name="c1",
    lives=(Life(0),),
    topics=("orders",),
    commit="sync",
    config={"group_id": "billing", "partition_assignment_strategy": ("range",)},
    poll_ms=500,
    process_ms=0,
    bounded=False,
    slow=(0, 0, 0),
)
C2 = replace(C1, name="c2")
PLAN = Plan(
    seed=1,
    profile="2.4",
    topics={"orders": 1},
    settings={},
    faults=(),
    members=(C1, C2),
    producers=(),
    changes=(),
    quiet_ms=9_000,
)


def offering(member, *strategy):
    """Let a member offer these assignors."""
    return replace(member, config=member.config | {"partition_assignment_strategy": strategy})


def test_all_that_varies_is_met():
    """The plans have each profile, assignor, way to commit, fault, change and kind of member."""
    assert {plan.profile for plan in PLANS} == set(PROFILES)
    assert {member.commit for member in MEMBERS} == {*COMMITS, COMMIT_BEFORE}
    assert {each for member in MEMBERS for each in member.strategy} == {
        *("range", "roundrobin", "sticky", "cooperative-sticky")
    }
    faults = [fault for plan in PLANS for fault in plan.all_faults]
    assert {fault.kind for fault in faults} == {
        *("crash", "restart", "freeze", "cut_off", "drop", "delay", "answer_with_error")
    }
    crashed = {fault.node for fault in faults if isinstance(fault, Crash)}
    assert crashed >= {*BROKERS, "c1", "m1"}
    assert {(each.topic, each.count > 0) for plan in PLANS for each in plan.changes} == {
        *(("orders", True), ("payments", True), ("payments", False)),
        *(("payouts", True), ("payouts", False)),
    }
    for kind in ("is_alone", "is_static", "bounded"):
        assert any(getattr(each, kind) for each in MEMBERS)
    assert any(isinstance(each.topics, str) for each in MEMBERS)


def test_each_plan_is_fair():
    """What is drawn is what all promises are made for."""
    assert {plan.seed: list(unfair(plan)) for plan in PLANS if any(unfair(plan))} == {}


@pytest.mark.parametrize(
    ("changed", "sentence"),
    {
        "nobody": ({"members": ()}, "the first member does not stay"),
        "all leave": (
            {"members": (replace(C1, lives=(Life(0, 5_000),)), C2)},
            "the first member does not stay",
        ),
        "a topic too much": (
            {"topics": {"orders": 1, "payments": 1}},
            "the first member does not read all that there is",
        ),
        "no topic": (
            {"changes": (Change(5_000, "orders", 0),)},
            "the first member does not read all that there is",
        ),
        "nothing in common": (
            {"members": (C1, offering(C2, "sticky"))},
            "no assignor is known to all",
        ),
        "a failover": (
            {
                "members": (C1, offering(C2, "sticky", "range")),
                "faults": (Freeze("broker-0", 1_000, 10),),
            },
            "a coordinator may move while members offer different assignors",
        ),
        "a dead broker": (
            {"faults": (Restart("broker-1", 900), Crash("broker-1", 1_000))},
            "broker-1 stays dead",
        ),
        "a blind leader": (
            {
                "members": (C1, replace(C2, config=C2.config | {"group_instance_id": "c2"})),
                "changes": (Change(5_000, "orders", 2),),
            },
            "a static leader that restarts does not see what changed meanwhile (KIP-814)",
        ),
        "a fault that lasts": (
            {"faults": (CutOff("broker-0", 8_000, 1_001),)},
            "cut_off(broker-0,at_ms=8000,for_ms=1001) is not over when all is quiet",
        ),
        "a stranger": ({"faults": (Freeze("c3", 0, 1),)}, "there is no c3"),
        "two lives at once": (
            {"members": (C1, replace(C2, lives=(Life(0, 5_000), Life(4_000))))},
            "c2 lives in no order, or for too long",
        ),
    }.values(),
)
def test_what_is_unfair_is_said(changed, sentence):
    """A plan in which promises need not hold is refused with the reason."""
    assert list(unfair(PLAN)) == []
    assert list(unfair(replace(PLAN, **changed))) == [sentence]


@pytest.mark.parametrize(
    ("profile", "changed", "settled"),
    [
        ("2.4", {}, True),
        ("2.4", {"members": (replace(C1, config=C1.config | {"group_instance_id": "c1"}),)}, False),
        ("4.0", {"members": (replace(C1, config=C1.config | {"group_instance_id": "c1"}),)}, True),
        ("1.0", {"changes": (Change(5_000, "orders", 0),)}, False),
        ("1.0", {"changes": (Change(5_000, "orders", 2),)}, True),
        ("2.3", {"changes": (Change(5_000, "orders", 0),)}, True),
    ],
)
def test_it_is_known_which_groups_get_settled(profile, changed, settled):
    """Two of Kafka's own bugs, and what they need, are known; nothing else is excused."""
    assert replace(PLAN, profile=profile, **changed).gets_settled == settled


def test_the_seed_says_all():
    """A run is the same when it is played again."""
    traces = []
    for _ in range(2):
        run = Run(plan_of(MESSAGES_EVERY))
        run.play()
        traces.append(run.trace)
        run.sim.dispose()
    assert traces[0].records("send")
    assert traces[0] == traces[1]


def test_each_seed_is_in_one_chunk():
    """Both halves together are all seeds, each once."""
    seeds = [seed for half in (0, 1) for chunk in chunks(half) for seed in chunk]
    assert sorted(seeds) == list(SEEDS)


def test_what_broke_is_told():
    """A run in which nobody stays tells that, and the command that tells more."""
    plan = plan_of(1)
    members = tuple(replace(each, lives=(Life(0, 2_000),)) for each in plan.members)
    outcome = outcome_of(replace(plan, members=members))
    assert outcome.broken == "settled"
    lines = str(outcome).splitlines()
    assert lines[0] == "settled: the group is Empty"
    assert "settled: orders-0 belongs to nobody" in lines
    assert lines[-1] == "Shrunk and told: make soak FIRST=1 RUNS=1"


def test_few_breaches_are_told():
    """A run that breaks very much tells the first of it."""
    told = Outcome(PLAN, [f"gaps: {seq}: x" for seq in range(FEW + 2)], {}).first_breaches
    assert told == [*(f"gaps: {seq}: x" for seq in range(FEW)), "... and 2 more"]


def test_what_an_application_raises_is_told():
    """An error that ends an application is the first line, and who raised it the next."""
    plan = plan_of(1)
    broken = replace(plan.members[0], commit="sync", bounded=False, poll_ms=-1)
    outcome = outcome_of(replace(plan, members=(broken, *plan.members[1:])))
    assert outcome.broken == "IllegalArgumentError"
    assert outcome.breaches[0] == "IllegalArgumentError: Timeout must not be negative: it is -1"
    assert outcome.breaches[1].startswith(f"raised in script of {broken.name} at ")
