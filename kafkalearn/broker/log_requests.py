"""Produce and ListOffsets: writing to the logs that a broker leads, and finding offsets in them.

Source: KafkaApis.handleProduceRequest, handleListOffsetRequest, ReplicaManager.appendRecords
(1.0.2), Log.append (0.10.1.1, 1.0.2).
"""

from kafkalearn.broker.broker_context import BrokerContext
from kafkalearn.broker.cluster import Cluster, Partition
from kafkalearn.errors import Errors, InvalidRequestError
from kafkalearn.protocol.fetch import (
    EARLIEST_TIMESTAMP,
    LATEST_TIMESTAMP,
    UNKNOWN_OFFSET,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
)
from kafkalearn.protocol.message import Reply
from kafkalearn.protocol.produce import (
    INVALID_OFFSET,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
)
from kafkalearn.records import Record, TopicPartition, is_internal

_VALID_ACKS = (-1, 0, 1)


class LogRequests:
    """Answers at once, always.

    Differs from Kafka: acks -1 waits for no replica, since there is none; and with acks 0 an error
    is lost, where Kafka closes the connection.
    """

    def __init__(self, context: BrokerContext, cluster: Cluster) -> None:
        self._node = context.node
        self._message_max_bytes = context.config.message_max_bytes
        self._batch_is_measured = context.profile.batch_is_measured
        self._cluster = cluster

    def produce(self, request: ProduceRequest, now_ms: int, reply: Reply) -> None:
        """Append each batch or say why not; no reply with acks 0.

        InvalidRequestError: a batch without records.
        """
        for topic_partition, records in request.batches.items():
            if not records:
                raise InvalidRequestError(
                    f"the batch for {topic_partition} is empty: one record or more is allowed"
                )
        answers = {}
        for topic_partition, records in request.batches.items():
            partition = self._writable(topic_partition, records, acks=request.acks)
            if isinstance(partition, Errors):
                answer = PartitionProduceResponse(partition, INVALID_OFFSET, INVALID_OFFSET)
            else:
                base_offset = self._cluster.append(partition, records, now_ms=now_ms)
                answer = PartitionProduceResponse(
                    Errors.NONE, base_offset, partition.log.log_start_offset
                )
            answers[topic_partition] = answer
        if request.acks != 0:
            reply(ProduceResponse(partitions=answers))

    def list_offsets(self, request: ListOffsetsRequest, now_ms: int, reply: Reply) -> None:
        """Find an offset for each partition, below the high watermark."""
        answers = {}
        for topic_partition, timestamp in request.partitions.items():
            partition = self._cluster.find_led_by(self._node, topic_partition)
            if isinstance(partition, Errors):
                found = (partition, UNKNOWN_OFFSET, UNKNOWN_OFFSET)
            else:
                found = (Errors.NONE, *_timestamp_and_offset(partition, timestamp))
            answers[topic_partition] = ListOffsetsPartitionResponse(*found)
        reply(ListOffsetsResponse(partitions=answers))

    def _writable(
        self, topic_partition: TopicPartition, records: tuple[Record, ...], *, acks: int
    ) -> Partition | Errors:
        """Find where to write; Kafka's order of checks."""
        if self._cluster.find(topic_partition) is None:
            return Errors.UNKNOWN_TOPIC_OR_PARTITION
        if acks not in _VALID_ACKS:
            return Errors.INVALID_REQUIRED_ACKS
        if is_internal(topic_partition.topic):
            return Errors.INVALID_TOPIC_EXCEPTION
        partition = self._cluster.find_led_by(self._node, topic_partition)
        sizes = [record.size_in_bytes for record in records]
        largest = sum(sizes) if self._batch_is_measured else max(sizes)
        if not isinstance(partition, Errors) and largest > self._message_max_bytes:
            return Errors.MESSAGE_TOO_LARGE
        return partition


def _timestamp_and_offset(partition: Partition, timestamp: int) -> tuple[int, int]:
    log = partition.log
    if timestamp == LATEST_TIMESTAMP:
        return UNKNOWN_OFFSET, log.high_watermark
    if timestamp == EARLIEST_TIMESTAMP:
        return UNKNOWN_OFFSET, log.log_start_offset
    record = log.first_since(timestamp)
    if record is None:
        return UNKNOWN_OFFSET, UNKNOWN_OFFSET
    return record.timestamp_ms, record.offset
