"""One event: its columns, their types, and the text that its detail is kept as."""

import json
from typing import Any, NamedTuple

from kafkalearn.errors import KafkaError
from kafkalearn.trace.text import short


class TraceError(KafkaError, ValueError):
    """Something that a trace cannot hold or answer; the message says what is allowed."""


class DamagedTraceError(TraceError):
    """A file or table that is no trace; the message says where and why."""


class Event(NamedTuple):
    """What happened. A column that does not apply is None.

    run_id: scenario, profile, seed, settings and faults of the run.
    seq: its place among the recorded events of the run, from 0.
    time_ms: virtual milliseconds; in an imported log, those since 1970.
    node: who acted, as in ``c1`` or ``broker-0``.
    kind: what happened; `kind.KINDS` tells which columns and which detail each kind carries.
    api, peer, correlation_id: of a message: which request, with whom, which pair.
    error: Kafka's name of an error.
    detail: what else this kind carries; a fresh dict each time that the event is read.
    """

    run_id: str
    seq: int
    time_ms: int
    node: str
    kind: str
    api: str | None = None
    peer: str | None = None
    correlation_id: int | None = None
    group_id: str | None = None
    member_id: str | None = None
    generation: int | None = None
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    error: str | None = None
    detail: dict[str, Any] | None = None

    @property
    def failure(self) -> str | None:
        """Its error; NONE, as an imported log may say, is none."""
        return None if self.error in ("NONE", "") else self.error

    def __repr__(self) -> str:
        there = zip(self._fields, self, strict=True)
        shown = [f"{name}={value!r}" for name, value in there if value is not None]
        return f"Event({', '.join(shown)})"


REQUIRED = Event._fields[:5]
NUMBERS = ("seq", "time_ms", "correlation_id", "generation", "partition", "offset")
COLUMNS: dict[str, type] = {name: int if name in NUMBERS else str for name in Event._fields}
"""The columns in their order; `detail` is JSON text wherever it is stored."""
TEXTS = tuple(name for name in COLUMNS if name not in (*NUMBERS, "detail"))

Row = tuple[Any, ...]
"""How a trace keeps an event: a value for each column after run_id and seq, detail as text.

Scalars only: the garbage collector then stops looking at the row, and long runs stay fast.
"""


def _refuse_constant(name: str) -> None:
    raise TraceError(f"no JSON: {name} is no number there")


_parse = json.JSONDecoder(parse_constant=_refuse_constant).raw_decode
_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def detail_text(detail: dict[str, Any]) -> str:
    """Give the JSON text that a detail is kept as, keys in their order; TraceError if it has none.

    Who records the same detail often may keep this text, and record it in place of the dict.
    """
    if not isinstance(detail, dict):
        raise TraceError(f"detail is {short(detail)}: a dict is allowed")
    try:
        return _encoder.encode(detail)
    except (TypeError, ValueError, RecursionError) as error:
        raise TraceError(f"detail is {short(detail)}: only JSON is allowed ({error})") from None


def json_object(text: str) -> dict[str, Any]:
    """Read the text of one JSON object; TraceError if it is anything else."""
    try:
        value, end = _parse(text)
    except json.JSONDecodeError as error:
        raise TraceError(f"no JSON from column {error.colno} on: {error.msg}") from None
    except RecursionError:
        raise TraceError("JSON that is nested too deeply") from None
    if end != len(text) or not isinstance(value, dict):
        raise TraceError(f"{short(text)} is not one JSON object")
    return value


def type_error(column: str, value: object) -> str | None:
    """Say why a column cannot hold this value; None if it can."""
    wanted = COLUMNS[column]
    if type(value) is wanted or (value is None and column not in REQUIRED):
        return None
    allowed = {int: "a whole number", str: "text"}[wanted]
    nothing = "" if column in REQUIRED else " or nothing"
    return f"{column} is {short(value)}: {allowed}{nothing} is allowed"
