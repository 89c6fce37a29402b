"""Recording, reading and selecting events, and how a trace is printed."""

import gc
import pickle

import pytest

from kafkalearn.trace import COLUMNS, REQUIRED, Event, Trace, TraceError, detail_text
from tests.trace.traces import story


def test_events_come_back_in_their_order_with_run_and_place():
    """What is recorded is read as events, whose run_id and seq the trace adds."""
    trace = Trace("run")
    trace.record("append", 5, "broker-0", topic="orders", partition=1, offset=9)
    trace.record("processed", 6, "c1", detail={"sink": "db"})
    first = Event("run", 0, 5, "broker-0", "append", topic="orders", partition=1, offset=9)
    second = Event("run", 1, 6, "c1", "processed", detail={"sink": "db"})
    assert list(trace) == [first, second]
    assert [trace[0], trace[-1]] == [first, second]
    assert len(trace) == 2


def test_every_column_is_kept_in_its_place():
    """No two columns are mixed up: each comes back with the value that it was given."""
    given = {name: at if type_ is int else name for at, (name, type_) in enumerate(COLUMNS.items())}
    given |= {"kind": "fault", "seq": 0, "detail": {"sink": 1}}
    columns = {k: v for k, v in given.items() if k not in ("run_id", "seq")}
    trace = Trace("run_id")
    trace.record(columns.pop("kind"), columns.pop("time_ms"), columns.pop("node"), **columns)
    assert trace[0]._asdict() == given


@pytest.mark.parametrize(("nodes", "kept"), [(None, ["c1", "c2"]), (["c2"], ["c2"])])
def test_a_row_is_added_as_it_is_kept(nodes, kept):
    """It becomes the same event as one that was recorded; other nodes' are forgotten."""
    trace, recorded = Trace("run", nodes=nodes), Trace("run", nodes=nodes)
    for node in ("c1", "c2"):
        trace.add((6, node, "processed", *[None] * 10, '{"sink":"db"}'))
        recorded.record("processed", 6, node, detail={"sink": "db"})
    assert trace == recorded
    assert [event.node for event in trace] == kept


def test_an_event_cannot_be_changed():
    """Events are frozen and slotted; a detail that is changed changes no trace."""
    trace = story()
    with pytest.raises(AttributeError):
        trace[0].offset = 5
    assert not hasattr(trace[0], "__dict__")
    trace[0].detail["fields"] = "changed"
    assert trace[0].detail == {"fields": {"member_id": ""}}


def test_a_detail_may_be_given_as_its_text():
    """Who records the same detail often hands in the text, and gets the same row."""
    detail = {"reason": "新成员", "members": ["c1"]}
    text = detail_text(detail)
    assert text == '{"reason":"新成员","members":["c1"]}'
    as_dict, as_text = Trace("run"), Trace("run")
    as_dict.record("group_state", 0, "b", detail=detail)
    as_text.record("group_state", 0, "b", detail=text)
    assert as_dict == as_text


def test_the_garbage_collector_stops_looking_at_rows():
    """Rows hold scalars only: after a collection none is tracked, so long runs stay fast."""
    trace = story()
    gc.collect()
    assert not any(map(gc.is_tracked, trace._rows))
    assert gc.is_tracked((1, {}))


@pytest.mark.parametrize(
    ("detail", "sentence"),
    [
        ({"a": {1, 2}}, "detail is {'a': {1, 2}}: only JSON is allowed"),
        ({"a": float("nan")}, "detail is {'a': nan}: only JSON is allowed"),
        ([1], "detail is [1]: a dict is allowed"),
        ({"a": b"x"}, "detail is {'a': b'x'}: only JSON is allowed"),
    ],
)
def test_a_detail_that_is_no_json_is_refused(detail, sentence):
    """The message shows the value; nothing is recorded."""
    trace = Trace("run")
    with pytest.raises(TraceError) as refused:
        trace.record("fault", 0, "c1", detail=detail)
    assert sentence in str(refused.value)
    assert len(trace) == 0


def test_an_unknown_kind_is_refused():
    """The kinds are closed: the message names the wrong one and all that are allowed."""
    trace = Trace("run")
    with pytest.raises(TraceError, match=r"'sned' is no kind of event: send, .* fault are"):
        trace.record("sned", 0, "c1")
    with pytest.raises(TraceError, match="'sned' is no kind"):
        Trace("run", kinds=["send", "sned"])


def test_recording_can_be_reduced():
    """Kinds and nodes that are not asked for leave no row; seq counts what is recorded."""
    trace = Trace("run", kinds={"commit", "append"}, nodes=["c1"])
    for kind, node in [("send", "c1"), ("commit", "c2"), ("commit", "c1"), ("append", "c1")]:
        trace.record(kind, 0, node)
    assert [(event.seq, event.kind, event.node) for event in trace] == [
        (0, "commit", "c1"),
        (1, "append", "c1"),
    ]
    with pytest.raises(TraceError, match="'sned' is no kind"):
        trace.record("sned", 0, "c2")


def test_where_selects_by_any_column():
    """A value, a collection of which one must hold, None for absent; places stay."""
    trace = story()
    assert [event.seq for event in trace.where(kind="send")] == [0]
    assert [event.seq for event in trace.where(node=["c1"], kind={"send", "response"})] == [0, 4]
    assert [event.seq for event in trace.where(error=None, node="c1")] == [0, 4, 5]
    assert [event.seq for event in trace.where(generation=range(1, 3), api=None)] == [5]
    assert [event.seq for event in trace.where(generation=[None, 0], node="broker-0")] == [1, 2]
    assert [event.seq for event in trace.where(seq=(2, 6))] == [2, 6]
    assert [event.seq for event in trace.where(detail={"mode": "sync"})] == [6]
    assert len(trace.where(run_id=trace.run_id)) == len(trace.where()) == len(trace)
    assert len(trace.where(run_id="another")) == len(trace.where(node=())) == 0


