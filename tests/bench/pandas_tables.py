"""The tables as someone at home in pandas would write them: vectorised, for complete traces.

They are the peer in the bench. What only imported logs need is left out, which is in their favour.
"""

import json
from collections.abc import Iterator

import numpy as np
import pandas as pd

PLACE = ["run_id", "topic", "partition"]
OF_GROUP = ["run_id", "group_id", "topic", "partition"]
GROUP = ["run_id", "group_id"]
FAR = 2**62


def tables(events: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Every table by name."""
    events = events.sort_values(["run_id", "seq"], kind="stable", ignore_index=True)
    given = assignments(events)
    yield "ownership", ownership(given)
    yield "membership", (members := membership(events))
    all_rebalances, placed = rebalances(events, given)
    yield "rebalances", all_rebalances
    yield "assignment_quality", quality(placed)
    yield "commits", (all_commits := commits(events))
    yield "deliveries", (records := deliveries(events))
    yield "lag", (behind := lag(events))
    parts = [members, all_rebalances, all_commits, records, behind]
    yield "run_summary", summary(events, *parts)


def of_kinds(events: pd.DataFrame, *kinds: str, detail: tuple[str, ...] = ()) -> pd.DataFrame:
    """Choose events, with keys of their detail as columns."""
    found = events[events.kind.isin(kinds)].copy()
    read = [{} if text is None else json.loads(text) for text in found.detail]
    for key in detail:
        found[f"d_{key}"] = [each.get(key) for each in read]
    return found


def next_of(frame: pd.DataFrame, keys: list[str], ends: pd.Series) -> pd.DataFrame:
    """Give seq and time of the next end in each group of the keys."""
    marked = frame[["seq", "time_ms"]].where(ends)
    grouped = marked.groupby([frame[key] for key in keys], dropna=False)
    return grouped.shift(-1).groupby([frame[key] for key in keys], dropna=False).bfill()


def assignments(events: pd.DataFrame) -> pd.DataFrame:
    """Each partition given, its end, its owner before and its gap."""
    kinds = ("assigned", "revoked", "client_state", "fault", "member_removed")
    told = of_kinds(events, *kinds, detail=("partitions", "to", "fault"))
    gone = (told.d_fault == "crash") | ((told.kind == "client_state") & (told.d_to == "UNJOINED"))
    ends = [next_of(told, ["run_id", "node"], gone)]
    ends.append(next_of(told, ["run_id", "member_id"], told.kind == "member_removed"))
    named = told[told.kind.isin(["assigned", "revoked"])].copy()
    named["places"] = [
        [(topic, number) for topic, numbers in each.items() for number in numbers]
        for each in named.d_partitions
    ]
    each = named.explode("places").dropna(subset="places")
    each["topic"], each["partition"] = each.places.str[0], each.places.str[1].astype("int64")
    origin = each.index
    each = each.reset_index(drop=True)
    ends = [end.loc[origin].reset_index(drop=True) for end in ends]
    ends.append(next_of(each, ["run_id", "node", "topic", "partition"], each.kind == "revoked"))
    each["end_seq"] = np.fmin.reduce([end.seq for end in ends])
    each["end_ms"] = np.fmin.reduce([end.time_ms for end in ends])
    each = each[each.kind == "assigned"].copy()
    of_place = each.groupby(OF_GROUP)
    each["owner"] = of_place.node.shift()
    until = each.end_seq.fillna(FAR).groupby([each[key] for key in OF_GROUP]).cummax()
    until = until.groupby([each[key] for key in OF_GROUP]).shift()
    last_ms = each.end_ms.groupby([each[key] for key in OF_GROUP]).cummax()
    last_ms = last_ms.groupby([each[key] for key in OF_GROUP]).shift()
    each["gap_ms"] = (each.time_ms - last_ms).where(until < each.seq)
    return each


def ownership(given: pd.DataFrame) -> pd.DataFrame:
    """Who owned what."""
    keys = [*OF_GROUP, "node", "end_seq", "end_ms"]
    return given.groupby(keys, dropna=False, as_index=False).agg(
        from_ms=("time_ms", "first"), member_id=("member_id", "first")
    )


def membership(events: pd.DataFrame) -> pd.DataFrame:
    """Who was a member."""
    told = of_kinds(events, "member_joined", "member_removed", detail=("pending", "reason"))
    told["joined_ms"] = told.time_ms.where((told.kind == "member_joined") & told.d_pending.isna())
    told["left_ms"] = told.time_ms.where(told.kind == "member_removed")
    return told.groupby([*GROUP, "member_id"], as_index=False).agg(
        joined_ms=("joined_ms", "min"), left_ms=("left_ms", "min"), reason=("d_reason", "first")
    )


def rebalances(events: pd.DataFrame, given: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every rebalance, and what was given in each."""
    told = of_kinds(events, "group_state", detail=("to", "reason", "members"))
    begins = told.d_to == "PreparingRebalance"
    told["rebalance"] = begins.groupby([told.run_id, told.group_id]).cumsum()
    joined = told.d_to.isin(["AwaitingSync", "CompletingRebalance"])
    done = told.d_to.isin(["Stable", "Empty"])
    told["started_ms"], told["joined_ms"] = told.time_ms.where(begins), told.time_ms.where(joined)
    told["ended_ms"], told["reason"] = told.time_ms.where(done), told.d_reason.where(begins)
    told["given_seq"] = told.seq.where(joined)
    told["generation"] = told.generation.where(joined | done)
    told["members"] = told.d_members.str.len()
    found = told.groupby([*GROUP, "rebalance"], as_index=False).agg(
        dict.fromkeys(("reason", "started_ms", "joined_ms", "ended_ms", "given_seq"), "first")
        | {"generation": "first", "members": "last"}
    )
    for cause, pattern in (
        *(("session_timeout", "session timeout"), ("member_joined", "^adding new member")),
        *(("member_rejoined", "joins again"), ("member_left", " left$")),
    ):
        found.loc[found.reason.str.contains(pattern, na=False), "cause"] = cause
    found["member_id"] = found.reason.str.extract(r"member (\S+)|^(\S+) (?:left|gave)").bfill(
        axis=1
    )[0]
    marks = found.dropna(subset="given_seq").sort_values("given_seq")
    placed = pd.merge_asof(
        given.astype({"seq": "float64"}).sort_values("seq"),
        marks[[*GROUP, "generation", "given_seq", "rebalance"]].astype({"given_seq": "float64"}),
        left_on="seq",
        right_on="given_seq",
        by=[*GROUP, "generation"],
    )
    placed["kept"] = placed.owner == placed.node
    placed["moved"] = placed.owner.notna() & ~placed.kept
    effects = placed.groupby([*GROUP, "rebalance"], as_index=False).agg(
        kept=("kept", "sum"), moved=("moved", "sum"), unowned_ms=("gap_ms", "sum")
    )
    return found.merge(effects, how="left", on=[*GROUP, "rebalance"]), placed


def quality(placed: pd.DataFrame) -> pd.DataFrame:
    """How evenly partitions were given out."""
    keys = [*GROUP, "rebalance"]
    shares = placed.groupby([*keys, "node"], as_index=False).agg(
        count=("partition", "size"), kept=("kept", "sum"), moved=("moved", "sum")
    )
    return shares.groupby(keys, as_index=False).agg(
        members=("node", "size"),
        fewest=("count", "min"),
        most=("count", "max"),
        kept=("kept", "sum"),
        moved=("moved", "sum"),
    )


def commits(events: pd.DataFrame) -> pd.DataFrame:
    """How commits ended."""
    told = of_kinds(events, "commit", detail=("mode", "latency_ms"))
    told["outcome"] = told.error.fillna("ok")
    columns = ["run_id", "time_ms", "node", "group_id", "member_id", "topic", "partition"]
    return told[[*columns, "offset", "d_mode", "outcome", "d_latency_ms"]]


def _of_records(events: pd.DataFrame) -> pd.DataFrame:
    kinds = ("append", "records_returned", "processed", "offset_stored", "offset_expired")
    told = events[events.kind.isin([*kinds, "position", "poll"])].copy()
    group = told.groupby(["run_id", "node"]).group_id.ffill()
    told["group_id"] = group.where(told.kind != "append")
    return told[(told.kind != "poll") & (told.topic != "__consumer_offsets")]


def deliveries(events: pd.DataFrame) -> pd.DataFrame:
    """What became of records."""
    told = of_kinds(
        _of_records(events),
        *("append", "records_returned", "processed", "offset_stored", "offset_expired"),
        detail=("count",),
    )
    met = told[told.kind.isin(["append", "records_returned", "processed"])]
    groups = told.loc[told.kind != "append", OF_GROUP].drop_duplicates()
    appended = met[met.kind == "append"].drop(columns="group_id").merge(groups, on=PLACE)
    both = pd.concat([met[met.kind != "append"], appended], ignore_index=True)
    times = both.d_count.fillna(1).astype("int64")
    each = both.loc[both.index.repeat(times), [*OF_GROUP, "kind", "offset"]]
    each["offset"] += each.groupby(level=0).cumcount()
    each["delivered"] = each.kind == "records_returned"
    each["processed"] = each.kind == "processed"
    keys = [*OF_GROUP, "offset"]
    found = each.groupby(keys, as_index=False)[["delivered", "processed"]].sum()
    stored = told[told.kind == "offset_stored"].groupby(OF_GROUP).offset.last().rename("committed")
    found = found.merge(stored.reset_index(), how="left", on=OF_GROUP)
    found["lost"] = (found.offset < found.committed).fillna(False) & (found.processed == 0)
    found["duplicated"] = (found.processed - 1).clip(lower=0)
    return found


def lag(events: pd.DataFrame) -> pd.DataFrame:
    """How far groups were behind."""
    told = of_kinds(
        _of_records(events),
        *("append", "records_returned", "position", "offset_stored"),
        detail=("count",),
    )
    after = told.offset + told.d_count.fillna(0).astype("int64")
    told["log_end"] = after.where(told.kind == "append")
    told["committed"] = told.offset.where(told.kind == "offset_stored")
    told["position"] = after.where(told.kind.isin(["position", "records_returned"]))
    groups = told.loc[told.kind != "append", OF_GROUP].drop_duplicates()
    appended = told[told.kind == "append"].drop(columns="group_id").merge(groups, on=PLACE)
    both = pd.concat([told[told.kind != "append"], appended]).sort_values(["run_id", "seq"])
    numbers = ["log_end", "committed", "position"]
    both[numbers] = both.groupby(OF_GROUP)[numbers].ffill()
    previous = both.groupby(OF_GROUP)[numbers].shift()
    same = (both[numbers] == previous) | (both[numbers].isna() & previous.isna())
    changed = both[~same.fillna(False).all(axis=1)].copy()
    changed["lag"] = (changed.log_end - changed.committed).clip(lower=0)
    changed["unread"] = (changed.log_end - changed.position).clip(lower=0)
    return changed[[*OF_GROUP, "seq", "time_ms", *numbers, "lag", "unread"]]


def summary(events: pd.DataFrame, *parts: pd.DataFrame) -> pd.DataFrame:
    """One row a run."""
    members, rebalances_, commits_, records, behind = [part.groupby("run_id") for part in parts]
    runs = events.groupby("run_id").agg(
        events=("seq", "size"), first_ms=("time_ms", "min"), last_ms=("time_ms", "max")
    )
    found = runs.join(
        [
            members.size().rename("members"),
            rebalances_.agg(rebalances=("rebalance", "size"), unowned_ms=("unowned_ms", "sum")),
            commits_.size().rename("commits"),
            records[["delivered", "processed", "lost", "duplicated"]].sum(),
            behind.lag.max().rename("most_lag"),
        ]
    )
    return found.reset_index()
