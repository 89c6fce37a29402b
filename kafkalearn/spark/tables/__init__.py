"""Events in, tables out: each a function DataFrame -> DataFrame of columns alone.

Every table keeps runs apart by run_id, and says null where the events do not tell: they may be a
whole sweep's, or an imported log's, which knows little.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from kafkalearn.spark.tables.ownership import MEMBERSHIP, OWNERSHIP, membership, ownership
from kafkalearn.spark.tables.rebalances import (
    ASSIGNMENT_QUALITY,
    REBALANCES,
    assignment_quality,
    rebalances,
)
from kafkalearn.spark.tables.records import COMMITS, DELIVERIES, LAG, commits, deliveries, lag
from kafkalearn.spark.tables.run_summary import RUN_SUMMARY, run_summary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TABLES: dict[str, tuple[Callable[["DataFrame"], "DataFrame"], str]] = {
    "rebalances": (rebalances, REBALANCES),
    "membership": (membership, MEMBERSHIP),
    "ownership": (ownership, OWNERSHIP),
    "commits": (commits, COMMITS),
    "deliveries": (deliveries, DELIVERIES),
    "lag": (lag, LAG),
    "assignment_quality": (assignment_quality, ASSIGNMENT_QUALITY),
    "run_summary": (run_summary, RUN_SUMMARY),
}
"""Each table by name: its function, and the schema of what that gives."""

__all__ = [
    "TABLES",
    "assignment_quality",
    "commits",
    "deliveries",
    "lag",
    "membership",
    "ownership",
    "rebalances",
    "run_summary",
]
