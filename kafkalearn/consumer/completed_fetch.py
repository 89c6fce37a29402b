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
    records: as they were fetched, or ConsumerRecords where the whole fetch has been read.
    is_whole: whether it has, as in 0.10, so that the last one is known to be the last. Since 0.11
    that is only found out by looking for another: a poll that takes just what there is leaves the
    partition here, and it is not fetched before the next poll.
    """

    __slots__ = ("_is_drained", "_is_whole", "_records", "_taken", "fetch_offset", "partition")

    def __init__(
        self,
        partition: TopicPartition,
        fetch_offset: int,
        *,
        records: Sequence[Any],
        is_whole: bool = False,
    ) -> None:
        self.partition = partition
        self.fetch_offset = fetch_offset
        self._records = records
        self._taken = 0
        self._is_whole = is_whole
        self._is_drained = False

    def is_drained(self) -> bool:
        """Whether it is known that nothing is left to take."""
        return self._is_drained

    def drain(self) -> None:
        """Throw the rest away."""
        self._is_drained = True

    def drain_records(self, limit: int) -> Sequence[Any]:
        """Take up to `limit` records."""
        start = self._taken
        taken = self._records[start : start + limit]
        if taken:
            self._taken = start + len(taken)
            self.fetch_offset = taken[-1].offset + 1
        all_taken = self._taken == len(self._records)
        self._is_drained = all_taken and (self._is_whole or len(taken) < limit)
        return taken

    def put_back(self, records: Sequence[Any]) -> None:
        """Undo the last drain_records, of which these could not be used."""
        self._taken -= len(records)
        self._is_drained = False
        self.fetch_offset = records[0].offset
