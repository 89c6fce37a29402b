"""A trace as a table: pandas and Parquet, both by way of one Arrow schema, and back.

Text is object in pandas and int64 that may be absent is Int64. The run_id also stands beside the
table, so that a trace without events keeps its name.
"""

import os
from collections.abc import Iterable, Sequence
from typing import Any

from kafkalearn.trace.event import (
    COLUMNS,
    NUMBERS,
    REQUIRED,
    TEXTS,
    DamagedTraceError,
    TraceError,
    json_object,
)
from kafkalearn.trace.jsonl import written_beside
from kafkalearn.trace.rows import Rows, refuse_columns


def to_arrow(run_id: str, columns: Iterable[Sequence[Any]]) -> Any:
    """Give a pyarrow Table; `columns` are the values of each of COLUMNS, detail as text.

    TraceError names a column that holds what it may not.
    """
    import pyarrow

    arrays = []
    for (name, type_), values in zip(COLUMNS.items(), columns, strict=True):
        try:
            arrays.append(pyarrow.array(values, _arrow_type(type_)))
        except (ValueError, TypeError, OverflowError) as error:
            raise TraceError(f"{name} cannot be a column of a table: {error}") from None
    table = pyarrow.Table.from_arrays(arrays, list(COLUMNS))
    return table.replace_schema_metadata({"run_id": run_id})


def to_pandas(run_id: str, columns: Iterable[Sequence[Any]]) -> Any:
    """Give a DataFrame; its ``attrs`` hold the run_id too."""
    import pandas
    import pyarrow

    nullable = {pyarrow.int64(): pandas.Int64Dtype()}
    frame = to_arrow(run_id, columns).to_pandas(types_mapper=nullable.get)
    for name in ("seq", "time_ms"):  # these never lack
        frame[name] = frame[name].astype("int64")
    frame.attrs["run_id"] = run_id
    return frame


def write_parquet(
    path: str | os.PathLike[str], run_id: str, *, columns: Iterable[Sequence[Any]]
) -> None:
    """Write one Parquet file."""
    import pyarrow.parquet

    table = to_arrow(run_id, columns)
    with written_beside(path) as beside:
        pyarrow.parquet.write_table(table, beside, write_page_checksum=True)


def from_pandas(frame: Any) -> Rows:
    """Read a DataFrame back; DamagedTraceError names what is wrong with it."""
    import pyarrow

    refuse_columns(list(frame.columns))
    try:
        table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    except (ValueError, TypeError) as error:
        raise DamagedTraceError(f"the table holds what no column of a trace can: {error}") from None
    return from_arrow(table, run_id=frame.attrs.get("run_id"))


def read_parquet(path: str | os.PathLike[str]) -> Rows:
    """Read a Parquet file, or a folder of them; DamagedTraceError if it is no trace."""
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(path, page_checksum_verification=True)
    except FileNotFoundError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise DamagedTraceError(f"{os.fspath(path)} is no whole Parquet file: {error}") from None
    run_id = (table.schema.metadata or {}).get(b"run_id")
    return from_arrow(table, run_id=None if run_id is None else run_id.decode())


def from_arrow(table: Any, *, run_id: str | None) -> Rows:
    """Check a table row by row. `run_id` names the run if there is none."""
    refuse_columns(table.column_names)
    for name in REQUIRED:
        if name not in table.column_names:
            raise DamagedTraceError(f"column {name} is missing")
        if table.column(name).null_count:
            raise DamagedTraceError(f"column {name} has gaps: each event has a value there")
    columns = {name: _values(table, name, type_) for name, type_ in COLUMNS.items()}
    numbers = zip(*[columns[name] for name in NUMBERS], strict=True)
    texts = zip(*[columns[name] for name in TEXTS], strict=True)
    rows = Rows()
    for place, (detail, *row) in enumerate(zip(columns["detail"], numbers, texts, strict=True)):
        try:
            if detail is not None:
                json_object(detail)
            rows.add(row[0], rows.known(row[1]), detail=detail)
        except TraceError as error:
            raise DamagedTraceError(f"row {place}: {error}") from None
    if not rows.rows:
        if run_id is None:
            raise DamagedTraceError("the table holds no event, and nothing names its run")
        rows.name(run_id)
    return rows


def _values(table: Any, name: str, type_: type) -> list[Any]:
    """Give one column as plain values, absent ones as None; equal text is one object."""
    import pyarrow

    if name not in table.column_names:
        return [None] * len(table)
    column = table.column(name)
    kind = column.type
    if pyarrow.types.is_dictionary(kind):
        kind = kind.value_type
    is_number = pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind)
    is_text = pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)
    if not (pyarrow.types.is_null(kind) or (is_number if type_ is int else is_text)):
        raise DamagedTraceError(f"column {name} holds {kind}: {_arrow_type(type_)} is allowed")
    try:
        column = column.cast(_arrow_type(type_))
    except pyarrow.ArrowInvalid as error:
        raise DamagedTraceError(f"column {name} must be {_arrow_type(type_)}: {error}") from None
    # Numbers with gaps would become floats, and a long offset would lose its last digits.
    values: list[Any] = column.to_pandas(integer_object_nulls=True).tolist()
    return values


def _arrow_type(type_: type) -> Any:
    import pyarrow

    return pyarrow.int64() if type_ is int else pyarrow.string()
