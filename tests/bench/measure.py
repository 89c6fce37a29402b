"""Measures, one row a case: what it took, what the peers took, and what was asked for."""

import re
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

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


def peak_megabytes(pid: int | str = "self") -> float:
    """The most that a process has held; 0 once it is gone. ru_maxrss counts its parent's, too."""
    try:
        status = Path("/proc", str(pid), "status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    held = re.search(r"VmHWM:\s+(\d+)", status)
    return int(held[1]) / 1024 if held else 0.0


def milliseconds(call: Call, *, rounds: int = 7) -> tuple[float, object]:
    """The fastest of several runs (what is left when little disturbs), and the last answer."""
    fastest = float("inf")
    for _ in range(rounds):
        started = time.perf_counter()
        answer = call()
        fastest = min(fastest, time.perf_counter() - started)
    return fastest * 1000, answer


def ratio(case: str, ours: Call, peers: Mapping[str, Peer], *, aim: float, slow: bool) -> Row:
    """How many times as fast as the faster peer; slow peers run once, a process each.

    A peer comes with a check of its answer, so that no row compares work with none.
    """
    own, _ = milliseconds(ours)
    if slow:
        _forked.update(peers)
        with ProcessPoolExecutor(len(peers), mp_context=get_context("fork")) as pool:
            theirs = dict(zip(peers, pool.map(_once, peers), strict=True))
    else:
        theirs = {name: _checked(peer, rounds=5) for name, peer in peers.items()}
    own = min(own, milliseconds(ours)[0])
    notes = {"kafkalearn": f"{own:.1f} ms"} | {name: f"{ms:.1f} ms" for name, ms in theirs.items()}
    return Row(case, min(theirs.values()) / own, "times", aim, True, notes)


_forked: dict[str, Peer] = {}  # a process inherits what cannot be sent to it


def _once(name: str) -> float:
    return _checked(_forked[name], rounds=1)


def _checked(peer: Peer, *, rounds: int) -> float:
    call, check = peer
    taken, answer = milliseconds(call, rounds=rounds)
    check(answer)
    return taken


def alone(case: str, ours: Call, *, aim: float) -> Row:
    """Ours alone, where the peers would take minutes."""
    return Row(case, milliseconds(ours)[0], "ms", aim)
