"""Committing, and waiting for it or not; what commits by itself is in AutoCommits.

Source: documents 000, 002 and 004;
org.apache.kafka.clients.consumer.internals.ConsumerCoordinator (1.0.2; later by switches).
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from kafkalearn.clients.network_client import NEVER_MS
from kafkalearn.clients.request_future import RequestFuture
from kafkalearn.consumer.consumer_parts import ConsumerParts
from kafkalearn.consumer.offset_requests import OffsetRequests, Offsets
from kafkalearn.errors import (
    FencedInstanceIdError,
    RetriableCommitFailedError,
    RetriableError,
)

OffsetCommitCallback = Callable[[Offsets, Exception | None], object]


class OffsetCommitCompletion(NamedTuple):
    """An asynchronous commit that is over, until a poll runs its callback."""

    callback: OffsetCommitCallback
    offsets: Offsets
    exception: Exception | None

    def invoke(self) -> None:
        """Run the callback."""
        self.callback(self.offsets, self.exception)


class OffsetCommits(OffsetRequests):
    """What a member, or a consumer that uses assign(), tells the coordinator about its progress.

    completed_offset_commits: waits here for the application to poll.
    """

    def __init__(self, parts: ConsumerParts) -> None:
        super().__init__(parts)
        self._interceptors = parts.interceptors
        self.completed_offset_commits: deque[OffsetCommitCompletion] = deque()
        self._async_commit_fenced = False
        self._pending_async_commits = self._async_commits_in_flight = 0

    def invoke_completed_offset_commit_callbacks(self) -> None:
        """Run the callbacks of asynchronous commits that are over, as they ended one after another.

        FencedInstanceIdError if one of them was fenced.
        """
        if self._async_commit_fenced:
            raise FencedInstanceIdError(
                f"another consumer has group.instance.id {self.group_instance_id!r}, as an "
                "asynchronous commit was told: close this one"
            )
        while self.completed_offset_commits:
            self.completed_offset_commits.popleft().invoke()

    def commit_offsets_async(self, offsets: Offsets, callback: OffsetCommitCallback | None) -> None:
        """Send a commit and go on; it is sent once, since a second try could overtake a later one.

        callback: told (offsets, error or None) within a later poll or commit.
        """
        self._commit_offsets_async(offsets, callback, mode="async")

    def commit_offsets_sync(self, offsets: Offsets, timeout_ms: int = NEVER_MS) -> bool:
        """Commit, again and again until it is done; False if that is not in time.

        What is not worth another try is raised: CommitFailedError and other KafkaErrors.
        """
        return self._commit_offsets_sync(offsets, timeout_ms, mode="sync")

    def has_pending_async_commits(self) -> bool:
        """Whether a commit waits for somebody to find the coordinator."""
        return self._pending_async_commits > 0

    # Inside.

    def _commit_offsets_async(
        self, offsets: Offsets, callback: OffsetCommitCallback | None, *, mode: str
    ) -> RequestFuture[None]:
        self.invoke_completed_offset_commit_callbacks()
        asks_nobody = not offsets and self.context.profile.empty_commit_runs_callbacks
        if asks_nobody or not self.coordinator_unknown():
            committed = self._do_commit_offsets_async(offsets, callback, mode=mode)
        else:
            committed = RequestFuture()
            self._pending_async_commits += 1

            def on_success(_: None) -> None:
                self._pending_async_commits -= 1
                self._do_commit_offsets_async(offsets, callback, mode=mode).chain(committed)

            def on_failure(error: Exception) -> None:
                self._pending_async_commits -= 1
                self._complete(callback, offsets, _retriable(error))
                committed.raise_error(error)

            self.lookup_coordinator().add_listener(on_success, on_failure)
        self.client.poll_no_wakeup()
        return committed

    def _do_commit_offsets_async(
        self, offsets: Offsets, callback: OffsetCommitCallback | None, *, mode: str
    ) -> RequestFuture[None]:
        self.subscriptions.need_refresh_commits()
        self._async_commits_in_flight += 1

        def on_success(_: None) -> None:
            self._async_commits_in_flight -= 1
            self._interceptors.on_commit(offsets)
            self._complete(callback, offsets, None)

        def on_failure(error: Exception) -> None:
            self._async_commits_in_flight -= 1
            is_retriable = isinstance(error, RetriableError)
            self._complete(callback, offsets, _retriable(error) if is_retriable else error)
            if isinstance(error, FencedInstanceIdError):
                self._async_commit_fenced = True

        sent = self.send_offset_commit_request(offsets, mode)
        sent.add_listener(on_success, on_failure)
        return sent

    def _complete(
        self, callback: OffsetCommitCallback | None, offsets: Offsets, error: Exception | None
    ) -> None:
        told = callback or self._default_offset_commit_callback
        self.completed_offset_commits.append(OffsetCommitCompletion(told, offsets, error))

    def _default_offset_commit_callback(self, offsets: Offsets, error: Exception | None) -> None:
        if error is not None:
            self.context.warn(f"an asynchronous commit failed: {error}")

    def _commit_offsets_sync(self, offsets: Offsets, timeout_ms: int, *, mode: str) -> bool:
        self.invoke_completed_offset_commit_callbacks()
        deadline_ms, attempts = self.context.now_ms + timeout_ms, 0
        if not offsets:
            return self._await_async_commits(deadline_ms)
        while self.ensure_coordinator_ready(deadline_ms - self.context.now_ms):
            future = self.send_offset_commit_request(offsets, mode)
            self.client.poll_future(future, deadline_ms - self.context.now_ms)
            if self.context.profile.sync_commit_runs_callbacks:
                # Those of earlier commits: their order stays the one in which they were applied.
                self.invoke_completed_offset_commit_callbacks()
            if future.succeeded():
                self._interceptors.on_commit(offsets)
                return True
            if future.failed() and not future.is_retriable():
                raise future.exception()
            self.sleep_backoff(deadline_ms, attempts)
            attempts += 1
            if self.context.now_ms >= deadline_ms:
                break
        return False

    def _await_async_commits(self, deadline_ms: int) -> bool:
        """Run the callbacks of those on their way, although this commit sends nothing (3.6)."""
        attempts = 0
        while self.context.profile.empty_commit_runs_callbacks and self._async_commits_in_flight:
            self.ensure_coordinator_ready(deadline_ms - self.context.now_ms)
            self.client.poll(max(0, deadline_ms - self.context.now_ms))
            self.invoke_completed_offset_commit_callbacks()
            if self._async_commits_in_flight:
                self.sleep_backoff(deadline_ms, attempts)
                attempts += 1
                if self.context.now_ms >= deadline_ms:
                    return False
        return True


def _retriable(error: Exception) -> RetriableCommitFailedError:
    """Say that a later commit may succeed; Java does not try this one again, nor do we."""
    failed = RetriableCommitFailedError(f"the commit failed, and a later one may succeed: {error}")
    failed.__cause__ = error
    return failed
