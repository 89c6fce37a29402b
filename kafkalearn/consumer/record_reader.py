"""Turning what brokers store into what an application reads.

Source: Fetcher.parseRecord (1.0.2) in org.apache.kafka.clients.consumer.internals.
"""

from collections.abc import Sequence

from kafkalearn.clients.serialization import deserializer_of
from kafkalearn.consumer.consumer_config import ConsumerConfig
from kafkalearn.consumer.consumer_records import ConsumerRecord
from kafkalearn.errors import SerializationError
from kafkalearn.records import Record, TopicPartition


class RecordReader:
    """Reads keys and values with the deserializers of a consumer."""

    def __init__(self, config: ConsumerConfig) -> None:
        self._read_key = deserializer_of(config.key_deserializer, "key_deserializer")
        self._read_value = deserializer_of(config.value_deserializer, "value_deserializer")

    def read(
        self, partition: TopicPartition, taken: Sequence[Record]
    ) -> tuple[list[ConsumerRecord], SerializationError | None]:
        """Read records, up to one that cannot be read: then with the error."""
        topic, number = partition
        read_key, read_value = self._read_key, self._read_value
        records: list[ConsumerRecord] = []
        for offset, timestamp, key, value, headers in taken:
            try:
                key = key if key is None else read_key(key)
                value = value if value is None else read_value(value)
            except Exception as error:
                failed = SerializationError(
                    f"the record of {partition} at offset {offset} cannot be read: {error}; "
                    "seek() past it to go on"
                )
                failed.__cause__ = error
                return records, failed
            records.append(ConsumerRecord(topic, number, offset, timestamp, key, value, headers))
        return records, None
