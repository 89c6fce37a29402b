"""How often, why and how long groups rebalanced, and what that did to partitions."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from kafkalearn.analysis.causes import (
    CAUSES,
    LEFT,
    MEMBER,
    NAMED_IN,
    POLL_REASON,
    POLL_TIMEOUT,
)
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
    return blamed(events, told_and_done(events))


def assignment_quality(events: DataFrame) -> DataFrame:
    """How evenly each generation's partitions were given out, and how many moved.

    spread: the most less the fewest partitions of a member. new: those that nobody had before.

    in:  as rebalances
    out: run_id, group_id, rebalance, generation, members, partitions, fewest, most, spread, kept,
         moved, new
         one row per rebalance that partitions were given out in; members are those that told of it
    """
    return quality_of(placed(events, given(events)))


def quality_of(in_rebalances: DataFrame) -> DataFrame:
    """Make `assignment_quality` of what was `placed`."""
    fates = [F.count(F.when(F.col("fate") == name, 1)).alias(name) for name in _FATES]
    counts = ("count", *_FATES)
    share = F.struct(*counts)
    shares = (
        in_rebalances.where(F.col("node").isNotNull())
        .groupBy(*_REBALANCE, "generation", "node", "seq")
        .agg(F.count("partition").alias("count"), *fates)
        .groupBy(*_REBALANCE, "generation", "node")
        .agg(F.max_by(share, "seq").alias("share"))
        .groupBy(*_REBALANCE, "generation")
        .agg(
            F.count("*").alias("members"),
            F.sum("share.count").alias("partitions"),
            F.min("share.count").alias("fewest"),
            F.max("share.count").alias("most"),
            *(F.sum(f"share.{name}").alias(name) for name in _FATES),
        )
    )
    spread = F.col("most") - F.col("fewest")
    return promised(shares.withColumn("spread", spread), ASSIGNMENT_QUALITY)


def told_and_done(events: DataFrame) -> DataFrame:
    """Every rebalance and what it did to partitions, but not yet whom and what it was due to."""
    return done_in(placed(events, given(events)))


def done_in(in_rebalances: DataFrame) -> DataFrame:
    """Make `told_and_done` of what was `placed`."""
    kept, moved = (
        F.sum((F.col("fate") == name).cast("bigint")).alias(name) for name in ("kept", "moved")
    )
    gap = F.when(F.col("gap_ms").isNotNull(), F.struct(*PARTITION, F.col("gap_ms").alias("ms")))
    return (
        in_rebalances.groupBy(*_REBALANCE)
        .agg(
            F.first("told", ignorenulls=True).alias("told"),
            *(kept, moved, F.array_sort(F.collect_list(gap)).alias("unowned")),
            F.sum("gap_ms").alias("unowned_ms"),
        )
        .select("told.*", "kept", "moved", "unowned", "unowned_ms")
    )


def blamed(events: DataFrame, told: DataFrame) -> DataFrame:
    """Make `rebalances` of what was `told_and_done`.

    Say who made a group rebalance, and why; a LeaveGroup may be that of a poll timeout.
    """
    reason = F.col("reason")
    cause = F.lit("other")
    for name, pattern in reversed(CAUSES.items()):
        cause = F.when(reason.rlike(pattern), name).otherwise(cause)
    named = [F.nullif(F.regexp_extract(reason, MEMBER, group), F.lit("")) for group in NAMED_IN]
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
    both = with_cause.join(too_late, [*GROUP, "member_id"], "left")
    blame = F.when(is_poll, POLL_TIMEOUT).otherwise(F.col("cause"))
    return promised(both.withColumn("cause", blame), REBALANCES)


def placed(events: DataFrame, assigned: DataFrame) -> DataFrame:
    """Put what was `given` after its rebalance: of its generation, until that number comes again.

    A rebalance itself is a row with `told`, all that is known of it, and nothing else.
    """
    rebalance = numbered(events).select(
        *(*GROUP, "generation", F.col("given_seq").alias("seq")), F.struct("*").alias("told")
    )
    known = _assignments(assigned).where(F.col("generation").isNotNull())
    in_order = Window.partitionBy(*GROUP, "generation").orderBy("seq", F.col("told").isNull())
    so_far = in_order.rowsBetween(Window.unboundedPreceding, 0)
    both = rebalance.unionByName(known, allowMissingColumns=True)
    number = last(F.col("told.rebalance")).over(so_far)
    return both.withColumn("rebalance", number).where(F.col("rebalance").isNotNull())


def _assignments(assigned: DataFrame) -> DataFrame:
    """What each consumer was given: kept, moved or new, and how long it had had no owner.

    Who was given nothing at all has one row without a partition, which is nothing's fate.
    """
    earlier = before("group_id", *PARTITION)
    owner = last(F.col("node")).over(earlier)
    had_owner = F.max(F.coalesce("end.seq", F.lit(2**62))).over(earlier) > F.col("seq")
    gap_ms = F.when(~had_owner, F.col("time_ms") - F.max("end.time_ms").over(earlier))
    is_kept = F.col("owner") == F.col("node")
    fate = F.when(F.col("owner").isNull(), "new").when(is_kept, "kept").otherwise("moved")
    named = F.col("partition").isNotNull()
    return (
        assigned.withColumn("owner", owner)
        .withColumn("gap_ms", gap_ms)
        .select(
            *(*GROUP, "generation", "seq", "node", *PARTITION),
            F.when(named, fate).otherwise("").alias("fate"),
            F.when(named, F.col("gap_ms")).alias("gap_ms"),
        )
    )
