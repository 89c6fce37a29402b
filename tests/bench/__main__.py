"""`make bench`: every figure that was asked for, measured now, with the peers in the same run."""

import os
import platform
import sys
import time
from importlib.metadata import version
from itertools import chain
from pathlib import Path

from rich.console import Console

from tests.bench import (
    assignors,
    clients,
    cluster,
    engine,
    grading,
    logs,
    pipeline,
    trace,
    views,
)
from tests.bench.measure import Row

MEASURED = (engine, trace, cluster, clients, assignors, views, grading, pipeline, logs)
REPORT = Path("build/bench.md")
PACKAGES = ("kafkalearn", "kafka-python", "aiokafka", "simpy", "nbgrader", "pyspark")


def line(row: Row) -> str:
    """One line of the Markdown table."""
    asked = "the figure"
    if row.aim is not None:
        asked = f"{'at least' if row.at_least else 'at most'} {row.aim:,g}"
    notes = ", ".join(f"{name} {value}" for name, value in row.notes.items())
    mark = "yes" if row.met else "**no**"
    return f"| {row.case} | {row.value:,.1f} {row.unit} | {asked} | {mark} | {notes} |"


def main() -> int:
    """Print and write the table; 1 if a figure was missed."""
    console = Console()
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    lines = [
        f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}; "
        f"Python {platform.python_version()}, {versions}",
        "",
        "| case | measured | asked for | met | each |",
        "| --- | --- | --- | --- | --- |",
    ]
    console.print("\n".join(lines), soft_wrap=True)
    missed, began = 0, time.monotonic()
    for row in chain.from_iterable(each.rows() for each in MEASURED):
        lines.append(line(row))
        console.print(lines[-1], soft_wrap=True, highlight=False, markup=False)
        missed += not row.met
    taken = f"{(time.monotonic() - began) / 60:.1f} minutes"
    lines += ["", f"Measured in {taken}."]
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text("\n".join(lines) + "\n")
    many = f"{missed or 'no'} figure{'s' * (missed > 1)} missed"
    console.print(f"\nwritten to {REPORT} after {taken}; {many}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
