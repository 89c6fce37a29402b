"""What a fetch brought of one partition, and how far the application has taken it.

Source: document 004; Fetcher.CompletedFetch, Fetcher.PartitionRecords (1.0.2; the documents' names
are those of 0.10.1).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from kafkalearn.protocol.fetch import PartitionData
from kafkalearn.records import TopicPartition


class CompletedFetch(NamedTuple):
    """One partition of a fetch response, not looked at yet."""

    partition: TopicPartition
    fetched_offset: int
    partition_data: PartitionData


class PartitionRecords:
    """Records of one partition that polls take from, piece by piece.

    fetch_offset: of the first that was not taken.
    records: as they were fetched, or ConsumerRecords where the whole fetch has been read (0.10).
    """

    __slots__ = ("_records", "_taken", "fetch_offset", "partition")

    def __init__(
        self, partition: TopicPartition, fetch_offset: int, *, records: Sequence[Any]
    ) -> None:
        self.partition = partition
        self.fetch_offset = fetch_offset
        self._records = records
        self._taken = 0

    def is_drained(self) -> bool:
        """Whether nothing is left to take."""
        return self._taken >= len(self._records)

    def drain(self) -> None:
        """Throw the rest away."""
        self._taken = len(self._records)

    def drain_records(self, limit: int) -> Sequence[Any]:
        """Take up to `limit` records."""
        start = self._taken
        taken = self._records[start : start + limit]
        if taken:
            self._taken = start + len(taken)
            self.fetch_offset = taken[-1].offset + 1
        return taken

    def put_back(self, records: Sequence[Any]) -> None:
        """Undo the last drain_records, of which these could not be used."""
        self._taken -= len(records)
        self.fetch_offset = records[0].offset
