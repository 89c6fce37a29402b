"""What a member is in its group, the requests that change it, and what their answers do.

Source: document 004, "Consumer如何加入一个Group";
org.apache.kafka.clients.consumer.internals.AbstractCoordinator (1.0.2; later releases by switches).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from kafkalearn.clients.request_future import RequestFuture
from kafkalearn.consumer.consumer_parts import ConsumerParts
from kafkalearn.consumer.coordinator_lookup import CoordinatorLookup
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

_HINTS = {
    Errors.INVALID_GROUP_ID: "give the consumer a group_id",
    Errors.INVALID_SESSION_TIMEOUT: "session_timeout_ms is {config.session_timeout_ms}, and the "
    "brokers allow group_min_session_timeout_ms to group_max_session_timeout_ms",
    Errors.INCONSISTENT_GROUP_PROTOCOL: "partition_assignment_strategy is "
    "{config.partition_assignment_strategy}, and no assignor of these suits all members",
}
_JOIN_GROUP_TIMEOUT_LAPSE_MS = 5000  # AbstractCoordinator.JOIN_GROUP_TIMEOUT_LAPSE (2.0)


class GroupMembership(CoordinatorLookup, ABC):
    """One member of a group, as long as its consumer lives.

    state, generation: what it believes to be.
    """

    def __init__(self, parts: ConsumerParts) -> None:
        super().__init__(parts)
        self.group_instance_id = parts.config.group_instance_id
        self.rebalance_timeout_ms = parts.config.max_poll_interval_ms
        self.state = MemberState.UNJOINED
        self.generation = NO_GENERATION
        self.heartbeat_thread: HeartbeatThread | None = None
        self.rejoin_needed = True
        self._needs_join_prepare = True

    @abstractmethod
    def metadata(self) -> tuple[JoinGroupRequestProtocol, ...]:
        """Give the assignors offered, preferred first, each with the subscription as text."""

    @abstractmethod
    def perform_assignment(
        self, leader_id: str, protocol: str, *, members: Sequence[JoinGroupResponseMember]
    ) -> Mapping[str, str]:
        """As the leader, give each member id its assignment as text."""

    def request_rejoin(self) -> None:
        """Join again at the next poll."""
        self.rejoin_needed = True

    def reset_generation(self, reason: str = "") -> None:
        """Be nobody: the next join is that of a new member."""
        self.generation = NO_GENERATION
        self.rejoin_needed = True
        if self.context.profile.incremental_rebalance:
            self._needs_join_prepare = True  # what it kept is lost, also during a join (3.0)
        self.set_state(MemberState.UNJOINED, reason)

    def current_generation(self) -> Generation | None:
        """Give the generation; None for who is not an active member (Java: generation())."""
        return self.generation if self.state is MemberState.STABLE else None

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
        return self.send_to_coordinator(request, self._handle_heartbeat)

    def react(self, error: Errors, api: str) -> Exception:
        """Do what an error of any group request asks for; give what the caller raises."""
        if error in (Errors.COORDINATOR_NOT_AVAILABLE, Errors.NOT_COORDINATOR):
            self.mark_coordinator_unknown()
        elif error in (Errors.UNKNOWN_MEMBER_ID, Errors.ILLEGAL_GENERATION):
            self.reset_generation(f"{api}: {error.name}")
        elif error is Errors.REBALANCE_IN_PROGRESS:
            self.request_rejoin()
        hint = _HINTS.get(error, "")
        said = f"{api} of group {self.group_id!r} is answered {error.name}"
        return error.exception(f"{said}: {hint.format(config=self.config)}" if hint else said)

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
        # The answer comes when the others have joined, which may take longer than other requests.
        timeout_ms = self.rebalance_timeout_ms + _JOIN_GROUP_TIMEOUT_LAPSE_MS
        timeout_ms = max(timeout_ms, self.config.request_timeout_ms)
        return self.send_to_coordinator(request, self._handle_join_group, timeout_ms=timeout_ms)

    def _handle_join_group(self, response: JoinGroupResponse, future: RequestFuture[str]) -> None:
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
        future.raise_error(self.react(error, "JoinGroup"))

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
        return self.send_to_coordinator(request, self._handle_sync_group)

    def _handle_sync_group(self, response: SyncGroupResponse, future: RequestFuture[str]) -> None:
        if self.generation is NO_GENERATION:
            # The member has left since, by itself or with the help of its heartbeats.
            future.raise_error(UnjoinedGroupError("the group was left before the assignment came"))
            return
        if response.error_code is Errors.NONE:
            future.complete(response.assignment)
            return
        self.request_rejoin()
        future.raise_error(self.react(response.error_code, "SyncGroup"))

    def _handle_heartbeat(self, response: HeartbeatResponse, future: RequestFuture[None]) -> None:
        if response.error_code is Errors.NONE:
            future.complete(None)
        else:
            future.raise_error(self.react(response.error_code, "Heartbeat"))

    def set_state(self, state: MemberState, reason: str = "") -> None:
        """The only place where the state changes."""
        if state is not self.state:
            old, self.state = self.state, state
            detail = {"from": old.value, "to": state.value}
            self.context.record(
                "client_state",
                self.context.now_ms,
                group_id=self.group_id,
                member_id=self.generation.member_id or None,
                generation=self.generation.generation_id,
                detail=detail | ({"reason": reason} if reason else {}),
            )


class UnjoinedGroupError(RetriableError):
    """The member left the group while it joined (Java: UnjoinedGroupException)."""
