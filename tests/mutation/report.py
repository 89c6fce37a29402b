"""What mutation testing found: a table for the terminal, and the survivors as diffs."""

import tomllib
from collections import Counter
from collections.abc import Iterable
from math import sqrt
from pathlib import Path

from tests.mutation.judging import Verdict
from tests.mutation.mutants import Mutant

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
IDENTITY = ("module", "function", "before", "after")
KILLED = ("killed", "timed out")
ROW = "{:<12}{:>9}{:>8}{:>8}{:>11}{:>10}{:>13}{:>9}  {}"
HEAD = ROW.format(
    "package",
    "mutants",
    "tried",
    "killed",
    "timed out",
    "survived",
    "not covered",
    "killed %",
    "95 %",
)


def row(package: str, number: int, verdicts: list[Verdict]) -> str:
    """Give a line of figures; what timed out was noticed, what is not covered survives."""
    outcomes = Counter(verdict.outcome for verdict in verdicts)
    tried, killed = len(verdicts), sum(outcomes[outcome] for outcome in KILLED)
    low, high = interval(killed, tried) if tried < number else (killed / tried,) * 2
    kinds = (outcomes[kind] for kind in (*KILLED, "survived", "not covered"))
    figures = [f"{100 * killed / tried:.1f}", f"{100 * low:.1f} to {100 * high:.1f}"]
    return ROW.format(package, number, tried, *kinds, *figures)


def interval(killed: int, tried: int) -> tuple[float, float]:
    """Give Wilson's 95 % interval of a share that was estimated from a sample."""
    z, share = 1.96, killed / tried
    middle = share + z * z / (2 * tried)
    reach = z * sqrt(share * (1 - share) / tried + z * z / (4 * tried * tried))
    scale = 1 + z * z / tried
    return (middle - reach) / scale, (middle + reach) / scale


def reasons() -> dict[tuple[str, ...], str]:
    """Give (module, function, before, after) -> why no test can tell the two apart."""
    listed = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", [])
    return {tuple(each[part] for part in IDENTITY): each["reason"] for each in listed}


def unknown(among: Iterable[Mutant]) -> list[str]:
    """Name each listed equivalent mutant of these modules that is made no longer."""
    made = {_identity(each) for each in among}
    modules = {module for module, *_ in made}
    return [
        f"equivalent.toml has a mutant that is made no longer: {listed}"
        for listed in reasons()
        if listed[0] in modules and listed not in made
    ]


def _identity(mutant: Mutant) -> tuple[str, ...]:
    return tuple(getattr(mutant, part) for part in IDENTITY)


def survivors(verdicts: Iterable[Verdict]) -> str:
    """Show each survivor as a diff, in Markdown; with the reason, if it is believed equivalent."""
    known, parts = reasons(), []
    for verdict in verdicts:
        mutant = verdict.mutant
        if verdict.outcome in KILLED:
            continue
        reason = known.get(_identity(mutant))
        said = f"\nEquivalent: {reason}\n" if reason else ""
        parts.append(
            f"### {mutant.name}: {verdict.outcome}\n{said}\n```diff\n{mutant.diff()}\n```\n"
        )
    return "\n".join(parts)
