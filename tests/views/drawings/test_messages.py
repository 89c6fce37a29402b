"""The drawing of messages: arrows where their rows are, small, safe for any name, readable."""

import re
from xml.etree import ElementTree

import pytest

from kafkalearn import scenarios
from kafkalearn.trace import Trace
from kafkalearn.views import messages
from kafkalearn.views.assets import joined
from kafkalearn.views.captions import caption
from kafkalearn.views.drawings import messages as drawn
from kafkalearn.views.language import Say

SVG = "{http://www.w3.org/2000/svg}"
STYLES = joined("drawings/messages.css")
ODD = ["<img src=x onerror=alert(1)>", "]]></style>", "a\u202eb", "\ud800", "x" * 300, "nul\0"]


@pytest.fixture(scope="module")
def trace():
    """A member dies, and the others go on."""
    return scenarios.consumer_dies()


@pytest.fixture(scope="module")
def diagram(trace):
    """All of it."""
    return messages.diagram(trace)


def arrows(diagram):
    """Give the arrows of a drawing."""
    picture = ElementTree.fromstring(drawn.draw(diagram, Say()))
    return [g for g in picture.iter("g") if (g.get("class") or "").startswith("kl-arrow")]


def arrow(diagram, place):
    """Give class, path and text of the arrow that begins with the event at a place."""
    (found,) = (g for g in arrows(diagram) if g.get("data-k") == str(place))
    return found.get("class"), found.find("path").get("d"), found.findtext("text")


def place_of(trace, **wanted):
    """Give the place of the first such event."""
    return trace.where(**wanted)[0].seq


def test_an_arrow_for_each_message_that_knows_its_event(trace, diagram):
    """Whoever clicks an arrow gets to where the message left."""
    places = [int(g.get("data-k")) for g in arrows(diagram)]
    assert places == [e.seq for e in trace if e.kind in ("send", "respond")]


def test_routine_is_thin_and_errors_are_red(trace, diagram):
    """The class tells how to draw it, and the label has the error's name."""
    beat = trace.where(kind="respond", api="Heartbeat", error="NONE")[0].seq
    assert arrow(diagram, beat)[::2] == ("kl-arrow kl-thin", "NONE")
    refused = trace.where(kind="respond", error="REBALANCE_IN_PROGRESS")[0].seq
    assert arrow(diagram, refused)[::2] == ("kl-arrow kl-bad", "REBALANCE_IN_PROGRESS")


def test_what_is_lost_ends_half_way_with_a_cross(trace, diagram):
    """It says so in words too; what is still under way has no head, and no cross."""
    place = next(r["sent"] for r in diagram["rows"] if r.get("dropped"))
    kind, path, text = arrow(diagram, place)
    assert (kind, text) == ("kl-arrow kl-bad", "orders-1: 0 · lost · c2 crashed")
    assert path.endswith("m-5-5 10 10m0-10-10 10")
    kind, path, _ = arrow(messages.diagram(trace, range(place + 1)), place)
    assert kind == "kl-arrow kl-away"
    assert re.fullmatch(r"M\d+ \d+L\d+ \d+", path)


def test_an_arrow_that_comes_late_slants():
    """It goes down to the row where it arrives."""
    trace = Trace("slow")
    for number in range(7):
        trace.record("send", number, "c1", api="JoinGroup", peer="b", correlation_id=number)
    trace.record("receive", 9, "b", api="JoinGroup", peer="c1", correlation_id=0)
    diagram = messages.diagram(trace)
    ends = re.findall(r"M\d+ (\d+)L\d+ (\d+)", arrow(diagram, 0)[1])
    top, height, _ = drawn.geometry(diagram)[-1]
    ((begin, end),) = ends
    assert int(begin) < 40
    assert top < int(end) < top + height


def test_the_heads_name_the_lanes(diagram):
    """Names stand above their lanes; the coordinator is called that."""
    head = ElementTree.fromstring(drawn.head(diagram, Say()))
    assert [text.text for text in head.iter("text")] == [
        "admin",
        "c1",
        "broker-0",
        "coordinator",
        "c2",
    ]
    assert head.get("width") == ElementTree.fromstring(drawn.draw(diagram, Say())).get("width")


def test_the_drawing_fits_the_pane_of_a_usual_window():
    """Whatever scenario: no wider than JupyterLab's pane, and no name is shortened."""
    for name in scenarios.names():
        diagram = messages.diagram(scenarios.run(name))
        head = ElementTree.fromstring(drawn.head(diagram, Say()))
        assert int(head.get("width")) <= 506
        assert set(diagram["lanes"]) <= {text.text for text in head.iter("text")}


def test_a_note_with_no_room_at_the_left_stands_to_the_right():
    """A commit that fails on the first lane says so: it was an ellipsis before the lifeline."""
    trace = scenarios.async_commit_overtaken()
    diagram = messages.diagram(trace, range(61, len(trace)))
    said = ElementTree.fromstring(drawn.draw(diagram, Say()))
    (failed,) = (g for g in said.iter("g") if g.get("class") == "kl-note kl-bad")
    text, lane = failed.find("text"), failed.find("path").get("d")
    assert text.text == "the commit of orders-0: 3 fails · COORDINATOR_LOAD_IN_PROGRESS"
    assert float(text.get("x")) > float(re.match(r"M(\d+)", lane)[1])


