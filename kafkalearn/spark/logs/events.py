"""Rows to events: one per row and kind, and per partition where a kind is of one partition."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from kafkalearn.errors import Errors
from kafkalearn.spark.logs.partitions import by_topic, number, topic, with_offsets
from kafkalearn.spark.logs.states import PLACE

_BY_PARTITION = ("commit", "position", "leader_elected")
_TEXTS = {
    "UNKNOWN_MEMBER_ID": r"unknown ?member|not aware of this member|not part of an active group",
    "ILLEGAL_GENERATION": r"illegal ?generation|generation id is (?:not|il)|invalid.*generation",
    "REBALANCE_IN_PROGRESS": r"rebalance ?in ?progress|is rebalancing"
    r"|(?:another|coordinator|group) rebalance",
    "FENCED_INSTANCE_ID": r"fenced",
    "MEMBER_ID_REQUIRED": r"member ?id ?required|valid member id",
    "COORDINATOR_LOAD_IN_PROGRESS": r"load ?in ?progress|loading|currently initializ",
    "NOT_COORDINATOR": r"not ?(?:the correct )?coordinator|not valid for this",
    "COORDINATOR_NOT_AVAILABLE": r"coordinator ?(?:is )?not ?available",
    "UNKNOWN_TOPIC_OR_PARTITION": r"unknown ?topic|does not host",
    "GROUP_AUTHORIZATION_FAILED": r"group ?authorization|access group",
    "TOPIC_AUTHORIZATION_FAILED": r"topic ?authorization|access topics?",
    "GROUP_MAX_SIZE_REACHED": r"max(?:imum)? size",
    "INVALID_SESSION_TIMEOUT": r"session timeout is not",
    "INCONSISTENT_GROUP_PROTOCOL": r"inconsistent ?group ?protocol|inconsistent protocol",
    "REQUEST_TIMED_OUT": r"timed? ?out",
    "NETWORK_EXCEPTION": r"disconnect|network|transport failure",
}


def error_name(text: Column) -> Column:
    """Give Kafka's name of an error that a log tells in its own words, else these words."""
    found = text
    for name, pattern in reversed(_TEXTS.items()):
        found = F.when(F.lower(text).rlike(pattern), name).otherwise(found)
    is_name = F.upper(text).isin([error.name for error in Errors])
    return F.when(text.isNull(), None).when(is_name, F.upper(text)).otherwise(found)


def told(rows: DataFrame) -> DataFrame:
    """Turn rows into events that await their run and number.

    in:  what `states.completed` gives
    out: PLACE, sub, and an event's columns without run_id and seq; detail is JSON
    """
    offsets = with_offsets(F.col("partitions"))
    pairs = F.transform("names", lambda name: F.struct(name.alias("name"), F.col("offset")))
    single = F.array(F.struct(F.lit(None).cast("string").alias("name"), F.col("offset")))
    each = (
        rows.select("*", F.posexplode(F.split("kinds", r"\+")).alias("sub", "kind"))
        .where(~F.col("kind").isin("leader", "assignment"))
        .where((F.col("kind") != "member_joined") | F.col("member").isNotNull())
        .withColumn("removed", F.split("members", r", "))
    )
    is_list = (F.col("kind") == "member_removed") & F.col("members").isNotNull()
    each = each.withColumn(
        "member", F.explode(F.when(is_list, F.col("removed")).otherwise(F.array(_member())))
    )
    by_one = F.col("kind").isin(*_BY_PARTITION)
    targets = F.when(by_one & (F.size(offsets) > 0), offsets).when(
        by_one & (F.size("names") > 0), pairs
    )
    each = each.withColumn("target", F.explode(F.coalesce(targets, single)))
    name = F.col("target.name")
    return each.select(
        *PLACE,
        "sub",
        "node",
        "kind",
        F.when(F.col("kind").isin("send", "response", "respond"), F.col("api")).alias("api"),
        "peer",
        F.lit(None).cast("long").alias("correlation_id"),
        F.col("group").alias("group_id"),
        F.col("member").alias("member_id"),
        "generation",
        F.when(by_one, topic(name)).alias("topic"),
        F.when(by_one, number(name)).alias("partition"),
        F.when(by_one, F.col("target.offset")).alias("offset"),
        error_name(F.when(F.col("kind") != "client_state", F.col("error"))).alias("error"),
        _detail().alias("detail"),
    )


def _member() -> Column:
    is_old = (F.col("kind") == "member_removed") & F.col("old").isNotNull()
    untold = F.col("kind").isin("group_state", "group_loaded", "leader_elected", "disconnected")
    return F.when(is_old, F.col("old")).when(~untold, F.col("member"))


def _detail() -> Column:
    """Tell what the kind of an event carries, and nothing else."""
    kind = F.col("kind")
    states = kind.isin("client_state", "group_state")
    given = kind.isin("assigned", "revoked")
    reasons = kind.isin(
        "client_state", "group_state", "revoked", "position", "member_removed", "disconnected"
    )
    fields = F.when((kind == "send") & F.col("reason").isNotNull(), F.struct("reason"))
    members = kind.isin("member_joined", "member_removed")
    parts = {
        "fields": fields,
        "from": F.when(states, F.col("from")),
        "to": F.when(states, F.col("to")),
        "reason": F.when(reasons, F.col("reason")),
        "leader": F.when(kind == "group_state", F.col("leader")),
        "count": F.when(kind == "group_state", F.col("members").try_cast("bigint")),
        "partitions": F.when(given, by_topic(F.coalesce("names", F.array().cast("array<string>")))),
        "lost": F.when((kind == "revoked") & F.col("is_lost"), True),
        "instance_id": F.when(members, F.col("instance")),
        "pending": F.when(F.col("flag") == "pending", True),
        "mode": F.when((kind == "commit") & F.col("mode").contains("auto"), "auto"),
    }
    text = F.to_json(F.struct(*(value.alias(name) for name, value in parts.items())))
    return F.nullif(text, F.lit("{}"))
