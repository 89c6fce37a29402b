"""``kafkalearn logs``: make events of the logs of real clients and brokers."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kafkalearn.cli.app import app, told_in_a_sentence

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafkalearn.spark.logs.importing import Counts


@app.command()
def logs(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="Logs of consumers or brokers, or .gz.")
    ],
    out: Annotated[Path, typer.Option(help="A new folder: gets events and unparsed, as Parquet.")],
    master: Annotated[
        str | None, typer.Option(help="Spark's master. Default: all cores of this machine.")
    ] = None,
) -> None:
    """Read logs of real consumers and coordinators, and say what happened in their groups.

    Java, librdkafka, kafka-python, aiokafka, and the broker's group coordinator. Give all files of
    a group together. Times without a zone count as UTC.
    """
    from kafkalearn.spark.logs.importing import check
    from kafkalearn.spark.logs.lines import LogError
    from kafkalearn.spark.session import SparkStartError

    with told_in_a_sentence(LogError, SparkStartError):
        check(files, out)
        try:
            with interrupted_by_sigterm():
                _import(files, out=out, master=master)
        except KeyboardInterrupt:
            raise LogError("interrupted, so nothing was written") from None


@contextmanager
def interrupted_by_sigterm() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does, so that what was begun is cleaned up."""
    before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _import(files: list[Path], *, out: Path, master: str | None) -> None:
    from kafkalearn.spark.logs.importing import import_logs, is_small, suited
    from kafkalearn.spark.session import QUICK_JAVA, spark_session

    quick = {"spark_driver_extraJavaOptions": QUICK_JAVA} if is_small(files) else {}
    spark = spark_session(master, **quick)
    try:
        with suited(spark, files):
            _tell(spark, out, import_logs(spark, files, out=out))
    finally:
        spark.stop()


def _tell(spark: "SparkSession", out: Path, counts: "Counts") -> None:
    """Print what was read, and each group's generations."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)

    def print_(text: str) -> None:
        console.print(text, markup=False)

    events = spark.read.parquet(str(out / "events"))
    kinds = events.groupBy("kind").count().orderBy("kind").collect()
    reasons = spark.read.parquet(str(out / "unparsed")).groupBy("reason").count().collect()
    classes = ", ".join(f"{count:,} {name}" for name, count in counts.classes.items())
    print_(f"{counts.lines:,} lines: {classes}")
    print_("events: " + ", ".join(f"{kind} {count:,}" for kind, count in kinds))
    for reason, count in sorted(map(tuple, reasons)):
        print_(f"unparsed, {reason}: {count:,}")
    for name in counts.broken:
        print_(f"{name} breaks off: read up to there")
    _tell_groups(events, print_)
    print_(f"Events are in {out / 'events'}")


def _tell_groups(events: Any, print_: Any) -> None:
    from kafkalearn.spark.logs.story import stories

    group = None
    for row in stories(events).collect():
        if row.group_id != group:
            group = row.group_id
            print_(f"\ngroup {group}")
        members = ", ".join(
            f"{member}{' (leader)' if member == row.leader else ''}" for member in row.members or ()
        )
        reasons = [each for each in (row.reason, *(row.also or ())) if each]
        why = f": {'; '.join(dict.fromkeys(reasons))}" if reasons else ""
        print_(
            f"  {row.time:%Y-%m-%d %H:%M:%S} generation {row.generation}, {members or 'empty'}{why}"
        )
