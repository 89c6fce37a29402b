"""The checks of an OffsetCommit in their order.

Source: GroupCoordinator.handleCommitOffsets, doCommitOffsets (1.0.2: sync before member; 2.4.0:
after it).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypedDict

from kafkalearn.profile import PROFILES, KafkaProfile
from kafkalearn.trace.kind import SYNC_STATES
from kafkalearn.trace.text import short_ids
from kafkalearn.views.language import Saying
from kafkalearn.views.wording import shown

_PROFILE = re.compile(r"(?:^| )profile=([\d.]+)((?:\+\w+=\w+)*)(?: |$)")
_HANDLE, _DO, _STORE = "handle_commit_offsets", "do_commit_offsets", "store_offsets"
UNKNOWN, TOO_LARGE = "UNKNOWN_TOPIC_OR_PARTITION", "OFFSET_METADATA_TOO_LARGE"
_NAMES = 3


class Check(TypedDict):
    """name: what must hold. compared: what it was found from. error: what it refuses with.

    outcome: ``passed``, ``refused``, ``stored``, ``no`` (it only asks which way to go)
    ``unreached``, or ``open`` while nothing is answered. method: where the documents have it.
    """

    name: str
    compared: Saying
    error: str
    outcome: str
    method: str


@dataclass
class Group:
    """A group as its coordinator knows it. members: with the instance id of each, if any."""

    state: str
    generation: int | None
    members: dict[str, str | None] = field(default_factory=dict)

    def copy(self) -> "Group":
        """Keep it as it is now."""
        return Group(self.state, self.generation, dict(self.members))


@dataclass
class Case:
    """A commit that a broker judges, and what that broker knows of the group: None for nothing."""

    broker: str
    client: str
    group_id: str
    member_id: str
    generation: int | None
    instance_id: str | None
    offsets: Mapping[str, Any]
    group: Group | None
    coordinator: str | None
    is_faked: bool

    @property
    def is_from_assign(self) -> bool:
        """Whether it names no generation, as a consumer that uses assign() does."""
        return self.generation is not None and self.generation < 0


class _Step(NamedTuple):
    name: str
    compared: Saying
    error: str
    method: str
    holds: bool | None  # as far as the trace tells


def rules_of(run_id: str) -> KafkaProfile | None:
    """Find the profile in a run's name; None if it names none that we know."""
    found = _PROFILE.search(run_id)
    profile = PROFILES.get(found[1]) if found else None
    if found is None or profile is None:
        return None
    switches = dict(each.split("=") for each in found[2].split("+")[1:])
    changed = {
        name: value == "True"
        for name, value in switches.items()
        if isinstance(getattr(profile, name, None), bool)
    }
    return replace(profile, **changed)  # type: ignore[arg-type]


def checked(
    case: Case,
    rules: KafkaProfile | None,
    *,
    error: str | None,
    errors: Sequence[str | None],
    answered: bool,
) -> list[Check]:
    """Tell which checks were passed, and which one refused.

    errors: of the partitions, as far as they are told.
    """
    if existing := [each for each in errors if each != UNKNOWN]:
        error = next(filter(None, existing), None)
    steps = _steps(case, rules, error)
    if UNKNOWN in errors:
        exist = ("{} of {} exist", len(existing), len(errors))
        steps.insert(0, _Step("topics and partitions", exist, UNKNOWN, "", bool(existing)))
    stored = existing.count(None)
    done = ("{} of {} partitions", stored, len(errors)) if answered else ("not yet",)
    steps.append(_Step("offsets stored", done, TOO_LARGE, _STORE, None))
    at = _refusing(steps, error) if error and not stored else len(steps) - 1
    branch = next(place for place, step in enumerate(steps) if step.name == _FROM_ASSIGN)

    def outcome(place: int) -> str:
        if not answered:
            return "open"
        if place > at:
            return "unreached"
        if place == at:
            return "refused" if error and not stored else "stored"
        if place == branch and not case.is_from_assign:
            return "no"
        if place >= branch and case.is_from_assign and at == len(steps) - 1:
            return "passed" if place == branch else "unreached"
        return "no" if place == branch else "passed"

    return [
        Check(
            name=step.name,
            compared=step.compared,
            error=step.error,
            outcome=outcome(place),
            method=step.method,
        )
        for place, step in enumerate(steps)
    ]


