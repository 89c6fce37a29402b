"""A group's member as scripts drive it: it remembers what it was told, and does nothing unasked."""

from kafkalearn.errors import Errors
from kafkalearn.protocol.group import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    LeaveGroupRequest,
    MemberIdentity,
    SyncGroupRequest,
)
from kafkalearn.protocol.message import UNKNOWN_GENERATION_ID, UNKNOWN_MEMBER_ID
from kafkalearn.protocol.offsets import OffsetCommitRequest, OffsetFetchRequest
from kafkalearn.records import OffsetAndMetadata, TopicPartition

GROUP = "billing"
ORDERS = TopicPartition("orders", 0)


class Member:
    """A client of the group ``billing`` that reads ``orders``.

    coordinator: whom it asks; that is not looked up again by itself.
    """

    def __init__(self, sim, name, *, instance_id=None, rebalance_timeout_ms=60_000):
        self.sim, self.name, self.instance_id = sim, name, instance_id
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.coordinator = sim.coordinator_of(GROUP)
        self.forget()

    def forget(self):
        """Be as at the start: without an id and a generation."""
        self.member_id, self.generation_id = UNKNOWN_MEMBER_ID, UNKNOWN_GENERATION_ID
        self.members = ()

    def send(self, message):
        """Ask the coordinator and go on."""
        return self.sim.send(self.coordinator, message, client=self.name)

    def join(self):
        """Ask to be let in; the error."""
        return self.joined(self.send(self.join_request()).wait())

    def join_request(self):
        """Make the request to be let in."""
        return JoinGroupRequest(
            group_id=GROUP,
            session_timeout_ms=10_000,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocols=(JoinGroupRequestProtocol("range", "orders"),),
            client_id=self.name,
        )

    def joined(self, answer):
        """Take the answer to a join; the error."""
        self.member_id, self.generation_id = answer.member_id, answer.generation_id
        self.members = [each.member_id for each in answer.members]
        return answer.error_code

    def sync(self):
        """Ask for the assignment; the answer. A leader gives one partition to each member."""
        return self.send(self.sync_request()).wait()

    def sync_request(self):
        """Make the request for the assignment."""
        return SyncGroupRequest(
            group_id=GROUP,
            generation_id=self.generation_id,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            assignments={each: f"orders-{index}" for index, each in enumerate(self.members)},
        )

    def enter(self):
        """Join, with an id if one is asked for, and sync; what it reads."""
        if self.join() is Errors.MEMBER_ID_REQUIRED:
            assert self.join() is Errors.NONE
        return self.sync().assignment

    def beat(self):
        """Send a heartbeat; the error."""
        return self.send(self.heartbeat()).wait().error_code

    def heartbeat(self):
        """Make a heartbeat."""
        return HeartbeatRequest(
            group_id=GROUP,
            generation_id=self.generation_id,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
        )

    def beat_until(self, *errors):
        """Send a heartbeat every 3 s until one is answered with one of these errors; which."""
        while True:
            self.sim.sleep(3_000)
            error = self.beat()
            if error in errors:
                return error

    def leave(self):
        """Say goodbye; the error."""
        members = (MemberIdentity(self.member_id, self.instance_id),)
        return self.send(LeaveGroupRequest(group_id=GROUP, members=members)).wait().error_code

    def commit(self, offset, partition=ORDERS, metadata=""):
        """Commit an offset under its id and generation; the error."""
        answer = self.send(
            OffsetCommitRequest(
                group_id=GROUP,
                generation_id=self.generation_id,
                member_id=self.member_id,
                group_instance_id=self.instance_id,
                offsets={partition: OffsetAndMetadata(offset, metadata)},
            )
        ).wait()
        return answer.partitions[partition]

    def committed(self):
        """Ask for all committed offsets: topic-partition -> offset, or the error."""
        answer = self.send(OffsetFetchRequest(group_id=GROUP)).wait()
        if answer.error_code is not Errors.NONE:
            return answer.error_code
        return {str(each): found.offset for each, found in answer.partitions.items()}


def together(action, *members):
    """Let members do the same at the same time, each on its node; what each got."""
    running = [
        each.sim.spawn(lambda each=each: action(each), node=each.name, name=action.__name__)
        for each in members
    ]
    return [process.join() for process in running]
