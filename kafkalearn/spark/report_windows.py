"""Which events of a report can be stepped through: some windows around rebalances."""

from typing import TYPE_CHECKING, Any

from kafkalearn.trace import Trace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_WINDOWS, WINDOW = 8, 300
_LEAD = 40  # events of a window before its rebalance
_BEFORE = 2000  # events before a window, which tell what holds when it begins
Row = dict[str, Any]


def began_ms(row: Row) -> int:
    """When a rebalance began, or what is known first of it."""
    times = (row.get("started_ms"), row.get("joined_ms"), row.get("ended_ms"))
    return next((ms for ms in times if ms is not None), 0)


def windows_of(found: "DataFrame", groups: list[Row]) -> list[Row]:
    """Choose windows around the rebalances that took longest; each gets its window's number.

    out: run_id, first (its first seq), size (events at most), trace, events (places in it)
    """
    each = [(group, row) for group in groups for row in group["rebalances"] if row["rebalance"]]
    each.sort(key=lambda pair: began_ms(pair[1]) - (pair[1]["ended_ms"] or began_ms(pair[1])))
    few = each[: MOST_WINDOWS * 3]
    windows: list[Row] = []
    for (group, row), seq in zip(few, _seqs(found, few), strict=True):
        begins = range(seq - WINDOW * 3 // 4, seq + 1)
        same = (each for each in windows if each["run_id"] == group["run_id"])
        window = next((each for each in same if each["first"] in begins), None)
        if window is None and len(windows) < MOST_WINDOWS:
            window = {"run_id": group["run_id"], "first": max(0, seq - _LEAD)}
            window |= {"size": WINDOW, "of": []}
            windows.append(window)
        if window is not None:
            window["of"].append(row)
    windows.sort(key=lambda each: (each["run_id"], each["first"]))
    for number, window in enumerate(windows):
        for row in window.pop("of"):
            row["window"] = number
    return _cut(found, windows) if windows else []


def _seqs(found: "DataFrame", few: list[tuple[Row, Row]]) -> list[int]:
    """Find the event that each rebalance begins with."""
    from pyspark.sql import functions as F  # noqa: N812

    firsts = []
    for place, (group, row) in enumerate(few):
        is_there = (F.col("run_id") == group["run_id"]) & (F.col("time_ms") >= began_ms(row))
        firsts.append(F.min(F.when(is_there, F.col("seq"))).alias(f"_{place}"))
    return list(found.agg(*firsts).first() or ()) if firsts else []


def _cut(found: "DataFrame", windows: list[Row]) -> list[Row]:
    """Give each window its events, and those before it that tell what holds when it begins."""
    from functools import reduce
    from operator import or_

    import pandas
    import pyarrow
    from pyspark.sql import functions as F  # noqa: N812

    near = [
        (F.col("run_id") == each["run_id"])
        & F.col("seq").between(each["first"] - _BEFORE, each["first"] + WINDOW - 1)
        for each in windows
    ]
    table = found.where(reduce(or_, near)).orderBy("run_id", "seq").toArrow()
    kept = {pyarrow.int64(): pandas.Int64Dtype()}
    frame = table.to_pandas(types_mapper=kept.get)
    for window in windows:
        first = window["first"]
        is_near = frame["seq"].between(first - _BEFORE, first + WINDOW - 1)
        trace = Trace.from_pandas(frame[(frame["run_id"] == window["run_id"]) & is_near])
        begin = sum(event.seq < first for event in trace)
        window |= {"trace": trace, "events": range(begin, len(trace))}
    return windows
