"""When each rebalance began and ended, and in which generation."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from kafkalearn.analysis.causes import LEFT
from kafkalearn.spark.tables.columns import (
    before,
    is_kind,
    of_kinds,
    of_runs,
    until_now,
    whole,
)

GROUP = ("run_id", "group_id")
_STATE = "to string, reason string, members array<string>, count bigint"


def numbered(events: DataFrame) -> DataFrame:
    """Every rebalance with its number and times: the coordinators', and else the clients'."""
    both = _of_coordinators(events).unionByName(_of_clients(events))
    in_order = Window.partitionBy(*GROUP).orderBy("seq")
    is_last = F.lead("seq").over(in_order).isNull()
    unended = F.when(is_last, "unfinished").otherwise("interrupted")
    return both.select(
        *both.columns,
        F.row_number().over(in_order).cast("bigint").alias("rebalance"),
        F.coalesce("ended_as", unended).alias("outcome"),
        (
            F.coalesce("joined_ms", F.when(F.col("ended_as") == "empty", F.col("ended_ms")))
            - F.col("started_ms")
        ).alias("join_ms"),
        F.when(F.col("ended_as") == "stable", F.col("ended_ms") - F.col("joined_ms")).alias(
            "sync_ms"
        ),
    )


def _of_coordinators(events: DataFrame) -> DataFrame:
    told = of_kinds(events, "group_state", detail=_STATE).where(F.col("group_id").isNotNull())
    states = of_runs(told.select(*GROUP, "seq", "time_ms", "generation", "detail"))
    to = F.col("detail.to")
    begins = (to == "PreparingRebalance").cast("int")
    size = F.coalesce(F.array_size("detail.members"), "detail.count").alias("n")
    state = F.struct("seq", "time_ms", "generation", "detail.reason", size)

    def first(name: str, *states_: str) -> Column:
        return F.min(F.when(to.isin(*states_), state)).alias(name)

    found = (
        states.withColumn("number", F.sum(begins).over(until_now("group_id")))
        .groupBy(*GROUP, "number")
        .agg(
            first("started", "PreparingRebalance"),
            first("joined", "AwaitingSync", "CompletingRebalance"),
            first("stable", "Stable"),
            first("empty", "Empty"),
        )
    )
    done = F.coalesce("joined", "stable", "empty")
    return found.where(F.coalesce("started", "joined", "stable").isNotNull()).select(
        *GROUP,
        F.coalesce("started.seq", done["seq"]).alias("seq"),
        F.coalesce(done["seq"], "started.seq").alias("given_seq"),
        done["generation"].alias("generation"),
        "started.reason",
        F.lit(None).cast("string").alias("cause"),
        done["n"].cast("bigint").alias("members"),
        F.col("started.time_ms").alias("started_ms"),
        F.col("joined.time_ms").alias("joined_ms"),
        F.coalesce("stable.time_ms", "empty.time_ms").alias("ended_ms"),
        F.when(F.col("stable").isNotNull(), "stable")
        .when(F.col("empty").isNotNull(), "empty")
        .alias("ended_as"),
    )


def _of_clients(events: DataFrame) -> DataFrame:
    """What clients alone can tell of a group: who was in a generation, from the first join on."""
    is_given = F.col("given").isNotNull()
    found = (
        _turns(events)
        .groupBy(*GROUP, "turn")
        .agg(
            F.max("given").alias("generation"),
            F.min("seq").alias("seq"),
            F.max(F.when(is_given, F.col("seq"))).alias("given_seq"),
            F.min(F.when(~is_given, F.col("time_ms"))).alias("started_ms"),
            F.max(F.when(is_given, F.col("time_ms"))).alias("ended_ms"),
            F.max(F.when(is_given, F.col("node"))).alias("node"),
        )
        .where(F.col("generation").isNotNull())
        .groupBy(*GROUP, "generation")
        .agg(
            F.min("seq").alias("seq"),
            F.min("given_seq").alias("given_seq"),
            F.min("started_ms").alias("started_ms"),
            F.max("ended_ms").alias("ended_ms"),
            F.array_sort(F.collect_set("node")).alias("nodes"),
        )
    )
    earlier = F.lag("nodes").over(Window.partitionBy(*GROUP).orderBy("seq"))
    nobody = F.array().cast("array<string>")
    came = F.array_size(F.array_except("nodes", F.coalesce(earlier, nobody))) > 0
    went = F.array_size(F.array_except(earlier, F.col("nodes"))) > 0
    return found.select(
        *(*GROUP, "seq", "given_seq", "generation", F.lit(None).cast("string").alias("reason")),
        F.when(came, "member_joined").when(went, LEFT).alias("cause"),
        F.array_size("nodes").cast("bigint").alias("members"),
        *("started_ms", F.lit(None).cast("bigint").alias("joined_ms"), "ended_ms"),
        F.lit("stable").alias("ended_as"),
    )


def _turns(events: DataFrame) -> DataFrame:
    """Put joins with what is given next; groups that a coordinator tells of are left out."""
    kinds = ("assigned", "revoked", "client_state", "send", "group_state")
    is_of_group = F.col("group_id").isNotNull() & (~is_kind("send") | (F.col("api") == "JoinGroup"))
    told = of_kinds(events, *kinds, detail="to string").where(is_of_group)
    is_given = is_kind("assigned") & (F.col("generation") >= 0)
    joins = is_kind("revoked", "send") | (F.col("detail.to") == "REBALANCING")
    marked = of_runs(
        told.where(is_given | joins | is_kind("group_state")).select(
            *(*GROUP, "seq", "time_ms", "node"),
            F.when(is_given, F.col("generation")).alias("given"),
            is_kind("group_state").alias("by_coordinator"),
        )
    )
    # From the first that joins, to the one who is given something: that is of its generation.
    turn = F.count("given").over(before("group_id"))
    coordinated = F.max("by_coordinator").over(whole("group_id"))
    return marked.select("*", turn.alias("turn"), coordinated.alias("coordinated")).where(
        ~F.col("coordinated")
    )
