"""One row per run: what a sweep compares."""

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from kafkalearn.spark.events import known
from kafkalearn.spark.tables.columns import promised
from kafkalearn.spark.tables.ownership import membership
from kafkalearn.spark.tables.rebalances import told_and_done
from kafkalearn.spark.tables.records import commits, deliveries, lag

RUN_SUMMARY = (
    "run_id string, scenario string, profile string, seed bigint, events bigint, first_ms bigint, "
    "last_ms bigint, members bigint, rebalances bigint, rebalance_ms bigint, unowned_ms bigint, "
    "commits bigint, commits_failed bigint, records bigint, delivered bigint, processed bigint, "
    "lost bigint, duplicated bigint, most_lag bigint"
)
_SIMULATED = r"^(\w+)(?: \w+=.*)? profile=(\S+) seed=(\d+)"


def run_summary(events: DataFrame) -> DataFrame:
    """What happened in each run, in numbers.

    rebalance_ms: from start to end, of all that ended. commits: those of partitions. records: those
    of deliveries, once for each group. processed, lost, duplicated: null where no effect can be
    known. most_lag: the highest lag of a partition. scenario, profile and seed are null for an
    imported log.

    in:  as the other tables
    out: run_id, scenario, profile, seed, events, first_ms, last_ms, members, rebalances,
         rebalance_ms, unowned_ms, commits, commits_failed, records, delivered, processed, lost,
         duplicated, most_lag
         one row per run
    """
    parts = (membership, told_and_done, commits, deliveries, lag)
    return summed_up(events, *(part(events) for part in parts))


def summed_up(events: DataFrame, *tables: DataFrame) -> DataFrame:
    """Make run_summary of the events and of membership, rebalances, commits, deliveries and lag.

    All rows of all of them are summed up at once, each in the columns that it tells of.
    """
    members, rebalances, commits_, records, lags = tables
    one, took = F.lit(1), F.col("ended_ms") - F.col("started_ms")
    rows = [
        known(events).select("run_id", one.alias("events"), "time_ms"),
        members.select("run_id", one.alias("members")),
        rebalances.select(
            "run_id", one.alias("rebalances"), took.alias("rebalance_ms"), "unowned_ms"
        ),
        commits_.select(
            *("run_id", one.alias("commits")),
            (F.col("outcome") != "ok").cast("int").alias("commits_failed"),
        ),
        records.select(
            *("run_id", one.alias("records"), "delivered", "processed"),
            *(F.col("lost").cast("int").alias("lost"), "duplicated"),
        ),
        lags.select("run_id", F.col("lag").alias("most_lag")),
    ]
    together = reduce(lambda done, more: done.unionByName(more, allowMissingColumns=True), rows)
    summed = [F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in _COUNTED]
    found = together.groupBy("run_id").agg(
        *(F.min("time_ms").alias("first_ms"), F.max("time_ms").alias("last_ms")),
        *summed,
        *(F.sum(name).alias(name) for name in ("processed", "lost", "duplicated")),
        F.max("most_lag").alias("most_lag"),
    )
    named = [_named(place, name) for place, name in enumerate(_NAMES, start=1)]
    of_runs = found.select("*", *named)
    return promised(of_runs.withColumn("seed", F.col("seed").cast("bigint")), RUN_SUMMARY)


_COUNTED = (
    *("events", "members", "rebalances", "rebalance_ms", "unowned_ms"),
    *("commits", "commits_failed", "records", "delivered"),
)
_NAMES = ("scenario", "profile", "seed")


def _named(place: int, name: str) -> Column:
    return F.nullif(F.regexp_extract("run_id", _SIMULATED, place), F.lit("")).alias(name)
