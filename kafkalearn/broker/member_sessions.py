"""Who has to show until when that it lives: members by heartbeats, given-out ids by their use.

Source: kafka.coordinator.group.DelayedHeartbeat and GroupCoordinator's
completeAndScheduleNextHeartbeatExpiration, addPendingMemberExpiration (2.4.0).
"""

from collections.abc import Callable

from kafkalearn.broker.broker_context import BrokerContext
from kafkalearn.broker.group_metadata import GroupMetadata
from kafkalearn.broker.member_metadata import MemberMetadata

NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000  # GroupCoordinator.NewMemberJoinTimeoutMs


class MemberSessions:
    """Sets the timers; who is late is handed to `on_expired` or `on_pending_expired`.

    A member whose join or sync is parked is not late: it waits for an answer, and its session
    begins anew with that. Only its first join has a limit, because it cannot know its id yet.
    """

    def __init__(
        self,
        context: BrokerContext,
        *,
        on_expired: Callable[[GroupMetadata, MemberMetadata, int], None],
        on_pending_expired: Callable[[GroupMetadata, str, int], None],
    ) -> None:
        self._timers = context.timers
        self._profile = context.profile
        self._on_expired = on_expired
        self._on_pending_expired = on_pending_expired

    def schedule_next_heartbeat_expiration(
        self, group: GroupMetadata, member: MemberMetadata, now_ms: int
    ) -> None:
        """Begin the session anew: the member has shown that it lives."""
        joins_first = member.is_new and member.awaiting_join is not None
        if joins_first and not self._profile.heartbeat_limits_first_join:
            if member.session_timer is not None:
                member.session_timer.cancel()
            return
        self._expect(group, member, now_ms + member.session_timeout_ms)

    def limit_first_join(self, group: GroupMetadata, member: MemberMetadata, now_ms: int) -> None:
        """Let a new member wait for its first answer, but not for ever."""
        self._expect(group, member, now_ms + NEW_MEMBER_JOIN_TIMEOUT_MS)

    def expect_use(
        self, group: GroupMetadata, member_id: str, *, session_timeout_ms: int, now_ms: int
    ) -> None:
        """Wait for a client that was given this id to join with it (KIP-394)."""
        group.pending_members[member_id] = self._timers.call_at(
            now_ms + session_timeout_ms,
            lambda due_ms: self._on_pending_expired(group, member_id, due_ms),
        )

    def _expect(self, group: GroupMetadata, member: MemberMetadata, deadline_ms: int) -> None:
        if member.session_timer is None:
            member.session_timer = self._timers.call_at(
                deadline_ms, lambda due_ms: self._expire(group, member, due_ms)
            )
        else:
            member.session_timer.restart(deadline_ms)

    def _expire(self, group: GroupMetadata, member: MemberMetadata, now_ms: int) -> None:
        parked = member.awaiting_join is not None or member.awaiting_sync is not None
        if member.is_new or not parked:
            self._on_expired(group, member, now_ms)
