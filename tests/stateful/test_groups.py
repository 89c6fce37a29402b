"""Random requests, faults and passing time against a cluster; see invariants.py for what holds.

The run is short by default. A long one, and with another seed another one:
``STATEFUL_EXAMPLES=5000 pytest tests/stateful --hypothesis-seed=1``.
"""

import os
import sys
from typing import ClassVar

import hypothesis.strategies as st
from hypothesis import HealthCheck, note, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

from kafkalearn.broker.offset_store import java_abs, java_hash
from kafkalearn.errors import KafkaError
from kafkalearn.profile import PROFILES
from kafkalearn.protocol.group import JoinGroupRequestProtocol, LeaveGroupRequest, MemberIdentity
from kafkalearn.protocol.group_admin import (
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    ListGroupsRequest,
)
from kafkalearn.protocol.message import Request
from kafkalearn.protocol.metadata import (
    CreatableTopic,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
)
from kafkalearn.protocol.offsets import OffsetCommitRequest, OffsetFetchRequest
from kafkalearn.records import GROUP_METADATA_TOPIC_NAME, OffsetAndMetadata, TopicPartition
from kafkalearn.simulation import Simulation
from tests.stateful.clients import RANGE, Client
from tests.stateful.invariants import invariants_of

EXAMPLES = int(os.environ.get("STATEFUL_EXAMPLES", "100"))
STEPS = 50
BROKERS = ("broker-0", "broker-1", "broker-2")
GROUPS = ("billing", "mail", "audit")  # each has another coordinator, at first
NAMES = (*(f"billing-{number}" for number in range(4)), "mail-0", "mail-1", "audit-0")
RETENTION_MINUTES = 15
ROUND_ROBIN = JoinGroupRequestProtocol("roundrobin", "orders")
PROTOCOLS = (RANGE, RANGE, (*RANGE, ROUND_ROBIN), (ROUND_ROBIN,), ())

LANDMARKS = {
    *("Stable", "Empty", "Dead", "member_removed", "group_loaded", "disconnected"),
    *("SyncGroup NONE", "SyncGroup REBALANCE_IN_PROGRESS", "JoinGroup MEMBER_ID_REQUIRED"),
    *("offset_stored", "offset_expired", "OffsetCommit UNKNOWN_MEMBER_ID"),
}

groups = st.sampled_from(("billing", "billing", "mail", "audit"))
names = st.sampled_from(NAMES)
brokers = st.sampled_from(BROKERS)
partitions = st.sampled_from(
    [TopicPartition("orders", number) for number in range(5)] + [TopicPartition("payments", 0)]
)
asked = st.sampled_from((*[None] * 9, *BROKERS))  # None: the group's coordinator
older = st.sampled_from((0, 0, 0, 1))  # by how much a generation is
spans_ms = st.sampled_from((1, 2, 100, 1_000, 3_000, 6_000, 10_000, 60_000, 600_000))


