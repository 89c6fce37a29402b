"""``kafkalearn report``: one page on what a sweep or imported logs tell."""

import os
from pathlib import Path
from typing import Annotated

import typer

from kafkalearn.cli.app import Master, app, told_in_a_sentence


@app.command()
def report(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="What `sweep` or `logs` wrote to its --out.")
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The page. Default: DIR/report.html.")
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(metavar="TIME", help="A moment to step through: 2026-11-27 22:26:30, +12.5."),
    ] = None,
    master: Master = None,
) -> None:
    """Write one HTML page: why and how long groups rebalanced, and what would have helped.

    For a sweep: how rebalance time, duplicates and time without an owner differ by its settings.
    The page needs no network. Rebalances can be stepped through in it, and what --at names.

    Exit status: 0, the page was written. 2, it was not; the message says why.
    """
    from kafkalearn.spark.events import EventsError
    from kafkalearn.spark.report import gather, session_settings
    from kafkalearn.spark.report_windows import asked_ms
    from kafkalearn.spark.session import SparkStartError, spark_session
    from kafkalearn.trace.jsonl import written_beside
    from kafkalearn.views.report import page

    target = out or folder / "report.html"
    with told_in_a_sentence(EventsError, SparkStartError, OSError):
        for each in at or ():
            asked_ms(each)  # what is wrong is said before Spark starts
        settings = session_settings(folder)
        if target.is_dir() or not os.access(target.parent, os.W_OK):
            raise EventsError(f"--out {target} cannot be written: a file in a folder is allowed")
        typer.echo("Starting Spark …", err=True)
        spark = spark_session(master, **settings)
        try:
            typer.echo(f"Reading the events in {folder} …", err=True)
            told = gather(spark, folder, at=at or ())
        finally:
            spark.stop()
        with written_beside(target) as beside:
            beside.write_text(page(told), encoding="utf-8")
        typer.echo(f"The report is in {target}")
