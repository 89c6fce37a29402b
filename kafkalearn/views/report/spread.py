"""What a report says of many runs: how their numbers are spread, against each varied setting."""

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from kafkalearn.views.drawings.sheet import sheet, svg
from kafkalearn.views.report import charts, words
from kafkalearn.views.report.tables import table
from kafkalearn.views.wording import listed, plural, shown, tag

Row = Mapping[str, Any]
_METRICS = {
    "rebalance_ms": ("Rebalance time", "from the start to the end of each rebalance, added up"),
    "unowned_ms": ("Time without an owner", "of each partition, added up"),
    "duplicated": ("Duplicates", "effects beyond the first, of a record"),
    "lost": ("Lost", "records that were committed and never had an effect"),
}


def sweep_section(sweep: Row) -> str:
    """Write the section of a sweep."""
    varied = [name for name, values in sweep.get("vary", {}).items() if len(values) > 1]
    about = f"{plural(sweep['runs'], 'run')}"
    if "scenario" in sweep:
        about += f" of {sweep['scenario']}, seeds {sweep['seeds'][0]} to {sweep['seeds'][1] - 1}"
    about += f"; varied: {listed(varied)}." if varied else "; nothing was varied."
    missing = (sweep["wanted"] or 0) - sweep["runs"] - sweep["failed"]
    if missing > 0:
        about += f" The sweep was not finished: {plural(missing, 'run')} to go."
    if sweep["failed"]:
        about += f" {plural(sweep['failed'], 'run')} failed, see below."
    legend = (
        "Each number is that of one run. Box: the middle half of the runs, with their median. "
        "Line: from the least to the 95th of 100. Dots: a twentieth of the runs each, larger where "
        "several are equal."
    )
    parts = [tag("h2", "How the runs differ"), tag("p", escape(about), class_="kl-lead")]
    parts.append(_findings(sweep, varied))
    parts.append(tag("p", legend, class_="kl-quiet"))
    parts += [_metric(name, sweep, varied) for name in _METRICS]
    if len(varied) > 1:
        parts += [tag("h3", "All settings together"), _together(sweep, varied)]
    parts += [tag("h3", "Runs that failed"), _failures(sweep)]
    return tag("section", "".join(parts), id="sweep")


def _findings(sweep: Row, varied: Sequence[str]) -> str:
    """Say of each setting which of its values are the best and the worst, and how far apart."""
    found = []
    for setting, rows in _by_setting(sweep["values"], varied):
        for name, (title, _) in _METRICS.items():
            known = [row for row in rows if row[name]["known"]]
            typical = [(_typical(row[name], name), shown(row["value"], 30)) for row in known]
            if setting and any(number for number, _ in typical):
                found.append(f"{title} by {setting}: {_apart(sorted(typical), name)}.")
    told = [row[name]["marks"] for row in sweep["values"] for name in _METRICS]
    if found and sweep["runs"] > len(sweep["values"]) and all(m[0] == m[-1] for m in told if m):
        found.append("All runs of a value are alike: their seeds make no difference.")
    return tag("ul", "".join(tag("li", escape(each)) for each in found)) if found else ""


def _typical(told: Row, name: str) -> float:
    """Give the median of a time, and of a number the share of runs in which it is not 0."""
    number: float = told["marks"][2] if name.endswith("_ms") else told["above"] / told["known"]
    return number


def _apart(typical: Sequence[tuple[float, str]], name: str) -> str:
    (low, best), *_, (high, worst) = [*typical, typical[-1]]
    if name.endswith("_ms"):
        least, most = (f"median {words.lasted(round(each))}" for each in (low, high))
    else:
        least, most = (f"{100 * each:.0f} % of runs" for each in (low, high))
    return f"{least} with {best}, {most} with {worst}" if low < high else f"{most} with each value"


def _metric(name: str, sweep: Row, varied: Sequence[str]) -> str:
    title, meaning = _METRICS[name]
    head = tag("h3", title) + tag("p", f"{meaning}, in each run", class_="kl-quiet")
    rows = [row for row in sweep["values"] if row["setting"] in varied or not varied]
    marks = [row[name]["marks"][-1] for row in rows if row[name]["marks"]]
    if not marks:
        return head + tag("p", "Not known in any run.", class_="kl-note")
    if not max(marks):
        return head + tag("p", "0 in every run.")
    panels = [
        _panel(name, setting, rows=list(of_setting), most=max(marks))
        for setting, of_setting in _by_setting(rows, varied)
    ]
    return head + tag("div", "".join(panels), class_="kl-panels")


