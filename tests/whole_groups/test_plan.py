"""Runs of whole groups come far, can be repeated, and tell what broke."""

from dataclasses import replace

from kafkalearn.profile import PROFILES
from tests.whole_groups.chunks import chunks
from tests.whole_groups.outcome import LAST_LINES, outcome_of
from tests.whole_groups.plan import COMMIT_BEFORE, COMMITS, plan_of
from tests.whole_groups.run import Run

SAMPLE = range(1_000)


def members():
    """Give each member of the sample."""
    return [member for seed in SAMPLE for member in plan_of(seed).members]


def test_all_that_varies_is_met():
    """A thousand plans have each profile, assignor, way to commit and fault."""
    plans = [plan_of(seed) for seed in SAMPLE]
    assert {plan.profile for plan in plans} == set(PROFILES)
    assert {member.commit for member in members()} == {*COMMITS, COMMIT_BEFORE}
    strategies = {
        each for member in members() for each in member.config["partition_assignment_strategy"]
    }
    assert strategies == {"range", "roundrobin", "sticky", "cooperative-sticky"}
    kinds = {fault.kind for plan in plans for fault in plan.faults}
    assert kinds == {"crash", "restart", "freeze", "cut_off", "drop", "delay", "answer_with_error"}
    assert any(plan.growth for plan in plans)


def test_the_seed_says_all():
    """A run is the same when it is played again."""
    traces = []
    for _ in range(2):
        run = Run(plan_of(0), with_messages=True)
        run.play()
        traces.append(run.trace)
        run.sim.dispose()
    assert traces[0] == traces[1]


def test_each_seed_is_in_one_chunk():
    """Both halves together are all seeds, each once."""
    seeds = [seed for half in (0, 1) for chunk in chunks(half) for seed in chunk]
    assert sorted(seeds) == list(range(min(seeds), min(seeds) + len(seeds)))


def test_what_broke_is_told():
    """A run in which nobody stays tells that, the plan, the end of its trace, and its command."""
    plan = plan_of(1)
    plan = replace(plan, members=tuple(replace(each, lives=((0, 2_000),)) for each in plan.members))
    lines = outcome_of(plan).splitlines()
    assert lines[0] == "settled: the group is Empty"
    assert "settled: orders-0 belongs to nobody" in lines
    assert "seed: 1" in lines
    assert f"profile: {plan.profile}" in lines
    last = lines[lines.index(f"quiet_ms: {plan.quiet_ms}") + 2 : -2]
    assert len(last) == LAST_LINES
    assert all(" ms  " in line for line in last)
    assert lines[-1] == "Alone: .venv/bin/python -m tests.whole_groups 1"


def test_what_an_application_raises_is_told():
    """An error that ends an application is the first line, and who raised it the next."""
    plan = plan_of(1)
    broken = replace(plan.members[0], commit="sync", poll_ms=-1)
    lines = outcome_of(replace(plan, members=(broken, *plan.members[1:]))).splitlines()
    assert lines[0] == "IllegalArgumentError: Timeout must not be negative: it is -1"
    assert lines[1].startswith(f"raised in script of {broken.name} at ")