def test_a_detail_is_found_whatever_the_order_of_its_keys():
    """The keys of a dict have no order that could matter."""
    trace = Trace("run")
    trace.record("fault", 0, "c1", detail={"fault": "freeze", "for_ms": 5})
    assert len(trace.where(detail={"for_ms": 5, "fault": "freeze"})) == 1


def test_a_selection_is_a_trace():
    """It can be selected from again, and keeps the places that events have in the run."""
    selected = story().where(node="broker-0")
    assert [event.seq for event in selected.where(kind=["respond"])] == [3]
    assert selected.where(kind="respond")[0] == story()[3]
    assert [event.seq for event in selected[1:]] == [2, 3]
    assert story().where(kind="send").where(node="c1") == story()[:1]


def test_where_takes_the_integers_of_numpy():
    """Values that come out of a table select like Python's own."""
    numpy = pytest.importorskip("numpy")
    assert [event.seq for event in story().where(partition=numpy.array([2]))] == [6]


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ({"ofset": 3}, "'ofset' is no column of a trace: run_id, seq, time_ms, node, kind, api"),
        ({"kind": "sned"}, "'sned' is no kind of event: send, receive"),
        ({"partition": "0"}, "partition is '0': a whole number or nothing is allowed"),
        ({"partition": True}, "partition is True: a whole number or nothing is allowed"),
        ({"node": [None]}, "node is None: text is allowed"),
        ({"topic": ["orders", 7]}, "topic is 7: text or nothing is allowed"),
        ({"detail": "{}"}, "detail is '{}': a dict or nothing is allowed"),
    ],
)
def test_where_refuses_what_can_never_hold(wanted, sentence):
    """A misspelt name or a value of another type is an error, not an empty answer."""
    with pytest.raises(TraceError) as refused:
        story().where(**wanted)
    assert sentence in str(refused.value)


def test_nothing_is_recorded_in_a_finished_trace():
    """A selection is no run: what happens now belongs to the trace that it came from."""
    with pytest.raises(TraceError, match="selected or read: nothing is recorded in it any more"):
        story().where(kind="send").record("send", 0, "c1")


def test_traces_are_equal_when_runs_and_events_are():
    """Another run_id, one event more, another place: each makes a difference."""
    assert story() == story()
    assert story()[:3] != story()[1:4]
    assert Trace("a") != Trace("b")
    longer = story()
    longer.record("poll", 4000, "c1")
    assert longer != story()
    assert longer[:-1] == story()
    assert story() != "a trace"
    same_event = Trace(story().run_id)
    same_event.record("commit", 3100, "c1", **_columns(story()[6]))
    assert same_event != story()[6:]


def _columns(event: Event) -> dict:
    return {name: getattr(event, name) for name in COLUMNS if name not in REQUIRED}


def test_a_trace_can_be_sent_to_another_process():
    """Pickled and back, it is the same trace, and recording goes on."""
    there = pickle.loads(pickle.dumps(story()))
    assert there == story()
    there.record("poll", 4000, "c1")
    assert (there[-1].seq, there[-1].kind) == (7, "poll")


STORY = """\
   0 ms  c1        send         asks broker-0 to let it join group billing (JoinGroup, correlation 4)
   1 ms  broker-0  receive      is asked by c1 to let it join group billing (JoinGroup, correlation 4)
   1 ms  broker-0  group_state  moves group billing from Empty to PreparingRebalance, generation 0: c1 is new
3001 ms  broker-0  respond      answers c1, which asked to let it join group billing (JoinGroup, correlation 4)
3002 ms  c1        response     hears from broker-0, which it asked to let it join group billing (JoinGroup, correlation 4)
3002 ms  c1        assigned     is given orders-0, orders-2 in group billing, generation 1
3100 ms  c1        commit       commits offset 7 of orders-2 (sync), which fails: ILLEGAL_GENERATION"""  # noqa: E501


def test_a_trace_prints_one_aligned_line_an_event():
    """Time, node, kind and sentence stand below each other."""
    assert str(story()) == STORY


def test_lines_stay_aligned_whatever_names_hold():
    """A Chinese character takes two columns and an accent none; a line feed breaks no line."""
    trace = Trace("run")
    trace.record("poll", 7, "消费者")
    trace.record("poll", 8, "e\u0301")
    trace.record("poll", 12345, "c\n1", detail={"timeout_ms": 100})
    assert str(trace).splitlines() == [
        "    7 ms  消费者  poll  polls",
        "    8 ms  e\u0301       poll  polls",
        "12345 ms  c\\n1    poll  polls, waiting up to 100 ms",
    ]


def test_a_trace_prints_in_chinese_too():
    """`text` takes the language; a trace without events says so."""
    assert story().where(kind="send").text("zh") == (
        "0 ms  c1  send  向 broker-0 发送请求：加入消费组 billing（JoinGroup，correlation 4）"
    )
    assert str(Trace("run")) == "no events"


def test_the_repr_is_short_however_long_the_run():
    """Notebooks and failing tests show it."""
    assert repr(story()) == "Trace('joins profile=1.0 seed=0', 7 events, 0 to 3100 ms)"
    trace = Trace("x" * 500)
    for at in range(1000):
        trace.record("poll", at, "c1")
    assert len(repr(trace)) < 110
    assert repr(Trace("run")) == "Trace('run', 0 events)"
    assert repr(story()[5]) == (
        "Event(run_id='joins profile=1.0 seed=0', seq=5, time_ms=3002, node='c1', "
        "kind='assigned', group_id='billing', generation=1, "
        "detail={'partitions': {'orders': [0, 2]}})"
    )
