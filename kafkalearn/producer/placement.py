"""A partitioner by itself, without a producer: where keys go, for lessons and explorers."""

from collections.abc import Callable
from random import Random

from kafkalearn.clients.exponential_backoff import ExponentialBackoff
from kafkalearn.clients.metadata import Metadata
from kafkalearn.producer.partitioner import (
    DefaultPartitioner,
    RoundRobinPartitioner,
    StickyPartitioner,
    murmur2,
    partition_for_key,
)

Place = Callable[[str | None, int], int]
_TOPIC = "t"


def placements(seed: int = 0) -> dict[str, Place]:
    """Give by release ``place(key, partitions) -> partition``; a record without a key has None.

    They differ only there: one partition after the other, or one until its batch is full.
    """
    return {
        "round robin (before 2.4)": _placement(RoundRobinPartitioner, seed),
        "sticky (2.4)": _placement(StickyPartitioner, seed),
    }


def hash_of(key: str) -> int:
    """Hash a key as a producer does: murmur2 of its UTF-8 bytes, a Java int."""
    return murmur2(key.encode())


def _placement(kind: type[DefaultPartitioner], seed: int) -> Place:
    made: dict[int, DefaultPartitioner] = {}  # a producer knows one number of partitions at a time

    def place(key: str | None, partitions: int) -> int:
        if key is not None:
            return partition_for_key(key.encode(), partitions)
        if partitions not in made:
            metadata = Metadata((), refresh_backoff=ExponentialBackoff(0), metadata_expire_ms=0)
            metadata.partition_counts[_TOPIC] = partitions
            made[partitions] = kind(metadata, Random(seed))
        return made[partitions].partition_without_key(_TOPIC)

    return place
