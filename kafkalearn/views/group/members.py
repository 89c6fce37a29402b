"""The members of one group: who each is, what it owns, and which of its requests is parked.

Source: GroupCoordinator.completeAndScheduleNextHeartbeatExpiration, by its callers (1.0.2): which
requests begin a session anew.
"""

from dataclasses import dataclass
from typing import TypedDict

from kafkalearn.records import TopicPartition
from kafkalearn.trace import Event
from kafkalearn.views.fold import Needs, mapping, number, partitions, text

NEEDS: Needs = {
    "member_joined": ("group_id", "member_id"),
    "member_removed": ("group_id", "member_id"),
    "assigned": ("group_id",),
    "revoked": ("group_id",),
    "send": ("group_id", "api"),
    "receive": ("group_id", "api", "peer"),
    "respond": ("group_id", "api", "peer"),
    "poll": (),
    "fault": (),
}
_KEEP_ALIVE = ("JoinGroup", "SyncGroup", "Heartbeat", "OffsetCommit")
PENDING, JOINED = "must join with its id", "must sync"
PARKED = {"JoinGroup": "parked in JoinGroup", "SyncGroup": "parked in SyncGroup"}
_MEANS_REJOIN = ("REBALANCE_IN_PROGRESS", "UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION")
_FAULTS = {"crash": "crashed", "freeze": "frozen", "cut_off": "cut off"}

Partitions = tuple[TopicPartition, ...]


class Row(TypedDict):
    """A member. name: its node, else the begin of its id. owns: what it was told, and keeps.

    heard_ms: when its last request came that keeps it alive. now: what tells most about it.
    session_ends_ms: when it will be dropped, told while a fault keeps it from sending.
    reason: why it was removed; the row stays until the next generation.
    """

    member_id: str
    name: str
    leader: bool
    instance_id: str | None
    owns: Partitions
    heard_ms: int | None
    now: str
    session_ends_ms: int | None
    reason: str | None


@dataclass(slots=True)
class Member:
    """phase: the request that is parked, or what is to be done next. left: generation, reason.

    pending: it only got an id. alive_ms: when its session began anew.
    """

    member_id: str
    phase: str = "in step"
    pending: bool = False
    node: str = ""
    instance_id: str | None = None
    heard_ms: int | None = None
    alive_ms: int = 0
    left: tuple[int, str] | None = None

    @property
    def name(self) -> str:
        """The node's name, where the trace tells whose member this is."""
        return self.node or self.member_id[:8]


