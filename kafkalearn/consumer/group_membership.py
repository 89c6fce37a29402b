"""The requests by which a member joins, stays and leaves, and what their answers do.

Source: document 004, "Consumer如何加入一个Group";
org.apache.kafka.clients.consumer.internals.AbstractCoordinator (1.0.2; later releases by switches).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial

from kafkalearn.clients.request_future import RequestFuture
from kafkalearn.consumer.consumer_parts import ConsumerParts
from kafkalearn.consumer.group_member import GroupMember
from kafkalearn.consumer.heartbeat_thread import HeartbeatThread
from kafkalearn.consumer.member_state import NO_GENERATION, Generation, MemberState
from kafkalearn.errors import Errors, RetriableError
from kafkalearn.protocol.group import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
    JoinGroupResponseMember,
    LeaveGroupRequest,
    MemberIdentity,
    SyncGroupRequest,
    SyncGroupResponse,
)

_FALLEN_OUT = (Errors.UNKNOWN_MEMBER_ID, Errors.ILLEGAL_GENERATION, Errors.FENCED_INSTANCE_ID)
_JOIN_GROUP_TIMEOUT_LAPSE_MS = 5000  # AbstractCoordinator.JOIN_GROUP_TIMEOUT_LAPSE (2.0)


class GroupMembership(GroupMember, ABC):
    """Makes the requests of one member, and takes their answers."""

    def __init__(self, parts: ConsumerParts) -> None:
        super().__init__(parts)
        self.rebalance_timeout_ms = parts.config.max_poll_interval_ms
        self.heartbeat_thread: HeartbeatThread | None = None

    @abstractmethod
    def metadata(self) -> tuple[JoinGroupRequestProtocol, ...]:
        """Give the assignors offered, preferred first, each with the subscription as text."""

    @abstractmethod
    def perform_assignment(
        self, leader_id: str, protocol: str, *, members: Sequence[JoinGroupResponseMember]
    ) -> Mapping[str, str]:
        """As the leader, give each member id its assignment as text."""

    def maybe_leave_group(self, reason: str) -> None:
        """Leave, if it is in: one request, which is not repeated. A static member does not tell."""
        coordinator = self.check_and_get_coordinator()
        member_id = self.generation.member_id
        joined = self.state is not MemberState.UNJOINED and member_id
        if coordinator is not None and joined and self.group_instance_id is None:
            request = LeaveGroupRequest(
                group_id=self.group_id, members=(MemberIdentity(member_id),)
            )
            self.client.send(coordinator, request)
            self.client.poll_no_wakeup()
        self.reset_generation(reason)

    def send_heartbeat_request(self) -> RequestFuture[None]:
        """Say that the member lives."""
        request = HeartbeatRequest(
            group_id=self.group_id,
            generation_id=self.generation.generation_id,
            member_id=self.generation.member_id,
            group_instance_id=self.group_instance_id,
        )
        handle = partial(self._handle_heartbeat, self.generation)
        return self.send_to_coordinator(request, handle)

    def _send_join_group_request(self) -> RequestFuture[str]:
        request = JoinGroupRequest(
            group_id=self.group_id,
            session_timeout_ms=self.config.session_timeout_ms,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            member_id=self.generation.member_id,
            group_instance_id=self.group_instance_id,
            protocols=self.metadata(),
            client_id=self.config.client_id or self.context.node.name,
        )
        handle = partial(self._handle_join_group, self.generation)
        return self.send_to_coordinator(request, handle, timeout_ms=self._join_group_timeout_ms())

    def _join_group_timeout_ms(self) -> int | None:
        """Give how long a join may take; None for as long as any request."""
        profile = self.context.profile
        if not profile.poll_timeout_bounds_join:
            return None  # before 2.0 request.timeout.ms is long enough by default
        # The answer comes when the others have joined, which may take longer than other requests.
        timeout_ms = self.rebalance_timeout_ms + _JOIN_GROUP_TIMEOUT_LAPSE_MS
        if profile.join_waits_request_timeout:
            return max(timeout_ms, self.config.request_timeout_ms)
        return timeout_ms

    def _handle_join_group(
        self, sent: Generation, response: JoinGroupResponse, future: RequestFuture[str]
    ) -> None:
        error = response.error_code
        if error is Errors.NONE:
            if self.state is not MemberState.REBALANCING:
                # A wakeup() interrupted the join, and the member has left since.
                future.raise_error(UnjoinedGroupError("the group was left during the join"))
                return
            self.generation = Generation(
                response.generation_id, response.member_id, response.protocol_name
            )
            if self.context.profile.heartbeat_while_rebalancing:
                self.set_state(MemberState.COMPLETING_REBALANCE)
                if self.heartbeat_thread is not None:
                    self.heartbeat_thread.enable()
            if response.leader == response.member_id:
                self._on_join_leader(response).chain(future)
            else:
                self._on_join_follower().chain(future)
            return
        if error is Errors.MEMBER_ID_REQUIRED:
            self.generation = Generation(NO_GENERATION.generation_id, response.member_id, "")
        future.raise_error(self.react(error, "JoinGroup", sent=sent))

    def _on_join_leader(self, response: JoinGroupResponse) -> RequestFuture[str]:
        try:
            assignments = self.perform_assignment(
                response.leader, response.protocol_name, members=response.members
            )
        except Exception as error:
            return RequestFuture.failure(error)
        # A static leader that restarted watches the topics again, but must not assign (3.2).
        return self._send_sync_group_request({} if response.skip_assignment else assignments)

    def _on_join_follower(self) -> RequestFuture[str]:
        return self._send_sync_group_request({})

    def _send_sync_group_request(self, assignments: Mapping[str, str]) -> RequestFuture[str]:
        names_protocol = self.context.profile.sync_names_protocol
        request = SyncGroupRequest(
            group_id=self.group_id,
            generation_id=self.generation.generation_id,
            member_id=self.generation.member_id,
            group_instance_id=self.group_instance_id,
            protocol_type="consumer" if names_protocol else None,
            protocol_name=self.generation.protocol if names_protocol else None,
            assignments=assignments,
        )
        handle = partial(self._handle_sync_group, self.generation)
        return self.send_to_coordinator(request, handle)

    def _handle_sync_group(
        self, sent: Generation, response: SyncGroupResponse, future: RequestFuture[str]
    ) -> None:
        error = response.error_code
        if error is Errors.NONE:
            if self.generation.is_reset:  # by itself, or with the help of its heartbeats
                why = "the group was left before the assignment came"
                future.raise_error(Errors.ILLEGAL_GENERATION.exception(why))
            else:
                future.complete(response.assignment)
            return
        self.request_rejoin()
        future.raise_error(self.react(error, "SyncGroup", sent=sent))

    def _handle_heartbeat(
        self, sent: Generation, response: HeartbeatResponse, future: RequestFuture[None]
    ) -> None:
        error = response.error_code
        if error is Errors.NONE or self._may_ignore(error, sent):
            future.complete(None)
            return
        if error is Errors.FENCED_INSTANCE_ID and self.context.profile.stale_errors_are_ignored:
            self.reset_generation_on_error("Heartbeat", error)
        future.raise_error(self.react(error, "Heartbeat", sent=sent))

    def _may_ignore(self, error: Errors, sent: Generation) -> bool:
        """Whether a heartbeat's error tells nothing new, as the member joins already (2.6)."""
        if error is Errors.REBALANCE_IN_PROGRESS:
            ignores = self.context.profile.stale_errors_are_ignored
            return ignores and self.state is not MemberState.STABLE
        return error in _FALLEN_OUT and self.is_stale(sent)


class UnjoinedGroupError(RetriableError):
    """The member left the group while it joined (Java: UnjoinedGroupException)."""
