"""Stories told in requests. Each is a function of a simulation; its trace is kept in ``golden``.

What the trace cannot show, a story asserts itself.
"""

from typing import Any, NamedTuple

import pytest

from kafkalearn.engine import AnswerWithError, CutOff, Delay, Drop, Freeze
from kafkalearn.errors import DisconnectError, Errors, RequestTimeoutError
from kafkalearn.protocol.fetch import FetchPartition, FetchRequest
from kafkalearn.protocol.group import FindCoordinatorRequest
from kafkalearn.protocol.metadata import (
    CreatableTopic,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    MetadataRequest,
)
from kafkalearn.protocol.produce import ProduceRequest
from kafkalearn.records import Record, TopicPartition
from kafkalearn.simulation import Simulation
from tests.simulation.members import GROUP, ORDERS, Member, together

E = Errors


class Script(NamedTuple):
    """A story and what the simulation is made with."""

    tell: Any
    settings: dict[str, Any]


SCRIPTS: dict[str, Script] = {}


def script(name=None, **settings):
    """Add a story under its function's name, or another."""

    def add(tell):
        SCRIPTS[name or tell.__name__] = Script(tell, settings)
        return tell

    return add


def play(name, **changed):
    """Tell a story; the simulation after it."""
    tell, settings = SCRIPTS[name]
    sim = Simulation(name=name, **settings | changed)
    tell(sim)
    return sim


# Members.


@script()
def new_group(sim):
    """A group's first member: found, let in, assigned, alive."""
    found = sim.request("broker-2", FindCoordinatorRequest(key=GROUP), client="c1")
    assert found.node == sim.coordinator_of(GROUP)
    c1 = Member(sim, "c1")
    assert c1.enter() == "orders-0"
    assert c1.beat() is E.NONE


@script(profile="2.4")
def member_id_required(sim):
    """An id is given first; while it is not used, nobody else gets on until it expires."""
    c1, c2 = Member(sim, "c1"), Member(sim, "c2")
    assert c1.join() is E.MEMBER_ID_REQUIRED
    assert c1.join() is E.NONE
    c1.sync()
    assert c2.join() is E.MEMBER_ID_REQUIRED
    sim.crash("c2")
    assert c1.join() is E.NONE
    assert c1.sync().assignment == "orders-0"


@script(group_initial_rebalance_delay_ms=3_000)
def initial_delay(sim):
    """Who comes while the first waits makes it longer, up to the rebalance timeout."""
    members = [Member(sim, f"c{number}", rebalance_timeout_ms=7_000) for number in (1, 2, 3)]
    joins = []
    for member in members:
        joins.append(member.send(member.join_request()))
        sim.sleep(2_400)
    for member, join in zip(members, joins, strict=True):
        assert member.joined(join.wait()) is E.NONE
    assert [len(member.members) for member in members] == [3, 0, 0]


@script()
def second_member_comes_and_goes(sim):
    """Members learn of a rebalance from their heartbeats, and from nothing else."""
    c1, c2 = Member(sim, "c1"), Member(sim, "c2")
    c1.enter()
    newcomer = sim.spawn(c2.enter, node="c2")
    assert c1.beat_until(E.REBALANCE_IN_PROGRESS)
    assert (c1.enter(), newcomer.join()) == ("orders-0", "orders-1")
    assert c2.leave() is E.NONE
    assert c2.beat() is E.UNKNOWN_MEMBER_ID
    assert c1.beat() is E.REBALANCE_IN_PROGRESS
    assert c1.enter() == "orders-0"
    assert (c1.generation_id, c1.beat()) == (3, E.NONE)


@script()
def member_dies(sim):
    """Nobody says goodbye for a member that died: its session has to run out."""
    c1, c2 = Member(sim, "c1"), Member(sim, "c2")
    together(Member.enter, c1, c2)
    sim.crash("c2")
    assert c1.beat_until(E.REBALANCE_IN_PROGRESS)
    assert c1.enter() == "orders-0"


@script("leader_never_syncs", profile="1.0")
@script("leader_never_syncs_4_0", profile="4.0")
def leader_never_syncs(sim):
    """In 1.0 its heartbeats do not help it; in 4.0 they do, up to the rebalance timeout."""
    leader, follower = (Member(sim, name, rebalance_timeout_ms=14_000) for name in ("c1", "c2"))
    if sim.profile.member_id_required:
        together(Member.join, leader, follower)
    together(Member.join, leader, follower)
    parked = follower.send(follower.sync_request())
    assert leader.beat_until(E.UNKNOWN_MEMBER_ID)
    assert parked.wait().error_code is E.REBALANCE_IN_PROGRESS
    assert follower.enter() == "orders-0"


