"""What became of records and of commits, and how far groups were behind.

Records and lag are followed in one pass: the events of a run come together once, and each step
sorts them for its windows; nothing is joined. A row of a log is then told to each group of it.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from kafkalearn.analysis.deliveries import NOT_RECORDED
from kafkalearn.records import GROUP_METADATA_TOPIC_NAME
from kafkalearn.spark.tables.columns import (
    PARTITION,
    failure,
    is_kind,
    last,
    of_kinds,
    of_runs,
    promised,
    until_now,
    whole,
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
_OF_GROUP = (*_PLACE, "group_id")


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
    imported log tells of none. A record that no group met has no group_id. A topic that was deleted
    and made again has other records, under the same offsets.

    in:  append, records_returned, processed, offset_stored, offset_expired, commit, topic_changed;
         of any kind, the group of a node
    out: run_id, group_id, topic, partition, offset, delivered, processed, lost, duplicated
         one row per record and group
    """
    return deliveries_of(of_records(events))


def deliveries_of(read: DataFrame) -> DataFrame:
    """Make `deliveries` of the events `of_records`."""
    met = _met(read)
    number = F.explode(F.sequence("offset", F.col("offset") + F.col("many") - 1)).alias("offset")
    record = ("run_id", "of.group_id", *PARTITION, "life")
    sinks = (
        met.select(*record, number, "kind", "sink", "of.committed", "effects_known")
        .groupBy(*_OF_GROUP, "life", "offset", "sink")
        .agg(
            F.count(F.when(is_kind("records_returned"), 1)).alias("delivered"),
            F.count(F.when(is_kind("processed"), 1)).alias("effects"),
            F.max("committed").alias("committed"),
            F.max("effects_known").alias("effects_known"),
        )
    )
    more = F.greatest(F.col("effects") - 1, F.lit(0))
    records = sinks.groupBy(*_OF_GROUP, "life", "offset").agg(
        F.sum("delivered").alias("delivered"),
        F.max("effects_known").alias("known"),
        F.sum("effects").alias("effects"),
        F.sum(more).alias("more"),
        F.max("committed").alias("committed"),
    )
    passed = F.coalesce(F.col("offset") < F.col("committed"), F.lit(False))
    known = F.col("known")
    judged = records.select(
        *(*_OF_GROUP, "offset", "delivered"),
        F.when(known, F.col("effects")).alias("processed"),
        F.when(known, passed & (F.col("effects") == 0)).alias("lost"),
        F.when(known, F.col("more")).alias("duplicated"),
    )
    return promised(judged, DELIVERIES)


def of_records(events: DataFrame) -> DataFrame:
    """Choose what tells of records and offsets, with the group that a consumer's node was in."""
    kinds = ("append", "records_returned", "processed", "offset_stored", "offset_expired", "commit")
    more = ("poll", "assigned", "client_state", "topic_changed", "position")
    detail = "count bigint, change string, high_watermark bigint, sink string"
    told = of_kinds(events, *kinds, *more)
    is_read = F.col("partition").isNotNull() | is_kind("topic_changed")  # reading JSON is dear
    told = told.withColumn("detail", F.when(is_read, F.from_json("detail", detail)))
    numbers = ("seq", "time_ms", "partition", "offset")
    narrow = of_runs(
        told.select("run_id", "node", "kind", "group_id", "topic", *numbers, "error", "detail.*")
    )
    group = F.coalesce(
        last(F.col("group_id")).over(until_now("node")),
        F.first("group_id", ignorenulls=True).over(whole("node")),
    )
    is_client = is_kind("records_returned", "processed", "position")
    grouped = narrow.withColumn("group_id", F.when(is_client, group).otherwise(F.col("group_id")))
    is_place = F.col("partition").isNotNull() | is_kind("topic_changed")
    return grouped.where((F.col("topic") != GROUP_METADATA_TOPIC_NAME) & is_place)


def _met(read: DataFrame) -> DataFrame:
    """Choose what happened to records, each row `of` a group and the offset it committed last.

    What brokers tell of commits holds, or else what consumers do. life: how often the topic had
    been created.
    """
    created = is_kind("topic_changed") & (F.col("change") == "created")
    by_broker = is_kind("offset_stored", "offset_expired")
    by_client = is_kind("commit") & failure().isNull()

    def latest(of_kind: Column) -> Column:
        return F.max(F.when(of_kind, F.struct("seq", "offset", "kind"))).over(of_group)

    of_place = Window.partitionBy(*_PLACE, "life")
    of_group = Window.partitionBy(*_PLACE, "life", "group_id")
    stored = F.coalesce(latest(by_broker), latest(by_client))
    committed = F.when(stored["kind"] != "offset_expired", stored["offset"])
    has_effect = is_kind("processed") & F.col("offset").isNotNull()
    tells = has_effect | (is_kind("append") & ~F.col("run_id").rlike(NOT_RECORDED))
    lives = read.withColumn("life", F.count(F.when(created, 1)).over(until_now("topic")))
    mine = F.struct("group_id", "committed")
    groups = F.collect_set(F.when(~is_kind("append"), mine)).over(of_place)
    known = F.max(tells).over(Window.partitionBy("run_id"))
    many = F.when(is_kind("processed"), 1).otherwise(F.col("count"))
    met = (
        lives.where(~is_kind("topic_changed"))
        .withColumn("committed", committed)
        .select(
            *(*_PLACE, "life", "kind", "offset", "sink", many.alias("many")),
            known.alias("effects_known"),
            F.when(is_kind("append"), groups).otherwise(F.array(mine)).alias("groups"),
        )
        .where(is_kind("append", "records_returned", "processed") & (F.col("many") > 0))
    )
    return met.withColumn("of", F.explode_outer("groups")).drop("groups")


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
    return lag_of(of_records(events))


def lag_of(read: DataFrame) -> DataFrame:
    """Make `lag` of the events `of_records`."""
    both = _with_logs(read.where(~is_kind("processed")))
    now, all_ = until_now(*PARTITION, "group_id"), whole(*PARTITION, "group_id")
    after_it = F.col("offset") + F.col("count")
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
        F.coalesce(last(end).over(now), F.max("high_watermark").over(now)).alias("log_end"),
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
    created = (F.col("change") == "created") & (F.col("count") > 0)
    numbers = F.when(created, F.sequence(F.lit(0), F.col("count") - 1)).otherwise(
        F.array("partition")
    )
    each = read.withColumn("partition", F.explode(numbers)).where(F.col("partition").isNotNull())
    group = F.struct("group_id")
    groups = F.collect_set(F.when(~of_log, group)).over(Window.partitionBy(*_PLACE))
    told = each.withColumn("of", F.when(of_log, groups).otherwise(F.array(group)))
    return told.withColumn("of", F.explode("of")).withColumn("group_id", F.col("of.group_id"))


def _behind(name: str) -> Column:
    ahead = F.col("log_end") - F.col(name)
    return F.when(ahead > 0, ahead).when(ahead <= 0, 0)
