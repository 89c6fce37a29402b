"""`make soak`, with its options."""

import os
from itertools import count, islice
from math import inf
from typing import Annotated

import typer
from rich.console import Console

from tests.whole_groups.soak import soak

app = typer.Typer(add_completion=False)


@app.command()
def main(
    first: Annotated[int, typer.Option(min=0, help="The seed to begin with.")] = 0,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Default: as long as one lets it.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=0, help="When to end, at the latest.")] = inf,
    processes: Annotated[int, typer.Option(min=1)] = os.cpu_count() or 1,
) -> None:
    """Play random groups with faults until a promise breaks; Ctrl-C ends it, too.

    Exit status: 0, all were kept; 1, one broke, and its story was told.
    """
    seeds = islice(count(first), runs)
    broken = soak(seeds, seconds=seconds, processes=processes, console=Console())
    raise typer.Exit(0 if broken is None else 1)


if __name__ == "__main__":
    app()