@script(profile="2.4")
def static_member_restarts(sim):
    """Back in time under its instance id, it takes up its place; a second one shuts it out."""
    c1, c2 = Member(sim, "c1", instance_id="till-1"), Member(sim, "c2", instance_id="till-2")
    together(Member.enter, c1, c2)
    sim.crash("c1")
    sim.sleep(5_000)
    c1.forget()
    assert (c1.enter(), c1.generation_id) == ("orders-0", 1)
    assert c2.beat() is E.NONE
    twin = Member(sim, "c3", instance_id="till-1")
    assert twin.enter() == "orders-0"
    assert c1.beat() is E.FENCED_INSTANCE_ID


# Offsets.


@script()
def commits(sim):
    """Every answer to a commit, in the order in which the broker checks."""
    create_topic(sim)
    c1, stranger = Member(sim, "c1"), Member(sim, "c2")
    c1.coordinator, right = "broker-2", c1.coordinator
    assert c1.commit(1) is E.NOT_COORDINATOR
    c1.coordinator, c1.generation_id = right, 3
    assert c1.commit(2) is E.ILLEGAL_GENERATION
    c1.generation_id = -1
    assert c1.commit(3) is E.NONE
    assert c1.join() is E.NONE
    assert (c1.commit(4), stranger.commit(4)) == (E.REBALANCE_IN_PROGRESS, E.REBALANCE_IN_PROGRESS)
    c1.sync()
    assert stranger.commit(5) is E.UNKNOWN_MEMBER_ID
    c1.generation_id = 0
    assert c1.commit(6) is E.ILLEGAL_GENERATION
    c1.generation_id = 1
    assert c1.commit(7) is E.NONE
    assert c1.commit(8, metadata="x" * 4_097) is E.OFFSET_METADATA_TOO_LARGE
    assert c1.commit(9, TopicPartition("bills", 0)) is E.UNKNOWN_TOPIC_OR_PARTITION
    assert stranger.committed() == {"orders-0": 7}


@script()
def stand_alone_commit(sim):
    """Who uses assign() commits to a group that lives in vain, and to an Empty one with success."""
    create_topic(sim)
    c1, stand_alone = Member(sim, "c1"), Member(sim, "c2")
    c1.enter()
    assert stand_alone.commit(5) is E.UNKNOWN_MEMBER_ID
    c1.leave()
    assert stand_alone.commit(5) is E.NONE


@script()
def coordinator_fails_over(sim):
    """The next broker reads the group from the log; then the same generation goes on."""
    create_topic(sim)
    c1 = Member(sim, "c1")
    c1.enter()
    assert c1.commit(5) is E.NONE
    sim.crash(c1.coordinator)
    with pytest.raises(DisconnectError):
        c1.beat()
    assert find_coordinator(sim) == "broker-0"
    sim.sleep(6_000)
    c1.coordinator = find_coordinator(sim)
    assert c1.commit(6) is E.COORDINATOR_LOAD_IN_PROGRESS
    assert c1.committed() is E.COORDINATOR_LOAD_IN_PROGRESS
    assert c1.beat() is E.NONE
    sim.sleep(100)
    assert c1.committed() == {"orders-0": 5}
    assert c1.commit(6) is E.NONE
    sim.restart("broker-0")
    c1.coordinator = "broker-0"
    assert c1.beat() is E.NOT_COORDINATOR


# Records.


@script()
def fetch_waits(sim):
    """A fetch is answered with enough bytes, after its time, or at once with an error."""
    create_topic(sim)
    waiting = sim.send("broker-0", fetch(0, min_bytes=10), client="c1")
    produce(sim, b"four")
    sim.sleep(50)
    assert waiting.response is None
    produce(sim, b"eleven more")
    assert values(waiting.wait()) == [b"four", b"eleven more"]
    assert values(sim.request("broker-0", fetch(2), client="c1")) == []
    late = sim.request("broker-0", fetch(3), client="c1")
    assert late.partitions[ORDERS].error_code is E.OFFSET_OUT_OF_RANGE


@script()
def leader_fails_over(sim):
    """Who waits at a leader that dies asks for the new one, which has every record."""
    create_topic(sim)
    produce(sim, b"before")
    waiting = sim.send("broker-0", fetch(1, max_wait_ms=30_000), client="c1")
    sim.sleep(10)
    sim.crash("broker-0")
    with pytest.raises(DisconnectError):
        waiting.wait()
    early = sim.request("broker-1", fetch(1), client="c1")
    assert early.partitions[ORDERS].error_code is E.NOT_LEADER_OR_FOLLOWER
    sim.sleep(6_000)
    (topic,) = sim.request("broker-2", MetadataRequest(topics=("orders",)), client="c1").topics
    assert topic.partitions[0].leader == "broker-1"
    waiting = sim.send("broker-1", fetch(0, min_bytes=12), client="c1")
    produce(sim, b"after!", broker="broker-1")
    assert values(waiting.wait()) == [b"before", b"after!"]


