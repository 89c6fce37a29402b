"""Offsets that the logs themselves know: their ends, and what belongs to a time.

Source: document 003; org.apache.kafka.clients.consumer.internals.Fetcher (1.0.2;
resetOffsetsAsync: 2.0.0, where a reset does not wait for its answer any more).
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from kafkalearn.clients.network_client import NEVER_MS
from kafkalearn.clients.request_future import RequestFuture
from kafkalearn.consumer.consumer_parts import ConsumerParts
from kafkalearn.consumer.offset_reset_strategy import AutoOffsetResetStrategy, timestamp_of
from kafkalearn.errors import Errors, KafkaTimeoutError, NoOffsetForPartitionError, RetriableError
from kafkalearn.protocol.fetch import (
    UNKNOWN_OFFSET,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
)
from kafkalearn.records import TopicPartition

Found = dict[TopicPartition, ListOffsetsPartitionResponse]


class StaleMetadataError(RetriableError):
    """What is known of the cluster is out of date (Java: InvalidMetadataException)."""


class OffsetLookup:
    """Asks the leaders of partitions for offsets, and gives partitions a position to begin at."""

    def __init__(self, parts: ConsumerParts) -> None:
        self.context = parts.context
        self.client = parts.client
        self.config = parts.config
        self.metadata = parts.cluster_metadata
        self.subscriptions = parts.subscriptions

    def reset_offsets_if_needed(self, partitions: Iterable[TopicPartition]) -> None:
        """Give those a position that wait for a reset (before 2.0).

        NoOffsetForPartitionError for one that may not be reset.
        """
        subscriptions = self.subscriptions
        self._reset_offsets(
            [
                each
                for each in partitions
                if subscriptions.is_assigned(each) and subscriptions.is_offset_reset_needed(each)
            ]
        )

    def update_fetch_positions(self, partitions: Iterable[TopicPartition]) -> None:
        """Begin at the committed offset; where there is none, as auto.offset.reset says.

        It is how this is done before 2.0. NoOffsetForPartitionError.
        """
        subscriptions = self.subscriptions
        needs_reset = []
        for each in partitions:
            if not subscriptions.is_assigned(each) or subscriptions.has_valid_position(each):
                continue
            committed = subscriptions.committed(each)
            if subscriptions.is_offset_reset_needed(each):
                needs_reset.append(each)
            elif committed is None:
                subscriptions.need_offset_reset(each)
                needs_reset.append(each)
            else:
                subscriptions.seek(each, committed.offset, reason="committed")
        self._reset_offsets(needs_reset)

    def reset_offsets_async(self, missing: Sequence[TopicPartition]) -> None:
        """Ask where those begin that wait for a reset, and these; go on before the answer (2.0).

        A lookup that is on its way is not begun again, but after request.timeout.ms; one that
        failed is, after retry.backoff.ms. NoOffsetForPartitionError if `missing` may not be reset.
        """
        subscriptions, now_ms = self.subscriptions, self.context.now_ms
        if missing and not subscriptions.has_default_offset_reset_policy():
            raise _nothing_committed(missing)
        for each in missing:
            subscriptions.need_offset_reset(each)
        by_node: dict[str, dict[TopicPartition, AutoOffsetResetStrategy]] = {}
        for partition, state in subscriptions.assignment.items():
            if state.reset_strategy is None or now_ms < state.next_reset_ms:
                continue
            leader = self.metadata.leaders.get(partition)
            if leader is None:
                self.metadata.request_update()
            elif not self.client.connection_delay(leader):
                state.next_reset_ms = now_ms + self.config.request_timeout_ms
                by_node.setdefault(leader, {})[partition] = state.reset_strategy
        for node, asked in by_node.items():
            sent = self.client.send(node, ListOffsetsRequest(partitions=self._timestamps(asked)))
            sent.add_listener(partial(self._on_reset, asked), partial(self._retry_later, asked))

    def offsets_by_times(
        self, timestamps: Mapping[TopicPartition, int], timeout_ms: int = NEVER_MS
    ) -> Found:
        """Ask for the first offset at or after each time in ms; without one, it is not in it.

        KafkaTimeoutError if the answers do not come in time.
        """
        if not timestamps:
            return {}
        deadline_ms = self.context.now_ms + timeout_ms
        while True:
            future = self._send_list_offsets_requests(timestamps)
            self.client.poll_future(future, deadline_ms - self.context.now_ms)
            if future.succeeded():
                return future.value()
            if future.failed() and not future.is_retriable():
                raise future.exception()
            left_ms = deadline_ms - self.context.now_ms
            if left_ms > 0 and future.is_done:
                if isinstance(future.exception(), StaleMetadataError):
                    self.client.await_metadata_update(left_ms)
                else:
                    self.context.processes.sleep(min(left_ms, self.config.retry_backoff_ms))
            if self.context.now_ms >= deadline_ms:
                raise KafkaTimeoutError(f"no offsets were found within {timeout_ms:,} ms")

    def _timestamps(
        self, strategies: Mapping[TopicPartition, AutoOffsetResetStrategy | None]
    ) -> dict[TopicPartition, int]:
        """What to ask for, where something is to be asked."""
        asked = {}
        for partition, strategy in strategies.items():
            if strategy is not None:
                timestamp = timestamp_of(strategy, self.context.now_ms)
                if timestamp is not None:
                    asked[partition] = timestamp
        return asked

    def _on_reset(
        self, asked: Mapping[TopicPartition, AutoOffsetResetStrategy], response: Any
    ) -> None:
        """Place those that still wait for the reset that was asked for, and were found."""
        subscriptions = self.subscriptions
        failed = []
        for partition, answer in response.partitions.items():
            state = subscriptions.assignment.get(partition)
            if answer.error_code is not Errors.NONE:
                failed.append(partition)
            elif (
                state is not None
                and state.reset_strategy == asked[partition]
                and answer.offset != UNKNOWN_OFFSET
            ):
                subscriptions.seek(partition, answer.offset, reason="reset")
        if failed:
            self._retry_later(failed)

    def _retry_later(
        self, partitions: Iterable[TopicPartition], _: Exception | None = None
    ) -> None:
        self.metadata.request_update()
        for each in partitions:
            state = self.subscriptions.assignment.get(each)
            if state is not None:
                state.next_reset_ms = self.context.now_ms + self.config.retry_backoff_ms

    def _reset_offsets(self, partitions: list[TopicPartition]) -> None:
        if not partitions:
            return
        subscriptions = self.subscriptions
        strategies = {each: subscriptions.reset_strategy(each) for each in partitions}
        found = self.offsets_by_times(self._timestamps(strategies))
        for each in found:
            if subscriptions.is_assigned(each):
                subscriptions.seek(each, found[each].offset, reason="reset")
        lost = [each for each in partitions if each not in found]
        if lost:
            raise _nothing_committed(lost)

    def _send_list_offsets_requests(
        self, timestamps: Mapping[TopicPartition, int]
    ) -> RequestFuture[Found]:
        """Ask every leader once; one that fails lets all fail."""
        by_node: dict[str, dict[TopicPartition, int]] = {}
        for partition, timestamp in timestamps.items():
            leader = self.metadata.leaders.get(partition)
            if leader is None:
                self.metadata.add(partition.topic)
                error = StaleMetadataError(f"the leader of {partition} is not known")
                return RequestFuture.failure(error)
            by_node.setdefault(leader, {})[partition] = timestamp
        found: Found = {}
        all_of_them: RequestFuture[Found] = RequestFuture()
        missing = list(by_node)

        def on_success(node: str, response: Any) -> None:
            missing.remove(node)
            for partition, answer in response.partitions.items():
                if answer.error_code is not Errors.NONE:
                    fail(StaleMetadataError(f"{partition} is answered {answer.error_code.name}"))
                    return
                if answer.offset >= 0:
                    found[partition] = answer
            if not missing and not all_of_them.is_done:
                all_of_them.complete({each: found[each] for each in timestamps if each in found})

        def fail(error: Exception) -> None:
            if not all_of_them.is_done:
                all_of_them.raise_error(error)

        for node, asked in by_node.items():
            sent = self.client.send(node, ListOffsetsRequest(partitions=asked))
            sent.add_listener(partial(on_success, node), fail)
        return all_of_them


def _nothing_committed(partitions: Iterable[TopicPartition]) -> NoOffsetForPartitionError:
    return NoOffsetForPartitionError(
        f"nothing is committed for {', '.join(map(str, partitions))}, and auto_offset_reset is "
        "none: seek() to an offset, or set auto_offset_reset to earliest or latest"
    )
