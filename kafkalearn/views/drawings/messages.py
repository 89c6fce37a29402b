"""Draw the diagram of messages as SVG. All lengths are pixels, and it is shown in that size.

The browser lays a frame around the present row and a veil over what comes later: `geometry`.
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise

from kafkalearn.trace.text import columns
from kafkalearn.views.drawings.common import nothing
from kafkalearn.views.drawings.message_marks import Layout, arrow, height, note, span, words
from kafkalearn.views.drawings.sheet import sheet, svg
from kafkalearn.views.language import Say
from kafkalearn.views.messages.diagram import Diagram, reaches
from kafkalearn.views.messages.rows import Row
from kafkalearn.views.wording import moment, shown, tag

WIDTH, HEAD = 506, 36  # what JupyterLab has room for, with its file browser, at 1,400 pixels
_NARROWEST, _CLOSE = 96, 0.4  # from lane to lane: then the diagram grows, and is shown smaller
_TIME, _BESIDE, _RIGHT = 6.3, 34, 44  # a digit, the first lane's room to the left, the last one's
_NAME_CHAR = 7.3
_ABOVE, _BELOW = 9, 5  # rows of a picture


def head(diagram: Diagram, say: Say) -> str:
    """Name the lanes: an ``<svg>`` that stays while the diagram scrolls below it."""
    layout = _layout(diagram)
    return svg((layout.width, HEAD, _head(diagram, layout, say)), class_="kl-msg")


def draw(diagram: Diagram, say: Say) -> str:
    """All rows as one ``<svg>``; ``data-k`` of an arrow is the place of its first event."""
    if not diagram["rows"]:
        return nothing(say, ("send", "receive", "respond", "response"))
    layout = _layout(diagram)
    body = _body(diagram, layout, range(len(diagram["rows"])), say)
    drawn = (layout.width, layout.tops[-1] + 8, body)
    return svg(drawn, class_="kl-msg", role="img", aria_label=say("messages"))


def geometry(diagram: Diagram) -> list[list[int]]:
    """Give for each event where its row begins, how high it is, and how far the drawing reaches.

    An event without a row has no height, and stands where the drawing has come to.
    """
    tops = _layout(diagram).tops
    return [
        [tops[reach], 0, tops[reach]]
        if row is None
        else [tops[row], tops[row + 1] - tops[row], tops[reach]]
        for row, reach in zip(diagram["places"], reaches(diagram), strict=True)
    ]


def picture(diagram: Diagram, place: int, *, caption: str, say: Say) -> str:
    """Draw the rows around an event's as one SVG document that needs nothing else."""
    layout, places = _layout(diagram), geometry(diagram)
    reach = reaches(diagram)[place] if places else 0
    first = max(0, min(reach - _ABOVE, len(diagram["rows"]) - _ABOVE - _BELOW))
    rows = range(first, min(len(diagram["rows"]), first + _ABOVE + _BELOW))
    begin, end = layout.tops[rows.start], layout.tops[rows.stop]
    body = _body(diagram, layout, rows, say)
    if places:
        y, tall, done = places[place]
        body += tag("rect", class_="kl-later", y=done, width="100%", height=max(0, end - done))
        frame = {"width": layout.width - 3, "height": tall, "rx": 5}
        body += tag("rect", class_="kl-now", x=1.5, y=y, **frame)
    view = f"0 {begin} {layout.width} {end - begin}"
    shown_rows = svg((layout.width, end - begin, body), viewBox=view, y=HEAD)
    drawn = tag("g", _head(diagram, layout, say) + shown_rows, class_="kl-msg")
    whole = (layout.width, HEAD + end - begin, drawn)
    return sheet(caption, whole, styles=("drawings/messages.css",))


def _layout(diagram: Diagram) -> Layout:
    rows, count = diagram["rows"], len(diagram["lanes"])
    latest = max((row["time_ms"] for row in rows), default=0)
    left = 18 + round(len(_when(latest)) * _TIME)
    first = left + _BESIDE
    gaps = [_gap(pair, diagram["brokers"]) for pair in pairwise(diagram["lanes"])]
    width = max(WIDTH, first + round(_NARROWEST * sum(gaps)) + _RIGHT)
    step = (width - _RIGHT - first) / (sum(gaps) or 1)
    start = first if gaps else (first + width - _RIGHT) / 2
    lanes = [round(start + step * gap) for gap in accumulate(gaps, initial=0.0)][:count]
    return Layout(width, left, lanes, list(accumulate(map(height, rows), initial=6)))


def _gap(names: tuple[str, str], brokers: Sequence[str]) -> float:
    """Messages go between a client and a broker; elsewhere there is room for the names."""
    if len({name in brokers for name in names}) > 1:
        return 1.0
    longest = max(columns(name) or 9 for name in names)
    return min(1.0, max(_CLOSE, (longest + 1.2) * _NAME_CHAR / _NARROWEST))


def _head(diagram: Diagram, layout: Layout, say: Say) -> str:
    gaps = [right - left for left, right in pairwise(layout.lanes)] or [WIDTH]
    rooms = map(min, zip([gaps[0], *gaps], [*gaps, gaps[-1]], strict=True))
    drawn = []
    for name, x, room in zip(diagram["lanes"], layout.lanes, rooms, strict=False):
        said = shown(name, int(room / _NAME_CHAR) - 1) or say("{} others", diagram["others"])
        drawn.append(words(said, (x, 14), kind="kl-name"))
        if name and name == diagram["coordinator"]:
            drawn.append(words(say("coordinator"), (x, 29)))
    return tag("g", "".join(drawn), class_="kl-heads")


def _body(diagram: Diagram, layout: Layout, rows: range, say: Say) -> str:
    end = layout.tops[rows.stop] + 8
    lines = "".join(f"M{x} {layout.tops[rows.start]}V{end}" for x in layout.lanes)
    parts = [tag("path", class_="kl-life", d=lines)]
    parts += [span(each, layout) for each in diagram["spans"]]
    parts.append(tag("g", _times(diagram["rows"], layout, rows), class_="kl-when"))
    for number, row in enumerate(diagram["rows"][: rows.stop]):
        if row["kind"] == "message" and row["to_row"] >= rows.start:
            parts.append(arrow(row, number, layout=layout, say=say))
        elif row["kind"] == "note" and number >= rows.start:
            parts.append(note(row, layout.tops[number], layout=layout, say=say))
    return "".join(parts)


def _when(ms: int) -> str:
    return moment(ms).removesuffix(" ms")


def _times(rows: Sequence[Row], layout: Layout, drawn: range) -> str:
    """Write each time once, where it begins."""
    told, before = [], None
    for number in drawn:
        time = rows[number]["time_ms"]
        if time != before:
            low = layout.tops[number] + (19 if height(rows[number]) > 21 else 13)
            told.append(words(_when(time), (layout.left - 12, low)))
        before = time
    return "".join(told)