class Groups(RuleBasedStateMachine):
    """Three groups of three clients on three brokers, and whatever may happen to them.

    reached: what some run came to, so that a test can tell that runs come far.
    """

    reached: ClassVar[set[str]] = set()

    @initialize(
        profile=st.sampled_from(sorted(PROFILES)),
        jitter_ms=st.sampled_from((0, 5)),
        rounds=st.sampled_from((0, 5)),
    )
    def start(self, profile, jitter_ms, rounds):
        """Start the brokers, with two topics; after 5 rounds all groups are Stable."""
        self.sim = Simulation(
            profile=profile,
            latency_jitter_ms=jitter_ms,
            delete_topic_enable=True,
            offsets_retention_minutes=RETENTION_MINUTES,
            offsets_retention_check_interval_ms=60_000,
        )
        self.profile = self.sim.profile
        self.clients = {
            name: Client(self.sim, name, group_id=name.rpartition("-")[0]) for name in NAMES
        }
        self.count = 3  # of partitions to assign, as clients believe
        self.offset = 0  # that was committed last, by anybody
        topics = {"orders": CreatableTopic(3), "payments": CreatableTopic(1)}
        self._ask(CreateTopicsRequest(topics=topics))
        self.sim.sleep(10)
        for group_id in GROUPS:
            self.go_on(group_id, rounds, wait_ms=3_010, absent=None)

    # What members ask.

    @rule(
        group_id=groups,
        rounds=st.sampled_from((1, 5)),
        wait_ms=st.sampled_from((3_010, 20)),
        absent=st.none() | names,
    )
    def go_on(self, group_id, rounds, wait_ms, absent):
        """Let each client of a group, but one, do what one that behaves does.

        After 5 rounds all are in. Those that lead come last, so that the others wait for them.
        """
        for _ in range(rounds):
            clients = [each for each in self._of(group_id) if each.name != absent]
            for client in clients:
                client.look()
            for client in sorted(clients, key=lambda each: bool(each.members)):
                request = client.proper_request(self._names())
                if request is not None:
                    self._send(client, request)
            self.sim.sleep(wait_ms)

    @rule(
        name=names,
        member_id=st.sampled_from((None, None, "", "stranger")),
        instance_id=st.sampled_from((None, "i1", "i2")),
        protocols=st.sampled_from(PROTOCOLS),
        session_timeout_ms=st.sampled_from((10_000, 6_000, 60_000, 100)),
        rebalance_timeout_ms=st.sampled_from((30_000, 5_000, 300_000)),
        broker=asked,
    )
    def join(self, name, member_id, instance_id, broker, **changes):
        """Join: as a new member, again, or with what has to be refused."""
        client = self._client(name)
        client.instance_id = instance_id if self.profile.static_members else None
        if member_id is not None:
            changes["member_id"] = member_id
        self._send(client, client.join(**changes), broker)

    @rule(name=names, others=st.booleans(), turn=st.integers(0, 3), older=older, broker=asked)
    def sync(self, name, others, turn, older, broker):
        """Ask for the assignment, and bring it as the leader; or from a generation that is over."""
        first = self._client(name)
        for client in [first, *(self._of(first.group_id) if others else ())]:
            client.look()
            generation_id = client.generation_id - older
            request = client.sync(self._names(), turn=turn, generation_id=generation_id)
            self._send(client, request, broker)

    @rule(name=names, older=older, broker=asked)
    def heartbeat(self, name, older, broker):
        """Show that a member lives, or that one believes so."""
        client = self._client(name)
        request = client.heartbeat(generation_id=client.generation_id - older)
        self._send(client, request, broker)

    @rule(name=names, others=st.booleans(), by_instance=st.booleans())
    def leave(self, name, others, by_instance):
        """Leave, alone or with all of the group, named by id or by instance."""
        client = self._client(name)
        leaving = [client]
        members = [MemberIdentity(client.member_id)]
        if self.profile.batch_leave:
            leaving = self._of(client.group_id) if others else [client]
            members = [
                MemberIdentity("", each.instance_id)
                if by_instance
                else MemberIdentity(each.member_id)
                for each in leaving
            ]
        request = LeaveGroupRequest(group_id=client.group_id, members=tuple(members))
        self._send(client, request)

    # Offsets.

    @rule(
        name=names,
        alone=st.sampled_from((False, False, True)),
        older=older,
        partitions=st.sets(partitions, min_size=1),
        metadata=st.sampled_from(("", "", "x" * 5_000)),
        broker=asked,
    )
    def commit(self, name, alone, older, partitions, metadata, broker):
        """Commit a new offset: as a member, of an old generation, or as one that stands alone."""
        client = self._client(name)
        self.offset += 1
        offsets = {
            each: OffsetAndMetadata(self.offset, metadata if each.partition else "")
            for each in sorted(partitions)
        }
        request = OffsetCommitRequest(group_id=client.group_id, offsets=offsets)
        if not alone:
            request.generation_id = client.generation_id - older
            request.member_id = client.member_id
            request.group_instance_id = client.instance_id
        self._send(client, request, broker)

    @rule(name=names, partitions=st.sets(partitions), broker=asked)
    def fetch_offsets(self, name, partitions, broker):
        """Ask what is committed: for some partitions, or for all."""
        client = self._client(name)
        asked = tuple(sorted(partitions)) or None
        request = OffsetFetchRequest(group_id=client.group_id, partitions=asked)
        self._send(client, request, broker)

    # What administrators do.

    @rule(
        what=st.sampled_from(("look", "let grow", "delete group", "delete topic")),
        group_id=groups,
        count=st.integers(3, 5),
    )
    def administrate(self, what, group_id, count):
        """Describe and list groups, delete one; delete a topic, make it again, let it grow."""
        if what == "delete topic":
            self._ask(DeleteTopicsRequest(topic_names=("orders",)))
        elif what == "let grow":
            self._ask(CreateTopicsRequest(topics={"orders": CreatableTopic(count)}))
            self._ask(CreatePartitionsRequest(topics={"orders": count}))
            self.count = count
        elif what == "look":
            self._ask(DescribeGroupsRequest(groups=GROUPS), group_id)
            self._ask(ListGroupsRequest(), group_id)
        elif self.profile.delete_groups:
            self._ask(DeleteGroupsRequest(groups_names=(group_id,)), group_id)

    # Time, and what goes wrong in it.

    @rule(ms=spans_ms)
    def pass_time(self, ms):
        """Let time pass."""
        self.sim.sleep(ms)

    @rule(crash=st.booleans(), group_id=groups, broker=brokers)
    def fail_over(self, crash, group_id, broker):
        """Crash a broker, or start it again; or let it coordinate a group."""
        if crash:
            (self.sim.crash if self.sim.node(broker).alive else self.sim.restart)(broker)
        else:
            self._move(group_id, broker)

    @rule(
        what=st.sampled_from(("restart client", "freeze", "cut off")),
        broker=brokers,
        name=names,
        ms=spans_ms,
    )
    def disturb(self, what, broker, name, ms):
        """Crash a client, which begins anew; hold a broker up; cut a client off."""
        if what == "restart client":
            self._client(name).restart()
        elif what == "cut off":
            other = broker if ms < 60_000 else None
            self.sim.network.cut_off(name, other, until_ms=self.sim.now_ms + ms)
        elif self.sim.node(broker).alive:
            self.sim.freeze(broker, ms)

    def _move(self, group_id, broker):
        if broker in self.sim.cluster.living_brokers:
            partitions = self.sim.cluster.topics[GROUP_METADATA_TOPIC_NAME].partitions
            partition = partitions[java_abs(java_hash(group_id)) % len(partitions)]
            self.sim.cluster.move_leader(partition, broker, now_ms=self.sim.now_ms)

    # The end.

    def teardown(self):
        """Mend everything, wait until all must be answered, and see whether the promises held."""
        if not hasattr(self, "sim"):
            return
        if sys.exc_info()[0] is None:  # else a rule has failed, and tells more
            self._settle()
            self._check()
        self.sim.dispose()

    def _settle(self):
        for broker in BROKERS:
            if not self.sim.node(broker).alive:
                self.sim.restart(broker)
        for ms in (20_000, 660_000, 660_000, 660_000):  # cuts and freezes end, members expire
            self.sim.sleep(ms)
            for group_id in GROUPS:
                self._ask(OffsetFetchRequest(group_id=group_id), group_id)
        self.sim.sleep(10)

    def _check(self):
        events = list(self.sim.trace)
        invariants = invariants_of(
            joins_end_silently=not self.profile.new_member_join_timeout,
            instances_may_be_missed=not self.profile.static_restart_rebalances,
            retention_ms=RETENTION_MINUTES * 60_000,
        )
        breaches = [
            f"{name}: {sentence}"
            for name, invariant in invariants.items()
            for sentence in invariant(events)
        ]
        if breaches:
            note(str(self.sim.trace))
        assert breaches == []
        self.reached.update(_landmarks(events))

    def _of(self, group_id):
        return [each for each in self.clients.values() if each.group_id == group_id]

    def _client(self, name):
        client = self.clients[name]
        client.look()
        return client

    def _send(self, client, request: Request, broker=None):
        broker = broker or self._coordinator(client.group_id)
        client.send(request, broker)

    def _ask(self, request: Request, group_id=None):
        self.sim.send(self._coordinator(group_id or GROUPS[0]), request, client="administrator")

    def _coordinator(self, group_id):
        try:
            return self.sim.coordinator_of(group_id)
        except KafkaError:
            return BROKERS[0]  # no broker lives: whoever is asked, nobody answers

    def _names(self):
        return [f"orders-{number}" for number in range(self.count)]


def _landmarks(events):
    """Name what a run came to: kinds of events, states and answers."""
    for event in events:
        yield event.kind
        if event.kind == "group_state":
            yield event.detail["to"]
        elif event.kind == "respond":
            yield f"{event.api} {event.error}"


def test_promises_hold_whatever_happens():
    """Requests, time, crashes and failovers in any order break no promise of the groups.

    And they come far: each of the landmarks is reached by every fifth run or more.
    """
    Groups.reached.clear()
    run_state_machine_as_test(
        Groups,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
    assert Groups.reached >= LANDMARKS
