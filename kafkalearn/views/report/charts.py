"""The charts of a report, in SVG: who owned what, how far behind, how numbers are spread."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from kafkalearn.views.drawings.sheet import CHAR, Drawing, svg, text
from kafkalearn.views.report.words import lasted, since
from kafkalearn.views.wording import plural, shown, tag

Row = Mapping[str, Any]
_WIDTH, _LEFT, _RIGHT, _LANE, _HEIGHT = 1130, 132, 14, 22, 170
_SPREAD_WIDTH, _SPREAD_LEFT, _SPREAD_LANE = 520, 118, 40


def nice(most: float, count: int = 5) -> list[int]:
    """Give round numbers from 0 up to `most`, about so many."""
    step = next(
        unit * 10**power
        for power in range(16)
        for unit in (1, 2, 5)
        if unit * 10**power * count >= most
    )
    return list(range(0, int(most) + 1, step))


def _time_axis(group: Row, height: int) -> tuple[Callable[[int], float], str]:
    """Give where a time is on the x axis, and the axis itself with the rebalances as bands."""
    first: int = group["first_ms"]
    wide = max(1, group["last_ms"] - first)
    scale: float = (_WIDTH - _LEFT - _RIGHT) / wide

    def x(ms: int) -> float:
        return round(_LEFT + (ms - first) * scale, 1)

    parts = []
    for row in group["rebalances"]:
        begin, end = row.get("started_ms"), row.get("ended_ms")
        if begin is not None:
            end = group["last_ms"] if end is None else end
            title = f"rebalance {row['rebalance']}: {since(begin, first)}, {lasted(end - begin)}"
            size = {"width": round(max(1.5, (end - begin) * scale), 1), "height": height}
            parts.append(_rect("kl-band", title, x=x(begin), y=0, **size))
    for ms in nice(wide, 6):
        parts.append(tag("path", d=f"M{x(first + ms)} {height}v5", class_="kl-tick"))
        label = f"+{ms / 1000:,g} s"
        parts.append(
            text(label, "kl-remark kl-middle", x=min(x(first + ms), _WIDTH - 26), y=height + 16)
        )
    return x, "".join(parts)


def _rect(kind: str, title: str = "", **place: float) -> str:
    return tag("rect", tag("title", escape(title)) if title else "", class_=kind, **place)


def ownership(group: Row, lanes: Mapping[str, Sequence[Row]], *, colours: Mapping[str, int]) -> str:
    """Draw a lane for each partition: who owned it when; where nobody did, the lane shows red."""
    height = len(lanes) * _LANE
    x, axis = _time_axis(group, height)
    parts = [axis]
    for number, (name, rows) in enumerate(lanes.items()):
        y = number * _LANE
        parts.append(text(shown(name, 17), "kl-name", y=y + 15))
        begin, end = min(row["from_ms"] for row in rows), group["last_ms"]
        gap = {"x": x(begin), "y": y + 8, "width": max(1, x(end) - x(begin)), "height": 6}
        parts.append(_rect("kl-gap", f"{name}: nobody, where this shows", **gap))
        busy = 0
        for row in rows:
            at = (x, y + 9 if row["from_ms"] < busy else y, colours[row["node"]])
            parts.append(_owned(row, group, at=at))
            busy = max(busy, end if row["until_ms"] is None else row["until_ms"])
    label = (
        f"Who owned each of {plural(len(lanes), 'partition')} of group "
        f"{shown(group['group_id'], 60)} when; the table below says the same"
    )
    return svg((_WIDTH, height + 22, "".join(parts)), role="img", aria_label=label)


def _owned(row: Row, group: Row, *, at: tuple[Callable[[int], float], int, int]) -> str:
    """One stretch; where there is a second owner at the same time, it stands lower."""
    x, y, colour = at
    end = group["last_ms"] if row["until_ms"] is None else row["until_ms"]
    left, wide = x(row["from_ms"]), round(max(1.5, x(end) - x(row["from_ms"])), 1)
    begin = since(row["from_ms"], group["first_ms"])
    title = f"{row['node']}, {begin} to {since(end, group['first_ms'])}"
    size = {"x": left, "y": y + 2, "width": wide, "height": _LANE - 4 - y % _LANE}
    name = shown(row["node"], 20)
    is_wide = wide > len(name) * CHAR + 8 and y % _LANE == 0
    label = text(name, "kl-label", x=round(left + wide / 2, 1), y=y + 15) if is_wide else ""
    return tag("g", _rect(f"kl-p{colour} kl-owned", title, **size) + label)


def lag(group: Row, lines: Sequence[tuple[str, int, Sequence[tuple[int, int]]]]) -> str:
    """Draw how far each partition was behind: (its name, its colour, times and numbers)."""
    most = max((number for *_, points in lines for _, number in points), default=0)
    x, axis = _time_axis(group, _HEIGHT)
    top = max(1, most)
    parts = [axis]
    for number in nice(top, 4):
        y = round(_HEIGHT - number * (_HEIGHT - 12) / top, 1)
        parts.append(tag("path", d=f"M{_LEFT} {y}H{_WIDTH - _RIGHT}", class_="kl-rule"))
        parts.append(text(f"{number:,}", "kl-remark kl-end", x=_LEFT - 6, y=y + 4))
    for name, colour, points in lines:
        steps = [
            f"{'H' + str(x(ms)) + 'V' if place else 'M' + str(x(ms)) + ' '}"
            f"{round(_HEIGHT - number * (_HEIGHT - 12) / top, 1)}"
            for place, (ms, number) in enumerate(points)
        ]
        title = tag("title", escape(name))
        d = "".join(steps) + f"H{x(group['last_ms'])}"
        parts.append(tag("path", title, d=d, class_=f"kl-p{colour} kl-line"))
    label = f"Lag of {plural(len(lines), 'partition')} over time, at most {most:,} records"
    return svg((_WIDTH, _HEIGHT + 22, "".join(parts)), role="img", aria_label=label)


def spread(rows: Sequence[tuple[str, Row]], *, most: int, is_time: bool) -> Drawing:
    """Draw a box and dots for each value: what its runs gave, as `spark` counted it.

    The box holds the middle half with the median; the line goes from the least to what 95 of 100
    runs do not exceed; a dot stands for a twentieth of the runs, a larger one for several.
    out: width, height, and what is drawn in it
    """
    scale = (_SPREAD_WIDTH - _SPREAD_LEFT - 30) / max(1, most)
    parts, height = [], len(rows) * _SPREAD_LANE

    def x(number: float) -> float:
        return round(_SPREAD_LEFT + number * scale, 1)

    for number in nice(max(1, most)):
        parts.append(tag("path", d=f"M{x(number)} 0V{height}", class_="kl-rule"))
        label = lasted(number) if is_time else f"{number:,}"
        parts.append(text(label, "kl-remark kl-middle", x=x(number), y=height + 15))
    for place, (value, told) in enumerate(rows):
        y = place * _SPREAD_LANE
        parts.append(text(shown(value, 15), "kl-name kl-end", x=_SPREAD_LEFT - 10, y=y + 20))
        if told["marks"]:
            least, low, median, high, p95, _ = told["marks"]
            parts.append(tag("path", d=f"M{x(least)} {y + 12}H{x(p95)}", class_="kl-whisker"))
            wide = max(2, x(high) - x(low))
            parts.append(_rect("kl-half", x=x(low), y=y + 5, width=wide, height=14))
            parts.append(tag("path", d=f"M{x(median)} {y + 3}v18", class_="kl-median"))
            parts.append(tag("path", d=f"M{x(p95)} {y + 7}v10", class_="kl-whisker"))
            counts: Counter[int] = Counter(told["dots"])
            dots = (
                tag("circle", cx=x(dot), cy=y + 29, r=round(1 + 1.6 * count**0.5, 1))
                for dot, count in counts.items()
            )
            parts.append(tag("g", "".join(dots), class_="kl-dots"))
    return _SPREAD_WIDTH, height + 22, "".join(parts)
