"""What a poll returns: records with their keys and values read, partition by partition.

Source: org.apache.kafka.clients.consumer.ConsumerRecords and ConsumerRecord (1.0.2).
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from reprlib import Repr
from typing import Any, NamedTuple

from kafkalearn.errors import IllegalArgumentError
from kafkalearn.records import TopicPartition


class _Short(Repr):
    """Cut what is long; sets in order, and no addresses: a notebook's output is compared."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 40

    def repr_instance(self, x: object, level: int) -> str:
        if type(x).__repr__ is object.__repr__:
            return f"<{type(x).__name__}>"
        return super().repr_instance(x, level)


_short = _Short().repr


class ConsumerRecord(NamedTuple):
    """One record as the application gets it.

    timestamp: in ms, set by its producer.
    Differs from Kafka: no checksum and no serialised sizes.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: Any
    value: Any
    headers: tuple[tuple[str, bytes | None], ...] = ()

    def __repr__(self) -> str:
        """Say which record it is, and what is in it as far as there is room."""
        return (
            f"ConsumerRecord({self.topic}-{self.partition} offset {self.offset}, "
            f"key={_short(self.key)}, value={_short(self.value)})"
        )


class ConsumerRecords:
    """The records of one poll. Iteration gives all of them, one partition after the other."""

    __slots__ = ("_records",)

    def __init__(self, records: Mapping[TopicPartition, Iterable[ConsumerRecord]]) -> None:
        listed = ((partition, tuple(given)) for partition, given in records.items())
        self._records = {partition: given for partition, given in listed if given}

    @staticmethod
    def empty() -> "ConsumerRecords":
        """What a poll returns when its time is up."""
        return ConsumerRecords({})

    def records(self, wanted: TopicPartition | str) -> tuple[ConsumerRecord, ...]:
        """Give those of one partition, or of one topic; none if there are none."""
        if isinstance(wanted, str):
            return tuple(record for record in self if record.topic == wanted)
        if not isinstance(wanted, tuple):
            raise IllegalArgumentError(
                f"records of {_short(wanted)}: a TopicPartition or a topic name is allowed"
            )
        return self._records.get(wanted, ())

    def partitions(self) -> tuple[TopicPartition, ...]:
        """Give those that have records here."""
        return tuple(self._records)

    def count(self) -> int:
        """How many records there are in all partitions together."""
        return sum(map(len, self._records.values()))

    def is_empty(self) -> bool:
        """Whether there is none."""
        return not self._records

    def __len__(self) -> int:
        return self.count()

    def __iter__(self) -> Iterator[ConsumerRecord]:
        return chain.from_iterable(self._records.values())

    def __repr__(self) -> str:
        """Say how many of which partition, and from which offset on."""
        parts = (
            f"{partition}: {len(given)} record{'s' * (len(given) > 1)} from {given[0].offset}"
            for partition, given in self._records.items()
        )
        return f"ConsumerRecords({', '.join(parts) or 'empty'})"
