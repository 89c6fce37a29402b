"""`make soak`: random groups with faults, for as long as one lets it; the first breach ends it."""

import signal
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.whole_groups.draw import plan_of
from tests.whole_groups.outcome import Outcome, outcome_of
from tests.whole_groups.plan import Plan
from tests.whole_groups.shrink import shrunk
from tests.whole_groups.story import told

FOLDER = Path("build/soak")
SECONDS_A_LINE = 10
RUNS_A_PROCESS = 50  # of which nobody hears when an interrupt comes


def outcome_of_seed(seed: int) -> Outcome:
    """Draw a plan, and play it."""
    return outcome_of(plan_of(seed))


def outcomes(seeds: Iterable[int], processes: int) -> Iterator[Outcome]:
    """Play seeds, and give what came of each, in their order, however many processes there are."""
    if processes == 1:
        yield from map(outcome_of_seed, seeds)
        return
    left = iter(seeds)
    ignore = (signal.SIGINT, signal.SIG_IGN)  # the one that hears Ctrl-C ends the others
    with ProcessPoolExecutor(processes, initializer=signal.signal, initargs=ignore) as pool:
        while some := list(islice(left, processes * RUNS_A_PROCESS)):
            yield from pool.map(outcome_of_seed, some)


class Count:
    """What was met so far, and how fast."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._begun = self._told = time.monotonic()
        self.runs = 0
        self._met: Counter[tuple[str, str]] = Counter()

    @property
    def seconds(self) -> float:
        """How long it has gone on."""
        return time.monotonic() - self._begun

    def add(self, outcome: Outcome) -> None:
        """Count a run in; say a line now and then."""
        self.runs += 1
        self._met.update(outcome.met)
        if time.monotonic() - self._told > SECONDS_A_LINE:
            self._told = time.monotonic()
            self._console.print(self.line(), soft_wrap=True)

    def line(self) -> str:
        """Say how far it has come."""
        whats = {"rebalance": "rebalances", "fault": "faults", "topic": "changes of topics"}
        counted = [
            f"{sum(many for (kind, _), many in self._met.items() if kind == what):,} {name}"
            for what, name in whats.items()
        ]
        pace = self.runs * 60 / max(self.seconds, 0.001)
        return f"{self.runs:,} runs, {pace:,.0f} seeds per minute: {', '.join(counted)}"

    def table(self) -> Table:
        """Tell all that was met."""
        table = Table("what", "how often each", box=None)
        for what in sorted({kind for kind, _ in self._met}):
            each = [
                f"{name} {many:,}"
                for (kind, name), many in sorted(self._met.items())
                if kind == what
            ]
            table.add_row(what, ", ".join(each))
        return table


def soak(
    seeds: Iterable[int], *, seconds: float, processes: int, folder: Path = FOLDER, console: Console
) -> Plan | None:
    """Play seeds for so many seconds, or until a promise breaks: then give the smallest plan."""
    counted, broken = Count(console), None
    try:
        with closing(outcomes(seeds, processes)) as coming:
            for outcome in coming:
                counted.add(outcome)
                if outcome.breaches:
                    broken = outcome
                if outcome.breaches or counted.seconds >= seconds:
                    break
    except KeyboardInterrupt:
        console.print("Interrupted.")
    console.print(counted.line(), counted.table(), soft_wrap=True)
    if broken is None:
        console.print("Every promise was kept.")
        return None
    return smallest(broken, folder=folder, console=console)


def smallest(broken: Outcome, *, folder: Path, console: Console) -> Plan:
    """Shrink a plan, until it is done or Ctrl-C takes what there is; tell its story."""
    plan = broken.plan
    lines = (
        f"\nSeed {plan.seed} broke a promise:",
        *broken.first_breaches,
        "\nShrinking its plan.",
    )
    console.print(*lines, sep="\n", soft_wrap=True, markup=False, highlight=False)
    with suppress(KeyboardInterrupt):
        for less in shrunk(broken.plan, broken.broken):
            plan = less
    console.print(told(plan, folder=folder), soft_wrap=True, markup=False, highlight=False)
    return plan
