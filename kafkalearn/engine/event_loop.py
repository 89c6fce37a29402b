"""Virtual time: the queue of all that will happen.

Times are int milliseconds. What is due at the same time happens in the order in which it was
scheduled, so equal seeds give equal runs. The loop calls what is due (a timer, a message, a process
that goes on), which sets the clock to its time. A callback never waits; what waits is a process
(process.py).
"""

import gc
import threading
from collections.abc import Callable, Iterable, Iterator
from heapq import heapify, heappop, heappush
from itertools import chain, count, islice
from typing import Any

from greenlet import getcurrent  # type: ignore[import-untyped]

from kafkalearn.engine.interrupts import thrown_into
from kafkalearn.engine.node import Node
from kafkalearn.engine.timer import NEVER, Timer
from kafkalearn.errors import IllegalStateError, KafkaError

Entry = tuple[int, int, Any]
"""(time_ms, sequence, what): when its turn comes, `what.happen(time_ms, sequence)` is called."""

MAX_TIME_MS = 30 * 86_400_000
MAX_EVENTS = 10_000_000
_COLLECT_AFTER = 50_000  # new objects: most of a run live on, and hardly any form cycles
_NAMED = 10  # processes that a sentence names


class PastTimeError(KafkaError, ValueError):
    """Something asked for at a virtual time that has passed."""


class StuckError(KafkaError, RuntimeError):
    """A wait that cannot end: a deadlock, or a run that came to one of its bounds."""


