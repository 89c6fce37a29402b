"""What holds for every pane: names stay text, both languages, odd and empty traces."""

import json
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from kafkalearn import scenarios
from kafkalearn.trace import KINDS, Trace
from kafkalearn.views.language import Say
from kafkalearn.views.panes import PANES, lacking, pieces

TEXTS = ("group_id", "member_id", "api", "peer", "error", "topic")
NAMES = ["<img src=x onerror=alert(1)>", "]]></style>", "a\u202eb", "\ud800", "x" * 300, "nul\0"]
SAYS = [Say("en"), Say("zh")]
panes = pytest.mark.parametrize("pane", PANES)


def frames(pane, trace, *window):
    """Follow a trace in a pane."""
    return PANES[pane].model.frames(trace, *window)


def drawn(pane, frame, say):
    """Put heading and pieces together and parse them as the well-formed HTML that they must be."""
    assert PANES[pane].model.as_text(frame, say)
    return ElementTree.fromstring(f"<body>{''.join(pieces(pane, frame, say=say))}</body>")


def named(name):
    """Record events of all kinds that panes follow, in which everything has this name."""
    about = {"group_id": name, "member_id": name, "generation": 1}
    place = {"topic": name, "partition": 3, "offset": 0, "group_id": name}
    message = about | {"api": "OffsetCommit", "correlation_id": 1, "peer": name}
    state = {"from": name, "to": name, "reason": name, "members": [name], "leader": name}
    asked = {"offsets": {name: {"offset": 1}}, "group_instance_id": name}
    trace = Trace("named")
    for kind, columns, detail in (
        ("poll", about, {}),
        ("member_joined", about, {"instance_id": name, "client_id": name}),
        ("group_state", about, state),
        ("assigned", about, {"partitions": {name: [3]}}),
        ("append", place, {"count": 2}),
        ("position", place, {}),
        ("records_returned", place, {"count": 1}),
        ("send", message, {"fields": asked}),
        ("receive", message, {}),
        ("respond", message | {"error": name}, {"fields": {"partitions": {name: name}}}),
        ("commit", place | {"error": name}, {}),
        ("member_removed", about, {"reason": name}),
    ):
        trace.record(kind, 1, name, **columns, detail=detail)
    return trace


@panes
@pytest.mark.parametrize("name", NAMES, ids=("markup", "end", "turn", "surrogate", "long", "nul"))
def test_names_are_text(pane, name):
    """A name that is HTML, or turns the direction of text, is shown as it is spelled."""
    for frame in frames(pane, named(name)):
        for say in SAYS:
            body = drawn(pane, frame, say)
            assert not {each.tag for each in body.iter()} & {"img", "style"}
            assert "".join(body.itertext()).replace("\n", "").isprintable()
    assert name[:4] in "".join(body.itertext()) or not name.isprintable()


@pytest.mark.parametrize("name", scenarios.names())
def test_each_scenario_is_drawn_in_both_languages(name):
    """Every sentence that a scenario brings about has its Chinese, and pieces are well formed."""
    trace = scenarios.run(name)
    for pane in PANES:
        for frame in {id(frame): frame for frame in frames(pane, trace)}.values():
            for say in SAYS:
                assert "".join(drawn(pane, frame, say).itertext()).strip()


@panes
def test_frames_are_shared_plain_and_the_same_in_a_window(pane):
    """Events that change nothing give the same object; a window knows what came before it."""
    trace = scenarios.second_member_joins()
    found = frames(pane, trace)
    assert len(found) == len(trace)
    assert all(now is before for before, now in pairwise(found) if now == before)
    json.dumps(found)
    assert frames(pane, trace, range(90, 100)) == found[90:100]


@panes
def test_an_empty_trace_says_what_is_missing(pane):
    """Without events there are no frames; events of another kind leave the pane without a story."""
    assert frames(pane, Trace("empty")) == []
    assert lacking(pane, Trace("empty")) == list(PANES[pane].model.ESSENTIAL)
    foreign = Trace("foreign")
    foreign.record("logged", 1, "c1")
    for say in SAYS:
        drawn(pane, *frames(pane, foreign), say)


@panes
@pytest.mark.parametrize(
    "odd", [None, 7, "", "x", True, [1, "a", None], {"t": 3}, {"t": [None, True, "0", -1]}, 10**15]
)
def test_an_imported_trace_may_be_odd(pane, odd):
    """Columns that are missing and details of other types make no view fail."""
    trace = Trace("x profile=")
    message = {"api": "OffsetCommit", "peer": "c1", "correlation_id": 1, "error": "?"}
    place = {"topic": "t", "partition": 0, "offset": 10**17}
    member = {"group_id": "g", "member_id": "m"}
    for kind, carries in KINDS.items():
        detail = dict.fromkeys(carries.detail, odd)
        for columns in ({}, place, message | member, place | message | dict.fromkeys(TEXTS, "")):
            trace.record(kind, 1, "" if "" in columns.values() else "c1", detail=detail, **columns)
    found = frames(pane, trace)
    assert len(found) == len(trace)
    for frame in found:
        for say in SAYS:
            assert "".join(drawn(pane, frame, say).itertext()).strip()
