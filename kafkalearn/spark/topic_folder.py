"""A topic on disk: a folder for each partition, in it append-only segments, as a broker has it.

``orders-0/00000000000000000000.jsonl`` holds the records of orders-0 from offset 0 on, one a line:
[timestamp_ms, key, value, headers], bytes as Base64. A segment is named by its first offset; the
file ``log-start-offset`` says where the log begins now. Readers need no lock: a line counts once it
is whole. A topic has one writer at a time.

Source: kafka.log.Log (1.0.2): its folders, and how segments are named.
"""

import json
import os
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

from kafkalearn.errors import IllegalArgumentError, OffsetOutOfRangeError
from kafkalearn.records import Record, check_topic

SEGMENT_RECORDS = 10_000
START_FILE = "log-start-offset"


class Log(Protocol):
    """What is copied from a simulation: its PartitionLog."""

    log_start_offset: int
    log_end_offset: int

    def read_all(self) -> Sequence[Record]:
        """Give the records from the log's start to its end."""


class TopicFolder:
    """One topic below `folder`, which may hold several.

    Errors: InvalidTopicError; IllegalArgumentError for a partition that has no folder.
    """

    def __init__(self, folder: str | Path, topic: str) -> None:
        self.folder = Path(folder)
        self.topic = check_topic(topic)

    def partitions(self) -> list[int]:
        """Number the partitions that are there now; none if the topic does not exist."""
        if not self.folder.is_dir():
            return []
        pattern = re.compile(re.escape(self.topic) + r"-(\d+)")
        found = (pattern.fullmatch(each.name) for each in self.folder.iterdir())
        return sorted(int(match[1]) for match in found if match)

    def create_partitions(self, total_count: int) -> None:
        """Make folders until there are so many partitions; there are never fewer than before."""
        for number in range(total_count):
            self._path(number).mkdir(parents=True, exist_ok=True)

    def ends(self, partition: int) -> tuple[int, int]:
        """Give the log's start, and the offset that its next record will get."""
        path = self._existing(partition)
        end = max((_end(base, last) for base, last in _segments(path)[-1:]), default=0)
        start_file = path / START_FILE
        start = int(start_file.read_text()) if start_file.exists() else 0
        return start, max(start, end)

    def append(self, partition: int, records: Iterable[Record]) -> int:
        """Write records at the end, whatever offsets they have; give the first one's offset."""
        path = self._existing(partition)
        base_offset = offset = self.ends(partition)[1]
        lines = [_line(record) for record in records]
        while lines:
            file, room = path / f"{offset:020}.jsonl", SEGMENT_RECORDS
            for base, last in _segments(path)[-1:]:
                # After a gap, which retention left, a segment of its own begins.
                if _end(base, last) == offset < base + SEGMENT_RECORDS:
                    file, room = last, base + SEGMENT_RECORDS - offset
            _append(file, b"".join(lines[:room]))
            offset += len(lines[:room])
            lines = lines[room:]
        return base_offset

    def read(self, partition: int, *, start: int, end: int) -> Iterator[Record]:
        """Give the records from `start` to before `end`.

        Errors: OffsetOutOfRangeError if they are not all there; it names what is.
        """
        log_start, log_end = self.ends(partition)
        if start < log_start or end > log_end:
            raise OffsetOutOfRangeError(
                f"{self.topic}-{partition} holds the offsets {log_start} to {log_end}, and {start} "
                f"to {end} were asked for"
            )
        for base, file in _segments(self._path(partition)):
            if base >= end or base + SEGMENT_RECORDS <= start:
                continue
            with file.open("rb") as lines:
                for offset, line in enumerate(lines, start=base):
                    if offset >= end or not line.endswith(b"\n"):
                        break
                    if offset >= start:
                        yield _record(offset, line)

    def delete_records(self, partition: int, before_offset: int) -> None:
        """Let the log begin at `before_offset`, and drop the segments that lie before it whole."""
        path = self._existing(partition)
        start, end = self.ends(partition)
        start = max(start, min(before_offset, end))
        _replace(path / START_FILE, str(start))
        segments = _segments(path)
        for (_, file), (following, _) in pairwise(segments):
            if following <= start:
                file.unlink()

    def follow(self, logs: Mapping[int, Log]) -> int:
        """Copy what is new in a simulation's logs, retention included; count the new records.

        logs: partition -> its log, as ``{p.topic_partition.partition: p.log for p in
        sim.cluster.topics["orders"].partitions}``.
        """
        self.create_partitions(max(logs, default=-1) + 1)
        copied = 0
        for number, log in sorted(logs.items()):
            end = self.ends(number)[1]
            new = [record for record in log.read_all() if record.offset >= end]
            if new and new[0].offset > end:
                _replace(self._path(number) / START_FILE, str(new[0].offset))
            self.append(number, new)
            self.delete_records(number, log.log_start_offset)
            copied += len(new)
        return copied

    def _path(self, partition: int) -> Path:
        return self.folder / f"{self.topic}-{partition}"

    def _existing(self, partition: int) -> Path:
        path = self._path(partition)
        if not path.is_dir():
            known = ", ".join(map(str, self.partitions())) or "none"
            raise IllegalArgumentError(
                f"there is no {path.name} in {self.folder}; partitions of {self.topic}: {known}"
            )
        return path


def _segments(path: Path) -> list[tuple[int, Path]]:
    return sorted((int(file.stem), file) for file in path.glob("*.jsonl"))


def _end(base: int, file: Path) -> int:
    return base + file.read_bytes().count(b"\n")


def _append(file: Path, lines: bytes) -> None:
    """Write whole lines; what a writer that died left of its last line goes first."""
    with file.open("ab+") as segment:
        segment.seek(0)
        whole = segment.read().rfind(b"\n") + 1
        segment.truncate(whole)
        segment.write(lines)


def _replace(file: Path, text: str) -> None:
    new = file.with_suffix(".new")
    new.write_text(text)
    os.replace(new, file)


def _line(record: Record) -> bytes:
    fields: list[Any] = [record.timestamp_ms, _text(record.key), _text(record.value)]
    fields.append([[name, _text(value)] for name, value in record.headers])
    return json.dumps(fields).encode() + b"\n"


def _record(offset: int, line: bytes) -> Record:
    timestamp_ms, key, value, headers = json.loads(line)
    pairs = tuple((name, _bytes(text)) for name, text in headers)
    return Record(offset, timestamp_ms, _bytes(key), _bytes(value), pairs)


def _text(value: bytes | None) -> str | None:
    return None if value is None else b64encode(value).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)
