"""What is told of a run that broke a promise: as text, as files, and how to see it again."""

from collections import Counter
from pathlib import Path

from kafkalearn import Stepper
from tests.whole_groups.outcome import Outcome, again, played, seq_of
from tests.whole_groups.plan import Plan
from tests.whole_groups.run import Run

LAST_LINES = 20
STEPS_BEFORE, STEPS_AFTER = 900, 50  # of the Stepper's story, around what broke first
SNIPPET = """\
from kafkalearn.engine.faults import *
from kafkalearn.records import TopicPartition
from tests.whole_groups.outcome import outcome_of
from tests.whole_groups.plan import Change, Life, MemberPlan, Plan

plan = {plan}
print(outcome_of(plan))
"""


def told(plan: Plan, *, folder: Path) -> str:
    """Tell what a plan breaks; write it as Python, its trace as JSON Lines, and its story."""
    run = Run(plan, everything=True)
    try:
        broken = Outcome(plan, played(run), Counter())
    finally:
        run.sim.dispose()
    trace, snippet = run.trace, SNIPPET.format(plan=plan)
    seq = seq_of(broken.breaches[0]) or run.settled_seq or len(trace) - 1
    code, lines, page = (folder / f"seed-{plan.seed}.{each}" for each in ("py", "jsonl", "html"))
    folder.mkdir(parents=True, exist_ok=True)
    code.write_text(snippet, encoding="utf-8")
    trace.to_jsonl(lines)
    shown = range(max(0, seq - STEPS_BEFORE), min(len(trace), seq + STEPS_AFTER))
    Stepper(trace, events=shown).save(page, about=broken.first_breaches)
    return "\n".join(
        [
            *(snippet, *broken.first_breaches, ""),
            *str(trace).splitlines()[: seq + 1][-LAST_LINES:],
            "",
            f"The story: {page}. All events: {lines}.",
            f"Again: PYTHONPATH=. .venv/bin/python {code}",
            f"As it was before it was shrunk: {again(plan)}",
        ]
    )
