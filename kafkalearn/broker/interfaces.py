"""What a broker asks of the world around it, so that it reads no clock and sends nothing itself.

The simulation gives it virtual time; a socket server could give it real time.
"""

from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """Something that is due once; afterwards it can be started again."""

    @property
    def deadline_ms(self) -> int:
        """When it is, or was last, due."""

    def cancel(self) -> None:
        """Make sure that it does not run; it may have run already."""

    def restart(self, time_ms: int) -> None:
        """Let it run at `time_ms` and not before; like cancelling it and setting a new one."""


class Timers(Protocol):
    """Sets timers that live as long as their broker: a crash drops them all.

    Those of one millisecond run in the order in which they were set or restarted.
    """

    def call_at(self, time_ms: int, callback: Callable[[int], object]) -> Timer:
        """Call `callback` with the time at `time_ms`."""


class Recorder(Protocol):
    """Takes what the broker wants in the trace."""

    def __call__(self, kind: str, now_ms: int, **columns: object) -> None:
        """Record one event; columns and detail are those of kafkalearn.trace."""
