"""A batch of records for one partition, on its way from the accumulator to a broker.

Source: org.apache.kafka.clients.producer.internals.ProducerBatch, FutureRecordMetadata (1.0.2;
2.4.0 for delivery.timeout.ms).
"""

import logging
from collections.abc import Callable
from typing import NamedTuple

from kafkalearn.errors import KafkaTimeoutError
from kafkalearn.producer.producer_record import RecordMetadata
from kafkalearn.protocol.produce import INVALID_OFFSET
from kafkalearn.records import Record, TopicPartition

Callback = Callable[[RecordMetadata | None, Exception | None], object]
"""Told where the record is, or why it is nowhere; see KafkaProducer.send."""
Wait = Callable[[Callable[[], bool], int | None], bool]
"""Waits until the function says True: True; or so many ms have passed: False."""

_log = logging.getLogger(__name__)


class FutureRecordMetadata:
    """What becomes of one record that was sent.

    is_done: whether it is known; it is when the callbacks of the whole batch were called.
    """

    __slots__ = ("_error", "_metadata", "_wait", "is_done")

    def __init__(self, wait: Wait) -> None:
        self.is_done = False
        self._metadata: RecordMetadata | None = None
        self._error: Exception | None = None
        self._wait = wait

    def get(self, timeout_ms: int | None = None) -> RecordMetadata:
        """Wait until it is known where the record is; raise what kept it from being written.

        KafkaTimeoutError if that takes longer than `timeout_ms`; the record may be written later.
        """
        if not self._wait(lambda: self.is_done, timeout_ms):
            raise KafkaTimeoutError(f"the record was not acknowledged within {timeout_ms:,} ms")
        if self._error is not None:
            raise self._error
        assert self._metadata is not None
        return self._metadata

    def settle(self, metadata: RecordMetadata | None, error: Exception | None) -> None:
        """Set what is known; `is_done` is for who settles to set."""
        self._metadata, self._error = metadata, error


class Thunk(NamedTuple):
    """Who is to be told about one record of a batch.

    hears_where: whether the callback gets metadata beside an error, too.
    """

    future: FutureRecordMetadata
    callback: Callback | None
    hears_where: bool = True


class ProducerBatch:
    """Records and who is to be told about them.

    capacity: the bytes that it takes of the buffer, whatever is in it. size: of its records.
    attempts: how often it was sent and came back. in_retry: whether it ever came back. backoff_ms:
    how long it waits then.
    is_done: whether it was acknowledged, refused or given up.
    """

    __slots__ = (
        *("_closed", "_limit", "attempts", "backoff_ms", "capacity", "created_ms"),
        *("in_retry", "is_done"),
        *("last_append_ms", "last_attempt_ms", "records", "size", "thunks", "topic_partition"),
    )

    def __init__(
        self, topic_partition: TopicPartition, *, limit: int, capacity: int, now_ms: int
    ) -> None:
        self.topic_partition = topic_partition
        self.capacity = capacity
        self.created_ms = self.last_attempt_ms = self.last_append_ms = now_ms
        self.records: list[Record] = []
        self.thunks: list[Thunk] = []
        self.size = 0
        self.attempts = self.backoff_ms = 0
        self.in_retry = False
        self.is_done = False
        self._limit = limit
        self._closed = False

    @property
    def is_full(self) -> bool:
        """Whether nothing more can be appended; one record always can."""
        return self._closed or (bool(self.records) and self.size >= self._limit)

    def has_room_for(self, size: int) -> bool:
        """Whether a record of so many bytes fits in."""
        return not self.is_full and (not self.records or self.size + size <= self._limit)

    def try_append(self, record: Record, *, thunk: Thunk, now_ms: int) -> bool:
        """Add a record, if there is room for it."""
        size = record.size_in_bytes
        if not self.has_room_for(size):
            return False
        self.records.append(record)
        self.thunks.append(thunk)
        self.size += size
        self.last_append_ms = now_ms
        return True

    def close(self) -> None:
        """Take no more records."""
        self._closed = True

    def reenqueued(self, now_ms: int, backoff_ms: int) -> None:
        """Note that it came back and will be sent again, after so many ms."""
        self.attempts += 1
        self.backoff_ms = backoff_ms
        self.in_retry = True
        self.last_attempt_ms = self.last_append_ms = now_ms

    def done(self, base_offset: int, error: Exception | None) -> bool:
        """Tell everybody how it ended, once: False if it had ended before.

        A callback that raises is logged, and the others are called, as in Kafka.
        """
        if self.is_done:
            return False
        self.is_done = True
        for index, (future, callback, hears_where) in enumerate(self.thunks):
            metadata = self._metadata_of(index, base_offset) if error is None else None
            future.settle(metadata, error)
            if error is not None and hears_where:
                metadata = RecordMetadata.unknown(*self.topic_partition)
            if callback is not None:
                try:
                    callback(metadata, error)
                except Exception:
                    _log.exception(
                        "Error executing user-provided callback for %s", self.topic_partition
                    )
        for future, *_ in self.thunks:
            future.is_done = True
        return True

    def _metadata_of(self, index: int, base_offset: int) -> RecordMetadata:
        offset = base_offset if base_offset == INVALID_OFFSET else base_offset + index
        return RecordMetadata(*self.topic_partition, offset, self.records[index].timestamp_ms)
