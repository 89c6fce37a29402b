"""``kafkalearn sweep``: run a scenario with many seeds and settings, and keep the events."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kafkalearn.cli.app import Master, app, told_in_a_sentence

if TYPE_CHECKING:
    from kafkalearn.spark.sweep_plan import Sweep

_NOT_VARIED = {"seed": "--seeds does that", "faults": "they are part of no sweep"}


@app.command()
def sweep(
    scenario: Annotated[str, typer.Argument(help="Its name; `kafkalearn trace` lists them.")],
    out: Annotated[Path, typer.Option(help="Gets events, runs and failures, as Parquet.")],
    seeds: Annotated[
        str, typer.Option(metavar="FIRST:END", help="The seeds from FIRST up to, not with, END.")
    ] = "0:100",
    vary: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE,VALUE…", help="A setting, or `profile`, and its values."),
    ] = None,
    master: Master = None,
) -> None:
    """Run a scenario with every seed and every combination of settings, on Spark.

    A sweep that was interrupted goes on with the same command: what is finished is kept.

    Exit status: 0, everything was run. 1, some runs failed; DIR/failures says which and why.
    2, the sweep did not come to its end; the message says why.
    """
    from kafkalearn.spark.session import SparkStartError
    from kafkalearn.spark.sweep import begin, count_rows
    from kafkalearn.spark.sweep_plan import Sweep, SweepError
    from kafkalearn.workbook import WorkbookError

    with told_in_a_sentence(SweepError, WorkbookError, SparkStartError, OSError):
        wanted = Sweep(scenario, _seeds(seeds), _varied(vary or []))
        wanted.check()
        if parts := begin(wanted, out):
            _run(wanted, parts, out=out, master=master)
        failed = count_rows(out, "failures")
        why = f" ({out / 'failures'} says why)" if failed else ""
        typer.echo(f"{wanted.runs:,} runs, {failed:,} of them failed{why}; they are in {out}")
    raise typer.Exit(1 if failed else 0)


def _seeds(text: str) -> range:
    """Read FIRST:END, or one seed."""
    from kafkalearn.spark.sweep_plan import SweepError

    first, colon, end = text.partition(":")
    numbers = [first, end] if colon else [first]
    if not all(each.isascii() and each.isdigit() for each in numbers):
        raise SweepError(f"--seeds {text} is not understood: FIRST:END is allowed, as in 0:1000")
    if max(map(len, numbers)) > 18:
        raise SweepError("--seeds has too large a number: at most 18 digits are allowed")
    seeds = range(int(first), int(end) if colon else int(first) + 1)
    if not seeds:
        raise SweepError(f"--seeds {text} are no seeds: END must be more than FIRST")
    return seeds


def _varied(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Read NAME=VALUE,VALUE…, each value as `kafkalearn trace --set` does; a profile is text."""
    from kafkalearn.spark.sweep_plan import SweepError
    from kafkalearn.workbook import read_assignment

    varied: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals:
            example = "NAME=VALUE,VALUE… is allowed, as in session_timeout_ms=6000,10000"
            raise SweepError(f"--vary {text} is not understood: {example}")
        given = [
            read_assignment(f"{name}={each}", option="--vary")[1] for each in values.split(",")
        ]
        if name in _NOT_VARIED:
            raise SweepError(f"--vary {name} is not allowed: {_NOT_VARIED[name]}")
        if name in varied:
            raise SweepError(f"--vary {name} is given twice: write its values as {name}=1,2")
        if name == "profile":
            given = values.split(",")
        if len({repr(each) for each in given}) < len(given):
            raise SweepError(f"--vary {text} has a value twice: each is allowed once")
        varied[name] = given
    return varied


def _run(wanted: "Sweep", parts: Sequence[int], *, out: Path, master: str | None) -> None:
    from rich.console import Console
    from rich.progress import Progress

    from kafkalearn.spark.session import QUICK_JAVA, spark_session
    from kafkalearn.spark.sweep import run_parts
    from kafkalearn.spark.sweep_plan import SweepError

    ran = 0
    try:
        with Progress(console=Console(stderr=True)) as progress:
            task = progress.add_task(
                "starting Spark", total=sum(len(wanted.runs_of(p)) for p in parts)
            )
            spark = spark_session(master, spark_driver_extraJavaOptions=QUICK_JAVA)
            progress.update(task, description="runs")
            try:
                for part in run_parts(spark, wanted, parts=parts, out=out):
                    ran += len(wanted.runs_of(part))
                    progress.update(task, completed=ran)
            finally:
                spark.stop()
    except KeyboardInterrupt:
        raise SweepError(
            f"interrupted: {ran:,} more runs are in {out}, and the same command goes on"
        ) from None
