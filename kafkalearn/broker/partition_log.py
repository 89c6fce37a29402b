"""The records of one partition: written at the end, read from anywhere, dropped from the front.

Differs from Kafka: single records go where Kafka deletes whole segments of 1 GiB, so retention is
exact here and late and coarse there. No compaction, no transactions, and no record is corrupt.

Source: kafka.log.Log (1.0.2).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from kafkalearn.records import Record


class PartitionLog:
    """Gives offsets without gaps. Looking something up takes the logarithm of the log's length.

    retention_ms, retention_bytes: what to keep; -1 for everything.
    log_start_offset: the first record that is still there.
    log_end_offset: the one that the next record will get.
    high_watermark: consumers read below it only. With one log for all brokers it is the log's end.
    Differs from Kafka: there it follows the slowest replica in sync.
    """

    def __init__(self, *, retention_ms: int = -1, retention_bytes: int = -1) -> None:
        self.log_start_offset = self.log_end_offset = self.high_watermark = 0
        self._retention_ms = retention_ms
        self._retention_bytes = retention_bytes
        self._records: list[Record] = []
        self._ends: list[int] = []  # bytes from the very first record on to each record's end
        self._latest: list[int] = []  # the latest timestamp from log_start_offset on to each record
        self._dropped_bytes = 0

    @property
    def size_in_bytes(self) -> int:
        """What is kept. A record without key and value counts too: waiting for a byte finds it."""
        return self.size_between(self.log_start_offset, self.log_end_offset)

    def append(self, records: Iterable[Record]) -> int:
        """Write records, whatever offsets they have, and give the first one's offset."""
        base_offset = offset = self.log_end_offset
        end = self._bytes_before(offset)
        latest = self._latest[-1] if self._latest else -1
        for record in records:
            _, timestamp_ms, key, value, headers = record
            end += record.size_in_bytes or 1
            if timestamp_ms > latest:
                latest = timestamp_ms
            self._records.append(Record(offset, timestamp_ms, key, value, headers))
            self._ends.append(end)
            self._latest.append(latest)
            offset += 1
        self.log_end_offset = self.high_watermark = offset
        return base_offset

    def has_offset(self, offset: int) -> bool:
        """Whether one can read here: the log's end counts, for there is nothing yet."""
        return self.log_start_offset <= offset <= self.log_end_offset

    def read(
        self, offset: int, max_bytes: int, *, min_one_record: bool = True
    ) -> tuple[Record, ...]:
        """Read the records from `offset` to the high watermark that fit; () if there are none.

        offset: one that has_offset. min_one_record: give the first record even if it does not fit,
        so that its reader gets on (KIP-74).
        """
        if offset == self.high_watermark:
            return ()  # as most reads find it
        first, limit = offset - self.log_start_offset, self.high_watermark - self.log_start_offset
        end = bisect_right(self._ends, self._bytes_before(offset) + max_bytes, first, limit)
        if end == first < limit and min_one_record:
            end += 1
        return tuple(self._records[first:end])

    def read_all(self) -> Sequence[Record]:
        """Read everything: for whoever takes the log over."""
        return self._records.copy()

    def size_between(self, offset: int, end_offset: int) -> int:
        """Count the bytes from `offset` to before `end_offset`, both at most the log's end."""
        start = max(offset, self.log_start_offset)
        if start >= end_offset:
            return 0
        return self._bytes_before(end_offset) - self._bytes_before(start)

    def first_since(self, timestamp_ms: int) -> Record | None:
        """Find the first record that is not older; producers' clocks may go back and forth."""
        index = bisect_left(self._latest, timestamp_ms)
        return self._records[index] if index < len(self._records) else None

    def delete_records(self, before_offset: int) -> None:
        """Drop the records below `before_offset` and below the high watermark for good."""
        start = max(self.log_start_offset, min(before_offset, self.high_watermark))
        self._dropped_bytes = self._bytes_before(start)
        for entries in (self._records, self._ends, self._latest):
            del entries[: start - self.log_start_offset]
        self.log_start_offset = start
        latest = -1
        for index, record in enumerate(self._records):
            latest = max(latest, record.timestamp_ms)
            if self._latest[index] == latest:
                break  # no later entry was because of a record that is gone
            self._latest[index] = latest

    def deletable_from_ms(self) -> int | None:
        """When delete_old_records has work, 0 for now; None if not before something is appended."""
        if self.log_start_offset >= self.high_watermark:
            return None
        if 0 <= self._retention_bytes <= self._dropped_bytes + self.size_in_bytes - self._ends[0]:
            return 0
        expiry_ms = self._records[0].timestamp_ms + self._retention_ms + 1
        return None if self._retention_ms < 0 else expiry_ms

    def delete_old_records(self, now_ms: int) -> str | None:
        """Drop what retention no longer keeps, from the front up to the first record it keeps.

        Gives the topic's setting that made something go, or None.
        """
        by_age = by_size = 0
        if self._retention_ms >= 0:
            by_age = bisect_left(self._latest, now_ms - self._retention_ms)
        if self._retention_bytes >= 0:
            excess = self.size_in_bytes - self._retention_bytes
            by_size = bisect_right(self._ends, self._dropped_bytes + excess)
        count = min(max(by_age, by_size), self.high_watermark - self.log_start_offset)
        if count <= 0:
            return None
        self.delete_records(self.log_start_offset + count)
        return "retention.ms" if by_age >= by_size else "retention.bytes"

    def _bytes_before(self, offset: int) -> int:
        index = offset - self.log_start_offset
        return self._ends[index - 1] if index else self._dropped_bytes
