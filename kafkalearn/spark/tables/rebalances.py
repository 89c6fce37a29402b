"""How often, why and how long groups rebalanced, and what that did to partitions."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from kafkalearn.analysis.causes import CAUSES, LEFT, MEMBER, POLL_REASON, POLL_TIMEOUT
from kafkalearn.spark.tables.columns import (
    PARTITION,
    before,
    is_kind,
    last,
    of_kinds,
    promised,
)
from kafkalearn.spark.tables.ownership import given
from kafkalearn.spark.tables.rebalance_times import GROUP, numbered

REBALANCES = (
    "run_id string, group_id string, rebalance bigint, generation bigint, cause string, "
    "reason string, member_id string, outcome string, members bigint, started_ms bigint, "
    "joined_ms bigint, ended_ms bigint, join_ms bigint, sync_ms bigint, kept bigint, "
    "moved bigint, unowned array<struct<topic: string, partition: bigint, ms: bigint>>, "
    "unowned_ms bigint"
)
ASSIGNMENT_QUALITY = (
    "run_id string, group_id string, rebalance bigint, generation bigint, members bigint, "
    "partitions bigint, fewest bigint, most bigint, spread bigint, kept bigint, moved bigint, "
    "new bigint"
)
_REBALANCE = (*GROUP, "rebalance")
_FATES = ("kept", "moved", "new")


def rebalances(events: DataFrame) -> DataFrame:
    """Every rebalance of every group, as its coordinator tells it.

    It starts with PreparingRebalance and ends with Stable or Empty, unless another one interrupts
    it. Where no coordinator tells of a group, its consumers' generations do: a rebalance starts
    when the first of them joins, and ends when the last has its partitions.

    kept, moved: partitions that the same consumer, or another one than before, was given.
    unowned: partitions that had an owner before, and how long each had none; unowned_ms: the sum.

    in:  group_state, client_state, assigned, revoked, fault, member_removed; send of JoinGroup
    out: run_id, group_id, rebalance (1, 2 …), generation, cause (see analysis.causes), reason,
         member_id (whom the reason names), outcome (stable, empty, interrupted, unfinished),
         members, started_ms, joined_ms, ended_ms, join_ms, sync_ms, kept, moved, unowned,
         unowned_ms
         one row per rebalance
    """
    return promised(_blamed(events, told_and_done(events)), REBALANCES)


def assignment_quality(events: DataFrame) -> DataFrame:
    """How evenly each generation's partitions were given out, and how many moved.

    spread: the most less the fewest partitions of a member. new: those that nobody had before.

    in:  as rebalances
    out: run_id, group_id, rebalance, generation, members, partitions, fewest, most, spread, kept,
         moved, new
         one row per rebalance that partitions were given out in; members are those that told of it
    """
    counts = ("count", *_FATES)
    shares = (
        _in_rebalances(numbered(events), _assignments(events))
        .where(F.col("node").isNotNull())
        .groupBy(*_REBALANCE, "generation", "node")
        .agg(*(F.max_by(name, "assigned_seq").alias(name) for name in counts))
        .groupBy(*_REBALANCE, "generation")
        .agg(
            F.count("*").alias("members"),
            F.sum("count").alias("partitions"),
            F.min("count").alias("fewest"),
            F.max("count").alias("most"),
            *(F.sum(name).alias(name) for name in _FATES),
        )
    )
    spread = F.col("most") - F.col("fewest")
    return promised(shares.withColumn("spread", spread), ASSIGNMENT_QUALITY)


def told_and_done(events: DataFrame) -> DataFrame:
    """Every rebalance and what it did to partitions, but not yet whom and what it was due to."""
    told = numbered(events)
    return (
        _in_rebalances(told, _assignments(events))
        .groupBy(*told.columns)
        .agg(
            F.sum("kept").alias("kept"),
            F.sum("moved").alias("moved"),
            F.array_sort(F.flatten(F.collect_list("gaps"))).alias("unowned"),
            F.sum("gaps_ms").alias("unowned_ms"),
        )
    )


def _blamed(events: DataFrame, told: DataFrame) -> DataFrame:
    """Say who made a group rebalance, and why; a LeaveGroup may be that of a poll timeout."""
    reason = F.col("reason")
    cause = F.lit("other")
    for name, pattern in reversed(CAUSES.items()):
        cause = F.when(reason.rlike(pattern), name).otherwise(cause)
    named = [F.nullif(F.regexp_extract(reason, MEMBER, group), F.lit("")) for group in (1, 2)]
    states = of_kinds(events, "client_state", "assigned", detail="reason string")
    too_late = (
        states.withColumn("member_id", last(F.nullif("member_id", F.lit(""))).over(before("node")))
        .where(is_kind("client_state") & F.col("detail.reason").rlike(POLL_REASON))
        .groupBy(*GROUP, "member_id")
        .agg(F.min("seq").alias("too_late"))
    )
    with_cause = told.select(
        *(name for name in told.columns if name != "cause"),
        F.coalesce("cause", F.when(reason.isNotNull(), cause)).alias("cause"),
        F.coalesce(*named).alias("member_id"),
    )
    is_poll = (F.col("cause") == LEFT) & (F.col("too_late") < F.col("seq"))
    return with_cause.join(too_late, [*GROUP, "member_id"], "left").withColumn(
        "cause", F.when(is_poll, POLL_TIMEOUT).otherwise(F.col("cause"))
    )


def _assignments(events: DataFrame) -> DataFrame:
    """What each consumer was given at a time: kept, moved or new, and how long it had no owner."""
    earlier = before("group_id", *PARTITION)
    owner = last(F.col("node")).over(earlier)
    had_owner = F.max(F.coalesce("end.seq", F.lit(2**62))).over(earlier) > F.col("seq")
    gap_ms = F.when(~had_owner, F.col("time_ms") - F.max("end.time_ms").over(earlier))
    gap = F.when(F.col("gap_ms").isNotNull(), F.struct(*PARTITION, F.col("gap_ms").alias("ms")))
    each = given(events).withColumn("owner", owner).withColumn("gap_ms", gap_ms)
    is_new, is_kept = F.col("owner").isNull(), F.col("owner") == F.col("node")
    fate = F.when(is_new, "new").when(is_kept, "kept").otherwise("moved")
    fates = [F.count(F.when(fate == name, F.col("partition"))).alias(name) for name in _FATES]
    return each.groupBy(*GROUP, "generation", "node", "seq").agg(
        F.count("partition").alias("count"),
        *fates,
        F.collect_list(F.when(F.col("partition").isNotNull(), gap)).alias("gaps"),
        F.sum(F.when(F.col("partition").isNotNull(), F.col("gap_ms"))).alias("gaps_ms"),
    )


def _in_rebalances(told: DataFrame, assignments: DataFrame) -> DataFrame:
    """Find what was given in each rebalance: a generation's, until that number comes again."""
    of_generation = Window.partitionBy(*GROUP, "generation").orderBy("given_seq")
    until = F.coalesce(F.lead("given_seq").over(of_generation), F.lit(2**62))
    left, right = told.withColumn("until_seq", until).alias("told"), assignments.alias("given")
    same = [F.col(f"told.{name}") == F.col(f"given.{name}") for name in (*GROUP, "generation")]
    is_in = F.col("given.seq").between(F.col("told.given_seq"), F.col("told.until_seq") - 1)
    given_columns = [
        F.col(f"given.{name}") for name in ("node", "count", *_FATES, "gaps", "gaps_ms")
    ]
    found = left.join(right, [*same, is_in], "left")
    return found.select("told.*", *given_columns, F.col("given.seq").alias("assigned_seq"))
