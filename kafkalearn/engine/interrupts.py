"""The way of an interrupt, by the user or by the clock, to who waits for a greenlet.

One that meets a profile or trace function goes up through what that looks at: who leaves such a
function by a switch turns all of them off in this thread, for good.
"""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from greenlet import getcurrent  # type: ignore[import-untyped]

_AGAIN_SECONDS = 1.0  # for code that catches everything and goes on


class TimeIsUpError(BaseException):
    """What ran has had its time; no `except Exception` of its own catches it."""


@contextmanager
def thrown_into(driver: Any) -> Iterator[None]:
    """Throw what an interrupt raises into the greenlet `driver`, whichever is running.

    Consumer loops often end in ``except KeyboardInterrupt``, which would swallow the user's.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return

    def interrupt(number: int, frame: Any) -> None:
        try:
            before(number, frame)
        except BaseException as error:
            if _may_raise(frame, driver):
                raise
            driver.throw(error)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Throw TimeIsUpError into the greenlet that waits here so long, whichever is running.

    Only the main thread can be interrupted, and none where no such clock is, as on Windows.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or not hasattr(signal, "setitimer"):
        yield
        return
    who_waits = getcurrent()

    def interrupt(number: int, frame: Any) -> None:
        if _may_raise(frame, who_waits):
            raise TimeIsUpError
        who_waits.throw(TimeIsUpError)

    before = signal.signal(signal.SIGALRM, interrupt)
    timer = signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, before or signal.SIG_DFL)


def _may_raise(frame: Any, who_waits: Any) -> bool:
    """Whether an interrupt goes up from here: to who waits, or from what may not be left."""
    hooks = (sys.getprofile(), sys.gettrace())
    looks_on = any(getattr(hook, "__code__", None) is frame.f_code for hook in hooks)
    return looks_on or getcurrent() is who_waits
