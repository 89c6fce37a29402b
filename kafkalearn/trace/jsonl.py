"""A trace as JSON Lines: one object an event, absent columns left out, detail nested.

Numbers come first, then text, then detail: a run repeats the same text a million times, so it is
written and read as one piece. Any other order, and any spaces, can be read as well, only slower.
A trace without events is one line that holds its run_id alone. One with sinks that tells of no
effect begins with a line of its run_id and these.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, NamedTuple

from kafkalearn.trace.event import (
    COLUMNS,
    NUMBERS,
    TEXTS,
    DamagedTraceError,
    Row,
    TraceError,
    detail_text,
    json_object,
)
from kafkalearn.trace.rows import Rows, refuse_columns, refuse_types

_dumps = json.JSONEncoder(ensure_ascii=False).encode
_RUN_ID, _DETAIL = ',"run_id":', ',"detail":'
_NUMBER = r"(-?(?:0|[1-9][0-9]*))"
_NUMBERS_FIRST = re.compile(
    rf'{{"seq":{_NUMBER},"time_ms":{_NUMBER}'
    + "".join(rf'(?:,"{name}":{_NUMBER})?' for name in NUMBERS[2:])
)
_numbers_of = itemgetter(*(list(COLUMNS).index(name) - 2 for name in NUMBERS[1:]))
_texts_of = itemgetter(*(list(COLUMNS).index(name) - 2 for name in TEXTS[1:]))


class DamagedLine(NamedTuple):
    """A line that holds no event of this run, and why."""

    line: int
    why: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.why}"


@contextmanager
def written_beside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a path to write to, which takes the place of `path` only when all went well."""
    target = Path(path).resolve()
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield beside
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def write(
    target: str | os.PathLike[str] | IO[str],
    run_id: str,
    *,
    seqs: Sequence[int],
    rows: list[Row],
    sinks: Sequence[str] = (),
) -> None:
    """Write to a path, or to a text file that is open."""
    lines = _lines(run_id, seqs, rows)
    unused = bool(sinks) and not any(row[2] == "processed" for row in rows)
    if unused or not rows:
        told = f',"sinks":{_dumps(sinks)}' if unused else ""
        lines = chain([f'{{"run_id":{_dumps(run_id)}{told}}}\n'], lines)
    if not isinstance(target, str | os.PathLike):
        target.writelines(lines)
        return
    with written_beside(target) as beside, beside.open("wb") as file:
        try:
            file.writelines(map(str.encode, lines))
        except UnicodeEncodeError as error:
            raise TraceError(f"UTF-8 cannot hold {error.object!a}: {error.reason}") from None


def _lines(run_id: str, seqs: Sequence[int], rows: list[Row]) -> Iterator[str]:
    known: dict[tuple[Any, ...], str] = {}
    for seq, row in zip(seqs, rows, strict=True):
        texts, detail = _texts_of(row), row[-1]
        try:
            if texts not in known:
                refuse_types((run_id, seq, *row))
                known[texts] = _piece((run_id, *texts))
            numbers = _numbers_as_json(*_numbers_of(row))
        except (TypeError, ValueError):
            refuse_types((run_id, seq, *row))
            raise
        end = "}\n" if detail is None else f"{_DETAIL}{detail}}}\n"
        yield f'{{"seq":{seq}{numbers}{known[texts]}{end}'


def _numbers_as_json(
    time_ms: int,
    correlation_id: int | None,
    generation: int | None,
    partition: int | None,
    offset: int | None,
) -> str:
    """Written out, since this is half of the time that a line takes; `:d` refuses other types."""
    text = f',"time_ms":{time_ms:d}'
    if correlation_id is not None:
        text += f',"correlation_id":{correlation_id:d}'
    if generation is not None:
        text += f',"generation":{generation:d}'
    if partition is not None:
        text += f',"partition":{partition:d}'
    if offset is not None:
        text += f',"offset":{offset:d}'
    return text


def _piece(texts: tuple[Any, ...]) -> str:
    there = zip(TEXTS, texts, strict=True)
    return "".join(f',"{name}":{_dumps(text)}' for name, text in there if text is not None)


def read(
    source: str | os.PathLike[str] | IO[str] | IO[bytes], *, skip: bool
) -> tuple[Rows, list[DamagedLine]]:
    """Read from a path or an open file; with `skip` damaged lines are left out and given back.

    DamagedTraceError names the first damaged line, or says that no line holds an event.
    """
    if not isinstance(source, str | os.PathLike):
        return _read(source, skip)
    with open(source, "rb") as file:
        return _read(file, skip)


def _read(lines: Iterable[str | bytes], skip: bool) -> tuple[Rows, list[DamagedLine]]:
    reader = _Reader()
    damaged = []
    for number, line in enumerate(lines, start=1):
        try:
            if text := (line if isinstance(line, str) else line.decode()).strip():
                reader.take(text)
        except ValueError as error:
            damaged.append(DamagedLine(number, str(error)))
            if not skip:
                raise DamagedTraceError(str(damaged[0])) from None
    if reader.rows.run_id is None:
        why = f" ({damaged[0]})" if damaged else ""
        raise DamagedTraceError(f"no line holds an event{why}")
    return reader.rows, damaged


class _Reader:
    """Takes line by line.

    A piece of text that came before is looked up, and a detail behind one is kept as it is written.
    """

    def __init__(self) -> None:
        self.rows = Rows()
        self._pieces: dict[str, tuple[Any, ...]] = {}

    def take(self, line: str) -> None:
        """Take the event of a line; TraceError says why it holds none."""
        cut = line.find(_RUN_ID)
        stop = line.find(_DETAIL, cut)
        piece = line[cut:stop]
        texts = self._pieces.get(piece)
        if texts is not None and line[-1] == "}":
            detail = None if stop < 0 else line[stop + len(_DETAIL) : -1]
            found = _NUMBERS_FIRST.fullmatch(line, 0, cut)
            if found and (detail is None or _is_object(detail)):
                numbers = [text and int(text) for text in found.groups()]
                self.rows.add(numbers, texts, detail=detail)
                return
        self._take_whole(json_object(line), piece)

    def _take_whole(self, event: dict[str, Any], piece: str) -> None:
        if isinstance(event.get("run_id"), str) and _is_head(event):
            self.rows.name(event["run_id"])
            self.rows.sinks = tuple(event.get("sinks", ()))
            return
        refuse_columns(list(event))
        detail = event.pop("detail", None)
        refuse_types((*map(event.get, COLUMNS),))
        texts = self.rows.known(tuple(map(event.get, TEXTS)))
        self.rows.add(
            tuple(map(event.get, NUMBERS)),
            texts,
            detail=None if detail is None else detail_text(detail),
        )
        if piece == _piece(texts):
            self._pieces[piece] = texts


def _is_head(event: dict[str, Any]) -> bool:
    sinks = event.get("sinks", [])
    texts = isinstance(sinks, list) and all(isinstance(each, str) for each in sinks)
    return texts and event.keys() <= {"run_id", "sinks"}


def _is_object(text: str) -> bool:
    try:
        json_object(text)
    except TraceError:
        return False
    return True
