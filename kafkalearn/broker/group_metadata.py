"""One consumer group as its coordinator sees it: members, generation, state, offsets.

It decides nothing and answers nobody; the coordinator does.

Source: kafka.coordinator.group.GroupMetadata (1.0.2, 2.4.0), ClassicGroup (4.0).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kafkalearn.broker.group_state import VALID_PREVIOUS_STATES, GroupState
from kafkalearn.broker.interfaces import Timer
from kafkalearn.broker.member_metadata import MemberMetadata, subscribed_topics
from kafkalearn.errors import Errors, IllegalStateError
from kafkalearn.protocol.group import (
    HeartbeatRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponseMember,
    SyncGroupRequest,
)
from kafkalearn.protocol.message import Reply
from kafkalearn.protocol.offsets import OffsetCommitRequest
from kafkalearn.records import TopicPartition


class CommittedOffset(NamedTuple):
    """An offset with its clock.

    expire_ms: when it goes, where each commit has its own time (before KIP-211); else None.
    """

    offset: int
    metadata: str
    commit_ms: int
    expire_ms: int | None = None


class GroupMetadata:
    """The members of a group in the order in which they came, and what they agreed on.

    generation_id counts rebalances that ended, those that ended Empty included.
    state_since_ms is when the group came into its state, `created_ms` at first.
    subscribed_topics: those of its consumers when the generation began; None if that is not known.
    """

    def __init__(self, group_id: str, created_ms: int) -> None:
        self.group_id = group_id
        self.state = GroupState.EMPTY
        self.state_since_ms = created_ms
        self.generation_id = 0
        self.protocol_type: str | None = None
        self.protocol_name: str | None = None
        self.leader_id: str | None = None
        self.members: dict[str, MemberMetadata] = {}
        self.static_members: dict[str, str] = {}  # group.instance.id -> member id
        self.pending_members: dict[str, Timer] = {}  # ids given out and not used yet
        self.pending_sync_members: dict[str, None] = {}  # those that have not synced yet
        self.offsets: dict[TopicPartition, CommittedOffset] = {}
        self.subscribed_topics: set[str] | None = None
        self.is_stored = False  # whether the log knows of it
        self.pending_offset_commits: set[TopicPartition] = set()  # see refused_offset_is_forgotten
        self.new_member_added = False
        self.in_initial_delay = False
        self.join_timer: Timer | None = None
        self.sync_timer: Timer | None = None
        self._support: Counter[str] = Counter()  # protocol -> how many members offer it
        self._awaiting_join = 0

    def is_in(self, *states: GroupState) -> bool:
        """Whether it is in one of these states."""
        return self.state in states

    def transition_to(self, state: GroupState, now_ms: int) -> None:
        """Change the state, as nobody else may; IllegalStateError if Kafka forbids it."""
        if self.state not in VALID_PREVIOUS_STATES[state]:
            allowed = ", ".join(sorted(each.value for each in VALID_PREVIOUS_STATES[state]))
            raise IllegalStateError(
                f"group {self.group_id} cannot go from {self.state.value} to {state.value}: "
                f"only {allowed} may come before it"
            )
        self.state = state
        self.state_since_ms = now_ms

    def restore_state(self, state_since_ms: int) -> None:
        """Be as after the last rebalance that ended, with the members that the log told of."""
        self.state = GroupState.STABLE if self.members else GroupState.EMPTY
        self.state_since_ms = state_since_ms
        self.subscribed_topics = subscribed_topics(self)

    def init_next_generation(self, now_ms: int) -> None:
        """End the join phase: one generation up, and the members' votes choose the protocol."""
        self.generation_id += 1
        self.protocol_name = self.select_protocol() if self.members else None
        self.subscribed_topics = subscribed_topics(self)
        self.transition_to(GroupState.AWAITING_SYNC if self.members else GroupState.EMPTY, now_ms)

    def add(self, member: MemberMetadata, awaiting_join: Reply | None = None) -> None:
        """Let a member in; the first one leads."""
        if self.leader_id is None:
            self.leader_id = member.member_id
        self.members[member.member_id] = member
        if member.group_instance_id is not None:
            self.static_members[member.group_instance_id] = member.member_id
        self._support.update(_names(member.supported_protocols))
        self.park_join(member, awaiting_join)

    def remove(self, member: MemberMetadata) -> None:
        """Forget a member and its timer. If it led, the oldest of the others leads.

        Differs from Kafka: there it is whichever a hash map yields first.
        """
        self.park_join(member, None)
        del self.members[member.member_id]
        self.pending_sync_members.pop(member.member_id, None)
        if member.group_instance_id is not None:
            del self.static_members[member.group_instance_id]
        self._support.subtract(_names(member.supported_protocols))
        if member.session_timer is not None:
            member.session_timer.cancel()
        if self.leader_id == member.member_id:
            self.leader_id = next(iter(self.members), None)

    def replace_static_member(self, member: MemberMetadata, new_member_id: str) -> None:
        """Give a static member that restarted its new id; its place in the group stays.

        The sync phase goes on waiting for the old id, as in Kafka, and so ends in a rebalance.
        """
        old_member_id, member.member_id = member.member_id, new_member_id
        member.is_new = False
        self.members = {each.member_id: each for each in self.members.values()}
        assert member.group_instance_id is not None
        self.static_members[member.group_instance_id] = new_member_id
        if self.leader_id == old_member_id:
            self.leader_id = new_member_id

    def update_protocols(
        self, member: MemberMetadata, protocols: Sequence[JoinGroupRequestProtocol]
    ) -> None:
        """Note what a member offers now."""
        self._support.subtract(_names(member.supported_protocols))
        self._support.update(_names(protocols))
        member.supported_protocols = protocols

    def park_join(self, member: MemberMetadata, reply: Reply | None) -> Reply | None:
        """Park a join, or with None take the parked one out; gives what was parked before."""
        before, member.awaiting_join = member.awaiting_join, reply
        self._awaiting_join += (reply is not None) - (before is not None)
        return before

    def maybe_elect_new_joined_leader(self) -> bool:
        """Let a member that joined lead, if the leader did not; False if nobody joined.

        Only a static member can be late and still be there (KIP-345).
        """
        if self.leader_id is None:
            return False
        if self.members[self.leader_id].awaiting_join is None:
            joined = (each for each in self.members.values() if each.awaiting_join is not None)
            new_leader = next(joined, None)
            if new_leader is None:
                return False
            self.leader_id = new_leader.member_id
        return True

    def not_yet_rejoined_members(self) -> list[MemberMetadata]:
        """Those whose join is missing."""
        return [each for each in self.members.values() if each.awaiting_join is None]

    def has_all_members_joined(self) -> bool:
        """Whether nobody has to be waited for, ids that were only given out included."""
        return self._awaiting_join == len(self.members) and not self.pending_members

    @property
    def num_awaiting_join(self) -> int:
        """How many joins are parked."""
        return self._awaiting_join

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest of all members."""
        return max([0, *(each.rebalance_timeout_ms for each in self.members.values())])

    def cancel_timers(self) -> None:
        """Let nothing of this group happen any more."""
        timers = [self.join_timer, self.sync_timer, *self.pending_members.values()]
        timers += [member.session_timer for member in self.members.values()]
        for timer in timers:
            if timer is not None:
                timer.cancel()

    def is_leader(self, member_id: str) -> bool:
        """Whether it computes the assignment."""
        return self.leader_id == member_id

    def select_protocol(self) -> str:
        """Count votes among the protocols that all support.

        Differs from Kafka: of several with the most votes, the one voted for first; there, hash
        order decides.
        """
        candidates = {name for name, count in self._support.items() if count == len(self.members)}
        votes = Counter(each.vote(candidates) for each in self.members.values())
        return votes.most_common(1)[0][0]

    def supports_protocols(self, protocol_type: str, names: Iterable[str]) -> bool:
        """Whether a member of this type that offers these could be one of the group."""
        if self.state is GroupState.EMPTY:
            return bool(protocol_type) and any(True for _ in names)
        return protocol_type == self.protocol_type and any(
            self._support[name] == len(self.members) for name in names
        )

    def validate_member(self, member_id: str, group_instance_id: str | None) -> Errors:
        """Whether it is a member, and the one that holds its instance id.

        Differs from Kafka up to 2.8: those let a member pass that names an instance which the
        group does not know.
        """
        if group_instance_id is not None:
            holder = self.static_members.get(group_instance_id)
            if holder is not None and holder != member_id:
                return Errors.FENCED_INSTANCE_ID
            if holder is None:
                return Errors.UNKNOWN_MEMBER_ID
        return Errors.NONE if member_id in self.members else Errors.UNKNOWN_MEMBER_ID

    def validate(
        self, request: SyncGroupRequest | HeartbeatRequest | OffsetCommitRequest
    ) -> Errors:
        """Whether it comes from a member (see `validate_member`) that is in this generation."""
        error = self.validate_member(request.member_id, request.group_instance_id)
        if error is Errors.NONE and request.generation_id != self.generation_id:
            return Errors.ILLEGAL_GENERATION
        return error

    def current_member_metadata(self) -> tuple[JoinGroupResponseMember, ...]:
        """What the leader needs to assign: each member with its metadata."""
        return tuple(
            JoinGroupResponseMember(
                each.member_id, each.group_instance_id, each.metadata(self.protocol_name)
            )
            for each in self.members.values()
        )


def _names(protocols: Iterable[JoinGroupRequestProtocol]) -> list[str]:
    return list({name: None for name, _ in protocols})
