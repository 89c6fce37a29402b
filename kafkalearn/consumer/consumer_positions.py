"""Where a consumer reads: positions, committed offsets, pausing, and what the logs hold.

Source: documents 003 and 004; org.apache.kafka.clients.consumer.KafkaConsumer (1.0.2; 2.0.0
where what is asked for is waited for by later calls).
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta

from kafkalearn.clients.network_client import NEVER_MS
from kafkalearn.consumer.consumer_base import ConsumerBase
from kafkalearn.consumer.offset_requests import Offsets
from kafkalearn.consumer.offset_reset_strategy import OffsetResetStrategy
from kafkalearn.consumer.partition_states import (
    check_partition,
    check_partitions,
    listed_partitions,
)
from kafkalearn.errors import IllegalArgumentError, IllegalStateError, KafkaTimeoutError
from kafkalearn.protocol.fetch import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from kafkalearn.records import OffsetAndMetadata, OffsetAndTimestamp, TopicPartition

Partitions = Iterable[TopicPartition]


class ConsumerPositions(ConsumerBase):
    """The calls of a consumer that are about offsets.

    Those that ask the cluster wait for the answer: up to `timeout` (Java: a Duration) or
    default.api.timeout.ms (2.0), for ever before; the offsets of logs up to request.timeout.ms
    before, and end_offsets until 3.2. KafkaTimeoutError after that.
    """

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Read on from `offset` at the next poll; IllegalStateError if it is not assigned."""
        with self._exclusive:
            self.subscriptions.seek(check_partition(partition), offset)

    def seek_to_beginning(self, partitions: Partitions = ()) -> None:
        """Read on from the first offset there is then; without arguments in all partitions.

        IllegalStateError at the first that is not assigned, after those before it.
        """
        self._reset(partitions, OffsetResetStrategy.EARLIEST)

    def seek_to_end(self, partitions: Partitions = ()) -> None:
        """Read on from the end that the log has then; without arguments in all partitions.

        IllegalStateError at the first that is not assigned, after those before it.
        """
        self._reset(partitions, OffsetResetStrategy.LATEST)

    def position(self, partition: TopicPartition, *, timeout: timedelta | None = None) -> int:
        """Give the offset that is fetched next; asks for it if it is not known yet.

        IllegalStateError if the partition is not assigned (Java before 2.0:
        IllegalArgumentException).
        """
        with self._exclusive:
            wanted = check_partition(partition)
            if not self.subscriptions.is_assigned(wanted):
                raise IllegalStateError(
                    f"{wanted} is not assigned to this consumer, so that it has no position here"
                )
            deadline_ms = self.context.now_ms + self.api_timeout_ms(NEVER_MS, timeout)
            while (position := self.subscriptions.position(wanted)) is None:
                self.update_fetch_positions([wanted], deadline_ms - self.context.now_ms)
                if self.context.profile.poll_timeout_bounds_join:
                    self.client.poll(max(0, deadline_ms - self.context.now_ms))
                if self.context.now_ms >= deadline_ms:
                    raise KafkaTimeoutError(f"the position of {wanted} was not found in time")
            return position

    def committed(
        self, partition: TopicPartition, *, timeout: timedelta | None = None
    ) -> OffsetAndMetadata | None:
        """Ask the coordinator what is committed; None if nothing is.

        Before 0.11 only what is not known here is asked for, once a partition is assigned.
        """
        with self._exclusive:
            self.check_group_id()
            wanted = check_partition(partition)
            timeout_ms = self.api_timeout_ms(NEVER_MS, timeout)
            knows_itself = not self.context.profile.committed_asks_coordinator
            if knows_itself and self.subscriptions.is_assigned(wanted):
                if self.subscriptions.committed(wanted) is None:
                    self.coordinator.refresh_committed_offsets_if_needed()
                return self.subscriptions.committed(wanted)
            offsets = self.coordinator.fetch_committed_offsets([wanted], timeout_ms)
            if offsets is None:
                raise KafkaTimeoutError(f"the committed offset of {wanted} was not found in time")
            return offsets.get(wanted)

    def pause(self, partitions: Partitions) -> None:
        """Fetch nothing of these until resume(); a rebalance may undo it.

        IllegalStateError at the first that is not assigned: those before it are paused.
        """
        with self._exclusive:
            for each in listed_partitions(partitions):
                self.subscriptions.pause(each)

    def resume(self, partitions: Partitions) -> None:
        """Fetch these again.

        IllegalStateError at the first that is not assigned: those before it are resumed.
        """
        with self._exclusive:
            for each in listed_partitions(partitions):
                self.subscriptions.resume(each)

    def paused(self) -> list[TopicPartition]:
        """Those that are paused, sorted."""
        with self._exclusive:
            return sorted(self.subscriptions.paused_partitions())

    def assignment(self) -> list[TopicPartition]:
        """The partitions that this consumer has, sorted: empty until a poll has joined."""
        with self._exclusive:
            return sorted(self.subscriptions.assigned_partitions())

    def beginning_offsets(
        self, partitions: Partitions, *, timeout: timedelta | None = None
    ) -> dict[TopicPartition, int]:
        """Ask for the first offset in each log."""
        return self._offsets_at(partitions, EARLIEST_TIMESTAMP, timeout)

    def end_offsets(
        self, partitions: Partitions, *, timeout: timedelta | None = None
    ) -> dict[TopicPartition, int]:
        """Ask for the high watermark of each log: the next offset that will be written."""
        return self._offsets_at(partitions, LATEST_TIMESTAMP, timeout)

    def offsets_for_times(
        self, timestamps: Mapping[TopicPartition, int], *, timeout: timedelta | None = None
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """Ask for the first record at or after each time, in ms; None where there is none."""
        with self._exclusive:
            if not isinstance(timestamps, Mapping):
                raise IllegalArgumentError(
                    f"timestamps is {timestamps!r}: a dict of TopicPartition to ms is allowed"
                )
            checked = {check_partition(each): time for each, time in timestamps.items()}
            wanted = dict(sorted(checked.items()))
            for each, time in wanted.items():
                if type(time) is not int or time < 0:
                    raise IllegalArgumentError(f"the time for {each} is {time!r}: ms from 0 on")
            timeout_ms = self.api_timeout_ms(self.config.request_timeout_ms, timeout)
            found = self.fetcher.offsets_by_times(wanted, timeout_ms)
            return {
                each: OffsetAndTimestamp(found[each].offset, found[each].timestamp)
                if each in found
                else None
                for each in wanted
            }

    def update_fetch_positions(self, partitions: Partitions, timeout_ms: int = NEVER_MS) -> bool:
        """Give these a position: pending resets first, then committed offsets, then the default.

        From 2.0 on give all one: committed offsets first, False if they do not come in time; and
        resets are only begun. NoOffsetForPartitionError.
        """
        if self.context.profile.poll_timeout_bounds_join:
            return self._begin_at_committed_or_reset(timeout_ms)
        wanted = list(partitions)
        self.fetcher.reset_offsets_if_needed(wanted)
        if not self.subscriptions.has_all_fetch_positions(wanted):
            self.coordinator.refresh_committed_offsets_if_needed()
            self.fetcher.update_fetch_positions(wanted)
        return True

    def _begin_at_committed_or_reset(self, timeout_ms: int) -> bool:
        subscriptions = self.subscriptions
        missing = [
            each
            for each in subscriptions.missing_fetch_positions()
            if not subscriptions.is_offset_reset_needed(each)
        ]
        if missing and self.config.group_id:
            committed = self.coordinator.fetch_committed_offsets(missing, timeout_ms)
            if committed is None:
                return False
            for each, offset in committed.items():
                subscriptions.seek(each, offset.offset, reason="committed")
            missing = [each for each in missing if each not in committed]
        self.fetcher.reset_offsets_async(missing)
        return True

    def _reset(self, partitions: Partitions, strategy: OffsetResetStrategy) -> None:
        with self._exclusive:
            wanted = listed_partitions(partitions) or self.subscriptions.assigned_partitions()
            for each in wanted:
                self.subscriptions.need_offset_reset(each, strategy)

    def _offsets(self, offsets: Offsets | None) -> Offsets:
        if offsets is None:
            return self.subscriptions.all_consumed()
        if not isinstance(offsets, Mapping):
            raise IllegalArgumentError(
                f"offsets is {offsets!r}: a dict of TopicPartition to OffsetAndMetadata is allowed"
            )
        wanted = {check_partition(each): offset for each, offset in offsets.items()}
        for partition, offset in wanted.items():
            if not isinstance(offset, OffsetAndMetadata):
                raise IllegalArgumentError(
                    f"the offset of {partition} is {offset!r}: OffsetAndMetadata(next_to_read) is "
                    "allowed, which is the last processed offset + 1"
                )
        return dict(sorted(wanted.items()))

    def _offsets_at(
        self, partitions: Partitions, timestamp: int, timeout: timedelta | None
    ) -> dict[TopicPartition, int]:
        with self._exclusive:
            wanted = dict.fromkeys(check_partitions(partitions), timestamp)
            request_timeout_ms = self.config.request_timeout_ms
            timeout_ms = self.api_timeout_ms(request_timeout_ms, timeout)
            waits_alike = self.context.profile.end_offsets_wait_api_timeout
            if timeout is None and timestamp == LATEST_TIMESTAMP and not waits_alike:
                timeout_ms = request_timeout_ms
            found = self.fetcher.offsets_by_times(wanted, timeout_ms)
            return {each: found[each].offset for each in wanted}
