"""The requests about offsets: what is sent with a commit, and what each answer means.

Source: documents 000, 001 and 004; ConsumerCoordinator.sendOffsetCommitRequest,
OffsetCommitResponseHandler, OffsetFetchResponseHandler (1.0.2; later by switches);
PendingCommittedOffsetRequest (2.0.0).
"""

from collections.abc import Iterable, Mapping

from kafkalearn.clients.network_client import NEVER_MS
from kafkalearn.clients.request_future import RequestFuture
from kafkalearn.consumer.abstract_coordinator import AbstractCoordinator
from kafkalearn.consumer.consumer_parts import ConsumerParts
from kafkalearn.consumer.member_state import NO_GENERATION, Generation, MemberState
from kafkalearn.errors import (
    ApiError,
    CommitFailedError,
    Errors,
    KafkaError,
    RebalanceInProgressError,
)
from kafkalearn.protocol.offsets import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from kafkalearn.records import OffsetAndMetadata, TopicPartition

Offsets = Mapping[TopicPartition, OffsetAndMetadata]
_Committed = dict[TopicPartition, OffsetAndMetadata]
_Asked = tuple[frozenset[TopicPartition], Generation | None]

_COMMIT_FAILED = (
    "the commit cannot be done: this consumer is no active member of the group, and others may "
    "have its partitions. Either more than max.poll.interval.ms passed between two polls, or the "
    "session ended, or this consumer uses assign() with the group id of a live group. Poll to join "
    "again; against the first, process fewer records a poll (max.poll.records) or allow more time"
)


