"""The page of a report. It decides nothing: what it writes was counted before."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from kafkalearn.trace import Trace
from kafkalearn.views.assets import joined
from kafkalearn.views.html_file import html_file
from kafkalearn.views.panes import PANES, lacking
from kafkalearn.views.report import words
from kafkalearn.views.report.group import group_section
from kafkalearn.views.report.spread import sweep_section
from kafkalearn.views.report.summary import unowned, why
from kafkalearn.views.report.tables import table
from kafkalearn.views.stepper import DEFAULT_PANES, Stepper
from kafkalearn.views.wording import listed, plural, shown, tag

# Who opens a window has the keys in it at once; a link leads to its own event.
_KEYS = """
const enter = (frame) => frame?.contentDocument?.querySelector(".kl-stepper")?.focus();
addEventListener("toggle", ({ target }) => {
  const frame = target.open && target.querySelector("iframe");
  if (!frame) return;
  frame.addEventListener("load", () => enter(frame), { once: true });
  enter(frame);
}, true);
const show = (frame, step) => {
  const scrub = frame.contentDocument?.querySelector("[data-scrub]");
  if (scrub) scrub.value = step;
  return scrub?.dispatchEvent(new Event("input", { bubbles: true }));
};
addEventListener("click", ({ target }) => {
  const { hash, dataset: { step } } = target.closest("a[data-step]") ?? { dataset: {} };
  const frame = hash && document.getElementById(hash.slice(1));
  if (!frame || show(frame, step)) return;
  frame.addEventListener("load", () => show(frame, step), { once: true });
});
addEventListener("hashchange", () => enter(document.getElementById(location.hash.slice(1))));
"""


def page(data: Mapping[str, Any]) -> str:
    """Write the whole report as one HTML text. data: what `spark.report.gather` gives."""
    name = shown(data["name"], 80)
    parts = [tag("h1", escape(f"Report on {name}")), _about(data)]
    for place, group in enumerate(data["groups"]):
        run = group["run_id"] if len(data["runs"]) > 1 else ""
        parts.append(group_section(group, place, run=run))
    if data["windows"]:
        parts.append(_windows(data))
    if data["sweep"]:
        parts.append(sweep_section(data["sweep"]))
    if data["unparsed"] is not None:
        parts.append(_unparsed(data["unparsed"]))
    script = tag("script", _KEYS) if data["windows"] else ""
    main = tag("main", "\n".join(parts))
    return html_file(
        f"Report on {name}",
        f'<body class="kl kl-report">{main}{script}</body>',
        style=joined("look.css", "report/report.css"),
        has_scripts=True,
    )


def _about(data: Mapping[str, Any]) -> str:
    """Say what the report is about, and of several groups what is wrong with each."""
    runs = "; ".join(shown(run, 160) for run in data["runs"]) if data["groups"] else ""
    parts = [tag("p", escape(runs), class_="kl-quiet")] if runs else []
    rows = [_group(group, place) for place, group in enumerate(data["groups"])]
    if len(rows) > 1:
        names = ("group", "rebalances: why, and who", "no owner", "what would have helped")
        parts.append(table(names, rows))
    more = data["groups"][0]["groups"] - len(data["groups"]) if data["groups"] else 0
    if more:
        note = f"{plural(more, 'group')} that had less trouble are not told."
        parts.append(tag("p", note, class_="kl-note"))
    if not data["groups"] and not data["sweep"]:
        parts.append(tag("p", "No event tells of a consumer group.", class_="kl-note"))
    return "".join(parts)


def _group(group: Mapping[str, Any], place: int) -> list[str]:
    settings = dict.fromkeys(row["setting"] for row in group["advice"])
    return [
        tag("a", escape(shown(group["group_id"], 60)), href=f"#group-{place}"),
        escape(why(group) or "none"),
        unowned(group),
        escape("; ".join(settings)),
    ]


def _windows(data: Mapping[str, Any]) -> str:
    """Hold the pages to step through; each is loaded when it is opened."""
    parts = [tag("h2", "Step through it")]
    told = [row for group in data["groups"] for row in group["rebalances"] if row["rebalance"]]
    which = "every rebalance"
    if not all("window" in row for row in told):
        which = "the rebalances that took longest"
    count = plural(len(data["windows"]), "window")
    size = max(window["size"] for window in data["windows"])
    about = f"{count} of at most {size} events, around {which}. Open one to go through it step by "
    about += f"step. For another moment: {tag('code', 'kafkalearn report DIR --at TIME')}."
    parts.append(tag("p", about))
    for place, window in enumerate(data["windows"]):
        of = [words.told(row["generation"]) for row in told if row.get("window") == place]
        parts.append(_window(window, place, about=f", generation {listed(of)}" if of else ""))
    return tag("section", "".join(parts), id="windows")


def _window(window: Mapping[str, Any], place: int, *, about: str) -> str:
    trace, events = window["trace"], window["events"]
    stretch = trace[events.start : events.stop]
    first, last = stretch[0], stretch[len(stretch) - 1]
    when = " to ".join(
        words.clock(each.time_ms) or words.since(each.time_ms, 0) for each in (first, last)
    )
    moment = f" at {shown(window['at'], 30)}" if window["at"] else ""
    title = f"Open window {place + 1}{moment} in the Stepper"
    group = shown(window["group_id"], 40)
    about = f"group {group}{about}, {when}: {plural(len(stretch), 'event')}"
    if window["step"] and not window["at"]:
        about += f", opens at event {window['step'] + 1:,}, where its first rebalance begins"
    stepper = Stepper(trace, panes=_panes(trace), events=events)
    stepper.go_to(window["step"])
    told = stepper._saved()
    # Within single quotes the page's own double quotes can stay, and it is half as long.
    source = told.replace("&", "&amp;").replace("'", "&#39;")
    frame = (
        f'<iframe id="window-{place}" loading="lazy" title="{escape(f"{title}, {when}")}" '
        f"srcdoc='{source}'></iframe>"
    )
    heading = tag("summary", tag("b", escape(title)) + tag("span", escape(about)))
    return tag("details", heading + frame, class_="kl-window")


def _panes(trace: Trace) -> list[str]:
    """Leave out what the events cannot tell: a log knows no requests that came to a broker."""
    return [name for name in DEFAULT_PANES if name not in PANES or not lacking(name, trace)]


def _unparsed(reasons: Sequence[Mapping[str, Any]]) -> str:
    """Count what of a log could not be read."""
    lines = sum(row["count"] for row in reasons)
    parts = [tag("h2", "Lines that were not read")]
    if not reasons:
        parts.append(tag("p", "Every line that tells of a consumer or its group was read."))
    else:
        parts.append(tag("p", f"{plural(lines, 'line')}, by the reason. All are in unparsed/."))
        parts.append(table(("reason", "lines", "the first one"), _reasons(reasons), numbers=(1,)))
    return tag("section", "".join(parts), id="unparsed")


def _reasons(reasons: Iterable[Mapping[str, Any]]) -> Iterable[list[str]]:
    for row in reasons:
        place = escape(f"{shown(row['file'] or '', 50)}:{row['line_number']}")
        line = tag("code", escape(shown(row["line"] or "", 160)))
        yield [escape(row["reason"] or words.NOT_KNOWN), f"{row['count']:,}", f"{place} {line}"]
