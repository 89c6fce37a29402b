"""JSON Lines: there and back without loss, and what is said of a damaged file."""

import io
import json
import os

import pytest
from hypothesis import given

from kafkalearn.trace import COLUMNS, DamagedTraceError, Trace, TraceError
from tests.trace.traces import LONG, story, traces

JOINED = '{"seq":0,"time_ms":5,"run_id":"r","node":"c1","kind":"poll"}'


def written(trace: Trace) -> str:
    """Give the file as text."""
    file = io.StringIO()
    trace.to_jsonl(file)
    return file.getvalue()


@given(traces())
def test_a_trace_comes_back_as_it_was(trace):
    """Absent and empty, any Unicode, numbers up to 2**63 - 1, a trace without events."""
    assert Trace.from_jsonl(io.StringIO(written(trace))) == trace


@given(traces())
def test_any_layout_of_the_same_objects_is_the_same_trace(trace):
    """Columns in another order, spaces, nulls and escapes make no difference."""
    if not len(trace):
        return
    lines = []
    for event in trace:
        lines.append(json.dumps({name: getattr(event, name) for name in reversed(COLUMNS)}))
    read = Trace.from_jsonl(io.StringIO("\r\n".join(lines)))
    assert list(read) == list(trace)
    assert read == trace


def test_a_line_is_an_object_with_the_columns_that_are_there():
    """Numbers, then text, then the detail as an object; what is absent is left out."""
    trace = story()
    assert written(trace[:1]) == (
        '{"seq":0,"time_ms":0,"correlation_id":4,"run_id":"joins profile=1.0 seed=0",'
        '"node":"c1","kind":"send","api":"JoinGroup","peer":"broker-0","group_id":"billing",'
        '"detail":{"fields":{"member_id":""}}}\n'
    )
    lines = written(trace).splitlines()
    for line, event in zip(lines, trace, strict=True):
        assert json.loads(line) == {k: v for k, v in event._asdict().items() if v is not None}


def test_a_path_a_text_file_and_bytes_are_the_same(tmp_path):
    """What a path holds can be read from it, from an open file, and from one of bytes."""
    path = tmp_path / "消费.jsonl"
    story().to_jsonl(path)
    assert Trace.from_jsonl(path) == Trace.from_jsonl(str(path)) == story()
    with path.open(encoding="utf-8") as as_text, path.open("rb") as as_bytes:
        assert Trace.from_jsonl(as_text) == Trace.from_jsonl(as_bytes) == story()
    assert path.read_text(encoding="utf-8") == written(story())


def test_a_selection_keeps_its_places():
    """Places with gaps come back; the trace that was read is finished."""
    commits = story().where(node="c1")
    read = Trace.from_jsonl(io.StringIO(written(commits)))
    assert read == commits
    assert [event.seq for event in read] == [0, 4, 5, 6]
    with pytest.raises(TraceError, match="nothing is recorded in it any more"):
        read.record("poll", 0, "c1")


def test_sinks_without_an_effect_are_kept():
    """What no event tells stands in a line before them; effects tell of themselves."""
    trace = Trace("run")
    trace.sinks = ("orders-db",)
    trace.record("poll", 1, "c1")
    text = written(trace)
    assert text.splitlines()[0] == '{"run_id":"run","sinks":["orders-db"]}'
    read = Trace.from_jsonl(io.StringIO(text))
    assert (read, read.sinks, read[:0].sinks) == (trace, ("orders-db",), ("orders-db",))
    trace.record("processed", 2, "c1", topic="t", partition=0, offset=0)
    assert "sinks" not in written(trace)
    with pytest.raises(DamagedTraceError, match="'sinks' is no column"):
        Trace.from_jsonl(io.StringIO('{"run_id":"run","sinks":[1]}'))


def test_a_trace_without_events_keeps_its_name():
    """Its file has one line, with the run_id alone."""
    assert written(Trace("empty")) == '{"run_id":"empty"}\n'
    assert Trace.from_jsonl(io.StringIO('{"run_id":"empty"}\n')).run_id == "empty"


DAMAGE = {
    "cut off": (JOINED[:30], "no JSON from column 31 on: Expecting value"),
    "cut by one": (JOINED[:-1], "no JSON from column 60 on: Expecting ',' delimiter"),
    "another end": (JOINED[:-1] + "]", "no JSON from column 60 on: Expecting ',' delimiter"),
    "a number": ("7", "'7' is not one JSON object"),
    "two on a line": (JOINED * 2, "is not one JSON object"),
    "no JSON": ("PAGE 1", "no JSON from column 1 on: Expecting value"),
    "bytes": (b'{"seq":1,"node":"\xff"}', "can't decode byte 0xff"),
    "an unknown column": (JOINED[:-1] + ',"ofset":3}', "'ofset' is no column of a trace: run_id"),
    "a missing column": (JOINED.replace(',"node":"c1"', ""), "node is None: text is allowed"),
    "no time": (JOINED.replace(',"time_ms":5', ""), "time_ms is None: a whole number is allowed"),
    "a zero too many": (JOINED.replace(":5", ":05"), "no JSON from column 21 on: Expecting ','"),
    "text for a number": (
        JOINED.replace(":5", ':"5"'),
        "time_ms is '5': a whole number is allowed",
    ),
    "a fraction": (JOINED.replace(":5", ":5.0"), "time_ms is 5.0: a whole number is allowed"),
    "a truth": (JOINED.replace(":5", ":true"), "time_ms is True: a whole number is allowed"),
    "a number for text": (
        JOINED[:-1] + ',"topic":1}',
        "topic is 1: text or nothing is allowed",
    ),
    "an unknown kind": (JOINED.replace("poll", "pol"), "'pol' is no kind of event: send, receive"),
    "a detail that is a list": (JOINED[:-1] + ',"detail":[1]}', "detail is [1]: a dict is allowed"),
    "a broken detail": (JOINED[:-1] + ',"detail":{"a":}}', "on: Expecting value"),
    "no number": (JOINED[:-1] + ',"detail":{"a":NaN}}', "no JSON: NaN is no number there"),
    "another run": (
        JOINED.replace('"r"', '"s"'),
        "run_id is 's' after 'r': a trace is one run, so select one first",
    ),
    "a place again": (JOINED, "seq is 0 after 0: it starts at 0 and only rises"),
    "a negative place": (JOINED.replace(":0", ":-1"), "seq is -1 after 0"),
    "too deep": (JOINED[:-1] + ',"detail":' + "[" * 100_000, "nested too deeply"),
}


