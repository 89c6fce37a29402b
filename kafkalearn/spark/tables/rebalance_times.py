"""When each rebalance began and ended, and in which generation."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from kafkalearn.analysis.causes import LEFT
from kafkalearn.spark.tables.columns import after, is_kind, last, of_kinds, until_now

GROUP = ("run_id", "group_id")
_STATE = "to string, reason string, members array<string>"


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
    states = of_kinds(events, "group_state", detail=_STATE)
    to = F.col("detail.to")
    begins = (to == "PreparingRebalance").cast("int")
    state = F.struct(
        "seq", "time_ms", "generation", "detail.reason", F.array_size("detail.members").alias("n")
    )

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
    kinds = ("assigned", "revoked", "client_state", "send", "group_state")
    told = of_kinds(events, *kinds, detail="to string").where(F.col("group_id").isNotNull())
    joins = (
        is_kind("revoked")
        | (F.col("detail.to") == "REBALANCING")
        | (is_kind("send") & (F.col("api") == "JoinGroup"))
    )
    is_given = is_kind("assigned") & (F.col("generation") >= 0)
    by_coordinator = F.max(is_kind("group_state")).over(Window.partitionBy(*GROUP))
    coming = last(F.when(is_given, F.col("generation"))).over(after("group_id"))
    marked = (
        told.where(is_given | joins | is_kind("group_state"))
        .withColumn("by_coordinator", by_coordinator)
        .where(~F.col("by_coordinator"))
        .withColumn("generation", F.when(is_given, F.col("generation")).otherwise(coming))
    )
    given_at = F.when(is_given, F.col("seq"))
    found = (
        marked.where(F.col("generation").isNotNull())
        .groupBy(*GROUP, "generation")
        .agg(
            F.min("seq").alias("seq"),
            F.min(given_at).alias("given_seq"),
            F.min(F.when(joins, F.col("time_ms"))).alias("started_ms"),
            F.max(F.when(is_given, F.col("time_ms"))).alias("ended_ms"),
            F.array_sort(F.collect_set(F.when(is_given, F.col("node")))).alias("nodes"),
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
