"""Who says what to whom, as data: one row a message, notes between, and where each event is."""

import json

import pytest

from kafkalearn import scenarios
from kafkalearn.trace import Trace
from kafkalearn.views.language import Say
from kafkalearn.views.messages.diagram import as_text, diagram, fields, reaches, routine

ODD = "<img src=x onerror=alert(1)>\u202e"
REBALANCE = """\
3,044 ms  c2 → broker-0  JoinGroup · orders · range
3,045 ms  broker-0       c2 is a member
3,045 ms  broker-0       PreparingRebalance · 2 members · waits for c1
3,524 ms  c1             poll(500)
3,525 ms  broker-0 → c1  no records
3,526 ms  c1 → broker-0  Fetch · orders-0 from 2 · orders-1 from 2
4,018 ms  c1 → broker-0  Heartbeat · gen 1
4,019 ms  broker-0 → c1  REBALANCE_IN_PROGRESS
4,020 ms  c1 → broker-0  OffsetCommit · orders-0: 2, orders-1: 2
4,021 ms  broker-0 → c1  NONE
4,022 ms  c1             committed orders-0: 2, orders-1: 2 · auto
4,022 ms  c1             gives up · orders-0, orders-1
4,022 ms  c1 → broker-0  JoinGroup · orders · range
4,023 ms  broker-0       AwaitingSync · 2 members · waits for the leader c1 to assign
4,023 ms  broker-0 → c1  gen 2 · leader · 2 members
4,023 ms  broker-0 → c2  gen 2 · follower
4,024 ms  c1 → broker-0  SyncGroup · c1: 0, c2: 1
4,024 ms  c2 → broker-0  SyncGroup · empty
4,025 ms  broker-0 → c1  0
4,025 ms  broker-0       Stable · 2 members
4,025 ms  broker-0 → c2  1
4,026 ms  c1             is given · orders-0
4,026 ms  c1 → broker-0  OffsetFetch · orders-0"""


class Talk:
    """Records what c1 and broker-0 say to each other."""

    def __init__(self):
        self.trace = Trace("talk")

    def client(self, kind, time_ms, api="Heartbeat", number=0, **more):
        self.trace.record(
            kind, time_ms, "c1", api=api, peer="broker-0", correlation_id=number, **more
        )

    def broker(self, kind, time_ms, api="Heartbeat", number=0, **more):
        self.trace.record(
            kind, time_ms, "broker-0", api=api, peer="c1", correlation_id=number, **more
        )

    def beats(self, first, last):
        """Heartbeats that are answered, each of them two rows."""
        for number in range(first, last):
            self.client("send", number, number=number)
            self.broker("receive", number, number=number)
            self.broker("respond", number, number=number, error="NONE")
            self.client("response", number, number=number, error="NONE")


@pytest.fixture(scope="module")
def joins():
    """A second consumer joins."""
    return scenarios.second_member_joins()


@pytest.fixture(scope="module")
def rebalance(joins):
    """The part of it in which c2 joins, with its trace's window."""
    start = next(
        e.seq
        for e in joins
        if e.kind == "send" and e.node == "c2" and e.group_id and e.api == "JoinGroup"
    )
    window = range(start, start + 45)
    return window, diagram(joins, window)


def rows(drawn, kind="message"):
    """Give the rows of one kind."""
    return [row for row in drawn["rows"] if row["kind"] == kind]


def labels(drawn, kind="message"):
    """Give the label of each row of a kind."""
    return [row["label"] for row in rows(drawn, kind)]


def test_a_rebalance_reads_from_top_to_bottom(rebalance):
    """Each message is a row of few words; members go by their nodes; it says who waits for whom."""
    assert as_text(rebalance[1], Say()) == REBALANCE


def test_lanes_have_the_broker_amid(rebalance, joins):
    """Clients stand around the brokers; who prepares things is outermost, and only if it acts."""
    drawn = rebalance[1]
    assert (drawn["lanes"], drawn["brokers"]) == (["c1", "broker-0", "c2"], ["broker-0"])
    assert (drawn["others"], drawn["coordinator"]) == (0, "broker-0")
    assert diagram(joins)["lanes"] == ["admin", "p1", "c1", "broker-0", "c2"]


