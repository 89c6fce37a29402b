"""Handing fetched records out to the application, poll by poll.

Source: document 004, "Fetch拉取消息"; Fetcher (1.0.2; later by switches) in org.apache.kafka.
clients.consumer.internals. The documents print 0.10.1, whose names are kept.
Differs from Kafka: no metrics; an error loses nothing that the same poll has taken, as it did in
0.10.
"""

from collections.abc import Sequence

from kafkalearn.consumer.abstract_fetch import AbstractFetch
from kafkalearn.consumer.completed_fetch import CompletedFetch, PartitionRecords
from kafkalearn.consumer.consumer_parts import ConsumerParts
from kafkalearn.consumer.consumer_records import ConsumerRecord
from kafkalearn.consumer.record_reader import RecordReader
from kafkalearn.errors import (
    Errors,
    IllegalStateError,
    KafkaError,
    OffsetOutOfRangeError,
)
from kafkalearn.records import Record, TopicPartition

Fetched = dict[TopicPartition, list[ConsumerRecord]]

_STALE_METADATA = (
    Errors.NOT_LEADER_OR_FOLLOWER,
    Errors.UNKNOWN_TOPIC_OR_PARTITION,
    Errors.KAFKA_STORAGE_ERROR,
)


class Fetcher(AbstractFetch):
    """Takes records of what was fetched, and looks at what came with them."""

    def __init__(self, parts: ConsumerParts) -> None:
        super().__init__(parts)
        self._max_poll_records = parts.config.max_poll_records
        self._failed_fetch = parts.context.profile.failed_fetch
        self._reader = RecordReader(parts.config)

    def fetched_records(self) -> Fetched:
        """Take up to max.poll.records, and move the positions past them.

        OffsetOutOfRangeError if a position is not in its log and auto.offset.reset is none,
        SerializationError for a record that cannot be read: seek() past it. What came before it is
        returned first (0.11), and the error comes with the next poll.
        """
        drained: Fetched = {}
        completed, source = self.completed_fetches, self.next_in_line_records
        if not completed and source is None:
            return drained
        remaining = self._max_poll_records
        paused: list[PartitionRecords] = []
        try:
            while remaining > 0:
                if source is None or source.is_drained():
                    source = self.next_in_line_records = None
                    if not completed:
                        break
                    source = self.next_in_line_records = self.parse_completed_fetch(completed[0])
                    completed.popleft()
                elif self._keeps_paused and self.subscriptions.is_paused(source.partition):
                    paused.append(source)
                    source = self.next_in_line_records = None
                else:
                    records = self.drain_records(source, remaining)
                    if records:
                        drained.setdefault(source.partition, []).extend(records)
                        remaining -= len(records)
        except KafkaError:
            if not drained:
                if source is None and self._failed_fetch != "kept":
                    completed.popleft()  # or it would hold up the other partitions
                raise
        finally:
            completed.extend(paused)
        return drained

    def drain_records(self, source: PartitionRecords, max_records: int) -> list[ConsumerRecord]:
        """Take records of one partition, unless they are not wanted any more.

        They are thrown away if the partition is no longer assigned, or no longer fetchable (paused,
        before 2.4; about to be revoked; or its position is unknown), or if its position is another
        by now.
        """
        subscriptions, partition = self.subscriptions, source.partition
        may_read = subscriptions.is_fetchable(partition)
        if not may_read or subscriptions.position(partition) != source.fetch_offset:
            source.drain()
            return []
        taken = source.drain_records(max_records)
        if self._failed_fetch == "read_whole":
            records, error = list(taken), None
        else:
            records, error = self._reader.read(partition, taken)
        if error is not None:
            source.put_back(taken[len(records) :])
            if not records:
                raise error
        if records:
            subscriptions.position(partition, source.fetch_offset)
            topic, number = partition
            self.context.record(
                "records_returned",
                self.context.now_ms,
                topic=topic,
                partition=number,
                offset=records[0].offset,
                detail={"count": len(records)},
            )
        if source.is_drained():
            subscriptions.move_to_end(partition)
        return records

    def parse_completed_fetch(
        self, completed: CompletedFetch | PartitionRecords
    ) -> PartitionRecords | None:
        """Look at what came for a partition; None if there is nothing to take from it."""
        if isinstance(completed, PartitionRecords):
            return completed  # its partition was paused (2.4)
        partition, fetch_offset, data = completed
        subscriptions = self.subscriptions
        error = data.error_code
        records = None
        is_wanted = subscriptions.is_fetchable(partition)
        if not (is_wanted or (self._keeps_paused and subscriptions.is_paused(partition))):
            pass  # a rebalance or a pause() came in between
        elif error is Errors.NONE:
            if subscriptions.position(partition) == fetch_offset:
                subscriptions.update_high_watermark(partition, data.high_watermark)
                found: Sequence[Record | ConsumerRecord] = data.records
                if self._failed_fetch == "read_whole":
                    found, failed = self._reader.read(partition, data.records)
                    if failed is not None:
                        raise failed
                if found:
                    is_whole = self._failed_fetch == "read_whole"
                    records = PartitionRecords(
                        partition, fetch_offset, records=found, is_whole=is_whole
                    )
        elif error in _STALE_METADATA:
            self.metadata.request_update()
        elif error is Errors.OFFSET_OUT_OF_RANGE:
            self._handle_out_of_range(partition, fetch_offset)
        elif error is Errors.TOPIC_AUTHORIZATION_FAILED:
            raise error.exception(f"the topic of {partition} may not be read by this consumer")
        elif error is not Errors.UNKNOWN_SERVER_ERROR:
            raise IllegalStateError(f"a fetch of {partition} is answered {error.name}")
        if error is not Errors.NONE:
            subscriptions.move_to_end(partition)
        return records

    def _handle_out_of_range(self, partition: TopicPartition, fetch_offset: int) -> None:
        subscriptions = self.subscriptions
        if subscriptions.position(partition) != fetch_offset:
            return
        if subscriptions.has_default_offset_reset_policy():
            subscriptions.need_offset_reset(partition)
            return
        raise OffsetOutOfRangeError(
            f"offset {fetch_offset} of {partition} is not there, and auto_offset_reset is none: "
            "seek() to one that is, or set auto_offset_reset to earliest or latest"
        )
