"""Who was a member when, and who owned which partition when."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from kafkalearn.spark.tables.columns import (
    PARTITION,
    after,
    is_kind,
    last,
    of_kinds,
    of_runs,
    promised,
)

MEMBERSHIP = (
    "run_id string, group_id string, member_id string, node string, instance_id string, "
    "joined_ms bigint, left_ms bigint, reason string"
)
OWNERSHIP = (
    "run_id string, group_id string, topic string, partition bigint, node string, "
    "member_id string, generation bigint, from_ms bigint, until_ms bigint, ended string"
)
_DETAIL = (
    "partitions map<string, array<bigint>>, to string, fault string, reason string, lost boolean"
)
_MEMBER = "client_id string, instance_id string, reason string, pending boolean"


def membership(events: DataFrame) -> DataFrame:
    """Who was in a group, as its coordinator saw it.

    A member that the events only name as one that was given partitions has no joined_ms; one that
    is still there has no left_ms. Who was given an id and never joined with it is no member.

    in:  member_joined, member_removed, assigned
    out: run_id, group_id, member_id, node, instance_id, joined_ms, left_ms, reason
         one row per member id; reason is why it is gone
    """
    told = of_kinds(events, "member_joined", "member_removed", "assigned", detail=_MEMBER)
    pending = F.coalesce(F.col("detail.pending"), F.lit(False))
    joined = is_kind("member_joined") & ~pending
    removed = F.min(
        F.when(is_kind("member_removed"), F.struct("seq", "time_ms", "detail.reason"))
    ).alias("removed")
    members = (
        told.where(F.col("member_id").isNotNull() & (F.col("member_id") != ""))
        .groupBy("run_id", "group_id", "member_id")
        .agg(
            F.coalesce(
                F.min_by("node", F.when(is_kind("assigned"), F.col("seq"))),
                F.max("detail.client_id"),
            ).alias("node"),
            F.max("detail.instance_id").alias("instance_id"),
            F.min(F.when(joined, F.col("time_ms"))).alias("joined_ms"),
            F.max(is_kind("member_joined") & pending).alias("was_pending"),
            removed,
        )
    )
    there = members.where(F.col("joined_ms").isNotNull() | ~F.col("was_pending"))
    return promised(
        there.select("*", F.col("removed.time_ms").alias("left_ms"), "removed.reason"), MEMBERSHIP
    )


def ownership(events: DataFrame) -> DataFrame:
    """Who owned a partition from when until when.

    Ownership begins when a consumer hears of it, and ends when it gives the partition up
    (``revoked`` or ``lost``), crashes (``crashed``), is no member any more in its own eyes
    (``left``) or in its coordinator's (``removed``): whichever comes first. One that has not ended
    has no until_ms.

    in:  assigned, revoked, client_state, fault, member_removed
    out: run_id, group_id, topic, partition, node, member_id, generation, from_ms, until_ms, ended
         one row per interval; member_id and generation are those of its begin
    """
    return ownership_of(given(events))


def ownership_of(assigned: DataFrame) -> DataFrame:
    """Make `ownership` of what was `given`."""
    begin = F.min(F.struct("seq", "time_ms", "member_id", "generation")).alias("begin")
    intervals = (
        assigned.where(F.col("partition").isNotNull())
        .groupBy("run_id", "group_id", *PARTITION, "node", "end")
        .agg(begin)
    )  # what is kept in a rebalance is given again, and ends at the same time
    return promised(
        intervals.select(
            *("run_id", "group_id", *PARTITION, "node", "begin.member_id", "begin.generation"),
            F.col("begin.time_ms").alias("from_ms"),
            F.col("end.time_ms").alias("until_ms"),
            "end.ended",
        ),
        OWNERSHIP,
    )


def given(events: DataFrame) -> DataFrame:
    """Each partition that an assignment named, and its end as a struct (seq, time_ms, ended).

    An assignment of nothing is one row without a partition.
    """
    kinds = ("assigned", "revoked", "client_state", "fault", "member_removed")
    columns = ("run_id", "seq", "time_ms", "node", "kind", "group_id", "member_id", "generation")
    told = of_runs(of_kinds(events, *kinds, detail=_DETAIL).select(*columns, "detail"))
    detail = F.col("detail")
    ended = (
        F.when(is_kind("revoked"), F.when(detail.lost, "lost").otherwise("revoked"))
        .when(is_kind("member_removed"), "removed")
        .when(detail.fault == "crash", "crashed")
        .when(is_kind("client_state") & (detail.to == "UNJOINED"), "left")
    )
    end = F.when(ended.isNotNull(), F.struct("seq", "time_ms", ended.alias("ended")))
    of_node = F.when(is_kind("client_state", "fault"), end)
    of_member = F.when(is_kind("member_removed"), end)
    ending = told.select(
        *told.columns,
        end.alias("end"),
        last(of_node).over(after("node")).alias("end_of_node"),
        F.when(F.col("member_id").isNotNull(), last(of_member).over(after("member_id"))).alias(
            "end_of_member"
        ),
    )
    named = ending.where(is_kind("assigned", "revoked")).select(
        *(name for name in ending.columns if name != "detail"),
        F.explode_outer("detail.partitions").alias("topic", "numbers"),
    )
    each = named.withColumn("partition", F.explode_outer("numbers")).drop("numbers")
    revoked = last(F.when(is_kind("revoked"), F.col("end"))).over(after("node", *PARTITION))
    return (
        each.withColumn("end", F.least("end_of_node", "end_of_member", revoked))
        .where(is_kind("assigned"))
        .drop("end_of_node", "end_of_member")
    )
