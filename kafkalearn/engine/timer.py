"""Timers that can be restarted at next to no cost."""

import sys
from collections.abc import Callable
from heapq import heappush
from typing import TYPE_CHECKING

from kafkalearn.engine.node import Node

if TYPE_CHECKING:
    from kafkalearn.engine.event_loop import EventLoop

NEVER = sys.maxsize


class Timer:
    """Calls back at its deadline, once, unless it is cancelled; it can be set again at any time.

    A timer of a dead node never calls; one of a frozen node calls when the node goes on.
    deadline_ms: when it is, or was last, due.

    A heartbeat restarts a timer each time, so that costs little: the new deadline is noted, and
    the entry in the queue moves on to it when its turn comes.
    """

    __slots__ = ("_callback", "_loop", "_node", "_queued", "_queued_ms", "_sequence", "deadline_ms")
    direct = False

    def __init__(
        self, loop: "EventLoop", callback: Callable[[], object], *, node: Node | None = None
    ) -> None:
        self._loop = loop
        self._callback = callback
        self._node = node
        self.deadline_ms = 0
        self._sequence = 0  # its place among what is due then; 0 when it is not set
        self._queued_ms = NEVER  # its entry in the queue, the only one that counts
        self._queued = 0

    @property
    def is_set(self) -> bool:
        """Whether it will call back."""
        return self._sequence != 0

    def restart(self, time_ms: int) -> None:
        """Set it to `time_ms`, exactly as cancel() and a new call_at() would, order included."""
        loop = self._loop
        if time_ms < loop.now_ms:
            raise loop.past(time_ms)
        self.deadline_ms = time_ms
        self._sequence = next(loop.sequence)
        if time_ms < self._queued_ms:
            self._enqueue()

    def cancel(self) -> None:
        """Let it not call; no effect when it is not set."""
        self._sequence = 0

    def happen(self, time_ms: int, sequence: int) -> None:
        """Call back, if this is still the deadline; the loop calls this."""
        if sequence != self._queued:
            return
        self._queued_ms = NEVER
        if sequence != self._sequence:
            if self._sequence:
                self._enqueue()
            return
        node = self._node
        if node is not None and time_ms < node.frozen_until_ms:
            self.restart(node.frozen_until_ms)
            return
        self._sequence = 0
        if node is None or node.alive:
            self._loop.now_ms = time_ms
            self._callback()

    def keeps(self, sequence: int) -> bool:
        """Whether its entry with this sequence is of use; one that is not gets thrown away."""
        if sequence == self._queued and not self._sequence:
            self._queued_ms = NEVER
            return False
        return sequence == self._queued

    def _enqueue(self) -> None:
        loop = self._loop
        self._queued_ms = self.deadline_ms
        self._queued = self._sequence
        heappush(loop.queue, (self._queued_ms, self._queued, self))
        if len(loop.queue) > loop.tidy_at:
            loop.tidy()
