"""Crash, restart and freeze, by hand and by plan; faults that cannot be."""

import re

import pytest

from kafkalearn.engine import (
    AnswerWithError,
    Crash,
    CutOff,
    Drop,
    Freeze,
    InvalidFaultError,
    Restart,
)
from kafkalearn.errors import (
    DisconnectError,
    Errors,
    IllegalArgumentError,
    IllegalStateError,
    RequestTimeoutError,
)
from kafkalearn.protocol.metadata import (
    CreatableTopic,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    MetadataRequest,
)
from kafkalearn.simulation import Simulation
from tests.simulation.members import Member, together
from tests.simulation.scripts import create_topic

BROKERS = MetadataRequest(topics=())
THERE = "broker-0, broker-1, broker-2"


def faults(sim):
    """What broke, as (time, node, fault)."""
    return [
        (event.time_ms, event.node, event.detail["fault"])
        for event in sim.trace.where(kind="fault")
    ]


def leaders(sim):
    """Who leads ``orders``, as broker-2 knows it."""
    (topic,) = sim.request("broker-2", MetadataRequest(topics=("orders",))).topics
    return [partition.leader for partition in topic.partitions]


# Brokers.


def by_hand():
    """Crash broker-0 at 1 s and start it again at 3 s, by calls."""
    sim = Simulation()
    create_topic(sim)
    sim.run_until(1_000)
    sim.crash("broker-0")
    sim.run_until(3_000)
    sim.restart("broker-0")
    return sim


def by_plan():
    """Do the same by a plan."""
    sim = Simulation(faults=(Crash("broker-0", 1_000), Restart("broker-0", 3_000)))
    create_topic(sim)
    sim.run_until(3_000)
    return sim


@pytest.mark.parametrize("run", [by_hand, by_plan])
def test_a_broker_crashes_and_comes_back(run):
    """A plan does what the calls do, and both stand in the trace."""
    sim = run()
    assert faults(sim) == [(1_000, "broker-0", "crash"), (3_000, "broker-0", "restart")]
    assert sim.request("broker-0", BROKERS).brokers == ("broker-0", "broker-1", "broker-2")


def test_a_crash_is_noticed_after_the_broker_session():
    """Until then the dead one counts as leader, and is named as one that lives."""
    sim = Simulation(broker_session_timeout_ms=2_000)
    create_topic(sim)
    sim.crash("broker-0")
    sim.sleep(1_000)
    assert leaders(sim) == ["broker-0"]
    sim.sleep(1_000)
    assert leaders(sim) == ["broker-1"]
    assert sim.request("broker-2", BROKERS).brokers == ("broker-1", "broker-2")


def test_a_broker_that_is_back_early_has_lost_its_partitions():
    """It is noticed at its return, and what it led moved on; nothing happens at its old time."""
    sim = Simulation()
    create_topic(sim)
    sim.crash("broker-0")
    sim.sleep(1_000)
    sim.restart("broker-0")
    assert leaders(sim) == ["broker-1"]
    before = len(sim.trace)
    sim.sleep(10_000)
    assert len(sim.trace) == before


def test_the_only_broker_leads_again_when_it_is_back():
    """There is nobody else, and every record is still there."""
    sim = Simulation(brokers=1)
    c1 = Member(sim, "c1")
    c1.enter()
    sim.crash("broker-0")
    sim.sleep(7_000)
    sim.restart("broker-0")
    sim.sleep(200)
    assert (c1.beat(), c1.generation_id) == (Errors.NONE, 1)
    assert [event.generation for event in sim.trace.where(kind="group_loaded")] == [1]


def test_a_dead_broker_does_nothing():
    """From its crash to its restart no event is its own, even before the crash is noticed."""
    sim = Simulation()
    create_topic(sim)
    sim.crash("broker-0")
    before = len(sim.trace)
    sim.request("broker-1", DeleteTopicsRequest(topic_names=("orders",)))
    sim.request("broker-1", CreateTopicsRequest(topics={"bills": CreatableTopic(3)}))
    assert {event.node for event in sim.trace[before:]} <= {"client", "broker-1", "broker-2"}


