"""The strip along a trace: where the rebalances, commits, errors and faults are, by place.

It is stretched to any width, so it holds no text: what a mark is, its form and its title say.
"""

from html import escape

from kafkalearn.trace import Event, Trace
from kafkalearn.views.fold import text
from kafkalearn.views.language import Say
from kafkalearn.views.wording import shown, tag

_WIDTH, _HEIGHT = 1000, 26
_SETTLED = ("Stable", "Empty", "Dead")
_KINDS = ("rebalance", "commit", "error", "fault")
# kind of stop -> from where to where its ticks go, class, what it is called
_TICKS = {
    "commit": (14, 22, "kl-ok", "commits"),
    "error": (3, 12, "kl-bad", "errors"),
    "fault": (0, 26, "kl-fault", "faults"),
}


def stops(trace: Trace, window: range | None = None) -> dict[str, list[int]]:
    """Give the places in the window to jump to; of those that are one thing, the first."""
    found: dict[str, list[int]] = {kind: [] for kind in _KINDS}
    last: dict[str, tuple[object, ...]] = {}
    for place, event in enumerate(_part(trace, window)):
        kind = _kind(event)
        if kind is None:
            continue
        this = (event.node, event.time_ms, event.error)
        if last.get(kind) != this or kind != "commit":
            found[kind].append(place)
        last[kind] = this
    return found


def track(trace: Trace, window: range | None = None, *, say: Say) -> str:
    """Draw the strip as an ``<svg>`` that takes the width that there is."""
    part = _part(trace, window)

    def x(place: float) -> str:
        return f"{place * _WIDTH / len(part):.4g}"

    parts = [tag("path", d=f"M0 13H{_WIDTH}", class_="kl-rail")]
    for group, begin, end in _rebalances(trace, window):
        title = tag("title", escape(say("rebalance of group {}", shown(group))))
        wide = x(end + 1 - begin)
        box = {"x": x(begin), "y": 4, "width": wide, "height": 18, "class_": "kl-rebalance"}
        parts.append(tag("rect", title, **box))
    found = stops(trace, window)
    for kind, (top, bottom, class_, name) in _TICKS.items():
        if found[kind]:
            ticks = "".join(f"M{x(place + 0.5)} {top}V{bottom}" for place in found[kind])
            parts.append(tag("path", tag("title", say(name)), d=ticks, class_=class_))
    shape = {"viewBox": f"0 0 {_WIDTH} {_HEIGHT}", "preserveAspectRatio": "none"}
    return tag("svg", "".join(parts), role="img", aria_label=_spoken(found, say), **shape)


def _spoken(found: dict[str, list[int]], say: Say) -> str:
    counts = (("rebalances", "rebalance"), *((name, kind) for kind, (*_, name) in _TICKS.items()))
    return ", ".join(f"{say(name)}: {len(found[kind])}" for name, kind in counts)


def _part(trace: Trace, window: range | None) -> Trace:
    return trace if window is None else trace[window.start : window.stop]


def _kind(event: Event) -> str | None:
    match event.kind:
        case "respond" if event.failure:
            return "error"
        case "commit":
            return "error" if event.failure else "commit"
        case "fault":
            return "fault"
        case "group_state" if text(event, "to") == "PreparingRebalance":
            return "rebalance"
    return None


def _rebalances(trace: Trace, window: range | None) -> list[tuple[str, int, int]]:
    """Give for each its group, and the places between which it goes on."""
    found: list[tuple[str, int, int]] = []
    under_way: dict[str, int] = {}
    if window is not None:
        for event in trace[: window.start].where(kind="group_state"):
            _follow(under_way, event, 0)
    part = _part(trace, window)
    for place, event in enumerate(part):
        if event.kind == "group_state":
            begin = under_way.get(event.group_id or "?")
            _follow(under_way, event, place)
            if begin is not None and (event.group_id or "?") not in under_way:
                found.append((event.group_id or "?", begin, place))
    return found + [(group, begin, len(part) - 1) for group, begin in under_way.items()]


def _follow(under_way: dict[str, int], event: Event, place: int) -> None:
    group, to = event.group_id or "?", text(event, "to")
    if to == "PreparingRebalance":
        under_way.setdefault(group, place)
    elif to in _SETTLED:
        under_way.pop(group, None)
