"""Measures, one row a case: what it took, what the peers took, and what was asked for."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Call = Callable[[], object]
Peer = tuple[Call, Callable[[object], None]]


@dataclass(frozen=True)
class Row:
    """One line of the table. `value` and `aim` are ratios, milliseconds or MB, as `unit` says.

    aim: None where a figure was asked for, and no bound.
    """

    case: str
    value: float
    unit: str
    aim: float | None
    at_least: bool = False
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def met(self) -> bool:
        """Whether the figure is on the right side of what was asked for."""
        if self.aim is None:
            return True
        return self.value >= self.aim if self.at_least else self.value <= self.aim


def milliseconds(call: Call, *, rounds: int = 7) -> tuple[float, object]:
    """The fastest of several runs (what is left when little disturbs), and the last answer."""
    fastest = float("inf")
    for _ in range(rounds):
        started = time.perf_counter()
        answer = call()
        fastest = min(fastest, time.perf_counter() - started)
    return fastest * 1000, answer


def ratio(case: str, ours: Call, peers: Mapping[str, Peer], *, aim: float, slow: bool) -> Row:
    """How many times as fast as the faster peer; slow peers run once, between two of ours.

    A peer comes with a check of its answer, so that no row compares work with none.
    """
    own, _ = milliseconds(ours)
    theirs = {}
    for name, (call, check) in peers.items():
        theirs[name], answer = milliseconds(call, rounds=1 if slow else 5)
        check(answer)
    own = min(own, milliseconds(ours)[0])
    notes = {"kafkalearn": f"{own:.1f} ms"} | {name: f"{ms:.1f} ms" for name, ms in theirs.items()}
    return Row(case, min(theirs.values()) / own, "times", aim, True, notes)


def alone(case: str, ours: Call, *, aim: float) -> Row:
    """Ours alone, where the peers would take minutes."""
    return Row(case, milliseconds(ours)[0], "ms", aim)