@script()
def topics_come_grow_and_go(sim):
    """Whoever waits for a topic hears at once that it is gone; its offsets go with it."""
    create_topic(sim)
    assert create_topic(sim) is E.TOPIC_ALREADY_EXISTS
    grow = CreatePartitionsRequest(topics={"orders": 2})
    assert sim.request("broker-0", grow).results["orders"].error_code is E.NONE
    assert sim.request("broker-0", grow).results["orders"].error_code is E.INVALID_PARTITIONS
    produce(sim, b"new", TopicPartition("orders", 1), broker="broker-1")
    c1 = Member(sim, "c1")
    assert c1.commit(1, TopicPartition("orders", 1)) is E.NONE
    waiting = sim.send("broker-0", fetch(0), client="c1")
    sim.request("broker-2", DeleteTopicsRequest(topic_names=("orders",)))
    assert waiting.wait().partitions[ORDERS].error_code is E.UNKNOWN_TOPIC_OR_PARTITION
    assert c1.committed() == {}
    asked = MetadataRequest(topics=("orders",))
    (made,) = sim.request("broker-0", asked, client="c1").topics
    assert made.error_code is E.LEADER_NOT_AVAILABLE
    (there,) = sim.request("broker-0", asked, client="c1").topics
    assert there.partitions[0].leader == "broker-2"


# Faults.


@script(
    faults=(
        Drop("OffsetCommit"),
        Drop("OffsetCommit", part="response"),
        AnswerWithError("OffsetCommit", "NOT_COORDINATOR", nth=3),
        Delay("OffsetCommit", by_ms=4_000, nth=4),
    )
)
def messages_go_wrong(sim):
    """A client cannot tell whether its request got lost, or only the answer."""
    create_topic(sim)
    c1 = Member(sim, "c1")
    for _ in range(2):
        with pytest.raises(DisconnectError):
            c1.commit(5)
    assert c1.committed() == {"orders-0": 5}
    assert c1.commit(6) is E.NOT_COORDINATOR
    assert c1.commit(6) is E.NONE


@script(faults=(CutOff("c2", at_ms=10_000, for_ms=13_000),))
def cut_off(sim):
    """A member that nobody can reach is a dead one to the group, and is told so only later."""
    c1, c2 = Member(sim, "c1"), Member(sim, "c2")
    together(Member.enter, c1, c2)
    sim.sleep(4_000)
    with pytest.raises(RequestTimeoutError):
        c2.send(c2.heartbeat()).wait(timeout_ms=5_000)
    assert c1.beat() is E.NONE
    sim.sleep(5_000)
    assert c1.beat() is E.REBALANCE_IN_PROGRESS
    assert c1.enter() == "orders-0"
    sim.run_until(23_010)
    assert c2.beat() is E.UNKNOWN_MEMBER_ID


@script(faults=(Freeze("c2", at_ms=10_000, for_ms=15_000),))
def frozen(sim):
    """A member that stands still longer than its session wakes up in a group without it."""
    c1, c2 = Member(sim, "c1"), Member(sim, "c2")
    together(Member.enter, c1, c2)
    sleeper = sim.spawn(lambda: c2.beat_until(E.UNKNOWN_MEMBER_ID), node="c2")
    assert c1.beat_until(E.REBALANCE_IN_PROGRESS)
    assert c1.enter() == "orders-0"
    assert sleeper.join() is E.UNKNOWN_MEMBER_ID
    assert sim.now_ms > 25_000


def create_topic(sim):
    """Make ``orders`` with one partition, which broker-0 leads; the error."""
    request = CreateTopicsRequest(topics={"orders": CreatableTopic(1)})
    return sim.request("broker-0", request).results["orders"].error_code


def find_coordinator(sim):
    """Let c1 ask broker-2 for the group's coordinator."""
    return sim.request("broker-2", FindCoordinatorRequest(key=GROUP), client="c1").node


def produce(sim, value, partition=ORDERS, broker="broker-0"):
    """Let p1 append a record."""
    batches = {partition: (Record(-1, sim.now_ms, None, value),)}
    request = ProduceRequest(acks=1, timeout_ms=1_000, batches=batches)
    answer = sim.request(broker, request, client="p1")
    assert answer.partitions[partition].error_code is E.NONE


def fetch(offset, *, min_bytes=1, max_wait_ms=500):
    """Ask for ``orders-0`` from an offset on."""
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        max_bytes=1_000,
        partitions={ORDERS: FetchPartition(offset, 1_000)},
    )


def values(answer):
    """What a fetch of ``orders-0`` brought."""
    found = answer.partitions[ORDERS]
    assert found.error_code is E.NONE
    return [record.value for record in found.records]
