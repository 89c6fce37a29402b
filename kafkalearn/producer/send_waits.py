"""What a send waits for: metadata, and room in the buffer; and what the end of its producer does.

Source: org.apache.kafka.clients.producer.KafkaProducer.waitOnMetadata (1.0.2, 2.0.0); in internals,
RecordAccumulator.append and BufferPool.allocate (1.0.2, 2.0.0, 2.4.1).
"""

from kafkalearn.clients.client_context import ClientContext
from kafkalearn.clients.metadata import Metadata
from kafkalearn.errors import (
    IllegalArgumentError,
    IllegalStateError,
    InvalidTopicError,
    KafkaError,
    KafkaTimeoutError,
)
from kafkalearn.producer.producer_config import ProducerConfig
from kafkalearn.producer.record_accumulator import RecordAccumulator
from kafkalearn.producer.sender import Sender
from kafkalearn.records import TopicPartition


class SendWaits:
    """Holds up who sends, up to a deadline: KafkaTimeoutError then."""

    def __init__(
        self,
        context: ClientContext,
        config: ProducerConfig,
        *,
        metadata: Metadata,
        accumulator: RecordAccumulator,
        sender: Sender,
    ) -> None:
        self._context = context
        self._config = config
        self._metadata = metadata
        self._accumulator = accumulator
        self._sender = sender

    def check_open(self, *, waited: bool = False) -> None:
        """IllegalStateError for a producer that is closed or crashed.

        waited: whether a send had begun before, which since 2.0 gets a KafkaError if it is closed.
        """
        context, is_closed = self._context, self._accumulator.closed
        if context.node.alive and not is_closed:
            return
        name = f"KafkaProducer({context.node.name})"
        if not context.node.alive:
            raise IllegalStateError(f"{name} crashed: make a new one to send")
        if waited and context.profile.close_fails_sends:
            raise KafkaError(f"{name} was closed while a send was in progress")
        raise IllegalStateError(f"{name} is closed: make a new one to send")

    def for_metadata(self, topic: str, partition: int | None, *, deadline_ms: int) -> None:
        """Wait until the topic is known, and the partition if one is asked for.

        InvalidTopicError, IllegalArgumentError: there will never be such a topic or partition.
        KafkaError: the producer came to its end (2.0).
        """
        metadata, profile = self._metadata, self._context.profile
        metadata.add(topic)
        asked = False
        while True:
            if topic in metadata.invalid_topics and profile.invalid_topic_is_told:
                raise InvalidTopicError(f"the brokers refuse {topic}: INVALID_TOPIC_EXCEPTION")
            count = metadata.partition_counts.get(topic)
            if count is not None and (partition is None or partition < count):
                return
            if asked and count is not None and not profile.unknown_partition_is_awaited:
                raise IllegalArgumentError(
                    f"partition is {partition}: {topic} has {count}, so one from 0 to {count - 1} "
                    "is allowed"
                )
            if not self._await_update(deadline_ms):
                what = topic if count is None else TopicPartition(topic, partition or 0)
                raise KafkaTimeoutError(
                    f"{what} was not in the metadata within max_block_ms, "
                    f"{self._config.max_block_ms:,} ms"
                )
            asked = True

    def _await_update(self, deadline_ms: int) -> bool:
        """Ask for metadata, and wait for it; False at the deadline."""
        metadata, sender, context = self._metadata, self._sender, self._context
        version = metadata.request_update()
        sender.wakeup()
        is_over = sender.wait_until(
            lambda: metadata.version > version or not sender.process.is_alive,
            max(0, deadline_ms - context.now_ms),
        )
        if not is_over or metadata.version > version:
            return is_over
        # The sender has ended, and nobody asks any more.
        if context.profile.close_fails_sends or not context.node.alive:
            self.check_open(waited=True)
        context.processes.sleep(max(0, deadline_ms - context.now_ms))
        return False

    def for_memory(self, partition: TopicPartition, size: int, *, deadline_ms: int) -> None:
        """Wait until a new batch may be begun, if a record of this size needs one.

        IllegalArgumentError: no buffer is so large. KafkaError, before 2.0 IllegalStateError: the
        producer was closed; before 2.4.1 it had to have room first.
        """
        accumulator, config = self._accumulator, self._config
        ends_at_close = self._context.profile.close_ends_wait_for_memory
        capacity = accumulator.capacity_for(size)
        if capacity > config.buffer_memory:
            raise IllegalArgumentError(
                f"a batch takes {capacity:,} bytes, and buffer_memory is {config.buffer_memory:,}: "
                "no batch_size above it is allowed"
            )
        accumulator.waiters += 1
        try:
            is_there = self._sender.wait_until(
                lambda: (
                    capacity <= accumulator.free_memory
                    or accumulator.has_room_for(partition, size)
                    or (accumulator.closed and ends_at_close)
                ),
                max(0, deadline_ms - self._context.now_ms),
            )
        finally:
            accumulator.waiters -= 1
        if not is_there:
            raise KafkaTimeoutError(
                f"there was no room for {capacity:,} bytes in buffer_memory within max_block_ms, "
                f"{config.max_block_ms:,} ms"
            )
        self.check_open(waited=True)