def test_both_events_of_a_message_have_its_row(rebalance, joins):
    """Where a message arrives, nothing new is drawn; what has no row keeps the drawing as it is."""
    window, drawn = rebalance
    places, kinds = drawn["places"], [event.kind for event in joins[window.start : window.stop]]
    assert places[:4] == [0, 0, 1, 2]
    assert {kinds[k] for k, row in enumerate(places) if row is None} == {
        "append",
        "offset_stored",
        "poll",
        "client_state",
    }
    for row in rows(drawn):
        if row["sent"] is not None and row["arrived"] is not None:
            assert places[row["sent"]] == places[row["arrived"]]
    assert reaches(drawn) == sorted(reaches(drawn))
    assert reaches(drawn)[-1] == len(drawn["rows"])


def test_bars_tell_how_members_are(rebalance):
    """c1 was Stable before the window, and is from its assignment on; c2 is on its way."""
    spans = [
        (span["lane"], span["state"], span["from_row"], span["to_row"])
        for span in rebalance[1]["spans"]
    ]
    assert spans == [
        (0, "stable", 0, 12),
        (2, "rebalancing", 0, 23),
        (0, "rebalancing", 12, 21),
        (0, "stable", 21, 23),
    ]


def test_a_late_arrival_has_a_row_of_its_own():
    """More than four rows and 20 ms later, the arrow goes down to where it arrives: it is slow."""
    for beats, arrived_ms in ((3, 500), (4, 20)):
        talk = Talk()
        talk.client("send", 0, "JoinGroup", 90)
        talk.beats(1, beats)
        talk.broker("receive", arrived_ms, "JoinGroup", 90)
        near = diagram(talk.trace)
        assert (rows(near)[0]["to_row"], near["places"][-1]) == (0, 0)
    late = Talk()
    late.client("send", 0, "JoinGroup", 90)
    late.beats(1, 4)
    late.broker("receive", 500, "JoinGroup", 90)
    drawn = diagram(late.trace)
    assert (rows(drawn)[0]["to_row"], drawn["places"][-1]) == (7, 7)
    assert drawn["rows"][7] == {"kind": "arrival", "time_ms": 500}


def test_what_is_lost_says_why():
    """A dropped message names the reason; one that never came is neither arrived nor dropped."""
    drawn = diagram(scenarios.consumer_dies())
    (lost,) = (row for row in rows(drawn) if row["dropped"] is not None)
    assert (lost["api"], lost["dropped"], lost["arrived"]) == ("ListOffsets", "c2 crashed", None)
    talk = Talk()
    talk.client("send", 0)
    assert (rows(diagram(talk.trace))[0]["arrived"], rows(diagram(talk.trace))[0]["dropped"]) == (
        None,
        None,
    )


def test_what_is_lost_late_is_noted_where_that_is_known():
    """The arrow stays where it left; the one who waited has a note of it."""
    talk = Talk()
    talk.client("send", 0, "OffsetCommit", 90)
    talk.beats(1, 4)
    lost = {"message": "request", "reason": "broker-0 crashed"}
    talk.broker("dropped", 500, "OffsetCommit", 90, detail=lost)
    drawn = diagram(talk.trace)
    assert (rows(drawn)[0]["dropped"], rows(drawn)[0]["to_row"]) == ("broker-0 crashed", 0)
    assert labels(drawn, "note") == [["OffsetCommit", ["lost"], ["{}", "broker-0 crashed"]]]
    assert drawn["places"][-1] == 7


