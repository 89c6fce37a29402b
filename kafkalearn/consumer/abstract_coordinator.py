"""How a consumer becomes and stays a member: coordinator, join, sync, heartbeats, leaving.

The order of steps is here; what a member is, and its requests, are in group_membership.py; what is
joined for, and assigned, ConsumerCoordinator knows.

Source: document 004, "Consumer如何加入一个Group";
org.apache.kafka.clients.consumer.internals.AbstractCoordinator (1.0.2; later releases by switches).
"""

from abc import abstractmethod

from kafkalearn.clients.network_client import NEVER_MS
from kafkalearn.clients.request_future import RequestFuture
from kafkalearn.consumer.consumer_parts import ConsumerParts
from kafkalearn.consumer.group_membership import GroupMembership
from kafkalearn.consumer.heartbeat_thread import HeartbeatThread
from kafkalearn.consumer.member_state import Generation, MemberState
from kafkalearn.errors import (
    IllegalGenerationError,
    MemberIdRequiredError,
    RebalanceInProgressError,
    UnknownMemberIdError,
)

_REJOIN_AT_ONCE = (
    UnknownMemberIdError,
    RebalanceInProgressError,
    IllegalGenerationError,
    MemberIdRequiredError,
)


class AbstractCoordinator(GroupMembership):
    """Keeps a member in its group. Times to wait are ms; NEVER_MS waits for ever."""

    def __init__(self, parts: ConsumerParts) -> None:
        super().__init__(parts)
        self._join_future: RequestFuture[str] | None = None

    @abstractmethod
    def on_join_prepare(self, generation_id: int, member_id: str, *, deadline_ms: int) -> bool:
        """Do what must be done before each join: commit, revoke; False if time was too short."""

    @abstractmethod
    def on_join_complete(self, generation: Generation, assignment: str) -> None:
        """Take the assignment that the leader made."""

    @abstractmethod
    def on_leave_prepare(self) -> None:
        """Do what must be done before leaving on purpose."""

    def need_rejoin(self) -> bool:
        """Whether to join again."""
        return self.rejoin_needed

    def rejoin_incomplete(self) -> bool:
        """Whether a join was begun that is not over, as after a wakeup()."""
        return self._join_future is not None

    def poll_heartbeat(self, now_ms: int) -> None:
        """Note that the application polls; raise what ended the heartbeats, if anything did."""
        thread = self.heartbeat_thread
        if thread is not None:
            if thread.failure is not None:
                self.heartbeat_thread = None
                raise thread.failure
            self.heartbeat.poll(now_ms)
            if now_ms >= self.heartbeat.due_ms:
                thread.wake()
                # Give way: the poll does not wait while a heartbeat is due, so it would stay due.
                self.context.processes.sleep(0)

    def time_to_next_heartbeat(self, now_ms: int) -> int:
        """In how many ms a heartbeat is due; NEVER_MS for who has not joined, or was fenced."""
        if not self.state.has_heartbeats or self.heartbeat_thread is None:
            return NEVER_MS
        return max(0, self.heartbeat.due_ms - now_ms)

    def ensure_active_group(self, timeout_ms: int = NEVER_MS) -> bool:
        """Be a member with an assignment; False if that is not so in time."""
        deadline_ms = self.context.now_ms + timeout_ms
        if not self.ensure_coordinator_ready(timeout_ms):
            return False
        self._start_heartbeat_thread_if_needed()
        return self.join_group_if_needed(deadline_ms - self.context.now_ms)

    def join_group_if_needed(self, timeout_ms: int = NEVER_MS) -> bool:
        """Join and sync until it is done; False if it is not in time: the next call goes on."""
        deadline_ms = self.context.now_ms + timeout_ms
        while self.need_rejoin() or self.rejoin_incomplete():
            if not self.ensure_coordinator_ready(deadline_ms - self.context.now_ms):
                return False
            if self._needs_join_prepare:
                # Before 2.4 a wakeup() in there lets the next poll do all of it again.
                ends_first = self.context.profile.incremental_rebalance
                self._needs_join_prepare = not ends_first
                generation_id, member_id, _ = self.generation
                if not self.on_join_prepare(generation_id, member_id, deadline_ms=deadline_ms):
                    self._needs_join_prepare = True
                    return False
                self._needs_join_prepare &= ends_first
            future = self._initiate_join_group()
            if not self.client.poll_future(future, deadline_ms - self.context.now_ms):
                return False
            if future.succeeded():
                if not self.generation.is_reset:
                    self.on_join_complete(self.generation, future.value())
                    self._needs_join_prepare = True
                # else its heartbeats left the group again before the application looked
                self._join_future = None
            else:
                self._join_future = None
                if isinstance(future.exception(), _REJOIN_AT_ONCE):
                    continue
                if not future.is_retriable():
                    raise future.exception()
                self.sleep_backoff(deadline_ms)
        return True

    def close_group(self, timeout_ms: int) -> None:
        """End the heartbeats, leave, and wait for what is on its way (Java: close)."""
        deadline_ms = self.context.now_ms + timeout_ms
        if self.heartbeat_thread is not None:
            self.heartbeat_thread.close()
            self.heartbeat_thread = None
        self.on_leave_prepare()
        self.maybe_leave_group("the consumer closes")
        coordinator = self.check_and_get_coordinator()
        if coordinator is not None:
            self.client.await_pending_requests(coordinator, deadline_ms - self.context.now_ms)

    def _initiate_join_group(self) -> RequestFuture[str]:
        """Begin a join; after a wakeup() go on with the one that was begun."""
        if self._join_future is None:
            if self.heartbeat_thread is not None:
                self.heartbeat_thread.disable()
            self.set_state(MemberState.REBALANCING)
            self._join_future = self._send_join_group_request()
            self._join_future.add_listener(self._on_joined, self._on_join_failed)
        return self._join_future

    def _on_joined(self, _: str) -> None:
        self.rejoin_needed = False
        self.set_state(MemberState.STABLE)
        if self.heartbeat_thread is not None:
            self.heartbeat_thread.enable()

    def _on_join_failed(self, error: Exception) -> None:
        self.rejoin_needed = True  # whatever asked for it; up to 2.4 Kafka may forget it here
        if not self.context.profile.heartbeat_while_rebalancing:
            self.set_state(MemberState.UNJOINED, str(error))

    def _start_heartbeat_thread_if_needed(self) -> None:
        if self.heartbeat_thread is None:
            self.heartbeat_thread = HeartbeatThread(self)
