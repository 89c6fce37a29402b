"""The drawing of the logs: a cell for each record, safe for any name, bounded."""

import re
from xml.etree import ElementTree

from kafkalearn import scenarios
from kafkalearn.trace import Trace
from kafkalearn.views import logs
from kafkalearn.views.drawings.logs import draw, legend
from kafkalearn.views.language import Say

EN, ZH = Say("en"), Say("zh")


def parsed(frame, say=EN):
    """Put the pieces together and parse them as the well-formed HTML that they must be."""
    return ElementTree.fromstring(f"<body>{''.join(draw(frame, say))}</body>")


def bars(body):
    """Give each bar's cells as (tag, text), and its marks as (class, style, text)."""
    found = []
    for bar in body.iterfind(".//div[@role='img']"):
        cells = [(each.tag, each.text) for each in bar if each.tag != "b"]
        marks = [(m.get("class"), m.get("style"), m.text) for m in bar if m.tag == "b"]
        found.append((cells, marks))
    return found


def test_cells_and_marks_stand_where_they_belong():
    """Processed twice, committed and position: cells with their numbers, marks at their edges."""
    trace = scenarios.crash_before_commit()
    frame = logs.frames(trace)[trace.where(kind="processed")[-2].seq]
    assert bars(parsed(frame)) == [
        (
            [("i", "0"), ("i", None), ("i", None), ("i", "2×"), ("i", "2×"), ("s", None)],
            [("kl-next", "--at:3", "▼ 3"), ("kl-pos", "--at:6", "▲ 6")],
        )
    ]


def test_a_mark_beyond_the_cells_points_there():
    """A position far ahead stands at the end, with its number and an arrow."""
    trace = Trace("x")
    place = {"topic": "t", "partition": 0}
    trace.record("append", 0, "b", **place, offset=0, detail={"count": 2000})
    for node, offset in (("c1", 1500), ("c2", 3)):
        trace.record("position", 0, node, **place, offset=offset)
    ((cells, marks),) = bars(parsed(logs.frames(trace)[-1]))
    assert [text for _, text in cells[:5]] == ["0", None, None, "3", None]
    assert marks == [
        ("kl-pos", "--at:3", "▲ c2"),
        ("kl-pos", "--at:24;--row:1", "▲ c1: 1,500 →"),
    ]


def test_the_legend_explains_every_cell_and_mark():
    """Each of the drawings has words beside it."""
    words = re.sub("<[^>]*>", "|", legend(EN))
    assert [each for each in words.split("|") if each] == [
        *("processed", "2×", "processed twice", "returned by poll, not processed", "not read"),
        *("✗", "lost", "deleted by retention", "▼", "committed (next to read)", "▲", "position"),
    ]


def test_pieces_are_shared():
    """A partition that did not change has the same piece."""
    trace = scenarios.second_member_joins()
    frames = logs.frames(trace)
    pieces = {piece for frame in frames for piece in draw(frame, EN)}
    assert len(pieces) < len(frames) / 4
    assert sum(map(len, pieces)) < 20_000