@pytest.mark.parametrize(("line", "why"), DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_line_is_named(line, why):
    """The message says which line is wrong and why; the line before it has the same layout."""
    file = _file(JOINED, b"", line)
    with pytest.raises(DamagedTraceError) as damaged:
        Trace.from_jsonl(file)
    assert str(damaged.value).startswith("line 3: ")
    assert why in str(damaged.value)


@pytest.mark.parametrize(("line", "why"), DAMAGE.values(), ids=DAMAGE.keys())
def test_the_rest_is_kept_on_request(line, why):
    """What comes before and after a damaged line is there, and the line is told of."""
    last = JOINED.replace('"seq":0', '"seq":7')
    trace = Trace.from_jsonl(_file(JOINED, line, last), damaged="skip")
    assert [event.seq for event in trace] == [0, 7]
    assert [each.line for each in trace.left_out] == [2]
    assert why in trace.left_out[0].why
    assert str(trace.left_out[0]).startswith("line 2: ")
    assert repr(trace) == "Trace('r', 2 events, 5 to 5 ms, 1 damaged lines left out)"


def _file(*lines: str | bytes) -> io.BytesIO:
    as_bytes = [line if isinstance(line, bytes) else line.encode() for line in lines]
    return io.BytesIO(b"\n".join(as_bytes) + b"\n")


def test_a_detail_does_not_hide_columns():
    """A detail may hold what looks like the end or the beginning of a line."""
    trace = Trace("r")
    for name in ("a", "a", "b"):
        detail = {"run_id": "x", "detail": {"detail": 1, "run_id": "y"}, "t": ',"detail":{}}'}
        trace.record("fault", 1, f'{name},"run_id":"z"', detail=detail)
    assert Trace.from_jsonl(io.StringIO(written(trace))) == trace


def test_numbers_behind_the_text_are_not_lost():
    """Only what `write` lays out is looked up: these lines have the same end, with a number."""
    end = '"run_id":"r","node":"b","kind":"append","offset":7}'
    lines = [f'{{"seq":{seq},"time_ms":{seq * 5},{end}' for seq in range(3)]
    trace = Trace.from_jsonl(io.StringIO("\n".join(lines)))
    assert [(event.time_ms, event.offset) for event in trace] == [(0, 7), (5, 7), (10, 7)]


def test_a_column_that_comes_later_is_checked_too():
    """The same text with another number in front is another layout."""
    ofset = JOINED.replace('"seq":0', '"seq":1,"ofset":3')
    with pytest.raises(DamagedTraceError, match="line 2: 'ofset' is no column"):
        Trace.from_jsonl(_file(JOINED, ofset))


@pytest.mark.parametrize("content", ["", "\n\n", "PAGE 1\nPAGE 2\n"])
def test_a_file_without_any_event_is_no_trace(content):
    """Nothing can be kept of it, so that skipping is no help."""
    with pytest.raises(DamagedTraceError, match="no line holds an event"):
        Trace.from_jsonl(io.StringIO(content), damaged="skip")


def test_only_two_ways_to_take_damage():
    """A misspelt wish is refused."""
    with pytest.raises(TraceError, match="damaged is 'ignore': 'refuse' or 'skip' is allowed"):
        Trace.from_jsonl(io.StringIO(JOINED), damaged="ignore")


def test_a_file_that_is_not_there_stays_that_error(tmp_path):
    """It is not damaged."""
    with pytest.raises(FileNotFoundError):
        Trace.from_jsonl(tmp_path / "none.jsonl")


NOT_WRITTEN = {
    "a surrogate": ({"node": "c\ud800"}, "UTF-8 cannot hold"),
    "an object": ({"node": "c1", "topic": ["orders"]}, "topic is ['orders']: text or nothing is"),
    "a number as text": ({"node": "c1", "offset": "7"}, "offset is '7': a whole number or nothing"),
    "text as a number": ({"node": "c1", "error": 7}, "error is 7: text or nothing is allowed"),
}


@pytest.mark.parametrize(("columns", "why"), NOT_WRITTEN.values(), ids=NOT_WRITTEN.keys())
def test_a_file_is_never_half_written(tmp_path, columns, why):
    """When an event cannot be written, the file is what it was, and nothing lies beside it."""
    path = tmp_path / "run.jsonl"
    story().to_jsonl(path)
    trace = Trace("run")
    trace.record("poll", 0, "c1")
    trace.record("poll", 1, **columns)
    with pytest.raises(TraceError) as refused:
        trace.to_jsonl(path)
    assert why in str(refused.value)
    assert Trace.from_jsonl(path) == story()
    assert os.listdir(tmp_path) == ["run.jsonl"]


def test_the_longest_number_comes_back():
    """A JSON reader that takes numbers for floats would lose its last digits."""
    trace = Trace("run")
    trace.record("append", LONG - 1, "b", offset=LONG - 1, detail={"timestamp_ms": LONG - 1})
    assert Trace.from_jsonl(io.StringIO(written(trace)))[0] == trace[0]
