"""The story of each group in events, one row a generation: when, who, who leads, owns what, why."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from kafkalearn.trace.kind import SYNC_STATES

_STATE = (
    "to string, reason string, leader string, members array<string>, "
    "assignment map<string, map<string, array<bigint>>>, pending boolean"
)


def stories(events: DataFrame) -> DataFrame:
    """Tell the generations of each group.

    in:  group_state, member_joined, member_removed
    out: group_id, generation, time_ms, time (in UTC), members, leader, assignment (of member to
         topic to numbers, where a leader tells), reason (of the rebalance before), also (why
         members were gone while it went on), in the order of time: a coordinator that forgot a
         group begins with generation 1 again
    """
    kinds = F.col("kind").isin("group_state", "member_joined", "member_removed")
    found = events.where(kinds & F.col("group_id").isNotNull()).withColumn(
        "detail", F.from_json(F.coalesce("detail", F.lit("{}")), _STATE)
    )
    states = _marked(found)
    each = (
        states.where("is_ended")
        .groupBy("group_id", "life", "generation")
        .agg(
            F.min("seq").alias("seq"),
            F.min("time_ms").alias("time_ms"),
            F.max_by(
                "detail.members", F.when(F.col("detail.members").isNotNull(), F.col("seq"))
            ).alias("told"),
            F.max("detail.leader").alias("leader"),
            F.max_by(
                "detail.assignment", F.when(F.col("detail.assignment").isNotNull(), F.col("seq"))
            ).alias("assignment"),
            F.min_by("why.reason", "seq").alias("reason"),
            (F.min("steps") - 1).alias("steps"),
        )
    )
    # Between the first step of a rebalance and the second; later ones belong to the next.
    gone = (
        states.where(F.col("kind") == "member_removed")
        .groupBy("group_id", "steps")
        .agg(F.array_sort(F.collect_set("detail.reason")).alias("also"))
    )
    known = _known(each, _membership(found))
    since = F.make_dt_interval(secs=(F.col("time_ms") / 1000).cast("decimal(18,6)"))
    return (
        each.join(known, ["group_id", "life", "generation"])
        .join(gone, ["group_id", "steps"], "left")
        .withColumn("members", F.coalesce("told", "known"))
        .withColumn("time", F.lit("1970-01-01").cast("timestamp_ntz") + since)
        .orderBy("group_id", "seq")
        .drop("told", "known", "seq", "steps", "life")
    )


def _marked(found: DataFrame) -> DataFrame:
    """Add to each row what the rows of its group before it tell.

    why: the latest rebalance began. steps: how many there were. is_ended: it tells a generation.
    life: how often the group's generations began anew.
    """
    to, of_group = F.col("detail.to"), Window.partitionBy("group_id").orderBy("seq")
    so_far = of_group.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    why = F.when(to == "PreparingRebalance", F.struct("detail.reason"))
    is_sync = to.isin(*SYNC_STATES)
    is_step = (to == "PreparingRebalance") | is_sync
    is_ended = F.coalesce(
        (is_sync | to.isin("Stable", "Empty")) & (F.col("generation") > 0), F.lit(False)
    )
    ended = F.when(is_ended, F.struct("generation", "time_ms"))
    earlier = F.last(ended, ignorenulls=True).over(
        of_group.rowsBetween(Window.unboundedPreceding, -1)
    )
    # A log that is given twice tells of one generation at one time twice.
    is_equal = F.col("generation") == earlier["generation"]
    is_later = is_equal & (F.col("time_ms") > earlier["time_ms"])
    is_anew = is_ended & is_sync & ((F.col("generation") < earlier["generation"]) | is_later)
    return found.select(
        "*",
        F.last(why, ignorenulls=True).over(so_far).alias("why"),
        F.count(F.when(is_step, 1)).over(so_far).alias("steps"),
        is_ended.alias("is_ended"),
        is_anew.alias("is_anew"),
    ).withColumn("life", F.count(F.when(F.col("is_anew"), 1)).over(so_far))


def _known(each: DataFrame, members: DataFrame) -> DataFrame:
    """Find who was in each generation, where no state of the group names its members."""
    there = (F.col("joined") <= F.col("seq")) & (
        F.col("removed").isNull() | (F.col("removed") > F.col("seq"))
    )
    return (
        each.join(members, "group_id", "left")
        .groupBy("group_id", "life", "generation")
        .agg(F.array_sort(F.collect_set(F.when(there, F.col("member_id")))).alias("known"))
    )


def _membership(found: DataFrame) -> DataFrame:
    """From which event to which a member was in its group; who only got an id is not in it."""

    def first(kind: str) -> Column:
        is_in = F.coalesce("detail.pending", F.lit(False)) == False  # noqa: E712
        return F.min(F.when((F.col("kind") == kind) & is_in, F.col("seq")))

    return (
        found.where(F.col("member_id").isNotNull())
        .groupBy("group_id", "member_id")
        .agg(first("member_joined").alias("joined"), first("member_removed").alias("removed"))
        .where(F.col("joined").isNotNull())
    )
