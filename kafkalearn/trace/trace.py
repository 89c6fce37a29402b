"""The events of one run, in their order: recorded, selected, printed, saved."""

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from operator import index
from typing import IO, Any, Literal, overload

from kafkalearn.trace import jsonl, tables
from kafkalearn.trace.describe import predicate
from kafkalearn.trace.event import COLUMNS, Event, Row, TraceError, detail_text, type_error
from kafkalearn.trace.kind import KINDS
from kafkalearn.trace.rows import Rows, no_kind
from kafkalearn.trace.text import columns, one_line, padded, short


class Trace(Sequence[Event]):
    """Append-only. A slice, a selection and a trace that was read are traces too, but finished.

    kinds, nodes: record these only, and forget all others; `seq` counts what is recorded.
    left_out: the damaged lines of `from_jsonl`. sinks: whose effects it tells of, if any come.
    """

    def __init__(
        self,
        run_id: str,
        *,
        kinds: Iterable[str] | None = None,
        nodes: Iterable[str] | None = None,
    ) -> None:
        self.run_id = run_id
        self.left_out: tuple[jsonl.DamagedLine, ...] = ()
        self.sinks: tuple[str, ...] = ()
        wanted = list(KINDS) if kinds is None else _allowed("kind", kinds)
        self._kinds = {kind: kind if kind in wanted else None for kind in KINDS}
        self._nodes = None if nodes is None else frozenset(_allowed("node", nodes))
        self._rows: list[Row] = []
        self._seqs: list[int] | None = None  # None while recording: then a row's place is its seq

    def records(self, kind: str) -> bool:
        """Whether events of this kind are recorded, of some node; TraceError for an unknown one."""
        if kind not in self._kinds:
            raise self._refusal(kind)
        return self._kinds[kind] is not None

    def record(
        self,
        kind: str,
        time_ms: int,
        node: str,
        *,
        api: str | None = None,
        peer: str | None = None,
        correlation_id: int | None = None,
        group_id: str | None = None,
        member_id: str | None = None,
        generation: int | None = None,
        topic: str | None = None,
        partition: int | None = None,
        offset: int | None = None,
        error: str | None = None,
        detail: dict[str, Any] | str | None = None,
    ) -> None:
        """Add an event, an argument for each of its columns; detail may be text by `detail_text`.

        TraceError for an unknown kind, and for a detail that JSON cannot hold. Types of the other
        columns are trusted here, since this runs for each event; they are checked on saving.
        """
        try:
            recorded = self._kinds[kind]
        except KeyError:
            raise self._refusal(kind) from None
        if recorded is None or (self._nodes is not None and node not in self._nodes):
            return
        if detail is not None and not isinstance(detail, str):
            detail = detail_text(detail)
        # fmt: off
        self._rows.append((
            time_ms, node, recorded, api, peer, correlation_id, group_id, member_id, generation,
            topic, partition, offset, error, detail,
        ))
        # fmt: on

    @property
    def add(self) -> Callable[[Row], object]:
        """Takes an event as it is kept, of a kind that `records` says yes to: the fastest way."""
        if (nodes := self._nodes) is None:
            return self._rows.append
        return lambda row: self._rows.extend([row] if row[1] in nodes else [])

    def _refusal(self, kind: str) -> TraceError:
        if self._seqs is not None:
            return TraceError("this trace was selected or read: nothing is recorded in it any more")
        return TraceError(no_kind(kind))

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Event]:
        for seq, row in zip(self._places(), self._rows, strict=False):
            yield self._event(seq, row)

    @overload
    def __getitem__(self, place: int) -> Event: ...
    @overload
    def __getitem__(self, place: slice) -> "Trace": ...
    def __getitem__(self, place: int | slice) -> "Event | Trace":
        if isinstance(place, slice):
            return self._finished(self._rows[place], list(self._places()[place]))
        return self._event(self._places()[place], self._rows[place])

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same events of the same run."""
        if not isinstance(other, Trace):
            return NotImplemented
        same = self.run_id == other.run_id and self._rows == other._rows
        return same and list(self._places()) == list(other._places())

    __hash__ = None  # type: ignore[assignment]  # it grows

    def where(self, **wanted: object) -> "Trace":
        """Select by columns: ``where(kind="send", node=["c1", "c2"], error=None)``.

        Of a collection of values one must hold; None is absent, and detail is a dict. TraceError
        for what is no column, and for a value that a column never holds.
        """
        places: Sequence[int] = range(len(self._rows))
        for column, value in wanted.items():
            if column not in COLUMNS:
                raise TraceError(
                    f"{short(column)} is no column of a trace: {', '.join(COLUMNS)} are"
                )
            allowed = _allowed(column, value)
            cells = self._column(column)
            if column == "detail":  # equal whatever the order of its keys
                cells = [text and json.loads(text) for text in cells]
            places = [place for place in places if cells[place] in allowed]
        seqs = self._places()
        return self._finished([self._rows[at] for at in places], [seqs[at] for at in places])

    def _places(self) -> Sequence[int]:
        """Give the seq of each row."""
        return range(len(self._rows)) if self._seqs is None else self._seqs

    def _event(self, seq: int, row: Row) -> Event:
        detail = row[-1]
        known = None if detail is None else json.loads(detail)
        return Event._make((self.run_id, seq, *row[:-1], known))

    def _column(self, name: str) -> Sequence[Any]:
        if name == "run_id":
            return [self.run_id] * len(self._rows)
        if name == "seq":
            return self._places()
        at = list(COLUMNS).index(name) - 2
        return [row[at] for row in self._rows]

    def _finished(self, rows: list[Row], seqs: list[int]) -> "Trace":
        part = Trace(self.run_id, kinds=())
        part._rows, part._seqs, part._kinds, part.sinks = rows, seqs, {}, self.sinks
        return part

    def text(self, lang: str = "en") -> str:
        """One aligned line an event: time, node, kind, and what it did, as in `describe`."""
        if not self._rows:
            return "no events"
        nodes = {row[1]: one_line(row[1]) for row in self._rows}
        for_time = max(len(str(row[0])) for row in self._rows)
        for_node = max(map(columns, nodes.values()))
        for_kind = max(len(row[2]) for row in self._rows)
        return "\n".join(
            f"{event.time_ms:>{for_time}} ms  {padded(nodes[event.node], for_node)}  "
            f"{event.kind:<{for_kind}}  {predicate(event, lang)}"
            for event in self
        )

    __str__ = text

    def __repr__(self) -> str:
        times = f", {self._rows[0][0]} to {self._rows[-1][0]} ms" if self._rows else ""
        lost = f", {len(self.left_out)} damaged lines left out" if self.left_out else ""
        return f"Trace({short(self.run_id)}, {len(self._rows)} events{times}{lost})"

    def to_jsonl(self, target: str | os.PathLike[str] | IO[str]) -> None:
        """Write JSON Lines to a path or an open text file; a path is never left half written."""
        jsonl.write(target, self.run_id, seqs=self._places(), rows=self._rows, sinks=self.sinks)

    @staticmethod
    def from_jsonl(
        source: str | os.PathLike[str] | IO[str] | IO[bytes],
        *,
        damaged: Literal["refuse", "skip"] = "refuse",
    ) -> "Trace":
        """Read what `to_jsonl` wrote.

        DamagedTraceError names the first line that holds no event of this run, and why;
        ``damaged="skip"`` keeps the rest, and `left_out` tells of each.
        """
        if damaged not in ("refuse", "skip"):
            raise TraceError(f"damaged is {short(damaged)}: 'refuse' or 'skip' is allowed")
        rows, lines = jsonl.read(source, skip=damaged == "skip")
        trace = _of(rows)
        trace.left_out, trace.sinks = tuple(lines), rows.sinks
        return trace

    def to_pandas(self) -> Any:
        """Give a DataFrame with all columns: text is object, numbers that may be absent Int64."""
        return tables.to_pandas(self.run_id, map(self._column, COLUMNS))

    @staticmethod
    def from_pandas(frame: Any) -> "Trace":
        """Read a DataFrame of one run, in the order of seq; DamagedTraceError says what is wrong.

        A column that may be absent may be missing.
        """
        return _of(tables.from_pandas(frame))

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write one Parquet file of text and int64; it is never left half written."""
        tables.write_parquet(path, self.run_id, columns=map(self._column, COLUMNS))

    @staticmethod
    def from_parquet(path: str | os.PathLike[str]) -> "Trace":
        """Read Parquet of one run, in the order of seq; DamagedTraceError says what is wrong."""
        return _of(tables.read_parquet(path))


def _of(rows: Rows) -> Trace:
    return Trace(rows.run_id or "")._finished(rows.rows, rows.seqs)


def _allowed(column: str, value: Any) -> Collection[Any]:
    """Give all that a column may be; TraceError for what it never is."""
    several = isinstance(value, Iterable) and not isinstance(value, str | dict)
    cells = [_cell(column, each) for each in (value if several else [value])]
    return cells if column == "detail" else frozenset(cells)


def _cell(column: str, value: object) -> object:
    if column == "detail":
        if not isinstance(value, dict | None):
            raise TraceError(f"detail is {short(value)}: a dict or nothing is allowed")
        return value
    if hasattr(value, "__index__") and not isinstance(value, bool):
        value = index(value)  # NumPy has integers of its own
    if wrong := type_error(column, value):
        raise TraceError(wrong)
    if column == "kind" and value not in KINDS:
        raise TraceError(no_kind(value))
    return value
