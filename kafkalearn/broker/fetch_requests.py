"""Fetch: what a consumer reads, now or as soon as there is enough of it.

Source: kafka.server.KafkaApis.handleFetchRequest, ReplicaManager.readFromLocalLog, DelayedFetch
(1.0.2).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from kafkalearn.broker.broker_context import BrokerContext
from kafkalearn.broker.cluster import Cluster
from kafkalearn.broker.interfaces import Timer
from kafkalearn.broker.partition_log import PartitionLog
from kafkalearn.errors import Errors, InvalidRequestError
from kafkalearn.protocol.fetch import (
    INVALID_HIGH_WATERMARK,
    UNKNOWN_OFFSET,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from kafkalearn.protocol.message import Reply
from kafkalearn.records import TopicPartition


@dataclass(slots=True, eq=False)
class DelayedFetch:
    """A fetch that may wait. partitions: those asked for that existed when it came."""

    request: FetchRequest
    partitions: Mapping[TopicPartition, FetchPartition]
    reply: Reply
    timer: Timer | None = None


class FetchRequests:
    """Answers fetches. One that waits is watched at each of its partitions.

    Partitions are read in the order of the request until max_bytes are full. The first record of
    the first partition that has any is given whatever its size, so that no consumer is stuck.
    """

    def __init__(self, context: BrokerContext, cluster: Cluster) -> None:
        self._node = context.node
        self._timers = context.timers
        self._cluster = cluster
        self._watchers: dict[TopicPartition, dict[DelayedFetch, None]] = {}

    def handle(self, request: FetchRequest, now_ms: int, reply: Reply) -> None:
        """Answer at once if min_bytes were read, no time to wait, or an error; else wait.

        As in Kafka, a partition that does not exist is an error that lets the others wait, and a
        record above its partition's limit counts whole here, but not for a fetch that waits.
        InvalidRequestError: a negative limit.
        """
        least, asked, find = request.max_bytes, {}, self._cluster.find
        for topic_partition, at in request.partitions.items():
            if at.partition_max_bytes < least:
                least = at.partition_max_bytes
            if find(topic_partition) is not None:
                asked[topic_partition] = at
        if least < 0:
            raise InvalidRequestError(f"a limit is {least} bytes: 0 or more is allowed")
        fetch = DelayedFetch(request, asked, reply)
        data, size = self._read(request)
        waits = request.max_wait_ms > 0 and size < request.min_bytes
        if not waits or not asked or self._is_satisfied(fetch):
            reply(FetchResponse(partitions=data))
            return
        fetch.timer = self._timers.call_at(
            now_ms + request.max_wait_ms, lambda due_ms: self._complete(fetch)
        )
        for topic_partition in asked:
            self._watchers.setdefault(topic_partition, {})[fetch] = None

    def check_and_complete(self, topic_partition: TopicPartition) -> None:
        """Answer those who wait for this partition and need not wait longer, first come first."""
        watchers = self._watchers.get(topic_partition, {})
        for fetch in list(watchers):
            if fetch in watchers and self._is_satisfied(fetch):
                self._complete(fetch)

    def _is_satisfied(self, fetch: DelayedFetch) -> bool:
        """Whether there is an error, or min_bytes; max_bytes does not count here."""
        size = 0
        for topic_partition, (offset, partition_max_bytes) in fetch.partitions.items():
            log = self._readable_log(topic_partition, offset)
            if isinstance(log, Errors):
                return True
            if offset < log.high_watermark:
                size += min(log.size_between(offset, log.high_watermark), partition_max_bytes)
        return size >= fetch.request.min_bytes

    def _complete(self, fetch: DelayedFetch) -> None:
        if fetch.timer is not None:
            fetch.timer.cancel()
            fetch.timer = None  # it refers back, and the garbage collector would have to find that
        for topic_partition in fetch.partitions:
            del self._watchers[topic_partition][fetch]
        data, _ = self._read(fetch.request)
        fetch.reply(FetchResponse(partitions=data))

    def _read(self, request: FetchRequest) -> tuple[dict[TopicPartition, PartitionData], int]:
        """Give what the answer has of each partition, and how many bytes that is."""
        data = {}
        left = request.max_bytes
        nothing_yet = True
        for topic_partition, (offset, partition_max_bytes) in request.partitions.items():
            log = self._readable_log(topic_partition, offset)
            if isinstance(log, Errors):
                data[topic_partition] = PartitionData(log, INVALID_HIGH_WATERMARK, UNKNOWN_OFFSET)
                continue
            limit = min(partition_max_bytes, left)
            records = log.read(offset, limit, min_one_record=nothing_yet)
            if records:
                nothing_yet = False
                left -= log.size_between(offset, offset + len(records))
            data[topic_partition] = PartitionData(
                Errors.NONE, log.high_watermark, log.log_start_offset, records
            )
        return data, request.max_bytes - left

    def _readable_log(self, topic_partition: TopicPartition, offset: int) -> PartitionLog | Errors:
        partition = self._cluster.find_led_by(self._node, topic_partition)
        if isinstance(partition, Errors):
            return partition
        log = partition.log
        return log if log.has_offset(offset) else Errors.OFFSET_OUT_OF_RANGE
