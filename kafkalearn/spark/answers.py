"""Lets `check` ask functions of DataFrames: rows go in, rows and Spark's own plan come out."""

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from kafkalearn.spark.session import first_line, quick_session

Table = Callable[[DataFrame], DataFrame]
MOST_ROWS = 10_000


class SparkRefusedError(Exception):
    """Spark could not do what an answer asked for; the message is the first line of its own."""


def on_rows(*tables: Table) -> Callable[[str, Sequence[Sequence[Any]]], list[dict[str, Any]]]:
    """Make of functions of DataFrames one of rows, which gives for each: columns, rows, plan.

    It takes a schema like ``run_id string, seq bigint`` and rows of it. Errors: TypeError for what
    is no DataFrame, ValueError for more than MOST_ROWS rows, SparkRefusedError.
    """

    def answer(schema: str, rows: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
        try:
            given = as_frame(schema, rows)
            return [_told(table(given)) for table in tables]
        except PySparkException as error:
            raise SparkRefusedError(first_line(error)).with_traceback(error.__traceback__) from None

    return answer


def as_frame(schema: str, rows: Sequence[Sequence[Any]]) -> DataFrame:
    """Make a DataFrame of a few rows, by Arrow, for which Spark starts no process of Python's."""
    names = [column.split()[0] for column in schema.split(", ")]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    spark = SparkSession.getActiveSession() or quick_session("local[1]")
    return spark.createDataFrame(pyarrow.table(columns), schema)


def _told(frame: DataFrame) -> dict[str, Any]:
    if not isinstance(frame, DataFrame):
        forgot = " (is a `return` missing?)" if frame is None else ""
        raise TypeError(f"a DataFrame is wanted, not a {type(frame).__name__}{forgot}")
    rows = frame.limit(MOST_ROWS + 1).collect()
    if len(rows) > MOST_ROWS:
        raise ValueError(f"the DataFrame has more than {MOST_ROWS:,} rows")
    plan = frame._jdf.queryExecution().sparkPlan().toString()
    return {"columns": frame.columns, "rows": list(map(list, rows)), "plan": plan}