def test_crash_and_freeze_are_bars():
    """A crash lasts until a restart, a freeze as long as it says; then the member is as before."""
    trace = Trace("faults")
    trace.record("client_state", 0, "c1", detail={"from": "REBALANCING", "to": "STABLE"})
    trace.record("poll", 1, "c1", detail={"timeout_ms": 5})
    trace.record("fault", 2, "c1", detail={"fault": "freeze", "for_ms": 10})
    trace.record("poll", 12, "c1", detail={"timeout_ms": 5})
    trace.record("fault", 20, "c1", detail={"fault": "crash"})
    trace.record("fault", 30, "c1", detail={"fault": "restart"})
    trace.record("poll", 31, "c1", detail={"timeout_ms": 5})
    spans = [(s["state"], s["from_row"], s["to_row"]) for s in diagram(trace)["spans"]]
    assert spans == [("stable", 0, 2), ("frozen", 2, 3), ("stable", 3, 4), ("crashed", 4, 5)]


def test_routine_is_known_by_what_it_brings(joins):
    """A heartbeat answered NONE and a fetch that brings nothing are; with news they are not."""
    drawn = diagram(joins)
    told = {(row["api"], row["answer"], str(row["label"]), row["routine"]) for row in rows(drawn)}
    assert ("Heartbeat", True, "['NONE']", True) in told
    assert ("Heartbeat", True, "['REBALANCE_IN_PROGRESS']", False) in told
    assert ("Fetch", True, "[['no records']]", True) in told
    assert ("Fetch", True, "[['{} records', 4]]", False) in told
    asked = {row["routine"] for row in rows(drawn) if row["api"] == "Heartbeat"}
    assert asked == {True, False}
    kinds = {joins[place].kind for place in routine(drawn)}
    assert kinds == {"send", "receive", "respond", "response", "poll"}
    assert len(routine(drawn)) < len(joins) / 2


def test_events_in_a_row_make_one_note():
    """Offsets that follow each other are one note; one that comes again begins another."""
    trace = Trace("processing")
    for offset in (0, 1, 2, 1):
        trace.record("processed", 5, "c1", topic="orders", partition=0, offset=offset)
    trace.record("processed", 5, "c1", topic="bills", partition=3, offset=7)
    assert labels(diagram(trace), "note") == [
        [["processed {}", "orders-0: 0–2"]],
        [["processed {}", "orders-0: 1, bills-3: 7"]],
    ]
    assert diagram(trace)["places"] == [0, 0, 0, 1, 1]


def test_a_commit_that_fails_is_loud():
    """Its note is red and names the error; the offsets topic's own records are not told."""
    trace = Trace("commit")
    trace.record("append", 1, "b", topic="__consumer_offsets", partition=9, offset=0)
    trace.record(
        "commit",
        2,
        "c1",
        topic="orders",
        partition=0,
        offset=3,
        error="ILLEGAL_GENERATION",
        detail={"mode": "sync"},
    )
    (note,) = diagram(trace)["rows"]
    assert note["tone"] == "bad"
    assert note["label"] == [
        ["the commit of {} fails", "orders-0: 3"],
        "ILLEGAL_GENERATION",
        ["sync"],
    ]


def test_two_groups_are_told_apart():
    """Where a trace has several groups, a state names its group."""
    trace = Trace("groups")
    for group in ("g", "h"):
        trace.record("group_state", 1, "b", group_id=group, detail={"to": "Stable"})
    assert labels(diagram(trace), "note") == [["g", "Stable"], ["h", "Stable"]]


def test_a_state_left_at_once_waited_for_nobody():
    """No one is said to be waited for if the next state comes in the same millisecond."""
    trace = Trace("groups")
    ids = {"members": ["a"], "waiting_join": ["a"]}
    trace.record("group_state", 1, "b", group_id="g", detail=ids | {"to": "PreparingRebalance"})
    assert diagram(trace)["rows"][0]["aside"] == [["waits for more members"]]
    trace.record("group_state", 1, "b", group_id="g", detail={"to": "AwaitingSync"})
    assert diagram(trace)["rows"][0]["aside"] == []


def test_at_most_ten_lanes():
    """More nodes share the last lane, which has no name, and it says how many they are."""
    trace = Trace("crowd")
    for number in range(14):
        trace.record("send", 1, f"c{number}", api="Heartbeat", peer="b", correlation_id=0)
    drawn = diagram(trace)
    assert (len(drawn["lanes"]), drawn["lanes"][-1], drawn["others"]) == (10, "", 6)
    assert "b" in drawn["lanes"]
    assert "6 others → b" in as_text(drawn, Say())


