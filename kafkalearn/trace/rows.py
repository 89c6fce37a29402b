"""Rows that come from outside: each is checked before a trace holds it."""

from collections.abc import Sequence
from typing import Any

from kafkalearn.trace.event import COLUMNS, DamagedTraceError, Row, TraceError, type_error
from kafkalearn.trace.kind import KINDS
from kafkalearn.trace.text import short


class Rows:
    """The rows of one run so far, with their places in it."""

    def __init__(self) -> None:
        self.run_id: str | None = None
        self.sinks: tuple[str, ...] = ()
        self.seqs: list[int] = []
        self.rows: list[Row] = []
        self._last = -1
        self._known: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def known(self, texts: tuple[Any, ...]) -> tuple[Any, ...]:
        """Check the values of TEXTS, and give those that were equal before: they are kept once.

        DamagedTraceError for an unknown kind and another run.
        """
        if texts not in self._known:
            run_id, _, kind, *_ = texts
            if kind not in KINDS:
                raise DamagedTraceError(no_kind(kind))
            self.name(run_id)
            self._known[texts] = texts
        return self._known[texts]

    def add(self, numbers: Sequence[Any], texts: tuple[Any, ...], *, detail: str | None) -> None:
        """Take the values of NUMBERS, TEXTS that are known, all of the right types, and JSON text.

        DamagedTraceError for a seq that does not rise.
        """
        seq, time_ms, correlation_id, generation, partition, offset = numbers
        _, node, kind, api, peer, group_id, member_id, topic, error = texts
        if seq <= self._last:
            after = f" after {self._last}" if self.rows else ""
            raise DamagedTraceError(f"seq is {seq}{after}: it starts at 0 and only rises")
        # fmt: off
        self.rows.append((
            time_ms, node, kind, api, peer, correlation_id, group_id, member_id, generation,
            topic, partition, offset, error, detail,
        ))
        # fmt: on
        self.seqs.append(seq)
        self._last = seq

    def name(self, run_id: str) -> None:
        """Name the run, or refuse another name than it has."""
        if self.run_id not in (None, run_id):
            raise DamagedTraceError(
                f"run_id is {short(run_id)} after {short(self.run_id)}: a trace is one run, so "
                "select one first"
            )
        self.run_id = run_id


def no_kind(kind: object) -> str:
    """Say that this is no kind of event."""
    return f"{short(kind)} is no kind of event: {', '.join(KINDS)} are allowed"


def refuse_types(values: tuple[Any, ...]) -> None:
    """TraceError if a column holds a value that it cannot."""
    for column, value in zip(COLUMNS, values, strict=True):
        if wrong := type_error(column, value):
            raise TraceError(wrong)


def refuse_columns(names: list[str]) -> None:
    """TraceError if a name is no column. One that may be absent may be missing."""
    if unknown := [name for name in names if name not in COLUMNS]:
        raise DamagedTraceError(
            f"{short(unknown[0])} is no column of a trace: {', '.join(COLUMNS)} are"
        )
