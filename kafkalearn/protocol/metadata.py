"""The cluster: who leads what; topics made, enlarged and deleted.

Source: Metadata, CreateTopics, DeleteTopics, CreatePartitions in the message definitions of 3.9.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from kafkalearn.errors import Errors
from kafkalearn.protocol.message import Request, Response


class MetadataResponsePartition(NamedTuple):
    """leader: the broker that leads the partition; '' with LEADER_NOT_AVAILABLE."""

    error_code: Errors
    partition_index: int
    leader: str


class MetadataResponseTopic(NamedTuple):
    """A topic, with all its partitions in order."""

    error_code: Errors
    name: str
    is_internal: bool
    partitions: tuple[MetadataResponsePartition, ...] = ()


@dataclass(slots=True, kw_only=True)
class MetadataResponse(Response):
    """brokers: the names of those that live, as in ``broker-0``."""

    brokers: tuple[str, ...] = ()
    topics: tuple[MetadataResponseTopic, ...] = ()


@dataclass(slots=True, kw_only=True)
class MetadataRequest(Request):
    """topics: None for all of the cluster, () for the brokers alone."""

    api: ClassVar[str] = "Metadata"
    topics: tuple[str, ...] | None = None
    allow_auto_topic_creation: bool = True

    def get_error_response(self, error: Errors) -> MetadataResponse:
        """See Request."""
        return MetadataResponse(
            topics=tuple(MetadataResponseTopic(error, name, False) for name in self.topics or ())
        )


class TopicResult(NamedTuple):
    """What became of one topic, with Kafka's reason in words."""

    error_code: Errors
    error_message: str | None = None


@dataclass(slots=True, kw_only=True)
class CreateTopicsResponse(Response):
    """results: topic -> what became of it."""

    results: Mapping[str, TopicResult] = field(default_factory=dict)


class CreatableTopic(NamedTuple):
    """num_partitions: -1 for the broker's num.partitions.

    configs: Kafka's topic settings by name: ``retention.ms`` and ``retention.bytes`` are known.
    A number may be text, as which Kafka sends it.
    """

    num_partitions: int = -1
    configs: Mapping[str, int | str] = {}


@dataclass(slots=True, kw_only=True)
class CreateTopicsRequest(Request):
    """topics: name -> what it should be like."""

    api: ClassVar[str] = "CreateTopics"
    topics: Mapping[str, CreatableTopic]
    validate_only: bool = False

    def get_error_response(self, error: Errors) -> CreateTopicsResponse:
        """See Request."""
        return CreateTopicsResponse(results=dict.fromkeys(self.topics, TopicResult(error)))


@dataclass(slots=True, kw_only=True)
class DeleteTopicsResponse(Response):
    """results: topic -> what became of it."""

    results: Mapping[str, TopicResult] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class DeleteTopicsRequest(Request):
    """topic_names: topics that go, with their records and the offsets committed for them.

    timeout_ms: how long to wait until they are gone.
    """

    api: ClassVar[str] = "DeleteTopics"
    topic_names: tuple[str, ...]
    timeout_ms: int = 60_000

    def get_error_response(self, error: Errors) -> DeleteTopicsResponse:
        """See Request."""
        return DeleteTopicsResponse(results=dict.fromkeys(self.topic_names, TopicResult(error)))


@dataclass(slots=True, kw_only=True)
class CreatePartitionsResponse(Response):
    """results: topic -> what became of it."""

    results: Mapping[str, TopicResult] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class CreatePartitionsRequest(Request):
    """topics: name -> how many partitions it should have; only more than now is allowed."""

    api: ClassVar[str] = "CreatePartitions"
    topics: Mapping[str, int]

    def get_error_response(self, error: Errors) -> CreatePartitionsResponse:
        """See Request."""
        return CreatePartitionsResponse(results=dict.fromkeys(self.topics, TopicResult(error)))
