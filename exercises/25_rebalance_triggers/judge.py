"""What exercise 25 asks, and how an answer to it is judged.

The traces are of real runs. The judge reads the coordinator's own reasons, which are cut out of
what the learner gets.

Source: documents 001, 003 and 004; kafka.coordinator.group.GroupCoordinator (1.0.2);
AbstractCoordinator.HeartbeatThread, ConsumerCoordinator.needRejoin (1.0.2).
"""

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

from kafkalearn.grading.exercise import Table
from kafkalearn.scenarios.story import Story
from kafkalearn.simulation import Simulation
from kafkalearn.trace import Event, Trace, describe

CAUSES = (
    *("member_joined", "member_left", "session_timeout", "poll_timeout"),
    *("subscription_changed", "partitions_changed"),
)
KINDS = ("group_state", "member_joined", "member_removed", "client_state", "topic_changed")
_PLANS = {
    "come-and-go": (
        (1, "join c2, leave c2"),
        (2, "leave c1, join c3 | join c3, leave c1, leave c2"),
        (3, "leave c2, join c4, leave c4, join c5 | join c4, leave c3, leave c1"),
    ),
    "silence": (
        (2, "crash c2"),
        (2, "freeze c1 | freeze c2"),
        (3, "leave c3, crash c1 | crash c2, leave c1"),
        (3, "crash c2 3000, leave c3 | crash c3 2500, leave c2"),
        (3, "crash c2 5900, leave c3 | crash c3 5900, leave c2"),
        (3, "busy c2 0, leave c2 1500, doze c2 16500, crash c3 8000"),
    ),
    "too-slow": (
        (2, "slow c2"),
        (3, "slow c1, leave c2 | leave c2, slow c1"),
        (3, "slow c1, crash c2 | crash c3, slow c2"),
    ),
    "topics": (
        (1, "again c1, subscribe c1, others c1, grow orders"),
        (2, "subscribe c2, grow mails | grow mails, subscribe c1"),
        (2, "grow orders, leave c2 | others c1, join c3, grow orders"),
        (2, "subscribe c1, grow orders | subscribe c1, grow mails"),
        (1, "grow mails 100, swap c1 | others c1 100, swap c1"),
        (1, "busy c1 500, grow orders"),
        (2, "grow orders 300, subscribe c2 | subscribe c2 300, grow orders"),
    ),
}
"""Check -> stories: so many members at first, and what happens then, one of several.

A step is what, who, and where it matters how long nothing comes, in ms.
"""
ANY_STEPS = (
    *("leave c1", "crash c2", "freeze c2", "slow c3", "subscribe c3", "again c1"),
    *("grow orders", "others c1", "join c4", "join c5", "grow mails", "swap c1", "busy c1"),
)
SUBSCRIPTIONS = {"subscribe": ["orders", "mails"], "swap": ["mails"]}
LINES_SHOWN, ROWS_SHOWN = 6, 8
STILL_MS = {"freeze": 9000, "doze": 21_000, "slow": 9000, "busy": 4000}
IN_WORDS = {
    "join": "{} starts",
    "leave": "{} leaves before its next poll",
    "crash": "{} crashes",
    "freeze": "{} stands still for 9 s",
    "doze": "{} stands still for 21 s",
    "slow": "{} works for 9 s before it polls again",
    "busy": "{} works for 4 s before it polls again",
    "subscribe": "{} subscribes to orders and mails",
    "swap": "{} subscribes to mails instead of orders",
    "again": "{} subscribes to the same topics once more",
    "grow": "{} gets one more partition",
    "others": "a topic is made that nobody reads",
}
SETTLE_MS = {"crash": 9000, "freeze": 14_000, "slow": 14_000, "busy": 5000, "grow": 5000}


class Plan(NamedTuple):
    """A run as data: so many members at first, then steps: what, who, and how long nothing comes.

    what: join, leave, crash, freeze, doze (a long freeze), slow (works for too long between two
    polls), busy (works for long, but not for too long), subscribe (to mails, too), swap (subscribes
    to mails instead), again (subscribes to the same), grow (a topic gets a partition), others (a
    topic is made that nobody reads).
    """

    members: int
    steps: tuple[tuple[str, str, int], ...]
    seed: int


class Told(tuple[list[dict[str, Any]]]):
    """The arguments of one call, with what the learner does not get."""

    plan: Plan
    trace: Trace
    causes: dict[int, str]


def told(plan: Plan) -> Told:
    """Run a plan; what a learner gets of its trace are the events that tell why."""
    trace, causes, events = _run(plan)
    case = Told((events,))
    case.plan, case.trace, case.causes = plan, trace, causes
    return case