def _by_setting(rows: Sequence[Row], varied: Sequence[str]) -> Iterable[tuple[str, list[Row]]]:
    for setting in varied or [""]:
        yield setting, [row for row in rows if row["setting"] == setting]


def _panel(name: str, setting: str, *, rows: Sequence[Row], most: int) -> str:
    """One small multiple: the chart, and its numbers beside it."""
    values = [(row["value"] if setting else "all runs", row[name]) for row in rows]
    is_time = name.endswith("_ms")
    count = plural(len(values), "value")
    label = f"{_METRICS[name][0]}, how it is spread for each of {count}; see the table"
    drawing = charts.spread(values, most=most, is_time=is_time)
    chart = svg(drawing, role="img", aria_label=label)
    heads = (setting or "runs", "known runs", "above 0", "median", "95th of 100", "most")
    cells = ([escape(shown(value, 40)), *_numbers(told, is_time)] for value, told in values)
    caption = tag("figcaption", tag("b", escape(setting or "all runs")))
    return tag("figure", caption + chart + table(heads, cells, numbers=range(1, 6)))


def picture(sweep: Row, name: str, *, by: str) -> str:
    """Draw one of a sweep's numbers against a setting, as an SVG document for a notebook."""
    rows = [(row["value"], row[name]) for row in sweep["values"] if row["setting"] == by]
    most = max((told["marks"][-1] for _, told in rows if told["marks"]), default=0)
    width, height, drawn = charts.spread(rows, most=most, is_time=name.endswith("_ms"))
    drawing = (width, height, tag("g", drawn, class_="kl-report"))
    caption = f"{_METRICS[name][0]} in each run, by {by}"
    return sheet(caption, drawing, styles=("report/report.css",))


def _numbers(told: Row, is_time: bool) -> list[str]:
    if not told["marks"]:
        return ["0", *[words.NOT_KNOWN] * 4]
    marks = (told["marks"][place] for place in (2, 4, 5))
    share = f"{100 * told['above'] / told['known']:.0f} %"
    return [f"{told['known']:,}", share, *(_number(mark, is_time) for mark in marks)]


def _number(value: int, is_time: bool) -> str:
    return words.lasted(value) if is_time else f"{value:,}"


def _together(sweep: Row, varied: Sequence[str]) -> str:
    """Median and 95th of 100 for each combination."""
    rows = []
    for row in sweep["values"]:
        if row["setting"] == "":
            settings = json.loads(row["value"])
            cells = [escape(shown(str(settings.get(name)), 30)) for name in varied]
            rows.append(
                [*cells, f"{row['runs']:,}", *(_pair(row[name], name) for name in _METRICS)]
            )
    titles = [title for title, _ in _METRICS.values()]
    names = (*varied, "runs", *titles)
    note = tag("p", "Median, and what 95 of 100 runs do not exceed.", class_="kl-quiet")
    return note + table(names, rows, numbers=range(len(varied), len(names)))


def _pair(told: Row, name: str) -> str:
    if not told["marks"]:
        return words.NOT_KNOWN
    is_time = name.endswith("_ms")
    return " / ".join(_number(told["marks"][place], is_time) for place in (2, 4))


def _failures(sweep: Row) -> str:
    if not sweep["failed"]:
        return tag("p", "None.")
    rows = (
        [
            f"{row['count']:,}",
            tag("b", escape(shown(row["error"], 60))),
            escape(shown(row["message"] or "", 300)),
            escape(f"seed {row['seed']}, {shown(row['settings'] or '', 120)}"),
        ]
        for row in sweep["failures"]
    )
    left_out = sweep["failed"] - sum(row["count"] for row in sweep["failures"])
    note = f"{plural(sweep['failed'], 'run')}" + (f"; {left_out:,} not listed" if left_out else "")
    return tag("p", note + ".") + table(("runs", "error", "message", "the first"), rows)
