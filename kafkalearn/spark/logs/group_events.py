"""The events of a group's generations, as its coordinator would have told them.

So all that reads a trace can read what was found in logs of clients alone.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from kafkalearn.spark.logs.groups import FAILED, GONE, JOINED, nobody, text_of
from kafkalearn.spark.logs.partitions import by_topic

COORDINATOR = "coordinator"


def told_by_clients(found: DataFrame) -> DataFrame:
    """The events of `generations`, as a coordinator would have told them.

    A rebalance is blamed on what was told first since the generation before; else on whoever came
    or went. Who is in a generation and was not in the one before, joined; the other way, left.
    Where all had left, it begins with who came.

    out: as `events.told`
    """
    earlier = F.coalesce("before", F.when(F.col("generation") == 1, nobody()))
    came, went = (
        F.try_element_at(F.array_except(there, other), F.lit(1))
        for there, other in ((F.col("members"), earlier), (earlier, F.col("members")))
    )
    comes = F.filter("evidence", lambda each: each["text"].startswith(JOINED[:6]))
    leavers = F.transform(
        F.filter("evidence", lambda each: each["text"].startswith(GONE[:8])),
        lambda each: each["who"],
    )
    all_left = F.size(F.array_except("before", leavers)) == 0
    is_empty = F.coalesce(F.col("is_reborn") | all_left, F.lit(False))
    first = F.get(F.when(is_empty, comes).otherwise(F.col("evidence")), 0)
    reason = F.coalesce(
        first["text"],
        F.when(came.isNotNull(), text_of(JOINED, came)),
        F.when(F.array_contains("expelled", went), text_of(FAILED, went)),
        F.when(went.isNotNull(), text_of(GONE, went)),
    )
    told = found.select(
        "*",
        reason.alias("reason"),
        F.coalesce(F.least(first["place"], "begun"), F.col("at")).alias("began"),
    )
    steps = told.select("group", F.explode(F.concat(_states(), _memberships())).alias("step"))
    return steps.select(
        "step.place.*",
        "step.sub",
        F.lit(COORDINATOR).alias("node"),
        "step.kind",
        F.col("group").alias("group_id"),
        "step.member_id",
        "step.generation",
        "step.detail",
    )


def _states() -> Column:
    """Give the three states that a group goes through, as far as a log tells of them."""
    shares = F.map_from_arrays(
        F.transform("shares", lambda each: each["member"]),
        F.transform("shares", lambda each: by_topic(each["partitions"])),
    )
    more = {name: F.col(name) for name in ("members", "leader", "protocol")}

    def state(place: str, to: str, reason: Column, **detail: Column) -> Column:
        is_begin = place == "began"
        return F.struct(
            F.col(place).alias("place"),
            F.lit(8 if is_begin else 9).alias("sub"),
            F.lit("group_state").alias("kind"),
            F.lit(None).cast("string").alias("member_id"),
            (F.col("generation") - int(is_begin)).alias("generation"),
            _json(to=F.lit(to), reason=reason, **detail),
        )

    every = F.array(
        state("began", "PreparingRebalance", F.col("reason"), members=F.col("before")),
        state("at", "CompletingRebalance", F.lit("the join phase ended"), **more),
        state("stable", "Stable", F.lit("the leader assigned"), **more, assignment=shares),
    )
    return F.filter(every, lambda step: step["place"].isNotNull())


def _memberships() -> Column:
    """Who joined, at the join's end; who left, where a client told of it, or at the begin."""

    def step(kind: str, member: Column, place: Column, detail: Column) -> Column:
        return F.struct(
            place.alias("place"),
            F.lit(7).alias("sub"),
            F.lit(kind).alias("kind"),
            member.alias("member_id"),
            (F.col("generation") - int(kind == "member_removed")).alias("generation"),
            detail.alias("detail"),
        )

    def came(member: Column) -> Column:
        return step("member_joined", member, F.col("at"), F.lit(None).cast("string"))

    def went(member: Column) -> Column:
        why = F.get(F.filter("evidence", lambda each: each["who"] == member), 0)
        reason = _json(reason=F.coalesce(why["text"], F.col("reason")))
        return step("member_removed", member, F.coalesce(why["place"], F.col("began")), reason)

    before = F.coalesce("before", nobody())
    return F.concat(
        F.transform(F.array_except("members", before), came),
        F.transform(F.array_except(before, F.col("members")), went),
    )


def _json(**values: Column) -> Column:
    return F.to_json(F.struct(*(value.alias(name) for name, value in values.items()))).alias(
        "detail"
    )
