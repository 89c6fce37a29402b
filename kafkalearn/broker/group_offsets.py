"""OffsetCommit and OffsetFetch: who may commit, and what is refused.

Source: GroupCoordinator.handleCommitOffsets, doCommitOffsets, GroupMetadataManager.storeOffsets
(1.0.2, 2.4.0); OffsetMetadataManager (4.0). The document on the subscription state prints the first
two.
"""

from kafkalearn.broker.broker_context import BrokerContext
from kafkalearn.broker.group_metadata import CommittedOffset, GroupMetadata
from kafkalearn.broker.group_metadata_manager import GroupMetadataManager
from kafkalearn.broker.group_state import GroupState
from kafkalearn.broker.offset_store import OffsetStore
from kafkalearn.errors import Errors
from kafkalearn.protocol.message import Reply
from kafkalearn.protocol.offsets import (
    INVALID_OFFSET,
    FetchedOffset,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from kafkalearn.records import OffsetAndMetadata

_S = GroupState


class GroupOffsets:
    """Judges commits, keeps what was accepted, and gives it back."""

    def __init__(
        self, context: BrokerContext, groups: GroupMetadataManager, *, store: OffsetStore
    ) -> None:
        self._config = context.config
        self._profile = context.profile
        self._record = context.record
        self._groups = groups
        self._store = store

    def handle_commit_offsets(
        self, request: OffsetCommitRequest, now_ms: int, reply: Reply
    ) -> None:
        """Judge a commit, in the documents' order of checks."""
        found = self._groups.find(request.group_id)
        if found is Errors.GROUP_ID_NOT_FOUND:
            # A consumer that uses assign() makes the group; others are from one that is gone.
            old = request.generation_id >= 0
            found = Errors.ILLEGAL_GENERATION if old else self._groups.add(request.group_id, now_ms)
        if isinstance(found, Errors):
            reply(request.get_error_response(found))
        else:
            reply(self._do_commit_offsets(found, request, now_ms))
            self._groups.watch_expiry(found, now_ms)

    def _do_commit_offsets(
        self, group: GroupMetadata, request: OffsetCommitRequest, now_ms: int
    ) -> OffsetCommitResponse:
        if group.is_in(_S.EMPTY) and request.generation_id < 0:
            return self._store_offsets(group, request, now_ms)  # it comes from assign()
        error = self._validate(group, request)
        if error is not Errors.NONE:
            return request.get_error_response(error)
        member = group.members[request.member_id]
        self._groups.rebalance.sessions.schedule_next_heartbeat_expiration(group, member, now_ms)
        return self._store_offsets(group, request, now_ms)

    def _validate(self, group: GroupMetadata, request: OffsetCommitRequest) -> Errors:
        member_error = group.validate(request)
        if not group.is_in(_S.AWAITING_SYNC) or member_error is Errors.FENCED_INSTANCE_ID:
            return member_error
        if self._profile.commit_checks_member_first and member_error is not Errors.NONE:
            return member_error
        return Errors.REBALANCE_IN_PROGRESS

    def _has_room_for(self, committed: OffsetAndMetadata) -> bool:
        """Whether the note is short enough: Kafka counts a Java text's UTF-16 units, not bytes."""
        units = len(committed.metadata.encode("utf-16-le", "surrogatepass")) // 2
        return units <= self._config.offset_metadata_max_bytes

    def _store_offsets(
        self, group: GroupMetadata, request: OffsetCommitRequest, now_ms: int
    ) -> OffsetCommitResponse:
        retention_ms = self._config.offsets_retention_minutes * 60_000
        expire_ms = None if self._profile.offsets_expire_from_empty else now_ms + retention_ms
        accepted = {
            partition: CommittedOffset(committed.offset, committed.metadata, now_ms, expire_ms)
            for partition, committed in request.offsets.items()
            if self._has_room_for(committed)
        }
        if accepted:
            self._store.store_offsets(group, accepted, now_ms)
            group.offsets.update(accepted)
            if not self._profile.refused_offset_is_forgotten:
                group.pending_offset_commits.update(request.offsets)
            group.pending_offset_commits.difference_update(accepted)
        for partition, committed in accepted.items():
            self._record(
                "offset_stored",
                now_ms,
                group_id=group.group_id,
                member_id=request.member_id,
                generation=request.generation_id,
                topic=partition.topic,
                partition=partition.partition,
                offset=committed.offset,
                detail={"metadata": committed.metadata} if committed.metadata else None,
            )
        return OffsetCommitResponse(
            partitions={
                partition: Errors.NONE
                if partition in accepted
                else Errors.OFFSET_METADATA_TOO_LARGE
                for partition in request.offsets
            }
        )

    def handle_fetch_offsets(self, request: OffsetFetchRequest, now_ms: int, reply: Reply) -> None:
        """Give what is committed, whatever state the group is in; INVALID_OFFSET for nothing."""
        found = self._groups.find_to_show(request.group_id)
        if isinstance(found, Errors) and found is not Errors.GROUP_ID_NOT_FOUND:
            reply(request.get_error_response(found))
            return
        offsets = {} if isinstance(found, Errors) else found.offsets
        nothing = CommittedOffset(INVALID_OFFSET, "", commit_ms=0)
        asked = offsets if request.partitions is None else request.partitions
        committed = {partition: offsets.get(partition, nothing) for partition in asked}
        reply(
            OffsetFetchResponse(
                partitions={
                    partition: FetchedOffset(each.offset, each.metadata, Errors.NONE)
                    for partition, each in committed.items()
                }
            )
        )
