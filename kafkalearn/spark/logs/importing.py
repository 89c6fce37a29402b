"""Logs to a folder of events: reads, keeps what it could not read, and writes all or nothing."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from pyspark.sql import DataFrame, Observation, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from kafkalearn.spark.events import TYPES
from kafkalearn.spark.logs import events
from kafkalearn.spark.logs.group_events import told_by_clients
from kafkalearn.spark.logs.groups import generations, without_coordinator
from kafkalearn.spark.logs.lines import SETTINGS, LogError, linked, numbered, read_lines
from kafkalearn.spark.logs.reading import CLASSES, read, with_fields
from kafkalearn.spark.logs.states import PLACE, completed

SMALL_BYTES = 16 << 20
ARCHIVES = {b"PK\3\4": "a zip archive", b"\x28\xb5\x2f\xfd": "zstd's", b"\xfd7zX": "xz's"}
FOR_MANY_LINES = {
    # Java never compiles longer methods, and each line would pass through them.
    "spark.sql.codegen.hugeMethodLimit": "8000",
}
FOR_FEW_LINES = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "1",
    # Without generated code, to look for what was computed already costs more than to compute it.
    "spark.sql.subexpressionElimination.enabled": "false",
}


class Counts(NamedTuple):
    """How many lines there are of each of CLASSES, and which files break off."""

    lines: int
    classes: dict[str, int]
    broken: list[str]


def import_logs(spark: SparkSession, files: Sequence[Path], *, out: Path) -> Counts:
    """Write the events of some logs to `out`/events, and the lines not read to `out`/unparsed.

    All files are one run, since members of a group write to several. Errors: LogError; then
    nothing is written.
    """
    check(files, out)
    out = out.absolute()  # Java was started in another folder, perhaps.
    work = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        with suited(spark, files):
            counts = _import(spark, files, work)
        _publish(work, out)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return counts


@contextmanager
def suited(spark: SparkSession, files: Sequence[Path]) -> Iterator[None]:
    """Set Spark for these files, until the end: generated code does not pay for few lines."""
    settings = SETTINGS | (FOR_FEW_LINES if is_small(files) else FOR_MANY_LINES)
    before = {key: spark.conf.get(key, None) for key in settings}
    try:
        for key, value in settings.items():
            spark.conf.set(key, value)
        yield
    finally:
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)


def is_small(files: Sequence[Path]) -> bool:
    """Whether to get ready for the files would take Spark longer than to read them."""
    return sum(path.stat().st_size for path in files) <= SMALL_BYTES


def run_id(files: Sequence[Path]) -> str:
    """Name a run after its first files."""
    names = [path.name for path in files]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"logs {', '.join(names[:3])}{more}"


def events_of(rows: DataFrame, *, run: str) -> DataFrame:
    """Number all events in the order of time.

    in:  what `states.completed` gives
    out: events.EVENT
    """
    by_clients = told_by_clients(generations(without_coordinator(rows)))
    every = events.told(rows).unionByName(by_clients, allowMissingColumns=True)
    of_line = ("sub", "kind", "member_id", "topic", "partition", "offset")
    in_order = Window.orderBy(*PLACE, *of_line)
    known = {"run_id": F.lit(run), "seq": F.row_number().over(in_order) - 1}
    return every.select(
        *(known.get(name, F.col(name)).cast(type_).alias(name) for name, type_ in TYPES.items())
    )


def _import(spark: SparkSession, files: Sequence[Path], work: Path) -> Counts:
    links = work / "links"
    links.mkdir()
    _check_shared(spark, links)
    linked(files, links)
    lines = read_lines(spark, files, folder=links)
    observed = Observation()
    # Nothing may be pushed below the barrier: each line is to be read once.
    every = read(lines.frame).withColumn("barrier", F.monotonically_increasing_id())
    counted = every.observe(
        observed, *(F.count(F.when(F.col("class") == each, 1)).alias(each) for each in CLASSES)
    )
    wanted = counted.where(F.col("is_kept") | (F.col("class") == "unparsed")).drop("barrier")
    told = with_fields(numbered(wanted, lines.starts).withColumns(lines.about))
    rows = _kept(told, work / "rows")
    classes = {name: int(observed.get[name]) for name in CLASSES}
    if not any(classes.values()):
        raise LogError("an empty log, so nothing was read")
    if not classes["event"]:
        raise LogError("no line tells of a Kafka consumer, its group or its coordinator")
    unread = ("class", "problem", "is_kept", "text", "modified_ms", "name")
    states = _kept(completed(rows.where("is_kept").drop(*unread)), work / "states")
    events_of(states, run=run_id(files)).write.parquet(str(work / "events"))
    unparsed = rows.where(F.col("class") == "unparsed").select(
        F.col("text").alias("line"),
        F.col("name").alias("file"),
        F.col("number").alias("line_number"),
        F.col("problem").alias("reason"),
    )
    unparsed.orderBy("file", "line_number").write.parquet(str(work / "unparsed"))
    return Counts(sum(classes.values()), classes, lines.broken)


def _check_shared(spark: SparkSession, folder: Path) -> None:
    """LogError if executors do not see our folders: they read the logs, and write the events."""
    context, place = spark.sparkContext, str(folder)
    if not str(context.master).startswith("local"):
        many = context.defaultParallelism
        seen = context.range(0, many, 1, many).mapPartitions(lambda _: [os.path.isdir(place)])
        if not all(seen.collect()):
            raise LogError(
                f"workers of {context.master} do not see {folder.parent.parent}: put the logs and "
                "--out where all machines see them, or leave --master out"
            )


def _kept(frame: DataFrame, place: Path) -> DataFrame:
    """Write what is used several times, and go on from there: later plans stay small."""
    frame.write.parquet(str(place))
    return frame.sparkSession.read.schema(frame.schema).parquet(str(place))


def check(files: Sequence[Path], out: Path) -> None:
    """Say at once, before Spark starts, what cannot be read or written. Errors: LogError."""
    for path in files:
        if path.is_dir():
            raise LogError(f"{path} is a folder: name the log files in it")
        try:
            with path.open("rb") as log:
                begin = log.read(4)
        except OSError as error:
            raise LogError(f"{path} cannot be read: {error.strerror}") from None
        if begin in ARCHIVES:
            raise LogError(f"{path} is {ARCHIVES[begin]}: unpack it, or pack it with gzip or bzip2")
    if not any(path.stat().st_size for path in files):
        raise LogError(f"{', '.join(map(str, files))}: an empty log, so nothing was read")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise LogError(f"{out} is not an empty folder: choose another one for --out")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out.parent):
            pass
    except OSError as error:
        raise LogError(f"--out {out} cannot be written: {error.strerror}") from None


def _publish(work: Path, out: Path) -> None:
    """Move what is complete to where it belongs, in one step."""
    for part in ("links", "rows", "states"):
        shutil.rmtree(work / part)
    if out.exists():
        out.rmdir()
    work.chmod(0o755)
    work.rename(out)
