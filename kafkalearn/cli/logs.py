"""``kafkalearn logs``: make events of the logs of real clients and brokers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kafkalearn.cli.app import Master, app, interrupted_by_sigterm, told_in_a_sentence

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafkalearn.spark.logs.importing import Counts


@app.command()
def logs(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="Logs of consumers or brokers, or .gz.")
    ],
    out: Annotated[Path, typer.Option(help="A new folder: gets events and unparsed, as Parquet.")],
    master: Master = None,
) -> None:
    """Read logs of real consumers and coordinators, and say what happened in their groups.

    Java, librdkafka, kafka-python, aiokafka, and the broker's group coordinator. Give all files of
    a group together. Times without a zone count as UTC. A --master that is no local one needs
    files and OUT where all its machines see them.

    Exit status: 0, what can be read was; lines that cannot be are in OUT/unparsed. 2, nothing was
    written; the message says why.
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


def _import(files: list[Path], *, out: Path, master: str | None) -> None:
    from kafkalearn.spark.logs.importing import import_logs, is_small, suited
    from kafkalearn.spark.session import QUICK_JAVA, spark_session
    from kafkalearn.views.wording import plural

    quick = {"spark_driver_extraJavaOptions": QUICK_JAVA} if is_small(files) else {}
    typer.echo("Starting Spark …", err=True)
    spark = spark_session(master, **quick)
    typer.echo(f"Reading {plural(len(files), 'file')} …", err=True)
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

    kinds, reasons = _counted(out / "events", "kind"), _counted(out / "unparsed", "reason")
    classes = ", ".join(f"{count:,} {name}" for name, count in counts.classes.items())
    print_(f"{counts.lines:,} lines: {classes}")
    print_("events: " + ", ".join(f"{kind} {count:,}" for kind, count in kinds))
    for reason, count in reasons:
        print_(f"unparsed, {reason}: {count:,}")
    for name in counts.broken:
        print_(f"{name} breaks off: read up to there")
    _tell_groups(spark.read.parquet(str(out.absolute() / "events")), print_)
    _tell_of_no_group(out / "events", print_)
    print_(f"Events are in {out / 'events'}")


def _counted(folder: Path, column: str) -> list[tuple[str, int]]:
    """Count the values of a column of Parquet: Spark would take longer to plan it."""
    import pyarrow.parquet

    values = pyarrow.parquet.read_table(folder, columns=[column])
    found = values.group_by(column).aggregate([([], "count_all")])
    return sorted(zip(*(each.to_pylist() for each in found.columns), strict=True))


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


def _tell_of_no_group(folder: Path, print_: Any) -> None:
    """Tell of members that gave up, where the log does not say of which group they were."""
    import json
    from datetime import UTC, datetime

    import pyarrow.compute
    import pyarrow.parquet

    field = pyarrow.compute.field
    lost = field("group_id").is_null() & (field("kind") == "client_state")
    told = ["time_ms", "node", "detail"]
    rows = pyarrow.parquet.read_table(folder, columns=told, filters=lost).to_pylist()
    if rows:
        print_("\nof a group that is not named (librdkafka names it with debug=cgrp)")
    for row in rows:
        detail = json.loads(row["detail"])
        when = datetime.fromtimestamp(row["time_ms"] / 1000, UTC)
        print_(f"  {when:%Y-%m-%d %H:%M:%S} {row['node']} {detail['to']}: {detail.get('reason')}")
