"""Clients that send without waiting, and know only what answers told them."""

from dataclasses import dataclass, field

from kafkalearn.errors import DisconnectError, Errors, RequestTimeoutError
from kafkalearn.protocol.group import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kafkalearn.protocol.message import UNKNOWN_GENERATION_ID, UNKNOWN_MEMBER_ID, Request, Response
from kafkalearn.simulation import Simulation
from kafkalearn.simulation.requester import PendingRequest

RANGE = (JoinGroupRequestProtocol("range", "orders"),)
BEGIN_ANEW = {Errors.UNKNOWN_MEMBER_ID, Errors.FENCED_INSTANCE_ID}
ASK_AGAIN = {Errors.NOT_COORDINATOR, Errors.COORDINATOR_LOAD_IN_PROGRESS}


@dataclass
class Client:
    """One client of one group.

    instance_id: that of a static member, for all its joins.
    members: whom it has to assign to; empty unless it leads.
    next_api: what a client that behaves would send now.
    """

    sim: Simulation
    name: str
    group_id: str
    instance_id: str | None = None
    member_id: str = UNKNOWN_MEMBER_ID
    generation_id: int = UNKNOWN_GENERATION_ID
    members: list[str] = field(default_factory=list)
    next_api: str = "JoinGroup"
    pending: list[PendingRequest] = field(default_factory=list)

    def send(self, request: Request, broker: str) -> None:
        """Send, and go on; the answer is read later."""
        self.pending.append(self.sim.send(broker, request, client=self.name))

    def restart(self) -> None:
        """Crash, and know nothing any more."""
        self.sim.crash(self.sim.node(self.name).name)
        self.pending.clear()
        self.forget()

    def forget(self) -> None:
        """Be no member any more, as far as it knows."""
        self.member_id, self.generation_id = UNKNOWN_MEMBER_ID, UNKNOWN_GENERATION_ID
        self.members, self.next_api = [], "JoinGroup"

    def join(self, **changes: object) -> JoinGroupRequest:
        """Make its JoinGroup, with some fields changed."""
        fields = {
            "group_id": self.group_id,
            "session_timeout_ms": 10_000,
            "rebalance_timeout_ms": 30_000,
            "member_id": self.member_id,
            "group_instance_id": self.instance_id,
            "protocols": RANGE,
            "client_id": self.name,
        }
        return JoinGroupRequest(**(fields | changes))

    def sync(self, partitions: list[str], *, turn: int = 0, **changes: object) -> SyncGroupRequest:
        """Make its SyncGroup; as the leader, deal the partitions out, `turn` says to whom first."""
        dealt: dict[str, list[str]] = {each: [] for each in self.members}
        for number, partition in enumerate(partitions if dealt else ()):
            dealt[self.members[(number + turn) % len(dealt)]].append(partition)
        fields = {
            "group_id": self.group_id,
            "generation_id": self.generation_id,
            "member_id": self.member_id,
            "group_instance_id": self.instance_id,
            "assignments": {who: " ".join(what) for who, what in dealt.items() if what},
        }
        return SyncGroupRequest(**(fields | changes))

    def heartbeat(self, **changes: object) -> HeartbeatRequest:
        """Make its Heartbeat."""
        fields = {
            "group_id": self.group_id,
            "generation_id": self.generation_id,
            "member_id": self.member_id,
            "group_instance_id": self.instance_id,
        }
        return HeartbeatRequest(**(fields | changes))

    def proper_request(self, partitions: list[str]) -> Request | None:
        """Make what a client that behaves would send now; None while it waits for an answer."""
        if self.pending:
            return None
        if self.next_api == "JoinGroup":
            return self.join()
        return self.sync(partitions) if self.next_api == "SyncGroup" else self.heartbeat()

    def look(self) -> None:
        """Read the answers that are there."""
        waiting, self.pending = self.pending, []
        for each in waiting:
            try:
                self._learn(each.wait(timeout_ms=0))
            except DisconnectError:
                continue
            except RequestTimeoutError:
                self.pending.append(each)

    def _learn(self, answer: Response) -> None:
        error = answer.error_code
        if error in BEGIN_ANEW:
            self.forget()
        elif isinstance(answer, JoinGroupResponse):
            self.member_id = answer.member_id or self.member_id
            if error is Errors.NONE:
                self.generation_id = answer.generation_id
                self.members = [each.member_id for each in answer.members]
                self.next_api = "SyncGroup"
        elif isinstance(answer, SyncGroupResponse) and error is Errors.NONE:
            self.next_api = "Heartbeat"
        elif error is not Errors.NONE and error not in ASK_AGAIN:
            self.next_api = "JoinGroup"
