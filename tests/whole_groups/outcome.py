"""What is said of a run that broke a promise."""

from kafkalearn.profile import PROFILES
from tests.whole_groups.invariants import invariants_of, message_invariants_of, unsettled_groups
from tests.whole_groups.plan import TOPICS, Plan
from tests.whole_groups.run import Run

LAST_LINES = 20
MESSAGES_EVERY = 8
"""Of so many runs one has its messages recorded, too, and more is asked of it."""


def breaches_of(run: Run) -> list[str]:
    """List what a run broke."""
    events = list(run.trace)
    plan = run.plan
    invariants = invariants_of(
        topics=TOPICS,
        acknowledged=run.acknowledged,
        loses_nothing=plan.loses_nothing,
        gets_settled=plan.gets_settled,
    )
    if run.with_messages:
        silently = not PROFILES[plan.profile].new_member_join_timeout
        invariants |= message_invariants_of(joins_end_silently=silently)
    found = []
    if plan.gets_settled:
        settled = events[: run.settled_seq]
        found = [f"settled: {each}" for each in unsettled_groups(settled, topics=TOPICS)]
    return found + [
        f"{name}: {sentence}" for name, fold in invariants.items() for sentence in fold(events)
    ]


def report(run: Run, breaches: list[str]) -> str:
    """Word what happened: what broke, the plan, the end of the trace, how to run it alone."""
    lines = [*breaches, "", str(run.plan), "", *str(run.trace).splitlines()[-LAST_LINES:], ""]
    return "\n".join([*lines, f"Alone: .venv/bin/python -m tests.whole_groups {run.plan.seed}"])


def outcome_of(plan: Plan) -> str:
    """Play a plan; give '' if the run kept all promises, else what there is to say."""
    run = Run(plan, with_messages=plan.seed % MESSAGES_EVERY == 0)
    try:
        run.play()
    except Exception as error:
        notes = getattr(error, "__notes__", [])
        return report(run, [f"{type(error).__name__}: {error}", *notes])
    else:
        breaches = breaches_of(run)
        return report(run, breaches) if breaches else ""
    finally:
        run.sim.dispose()
