"""What the clients and the cluster hand to each other: plain values, never changed.

Source: org.apache.kafka.common: TopicPartition, record.Record, internals.Topic;
org.apache.kafka.clients.consumer: OffsetAndMetadata, ConsumerPartitionAssignor.Subscription (3.9).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from kafkalearn.errors import (
    IllegalArgumentError,
    InvalidAssignmentInputError,
    InvalidTopicError,
)

GROUP_METADATA_TOPIC_NAME = "__consumer_offsets"  # Topic.GROUP_METADATA_TOPIC_NAME
MAX_INT = 2**31 - 1  # Kafka's counts, partitions and generations are Java ints
MAX_LONG = 2**63 - 1  # its timestamps, and some settings, are longs
LEGAL_NAMES = "1 to 249 of the characters a-z A-Z 0-9 . _ -, and neither '.' nor '..'"
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}", re.ASCII)


class TopicPartition(NamedTuple):
    """One partition of one topic; sorts by topic, then by partition number."""

    topic: str
    partition: int

    def __str__(self) -> str:
        """Read like Kafka's own logs: ``orders-3``."""
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True)
class OffsetAndMetadata:
    """What is committed for a partition: the offset of the NEXT record to read, and a note.

    metadata: text that the application adds, None for none; the broker bounds its length, in UTF-16
    units (a Java text's), by offset.metadata.max.bytes.
    IllegalArgumentError for an offset that is negative, or no Java long.
    """

    offset: int
    metadata: str = ""

    def __post_init__(self) -> None:
        check_offset(self.offset, "commit")
        if self.metadata is None:
            object.__setattr__(self, "metadata", "")
        if not isinstance(self.metadata, str):
            raise IllegalArgumentError(
                f"the metadata of an offset is {short(self.metadata)}: text is allowed"
            )


class OffsetAndTimestamp(NamedTuple):
    """What offsets_for_times finds: a record's offset, and its time in ms."""

    offset: int
    timestamp: int


class Record(NamedTuple):
    """One record of a partition log, as it is stored and fetched.

    offset: its place in the log; -1 until it is appended.
    timestamp_ms: when its producer made it.
    """

    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()

    @property
    def size_in_bytes(self) -> int:
        """What it adds to the size of a fetch. Differs from Kafka: no framing is counted."""
        size = len(self.key or b"") + len(self.value or b"")
        if self.headers:
            size += sum(len(name) + len(value or b"") for name, value in self.headers)
        return size


@dataclass(frozen=True, slots=True)
class Subscription:
    """What one member tells the group's leader when it joins.

    topics: the names it subscribes to; a repeated name counts once.
    owned_partitions: what it claims from before, as (topic, partition) pairs.
    generation: the generation in which it got them; -1 for a new member.
    group_instance_id: set for a static member (KIP-345), which then sorts before all dynamic ones.

    Errors: InvalidTopicError for a name that Kafka refuses, InvalidAssignmentInputError (a
    ValueError) for a partition claimed twice or anything that is not of the shape above.
    """

    topics: tuple[str, ...]
    owned_partitions: tuple[TopicPartition, ...] = ()
    generation: int = -1
    group_instance_id: str | None = None

    def __init__(
        self,
        topics: Iterable[str],
        owned_partitions: Iterable[tuple[str, int]] = (),
        generation: int = -1,
        group_instance_id: str | None = None,
    ) -> None:
        """Take the fields by position, too, in Kafka's own order, and check them."""
        put = object.__setattr__
        put(self, "topics", _topics(topics))
        put(self, "owned_partitions", _claims(owned_partitions))
        put(self, "generation", whole_number(generation, "generation", least=-1))
        put(self, "group_instance_id", _instance_id(group_instance_id))


def check_topic(name: object) -> str:
    """Give back a legal topic name; InvalidTopicError says what Kafka allows.

    Source: org.apache.kafka.common.internals.Topic.validate (3.9).
    """
    if not isinstance(name, str) or not is_legal_name(name):
        raise InvalidTopicError(f"{short(name)} is no topic name: Kafka allows {LEGAL_NAMES}")
    return name


def is_legal_name(name: str) -> bool:
    """Whether a topic may be called so, or a static member: they have one rule, LEGAL_NAMES."""
    return name not in (".", "..") and _LEGAL_NAME.fullmatch(name) is not None


def check_offset(offset: object, use: str) -> None:
    """IllegalArgumentError, which says what it was to be used for, if it is no offset."""
    if type(offset) is not int or not 0 <= offset <= MAX_LONG:
        raise IllegalArgumentError(
            f"the offset to {use} is {short(offset)}: a whole number from 0 to 2**63 - 1 is allowed"
        )


def is_internal(topic: str) -> bool:
    """Whether it is Kafka's own (Java: Topic.isInternal); clients may read it, and no more."""
    return topic == GROUP_METADATA_TOPIC_NAME


def whole_number(value: object, what: str, *, least: int) -> int:
    """Give back `value` as an int if it is one (NumPy's are, True is not) from `least` up."""
    number = getattr(value, "__index__", None)
    if number is None or isinstance(value, bool):
        raise InvalidAssignmentInputError(
            f"{what} is {short(value)}: a whole number from {least} up is allowed"
        )
    result: int = number()
    if not least <= result <= MAX_INT:
        allowed = f"from {least} up" if result < least else f"up to {MAX_INT:,}"
        raise InvalidAssignmentInputError(
            f"{what} is {short(result)}: a whole number {allowed} is allowed"
        )
    return result


def _topics(topics: Iterable[str]) -> tuple[str, ...]:
    if isinstance(topics, str) or not isinstance(topics, Iterable):
        raise InvalidAssignmentInputError(
            f"topics is {short(topics)}: a list of topic names is allowed"
        )
    return tuple(dict.fromkeys(map(check_topic, topics)))


def _claims(owned: Iterable[tuple[str, int]]) -> tuple[TopicPartition, ...]:
    if isinstance(owned, str) or not isinstance(owned, Iterable):
        raise InvalidAssignmentInputError(
            f"owned_partitions is {short(owned)}: a list of TopicPartition is allowed"
        )
    claims: dict[TopicPartition, None] = {}
    for claim in owned:
        if not isinstance(claim, tuple | list) or len(claim) != 2:
            raise InvalidAssignmentInputError(
                f"owned_partitions holds {short(claim)}: only TopicPartition(topic, partition) is "
                "allowed"
            )
        partition = TopicPartition(
            check_topic(claim[0]),
            whole_number(claim[1], f"a claimed partition of {claim[0]}", least=0),
        )
        if partition in claims:
            raise InvalidAssignmentInputError(
                f"owned_partitions claims {partition} twice: a member owns a partition once or not "
                "at all"
            )
        claims[partition] = None
    return tuple(claims)


def _instance_id(name: object) -> str | None:
    if name is not None and (not isinstance(name, str) or not name):
        raise InvalidAssignmentInputError(
            f"group_instance_id is {short(name)}: None or a name that is not empty is allowed"
        )
    return name


def short(value: object) -> str:
    """Show a wrong value without flooding the page with it."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
