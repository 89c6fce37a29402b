"""Which records a query reads: its options, and what lies between two offsets of each partition.

Source: Spark's Structured Streaming + Kafka Integration Guide (4.x), for the options.
"""

import json
import logging
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql.datasource import InputPartition

from kafkalearn.errors import ConfigError, OffsetOutOfRangeError
from kafkalearn.records import Record
from kafkalearn.spark.topic_folder import TopicFolder

OPTIONS = (
    "path",
    "topic",
    "startingOffsets",
    "endingOffsets",
    "maxOffsetsPerTrigger",
    "failOnDataLoss",
)
ROWS_PER_TASK = 20_000
EARLIEST, LATEST = -2, -1
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Offsets = dict[int, int]

_log = logging.getLogger(__name__)


class Rows(InputPartition):
    """Some records of one partition, on their way to an executor."""

    def __init__(self, topic: str, partition: int, *, records: list[Record]) -> None:
        self.topic = topic
        self.partition = partition
        self.records = records

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Give them as Spark's columns."""
        for offset, timestamp_ms, key, value, headers in self.records:
            time = EPOCH + timedelta(milliseconds=timestamp_ms)
            yield key, value, self.topic, self.partition, offset, time, list(headers)


class ReadPlan:
    """The options, and which records lie between offsets."""

    def __init__(self, options: Mapping[str, str]) -> None:
        known = {name.lower(): name for name in OPTIONS}
        given = {known.get(key.lower(), key): value for key, value in options.items()}
        for key in given:
            if key not in known.values():
                raise ConfigError(f"there is no option {key}: {', '.join(known.values())} are read")
        for key in ("path", "topic"):
            if not given.get(key):
                raise ConfigError(f"the option {key} is missing: path is a folder, topic a name")
        self.topic = given["topic"]
        self.folder = TopicFolder(given["path"], self.topic)
        if not self.folder.partitions():
            raise ConfigError(f"there is no topic {self.topic} in {given['path']}")
        self.starting = given.get("startingOffsets", "")
        self.ending = given.get("endingOffsets", "latest")
        self.max_offsets = _number(given.get("maxOffsetsPerTrigger"))
        self.fail_on_data_loss = _flag(given.get("failOnDataLoss", "true"))

    def earliest(self) -> Offsets:
        """Where each partition's log starts now."""
        return {number: self.folder.ends(number)[0] for number in self.folder.partitions()}

    def latest(self) -> Offsets:
        """Where each partition's log ends now."""
        return {number: self.folder.ends(number)[1] for number in self.folder.partitions()}

    def resolve(self, option: str, text: str) -> Offsets:
        """Turn earliest, latest or JSON into an offset for each partition."""
        if text in ("earliest", "latest"):
            return self.earliest() if text == "earliest" else self.latest()
        ends = {EARLIEST: self.earliest(), LATEST: self.latest()}
        given = _offsets(option, text, self.topic)
        if set(given) != set(ends[LATEST]):
            wanted = ", ".join(map(str, sorted(ends[LATEST])))
            raise ConfigError(f"{option} {text} must name each partition of {self.topic}: {wanted}")
        return {
            number: ends[offset][number] if offset in ends else offset
            for number, offset in given.items()
        }

    def inputs(self, start: Offsets, end: Offsets) -> list[Rows]:
        """Read what lies between; a partition that `start` does not know is read from its start."""
        found = []
        for number, before in sorted(end.items()):
            records = list(self._records(number, start.get(number), before))
            for i in range(0, len(records), ROWS_PER_TASK):
                found.append(Rows(self.topic, number, records=records[i : i + ROWS_PER_TASK]))
        return found

    def _records(self, number: int, start: int | None, end: int) -> Iterator[Record]:
        if number not in self.folder.partitions():
            self._lost(f"{self.topic}-{number} is gone with its offsets {start or 0} to {end}")
            return
        log_start, log_end = self.folder.ends(number)
        first = log_start if start is None else start
        if first < log_start and first < end:
            last = min(end, log_start) - 1
            gone = f"the offsets {first} to {last} are" if last > first else f"offset {first} is"
            self._lost(f"{self.topic}-{number}: {gone} gone, the log starts at {log_start}")
        if end > log_end:
            self._lost(
                f"{self.topic}-{number}: the log ends at {log_end}, before offset {end}; was the "
                "topic made anew?"
            )
        first, end = max(first, log_start), min(end, log_end)
        if first < end:
            yield from self.folder.read(number, start=first, end=end)

    def _lost(self, sentence: str) -> None:
        if self.fail_on_data_loss:
            raise OffsetOutOfRangeError(
                f"{sentence}. To go on without them, set the option failOnDataLoss to false."
            )
        _log.warning("%s; failOnDataLoss is false", sentence)


def shared(begin: Offsets, end: Offsets, *, limit: int) -> Offsets:
    """Divide `limit` records among the partitions by what waits in each; all of it is used."""
    waiting = {number: max(0, at - begin[number]) for number, at in sorted(end.items())}
    total = sum(waiting.values())
    if total <= limit:
        return end
    given = {number: count * limit // total for number, count in waiting.items()}
    left = limit - sum(given.values())
    for number in waiting:
        if left and given[number] < waiting[number]:
            given[number] += 1
            left -= 1
    return {number: begin[number] + count for number, count in given.items()}


def _number(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isdecimal() or int(text) == 0:
        raise ConfigError(f"maxOffsetsPerTrigger is {text!r}: a whole number from 1 is allowed")
    return int(text)


def _flag(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ConfigError(f"failOnDataLoss is {text!r}: true or false is allowed")
    return text.lower() == "true"


def _offsets(option: str, text: str, topic: str) -> Offsets:
    try:
        return {int(number): int(at) for number, at in json.loads(text)[topic].items()}
    except (ValueError, TypeError, LookupError, AttributeError):
        raise ConfigError(
            f'{option} is {text!r}: earliest, latest or {{"{topic}": {{"0": 5}}}} is allowed'
        ) from None