def test_consumers_have_lanes_before_many_brokers():
    """Of twelve brokers and three clients, it is brokers and who prepares things that share."""
    trace = Trace("cluster")
    for number in range(12):
        for node in ("admin", "c1", "c2", "p1"):
            peer = f"broker-{number}"
            trace.record("send", 1, node, api="Metadata", peer=peer, correlation_id=number)
    lanes = diagram(trace)["lanes"]
    assert {"c1", "c2", "p1"} < set(lanes)
    assert len([name for name in lanes if name.startswith("broker")]) >= 3


def test_fields_of_a_message(joins):
    """Both ends of a message have the same fields: columns first, nested ones by their path."""
    told = fields(joins)
    place = next(e.seq for e in joins if e.kind == "response" and e.api == "Fetch")
    assert told[place][:3] == [
        ("error", "NONE"),
        ("partitions.orders-0.error_code", "NONE"),
        ("partitions.orders-0.high_watermark", "2"),
    ]
    sent = next(e.seq for e in joins if e.kind == "send" and e.api == "Metadata")
    assert (
        told[sent]
        == told[sent + 1]
        == [
            ("topics", "orders"),
            ("allow_auto_topic_creation", "True"),
        ]
    )
    assert told[next(e.seq for e in joins if e.kind == "poll")] == []


def test_fields_are_bounded():
    """At most forty lines, and more are hinted at; a value of any length is cut."""
    trace = Trace("many")
    many = {"fields": {f"f{n}": "x" * 999 for n in range(60)}}
    trace.record("send", 1, "c1", api="Fetch", peer="b", detail=many)
    (told,) = fields(trace)
    assert len(told) == 41
    assert told[-1] == ("…", "")
    assert len(told[0][1]) == 200


def test_nothing_and_one_event():
    """An empty trace and one of one event have their diagrams."""
    empty = diagram(Trace("empty"))
    assert (empty["lanes"], empty["rows"], empty["places"]) == ([], [], [])
    assert as_text(empty, Say()) == "nothing"
    assert fields(Trace("empty")) == []
    one = Trace("one")
    one.record("response", 7, "c1", api="Heartbeat", peer="b", error="NONE")
    assert as_text(diagram(one), Say()) == "7 ms  b → c1  NONE"


def test_what_is_odd_is_left_out():
    """Columns that are missing and details of other types are passed over; names become text."""
    trace = Trace("odd")
    trace.record("send", 1, ODD)
    for api in ("JoinGroup", "SyncGroup", "OffsetCommit", "Fetch", "Produce", "Metadata", ODD):
        for held in (
            {"fields": 5},
            {"fields": {"partitions": [3], "protocols": {"a": 1}}},
            {"fields": {"offsets": {"a": 7}, "assignments": {"m": "{"}, "topics": [{}]}},
        ):
            trace.record("send", 2, "c1", api=api, peer="b", detail=held)
            trace.record("respond", 3, "b", api=api, peer="c1", error=ODD, detail=held)
    trace.record("assigned", 4, "c1", detail={"partitions": {"a": 3, "b": ["x", None, 2]}})
    trace.record("fault", 4, "c1", detail={"fault": ["crash"], "for_ms": "long"})
    trace.record("dropped", 4, "c1", detail={"reason": 5})
    trace.record("group_state", 4, "b", detail={"to": 5, "members": "all"})
    drawn = diagram(trace)
    assert json.loads(json.dumps(drawn)) == drawn
    assert "\u202e" not in as_text(drawn, Say("zh"))


@pytest.mark.parametrize("name", scenarios.names())
def test_every_scenario_has_its_diagram_in_both_languages(name):
    """Each message is one row, and all texts have their Chinese."""
    trace = scenarios.run(name)
    drawn = diagram(trace)
    left = [event for event in trace if event.kind in ("send", "respond")]
    assert len(rows(drawn)) == len(left)
    assert as_text(drawn, Say("zh")).count("\n") == as_text(drawn, Say()).count("\n")
