"""What became of records and of commits, and how far groups were behind."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from kafkalearn.records import GROUP_METADATA_TOPIC_NAME
from kafkalearn.spark.tables.columns import (
    PARTITION,
    failure,
    is_kind,
    last,
    of_kinds,
    promised,
    until_now,
)

COMMITS = (
    "run_id string, time_ms bigint, node string, group_id string, member_id string, "
    "generation bigint, topic string, partition bigint, offset bigint, mode string, "
    "outcome string, latency_ms bigint"
)
DELIVERIES = (
    "run_id string, group_id string, topic string, partition bigint, offset bigint, "
    "delivered bigint, processed bigint, lost boolean, duplicated bigint"
)
LAG = (
    "run_id string, group_id string, topic string, partition bigint, seq bigint, "
    "time_ms bigint, log_end bigint, committed bigint, position bigint, lag bigint, unread bigint"
)
_PLACE = ("run_id", *PARTITION)
_OF_GROUP = ("run_id", "group_id", *PARTITION)
_COUNT = "count bigint, change string, high_watermark bigint"
NOT_RECORDED = ' kinds=\\[(?!.*"processed")'
"""Finds a run whose run_id says that `processed` is not among what it records."""


def commits(events: DataFrame) -> DataFrame:
    """How the commit of each partition ended, as its consumer was told.

    in:  commit
    out: run_id, time_ms, node, group_id, member_id, generation, topic, partition, offset, mode
         (sync, async, auto), outcome (ok, or Kafka's name of the error), latency_ms
         one row per commit and partition
    """
    told = of_kinds(events, "commit", detail="mode string, latency_ms bigint")
    outcome = F.coalesce(failure(), F.lit("ok"))
    return promised(told.select("*", "detail.*", outcome.alias("outcome")), COMMITS)


def deliveries(events: DataFrame) -> DataFrame:
    """What became of each record in each group that read or committed its partition.

    lost: the group's committed offset is behind it, and it never had an effect. duplicated: how
    many effects are more than one, in each sink. Both are null where no effect can be known: an
    imported log tells of none. A record that no group met has no group_id.

    in:  append, records_returned, processed, offset_stored, offset_expired, commit; of any kind,
         the group of a node
    out: run_id, group_id, topic, partition, offset, delivered, processed, lost, duplicated
         one row per record and group
    """
    read = _of_records(events)
    many = F.when(is_kind("processed"), 1).otherwise(F.col("detail.count"))
    each = F.explode(F.sequence("offset", F.col("offset") + many - 1)).alias("offset")
    met = read.where(is_kind("append", "records_returned", "processed") & (many > 0))
    of_group = met.where(~is_kind("append")).select(*_OF_GROUP, "kind", "sink", each)
    groups = read.where(~is_kind("append")).select(*_OF_GROUP).distinct()
    appended = met.where(is_kind("append")).drop("group_id").join(groups, [*_PLACE], "left")
    sinks = (
        of_group.unionByName(appended.select(*_OF_GROUP, "kind", "sink", each))
        .groupBy(*_OF_GROUP, "offset", "sink")
        .agg(
            F.count(F.when(is_kind("records_returned"), 1)).alias("delivered"),
            F.count(F.when(is_kind("processed"), 1)).alias("processed"),
        )
    )
    records = sinks.groupBy(*_OF_GROUP, "offset").agg(
        F.sum("delivered").alias("delivered"),
        F.sum("processed").alias("processed"),
        F.sum(F.greatest(F.col("processed") - 1, F.lit(0))).alias("duplicated"),
    )
    return promised(_judged(records, read), DELIVERIES)


def _of_records(events: DataFrame) -> DataFrame:
    """Choose what tells of records and offsets, with the group that a consumer's node was in."""
    kinds = ("append", "records_returned", "processed", "offset_stored", "offset_expired", "commit")
    more = ("poll", "assigned", "client_state", "topic_changed", "position")
    told = of_kinds(events, *kinds, *more, detail=f"{_COUNT}, sink string")
    whole = Window.partitionBy("run_id", "node")
    group = F.coalesce(
        last(F.col("group_id")).over(until_now("node")),
        F.min_by("group_id", F.when(F.col("group_id").isNotNull(), F.col("seq"))).over(whole),
    )
    is_client = is_kind("records_returned", "processed", "position")
    is_record = F.coalesce(F.col("topic") != GROUP_METADATA_TOPIC_NAME, F.lit(False))
    grouped = told.withColumn("group_id", F.when(is_client, group).otherwise(F.col("group_id")))
    return grouped.where(is_record).withColumn("sink", F.col("detail.sink"))


def _judged(records: DataFrame, read: DataFrame) -> DataFrame:
    """Compare with the last committed offset, as brokers tell it, or else the consumers."""
    by_broker = is_kind("offset_stored", "offset_expired")
    by_client = is_kind("commit") & failure().isNull()

    def latest(of_kind: Column) -> Column:
        return F.max(F.when(of_kind, F.struct("seq", "offset", "kind")))

    committed = (
        read.where(by_broker | by_client)
        .groupBy(*_OF_GROUP)
        .agg(F.coalesce(latest(by_broker), latest(by_client)).alias("last"))
        .select(
            *_OF_GROUP,
            F.when(F.col("last.kind") != "offset_expired", F.col("last.offset")).alias("committed"),
        )
    )
    tells = is_kind("processed") | (is_kind("append") & ~F.col("run_id").rlike(NOT_RECORDED))
    runs = read.groupBy("run_id").agg(F.max(tells).alias("effects_known"))
    passed = F.coalesce(F.col("offset") < F.col("committed"), F.lit(False))
    lost = passed & (F.col("processed") == 0)
    same = [F.col(f"r.{name}").eqNullSafe(F.col(f"c.{name}")) for name in _OF_GROUP]
    joined = records.alias("r").join(committed.alias("c"), same, "left")
    return (
        joined.select("r.*", "c.committed")
        .join(runs, "run_id")
        .withColumn("lost", F.when(F.col("effects_known"), lost))
        .withColumn("duplicated", F.when(F.col("effects_known"), F.col("duplicated")))
        .withColumn("processed", F.when(F.col("effects_known"), F.col("processed")))
    )


def lag(events: DataFrame) -> DataFrame:
    """How far each group is behind, whenever that changes.

    log_end: the next offset of the log, as a broker tells it, or else the high watermark that a
    consumer saw. lag: what is not committed yet; unread: what was not returned by a poll yet. What
    is not known is null.

    in:  append, topic_changed, offset_stored, offset_expired, commit, position, records_returned;
         of any kind, the group of a node
    out: run_id, group_id, topic, partition, seq, time_ms, log_end, committed, position, lag, unread
         one row per change of a partition, for a group
    """
    both = _with_logs(_of_records(events).where(~is_kind("processed")))
    now, all_ = until_now("group_id", *PARTITION), Window.partitionBy(*_OF_GROUP)
    after_it = F.col("offset") + F.col("detail.count")
    end = F.when(is_kind("append"), after_it).when(is_kind("topic_changed"), 0)
    stored = F.when(is_kind("offset_stored"), F.col("offset")).when(is_kind("offset_expired"), -1)
    told = F.when(is_kind("commit") & failure().isNull(), F.col("offset"))
    by_broker = F.max(stored).over(all_).isNotNull()
    committed = F.when(by_broker, last(stored).over(now)).otherwise(last(told).over(now))
    position = F.when(is_kind("position"), F.col("offset")).when(
        is_kind("records_returned"), after_it
    )
    numbered = both.select(
        *(*_OF_GROUP, "seq", "time_ms"),
        F.coalesce(last(end).over(now), F.max("detail.high_watermark").over(now)).alias("log_end"),
        F.when(committed >= 0, committed).alias("committed"),
        last(position).over(now).alias("position"),
    )
    state = F.struct("log_end", "committed", "position")
    earlier = F.lag(state).over(Window.partitionBy(*_OF_GROUP).orderBy("seq"))
    is_known = F.coalesce("committed", "position").isNotNull()
    changes = numbered.withColumn("is_new", ~state.eqNullSafe(earlier)).where("is_new")
    behind = [_behind("committed").alias("lag"), _behind("position").alias("unread")]
    return promised(changes.where(is_known).select("*", *behind), LAG)


def _with_logs(read: DataFrame) -> DataFrame:
    """Give what is told of a log to each group that reads it; a new topic's logs are empty."""
    of_log = is_kind("append", "topic_changed")
    created = (F.col("detail.change") == "created") & (F.col("detail.count") > 0)
    numbers = F.when(created, F.sequence(F.lit(0), F.col("detail.count") - 1)).otherwise(
        F.array("partition")
    )
    groups = read.where(~of_log).select(*_OF_GROUP).distinct()
    logs = read.where(of_log).withColumn("partition", F.explode(numbers)).drop("group_id")
    return read.where(~of_log).unionByName(logs.join(groups, [*_PLACE]))


def _behind(name: str) -> Column:
    ahead = F.col("log_end") - F.col(name)
    return F.when(ahead > 0, ahead).when(ahead <= 0, 0)
