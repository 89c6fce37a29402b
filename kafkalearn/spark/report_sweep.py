"""What a report tells of a sweep: how the runs' numbers are spread, for each value of a setting."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafkalearn.spark.events import parquet_files, read_parquet
from kafkalearn.spark.sweep import count_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

METRICS = ["rebalance_ms", "unowned_ms", "duplicated", "lost"]
_DOTS = [place / 40 for place in range(1, 40, 2)]  # each stands for a twentieth of the runs
_MARKS = (0.0, 0.25, 0.5, 0.75, 0.95, 1.0)
_MOST_FAILURES, _MOST_VALUES = 50, 60
_TOGETHER = ""  # what stands for all settings together, where others have the name of one


def sweep_of(
    spark: "SparkSession", events: "DataFrame", *, folder: Path, plan: Mapping[str, Any]
) -> dict[str, Any]:
    """Summarise each run, and then the runs by each varied setting, and by all of them together.

    out: scenario, seeds, vary, wanted (how many runs that is; None without a plan), runs, values
         (setting, value, runs, and for each of METRICS: known (in how many runs), above (in how
         many it is more than 0), marks (_MARKS), dots; None where it is known in none), failures
         (error, message, count, seed and settings of one), failed
    """
    from pyspark.sql import functions as F  # noqa: N812

    if plan:
        runs = read_parquet(spark, parquet_files(folder, "runs")).select("run_id", "settings")
    else:
        runs = events.select("run_id", F.lit("{}").alias("settings")).distinct()
    values = sorted(
        _spread(_numbers(runs, events)), key=lambda row: _order(row, plan.get("vary", {}))
    )
    together = [row for row in values if row["setting"] == _TOGETHER]
    failures = _failures(spark, folder) if plan else []
    return {
        **plan,
        "wanted": _wanted(plan),
        "runs": sum(row["runs"] for row in together),
        "values": [row for row in values if row not in together] + together[:_MOST_VALUES],
        "failures": failures[:_MOST_FAILURES],
        "failed": sum(row["count"] for row in failures),
    }


def _wanted(plan: Mapping[str, Any]) -> int | None:
    if not plan:
        return None
    first, end = plan["seeds"]
    count = end - first
    for values in plan["vary"].values():
        count *= len(values)
    return int(count)


def _numbers(runs: "DataFrame", events: "DataFrame") -> "DataFrame":
    """Add each run's numbers, as `run_summary` counts them; the rest of that would cost as much."""
    from pyspark.sql import functions as F  # noqa: N812

    from kafkalearn.spark.tables import deliveries
    from kafkalearn.spark.tables.rebalances import told_and_done

    took, gaps = F.sum(F.col("ended_ms") - F.col("started_ms")), F.sum("unowned_ms")
    lost, more = F.sum(F.col("lost").cast("bigint")), F.sum("duplicated")
    of_groups = told_and_done(events).groupBy("run_id")
    of_records = deliveries(events).groupBy("run_id")
    return (
        runs.join(of_groups.agg(took.alias(METRICS[0]), gaps.alias(METRICS[1])), "run_id", "left")
        .fillna(0, METRICS[:2])
        .join(of_records.agg(more.alias(METRICS[2]), lost.alias(METRICS[3])), "run_id", "left")
    )


def _spread(summary: "DataFrame") -> list[dict[str, Any]]:
    from pyspark.sql import functions as F  # noqa: N812

    of_each = F.from_json("settings", "map<string,string>")
    pairs = F.transform(
        F.map_entries(of_each), lambda e: F.struct(e.key.alias("setting"), e.value.alias("value"))
    )
    whole = F.array(F.struct(F.lit(_TOGETHER).alias("setting"), F.col("settings").alias("value")))
    each = summary.select(*METRICS, F.explode(F.concat(pairs, whole)).alias("by"))
    spread = [
        F.struct(
            F.count(name).alias("known"),
            F.count(F.when(F.col(name) > 0, 1)).alias("above"),
            F.percentile_approx(name, list(_MARKS), 10_000).alias("marks"),
            F.percentile_approx(name, _DOTS, 10_000).alias("dots"),
        ).alias(name)
        for name in METRICS
    ]
    by = each.groupBy("by.setting", "by.value").agg(F.count("*").alias("runs"), *spread)
    return [row.asDict(recursive=True) for row in by.collect()]


def _order(row: Mapping[str, Any], vary: Mapping[str, list[Any]]) -> tuple[Any, ...]:
    """Keep settings and their values as they were asked for."""
    if row["setting"] != _TOGETHER:
        return (list(vary).index(row["setting"]), _place(vary[row["setting"]], row["value"]), "")
    settings = json.loads(row["value"])
    places = [_place(vary[name], _text(value)) for name, value in settings.items()]
    return (len(vary), *places, row["value"])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _place(values: list[Any], value: str) -> int:
    known = [_text(each) for each in values]
    return known.index(value) if value in known else len(known)


def _failures(spark: "SparkSession", folder: Path) -> list[dict[str, Any]]:
    from pyspark.sql import functions as F  # noqa: N812

    rows = read_parquet(spark, parquet_files(folder, "failures"))
    if not count_rows(folder, "failures"):
        return []
    first = F.min(F.struct("seed", "settings")).alias("first")
    message = F.regexp_replace("message", r" at \d+ ms of virtual time", "").alias("message")
    counted = rows.groupBy("error", message).agg(F.count("*").alias("count"), first)
    in_order = counted.select("error", "message", "count", "first.*").orderBy(
        F.desc("count"), "error", "message"
    )
    return [row.asDict() for row in in_order.collect()]