def _refusing(steps: list[_Step], error: str) -> int:
    """Find the check that gave this error: best one that does not hold; else add one for it."""
    matching = [place for place, step in enumerate(steps) if step.error == error]
    if not matching:
        steps.insert(0, _Step("another reason", ("{}", shown(error, 40)), error, "", False))
        return 0
    rank = {False: 0, None: 1, True: 2}
    return min(matching, key=lambda place: (rank[steps[place].holds], place))


_FROM_ASSIGN = "from assign(): Empty, generation -1"


def _steps(case: Case, rules: KafkaProfile | None, error: str | None) -> list[_Step]:
    group, generation = case.group, case.generation
    shown_generation = "?" if generation is None else generation
    is_made = group is None and case.is_from_assign
    dead = rules is not None and rules.dead_group_moves
    known: Saying = ("unknown, generation {}", shown_generation)
    if group is not None:
        known = ("known, generation {}", _told(group.generation))
    elif is_made:
        known = ("unknown, generation {} makes it", shown_generation)
    is_here = None if case.coordinator is None else case.coordinator == case.broker
    state = group.state if group else "Empty" if is_made else "?"
    steps = [
        _Step("coordinator active", ("{}", shown(case.broker)), "COORDINATOR_NOT_AVAILABLE",
              _HANDLE, None),
        _Step("coordinates this group",
              ("asked {}, coordinator {}", shown(case.broker), shown(case.coordinator or "?")),
              "NOT_COORDINATOR", _HANDLE, group is not None or is_here),
        _Step("group read from the log", ("state {}", shown(state)),
              "COORDINATOR_LOAD_IN_PROGRESS", _HANDLE, group is not None or None),
        _Step("group known", known, "ILLEGAL_GENERATION", _HANDLE, group is not None or is_made),
        _Step("not Dead", ("state {}", shown(state)),
              "COORDINATOR_NOT_AVAILABLE" if dead else "UNKNOWN_MEMBER_ID", _DO, group is not None),
        _Step(_FROM_ASSIGN, ("state {}, generation {}", shown(state), shown_generation),
              "", _DO, None),
        *_membership(case, rules, error=error),
    ]  # fmt: skip
    if case.is_faked:
        steps.insert(0, _Step("a fault answers instead", ("nothing is checked",), error or "?",
                              "", False))  # fmt: skip
    return steps


def _membership(case: Case, rules: KafkaProfile | None, *, error: str | None) -> list[_Step]:
    group = case.group or Group("?", None)
    generation = case.generation
    names = [_short(each) for each in list(group.members)[:_NAMES]]
    more = ["…"] * (len(group.members) > _NAMES)
    members = ", ".join(names + more) or "–"
    member = _short(case.member_id)
    is_in: Saying = ("{} of members {}", member, members)
    if not member:
        is_in = ("no member id, members {}", members)
    waits = group.state in SYNC_STATES
    steps = [
        _Step("is a member", is_in,
              "UNKNOWN_MEMBER_ID", _DO, case.member_id in group.members),
        _Step("same generation",
              ("request {}, group {}", _told(generation), _told(group.generation)),
              "ILLEGAL_GENERATION", _DO, generation == group.generation),
    ]  # fmt: skip
    sync = _Step("not waiting for SyncGroup", ("state {}", shown(group.state)),
                 "REBALANCE_IN_PROGRESS", _DO, not waits)  # fmt: skip
    if rules is not None:
        member_first = rules.commit_checks_member_first
    else:  # only these answers, in this state, tell which order it is
        member_first = waits and error in ("UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION")
    steps.insert(len(steps) if member_first else 0, sync)
    if case.instance_id is not None:
        holders = [each for each, instance in group.members.items() if instance == case.instance_id]
        asks = ("{}: {} asks, {} holds it", shown(case.instance_id), member,
                _short(holders[0]) if holders else "-")  # fmt: skip
        holds = not holders or case.member_id in holders
        steps.insert(0, _Step("holds its instance id", asks, "FENCED_INSTANCE_ID", _DO, holds))
    return steps


def _short(member_id: str) -> str:
    return shown(short_ids(member_id))


def _told(generation: int | None) -> str:
    return "?" if generation is None else str(generation)
