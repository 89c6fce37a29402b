"""What exercise 37 asks, and how an answer to it is judged.

Source: documents 001, "commit offset 请求处理", 002 and 004;
kafka.coordinator.group.GroupCoordinator.handleCommitOffsets, doCommitOffsets (1.0.2).
Differs from Kafka: whether an offset's metadata are too long is not asked about.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from random import Random
from typing import Any

from kafkalearn.grading.exercise import Table

Case = tuple[Mapping[str, Any], Mapping[str, Any] | None, Mapping[str, Any]]
"""coordinator, group, commit: the arguments of judge_commit."""
Step = tuple[str, str, str | None]
"""What is looked at, what is there, and the error that follows; None where it goes on."""
ACTIVE = {"is_active": True, "has_moved": False, "is_loading": False}
NOT_HERE = (
    *({"is_active": False}, {"has_moved": True}, {"is_loading": True}),
    *({"has_moved": True, "is_loading": True}, {"is_active": False, "has_moved": True}),
    {"is_active": False, "is_loading": True},
)
STATES = ("Empty", "PreparingRebalance", "AwaitingSync", "Stable", "Dead")
NAMES = (
    *("NONE", "COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS"),
    *("UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS"),
)


def steps(case: Case) -> Iterator[Step]:
    """Give every check in Kafka's order; the first that has an answer decides."""
    coordinator, group, commit = case
    member, generation = commit["member_id"], commit["generation"]
    no_member = not member or group is None or member not in group["members"]
    yield (
        "is the coordinator active?",
        _yes(coordinator["is_active"]),
        None if coordinator["is_active"] else "COORDINATOR_NOT_AVAILABLE",
    )
    yield (
        "does it have this group?",
        "it has moved" if coordinator["has_moved"] else "yes",
        "NOT_COORDINATOR" if coordinator["has_moved"] else None,
    )
    yield (
        "has it read it?",
        "it is loading" if coordinator["is_loading"] else "yes",
        "COORDINATOR_LOAD_IN_PROGRESS" if coordinator["is_loading"] else None,
    )
    if group is None:
        yield (
            "is the group known?",
            f"no; generation {generation}",
            "NONE" if generation < 0 else "ILLEGAL_GENERATION",
        )
        return
    state = group["state"]
    yield "is it Dead?", state, "UNKNOWN_MEMBER_ID" if state == "Dead" else None
    alone = state == "Empty" and generation < 0
    yield "Empty, and from assign()?", f"{state}, {generation}", "NONE" if alone else None
    waits = state == "AwaitingSync"
    yield "is it waiting for a sync?", state, "REBALANCE_IN_PROGRESS" if waits else None
    yield "is it a member?", member or "no id", "UNKNOWN_MEMBER_ID" if no_member else None
    yield (
        "is it its generation?",
        f"{generation}, the group's is {group['generation']}",
        "NONE" if generation == group["generation"] else "ILLEGAL_GENERATION",
    )


def reference(case: Case) -> str:
    """Slow and obvious: the answer of the first check that has one."""
    return next(error for _, _, error in steps(case) if error is not None)


def inputs(check: str, seed: int) -> Iterable[Case]:
    """Give the commits of one check, small groups first; equal seeds give equal commits."""
    return sorted(_CASES[check](Random(f"{seed} {check}")), key=_size)


def _size(case: Case) -> int:
    return len(case[1]["members"]) if case[1] else 0


def _members(random: Random, most: int = 4) -> list[str]:
    """Draw member ids as brokers make them, short."""
    return [f"c{i}-{random.randrange(16**4):04x}" for i in range(1, random.randint(1, most) + 1)]


def _group(random: Random, state: str) -> dict[str, Any]:
    members = [] if state in ("Empty", "Dead") else _members(random)
    return {"state": state, "generation": random.randint(1, 9), "members": members}


def _commits(random: Random, group: Mapping[str, Any] | None) -> Iterator[dict[str, Any]]:
    """Give a commit of each kind: a member's and a stranger's, of any generation, of assign()."""
    generation = group["generation"] if group else random.randint(1, 9)
    known = [random.choice(group["members"])] if group and group["members"] else []
    for member in [*known, f"x-{random.randrange(16**4):04x}", ""]:
        older, newer = random.randint(0, generation - 1), generation + random.randint(1, 3)
        for given in (generation, older, newer, -1, random.randint(-9, -2)):
            yield {"member_id": member, "generation": given}


