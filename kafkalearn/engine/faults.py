"""A fault plan is data: a tuple of faults, given to a run beside its seed.

Times are virtual milliseconds; `api` is a request's name, as in ``OffsetCommit``. A fault that
finds nothing to do (a node that is dead already, a message that is never sent) does nothing, so
that each part of a plan is a plan.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Literal, get_args

from kafkalearn.errors import KafkaError

Part = Literal["request", "response"]
_PLAIN = re.compile(r"[\w.-]+", re.ASCII)


class InvalidFaultError(KafkaError, ValueError):
    """A fault that cannot be, or a text that tells no fault plan."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that goes wrong. Errors: InvalidFaultError for the value of a field."""

    kind: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "nth" or field.name.endswith("_ms"):
                least = int(field.name == "nth")
                right = type(value) is int and value >= least
                allowed = f"a whole number from {least} up"
            elif field.name == "part":
                right = value in get_args(Part)
                allowed = " or ".join(get_args(Part))
            else:
                right = (isinstance(value, str) and value != "") or value is field.default
                allowed = "a name"
            if not right:
                raise InvalidFaultError(
                    f"{field.name} of {self.kind} is {value!r}: {allowed} is allowed"
                )

    def given(self) -> dict[str, Any]:
        """Give the fields that are not left at their defaults, in order."""
        values = {field: getattr(self, field.name) for field in fields(self)}
        return {
            field.name: value
            for field, value in values.items()
            if field.default is MISSING or value != field.default
        }

    def nodes(self) -> list[str]:
        """Name the nodes that it names."""
        named = (getattr(self, "node", None), getattr(self, "other", None))
        return [name for name in named if name is not None]

    def __str__(self) -> str:
        """Read like ``crash(c1,at_ms=5000)``; different faults read differently."""
        texts = {
            name: value if isinstance(value, str) and _PLAIN.fullmatch(value) else json.dumps(value)
            for name, value in self.given().items()
        }
        (_, first), *others = texts.items()
        return f"{self.kind}({','.join([first, *map('='.join, others)])})"


@dataclass(frozen=True, slots=True)
class Crash(Fault):
    """A node stops without any clean-up, as at a loss of power or `kill -9`."""

    kind: ClassVar[str] = "crash"
    node: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class Restart(Fault):
    """A node that crashed is started again."""

    kind: ClassVar[str] = "restart"
    node: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class Freeze(Fault):
    """A node stands still for a while, as in a long pause of the garbage collector."""

    kind: ClassVar[str] = "freeze"
    node: str
    at_ms: int
    for_ms: int


@dataclass(frozen=True, slots=True)
class CutOff(Fault):
    """No message passes between two nodes or, without `other`, a node and all others."""

    kind: ClassVar[str] = "cut_off"
    node: str
    at_ms: int
    for_ms: int
    other: str | None = None


@dataclass(frozen=True, slots=True)
class Drop(Fault):
    """The nth message of an api, from 1, gets lost, and its connection with it.

    node: counts only what this node sends or receives. part: counts requests, or responses.
    """

    kind: ClassVar[str] = "drop"
    api: str
    nth: int = 1
    node: str | None = None
    part: Part = "request"


@dataclass(frozen=True, slots=True)
class Delay(Fault):
    """The nth message of an api is late, and what follows on its connection waits behind it.

    nth, node, part: as in Drop.
    """

    kind: ClassVar[str] = "delay"
    api: str
    by_ms: int
    nth: int = 1
    node: str | None = None
    part: Part = "request"


@dataclass(frozen=True, slots=True)
class AnswerWithError(Fault):
    """The server answers the nth request of an api with an error, and does nothing else.

    error: Kafka's name of it. nth, node: as in Drop.
    """

    kind: ClassVar[str] = "answer_with_error"
    part: ClassVar[Part] = "request"
    api: str
    error: str
    nth: int = 1
    node: str | None = None


FaultPlan = tuple[Fault, ...]
_KINDS: dict[str, type[Fault]] = {
    each.kind: each for each in (Crash, Restart, Freeze, CutOff, Drop, Delay, AnswerWithError)
}


def to_text(plan: Iterable[Fault]) -> str:
    """Tell a plan in one readable line; '' for one without faults."""
    return "+".join(map(str, plan))


def to_json(plan: Iterable[Fault]) -> str:
    """Write a plan so that from_json reads it."""
    return json.dumps([{"kind": fault.kind} | fault.given() for fault in plan], ensure_ascii=False)


def from_json(text: str) -> FaultPlan:
    """Read a plan; InvalidFaultError says what is wrong with it."""
    try:
        rows = json.loads(text)
    except ValueError as error:
        raise InvalidFaultError(f"this fault plan is no JSON: {error}") from None
    if not isinstance(rows, list):
        raise InvalidFaultError(f"a fault plan is a list of faults: this is {rows!r}")
    return tuple(map(_from_row, rows))


def _from_row(row: object) -> Fault:
    kind = row.get("kind") if isinstance(row, dict) else None
    if not isinstance(row, dict) or not isinstance(kind, str) or kind not in _KINDS:
        raise InvalidFaultError(
            f"{row!r} is no fault: an object with a kind is allowed, one of {', '.join(_KINDS)}"
        )
    try:
        return _KINDS[kind](**{name: value for name, value in row.items() if name != "kind"})
    except TypeError:
        names = [
            f"{each.name}{'' if each.default is MISSING else '?'}" for each in fields(_KINDS[kind])
        ]
        raise InvalidFaultError(f"{row!r}: the fields of {kind} are {', '.join(names)}") from None


def check(plan: Iterable[Fault], nodes: Iterable[str]) -> None:
    """Refuse a plan that names a node which is none of `nodes`."""
    there = list(nodes)
    for fault in plan:
        for name in fault.nodes():
            if name not in there:
                raise InvalidFaultError(f"{fault} names {name}: the nodes are {', '.join(there)}")
