"""One row per run: what a sweep compares."""

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
    runs = (
        known(events)
        .groupBy("run_id")
        .agg(
            F.count("*").alias("events"),
            F.min("time_ms").alias("first_ms"),
            F.max("time_ms").alias("last_ms"),
        )
    )
    of_runs = runs.select("*", *(_named(place, name) for place, name in enumerate(_NAMES, start=1)))
    for part in _parts(events):
        of_runs = of_runs.join(part, "run_id", "left")
    counted = ("members", "rebalances", "rebalance_ms", "unowned_ms", "commits", "commits_failed")
    whole = of_runs.fillna(0, [*counted, "records", "delivered"])
    return promised(whole.withColumn("seed", F.col("seed").cast("bigint")), RUN_SUMMARY)


_NAMES = ("scenario", "profile", "seed")


def _named(place: int, name: str) -> Column:
    return F.nullif(F.regexp_extract("run_id", _SIMULATED, place), F.lit("")).alias(name)


def _parts(events: DataFrame) -> list[DataFrame]:
    took = F.sum(F.col("ended_ms") - F.col("started_ms")).alias("rebalance_ms")
    failed = F.count(F.when(F.col("outcome") != "ok", 1)).alias("commits_failed")
    sums = [F.sum(name).alias(name) for name in ("delivered", "processed", "duplicated")]
    lost = F.sum(F.col("lost").cast("bigint")).alias("lost")
    grouped = [
        table(events).groupBy("run_id") for table in (membership, told_and_done, commits, lag)
    ]
    members, all_rebalances, all_commits, lags = grouped
    return [
        members.agg(F.count("*").alias("members")),
        all_rebalances.agg(
            F.count("*").alias("rebalances"), took, F.sum("unowned_ms").alias("unowned_ms")
        ),
        all_commits.agg(F.count("*").alias("commits"), failed),
        lags.agg(F.max("lag").alias("most_lag")),
        deliveries(events).groupBy("run_id").agg(F.count("*").alias("records"), *sums, lost),
    ]
