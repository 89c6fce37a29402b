"""Gathers what a report tells from a folder of events: plain data, bounded, in a fixed order.

A page is for reading: of many rebalances, partitions or changes it has the first, and says so.
"""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafkalearn.spark.events import EventsError, events, parquet_files, read_parquet, schema_of
from kafkalearn.spark.report_ends import FAULTS
from kafkalearn.spark.report_group import group_of
from kafkalearn.spark.report_sweep import sweep_of
from kafkalearn.spark.report_windows import windows_of
from kafkalearn.spark.session import FEW_ROWS, first_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_RUNS = 4  # more are told by how their numbers are spread
MOST_GROUPS, MOST_FAILED, MOST_LANES = 12, 200, 24
Row = dict[str, Any]
_KEY = ("run_id", "group_id")
_FEW = 1_000_000


def session_settings(folder: Path) -> dict[str, str]:
    """Give what a session for this report needs: of few events, preparing costs more than doing.

    Errors: EventsError if the folder has no events, before Spark starts.
    """
    import pyarrow.parquet

    if not folder.is_dir():
        raise EventsError(f"there is no folder {folder}")
    files = parquet_files(folder, "events")
    schema_of(files)
    rows = sum(pyarrow.parquet.read_metadata(path).num_rows for path in files)
    return FEW_ROWS if rows < _FEW else {}


def gather(spark: "SparkSession", folder: Path, *, at: Sequence[str] = ()) -> Row:
    """Give all that the report on a folder of `kafkalearn sweep` or `kafkalearn logs` shows.

    at: moments to step through beside rebalances, see `asked_ms`
    out: name, runs, groups (see `group_of`), windows (of traces, to step through), sweep and
         unparsed (None where the folder has no such thing)
    Errors: EventsError if the folder has no events, or they cannot be read.
    """
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        return _gathered(spark, folder, at=at)
    except (PySparkException, Py4JJavaError) as error:
        raise EventsError(f"{folder} cannot be read: {first_line(error)}") from None


def _gathered(spark: "SparkSession", folder: Path, *, at: Sequence[str]) -> Row:
    found = events(spark, folder)
    runs = _first_runs(folder)
    plan = _plan(folder)
    if not runs and not plan:
        raise EventsError(f"there are no events in {folder}")
    groups, windows = [], []
    if len(runs) <= MOST_RUNS:
        groups = _groups(found)
        windows = windows_of(found, groups, at=at)
    elif at:
        raise EventsError(f"--at is for at most {MOST_RUNS} runs, and there are more in {folder}")
    is_many = bool(plan) or len(runs) > MOST_RUNS
    return {
        "name": folder.resolve().name,
        "runs": sorted(runs),
        "groups": groups,
        "windows": windows,
        "sweep": sweep_of(spark, found, folder=folder, plan=plan) if is_many else None,
        "unparsed": _unparsed(spark, folder),
    }


def _first_runs(folder: Path) -> set[str]:
    """Name the runs, or at least MOST_RUNS + 1; each file lists its own, so that no job is needed.

    Errors: EventsError for a file that is damaged within.
    """
    import pyarrow
    import pyarrow.parquet

    runs: set[str] = set()
    for path in parquet_files(folder, "events"):
        try:
            file = pyarrow.parquet.ParquetFile(path, read_dictionary=["run_id"])
            for batch in file.iter_batches(columns=["run_id"]):
                runs.update(batch["run_id"].unique().to_pylist())
                if len(runs) > MOST_RUNS:
                    return runs
        except (pyarrow.ArrowException, OSError) as error:
            raise EventsError(f"{path} is damaged: {error}") from None
    return runs


def _plan(folder: Path) -> Mapping[str, Any]:
    told = folder / "sweep.json"
    if not told.is_file():
        return {}
    try:
        plan: Mapping[str, Any] = json.loads(told.read_text(encoding="utf-8"))
        return {name: plan[name] for name in ("scenario", "seeds", "vary")}
    except (ValueError, KeyError, TypeError, OSError):
        raise EventsError(f"{told} is damaged: it does not say what was swept") from None


def _unparsed(spark: "SparkSession", folder: Path) -> list[Row] | None:
    """Count the lines that were not read by reason, each with its first one."""
    from pyspark.sql import functions as F  # noqa: N812

    if not (folder / "unparsed").is_dir():
        return None
    lines = read_parquet(spark, parquet_files(folder, "unparsed"))
    first = F.min(F.struct("file", "line_number", F.substring("line", 1, 200).alias("line")))
    counted = lines.groupBy("reason").agg(F.count("*").alias("count"), first.alias("first"))
    return _rows(counted.select("reason", "count", "first.*").orderBy(F.desc("count"), "reason"))


def _rows(frame: "DataFrame") -> list[Row]:
    return [row.asDict(recursive=True) for row in frame.collect()]