class EventLoop:
    """Lets things happen by time and, where that is the same, in the order they were asked for.

    max_time_ms, max_events: the bounds of a run; who waits beyond them gets a StuckError. An event
    is all that takes a place in the order: a timer set, a message sent, a process that goes on.
    nodes: by name, as they are now.
    broken: why this run cannot go on; '' if it can.

    It belongs to the thread that made it. An interrupt (KeyboardInterrupt) reaches who drives it,
    past every `except` of the processes, and breaks it. What has no underscore and is not named
    here or documented below is for the engine alone.
    """

    direct = False

    def __init__(self, *, max_time_ms: int = MAX_TIME_MS, max_events: int = MAX_EVENTS) -> None:
        self.now_ms = 0
        self.nodes: dict[str, Node] = {}
        self.broken = ""
        self.max_time_ms = max_time_ms
        self.max_events = max_events
        # The bound is never taken out, so that who takes from the queue always finds something.
        self.queue: list[Entry] = [(max_time_ms, NEVER, self)]
        self.sequence = chain(range(1, max_events), self._beyond_max_events())
        self.early = count(-NEVER)  # for what comes before all else that is due then
        self.driver: Any = None
        self.who_waits: Callable[[], Iterable[str]] = tuple
        self._thread = threading.get_ident()
        self.tidy_at = 1000
        self._alarm = Timer(self, self._come_to_limit)
        self._limit_ms = 0
        self._caller = ""
        self._stopped = self._woken = False

    def add_node(self, name: str) -> Node:
        """Start a node; IllegalStateError if one of that name is alive."""
        self.check_thread()
        if name in self.nodes and self.nodes[name].alive:
            raise IllegalStateError(
                f"{name} is running: only after a crash can it be started again"
            )
        node = self.nodes[name] = Node(name)
        return node

    def call_at(
        self, time_ms: int, callback: Callable[[], object], *, node: Node | None = None
    ) -> Timer:
        """Call `callback` at `time_ms`; PastTimeError if that has passed.

        node: whom the timer belongs to; see Timer.
        """
        self.check_thread()
        timer = Timer(self, callback, node=node)
        timer.restart(time_ms)
        return timer

    def run_until(self, limit_ms: int) -> None:
        """Let everything happen that is due by `limit_ms`, and leave the clock there."""
        if limit_ms < self.now_ms:
            raise self.past(limit_ms)
        self.drive(limit_ms, f"the main program runs until {limit_ms:,} ms")

    def drive(self, limit_ms: int | None, caller: str) -> bool:
        """Let things happen until wake() is called: True; or all due by `limit_ms` is over: False.

        caller: what is said of the caller if that cannot be.
        """
        self._check_that_nobody_drives()
        if self.broken:
            raise IllegalStateError(f"{self.broken}, and it cannot go on: make a new one")
        self._caller = caller
        self._limit_ms = NEVER if limit_ms is None else limit_ms
        self._stopped = self._woken = False
        if limit_ms is not None:
            self._alarm.restart(limit_ms)
        self.driver = getcurrent()
        queue, entry = self.queue, None
        thresholds = gc.get_threshold()
        if thresholds[0]:
            gc.set_threshold(max(thresholds[0], _COLLECT_AFTER), *thresholds[1:])
        try:
            with thrown_into(self.driver):
                while not self._stopped:
                    time_ms, sequence, what = entry or heappop(queue)
                    # A process comes back with what it took from the queue and may not run itself.
                    entry = what.happen(time_ms, sequence)
        except (KeyboardInterrupt, SystemExit) as error:
            self.broken = f"{type(error).__name__} ended this run at {self.now_ms:,} ms"
            raise
        finally:
            self.driver = None
            gc.set_threshold(*thresholds)
            self._alarm.cancel()
        return self._woken

    def wake(self) -> None:
        """Let who drives go on, after what is due now already."""
        self._woken = True
        self._limit_ms = -1
        self._alarm.restart(self.now_ms)

    def close(self, why: str) -> None:
        """Let nothing happen any more."""
        self._check_that_nobody_drives()
        self.broken = why
        self.queue.clear()
        for node in self.nodes.values():
            node.alive = False

    def past(self, time_ms: int) -> PastTimeError:
        """Say that this time has passed."""
        return PastTimeError(f"{time_ms:,} ms has passed: now is {self.now_ms:,} ms")

    def check_thread(self) -> None:
        """IllegalStateError in any thread but the one that made this loop."""
        if threading.get_ident() != self._thread:
            raise IllegalStateError(
                "a simulation belongs to the thread that made it: this is another one"
            )

    def tidy(self) -> None:
        """Throw away the entries of timers that are of no use; who sets one calls this at times."""
        kept = (
            each for each in self.queue if not isinstance(each[2], Timer) or each[2].keeps(each[1])
        )
        self.queue[:] = kept
        heapify(self.queue)
        self.tidy_at = 2 * len(self.queue) + 1000

    def happen(self, time_ms: int, sequence: int) -> None:
        """Come to a bound: say why the wait cannot end, and who waits for what."""
        heappush(self.queue, (time_ms, sequence, self))
        self.tidy()
        if time_ms < 0:
            why = f"the run came to its bound of {self.max_events:,} events at {self.now_ms:,} ms"
        elif len(self.queue) > 1:
            why = f"the run came to its bound of {self.max_time_ms:,} ms"
        else:
            why = f"nothing is left to happen after {self.now_ms:,} ms"
        waiting = iter(self.who_waits())
        sentence = "; ".join([f"{why}: {self._caller}", *islice(waiting, _NAMED)])
        left_out = sum(1 for _ in waiting)
        raise StuckError(sentence + (f"; and {left_out:,} more" if left_out else ""))

    def _beyond_max_events(self) -> Iterator[int]:
        heappush(self.queue, (-1, NEVER, self))
        yield from count(self.max_events)

    def _come_to_limit(self) -> None:
        next_ms, sequence, _ = self.queue[0]
        if next_ms <= self._limit_ms and sequence != NEVER:
            self._alarm.restart(self._limit_ms)  # something was scheduled meanwhile
        else:
            self._stopped = True

    def _check_that_nobody_drives(self) -> None:
        self.check_thread()
        if self.driver is not None:
            raise IllegalStateError(
                "only a process can wait while the simulation runs"
                if getcurrent() is self.driver
                else "a process can neither run nor end the simulation that it is part of: it can "
                "sleep or wait"
            )
