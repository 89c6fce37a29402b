"""What the tables share: choosing events, windows within a run, a promised schema."""

from typing import cast

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructType

from kafkalearn.spark.events import known

PARTITION = ("topic", "partition")


def of_kinds(events: DataFrame, *kinds: str, detail: str | None = None) -> DataFrame:
    """Choose events; `detail` is the schema of what to read of theirs, and null if it is none."""
    chosen = known(events).where(F.col("kind").isin(*kinds))
    return chosen if detail is None else chosen.withColumn("detail", F.from_json("detail", detail))


def is_kind(*kinds: str) -> Column:
    """Whether an event is of one of these kinds."""
    return F.col("kind").isin(*kinds)


def of_runs(chosen: DataFrame) -> DataFrame:
    """Bring what is chosen of a run together: no window or group within runs travels any more.

    Each task plans its windows anew, and Spark merges no small ones of what is kept: so, few tasks.
    """
    spark = chosen.sparkSession
    most = int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
    return chosen.repartition(min(most, 4 * spark.sparkContext.defaultParallelism), "run_id")


def until_now(*keys: str) -> WindowSpec:
    """Everything of the same run and keys so far, this row too."""
    return Window.partitionBy("run_id", *keys).orderBy("seq").rowsBetween(_FIRST, 0)


def whole(*keys: str) -> WindowSpec:
    """Everything of the same run and keys; ordered as `until_now`, so that one sort serves both."""
    return Window.partitionBy("run_id", *keys).orderBy("seq").rowsBetween(_FIRST, _LAST)


def before(*keys: str) -> WindowSpec:
    """Everything of the same run and keys before this row."""
    return Window.partitionBy("run_id", *keys).orderBy("seq").rowsBetween(_FIRST, -1)


def after(*keys: str) -> WindowSpec:
    """Everything after this row, the nearest last: a frame that only grows is cheap."""
    return Window.partitionBy("run_id", *keys).orderBy(F.desc("seq")).rowsBetween(_FIRST, -1)


_FIRST, _LAST = Window.unboundedPreceding, Window.unboundedFollowing


def last(column: Column) -> Column:
    """Give the last value that is not null, of a window."""
    return F.last(column, ignorenulls=True)


def failure(error: str = "error") -> Column:
    """Give the name of an event's error; NONE is none."""
    return F.when(~F.col(error).isin("NONE", ""), F.col(error))


def promised(frame: DataFrame, schema: str) -> DataFrame:
    """Give the columns in this order and of these types; Spark refuses what does not fit."""
    return frame.to(cast(StructType, StructType.fromDDL(schema)))
