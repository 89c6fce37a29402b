"""Makes a plan that breaks a promise small: things left out, made plain, lower numbers.

Not by hypothesis, which shrinks only what it drew itself.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from itertools import chain
from typing import Any

from kafkalearn.engine.faults import InvalidFaultError
from tests.whole_groups.outcome import outcome_of
from tests.whole_groups.plan import Plan, unfair

PLAIN = {"commit": "sync"}
OPTIONAL = "group_instance_id"
KEPT = ("seed", "profile", "producers", "poll_ms", "broker_session_timeout_ms")
"""What is not simpler with a lower number."""


def shrunk(plan: Plan, broken: str) -> Iterator[Plan]:
    """Give ever simpler plans that break this promise, the simplest last.

    Only plans count in which it has to hold.
    """
    first = 0  # what was tried before an earlier success is tried again only in the end
    while True:
        for number, less in enumerate(simpler(plan)):
            if number >= first and not any(unfair(less)) and outcome_of(less).broken == broken:
                plan, first = less, number
                yield plan
                break
        else:
            if not first:
                return
            first = 0


def simpler(plan: Plan) -> Iterator[Plan]:
    """Give the plans that are one step simpler, the largest steps first."""
    for name in ("members", "faults", "changes", "producers", "topics"):
        for fewer in _fewer(getattr(plan, name)):
            yield replace(plan, **{name: fewer})
    for config in ({"partition_assignment_strategy": ("range",)}, {"max_poll_records": 500}):
        if any(each.config != each.config | config for each in plan.members):
            members = [replace(each, config=each.config | config) for each in plan.members]
            yield replace(plan, members=tuple(members))
    yield from _plainer(plan)


def _plainer(value: Any) -> Iterator[Any]:
    """Give a value with something in it that is simpler."""
    if isinstance(value, bool):
        yield from [False] * value
    elif isinstance(value, int):
        lower = {0, 1, value - 1} if value < 100 else {0, *_rounded(value)}
        yield from sorted(each for each in lower if 0 <= each < value)
    elif is_dataclass(value):
        for name in [each.name for each in fields(value) if each.name not in KEPT]:
            for less in _parts(name, getattr(value, name)):
                with suppress(InvalidFaultError):
                    yield replace(value, **{name: less})
    elif isinstance(value, dict):
        for key in [each for each in value if each not in KEPT]:
            yield from ({**value, key: less} for less in _plainer(value[key]))
    elif isinstance(value, tuple):
        make = getattr(value, "_make", tuple)  # of a named tuple
        for i, item in enumerate(value):
            yield from (make([*value[:i], less, *value[i + 1 :]]) for less in _plainer(item))


def _parts(name: str, value: Any) -> Iterable[Any]:
    """Give the simpler values of a field; a member keeps one life and one topic at least."""
    if name in PLAIN:
        return [PLAIN[name]] if value != PLAIN[name] else []
    if name == "config":
        less = {key: item for key, item in value.items() if key != OPTIONAL}
        return [less] if less != value else []
    if name in ("lives", "topics") and isinstance(value, tuple):
        return chain(filter(None, _fewer(value)), _plainer(value))
    return _plainer(value)


def _rounded(ms: int) -> set[int]:
    return {ms // 2 // 100 * 100, ms // 1_000 * 1_000, ms // 100 * 100}


def _fewer(items: Any) -> Iterator[Any]:
    """Leave out one half, then the other, then each item alone."""
    if isinstance(items, dict):
        yield from ({k: v for k, v in items.items() if k != key} for key in items)
        return
    half = len(items) // 2
    if half > 1:
        yield items[:half]
        yield items[half:]
    for i in range(len(items)):
        yield items[:i] + items[i + 1 :]
