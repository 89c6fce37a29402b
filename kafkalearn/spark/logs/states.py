"""What a line does not say, from the lines before it: time, member, generation, a whole list."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from kafkalearn.spark.logs.partitions import by_member, partitions

PLACE = ("time_ms", "file", "line")
_SO_FAR = (Window.unboundedPreceding, Window.currentRow)
# Dropped once, at the end: each step of a plan is paid for, and Spark carries none in vain.
_STEPS = (
    *("step", "block", "owner", "items", "owners", "given", "named", "other", "found"),
    *("owned", "was_lost"),
)
_HEX = r"^(.+)-(?:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$"


def _last(value: Column, *keys: str) -> Column:
    """Give the last value that is not null, of the rows of the same keys up to a row itself."""
    so_far = Window.partitionBy(*keys).orderBy(*PLACE).rowsBetween(*_SO_FAR)
    return F.last(value, ignorenulls=True).over(so_far)


def completed(rows: DataFrame) -> DataFrame:
    """Add what only other lines tell.

    in:  the kept rows of `reading.read`, with `number`
    out: the same, and line (the order in time, whichever way a file runs), node, names
         (partitions as topic-number), shares (member and partitions, of a leader's assignment),
         is_lost; and time_ms, group, member, generation where they were not in the line
    """
    rows = _with_owners(_with_lists(_with_actors(_in_time(rows))))
    of_actor = ("source", "actor")
    by_source = F.when(F.col("is_plain"), _last(F.col("group"), "source"))
    unjoined = F.when(F.col("kinds").contains("client_state") & (F.col("to") == "UNJOINED"), True)
    joined = F.when(F.col("list") == "owned", False)
    is_broker = F.col("node").isNotNull()  # It speaks of many groups, and of all their members.
    in_group = F.when(is_broker, _last(F.col("generation"), *of_actor, "group"))

    def known(name: str) -> Column:
        return F.coalesce(name, F.when(~is_broker, _last(F.col(name), *of_actor)))

    rows = rows.withColumns(
        {
            "member": known("member"),
            "generation": F.coalesce(known("generation"), in_group),
            "group": F.coalesce(known("group"), by_source),
            "owned": _last(F.when(F.col("list") == "owned", F.col("names")), *of_actor),
            "was_lost": _last(F.coalesce(unjoined, joined), *of_actor),
        }
    )
    given_up = F.col("list") == "given up"
    names = F.when(given_up, F.col("owned")).otherwise(F.col("names"))
    is_lost = F.when(given_up, F.col("was_lost")).otherwise(F.col("flag") == "lost")
    found = rows.withColumns({"names": names, "is_lost": is_lost, "node": _node()})
    return found.drop(*_STEPS)


def _in_time(rows: DataFrame) -> DataFrame:
    """Order the lines of a file; one that is newest first is turned round."""
    as_written = Window.partitionBy("file").orderBy("number")
    whole = Window.partitionBy("file")
    step = F.signum(F.col("time_ms") - F.lag("time_ms", 1).over(as_written))
    turned = F.when(F.sum("step").over(whole) < 0, -F.col("number")).otherwise(F.col("number"))
    in_file = Window.partitionBy("file").orderBy("line")
    before = in_file.rowsBetween(*_SO_FAR)
    everywhere = in_file.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    return (
        rows.withColumn("step", step)
        .withColumn("line", turned)
        .withColumn(
            "time_ms",
            F.coalesce(
                F.last("time_ms", ignorenulls=True).over(before),
                F.first("time_ms", ignorenulls=True).over(everywhere),
                F.col("number"),  # No line has a time: their order is all that is known.
            ),
        )
        .where(F.col("kinds").isNotNull() | F.col("list").isNotNull())
    )


def _with_actors(rows: DataFrame) -> DataFrame:
    """Say who wrote a line: a client by its id, a broker, else a thread, else the file."""
    loop = F.nullif(F.regexp_extract("thread", r"^kafka-io-(.+)$", 1), F.lit(""))
    thread = F.when(~F.col("thread").rlike("(?i)heartbeat"), F.col("thread"))
    is_plain = F.col("client").isNull() & F.col("node").isNull()
    of_member = F.when(is_plain, F.nullif(F.regexp_extract("member", _HEX, 1), F.lit("")))
    broker = F.concat(F.lit("broker-"), "node")
    return rows.withColumns(
        {
            "is_plain": is_plain & loop.isNull(),
            "actor": F.coalesce("client", broker, loop, of_member, thread, F.lit("")),
            "generation": F.col("generation").try_cast("long"),
            "offset": F.col("offset").try_cast("long"),
        }
    )


def _with_lists(rows: DataFrame) -> DataFrame:
    """Put the lines of a list together at its first line."""
    begins = F.col("list").isin("none", "owned", "assigned")
    keys = ("file", "source", "actor", "block")
    item = F.when(
        F.col("list") == "item",
        F.struct("owner", F.concat("topic", F.lit("-"), "partition").alias("name")),
    )
    member = F.when(F.col("list") == "member", F.col("member"))
    whole = Window.partitionBy(*keys)
    names = F.array_sort(F.transform("items", lambda each: each["name"]))
    shares = F.transform(
        F.array_sort("owners"),
        lambda owner: F.struct(
            owner.alias("member"),
            F.array_sort(
                F.transform(
                    F.filter("items", lambda each: each["owner"] == owner),
                    lambda each: each["name"],
                )
            ).alias("partitions"),
        ),
    )
    single = F.array(F.concat("topic", F.lit("-"), "partition"))
    return (
        rows.withColumn("block", _last(F.when(begins, F.col("line")), *keys[:-1]))
        .withColumns({"owner": _last(member, *keys), "owners": F.collect_set(member).over(whole)})
        .withColumn("items", F.collect_list(item).over(whole))
        .where(F.col("kinds").isNotNull())
        .withColumns(
            {
                "names": F.when(F.col("list") == "owned", names)
                .when(F.col("topic").isNotNull() & F.col("partition").isNotNull(), single)
                .otherwise(partitions(F.col("partitions"))),
                "shares": F.when(F.col("list") == "assigned", shares).otherwise(
                    by_member(F.col("assignment"))
                ),
            }
        )
    )


def _with_owners(rows: DataFrame) -> DataFrame:
    """Find whose a line is that names no member, where several clients share a thread.

    Partitions are of whoever got just these, by the leader. A commit is of the last request that
    names a member; what a leader tells, of the last answer that does.
    """
    shares = _last(F.when(F.col("is_plain"), F.col("shares")), "source", "group")
    owner = F.filter("given", lambda each: each["partitions"] == F.col("names"))
    whose = F.struct("member", "actor", "group", "generation")
    is_whole = F.col("is_plain") & F.col("member").isNotNull() & F.col("generation").isNotNull()
    kinds = F.col("kinds")
    request = F.when(is_whole & (F.col("api") == "OffsetCommit"), whose)
    answer = F.when(is_whole, whose)
    is_leader = kinds.isin("assignment", "leader")
    of_other = F.when(kinds == "commit", _last(request, "source")).when(
        is_leader, _last(answer, "source")
    )
    is_owned = kinds.isin("assigned", "revoked")
    found = F.when(F.col("named") & is_owned, F.try_element_at(owner, F.lit(1))["member"])
    of_member = F.nullif(F.regexp_extract("found", _HEX, 1), F.lit(""))
    named = F.col("is_plain") & F.col("member").isNull()
    return (
        rows.withColumns({"given": shares, "named": named, "other": of_other})
        .withColumns({"other": F.when(F.col("named"), F.col("other")), "found": found})
        .withColumns(
            {
                "member": F.coalesce("member", "other.member", "found"),
                "group": F.coalesce("group", "other.group"),
                "generation": F.coalesce("generation", "other.generation"),
                "actor": F.coalesce("other.actor", of_member, "actor"),
            }
        )
    )


def _node() -> Column:
    """Name who acted; a client id that stands in logs of several programs is told apart."""
    everywhere = Window.partitionBy("actor")
    is_shared = F.min("source").over(everywhere) != F.max("source").over(everywhere)
    apart = is_shared & ~F.col("actor").startswith("broker-")
    return (
        F.when(F.col("actor") == "", F.col("source"))
        .when(apart, F.concat("actor", F.lit("@"), "source"))
        .otherwise(F.col("actor"))
    )
