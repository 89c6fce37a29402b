"""pandas and Parquet: there and back without loss, and what is said of a wrong table."""

import os

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from kafkalearn.trace import COLUMNS, DamagedTraceError, Trace, TraceError
from tests.trace.traces import LONG, story, traces


@given(traces())
def test_a_frame_holds_the_whole_trace(trace):
    """Absent and empty, any Unicode, numbers up to 2**63 - 1, a trace without events."""
    assert Trace.from_pandas(trace.to_pandas()) == trace


@given(trace=traces())
def test_parquet_holds_the_whole_trace(tmp_path_factory, trace):
    """As a frame does, and in a file."""
    path = tmp_path_factory.mktemp("run") / "run.parquet"
    trace.to_parquet(path)
    assert Trace.from_parquet(path) == trace


NUMBERS = {name for name, type_ in COLUMNS.items() if type_ is int}


@pytest.mark.parametrize("trace", [story(), Trace("empty")], ids=["a story", "empty"])
def test_a_frame_has_the_columns_and_their_types(trace):
    """Numbers that may be absent are Int64, so that none of them becomes a float."""
    frame = trace.to_pandas()
    assert list(frame) == list(COLUMNS)
    wanted = {name: "Int64" if name in NUMBERS else "object" for name in COLUMNS}
    wanted |= {"seq": "int64", "time_ms": "int64"}
    assert frame.dtypes.astype(str).to_dict() == wanted


def test_a_frame_holds_plain_values():
    """Text is str, what is absent is None or NA, and a detail is its text."""
    first = story().to_pandas().iloc[0]
    assert first["detail"] == '{"fields":{"member_id":""}}'
    assert first["topic"] is None
    assert first["offset"] is pd.NA
    assert first["correlation_id"] == 4


@pytest.mark.parametrize("trace", [story(), Trace("empty")], ids=["a story", "empty"])
def test_parquet_has_text_and_int64(tmp_path, trace):
    """Every reader of Parquet finds the table that the design names."""
    trace.to_parquet(tmp_path / "run.parquet")
    schema = pq.read_schema(tmp_path / "run.parquet")
    assert {field.name: str(field.type) for field in schema} == {
        name: "int64" if name in NUMBERS else "string" for name in COLUMNS
    }
    assert schema.names == list(COLUMNS)


def test_a_frame_that_was_worked_on_is_still_a_trace():
    """Selected rows, categories, floats that pandas made of numbers with gaps, fewer columns."""
    frame = story().to_pandas()
    assert Trace.from_pandas(frame[frame.node == "c1"]) == story().where(node="c1")
    assert Trace.from_pandas(frame.astype({"kind": "category"})) == story()
    assert Trace.from_pandas(frame.astype({"offset": "float64", "partition": "float64"})) == story()
    assert Trace.from_pandas(frame.astype({"topic": "string"})) == story()
    assert Trace.from_pandas(frame.drop(columns=["topic"]))[6].topic is None
    assert Trace.from_pandas(frame[list(reversed(COLUMNS))]) == story()
    assert Trace.from_pandas(frame[:0]) == Trace(story().run_id)


def test_a_folder_of_parts_is_one_trace(tmp_path):
    """Spark writes folders; the parts are read in the order of their names."""
    story()[:3].to_parquet(tmp_path / "part-0.parquet")
    story()[3:].to_parquet(tmp_path / "part-1.parquet")
    assert Trace.from_parquet(tmp_path) == story()


def _with(**columns):
    return story().to_pandas().assign(**columns)


WRONG = {
    "no such column": (_with(ofset=1), "'ofset' is no column of a trace: run_id, seq"),
    "a column is missing": (story().to_pandas().drop(columns="node"), "column node is missing"),
    "gaps": (_with(node=None), "column node has gaps: each event has a value there"),
    "text for numbers": (_with(offset="7"), "column offset holds string: int64 is allowed"),
    "truths for numbers": (_with(offset=True), "column offset holds bool: int64 is allowed"),
    "numbers for text": (_with(topic=1), "column topic holds int64: string is allowed"),
    "fractions": (_with(offset=1.5), "column offset must be int64: Float value 1.5"),
    "a mixture": (_with(offset=[1, "a", *[None] * 5]), "offset"),
    "objects": (_with(topic=[object()] * 7), "topic"),
    "an unknown kind": (_with(kind="sned"), "row 0: 'sned' is no kind of event: send"),
    "no JSON": (_with(detail="{"), "row 0: no JSON from column 2 on: Expecting"),
    "no JSON object": (_with(detail="[1]"), "row 0: '[1]' is not one JSON object"),
    "two runs": (
        _with(run_id=["a", "a", *"bbbbb"]),
        "row 2: run_id is 'b' after 'a': a trace is one run, so select one first",
    ),
    "another order": (
        story().to_pandas().sort_values("seq", ascending=False),
        "row 1: seq is 5 after 6: it starts at 0 and only rises",
    ),
    "nameless": (pd.DataFrame(columns=list(COLUMNS)), "no event, and nothing names its run"),
}


@pytest.mark.parametrize(("frame", "sentence"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_frame_is_refused(frame, sentence):
    """The message names the column, and the row where it is one."""
    with pytest.raises(DamagedTraceError) as damaged:
        Trace.from_pandas(frame)
    assert sentence in str(damaged.value)


def test_a_wrong_parquet_file_is_refused(tmp_path):
    """Cut off, no Parquet at all, or another table."""
    path = tmp_path / "run.parquet"
    story().to_parquet(path)
    whole = path.read_bytes()
    for content in (whole[:-20], b"PAGE 1", b""):
        path.write_bytes(content)
        with pytest.raises(DamagedTraceError, match=r"run.parquet is no whole Parquet file"):
            Trace.from_parquet(path)
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(DamagedTraceError, match="'a' is no column of a trace"):
        Trace.from_parquet(path)
    with pytest.raises(FileNotFoundError):
        Trace.from_parquet(tmp_path / "none.parquet")


NOT_WRITTEN = {
    "too long": ({"offset": LONG}, "offset cannot be a column of a table"),
    "text": ({"offset": "7"}, "offset cannot be a column of a table"),
    "a list": ({"topic": ["orders"]}, "topic cannot be a column of a table"),
    "a surrogate": ({"topic": "\ud800"}, "topic cannot be a column of a table"),
}


@pytest.mark.parametrize(("columns", "sentence"), NOT_WRITTEN.values(), ids=NOT_WRITTEN.keys())
def test_what_no_table_can_hold_is_named(tmp_path, columns, sentence):
    """The column is named, and a file that was there stays as it was."""
    path = tmp_path / "run.parquet"
    story().to_parquet(path)
    trace = Trace("run")
    trace.record("append", 0, "b", **columns)
    for write in (trace.to_pandas, lambda: trace.to_parquet(path)):
        with pytest.raises(TraceError, match=sentence):
            write()
    assert Trace.from_parquet(path) == story()
    assert os.listdir(tmp_path) == ["run.parquet"]