@lru_cache(maxsize=128)
def _run(plan: Plan) -> tuple[Trace, dict[int, str], list[dict[str, Any]]]:
    sim = Simulation(seed=plan.seed)
    story = Story(sim)
    story.topic(partitions=4)
    story.topic(partitions=2, name="mails")
    todo: dict[str, list[str]] = {}
    for number in range(1, plan.members + 1):
        _start(story, f"c{number}", todo)
    sim.sleep(8000)
    for step in plan.steps:
        _happen(story, step, todo)
    trace = sim.trace
    sim.dispose()
    events = [_as_dict(event) for event in trace if _is_told(event)]
    return trace, reference(trace), events


def _start(story: Story, node: str, todo: dict[str, list[str]]) -> None:
    """Start a consumer that polls, and between two polls does what it is told."""
    mine = todo[node] = []

    def loop(consumer: Any) -> None:
        topics = ["orders"]
        consumer.subscribe(topics)
        while True:
            doing = mine.copy()
            mine.clear()
            for what in doing:
                if what == "leave":
                    return
                if what in STILL_MS:
                    story.sim.sleep(STILL_MS[what])
                else:
                    topics = SUBSCRIPTIONS.get(what, topics)
                    consumer.subscribe(topics)
            consumer.poll(1000)

    story.start(
        node,
        loop,
        heartbeat_interval_ms=2000,
        max_poll_interval_ms=5000,
        metadata_max_age_ms=2000,
        fetch_max_wait_ms=5000,
        enable_auto_commit=False,
    )


def _happen(story: Story, step: tuple[str, str, int], todo: dict[str, list[str]]) -> None:
    what, node, quiet_ms = step
    is_up = node in todo and story.is_up(node)
    if what == "grow":
        changes = story.sim.trace.where(kind="topic_changed", topic=node)
        story.sim.create_partitions(node, _detail(changes[-1])["count"] + 1)
    elif what == "others":
        story.topic(partitions=1, name=f"others-{story.sim.now_ms}")
    elif what == "join" and node not in todo:
        _start(story, node, todo)
    elif what == "crash" and is_up:
        story.crash(node)
    elif what in ("freeze", "doze") and is_up:
        story.sim.freeze(node, STILL_MS[what])
    elif is_up:
        todo[node].append(what)
    story.sim.sleep(quiet_ms)


def _is_told(event: Event) -> bool:
    return event.kind in KINDS or (
        event.kind in ("send", "receive") and event.api in ("JoinGroup", "LeaveGroup")
    )


def _as_dict(event: Event) -> dict[str, Any]:
    """Give the columns that are there, without the coordinator's own reasons."""
    columns = {name: value for name, value in event._asdict().items() if value is not None}
    del columns["run_id"]
    detail = columns.pop("detail", {})
    if event.kind in ("group_state", "member_removed"):
        detail.pop("reason", None)
    return columns | {"detail": detail}


def reference(trace: Trace) -> dict[int, str]:
    """Give the cause of each rebalance that begins, from the reasons of those who know."""
    return {
        generation: _cause(trace[: event.seq], _detail(event)["reason"])
        for generation, event in _begun(trace).items()
    }


def _begun(trace: Trace) -> dict[int, Event]:
    """Give the event by which each rebalance begins, by the generation that it ends."""
    return {
        event.generation or 0: event
        for event in trace.where(kind="group_state")
        if _detail(event)["to"] == "PreparingRebalance"
    }


def _detail(event: Event) -> dict[str, Any]:
    return event.detail or {}


def _cause(before: Trace, reason: str) -> str:
    if reason.startswith("adding new member"):
        return "member_joined"
    if "no sign of life" in reason:
        return "session_timeout"
    if reason.endswith(" left"):
        node = before.where(kind="receive", api="LeaveGroup")[-1].peer
        own_words = _detail(before.where(kind="client_state", node=node)[-1])["reason"]
        return "poll_timeout" if own_words.startswith("max.poll") else "member_left"
    node = before.where(kind="receive", api="JoinGroup")[-1].peer
    *_, last, now = [_topics(e) for e in before.where(kind="send", api="JoinGroup", node=node)]
    return "partitions_changed" if last == now else "subscription_changed"


def _topics(join: Event) -> list[str]:
    topics: list[str] = json.loads(_detail(join)["fields"]["protocols"][0]["metadata"])["topics"]
    return topics


