"""Makes a failing case small: things left out, numbers lowered, as long as it fails the same way.

Greedy, on the plain data of the case, so that a case is asked about some dozens of times, the same
ones in every run. A library that draws cases from chance would have to find the failure again.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from kafkalearn.records import Subscription

Case = TypeVar("Case")
MOST_TRIES = 250
MOST_SECONDS = 5.0  # only a slow answer comes here; its case stays larger than it could be


class Finding(NamedTuple):
    """What is wrong with the answer to one case.

    kind: how it failed; a smaller case counts if it fails in the same kind.
    evidence: what came back: the answer of a function, the trace of a story; None if nothing did.
    """

    sentence: str
    kind: str
    evidence: Any


def smallest(
    case: Case,
    found: Finding,
    *,
    simpler: Callable[[Case], Iterable[Case]],
    find: Callable[[Case], Finding | None],
) -> tuple[Case, Finding]:
    """Give the smallest case that still fails in the same kind, and what was found in it."""
    deadline = time.monotonic() + MOST_SECONDS
    candidates = iter(simpler(case))
    for _ in range(MOST_TRIES):
        candidate = next(candidates, None)
        if candidate is None or time.monotonic() > deadline:
            break
        again = find(candidate)
        if again is not None and again.kind == found.kind:
            case, found = candidate, again
            candidates = iter(simpler(case))
    return case, found


def simpler_arguments(arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Give the calls that are one step simpler, the largest cuts first."""
    for i, argument in enumerate(arguments):
        for less in simpler_value(argument):
            yield (*arguments[:i], less, *arguments[i + 1 :])


def simpler_value(value: Any) -> Iterator[Any]:
    """Give a value's simpler forms: fewer items, lower counts; text and partitions stay."""
    if isinstance(value, Subscription):
        for topics in simpler_value(value.topics):
            yield Subscription(topics, value.owned_partitions, value.generation)
        for owned in simpler_value(tuple(value.owned_partitions)):
            yield Subscription(value.topics, owned, value.generation)
    elif type(value) is int and value > 0:
        yield from sorted({0, value // 2, value - 1})
    elif isinstance(value, Mapping):
        for items in _fewer(list(value.items())):
            yield dict(items)
        for key, item in value.items():
            for less in simpler_value(item):
                yield {**value, key: less}
    elif type(value) in (list, tuple):
        for items in _fewer(value):
            yield type(value)(items)
        for i, item in enumerate(value):
            for less in simpler_value(item):
                yield type(value)([*value[:i], less, *value[i + 1 :]])


def _fewer(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Leave out one half, then the other, then each item alone."""
    half = len(items) // 2
    if half > 1:
        yield items[half:]
        yield items[:half]
    for i in range(len(items)):
        yield [*items[:i], *items[i + 1 :]]
