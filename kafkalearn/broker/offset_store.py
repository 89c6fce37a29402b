"""The log of __consumer_offsets: where groups and their offsets outlive a broker.

Each record's key says what it is about, and the last one of a key holds; a value of None ends it.
A group's records are in one partition, so whoever leads that partition can read them back.

Differs from Kafka: JSON text stands for its binary form, and the log is not compacted.

Source: kafka.coordinator.group.GroupMetadataManager (1.0.2), its keys and values.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from kafkalearn.broker.group_metadata import CommittedOffset, GroupMetadata
from kafkalearn.broker.member_metadata import MemberMetadata
from kafkalearn.protocol.group import JoinGroupRequestProtocol
from kafkalearn.records import Record, TopicPartition

_STORED_MEMBER_FIELDS = (
    "member_id",
    "group_instance_id",
    "client_id",
    "session_timeout_ms",
    "rebalance_timeout_ms",
    "assignment",
)


_as_json = json.JSONEncoder(separators=(",", ":")).encode


class OffsetsLog(Protocol):
    """What is asked of the partition logs of __consumer_offsets."""

    def append(self, partition: int, records: Iterable[Record]) -> None:
        """Write records at the end; they are durable when this returns."""

    def read_all(self, partition: int) -> Sequence[Record]:
        """Read every record from the log's start."""


class OffsetStore:
    """Writes what must not be lost, and reads it back for a new coordinator."""

    def __init__(self, log: OffsetsLog, num_partitions: int) -> None:
        self._log = log
        self._num_partitions = num_partitions
        self._partition_of: dict[str, int] = {}

    def partition_for(self, group_id: str) -> int:
        """Say which partition holds the group: that one's leader is the group's coordinator."""
        if group_id not in self._partition_of:
            self._partition_of[group_id] = java_abs(java_hash(group_id)) % self._num_partitions
        return self._partition_of[group_id]

    def store_offsets(
        self,
        group: GroupMetadata,
        offsets: Mapping[TopicPartition, CommittedOffset | None],
        now_ms: int,
    ) -> None:
        """Write committed offsets; None takes one back."""
        self._append(
            group,
            [
                (["offset", group.group_id, *partition], None if offset is None else list(offset))
                for partition, offset in offsets.items()
            ],
            now_ms,
        )

    def store_group(self, group: GroupMetadata, assignment: Mapping[str, str], now_ms: int) -> None:
        """Write who is in the group with which assignment (text by member id)."""
        members = [
            {name: getattr(member, name) for name in _STORED_MEMBER_FIELDS}
            | {
                "metadata": member.metadata(group.protocol_name),
                "assignment": assignment.get(member.member_id, ""),
            }
            for member in group.members.values()
        ]
        value = {
            "protocol_type": group.protocol_type,
            "generation_id": group.generation_id,
            "protocol_name": group.protocol_name,
            "leader_id": group.leader_id,
            "state_since_ms": group.state_since_ms,
            "members": members,
        }
        self._append(group, [(["group", group.group_id], value)], now_ms)

    def forget_group(self, group: GroupMetadata, now_ms: int) -> None:
        """Write that neither the group nor its offsets exist any more."""
        ended: list[tuple[list[Any], object]] = [
            (["offset", group.group_id, *partition], None) for partition in group.offsets
        ]
        self._append(group, [*ended, (["group", group.group_id], None)], now_ms)

    def is_empty(self, partition: int) -> bool:
        """Whether nothing was ever written to a partition."""
        return not self._log.read_all(partition)

    def load(self, partition: int, now_ms: int) -> list[GroupMetadata]:
        """Read a partition's groups back, each Stable or Empty: a rebalance is not stored."""
        last: dict[tuple[Any, ...], Any] = {}
        for record in self._log.read_all(partition):
            key = tuple(json.loads(record.key or b""))
            last.pop(key, None)
            if record.value is not None:
                last[key] = json.loads(record.value)
        groups: dict[str, GroupMetadata] = {}
        for (kind, group_id, *topic_partition), value in last.items():
            if group_id not in groups:
                groups[group_id] = GroupMetadata(group_id, now_ms)
                groups[group_id].is_stored = True
            if kind == "group":
                _restore(groups[group_id], value)
            else:
                groups[group_id].offsets[TopicPartition(*topic_partition)] = CommittedOffset(*value)
        return list(groups.values())

    def _append(
        self, group: GroupMetadata, pairs: list[tuple[list[Any], object]], now_ms: int
    ) -> None:
        records = [
            Record(-1, now_ms, _bytes(key), None if value is None else _bytes(value))
            for key, value in pairs
        ]
        self._log.append(self.partition_for(group.group_id), records)
        group.is_stored = True


def _bytes(value: object) -> bytes:
    return _as_json(value).encode()


def _restore(group: GroupMetadata, value: Mapping[str, Any]) -> None:
    group.protocol_type = value["protocol_type"]
    group.generation_id = value["generation_id"]
    group.protocol_name = value["protocol_name"]
    for stored in value["members"]:
        metadata = stored.pop("metadata")
        protocol = JoinGroupRequestProtocol(group.protocol_name or "", metadata)
        group.add(MemberMetadata(**stored, supported_protocols=(protocol,)))
    group.leader_id = value["leader_id"]
    group.restore_state(value["state_since_ms"])


def java_hash(text: str) -> int:
    """Hash as java.lang.String does: over UTF-16 units, in 32 bits with a sign."""
    units = text.encode("utf-16-be", "surrogatepass")
    total = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        total = (31 * total + (high << 8 | low)) & 0xFFFFFFFF
    return total - (1 << 32) if total >= 1 << 31 else total


def java_abs(number: int) -> int:
    """Take the absolute value as Kafka's Utils.abs does: that of the least int is 0."""
    return 0 if number == -(1 << 31) else abs(number)