class Members:
    """Follows the members of the group `group_id`; `owns`: node -> what it was told and keeps."""

    def __init__(self, group_id: str | None) -> None:
        self.group_id = group_id
        self.leader: str | None = None
        self.coordinator: str | None = None
        self.members: dict[str, Member] = {}
        self.faults: dict[str, tuple[str, int | None]] = {}
        self._by_node: dict[str, Member] = {}
        self._joining = ""
        self.owns: dict[str, Partitions] = {}
        self._session_ms: dict[str, int] = {}

    def row(self, member: Member, *, rejoin: bool) -> Row:
        """Tell of a member; `rejoin`: each must join now, whether it knows that or not."""
        now, ends_ms = PARKED.get(member.phase, member.phase), None
        if member.left:
            now = "removed"
        elif fault := self.faults.get(member.node):
            now, session_ms = fault[0], self._session_ms.get(member.node)
            if session_ms is not None and member.phase != "JoinGroup":
                ends_ms = member.alive_ms + session_ms
        elif rejoin and now in ("in step", JOINED):
            now = "not told yet"
        here = self._by_node.get(member.node) is member
        return {
            "member_id": member.member_id,
            "name": member.name,
            "leader": member.member_id == self.leader,
            "instance_id": member.instance_id,
            "owns": self.owns.get(member.node, ()) if here else (),
            "heard_ms": member.heard_ms,
            "now": now,
            "session_ends_ms": ends_ms,
            "reason": member.left[1] if member.left else None,
        }

    def on_member_joined(self, event: Event) -> None:
        """A new member's join is parked; who only got an id must join again with it."""
        member_id = event.member_id or ""
        if event.group_id == self.group_id:
            member = self.members.setdefault(member_id, Member(member_id))
            member.node = self._joining or member.node or text(event, "client_id") or ""
            member.pending = (event.detail or {}).get("pending") is True
            member.phase = PENDING if member.pending else "JoinGroup"
            member.instance_id, member.left = text(event, "instance_id"), None
            member.alive_ms = event.time_ms
            member.heard_ms = event.time_ms if self._joining else None
            self._by_node[member.node], self._joining = member, ""
            self.owns.pop(member.node, None)

    def on_member_removed(self, event: Event) -> None:
        """Keep whoever was dropped, with the reason."""
        member = self.members.get(event.member_id or "")
        if event.group_id == self.group_id and member:
            member.left = event.generation or 0, text(event, "reason") or ""

    def on_assigned(self, event: Event) -> None:
        """Add to what the node owns; it is in step, whose answers no event of a log tells."""
        if event.group_id == self.group_id:
            member = self.members.get(event.member_id or "")
            if member and not member.left:
                self._by_node[event.node], member.node = member, event.node
                member.phase = "in step" if member.phase == JOINED else member.phase
            owned = {*self.owns.get(event.node, ()), *partitions(event)}
            self.owns[event.node] = tuple(sorted(owned))

    def on_revoked(self, event: Event) -> None:
        """Take from what the node owns."""
        if event.group_id == self.group_id:
            given_up = set(partitions(event))
            owned = self.owns.get(event.node, ())
            self.owns[event.node] = tuple(each for each in owned if each not in given_up)

    def on_send(self, event: Event) -> None:
        """Remember the session timeout that a member asks for."""
        session_ms = mapping(event, "fields").get("session_timeout_ms")
        if event.group_id == self.group_id and event.api == "JoinGroup" and type(session_ms) is int:
            self._session_ms[event.node] = session_ms
        self.on_poll(event)

    def on_poll(self, event: Event) -> None:
        """Note that a node acts again, after the time of its fault."""
        until_ms = self.faults.get(event.node, ("", None))[1]
        if until_ms is not None and until_ms <= event.time_ms:
            del self.faults[event.node]

    def on_receive(self, event: Event) -> None:
        """A member was heard; a JoinGroup or SyncGroup is parked."""
        node = event.peer or ""
        if event.group_id != self.group_id or event.api not in _KEEP_ALIVE:
            return
        if event.api == "JoinGroup":
            self._joining = node
        member = self.members.get(event.member_id or "")
        if member and not member.left:
            self._by_node[node], member.node = member, node
            member.heard_ms = member.alive_ms = event.time_ms
            if event.api in PARKED:
                member.phase = event.api

    def on_respond(self, event: Event) -> None:
        """What was parked is answered, or an error tells the member to join again."""
        member = self._by_node.get(event.peer or "")
        if event.group_id != self.group_id or member is None:
            return
        again = PENDING if member.pending else "must rejoin"
        if event.api == member.phase or (event.api, member.phase) == ("JoinGroup", JOINED):
            well = JOINED if event.api == "JoinGroup" else "in step"
            member.phase = well if event.failure is None else again
            member.alive_ms = event.time_ms
        elif event.error in _MEANS_REJOIN and member.phase != "JoinGroup":
            member.phase = again

    def on_fault(self, event: Event) -> None:
        """Note whom a fault keeps from sending; a restarted node owns nothing."""
        met, fault, for_ms = event.node, text(event, "fault"), number(event, "for_ms")
        if fault in _FAULTS:
            if event.peer and met == self.coordinator:
                met = event.peer
            self.faults[met] = _FAULTS[fault], None if for_ms is None else event.time_ms + for_ms
        elif fault == "restart":
            self.faults.pop(met, None)
            self.owns.pop(met, None)
