"""What a member believes to be in its group, and how errors change that.

Source: org.apache.kafka.clients.consumer.internals.AbstractCoordinator (1.0.2; later releases by
switches).
"""

from kafkalearn.consumer.consumer_parts import ConsumerParts
from kafkalearn.consumer.coordinator_lookup import CoordinatorLookup
from kafkalearn.consumer.member_state import NO_GENERATION, Generation, MemberState
from kafkalearn.errors import Errors, KafkaError

_HINTS = {
    Errors.INVALID_GROUP_ID: "give the consumer a group_id",
    Errors.INVALID_SESSION_TIMEOUT: "session_timeout_ms is {config.session_timeout_ms}, and the "
    "brokers allow group_min_session_timeout_ms to group_max_session_timeout_ms",
    Errors.INCONSISTENT_GROUP_PROTOCOL: "partition_assignment_strategy is "
    "{config.partition_assignment_strategy}, and no assignor of these suits all members",
    Errors.GROUP_MAX_SIZE_REACHED: "the brokers allow group_max_size members, and it has as many",
}
# Errors that look as if another try might help, but are raised as whatever Kafka does not expect.
_UNEXPECTED = {
    "JoinGroup": (Errors.ILLEGAL_GENERATION, Errors.REQUEST_TIMED_OUT),
    "SyncGroup": (Errors.COORDINATOR_LOAD_IN_PROGRESS, Errors.REQUEST_TIMED_OUT),
}


class GroupMember(CoordinatorLookup):
    """One member of a group, as long as its consumer lives.

    state, generation: what it believes to be.
    rejoin_needed: whether somebody asked it to join again.
    """

    def __init__(self, parts: ConsumerParts) -> None:
        super().__init__(parts)
        self.group_instance_id = parts.config.group_instance_id
        self.state = MemberState.UNJOINED
        self.generation = NO_GENERATION
        self.rejoin_needed = True
        self._needs_join_prepare = True

    def request_rejoin(self) -> None:
        """Join again at the next poll."""
        self.rejoin_needed = True

    def reset_generation(self, reason: str = "", *, member_id: str = "") -> None:
        """Be in no generation; without a member id, the next join is that of a new member."""
        self.generation = NO_GENERATION._replace(member_id=member_id)
        self.rejoin_needed = True
        if self.context.profile.reset_prepares_join:
            self._needs_join_prepare = True  # what it has kept is lost, also during a join
        self.set_state(MemberState.UNJOINED, reason)

    def current_generation(self) -> Generation | None:
        """Give the generation; None for who is not an active member (Java: generation())."""
        return self.generation if self.state is MemberState.STABLE else None

    def is_stale(self, sent: Generation) -> bool:
        """Whether what was sent in that generation is of no importance any more (2.6)."""
        return self.context.profile.stale_errors_are_ignored and sent != self.generation

    def reset_generation_on_error(self, api: str, error: Errors) -> None:
        """Fall out of the group, as an answer says; ILLEGAL_GENERATION leaves the id (3.2)."""
        keeps = self.context.profile.illegal_generation_keeps_member_id
        keeps &= error is Errors.ILLEGAL_GENERATION
        self.reset_generation(
            f"{api}: {error.name}", member_id=self.generation.member_id if keeps else ""
        )

    def react(self, error: Errors, api: str, *, sent: Generation | None = None) -> Exception:
        """Do what an error of any group request asks for; give what the caller raises.

        sent: the generation in which a member asked.
        """
        said = f"{api} of group {self.group_id!r} is answered {error.name}"
        if error in _UNEXPECTED.get(api, ()):
            return KafkaError(f"{said}, which is not expected")
        if error in (Errors.COORDINATOR_NOT_AVAILABLE, Errors.NOT_COORDINATOR):
            self.mark_coordinator_unknown()
        elif error in (Errors.UNKNOWN_MEMBER_ID, Errors.ILLEGAL_GENERATION):
            if sent is None or not self.is_stale(sent):
                self.reset_generation_on_error(api, error)
        elif error is Errors.REBALANCE_IN_PROGRESS:
            self.request_rejoin()
        hint = _HINTS.get(error, "")
        return error.exception(f"{said}: {hint.format(config=self.config)}" if hint else said)

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
