"""Events in, tables out: each a function DataFrame -> DataFrame of columns alone.

Every table keeps runs apart by run_id, and says null where the events do not tell: they may be a
whole sweep's, or an imported log's, which knows little.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kafkalearn.spark.tables.ownership import (
    MEMBERSHIP,
    OWNERSHIP,
    given,
    membership,
    ownership,
    ownership_of,
)
from kafkalearn.spark.tables.rebalances import (
    ASSIGNMENT_QUALITY,
    REBALANCES,
    assignment_quality,
    blamed,
    done_in,
    placed,
    quality_of,
    rebalances,
)
from kafkalearn.spark.tables.records import (
    COMMITS,
    DELIVERIES,
    LAG,
    commits,
    deliveries,
    deliveries_of,
    lag,
    lag_of,
    of_records,
)
from kafkalearn.spark.tables.run_summary import RUN_SUMMARY, run_summary, summed_up

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


@contextmanager
def all_tables(events: "DataFrame") -> Iterator[dict[str, "DataFrame"]]:
    """Give every table by name, to be used in the block: what several share is computed once."""
    kept = []

    def keep(frame: "DataFrame") -> "DataFrame":
        kept.append(frame.persist())
        return frame

    try:
        read, assigned = keep(of_records(events)), keep(given(events))
        in_rebalances = keep(placed(events, assigned))
        told = done_in(in_rebalances)
        tables = {
            "rebalances": blamed(events, told),
            "membership": membership(events),
            "ownership": ownership_of(assigned),
            "commits": commits(events),
            "deliveries": keep(deliveries_of(read)),
            "lag": keep(lag_of(read)),
            "assignment_quality": quality_of(in_rebalances),
        }
        parts = (tables[name] for name in ("commits", "deliveries", "lag"))
        yield tables | {"run_summary": summed_up(events, tables["membership"], told, *parts)}
    finally:
        for frame in kept:
            frame.unpersist()


__all__ = [
    "TABLES",
    "all_tables",
    "assignment_quality",
    "commits",
    "deliveries",
    "lag",
    "membership",
    "ownership",
    "rebalances",
    "run_summary",
]
