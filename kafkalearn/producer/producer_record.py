"""What a producer takes, and what it gives back.

Source: org.apache.kafka.clients.producer.ProducerRecord, RecordMetadata (1.0.2).
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kafkalearn.errors import IllegalArgumentError
from kafkalearn.records import MAX_INT, MAX_LONG, check_topic


@dataclass(frozen=True, slots=True)
class ProducerRecord:
    """A record to send.

    value: None is a tombstone. partition: chosen by the partitioner if it is None.
    timestamp_ms: the virtual time of the send if it is None.
    headers: (name, bytes) pairs, or (name, None).

    Errors: InvalidTopicError, and IllegalArgumentError for anything else. Differs from Kafka: a
    topic's name is checked here, where Kafka's producer learns it from a broker.
    """

    topic: str
    value: Any = None
    key: Any = field(default=None, kw_only=True)
    partition: int | None = field(default=None, kw_only=True)
    timestamp_ms: int | None = field(default=None, kw_only=True)
    headers: tuple[tuple[str, bytes | None], ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        check_topic(self.topic)
        if self.partition is not None:
            _check_number("partition", self.partition, MAX_INT)
        if self.timestamp_ms is not None:
            _check_number("timestamp_ms", self.timestamp_ms, MAX_LONG)
        if self.headers != ():
            object.__setattr__(self, "headers", _headers(self.headers))


class RecordMetadata(NamedTuple):
    """Where a record is now. offset: -1 with acks 0, which no broker answers.

    With an error, offset and timestamp are -1, and so is the partition if none was chosen.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int

    @classmethod
    def unknown(cls, topic: str, partition: int | None) -> "RecordMetadata":
        """Say of a record that is nowhere where it should have been."""
        return cls(topic, -1 if partition is None else partition, -1, -1)


def _check_number(name: str, number: object, most: int) -> None:
    if type(number) is not int or not 0 <= number <= most:
        raise IllegalArgumentError(
            f"{name} is {number!r}: None or a whole number from 0 to {most} is allowed"
        )


def _headers(headers: Any) -> tuple[tuple[str, bytes | None], ...]:
    try:
        pairs = tuple((name, value) for name, value in headers)
    except (TypeError, ValueError):
        pairs = ((None, None),)
    if not all(isinstance(name, str) and isinstance(value, bytes | None) for name, value in pairs):
        raise IllegalArgumentError(
            f"headers is {headers!r:.80}: a list of (name, bytes) pairs is allowed"
        )
    return pairs