def test_a_frozen_broker_answers_when_it_goes_on():
    """It keeps its connections: nobody is told that it ended."""
    sim = Simulation()
    sim.freeze("broker-0", 500)
    with pytest.raises(RequestTimeoutError):
        sim.request("broker-0", BROKERS, timeout_ms=400)
    assert sim.request("broker-0", BROKERS).error_code is Errors.NONE
    assert sim.now_ms == 501


# Clients.


def test_a_crashed_client_s_join_stays_parked():
    """The group learns nothing of the crash: it waits for a session that begins at the answer."""
    sim = Simulation()
    c1 = Member(sim, "c1")
    c1.send(c1.join_request())
    sim.sleep(1_000)
    sim.crash("c1")
    sim.sleep(20_000)
    assert [
        (event.time_ms, event.detail["to"], event.generation)
        for event in sim.trace.where(kind="group_state")
    ] == [
        (1, "PreparingRebalance", 0),
        (3_001, "AwaitingSync", 1),
        (13_001, "PreparingRebalance", 1),
        (13_001, "Empty", 2),
    ]


def test_a_crashed_client_s_processes_and_connections_are_gone():
    """What its broker answers never arrives, and the node that comes back hears nothing of it."""
    sim = Simulation()
    together(Member.enter, Member(sim, "c1"))
    sim.send("broker-0", BROKERS, client="c1")
    sim.crash("c1")
    sim.node("c1")
    before = len(sim.trace)
    sim.sleep(100)
    assert [(event.node, event.kind) for event in sim.trace[before:]] == [("broker-0", "dropped")]


def test_a_frozen_client_goes_on_where_it_stood():
    """Its sleep is over late, and no exception is raised in it."""
    sim = Simulation(faults=(Freeze("c1", at_ms=100, for_ms=400),))
    process = sim.spawn(lambda: sim.sleep(200) or sim.now_ms, node="c1")
    assert process.join() == 500


def test_a_plan_restarts_a_client():
    """An empty node: what runs on it is the caller's to start."""
    sim = Simulation(faults=(Crash("c1", 10), Restart("c1", 20)))
    first = sim.node("c1")
    sim.sleep(30)
    assert faults(sim) == [(10, "c1", "crash"), (20, "c1", "restart")]
    assert sim.node("c1") is not first


# The network.


def test_a_cut_between_two_leaves_the_others_alone():
    """c1 reaches broker-1, and c2 reaches broker-0, while c1 and broker-0 are cut off."""
    sim = Simulation(faults=(CutOff("c1", 10, 100, other="broker-0"),))
    sim.node("c1")
    sim.sleep(20)
    assert sim.request("broker-1", BROKERS, client="c1").error_code is Errors.NONE
    assert sim.request("broker-0", BROKERS, client="c2").error_code is Errors.NONE
    with pytest.raises(DisconnectError):
        sim.request("broker-0", BROKERS, client="c1")
    assert sim.now_ms == 111
    assert sim.request("broker-0", BROKERS, client="c1").error_code is Errors.NONE


def test_a_message_fault_hits_the_node_that_it_names():
    """The first request of c2, which is the second of all."""
    sim = Simulation(faults=(Drop("Metadata", node="c2"),))
    assert sim.request("broker-0", BROKERS, client="c1").error_code is Errors.NONE
    with pytest.raises(DisconnectError):
        sim.request("broker-0", BROKERS, client="c2")
    assert sim.request("broker-0", BROKERS, client="c2").error_code is Errors.NONE
    assert faults(sim) == [(2, "c2", "drop")]


def test_an_answer_can_be_an_error_by_its_older_name():
    """The broker does nothing else: the join leaves no member."""
    plan = (AnswerWithError("JoinGroup", "GROUP_LOAD_IN_PROGRESS"),)
    sim = Simulation(faults=plan)
    assert Member(sim, "c1").join() is Errors.COORDINATOR_LOAD_IN_PROGRESS
    assert len(sim.trace.where(kind="member_joined")) == 0