class OffsetRequests(AbstractCoordinator):
    """Sends offsets to the coordinator, and asks for them."""

    def __init__(self, parts: ConsumerParts) -> None:
        super().__init__(parts)
        self.subscriptions = parts.subscriptions
        self._pending_fetch: tuple[_Asked, RequestFuture[_Committed]] | None = None

    def refresh_committed_offsets_if_needed(self) -> None:
        """Learn what is committed for the assigned partitions (before 2.0)."""
        subscriptions = self.subscriptions
        if subscriptions.refresh_commits_needed():
            offsets = self.fetch_committed_offsets(subscriptions.assigned_partitions()) or {}
            for partition, offset in offsets.items():
                if subscriptions.is_assigned(partition):
                    subscriptions.committed(partition, offset)
            subscriptions.commits_refreshed()

    def fetch_committed_offsets(
        self, partitions: Iterable[TopicPartition], timeout_ms: int = NEVER_MS
    ) -> _Committed | None:
        """Ask what is committed: only partitions with an offset are in it. None if out of time.

        The same question in the same generation then waits for the same answer (2.0).
        """
        wanted = tuple(partitions)
        deadline_ms, attempts = self.context.now_ms + timeout_ms, 0
        asked = frozenset(wanted), self.current_generation()
        pending, keeps = self._pending_fetch, self.context.profile.poll_timeout_bounds_join
        if not (keeps and pending and pending[0] == asked):
            self._pending_fetch = None
        while self.ensure_coordinator_ready(deadline_ms - self.context.now_ms):
            if self._pending_fetch is None:
                request = OffsetFetchRequest(group_id=self.group_id, partitions=wanted)
                sent = self.send_to_coordinator(request, self._handle_offset_fetch)
                self._pending_fetch = asked, sent
            _, future = self._pending_fetch
            if not self.client.poll_future(future, deadline_ms - self.context.now_ms):
                return None
            self._pending_fetch = None
            if future.succeeded():
                return future.value()
            if not future.is_retriable():
                raise future.exception()
            self.sleep_backoff(deadline_ms, attempts)
            attempts += 1
            if self.context.now_ms >= deadline_ms:
                break
        return None

    def send_offset_commit_request(self, offsets: Offsets, mode: str) -> RequestFuture[None]:
        """Send a commit; it ends in the trace, once for each partition."""
        if not offsets:
            return RequestFuture.void_success()
        is_member = self.subscriptions.partitions_auto_assigned()
        generation = self.current_generation() if is_member else NO_GENERATION
        if generation is None:
            # Nothing can be done but to fail, and to let the application rejoin by polling.
            rebalances = self.state is not MemberState.UNJOINED
            return RequestFuture.failure(self._not_now(Errors.NONE, rebalances=rebalances))
        request = OffsetCommitRequest(
            group_id=self.group_id,
            generation_id=generation.generation_id,
            member_id=generation.member_id,
            group_instance_id=self.group_instance_id if is_member else None,
            offsets=dict(offsets),
        )
        sent_ms = self.context.now_ms

        def record(errors: Mapping[TopicPartition, Errors]) -> None:
            for partition in request.offsets:
                self._record_commit(request, partition, errors[partition], (mode, sent_ms))

        def handle(response: OffsetCommitResponse, future: RequestFuture[None]) -> None:
            record(response.partitions)
            self._handle_offset_commit(request, response, sent=generation, future=future)

        def on_failure(error: Exception) -> None:
            if isinstance(error, ApiError):  # no answer came
                record(dict.fromkeys(request.offsets, error.error))

        return self.send_to_coordinator(request, handle, on_failure=on_failure)

    def _handle_offset_commit(
        self,
        request: OffsetCommitRequest,
        response: OffsetCommitResponse,
        *,
        sent: Generation,
        future: RequestFuture[None],
    ) -> None:
        """Note what is committed; the first partition with an error decides how the commit ends."""
        subscriptions = self.subscriptions
        for partition, error in response.partitions.items():
            if error is Errors.NONE:
                if subscriptions.is_assigned(partition):
                    subscriptions.committed(partition, request.offsets[partition])
            else:
                future.raise_error(self._refused(error, partition, sent))
                return
        future.complete(None)

    def _refused(self, error: Errors, partition: TopicPartition, sent: Generation) -> Exception:
        """Do what a refused commit asks for; give what the application gets."""
        joins_anew = self.is_stale(sent) and self.state is MemberState.REBALANCING
        if error is Errors.REBALANCE_IN_PROGRESS:
            if self.context.profile.commit_keeps_generation:
                self.request_rejoin()
            else:
                self.reset_generation_on_error("OffsetCommit", error)
            return self._not_now(error, rebalances=True)
        if error in (Errors.UNKNOWN_MEMBER_ID, Errors.ILLEGAL_GENERATION):
            if not joins_anew:
                self.reset_generation_on_error("OffsetCommit", error)
            return self._not_now(error, rebalances=joins_anew)
        if error is Errors.FENCED_INSTANCE_ID and self.is_stale(sent):
            return self._not_now(error, rebalances=joins_anew)
        retries = self.context.profile.commit_awaits_topic
        if error is Errors.UNKNOWN_TOPIC_OR_PARTITION and not retries:
            return KafkaError(f"topic or partition {partition} does not exist")
        if error is Errors.REQUEST_TIMED_OUT:
            self.mark_coordinator_unknown()
        return self.react(error, "OffsetCommit")

    def _not_now(self, error: Errors, *, rebalances: bool) -> Exception:
        if rebalances and self.context.profile.commit_tells_rebalance:
            return RebalanceInProgressError(
                "the commit cannot be done while the group rebalances: poll until the rebalance is "
                "over, and commit then what is still assigned"
            )
        return CommitFailedError(_COMMIT_FAILED, error)

    def _record_commit(
        self,
        request: OffsetCommitRequest,
        partition: TopicPartition,
        error: Errors,
        how: tuple[str, int],
    ) -> None:
        mode, sent_ms = how
        now_ms = self.context.now_ms
        offset, metadata = request.offsets[partition].offset, request.offsets[partition].metadata
        detail = {"mode": mode, "latency_ms": now_ms - sent_ms}
        self.context.record(
            "commit",
            now_ms,
            group_id=self.group_id,
            member_id=request.member_id or None,
            generation=request.generation_id,
            topic=partition.topic,
            partition=partition.partition,
            offset=offset,
            error=None if error is Errors.NONE else error.name,
            detail=detail | ({"metadata": metadata} if metadata else {}),
        )

    def _handle_offset_fetch(
        self,
        response: OffsetFetchResponse,
        future: RequestFuture[_Committed],
    ) -> None:
        if response.error_code is not Errors.NONE:
            future.raise_error(self.react(response.error_code, "OffsetFetch"))
            return
        offsets = {}
        for partition, (offset, metadata, error) in response.partitions.items():
            if error is not Errors.NONE:
                missing = error is Errors.UNKNOWN_TOPIC_OR_PARTITION
                text = f"topic or partition {partition} does not exist" if missing else error.name
                future.raise_error(KafkaError(f"OffsetFetch of group {self.group_id!r}: {text}"))
                return
            if offset >= 0:
                offsets[partition] = OffsetAndMetadata(offset, metadata)
        future.complete(offsets)
