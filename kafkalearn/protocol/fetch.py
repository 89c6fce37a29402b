"""Reading: records from an offset on, and the offset that belongs to a time.

Source: Fetch, ListOffsets in the message definitions of 3.9.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from kafkalearn.errors import Errors
from kafkalearn.protocol.message import Request, Response
from kafkalearn.records import Record, TopicPartition

LATEST_TIMESTAMP = -1  # ListOffsetsRequest.LATEST_TIMESTAMP: the high watermark
EARLIEST_TIMESTAMP = -2  # ListOffsetsRequest.EARLIEST_TIMESTAMP: the log start offset
UNKNOWN_OFFSET = -1  # no record is as young as the time asked for; also the unknown timestamp
INVALID_HIGH_WATERMARK = -1


class FetchPartition(NamedTuple):
    """Where to read on, and how many bytes of this partition at most."""

    fetch_offset: int
    partition_max_bytes: int


class PartitionData(NamedTuple):
    """What a fetch found in one partition (Java: FetchResponseData.PartitionData)."""

    error_code: Errors
    high_watermark: int
    log_start_offset: int
    records: tuple[Record, ...] = ()


@dataclass(slots=True, kw_only=True)
class FetchResponse(Response):
    """partitions: in the order in which they were asked for."""

    partitions: Mapping[TopicPartition, PartitionData] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class FetchRequest(Request):
    """The broker waits up to max_wait_ms until there are min_bytes to give."""

    api: ClassVar[str] = "Fetch"
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    partitions: Mapping[TopicPartition, FetchPartition]

    def get_error_response(self, error: Errors) -> FetchResponse:
        """See Request."""
        none = PartitionData(error, INVALID_HIGH_WATERMARK, UNKNOWN_OFFSET)
        return FetchResponse(partitions=dict.fromkeys(self.partitions, none))


class ListOffsetsPartitionResponse(NamedTuple):
    """The offset found, with the time of its record where a time was asked for."""

    error_code: Errors
    timestamp: int
    offset: int


@dataclass(slots=True, kw_only=True)
class ListOffsetsResponse(Response):
    """partitions: in the order in which they were asked for."""

    partitions: Mapping[TopicPartition, ListOffsetsPartitionResponse] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class ListOffsetsRequest(Request):
    """partitions: a time in ms each, or LATEST_TIMESTAMP or EARLIEST_TIMESTAMP."""

    api: ClassVar[str] = "ListOffsets"
    partitions: Mapping[TopicPartition, int]

    def get_error_response(self, error: Errors) -> ListOffsetsResponse:
        """See Request."""
        none = ListOffsetsPartitionResponse(error, UNKNOWN_OFFSET, UNKNOWN_OFFSET)
        return ListOffsetsResponse(partitions=dict.fromkeys(self.partitions, none))