def _groups(found: "DataFrame") -> list[Row]:
    """Tell each group's story, the worst first."""
    from kafkalearn.spark.tables import commits, lag, membership, ownership, rebalances

    # While Spark runs one query, Python prepares the next.
    with ThreadPoolExecutor(max_workers=1) as pool:
        committed = commits(found)
        asked = {
            "rebalances": pool.submit(_rows, rebalances(found)),
            "stories": pool.submit(_stories, found),
            "spans": pool.submit(_rows, _spans(found)),
            "membership": pool.submit(_rows, membership(found)),
            "ownership": pool.submit(_rows, ownership(found)),
            "commits": pool.submit(_rows, _outcomes(committed)),
            "failed": pool.submit(_rows, _failed(committed)),
            "fenced": pool.submit(_rows, _fenced(found)),
            "lag": pool.submit(_rows, _thinned(lag(found))),
        }
    others = {name: _by_group(rows.result()) for name, rows in asked.items()}
    told, stories, spans = (others.pop(name) for name in ("rebalances", "stories", "spans"))
    keys = {*told, *stories, *others["membership"], *others["ownership"], *others["lag"]}
    chosen = sorted(keys, key=lambda key: (*_how_well(told.get(key, [])), key))[:MOST_GROUPS]
    return [
        group_of(
            spans[key][0] | {"groups": len(keys)},
            told.get(key, []),
            stories=stories.get(key, []),
            others={name: rows.get(key, []) for name, rows in others.items()},
        )
        for key in chosen
    ]


def _how_well(told: list[Row]) -> tuple[int, int]:
    """Put first whose members were gone for a fault most often, then who rebalanced most."""
    return (-sum(row["cause"] in FAULTS for row in told), -len(told))


def _by_group(rows: list[Row]) -> dict[tuple[str, str], list[Row]]:
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["group_id"] is not None:
            found.setdefault((row["run_id"], row["group_id"]), []).append(row)
    return found


def _stories(found: "DataFrame") -> list[Row]:
    """Ask for the generations of all runs at once: to `stories`, a group is told by its id."""
    from pyspark.sql import functions as F  # noqa: N812

    from kafkalearn.spark.logs.story import stories

    key = F.to_json(F.struct(*_KEY))
    rows = _rows(stories(found.where("group_id is not null").withColumn("group_id", key)))
    return [row | json.loads(row["group_id"]) for row in rows]


def _spans(found: "DataFrame") -> "DataFrame":
    from pyspark.sql import functions as F  # noqa: N812

    times = (F.min("time_ms").alias("first_ms"), F.max("time_ms").alias("last_ms"))
    return found.groupBy(*_KEY).agg(*times)


def _outcomes(commits: "DataFrame") -> "DataFrame":
    """Count the commits of partitions of each consumer by how they ended."""
    from pyspark.sql import functions as F  # noqa: N812

    by = (*_KEY, "node", "generation", "mode", "outcome")
    counted = commits.groupBy(*by).agg(
        F.count("*").alias("count"), F.min("time_ms").alias("from_ms"), F.max("time_ms").alias("to")
    )
    return counted.orderBy(*_KEY, "from_ms", *by[2:])


def _failed(commits: "DataFrame") -> "DataFrame":
    """Find the failed commits, and how far the group's partition was committed before each."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    of_partition = Window.partitionBy(*_KEY, "topic", "partition").orderBy("time_ms")
    ok = F.last(F.when(F.col("outcome") == "ok", F.col("offset")), ignorenulls=True)
    marked = commits.withColumn("committed", ok.over(of_partition)).where("outcome <> 'ok'")
    return marked.orderBy("time_ms", "node", "topic", "partition").limit(MOST_FAILED)


def _fenced(found: "DataFrame") -> "DataFrame":
    """Find the consumers whose group.instance.id another process had."""
    fenced = found.where("error = 'FENCED_INSTANCE_ID' and kind in ('response', 'commit')")
    return fenced.select(*_KEY, "node").distinct().orderBy(*_KEY, "node")


def _thinned(lag: "DataFrame") -> "DataFrame":
    """Keep of each partition at most a few hundred changes: the highest lag of each stretch."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    known = lag.where("lag is not null or unread is not null")
    span = Window.partitionBy("run_id")
    wide = F.greatest(F.max("time_ms").over(span) - F.min("time_ms").over(span), F.lit(1))
    part = F.floor((F.col("time_ms") - F.min("time_ms").over(span)) * 240 / wide)
    height = F.struct(F.coalesce("lag", "unread"), "seq")
    point = F.max_by(F.struct("time_ms", "lag", "unread"), height).alias("point")
    by = (*_KEY, "topic", "partition")
    thin = known.withColumn("part", part).groupBy(*by, "part").agg(point)
    lanes = F.dense_rank().over(Window.partitionBy(*_KEY).orderBy("topic", "partition"))
    few = thin.withColumn("lane", lanes).where(F.col("lane") <= MOST_LANES)
    return few.select(*by, "point.*").orderBy(*by, "time_ms")
