"""What a group went through, where its coordinator's log is not at hand: told by its clients.

Clients tell of generations, members and assignments, and of what made them join again.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from kafkalearn.analysis.causes import POLL_REASON
from kafkalearn.spark.logs.lives import is_join, with_lives
from kafkalearn.spark.logs.states import PLACE

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
    given = F.coalesce(F.transform("shares", lambda each: each["member"]), nobody())
    led = F.array_compact(F.array("leader"))
    members = F.array_sort(F.array_distinct(F.concat("joined", given, "listed", led)))
    facts = F.struct("stable", members.alias("members"), "leader", "protocol", "shares")
    which = F.struct("life", "generation").alias("which")
    made = found.select("group", which, F.col("at").alias("place"), facts.alias("facts"))
    own = rows.where(joined).select("group", "node", which, place.alias("place"))
    told = _with_evidence(
        made.unionByName(own, allowMissingColumns=True).unionByName(
            _evidence(rows), allowMissingColumns=True
        )
    )
    return told.join(F.broadcast(_expelled(rows)), "group", "left")


def _expelled(rows: DataFrame) -> DataFrame:
    """Who heard by a heartbeat that it was no member: it had been silent, and had not left."""
    unknown = F.col("error").rlike("(?i)UNKNOWN_MEMBER_ID|not aware of this member")
    is_told = (F.col("api") == "Heartbeat") & unknown
    who = F.collect_set(F.when(is_told, F.col("member"))).alias("expelled")
    return rows.groupBy("group").agg(who)


def _with_next(told: DataFrame) -> DataFrame:
    """Say of each row which generation it led to, and leave out those that tell of a client's own.

    That is the next one that anybody tells of; but if others have told of the one that a client is
    still to join, it is that one.
    """
    is_own = F.col("which").isNotNull() & F.col("facts").isNull()
    backwards = Window.partitionBy("group").orderBy(F.desc("place"), F.col("facts").isNull())
    of_client = Window.partitionBy("group", "node").orderBy(F.desc("place"))
    of_generation = Window.partitionBy("group", "which")
    # The next is the last, when read backwards.
    anybody = F.last(F.when(~is_own, F.col("which")), ignorenulls=True).over(backwards)
    own = F.last(F.when(is_own, F.struct("which", "at")), ignorenulls=True).over(of_client)
    found = told.withColumn("at", F.min("place").over(of_generation))
    is_told = F.col("own.at") <= F.col("place")
    which = F.when(is_told, F.col("own.which")).otherwise(F.col("anybody"))
    return (
        found.withColumns({"anybody": anybody, "own": own})
        .where(~is_own)
        .withColumn("which", which)
    )


def _with_evidence(told: DataFrame) -> DataFrame:
    """Put to each generation what clients told before it and after the one before."""
    each = F.struct("vague", "place", "text", "who")
    of_client = (
        _with_next(told)
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


def nobody() -> Column:
    """No members."""
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
        F.when(F.col("error").rlike("(?i)MEMBER_ID_REQUIRED|valid member"), text_of(JOINED, who))
        .when(leaves, F.concat(text_of(LEFT, who), why))
        .when((is_state | (kinds == "disconnected")) & reason.rlike(_SILENT), text_of(FAILED, who))
        .when(is_state & reason.rlike(_AGAIN), F.concat(text_of(AGAIN, who), reason))
    )
    joins = (is_state & (F.col("to") == "REBALANCING")) | (
        F.col("error") == "REBALANCE_IN_PROGRESS"
    )
    every = rows.select(
        *("group", "node", F.struct(*PLACE).alias("place")),
        F.col("member").isNull().alias("vague"),
        *(text.alias("text"), who.alias("who"), joins.alias("joins")),
    )
    return every.where(F.col("text").isNotNull() | F.col("joins")).drop("joins")


def text_of(pattern: str, who: Column) -> Column:
    """Say one of the patterns above of somebody."""
    before, after = pattern.split("{}")
    return F.concat(F.lit(before), who, F.lit(after))
