"""Writing: batches of records to the leaders of their partitions.

Source: Produce in the message definitions of 3.9.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from kafkalearn.errors import Errors
from kafkalearn.protocol.message import Request, Response
from kafkalearn.records import Record, TopicPartition

INVALID_OFFSET = -1  # ProduceResponse.INVALID_OFFSET


class PartitionProduceResponse(NamedTuple):
    """base_offset: that of the batch's first record; INVALID_OFFSET with an error."""

    error_code: Errors
    base_offset: int
    log_start_offset: int


@dataclass(slots=True, kw_only=True)
class ProduceResponse(Response):
    """partitions: in the order in which they were sent."""

    partitions: Mapping[TopicPartition, PartitionProduceResponse] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class ProduceRequest(Request):
    """acks: 0 (no answer is sent at all), 1 or -1 (all).

    batches: the records of each partition in their order, all with offset -1.
    """

    api: ClassVar[str] = "Produce"
    acks: int
    timeout_ms: int
    batches: Mapping[TopicPartition, tuple[Record, ...]]

    def get_error_response(self, error: Errors) -> ProduceResponse:
        """See Request."""
        none = PartitionProduceResponse(error, INVALID_OFFSET, INVALID_OFFSET)
        return ProduceResponse(partitions=dict.fromkeys(self.batches, none))