def test_no_label_reaches_over_the_times():
    """One that names four partitions is shortened; a character has 5.7 pixels or more."""
    diagram = messages.diagram(scenarios.second_member_joins(partitions=4))
    said = ElementTree.fromstring(drawn.draw(diagram, Say()))
    (when,) = (g for g in said.iter("g") if g.get("class") == "kl-when")
    end = max(float(text.get("x")) for text in when)
    labels = [g.find("text") for g in said.iter("g") if "kl-arrow" in (g.get("class") or "")]
    begins = [float(text.get("x")) - len(text.text) * 5.7 / 2 for text in labels]
    assert begins
    assert min(begins) > end


def test_whom_a_group_waits_for_is_said_in_full():
    """The state moves aside where the words would not fit."""
    said = ElementTree.fromstring(drawn.draw(messages.diagram(scenarios.first_member()), Say()))
    beside = [text.text for text in said.iter("text") if text.get("class") == "kl-beside"]
    assert "waits for the leader c1 to assign" in beside


def test_geometry_goes_down_with_the_events(trace, diagram):
    """Rows lie inside what is drawn so far; an event without a row is where the drawing ends."""
    boxes = drawn.geometry(diagram)
    assert len(boxes) == len(trace)
    assert [reach for *_, reach in boxes] == sorted(reach for *_, reach in boxes)
    assert all(y + height <= reach for y, height, reach in boxes)
    silent = diagram["places"].index(None)
    assert boxes[silent][1] == 0
    assert boxes[silent][0] == boxes[silent][2]


def test_partitions_are_chips_with_their_numbers(trace, diagram):
    """What a member is given has the colours and numbers of its partitions."""
    picture = ElementTree.fromstring(drawn.draw(diagram, Say()))
    chips = [
        (rect.get("class"), chip.findtext("text"))
        for chip in picture.iter("g")
        for rect in chip.findall("rect")
        if (rect.get("class") or "").startswith("kl-p")
    ]
    assert {("kl-p0", "0"), ("kl-p1", "1")} == set(chips)


def test_it_is_small():
    """Less than 250 bytes a message, notes and bars included."""
    trace = scenarios.second_member_joins()
    diagram = messages.diagram(trace)
    count = sum(row["kind"] == "message" for row in diagram["rows"])
    assert len(drawn.draw(diagram, Say())) < 250 * count


def test_times_stand_where_they_change(trace, diagram):
    """A time is written once for all rows of a millisecond, in groups of three digits."""
    picture = ElementTree.fromstring(drawn.draw(diagram, Say()))
    (group,) = (g for g in picture.iter("g") if g.get("class") == "kl-when")
    told = [text.text for text in group]
    assert told[0] == "0"
    assert told[-1] == f"{trace[-1].time_ms:,}"
    assert len(told) == len(set(told))


@pytest.mark.parametrize("name", ODD, ids=["markup", "end", "override", "surrogate", "long", "nul"])
def test_names_are_text(name):
    """Whatever a name holds, the drawing is XML that says it as text, in one line."""
    trace = Trace("odd")
    detail = {"fields": {"topics": [name], "key": name, "node": name}}
    trace.record("send", 1, name, api="Metadata", peer=f"{name}2", detail=detail)
    trace.record("respond", 2, f"{name}2", api="Metadata", peer=name, error=name)
    trace.record("assigned", 3, name, detail={"partitions": {name: [1, -3]}})
    trace.record("group_state", 3, f"{name}2", group_id=name, detail={"to": name})
    trace.record("fault", 3, name, api=name, error=name, detail={"fault": name})
    diagram = messages.diagram(trace)
    for drawing in (drawn.draw(diagram, Say()), drawn.head(diagram, Say("zh"))):
        elements = {each.tag for each in ElementTree.fromstring(drawing).iter()}
        assert elements <= {"svg", "g", "path", "rect", "text"}
        assert "\u202e" not in drawing


def test_nothing_says_what_is_missing():
    """An empty trace names the kinds of event that would be drawn."""
    told = drawn.draw(messages.diagram(Trace("empty")), Say())
    assert "not in this trace: send, receive, respond, response" in told
    assert drawn.geometry(messages.diagram(Trace("empty"))) == []
    ElementTree.fromstring(drawn.head(messages.diagram(Trace("empty")), Say()))


def test_a_picture_stands_alone(trace, diagram):
    """It is one document with its own look, a caption, and the rows around the event framed."""
    place = place_of(trace, kind="respond", error="REBALANCE_IN_PROGRESS")
    told = drawn.picture(diagram, place, caption=caption(trace[place]), say=Say())
    picture = ElementTree.fromstring(told)
    texts = [text.text for text in picture.iter(f"{SVG}text")]
    assert texts[0].startswith("broker-0 answers c1")
    assert "REBALANCE_IN_PROGRESS" in texts
    assert "kl-msg .kl-arrow" in picture.findtext(f"{SVG}style")
    classes = [rect.get("class") for rect in picture.iter(f"{SVG}rect")]
    assert classes.count("kl-now") == classes.count("kl-later") == 1
    assert len(told) < 16_000
    empty = messages.diagram(Trace("empty"))
    ElementTree.fromstring(drawn.picture(empty, 0, caption="nothing", say=Say()))


def test_every_class_has_its_rule(diagram):
    """No mark is drawn in a class that the stylesheet does not know."""
    used = set(re.findall(r'class="([^"]*)"', drawn.draw(diagram, Say())))
    names = {name for each in used for name in each.split() if not re.fullmatch("kl-p[0-7]", name)}
    own = STYLES.partition("/* The diagram of messages")[2].partition("/*")[0]
    assert {name for name in names if f".{name}" not in own} <= {"kl-msg", "kl-soft", "kl-label"}
