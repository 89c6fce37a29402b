"""`make soak` finds a planted bug, makes its plan small, and tells it so that it comes again."""

import io
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from itertools import count
from math import inf
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from kafkalearn.consumer.consumer_coordinator import ConsumerCoordinator
from kafkalearn.consumer.subscription_state import SubscriptionState
from kafkalearn.records import OffsetAndMetadata
from kafkalearn.trace import Trace
from tests.whole_groups import __main__ as command_line
from tests.whole_groups import soak as soaking
from tests.whole_groups.__main__ import app
from tests.whole_groups.draw import plan_of
from tests.whole_groups.outcome import outcome_of
from tests.whole_groups.plan import unfair
from tests.whole_groups.shrink import shrunk, simpler
from tests.whole_groups.soak import outcomes, soak

ROOT = Path(__file__).parents[2]


def quiet():
    """Make a console whose text can be looked at."""
    return Console(file=io.StringIO(), width=120)


def commit_one_too_far(monkeypatch):
    """Let consumers take the last record that they returned for the next."""
    real = SubscriptionState.all_consumed

    def all_consumed(self):
        return {each: OffsetAndMetadata(of.offset + 1) for each, of in real(self).items()}

    monkeypatch.setattr(SubscriptionState, "all_consumed", all_consumed)


def keep_what_is_given_up(monkeypatch):
    """Let consumers go on with partitions that are another's after a rebalance."""
    real = ConsumerCoordinator.on_join_complete

    def on_join_complete(self, generation, assignment):
        owned = self.subscriptions.assigned_partitions()
        real(self, generation, assignment)
        now = {*owned, *self.subscriptions.assigned_partitions()}
        self.subscriptions.assign_from_subscribed(sorted(now))

    monkeypatch.setattr(ConsumerCoordinator, "on_join_complete", on_join_complete)


def test_a_planted_bug_is_found_and_told(monkeypatch, tmp_path):
    """The first seed that breaks a promise ends it; the story is small, and is there as files."""
    console = quiet()
    with monkeypatch.context() as patched:
        commit_one_too_far(patched)
        plan = soak(count(1), seconds=inf, processes=1, folder=tmp_path, console=console)
        text = console.file.getvalue()
        code = (tmp_path / f"seed-{plan.seed}.py").read_text()
        assert code in text
        told = io.StringIO()
        with redirect_stdout(told):
            exec(compile(code, "pasted", "exec"), {})
    assert len(plan.members) == 1
    assert (plan.faults, plan.changes) == ((), ())
    assert told.getvalue().startswith("positions: ")
    assert told.getvalue().splitlines()[0] not in ("", "every promise was kept")
    assert f"make soak FIRST={plan.seed} RUNS=1" in text
    events = Trace.from_jsonl(tmp_path / f"seed-{plan.seed}.jsonl")
    assert events.where(kind="offset_stored")
    assert (tmp_path / f"seed-{plan.seed}.html").stat().st_size > 0
    assert not outcome_of(plan).breaches, "it is the bug's, not the plan's"


def test_what_needs_two_keeps_two(monkeypatch):
    """A bug that only a rebalance shows is not shrunk to a single member; each step is fair."""
    keep_what_is_given_up(monkeypatch)
    broken = next(each for each in outcomes(count(), 1) if each.breaches)
    smaller = next(shrunk(broken.plan, broken.broken))
    assert list(unfair(smaller)) == []
    assert outcome_of(smaller).broken == broken.broken
    alone = replace(smaller, members=smaller.members[:1], faults=())
    assert outcome_of(alone).broken != broken.broken


def test_every_step_is_smaller():
    """No plan is among those that are simpler than it, so that shrinking ends."""
    plan = plan_of(3)
    less = list(simpler(plan))
    assert plan not in less
    assert all(len(str(each)) <= len(str(plan)) + 40 for each in less)


def test_it_goes_on_until_it_is_told_to_end(monkeypatch):
    """Without a breach all seeds are played, in order; the time ends it before, and Ctrl-C."""
    played = []

    def interrupted(seed):
        if seed == 2:
            raise KeyboardInterrupt
        played.append(seed)
        return outcome_of(plan_of(seed))

    monkeypatch.setattr(soaking, "outcome_of_seed", interrupted)
    console = quiet()
    assert soak(range(2), seconds=inf, processes=1, console=console) is None
    assert "2 runs, " in console.file.getvalue()
    assert "Every promise was kept." in console.file.getvalue()
    assert soak(count(), seconds=0, processes=1, console=quiet()) is None
    assert played == [0, 1, 0]
    console = quiet()
    assert soak(count(), seconds=inf, processes=1, console=console) is None
    assert "Interrupted.\n2 runs, " in console.file.getvalue()


@pytest.mark.slow
def test_more_processes_find_the_same():
    """The command counts the same on one process and on two, and its status says how it ended."""
    arguments = ["--first", "40", "--runs", "4", "--processes"]
    command = [sys.executable, "-m", "tests.whole_groups", *arguments, "2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "4 runs, " in done.stdout
    alone = CliRunner().invoke(app, [*arguments, "1"])
    assert alone.exit_code == 0
    assert done.stdout.partition(" what ")[2] == alone.stdout.partition(" what ")[2] != ""


def test_what_is_no_number_of_runs_is_refused():
    """A number that is none is refused with a sentence and status 2."""
    refused = CliRunner().invoke(app, ["--runs", "0"])
    assert refused.exit_code == 2
    assert "--runs" in refused.stderr


def test_a_broken_promise_is_status_1(monkeypatch):
    """Who calls the command hears that a promise broke."""
    monkeypatch.setattr(command_line, "soak", lambda seeds, **_: plan_of(next(seeds)))
    assert CliRunner().invoke(app, []).exit_code == 1
