"""What can be a process, and how Python gets rid of one that never ends."""

import inspect
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout

from greenlet import getcurrent, greenlet  # type: ignore[import-untyped]

from kafkalearn.errors import IllegalArgumentError

_UNWINDING_STEPS = 100
_NOT_PLAIN = (
    *(inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction),
)


def check_plain(function: Callable[[], object], who: str) -> None:
    """IllegalArgumentError for what is no function, or one with `yield` or `async`."""
    if not callable(function):
        raise IllegalArgumentError(
            f"{who} is {function!r:.60}: a function is allowed; give it, do not call it"
        )
    if any(is_one(function) for is_one in _NOT_PLAIN):
        raise IllegalArgumentError(
            f"{who} would never run: a plain function is allowed, without yield or async"
        )


def unwind(suspended: Iterable[greenlet]) -> None:
    """End greenlets by an exception where they are, without their output.

    An `except` of their own may catch it; who goes on catching stays suspended.
    """
    with redirect_stdout(None), redirect_stderr(None):
        for each in suspended:
            each.parent = getcurrent()
            for _ in range(_UNWINDING_STEPS):
                if each:  # suspended
                    each.throw()