def _in_state(random: Random, *states: str) -> Iterator[Case]:
    for state in states:
        group = _group(random, state)
        yield from ((ACTIVE, group, commit) for commit in _commits(random, group))


def _with_members(random: Random) -> Iterator[Case]:
    for _ in range(3):
        yield from _in_state(random, "Stable")


def _without_members(random: Random) -> Iterator[Case]:
    for _ in range(2):
        yield from ((ACTIVE, None, commit) for commit in _commits(random, None))
        yield from _in_state(random, "Empty")
    lone = {"member_id": "", "generation": -1}
    yield ACTIVE, _group(random, "Stable"), lone


def _in_a_rebalance(random: Random) -> Iterator[Case]:
    for _ in range(2):
        yield from _in_state(random, "PreparingRebalance", "AwaitingSync")


def _not_here(random: Random) -> Iterator[Case]:
    """Whatever the coordinator still remembers of a group does not count if it is not in charge."""
    for wrong in NOT_HERE:
        for group in (None, *(_group(random, state) for state in STATES)):
            yield from ((ACTIVE | wrong, group, commit) for commit in _commits(random, group))
    yield from _in_state(random, "Dead")


def _any(random: Random) -> Iterator[Case]:
    for _ in range(4):
        yield from _in_state(random, *random.sample(STATES, len(STATES)))
        yield from ((ACTIVE, None, commit) for commit in _commits(random, None))
        odd = ACTIVE | random.choice(NOT_HERE)
        group = random.choice([None, _group(random, random.choice(STATES))])
        yield from ((odd, group, commit) for commit in _commits(random, group))


_CASES: dict[str, Callable[[Random], Iterator[Case]]] = {
    "with-members": _with_members,
    "without-members": _without_members,
    "in-a-rebalance": _in_a_rebalance,
    "not-here": _not_here,
    "any-commit": _any,
}


def simpler(case: Case) -> Iterator[Case]:
    """Leave members out that do not commit, and take lower generations; both stay as they were."""
    coordinator, group, commit = case
    if group is None:
        return
    for member in group["members"]:
        if member != commit["member_id"] and len(group["members"]) > 1:
            rest = [each for each in group["members"] if each != member]
            yield coordinator, {**group, "members": rest}, commit
    given = commit["generation"]
    behind = max(-1, min(group["generation"] - given, 1))
    lowest = 2 if behind > 0 and given >= 0 else 1
    if group["generation"] > lowest:
        given = given if given < 0 else lowest - behind
        yield coordinator, {**group, "generation": lowest}, {**commit, "generation": given}


def problem(case: Case, answer: object) -> str | None:
    """Say how Kafka answers this commit, and which of its checks decides."""
    expected = reference(case)
    if not isinstance(answer, str):
        return f"the answer is {_a(answer)}: the name of an error, or NONE, is wanted"
    if answer == expected:
        return None
    if answer not in NAMES:
        return f"the answer is {answer!r:.60}: one of {', '.join(NAMES)} is wanted"
    question, here, _ = next(step for step in steps(case) if step[2] is not None)
    return (
        f"{_commit_in_words(case[2])} {_group_in_words(case[1])} is answered {expected}, "
        f'not {answer}: "{question}" decides ({here})'
    )


def _commit_in_words(commit: Mapping[str, Any]) -> str:
    who = f"of {commit['member_id']}" if commit["member_id"] else "without a member id"
    return f"the commit {who} with generation {commit['generation']}"


def _group_in_words(group: Mapping[str, Any] | None) -> str:
    if group is None:
        return "to a group that is not known here"
    return f"to a group that is {group['state']}, in generation {group['generation']},"


def table(case: Case, answer: object) -> Table:
    """Lay out Kafka's checks in their order, down to the one that decides."""
    coordinator, group, commit = case
    rows = []
    for question, here, error in steps(case):
        rows.append((question, here, error or "go on"))
        if error is not None:
            break
    got = answer if isinstance(answer, str) else "-"
    caption = (
        f"coordinator: {_fields(coordinator)}\n"
        f"group: {_fields(group) if group else 'None'}\n"
        f"commit: {_fields(commit)}\n"
        f"got: {got:.60}"
    )
    return Table(caption, ("Kafka's checks, in order", "here", "so"), tuple(rows))


def _fields(of: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value!r}" for name, value in of.items())


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def _a(value: object) -> str:
    return "None (is a `return` missing?)" if value is None else f"a {type(value).__name__}"
