"""One group's story: its rebalances, what would have helped, who owned what, its lag, commits."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from kafkalearn.trace.text import short_ids
from kafkalearn.views.drawings.common import COLOURS
from kafkalearn.views.report import charts, words
from kafkalearn.views.report.summary import summary, took, unseen
from kafkalearn.views.report.tables import figure, folded, swatch, table
from kafkalearn.views.wording import plural, shown, tag

Row = Mapping[str, Any]
_LANES = 24
_BROKEN_OFF = ("interrupted", "unfinished")


def group_section(group: Row, place: int, *, run: str) -> str:
    """Write the section of one group. run: its name, if there are several."""
    parts = [
        tag("h2", "Group " + escape(shown(group["group_id"], 80))),
        tag("p", escape(shown(run, 160)), class_="kl-quiet") if run else "",
        tag("p", escape(summary(group)), class_="kl-lead"),
        tag("h3", "What would have helped"),
        _advice(group["advice"], group["causes"]),
        tag("h3", "Its generations: when, why, how long"),
        _rebalances(group),
        tag("h3", "Who owned which partition"),
        _ownership(group),
        tag("h3", "How far it was behind"),
        _lag(group),
        tag("h3", "Commits"),
        _commits(group),
    ]
    return tag("section", "".join(parts), id=f"group-{place}")


def _rebalances(group: Row) -> str:
    if not group["rebalances"]:
        return tag("p", "No event tells of a rebalance.", class_="kl-note")
    names = ("generation", "when", "why, and who", "how long", "no owner", "members", "owners")
    rows = [_rebalance(row, group) for row in group["rebalances"]]
    more = group["total"] - len(rows)
    return table(names, rows) + (tag("p", f"{more:,} later ones are not shown.") if more else "")


def _rebalance(row: Row, group: Row) -> list[str]:
    times = [row.get(name) for name in ("started_ms", "joined_ms", "ended_ms")]
    begin = next((ms for ms in times if ms is not None), None)
    when = [tag("b", words.since(begin, group["first_ms"])), escape(words.clock(begin))]
    if "window" in row:
        number = row["window"]
        at = {"href": f"#window-{number}", "data_step": row.get("step") or 0}
        when.append(tag("a", f"step through it ({number + 1})", **at))
        when.append(f"from event {row['step'] + 1:,} of it" if row.get("step") else "")
    reasons = [each for each in (row["reason"], *row["also"]) if each]
    said = escape("; ".join(dict.fromkeys(shown(short_ids(each), 240) for each in reasons)))
    who = escape(words.named(row["node"], row.get("member_id")))
    cause = tag("b", escape(words.cause(row.get("cause"))))
    outcome, number = row.get("outcome"), words.told(row.get("generation"))
    return [
        tag("b", number) + (tag("small", outcome) if outcome in _BROKEN_OFF else ""),
        _lines(when),
        f"{cause}: {who}" + tag("small", said),
        _lines(_times(row)),
        _lines(_gaps(row)),
        _lines(_members(row, group)),
        _lines(_owners(row, group)),
    ]


def _lines(parts: Iterable[str]) -> str:
    return "".join(tag("div", part) for part in parts if part)


def _times(row: Row) -> Iterable[str]:
    yield tag("b", words.lasted(took(row)))
    if row.get("join_ms") is not None or row.get("sync_ms") is not None:
        yield f"join {words.lasted(row['join_ms'])}"
        if row["outcome"] != "empty":
            yield f"sync {words.lasted(row['sync_ms'])}"


def _gaps(row: Row) -> Iterable[str]:
    gaps = [gap["ms"] for gap in row.get("unowned") or ()]
    if not gaps:
        return iter([words.NOT_KNOWN if row.get("kept") is None else "no gap"])
    moved = f"{words.told(row['kept'])} kept, {words.told(row['moved'])} moved"
    longest = tag("b", f"up to {words.lasted(max(gaps))}")
    return iter([longest, plural(len(gaps), "partition"), moved])


def _members(row: Row, group: Row) -> Iterable[str]:
    names = row["names"]
    if not names:
        count = row.get("members")
        is_empty = row.get("outcome") == "empty"
        yield "none" if is_empty else words.NOT_KNOWN if count is None else f"{count:,}"
    for member in names[:12]:
        leads = tag("em", " leads") if member == row["leader"] else ""
        yield escape(shown(short_ids(group["nodes"].get(member) or member), 40)) + leads
    if (more := len(names) - 12) > 0:
        yield f"and {more:,} more"


def _owners(row: Row, group: Row) -> Iterable[str]:
    if not row["owners"]:
        yield "nobody" if row.get("outcome") == "empty" else words.NOT_KNOWN
    for node, owned in list(row["owners"].items())[:12]:
        yield escape(f"{shown(short_ids(node), 30)}: {words.partitions(owned) or 'nothing'}")


def _advice(advice: Sequence[Row], causes: Iterable[str]) -> str:
    if not advice and set(causes) - {"member_joined"}:
        return tag("p", "These numbers do not tell which setting would have helped.")
    if not advice:
        return tag("p", "Nothing in these numbers asks for another setting.")
    rows = (
        [escape(row["seen"]), tag("b", escape(row["setting"])), escape(row["why"])]
        for row in advice
    )
    return table(("what the events say", "setting", "why"), rows)


def _ownership(group: Row) -> str:
    if not group["ownership"]:
        return tag("p", "Not known: no event tells who was given partitions.", class_="kl-note")
    lanes: dict[str, list[Row]] = {}
    for row in group["ownership"]:
        lanes.setdefault(f"{row['topic']}-{row['partition']}", []).append(row)
    left_out, lanes = len(lanes) - _LANES, dict(list(lanes.items())[:_LANES])
    nodes = sorted({row["node"] for rows in lanes.values() for row in rows})
    colours = {node: place % COLOURS for place, node in enumerate(nodes)}
    drawn = charts.ownership(group, lanes, colours=colours)
    legend = "".join(swatch(colours[node], shown(node, 40)) for node in nodes)
    nobody = "nobody whose log is here" if unseen(group) else "nobody"
    legend += tag("li", tag("i", "", class_="kl-swatch kl-nobody") + nobody)
    legend += tag("li", tag("i", "", class_="kl-swatch kl-during") + "a rebalance goes on")
    first = group["first_ms"]
    rows = (
        [
            escape(name),
            escape(words.named(row["node"], row["member_id"])),
            words.since(row["from_ms"], first),
            "to the end" if row["until_ms"] is None else words.since(row["until_ms"], first),
            escape(row["ended"] or ""),
        ]
        for name, of_lane in lanes.items()
        for row in of_lane
    )
    heads = ("partition", "owner", "from", "until", "how it ended")
    note = f"{plural(left_out, 'partition')} more are not shown." if left_out > 0 else ""
    return figure(drawn, legend, note=note) + folded(
        "As a table", table(heads, rows, numbers=(2, 3))
    )


def _lag(group: Row) -> str:
    lines: dict[str, list[tuple[int, int]]] = {}
    for row in group["lag"]:
        number = row["lag"] if row["lag"] is not None else row["unread"]
        lines.setdefault(f"{row['topic']}-{row['partition']}", []).append((row["time_ms"], number))
    if not lines:
        return tag("p", "Not known: no event tells where the logs end.", class_="kl-note")
    numbered = [(name, n % COLOURS, points) for n, (name, points) in enumerate(lines.items())]
    legend = "".join(swatch(colour, shown(name, 30)) for name, colour, _ in numbered)
    rows = (
        [escape(name), f"{max(number for _, number in points):,}", f"{points[-1][1]:,}"]
        for name, _, points in numbered
    )
    note = "Records that are not committed yet; where commits are not known, not read yet."
    return figure(charts.lag(group, numbered), legend, note=note) + folded(
        "As a table", table(("partition", "most", "at the end"), rows)
    )


def _commits(group: Row) -> str:
    if not group["commits"]:
        return tag("p", "Not known: no event tells how a commit ended.", class_="kl-note")
    rows = (
        [
            escape(shown(row["node"], 40)),
            words.told(row["generation"]),
            escape(row["mode"] or words.NOT_KNOWN),
            tag("b", escape(row["outcome"]), class_="" if row["outcome"] == "ok" else "kl-failed"),
            f"{row['count']:,}",
            f"{words.since(row['from_ms'], group['first_ms'])} to "
            f"{words.since(row['to'], group['first_ms'])}",
        ]
        for row in group["commits"]
    )
    heads = ("consumer", "generation", "mode", "outcome", "commits of a partition", "when")
    return table(heads, rows, numbers=(4,))
