"""How a rebalance begins, waits and ends; and how members come and go.

The handlers of requests call these, and timers do: the ends of the join and the sync phase, and
the sessions of members.

Source: kafka.coordinator.group.GroupCoordinator, DelayedJoin, InitialDelayedJoin
(1.0.2, 2.4.0); GroupMetadataManager of the group-coordinator module (4.0).
"""

from collections.abc import Callable, Mapping

from kafkalearn.broker.broker_context import BrokerContext
from kafkalearn.broker.group_answers import join_answer, sync_answer
from kafkalearn.broker.group_changes import GroupChanges
from kafkalearn.broker.group_metadata import GroupMetadata
from kafkalearn.broker.group_state import GroupState
from kafkalearn.broker.interfaces import Timer
from kafkalearn.broker.member_metadata import MemberMetadata
from kafkalearn.broker.member_sessions import MemberSessions
from kafkalearn.broker.offset_store import OffsetStore
from kafkalearn.errors import Errors
from kafkalearn.protocol.group import JoinGroupRequest
from kafkalearn.protocol.message import Reply

_S = GroupState


class GroupRebalance:
    """The phases of a rebalance, and what sets one off.

    when_empty: called with the group and the time when it has lost its last member.
    """

    def __init__(
        self,
        context: BrokerContext,
        store: OffsetStore,
        *,
        when_empty: Callable[[GroupMetadata, int], None],
    ) -> None:
        self._config = context.config
        self._profile = context.profile
        self._timers = context.timers
        self._store = store
        self._when_empty = when_empty
        self.changes = GroupChanges(context)
        self.sessions = MemberSessions(
            context,
            on_expired=self._expire_member,
            on_pending_expired=self._expire_pending_member,
        )

    # Members come, change and go.

    def add_member_and_rebalance(
        self,
        group: GroupMetadata,
        request: JoinGroupRequest,
        *,
        member_id: str,
        reply: Reply,
        now_ms: int,
    ) -> None:
        """Let a new member in and park its join."""
        if group.is_in(_S.PREPARING_REBALANCE) and self._extends_delay(group):
            group.new_member_added = True
        member = self.changes.add_member(
            group, request, member_id=member_id, reply=reply, now_ms=now_ms
        )
        if self._profile.new_member_join_timeout:
            self.sessions.limit_first_join(group, member, now_ms)
        self.maybe_prepare_rebalance(group, f"adding new member {member_id}", now_ms=now_ms)

    def update_member_and_rebalance(
        self,
        group: GroupMetadata,
        member: MemberMetadata,
        *,
        request: JoinGroupRequest,
        reply: Reply,
        now_ms: int,
    ) -> None:
        """Take over what a member offers now, and park its join."""
        self.changes.update_member(group, member, request=request)
        group.park_join(member, reply)
        self.maybe_prepare_rebalance(group, f"member {member.member_id} joins again", now_ms=now_ms)

    def _expire_pending_member(self, group: GroupMetadata, member_id: str, now_ms: int) -> None:
        reason = "nobody joined with it within the session timeout"
        self.changes.remove_pending(group, member_id, reason=reason, now_ms=now_ms)
        self._wait_for_no_more_than_the_rest(group)
        self.try_complete_join(group, now_ms)

    def _expire_member(self, group: GroupMetadata, member: MemberMetadata, now_ms: int) -> None:
        reason = "no sign of life within the session timeout"
        self.changes.remove_member(group, member, reason=reason, now_ms=now_ms)
        self._wait_for_no_more_than_the_rest(group)
        self.rebalance_without(group, f"{member.member_id} gave {reason}", now_ms=now_ms)

    def _wait_for_no_more_than_the_rest(self, group: GroupMetadata) -> None:
        if self._profile.expiry_ends_initial_delay and group.has_all_members_joined():
            group.in_initial_delay = False

    def rebalance_without(self, group: GroupMetadata, reason: str, *, now_ms: int) -> None:
        """React to members that are gone."""
        if group.is_in(_S.STABLE, _S.AWAITING_SYNC):
            self.maybe_prepare_rebalance(group, reason, now_ms=now_ms)
        else:
            self.try_complete_join(group, now_ms)

    # The join phase.

    def maybe_prepare_rebalance(self, group: GroupMetadata, reason: str, *, now_ms: int) -> None:
        """Begin a rebalance, unless one has begun; in any case see whether all have joined."""
        if not group.is_in(_S.PREPARING_REBALANCE):
            self._prepare_rebalance(group, reason, now_ms)
        self.try_complete_join(group, now_ms)

    def _prepare_rebalance(self, group: GroupMetadata, reason: str, now_ms: int) -> None:
        if group.is_in(_S.AWAITING_SYNC):
            self.propagate_assignment(group, {}, error=Errors.REBALANCE_IN_PROGRESS, now_ms=now_ms)
        _cancel(group.sync_timer)
        group.in_initial_delay = group.is_in(_S.EMPTY) and self._profile.initial_delay_from_empty
        self.changes.transition_to(group, _S.PREPARING_REBALANCE, reason=reason, now_ms=now_ms)
        if group.in_initial_delay:
            delay_ms = self._config.group_initial_rebalance_delay_ms
            rest_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
            self._delay_initially(group, delay_ms, rest_ms=rest_ms, now_ms=now_ms)
        else:
            self._end_join_at(group, now_ms + group.rebalance_timeout_ms)

    def _extends_delay(self, group: GroupMetadata) -> bool:
        if self._profile.empty_group_extends_delay:
            return group.in_initial_delay
        return group.generation_id == 0

    def _delay_initially(
        self, group: GroupMetadata, delay_ms: int, *, rest_ms: int, now_ms: int
    ) -> None:
        def on_expiration(due_ms: int) -> None:
            if group.new_member_added and rest_ms > 0:
                group.new_member_added = False
                more_ms = min(self._config.group_initial_rebalance_delay_ms, rest_ms)
                self._delay_initially(
                    group, more_ms, rest_ms=max(rest_ms - delay_ms, 0), now_ms=due_ms
                )
            else:
                self._on_complete_join(group, due_ms)

        group.join_timer = self._timers.call_at(now_ms + delay_ms, on_expiration)

    def _end_join_at(self, group: GroupMetadata, time_ms: int) -> None:
        group.join_timer = self._timers.call_at(
            time_ms, lambda due_ms: self._on_complete_join(group, due_ms)
        )

    def try_complete_join(self, group: GroupMetadata, now_ms: int) -> None:
        """End the join phase at once if all have joined; the initial delay is waited for."""
        if (
            group.is_in(_S.PREPARING_REBALANCE)
            and not group.in_initial_delay
            and group.has_all_members_joined()
        ):
            self._on_complete_join(group, now_ms)

    def _on_complete_join(self, group: GroupMetadata, now_ms: int) -> None:
        _cancel(group.join_timer)
        for late in group.not_yet_rejoined_members():
            if not late.is_static_member:
                reason = "did not join again within the rebalance timeout"
                self.changes.remove_member(group, late, reason=reason, now_ms=now_ms)
        if not group.maybe_elect_new_joined_leader() and group.members:
            # Only static members are left, and none of them came: their sessions decide.
            self._end_join_at(group, now_ms + group.rebalance_timeout_ms)
            return
        group.in_initial_delay = False
        before = group.state
        group.init_next_generation(now_ms)
        self.changes.record_state(group, before, reason="the join phase ended", now_ms=now_ms)
        if group.is_in(_S.EMPTY):
            self._store.store_group(group, {}, now_ms)
            self._when_empty(group, now_ms)
        else:
            self._answer_joins(group, now_ms)

    def _answer_joins(self, group: GroupMetadata, now_ms: int) -> None:
        for member in list(group.members.values()):
            parked = group.park_join(member, None)
            if parked is not None:
                parked(join_answer(group, member))
            self.sessions.schedule_next_heartbeat_expiration(group, member, now_ms)
            member.is_new = False
        if self._profile.pending_sync_expires:
            group.pending_sync_members = dict.fromkeys(group.members)
            group.sync_timer = self._timers.call_at(
                now_ms + group.rebalance_timeout_ms,
                lambda due_ms: self._expire_pending_sync(group, due_ms),
            )

    # The sync phase.

    def sync_received(self, group: GroupMetadata, member: MemberMetadata) -> None:
        """Note that a member asked for its assignment."""
        group.pending_sync_members.pop(member.member_id, None)
        if not group.pending_sync_members:
            _cancel(group.sync_timer)

    def _expire_pending_sync(self, group: GroupMetadata, now_ms: int) -> None:
        reason = "did not sync within the rebalance timeout"
        # An id that a restarted static member had before is waited for, and nobody's any more.
        late = [group.members[each] for each in group.pending_sync_members if each in group.members]
        for member in late:
            self.changes.remove_member(group, member, reason=reason, now_ms=now_ms)
        self.maybe_prepare_rebalance(group, f"members that {reason} are gone", now_ms=now_ms)

    def set_and_propagate_assignment(
        self, group: GroupMetadata, assignment: Mapping[str, str], now_ms: int
    ) -> None:
        """Make the leader's assignment hold; whom it forgot gets an empty one."""
        self._store.store_group(group, assignment, now_ms)
        self.propagate_assignment(group, assignment, error=Errors.NONE, now_ms=now_ms)
        self.changes.transition_to(group, _S.STABLE, reason="the leader assigned", now_ms=now_ms)

    def propagate_assignment(
        self, group: GroupMetadata, assignment: Mapping[str, str], *, error: Errors, now_ms: int
    ) -> None:
        """Answer every parked sync, and wait for each of these members' heartbeats again."""
        for member in list(group.members.values()):
            member.assignment = assignment.get(member.member_id, "")
            parked, member.awaiting_sync = member.awaiting_sync, None
            if parked is not None:
                parked(sync_answer(group, member, error=error))
                self.sessions.schedule_next_heartbeat_expiration(group, member, now_ms)


def _cancel(timer: Timer | None) -> None:
    if timer is not None:
        timer.cancel()
