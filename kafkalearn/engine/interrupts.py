"""The way of a KeyboardInterrupt to who drives a simulation."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from greenlet import getcurrent  # type: ignore[import-untyped]


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
            if getcurrent() is driver:
                raise
            driver.throw(error)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
