"""What is said of a run: what it met, and which promises it broke."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from kafkalearn.profile import PROFILES
from kafkalearn.trace import Event
from tests.whole_groups.invariants import invariants_of, message_invariants_of, unsettled_groups
from tests.whole_groups.plan import Plan
from tests.whole_groups.run import Run

FEW = 5


class Outcome(NamedTuple):
    """How a run ended.

    breaches: a sentence each, the promise's name first; one that tells of an event has its seq
    next. met: (what, which) -> how often.
    """

    plan: Plan
    breaches: list[str]
    met: Counter[tuple[str, str]]

    @property
    def broken(self) -> str:
        """The name of the first promise that was broken; '' if all were kept."""
        return self.breaches[0].partition(":")[0] if self.breaches else ""

    @property
    def first_breaches(self) -> list[str]:
        """The breaches, but few."""
        more = len(self.breaches) - FEW
        return [*self.breaches[:FEW], *([f"... and {more} more"] if more > 0 else [])]

    def __str__(self) -> str:
        """Tell what was broken, and how to see more of it."""
        if not self.breaches:
            return "every promise was kept"
        return "\n".join([*self.first_breaches, f"Shrunk and told: {again(self.plan)}"])


def again(plan: Plan) -> str:
    """Give the command that plays a run alone, and shrinks it."""
    return f"make soak FIRST={plan.seed} RUNS=1"


def outcome_of(plan: Plan) -> Outcome:
    """Play a plan, and ask all that is promised of it."""
    run = Run(plan)
    try:
        breaches = played(run)
        return Outcome(plan, breaches, _met(plan, list(run.trace)))
    finally:
        run.sim.dispose()


def played(run: Run) -> list[str]:
    """Play a run; list what it broke. What an application raises is a breach, too."""
    try:
        run.play()
    except Exception as error:
        return [f"{type(error).__name__}: {error}", *getattr(error, "__notes__", [])]
    return _breaches_of(run)


def seq_of(breach: str) -> int | None:
    """Find the event that a breach tells of."""
    found = re.match(r"\w+: (\d+): ", breach)
    return int(found[1]) if found else None


def _breaches_of(run: Run) -> list[str]:
    plan, events = run.plan, list(run.trace)
    topics = plan.lasting_topics
    invariants = invariants_of(
        topics=topics,
        acknowledged=[each for each in run.acknowledged if each[0] in topics],
        loners=[each.name for each in plan.members if each.is_alone],
        loses_nothing=plan.loses_nothing,
        settled_seq=run.settled_seq if plan.gets_settled else None,
    )
    if run.plan.with_messages:
        silently = not PROFILES[plan.profile].new_member_join_timeout
        invariants |= message_invariants_of(joins_end_silently=silently)
    found = []
    if plan.gets_settled:
        settled = events[: run.settled_seq]
        found = [f"settled: {each}" for each in unsettled_groups(settled, topics=topics)]
    return found + [
        f"{name}: {sentence}" for name, fold in invariants.items() for sentence in fold(events)
    ]


def _met(plan: Plan, events: Sequence[Event]) -> Counter[tuple[str, str]]:
    """Count what happened: what was drawn and never came is not in it."""
    met = Counter({("profile", plan.profile): 1})
    for each in plan.members:
        met[
            "member", "by assign()" if each.is_alone else "static" if each.is_static else "dynamic"
        ] += 1
        met["commit", each.commit] += 1
    for event in events:
        if event.kind == "fault":
            met["fault", event.detail["fault"]] += 1
        elif event.kind == "topic_changed":
            met["topic", event.detail["change"]] += 1
        elif event.kind == "group_loaded":
            met["failover", "of the coordinator"] += 1
        elif event.kind == "group_state" and event.detail["to"] == "Stable":
            met["rebalance", event.detail["protocol"]] += 1
    return met
