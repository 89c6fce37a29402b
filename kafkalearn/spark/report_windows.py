"""Which events of a report can be stepped through: some windows around rebalances."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from kafkalearn.spark.events import EventsError
from kafkalearn.trace import Trace

if TYPE_CHECKING:
    import pandas
    from pyspark.sql import DataFrame

MOST_WINDOWS, WINDOW = 24, 300
_LEAD = 40  # events of a window before its rebalance
_BEFORE = 2000  # events before a window, which tell what holds when it begins
_OF_CLIENTS = ("send", "poll", "client_state", "assigned", "revoked", "commit")
Row = dict[str, Any]


def began_ms(row: Row) -> int:
    """When a rebalance began, or what is known first of it."""
    times = (row.get("started_ms"), row.get("joined_ms"), row.get("ended_ms"))
    return next((ms for ms in times if ms is not None), 0)


def asked_ms(at: str) -> tuple[int, bool]:
    """Read a moment: a time in UTC as logs have it, or ``+12.5``: seconds since the first event.

    out: ms, and whether they are since the first event. Errors: EventsError for anything else.
    """
    try:
        if at.startswith("+"):
            return round(float(at[1:]) * 1000), True
        moment = datetime.fromisoformat(at)
        return round(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() * 1000), False
    except (ValueError, OverflowError):
        allowed = "2026-11-27 22:26:30.703 (UTC), or +12.5 for seconds since the first event"
        raise EventsError(f"--at {at!r} is no moment: allowed is {allowed}") from None


def moments(groups: list[Row], at: Sequence[str]) -> list[tuple[Row, Row]]:
    """Find the groups of which there are events at each moment; EventsError if none has any."""
    found = []
    for each in at:
        ms, is_since = asked_ms(each)
        for group in groups:
            when = group["first_ms"] + ms if is_since else ms
            if group["first_ms"] <= when <= group["last_ms"]:
                found.append((group, {"started_ms": when, "at": each}))
        if not found or found[-1][1]["at"] != each:
            raise EventsError(f"--at {each}: no group of this folder has events around it")
    return found


def windows_of(found: "DataFrame", groups: list[Row], *, at: Sequence[str] = ()) -> list[Row]:
    """Choose windows around rebalances; each gets its window's number, and its step there.

    One begins where the window before it has too little left to show what follows, so that they
    hardly overlap. Of too many, those with the longest rebalances are kept.

    at: moments that get a window of their own, see `asked_ms`
    out: run_id, group_id, first (its first seq), size (events at most), trace, events (places in
         it), step (where to open it); a window leaves out what concerns other groups alone
    """
    each = [(group, row) for group in groups for row in group["rebalances"] if row["rebalance"]]
    each.sort(key=lambda pair: began_ms(pair[1]) - (pair[1]["ended_ms"] or began_ms(pair[1])))
    few = moments(groups, at) + each[: MOST_WINDOWS * 3]
    seqs = _seqs(found, few)
    places = {id(group): place for place, group in enumerate(groups)}
    order = sorted(
        range(len(few)),
        key=lambda n: ("at" not in few[n][1], places[id(few[n][0])], seqs[n]),
    )
    windows: list[Row] = []
    for rank in order:
        (group, row), seq = few[rank], seqs[rank]
        names = {"run_id": group["run_id"], "group_id": group["group_id"], "at": row.get("at")}
        last = windows[-1] if windows and names.items() <= windows[-1].items() else None
        if last is None or "at" in row or seq >= last["first"] + WINDOW * 3 // 4:
            first = max(0, seq - _LEAD)
            if last and "at" not in row:
                last["size"] = min(WINDOW, seq - last["first"])
            windows.append(names | {"first": first, "size": WINDOW, "rank": rank, "of": []})
        windows[-1]["of"].append((row, seq))
        windows[-1]["rank"] = min(windows[-1]["rank"], rank)
    kept = sorted(each["rank"] for each in windows)[:MOST_WINDOWS]
    windows = [window for window in windows if window.pop("rank") in kept]
    return _cut(found, windows) if windows else []


def _seqs(found: "DataFrame", few: list[tuple[Row, Row]]) -> list[int]:
    """Find the event of its group that each rebalance begins with, or else of any."""
    from pyspark.sql import functions as F  # noqa: N812

    firsts = []
    for place, (group, row) in enumerate(few):
        is_there = (F.col("run_id") == group["run_id"]) & (F.col("time_ms") >= began_ms(row))
        of_group = is_there & (F.col("group_id") == group["group_id"])
        each = [F.min(F.when(which, F.col("seq"))) for which in (of_group, is_there)]
        firsts.append(F.coalesce(*each).alias(f"_{place}"))
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
        & F.col("seq").between(each["first"] - _BEFORE, each["first"] + each["size"] - 1)
        for each in windows
    ]
    table = found.where(reduce(or_, near)).orderBy("run_id", "seq").toArrow()
    kept = {pyarrow.int64(): pandas.Int64Dtype()}
    frame = table.to_pandas(types_mapper=kept.get)
    for number, window in enumerate(windows):
        first = window["first"]
        is_near = frame["seq"].between(first - _BEFORE, first + window["size"] - 1)
        stretch = frame[(frame["run_id"] == window["run_id"]) & is_near]
        trace = Trace.from_pandas(_of_group(stretch, window["group_id"]))
        begin = sum(event.seq < first for event in trace)
        for row, seq in window["of"]:
            before = sum(event.seq < seq for event in trace) - begin
            row |= {"window": number, "step": min(max(0, before), len(trace) - begin - 1)}
        opens = window.pop("of")[0][0]["step"]
        window |= {"trace": trace, "events": range(begin, len(trace)), "step": opens}
    return windows


def _of_group(stretch: "pandas.DataFrame", group_id: str) -> "pandas.DataFrame":
    """Leave out what other groups' coordinators and consumers did."""
    groups = stretch["group_id"]
    is_client = stretch["kind"].isin(_OF_CLIENTS) & groups.notna()
    known = groups[is_client].groupby(stretch["node"]).agg(set)
    others = [node for node, named in known.items() if group_id not in named]
    is_other = groups.notna() & (groups != group_id)
    for column in ("node", "peer"):
        is_other |= stretch[column].isin(others)
    return stretch[~is_other]
