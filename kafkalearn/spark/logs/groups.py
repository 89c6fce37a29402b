"""What a group went through, where its coordinator's log is not at hand: told by its clients.

Clients tell of generations, members and assignments, and of what made them join again. Of that come
the events that a coordinator would have told, so that all that reads a trace can read these too.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from kafkalearn.analysis.causes import POLL_REASON
from kafkalearn.spark.logs.lives import is_join, with_lives
from kafkalearn.spark.logs.partitions import by_topic
from kafkalearn.spark.logs.states import PLACE

COORDINATOR = "coordinator"
LEFT, FAILED, JOINED, AGAIN, GONE = (
    "removing member {} on LeaveGroup",
    "removing member {} on heartbeat expiration",
    "adding new member {}",
    "member {} re-joining: ",
    "removing member {} on leaving or failing",
)
_AGAIN = r"(?i)metadata|subscription|revoke|ILLEGAL_GEN|FENCED"
_SILENT = r"(?i)^session time(?:out|d out)"


def without_coordinator(rows: DataFrame) -> DataFrame:
    """Select the rows of groups that no coordinator tells of."""
    told = rows.where(F.col("kinds").contains("group_state")).select("group").distinct()
    return rows.where(F.col("group").isNotNull()).join(F.broadcast(told), "group", "left_anti")


def generations(rows: DataFrame) -> DataFrame:
    """Every generation that a client of a group tells of, and what made it come.

    in:  what `states.completed` gives, of groups without a coordinator
    out: group, generation, at, stable (places in the log), members, leader, protocol, shares,
         before (the members of the generation before), evidence (of each client, the first that it
         told since then: vague, place, text, who; the first of all stands first), is_reborn (the
         first generation of a coordinator that had forgotten the group), expelled (members that
         found themselves removed, at whatever time)
    """
    rows, place, joined = with_lives(rows), F.struct(*PLACE), is_join("JoinGroup", "SyncGroup")
    leads = F.col("flag") == "leader"
    listed = F.regexp_extract_all("members", F.lit(r"member_?[iI]d='(.*?)'"), F.lit(1))
    found = (
        rows.where(F.col("generation") > 0)
        .where(joined | F.col("kinds").rlike("leader|assignment|^assigned"))
        .groupBy("group", "life", "generation")
        .agg(
            F.min(F.when(joined, place)).alias("at"),
            F.min(F.when(F.col("kinds").isin("assignment", "assigned"), place)).alias("stable"),
            F.collect_set("member").alias("joined"),
            F.max(F.coalesce("leader", F.when(leads, F.col("member")))).alias("leader"),
            F.max("protocol").alias("protocol"),
            F.max(F.when(F.size("shares") > 0, F.col("shares"))).alias("shares"),
            F.flatten(F.collect_set(listed)).alias("listed"),
        )
        .where(F.col("at").isNotNull())
    )
    given = F.coalesce(F.transform("shares", lambda each: each["member"]), _nobody())
    led = F.array_compact(F.array("leader"))
    members = F.array_sort(F.array_distinct(F.concat("joined", given, "listed", led)))
    facts = F.struct("stable", members.alias("members"), "leader", "protocol", "shares")
    which = F.struct("life", "generation").alias("which")
    made = found.select("group", which, F.col("at").alias("place"), facts.alias("facts"))
    told = _with_evidence(made.unionByName(_evidence(rows), allowMissingColumns=True))
    return told.join(F.broadcast(_expelled(rows)), "group", "left")


def _expelled(rows: DataFrame) -> DataFrame:
    """Who heard by a heartbeat that it was no member: it had been silent, and had not left."""
    unknown = F.col("error").rlike("(?i)UNKNOWN_MEMBER_ID|not aware of this member")
    is_told = (F.col("api") == "Heartbeat") & unknown
    who = F.collect_set(F.when(is_told, F.col("member"))).alias("expelled")
    return rows.groupBy("group").agg(who)


def _with_evidence(told: DataFrame) -> DataFrame:
    """Put to each generation what clients told before it and after the one before."""
    # The next generation is the one that comes of what is told: last, when read backwards.
    backwards = Window.partitionBy("group").orderBy(F.desc("place"), F.col("facts").isNull())
    each = F.struct("vague", "place", "text", "who")
    of_client = (
        told.withColumn("which", F.last("which", ignorenulls=True).over(backwards))
        .groupBy("group", "which", "who")
        .agg(
            F.max(F.when(F.col("facts").isNotNull(), F.col("place"))).alias("at"),
            F.first("facts", ignorenulls=True).alias("facts"),
            F.min(F.when(F.col("text").isNotNull(), each)).alias("first"),
            F.min(F.when(F.col("facts").isNull(), F.col("place"))).alias("begun"),
        )
    )
    whole = of_client.groupBy("group", "which").agg(
        F.max("at").alias("at"),
        F.first("facts", ignorenulls=True).alias("facts"),
        F.array_sort(F.collect_list("first")).alias("evidence"),
        F.min("begun").alias("begun"),
    )
    in_order = Window.partitionBy("group").orderBy("at")
    before, life = F.lag("facts.members").over(in_order), F.lag("which.life").over(in_order)
    return whole.where(F.col("at").isNotNull()).select(
        *("group", "which.generation", "at", "begun", "facts.*", "evidence"),
        before.alias("before"),
        (F.col("which.life") > life).alias("is_reborn"),
    )


def _nobody() -> Column:
    return F.array().cast("array<string>")


def _evidence(rows: DataFrame) -> DataFrame:
    """What a client tells of that makes its group rebalance, in a coordinator's words.

    text: null where it tells only that the group does.
    """
    kinds, who = F.col("kinds"), F.coalesce("member", "node")
    reason = F.coalesce("reason", F.lit(""))
    is_state = kinds == "client_state"
    polls = is_state & reason.rlike(POLL_REASON)
    leaves = polls | (F.col("api") == "LeaveGroup") & kinds.contains("send")
    why = F.when(reason != "", F.concat(F.lit(": "), reason)).otherwise("")
    text = (
        F.when(F.col("error").rlike("(?i)MEMBER_ID_REQUIRED|valid member"), _text(JOINED, who))
        .when(leaves, F.concat(_text(LEFT, who), why))
        .when((is_state | (kinds == "disconnected")) & reason.rlike(_SILENT), _text(FAILED, who))
        .when(is_state & reason.rlike(_AGAIN), F.concat(_text(AGAIN, who), reason))
    )
    joins = (is_state & (F.col("to") == "REBALANCING")) | (
        F.col("error") == "REBALANCE_IN_PROGRESS"
    )
    every = rows.select(
        *("group", F.struct(*PLACE).alias("place"), F.col("member").isNull().alias("vague")),
        *(text.alias("text"), who.alias("who"), joins.alias("joins")),
    )
    return every.where(F.col("text").isNotNull() | F.col("joins")).drop("joins")


def _text(pattern: str, who: Column) -> Column:
    before, after = pattern.split("{}")
    return F.concat(F.lit(before), who, F.lit(after))


def told_by_clients(found: DataFrame) -> DataFrame:
    """The events of `generations`, as a coordinator would have told them.

    A rebalance is blamed on what was told first since the generation before; else on whoever came
    or went. Who is in a generation and was not in the one before, joined; the other way, left.
    Where all had left, it begins with who came.

    out: as `events.told`
    """
    earlier = F.coalesce("before", F.when(F.col("generation") == 1, _nobody()))
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
        F.when(came.isNotNull(), _text(JOINED, came)),
        F.when(F.array_contains("expelled", went), _text(FAILED, went)),
        F.when(went.isNotNull(), _text(GONE, went)),
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

    before = F.coalesce("before", _nobody())
    return F.concat(
        F.transform(F.array_except("members", before), came),
        F.transform(F.array_except(before, F.col("members")), went),
    )


def _json(**values: Column) -> Column:
    return F.to_json(F.struct(*(value.alias(name) for name, value in values.items()))).alias(
        "detail"
    )
