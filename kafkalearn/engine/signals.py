"""What processes, and callers that are none, wait for."""

from heapq import heappop
from typing import TYPE_CHECKING, Any

from greenlet import getcurrent  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from kafkalearn.engine.process import Processes


class Signal:
    """Something to wait for. It remembers nothing, so who waits looks first, and again after.

    what: its text ends the sentence "poll loop of c1 waits for ..." in errors.
    """

    __slots__ = ("_processes", "_waiters", "what")

    def __init__(self, processes: "Processes", what: object) -> None:
        self._processes = processes
        self._waiters: list[Any] = []
        self.what = what

    def fire(self) -> bool:
        """Let all go on that wait now, in the order in which they came; whether any did."""
        if not self._waiters:
            return False
        for waiter in self._waiters:
            waiter.wake()
        self._waiters.clear()
        return True

    def wait(self, timeout_ms: int | None = None) -> bool:
        """Wait until it fires; False if `timeout_ms` passed before.

        A caller that is no process drives the simulation meanwhile; StuckError if that cannot end.
        """
        processes, process = self._processes, getcurrent()
        if process not in processes.living:
            return self._wait_outside(timeout_ms)
        loop = processes.loop
        if timeout_ms is not None:
            process.timeout.restart(loop.now_ms + timeout_ms)
        self._waiters.append(process)
        process.waits_for = self
        entry = heappop(loop.queue)
        time_ms, _, what = entry
        if what.direct:
            loop.now_ms = time_ms
            what.switch()
        else:
            loop.driver.switch(entry)
        if process.waits_for is not None:
            process.waits_for = None
            return False
        if timeout_ms is not None:
            process.timeout.cancel()
        return True

    def forget(self, waiter: object) -> None:
        """Let it not wake who waits, if it does."""
        if waiter in self._waiters:
            self._waiters.remove(waiter)

    def _wait_outside(self, timeout_ms: int | None) -> bool:
        loop = self._processes.loop
        limit_ms = None if timeout_ms is None else loop.now_ms + timeout_ms
        self._waiters.append(loop)
        try:
            return self._processes.drive(limit_ms, f"the main program waits for {self.what}")
        finally:
            self.forget(loop)