# What cannot be.


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (
            Crash("broker-7", 5),
            f"crash(broker-7,at_ms=5) names broker-7: the brokers are {THERE}",
        ),
        (
            CutOff("c1", 5, 5, other="broker-7"),
            f"cut_off(c1,at_ms=5,for_ms=5,other=broker-7) names broker-7: the brokers are {THERE}",
        ),
        (
            Drop("Fetch", node="broker-7"),
            f"drop(Fetch,node=broker-7) names broker-7: the brokers are {THERE}",
        ),
        (
            Drop("Fetch", node="brokr-1"),
            f"drop(Fetch,node=brokr-1) names brokr-1: the brokers are {THERE}",
        ),
        (Crash("Broker-1", 5), f"crash(Broker-1,at_ms=5) names Broker-1: the brokers are {THERE}"),
    ],
)
def test_a_fault_of_a_broker_that_does_not_exist_is_refused(fault, sentence):
    """At once, and not when its time comes; a misspelt one is not taken for a client."""
    with pytest.raises(InvalidFaultError) as caught:
        Simulation(faults=(fault,))
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    "fault", [Crash("c9", 5), Restart("c9", 5), Freeze("c9", 5, 5), CutOff("broker-0", 5, 5, "c9")]
)
def test_a_fault_of_a_client_that_does_not_exist_is_refused_at_its_time(fault):
    """Clients may come later, so that nobody knows before."""
    sim = Simulation(faults=(fault,))
    sim.sleep(4)
    with pytest.raises(
        InvalidFaultError, match=rf"^{re.escape(str(fault))} names c9: the nodes are {THERE}$"
    ):
        sim.sleep(10)


@pytest.mark.parametrize("name", ["worker-1", "b1", "joker-1"])
def test_a_client_may_have_a_name_of_its_own(name):
    """Only what is nearly a broker's is taken for a broker's."""
    sim = Simulation(faults=(Drop("Metadata", node=name),))
    with pytest.raises(DisconnectError):
        sim.request("broker-0", BROKERS, client=name)


def test_an_unknown_error_cannot_be_answered():
    """The sentence names it; it is the fault that is wrong."""
    with pytest.raises(InvalidFaultError, match="'GREMLINS'"):
        Simulation(faults=(AnswerWithError("Fetch", "GREMLINS"),))


@pytest.mark.parametrize("name", ["crash", "freeze"])
def test_what_is_not_there_cannot_break(name):
    """The sentence names all that is there, and the trace stays empty."""
    sim = Simulation()
    arguments = ("c1", 10) if name == "freeze" else ("c1",)
    with pytest.raises(IllegalArgumentError, match=rf"^there is no c1: {THERE} are$"):
        getattr(sim, name)(*arguments)
    assert len(sim.trace) == 0


def test_only_brokers_are_restarted():
    """A client is started again by whoever spawns its next process."""
    sim = Simulation()
    with pytest.raises(IllegalArgumentError, match=rf"^'c1' is no broker: {THERE} are$"):
        sim.restart("c1")


@pytest.mark.parametrize("name", ["crash", "freeze"])
def test_what_is_down_cannot_go_down(name):
    """Nor is anything said to have happened."""
    sim = Simulation()
    sim.crash("broker-0")
    arguments = ("broker-0", 10) if name == "freeze" else ("broker-0",)
    with pytest.raises(IllegalStateError, match=r"^broker-0 is down already$"):
        getattr(sim, name)(*arguments)
    assert len(sim.trace.where(kind="fault")) == 1


@pytest.mark.parametrize("fault", ["crash", AnswerWithError("Fetch", "NONE")])
def test_what_is_no_fault_is_refused(fault):
    """A plan holds faults only, and an answer of NONE is none."""
    with pytest.raises(InvalidFaultError):
        Simulation(faults=(fault,))


def test_a_broker_that_is_up_cannot_be_restarted():
    """Nor is anything said to have happened."""
    sim = Simulation()
    with pytest.raises(
        IllegalStateError, match=r"^broker-0 is up: only one that crashed can be started again$"
    ):
        sim.restart("broker-0")
    assert len(sim.trace) == 0


def test_a_client_is_not_restarted_as_a_broker():
    """It is refused before anything happens; `node` starts a client."""
    sim = Simulation()
    sim.node("c1")
    sim.crash("c1")
    with pytest.raises((IllegalArgumentError, IllegalStateError)):
        sim.restart("c1")
    assert faults(sim) == [(0, "c1", "crash")]
    assert not sim.loop.nodes["c1"].alive


def test_a_freeze_does_not_last_a_negative_time():
    """The fault's own sentence."""
    with pytest.raises(InvalidFaultError, match=r"^for_ms of freeze is -5"):
        Simulation().freeze("broker-0", -5)
