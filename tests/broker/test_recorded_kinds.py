"""What is recorded of messages and of brokers is what the table of kinds promises, and no more."""

import pytest

from kafkalearn.broker.offset_store import java_abs, java_hash
from kafkalearn.engine import CutOff
from kafkalearn.errors import Errors
from kafkalearn.protocol.metadata import CreatableTopic, CreateTopicsRequest
from kafkalearn.records import GROUP_METADATA_TOPIC_NAME
from kafkalearn.simulation import Simulation
from kafkalearn.trace import COLUMNS, KINDS, REQUIRED
from tests.simulation.members import GROUP, Member, together
from tests.simulation.scripts import SCRIPTS, play, produce

OF_CONSUMERS = {
    *("poll", "records_returned", "processed", "position", "commit", "client_state", "assigned"),
    *("revoked", "logged"),
}
# To a broker an assignment is bytes: only a leader's log tells it, see tests/spark/logs.
ONLY_IN_LOGS = {("group_state", "assignment"), ("group_state", "count")}


def moves():
    """Let the coordinator move while a join waits, and again while a sync does."""
    sim = Simulation(name="moves")
    c1, c2 = Member(sim, "c1"), Member(sim, "c2")
    together(Member.enter, c1, c2)
    join = c1.send(c1.join_request())
    move_coordinator(sim, "broker-1")
    assert join.wait().error_code is Errors.NOT_COORDINATOR
    c1.coordinator = c2.coordinator = "broker-1"
    together(Member.join, c1, c2)
    sync = c2.send(c2.sync_request())
    move_coordinator(sim, "broker-2")
    assert sync.wait().error_code is Errors.NOT_COORDINATOR
    return sim


def move_coordinator(sim, broker):
    """Let this broker lead the group's partition of __consumer_offsets, and read it."""
    sim.sleep(10)
    partitions = sim.cluster.topics[GROUP_METADATA_TOPIC_NAME].partitions
    partition = partitions[java_abs(java_hash(GROUP)) % len(partitions)]
    sim.cluster.move_leader(partition, broker, now_ms=sim.now_ms)
    sim.sleep(sim.settings.offsets_load_ms)


def what_scripts_leave_out():
    """Cut two nodes off from each other, note something with a commit, and let a record age."""
    sim = Simulation(name="rest", faults=[CutOff("broker-1", 5_000, 10, other="broker-2")])
    orders = CreatableTopic(1, {"retention.ms": 0})
    sim.request("broker-0", CreateTopicsRequest(topics={"orders": orders}))
    assert Member(sim, "c1").commit(1, metadata="a note") is Errors.NONE
    produce(sim, b"old soon")
    sim.sleep(60_000)
    return sim


@pytest.fixture(scope="module")
def recorded():
    """Kind -> the columns and keys of its detail that held something in any run."""
    names = [name for name in COLUMNS if name not in (*REQUIRED, "detail")]
    found = {}
    for sim in [*map(play, SCRIPTS), moves(), what_scripts_leave_out()]:
        for event in sim.trace:
            told = found.setdefault(event.kind, (set(), set()))
            told[0].update(name for name in names if getattr(event, name) is not None)
            told[1].update(key for key, value in (event.detail or {}).items() if value is not None)
    return found


@pytest.mark.parametrize("kind", [each for each in KINDS if each not in OF_CONSUMERS])
def test_a_kind_carries_what_is_promised(recorded, kind):
    """Each column and each key of the detail is there in some run, and nothing else ever is."""
    detail = {key for key in KINDS[kind].detail if (kind, key) not in ONLY_IN_LOGS}
    assert recorded[kind] == (set(KINDS[kind].columns), detail)


def test_a_change_of_state_tells_whose_answer_is_held_back():
    """At the moment of the change: joins until the join phase has ended, syncs until Stable."""
    changes = [
        (
            event.detail["to"],
            *(
                [each[:2] for each in event.detail[key]] if key in event.detail else None
                for key in ("waiting_join", "waiting_sync")
            ),
        )
        for event in moves().trace.where(kind="group_state")
    ]
    assert changes == [
        ("PreparingRebalance", ["c1"], None),
        ("AwaitingSync", ["c1", "c2"], None),
        ("Stable", None, None),
        ("PreparingRebalance", ["c1"], None),
        ("Dead", ["c1"], None),
        ("PreparingRebalance", ["c1"], None),
        ("AwaitingSync", ["c1", "c2"], None),
        ("Dead", None, ["c2"]),
    ]
