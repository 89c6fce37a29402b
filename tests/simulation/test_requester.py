"""Waiting for an answer: it comes, it is late, or the connection ends."""

import gc
import weakref

import pytest

from kafkalearn.engine import AnswerWithError, Crash
from kafkalearn.errors import DisconnectError, Errors, IllegalStateError, RequestTimeoutError
from kafkalearn.protocol.group import JoinGroupRequest, JoinGroupRequestProtocol
from kafkalearn.protocol.metadata import MetadataRequest
from kafkalearn.protocol.produce import ProduceRequest
from kafkalearn.records import Record
from kafkalearn.simulation import Simulation
from tests.simulation.members import ORDERS, Member
from tests.simulation.scripts import create_topic, fetch, values

BROKERS = MetadataRequest(topics=())


@pytest.fixture
def sim():
    """Give a cluster with the topic ``orders``, one partition that broker-0 leads."""
    sim = Simulation(log_retention_ms=-1)
    create_topic(sim)
    return sim


def test_an_answer_is_there_when_it_arrived(sim):
    """None before; afterwards waiting takes no time."""
    pending = sim.send("broker-0", BROKERS, client="c1")
    assert pending.response is None
    answer = pending.wait()
    assert (pending.response, sim.now_ms) == (answer, 4)
    assert pending.wait() is answer
    assert sim.now_ms == 4


def test_two_answers_can_be_waited_for_in_any_order(sim):
    """The one that was asked for later may come, and be taken, first."""
    slow = sim.send("broker-0", fetch(0, max_wait_ms=100), client="c1")
    quick = sim.send("broker-0", BROKERS, client="c1")
    assert quick.wait().error_code is Errors.NONE
    assert (sim.now_ms, slow.response) == (4, None)
    assert values(slow.wait()) == []
    assert sim.now_ms == 104


def test_processes_of_one_node_get_each_its_own_answer(sim):
    """They share a connection, as threads of a client do."""

    def ask(max_wait_ms):
        sim.request("broker-0", fetch(0, max_wait_ms=max_wait_ms))
        return sim.now_ms

    slow, quick = (sim.spawn(lambda ms=ms: ask(ms), node="c1") for ms in (300, 100))
    assert (slow.join(), quick.join()) == (304, 104)


def test_a_late_answer_is_an_error_and_can_still_be_waited_for(sim):
    """The sentence says whose answer, and how long it was waited for."""
    pending = sim.send("broker-0", fetch(0, max_wait_ms=500), client="c1")
    with pytest.raises(
        RequestTimeoutError,
        match=r"^the answer to Fetch of c1 to broker-0 did not come within 100 ms$",
    ):
        pending.wait(100)
    assert sim.now_ms == 102
    assert values(pending.wait()) == []
    assert sim.now_ms == 504


def test_an_answer_in_time_is_no_error(sim):
    """One that arrives in the very millisecond counts."""
    assert sim.request("broker-0", BROKERS, timeout_ms=2).error_code is Errors.NONE
    with pytest.raises(RequestTimeoutError):
        sim.request("broker-0", BROKERS, timeout_ms=1)


def test_a_dead_broker_is_told_at_once(sim):
    """After the latency, as a refused connection is."""
    sim.crash("broker-1")
    with pytest.raises(
        DisconnectError,
        match=r"^the answer to Metadata of client to broker-1 does not come: the connection ended$",
    ):
        sim.request("broker-1", BROKERS)
    assert sim.now_ms == 3


def test_who_waits_hears_of_a_crash(sim):
    """A join that is parked at a broker dies with it."""
    c1 = Member(sim, "c1")
    parked = c1.send(c1.join_request())
    sim.sleep(1_000)
    sim.crash("broker-0")
    with pytest.raises(DisconnectError, match="JoinGroup of c1 to broker-0"):
        parked.wait()
    assert sim.now_ms == 1_003


def test_a_broker_that_is_back_has_forgotten_what_it_was_asked(sim):
    """The old connection ends; a new request makes a new one."""
    parked = sim.send("broker-0", fetch(0, max_wait_ms=30_000), client="c1")
    sim.sleep(10)
    sim.crash("broker-0")
    sim.restart("broker-0")
    assert sim.request("broker-0", BROKERS, client="c1").error_code is Errors.NONE
    with pytest.raises(DisconnectError):
        parked.wait()


def test_no_answer_comes_to_a_produce_with_acks_0(sim):
    """`send` is for that; who waits is told at once, and the record is written."""
    request = ProduceRequest(acks=0, timeout_ms=0, batches={ORDERS: (Record(-1, 0, None, b"a"),)})
    pending = sim.send("broker-0", request)
    with pytest.raises(IllegalStateError, match=r"acks are 0: send it and go on$"):
        pending.wait()
    sim.sleep(5)
    assert values(sim.request("broker-0", fetch(0))) == [b"a"]


@pytest.mark.parametrize("faults", [(), (AnswerWithError("Produce", "NOT_LEADER_FOR_PARTITION"),)])
def test_a_produce_with_acks_0_is_not_kept(faults):
    """Nobody holds it, even when a fault gives it an answer; who waits later is not disturbed."""
    sim = Simulation(faults=faults)
    create_topic(sim)
    request = ProduceRequest(acks=0, timeout_ms=0, batches={ORDERS: (Record(-1, 0, None, b"a"),)})
    kept = weakref.ref(sim.send("broker-0", request, client="c1"))
    sim.sleep(5)
    assert sim.request("broker-0", BROKERS, client="c1").error_code is Errors.NONE
    gc.collect()
    assert kept() is None


def by_hand(sim):
    """Crash c1 before anybody waits."""
    sim.crash("c1")


def by_plan(sim):
    """Leave it to the plan, while the main program waits."""


@pytest.mark.parametrize("crash", [by_hand, by_plan])
def test_who_waits_for_another_s_answer_hears_of_its_crash(crash):
    """A dead client gets no answer: the sentence says whose, and the run is not stuck."""
    sim = Simulation(faults=(Crash("c1", 100),))
    c1 = Member(sim, "c1")
    pending = c1.send(c1.join_request())
    crash(sim)
    with pytest.raises(
        IllegalStateError,
        match=r"^the answer to JoinGroup of c1 to broker-0 does not come: c1 crashed$",
    ):
        pending.wait()
    assert sim.now_ms == (0 if crash is by_hand else 100)


def test_a_process_hears_of_another_client_s_crash(sim):
    """It goes on; what had arrived before can still be read."""
    there = sim.send("broker-0", BROKERS, client="c1")
    there.wait()

    def run():
        with pytest.raises(IllegalStateError, match=r"c1 crashed$"):
            sim.request("broker-0", fetch(0, max_wait_ms=500), client="c1")
        return sim.now_ms

    process = sim.spawn(run, node="c2")
    sim.sleep(50)
    sim.crash("c1")
    assert process.join() == sim.now_ms == 54
    assert there.wait().error_code is Errors.NONE


@pytest.mark.parametrize(("client_id", "begins"), [("", "c1-"), ("till", "till-")])
def test_a_join_has_its_sender_s_name(sim, client_id, begins):
    """As Kafka's headers have it; the caller's own object stays as it is."""
    join = JoinGroupRequest(
        group_id="g",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        protocols=(JoinGroupRequestProtocol("range", ""),),
        client_id=client_id,
    )
    assert sim.request("broker-0", join, client="c1").member_id.startswith(begins)
    assert join.client_id == client_id