def inputs(check: str, seed: int) -> Iterable[Told]:
    """Give the runs of one check, short ones first; equal seeds give equal runs."""
    random = Random(f"{seed} {check}")
    plans = [_plan(random, *row) for row in _PLANS[check]] if check in _PLANS else _any(random)
    return map(told, sorted(plans, key=lambda plan: (len(plan.steps), plan.members)))


def _plan(random: Random, members: int, choice: str, *, hasty: bool = False) -> Plan:
    """Draw one of the stories. There are few seeds, so that a class shares many runs."""
    steps = []
    wanted = random.choice(choice.split(" | ")).split(", ")
    for step in wanted:
        what, who, *quiet = step.split()
        quiet_ms = int(quiet[0]) if quiet else SETTLE_MS.get(what, 3000)
        if hasty and step != wanted[-1]:
            quiet_ms = random.choice([100, 700, quiet_ms])
        steps.append((what, who, quiet_ms))
    return Plan(members, tuple(steps), random.randrange(2))


def _any(random: Random) -> Iterable[Plan]:
    """Let anything happen, and the next before the group has dealt with it."""
    for count in (2, 4):
        yield _plan(random, 3, ", ".join(random.sample(ANY_STEPS, count)), hasty=True)


def simpler(case: Told) -> Iterator[Told]:
    """Leave a step out, or a member that no step needs, and run again."""
    plan = case.plan
    for i in range(len(plan.steps)):
        yield told(plan._replace(steps=(*plan.steps[:i], *plan.steps[i + 1 :])))
    if plan.members > 1 and f"c{plan.members}" not in {who for _, who, _ in plan.steps}:
        yield told(plan._replace(members=plan.members - 1))


def problem(case: Told, answer: object) -> str | None:
    """Name the first rebalance whose cause is missing or another, or one that never began."""
    if not isinstance(answer, dict):
        return f"the answer is {_a(answer)}: a dict of generation -> cause is wanted"
    begun = _begun(case.trace)
    for generation, cause in case.causes.items():
        began = f"a rebalance begins at {begun[generation].time_ms:,} ms"
        if generation not in answer:
            return f"generation {generation} is missing: {began}, by {cause}"
        if answer[generation] != cause:
            said = str(answer[generation])
            known = "" if said in CAUSES else f"; the causes are {', '.join(CAUSES)}"
            return f"generation {generation}: {began}, by {cause}, not {said!r:.60}{known}"
    for generation in answer:
        if generation not in case.causes:
            return f"generation {generation!r:.60} is in the answer, but no rebalance begins in it"
    return None


def table(case: Told, answer: object) -> Table:
    """Lay out the rebalances, and what came before the first whose cause is another."""
    given = answer if isinstance(answer, dict) else {}
    generations, begun = sorted(case.causes), _begun(case.trace)
    rows = [
        (
            str(generation),
            f"{begun[generation].time_ms:,} ms",
            case.causes[generation],
            str(given.get(generation, "-"))[:40],
        )
        for generation in generations[:ROWS_SHOWN]
    ]
    differs = tuple(i for i, row in enumerate(rows) if given and row[2] != row[3])
    caption = _in_words(case.plan)
    if differs or not given:
        caption += _lines(case, generations[differs[0] if differs else 0])
    return Table(caption, ("generation", "begins at", "expected", "got"), tuple(rows), differs)


def _in_words(plan: Plan) -> str:
    steps = "".join(f"\nthen: {IN_WORDS[what].format(who)}" for what, who, _ in plan.steps)
    who = "1 member subscribes" if plan.members == 1 else f"{plan.members} members subscribe"
    return f"{who} to orders{steps or ', and nothing more happens'}"


def _lines(case: Told, generation: int) -> str:
    """Tell the last events that a learner has before this rebalance begins."""
    before = [
        event for event in case.trace[: _begun(case.trace)[generation].seq] if _is_told(event)
    ]
    told_lines = [f"  {e.time_ms:,} ms: {_briefly(e)}" for e in before[-LINES_SHOWN:]]
    return "\n".join([f"\nBefore the rebalance of generation {generation}:", *told_lines])


def _briefly(event: Event) -> str:
    """Tell an event by what decides here, without the group's lists and the broker's reasons."""
    detail = _detail(event)
    if event.kind in ("group_state", "member_removed"):
        detail = {name: value for name, value in detail.items() if name in ("from", "to")}
    return describe(event._replace(detail=detail, correlation_id=None))


def _a(value: object) -> str:
    return "None (is a `return` missing?)" if value is None else f"a {type(value).__name__}"
