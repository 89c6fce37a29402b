"""The producer: what an application calls to send records.

Source: document 003; org.apache.kafka.clients.producer.KafkaProducer (1.0.2, 2.4.0).
Differs from Kafka: no transactions, interceptors, compression or metrics.
"""

from collections.abc import Mapping
from typing import Any

from kafkalearn.clients.client_context import ClientContext
from kafkalearn.clients.exponential_backoff import ExponentialBackoff
from kafkalearn.clients.metadata import Metadata
from kafkalearn.clients.serialization import serialize, serializer_of
from kafkalearn.errors import ApiError, IllegalArgumentError, RecordTooLargeError
from kafkalearn.producer.partitioner import partitioner_of
from kafkalearn.producer.producer_batch import Callback, FutureRecordMetadata, Thunk
from kafkalearn.producer.producer_config import check_timeout, producer_config
from kafkalearn.producer.producer_record import ProducerRecord, RecordMetadata
from kafkalearn.producer.record_accumulator import RecordAccumulator
from kafkalearn.producer.send_waits import SendWaits
from kafkalearn.producer.sender import Sender
from kafkalearn.records import Record, TopicPartition, check_topic


class KafkaProducer:
    """Sends records in the background; made by Simulation.producer.

    given: see ProducerConfig; `properties`: the same as Java properties, whose values are text.
    """

    def __init__(
        self,
        context: ClientContext,
        given: Mapping[str, object],
        *,
        properties: Mapping[str, str] | None = None,
    ) -> None:
        self._context = context
        self._config = config = producer_config(context.profile, given, properties=properties)
        self._key_serializer = serializer_of(config.key_serializer, "key_serializer")
        self._value_serializer = serializer_of(config.value_serializer, "value_serializer")
        backoff = ExponentialBackoff.of(config, context.random)
        self._metadata = Metadata(
            context.brokers, refresh_backoff=backoff, metadata_expire_ms=config.metadata_max_age_ms
        )
        self._accumulator = RecordAccumulator(config, backoff)
        self._partitioner = partitioner_of(
            context, self._config, metadata=self._metadata, is_full=self._accumulator.is_full
        )
        self._sender = Sender(
            context, self._config, metadata=self._metadata, accumulator=self._accumulator
        )
        self._waits = SendWaits(
            context,
            config,
            metadata=self._metadata,
            accumulator=self._accumulator,
            sender=self._sender,
        )

    def __repr__(self) -> str:
        return f"KafkaProducer({self._context.node.name})"

    def send(
        self, record: ProducerRecord | str, callback: Callback | None = None, **fields: Any
    ) -> FutureRecordMetadata:
        """Hand a record over to be sent: one, or a topic and the fields of a ProducerRecord.

        It waits for at most max.block.ms, for metadata and for room in the buffer. The callback is
        called in the sender's process, with (RecordMetadata, None) or (None, error); from 1.1 on
        (3.2, if it was never in a batch) with metadata beside the error, whose offset is -1.

        Errors: what a broker could say, RecordTooLargeError and KafkaTimeoutError are in the
        future, and told to the callback at once; anything else is raised.
        """
        if callback is not None and not callable(callback):
            raise IllegalArgumentError(
                f"callback is {callback!r:.60}: a function is allowed; what is to be sent is given "
                "as value=..."
            )
        known = ProducerRecord.__dataclass_fields__
        if not fields.keys() <= known.keys():
            unknown = ", ".join(each for each in fields if each not in known)
            raise IllegalArgumentError(f"a record has no {unknown}: it has {', '.join(known)}")
        if not isinstance(record, ProducerRecord):
            record = ProducerRecord(record, **fields)
        elif fields:
            raise IllegalArgumentError(
                f"{', '.join(fields)} beside a ProducerRecord: it has its own"
            )
        if record.headers and not self._context.profile.record_headers:
            raise IllegalArgumentError("headers are known from Kafka 0.11 on: this is an older one")
        future = FutureRecordMetadata(self._sender.wait_until)
        rule = self._context.profile.failed_send_metadata
        try:
            self._do_send(record, Thunk(future, callback, rule != "never"))
        except ApiError as error:
            if callback is not None:
                where = RecordMetadata.unknown(record.topic, record.partition)
                callback(where if rule == "always" else None, error)
            future.settle(None, error)
            future.is_done = True
        return future

    def flush(self) -> None:
        """Let nothing linger, and wait until all that was sent is acknowledged or given up."""
        accumulator = self._accumulator
        accumulator.flushes += 1
        self._sender.wakeup()
        try:
            sent = list(accumulator.incomplete)
            self._sender.wait_until(lambda: accumulator.incomplete.keys().isdisjoint(sent))
        finally:
            accumulator.flushes -= 1

    def partitions_for(self, topic: str) -> list[TopicPartition]:
        """List the partitions of a topic; KafkaTimeoutError if it is not there in max.block.ms."""
        self._waits.check_open()
        deadline_ms = self._context.now_ms + self._config.max_block_ms
        self._waits.for_metadata(check_topic(topic), None, deadline_ms=deadline_ms)
        count = self._metadata.partition_counts[topic]
        return [TopicPartition(topic, partition) for partition in range(count)]

    def close(self, timeout_ms: int | None = None) -> None:
        """Send what is left and end; give up what is not done after `timeout_ms`, at once for 0.

        In a callback it gives up at once, whatever the timeout. A crashed producer stays as it is.
        What is given up fails with KafkaError (IllegalStateError before 2.0), also sends that wait.
        """
        check_timeout(timeout_ms)
        sender = self._sender
        if not self._context.node.alive:
            return
        if timeout_ms != 0 and not sender.is_current():
            sender.initiate_close()
            sender.wait_until(lambda: not sender.process.is_alive, timeout_ms)
        if sender.process.is_alive:
            sender.force_close()
            if not sender.is_current():
                sender.wait_until(lambda: not sender.process.is_alive)

    # Sending.

    def _do_send(self, record: ProducerRecord, thunk: Thunk) -> None:
        if self._context.profile.close_fails_sends or not self._context.node.alive:
            self._waits.check_open()  # up to 1.1 only the append looks
        loop, topic = self._context.loop, record.topic
        deadline_ms = loop.now_ms + self._config.max_block_ms
        self._waits.for_metadata(topic, record.partition, deadline_ms=deadline_ms)
        key = serialize(self._key_serializer, record.key, what="the key", topic=topic)
        value = serialize(self._value_serializer, record.value, what="the value", topic=topic)
        partition = self._partition(record, key)
        timestamp_ms = loop.now_ms if record.timestamp_ms is None else record.timestamp_ms
        made = Record(-1, timestamp_ms, key, value, record.headers)
        size = made.size_in_bytes
        self._ensure_valid_record_size(size)
        self._waits.check_open(waited=True)
        accumulator = self._accumulator
        is_ready = accumulator.try_append(partition, made, thunk=thunk, now_ms=loop.now_ms)
        if is_ready is None:
            if self._partitioner.on_new_batch(*partition):
                partition = self._partition(record, key)
            self._waits.for_memory(partition, size, deadline_ms=deadline_ms)
            is_ready = accumulator.append(partition, made, thunk=thunk, now_ms=loop.now_ms)
        if is_ready:
            self._sender.wakeup()
        if record.partition is None and key is None:
            self._partitioner.on_append(topic, size)

    def _partition(self, record: ProducerRecord, key: bytes | None) -> TopicPartition:
        if record.partition is not None:
            return TopicPartition(record.topic, record.partition)
        chosen = self._partitioner.partition(record, key)
        count = self._metadata.partition_counts[record.topic]
        if type(chosen) is not int or not 0 <= chosen < count:
            raise IllegalArgumentError(
                f"{type(self._partitioner).__name__} chose partition {chosen!r} of {record.topic}: "
                f"a whole number from 0 to {count - 1} is allowed"
            )
        return TopicPartition(record.topic, chosen)

    def _ensure_valid_record_size(self, size: int) -> None:
        for key in ("max_request_size", "buffer_memory"):
            most = getattr(self._config, key)
            if size > most:
                raise RecordTooLargeError(
                    f"the record has {size:,} bytes: {key}, {most:,}, is the most"
                )
