"""Committed offsets: storing them with the group's coordinator, and asking for them.

Source: OffsetCommit, OffsetFetch in the message definitions of 3.9.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from kafkalearn.errors import Errors
from kafkalearn.protocol.message import UNKNOWN_GENERATION_ID, UNKNOWN_MEMBER_ID, Request, Response
from kafkalearn.records import OffsetAndMetadata, TopicPartition

INVALID_OFFSET = -1  # OffsetFetchResponse.INVALID_OFFSET: nothing is committed


@dataclass(slots=True, kw_only=True)
class OffsetCommitResponse(Response):
    """partitions: an error each. error_code stays NONE: Kafka has no error for the whole."""

    partitions: Mapping[TopicPartition, Errors] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class OffsetCommitRequest(Request):
    """A consumer that uses assign() sends generation -1 and no member id."""

    api: ClassVar[str] = "OffsetCommit"
    group_id: str
    generation_id: int = UNKNOWN_GENERATION_ID
    member_id: str = UNKNOWN_MEMBER_ID
    group_instance_id: str | None = None
    offsets: Mapping[TopicPartition, OffsetAndMetadata]

    def get_error_response(self, error: Errors) -> OffsetCommitResponse:
        """See Request."""
        return OffsetCommitResponse(partitions=dict.fromkeys(self.offsets, error))


class FetchedOffset(NamedTuple):
    """offset: INVALID_OFFSET if nothing is committed (Java: OffsetFetchResponse.PartitionData)."""

    offset: int
    metadata: str
    error_code: Errors


@dataclass(slots=True, kw_only=True)
class OffsetFetchResponse(Response):
    """partitions: in the order in which they were asked for."""

    partitions: Mapping[TopicPartition, FetchedOffset] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class OffsetFetchRequest(Request):
    """partitions: None for all that have an offset (KIP-88, 0.10.2)."""

    api: ClassVar[str] = "OffsetFetch"
    group_id: str
    partitions: tuple[TopicPartition, ...] | None = None

    def get_error_response(self, error: Errors) -> OffsetFetchResponse:
        """See Request."""
        return OffsetFetchResponse(error_code=error)
