"""Lives of a group: a coordinator that forgot a group counts its generations from 1 again."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from kafkalearn.spark.logs.states import PLACE

RESTART_MS = 60_000  # The members of one generation are told of it within far less.


def is_join(*apis: str) -> Column:
    """Whether a row is the good answer to one of these requests."""
    answers = F.col("kinds").contains("response") & F.col("error").isNull()
    return answers & F.col("api").isin(*apis)


def with_lives(rows: DataFrame) -> DataFrame:
    """Add `life`: how often the group of a row had been forgotten by then.

    A life is a new one when a client joins a lower generation than before; or, long after the
    others, an equal one under an id that was not in it. A static member may come back like that.
    """
    joined = F.when(
        is_join("JoinGroup") & (F.col("generation") > 0),
        F.struct("generation", "time_ms", "member"),
    )
    of_group = Window.partitionBy("group").orderBy(*PLACE)
    of_client = Window.partitionBy("group", "node").orderBy(*PLACE)
    latest, own = (
        F.last(joined, ignorenulls=True).over(each.rowsBetween(Window.unboundedPreceding, -1))
        for each in (of_group, of_client)
    )
    number, before = F.col("generation"), F.col("latest.generation")
    is_late = F.col("time_ms") - F.col("latest.time_ms") > RESTART_MS
    is_lower = (number < before) & (is_late | (number < F.col("own.generation")))
    is_known = (number == F.col("own.generation")) & (F.col("member") == F.col("own.member"))
    is_other = F.col("instance").isNull() & ~F.coalesce(is_known, F.lit(False))
    starts = is_lower | ((number == before) & is_late & is_other)
    so_far = of_group.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    marked = rows.select("*", latest.alias("latest"), own.alias("own"))
    return marked.withColumn("life", F.count(F.when(joined.isNotNull() & starts, 1)).over(so_far))
