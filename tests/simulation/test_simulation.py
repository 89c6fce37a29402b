"""The simulation from outside: its name, its time, who asks whom, processes, bounds."""

from dataclasses import replace

import pytest

from kafkalearn.engine import (
    Crash,
    Drop,
    PastTimeError,
    StuckError,
)
from kafkalearn.errors import (
    ConfigError,
    Errors,
    IllegalArgumentError,
    IllegalStateError,
    InvalidRequestError,
)
from kafkalearn.profile import KAFKA_1_0, KAFKA_2_4
from kafkalearn.protocol.fetch import FetchRequest
from kafkalearn.protocol.metadata import MetadataRequest, MetadataResponse
from kafkalearn.simulation import Simulation
from kafkalearn.trace import TraceError
from tests.simulation.members import GROUP, Member
from tests.simulation.scripts import create_topic, fetch, play

BROKERS = MetadataRequest(topics=())
TOO_LITTLE = FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=-1, partitions={})


# The name of a run.


@pytest.mark.parametrize(
    ("arguments", "run_id"),
    [
        ({}, "requests profile=1.0 seed=0"),
        ({"name": "joins", "seed": 7}, "joins profile=1.0 seed=7"),
        ({"profile": "2.4"}, "requests profile=2.4 seed=0"),
        ({"profile": KAFKA_2_4}, "requests profile=2.4 seed=0"),
        (
            {"brokers": 1, "auto_create_topics_enable": False},
            "requests profile=1.0 seed=0 auto_create_topics_enable=false brokers=1",
        ),
        (
            {"faults": (Crash("broker-0", 5), Drop("Fetch"))},
            "requests profile=1.0 seed=0 faults=crash(broker-0,at_ms=5)+drop(Fetch)",
        ),
        (
            {"record": {"nodes": {"c2", "c1"}, "kinds": "send"}, "brokers": 1},
            'requests profile=1.0 seed=0 brokers=1 kinds=["send"] nodes=["c1", "c2"]',
        ),
        ({"record": {"kinds": None}}, "requests profile=1.0 seed=0"),
    ],
)
def test_a_run_is_named_by_its_arguments(arguments, run_id):
    """All of them are readable in the run's id, and so is what is recorded."""
    assert Simulation(**arguments).trace.run_id == run_id


def test_another_rule_makes_another_name():
    """A profile of one's own is not taken for the release that it was made from."""
    own = replace(KAFKA_1_0, member_id_required=True)
    assert Simulation(profile=own).trace.run_id != Simulation().trace.run_id


def test_a_run_tells_its_name_and_how_far_it_came():
    """Without an address, so that it is the same each time."""
    sim = Simulation(seed=7)
    sim.sleep(1_234)
    assert repr(sim) == "<Simulation requests profile=1.0 seed=7 at 1,234 ms>"


def test_a_profile_is_not_taken_for_a_name():
    """`Simulation("4.0")` would be a run of 1.0 that is called 4.0."""
    with pytest.raises(TypeError):
        Simulation("4.0")


def test_equal_arguments_give_equal_traces():
    """The second run repeats the first, and is no copy of it."""
    first, second = play("new_group"), play("new_group")
    assert first.trace == second.trace
    assert first.trace != play("new_group", seed=1).trace


def test_an_unknown_profile_is_refused():
    """The sentence names the profiles there are."""
    with pytest.raises(
        ConfigError,
        match=r"^profile is '9.9': one of 0.10.1, 1.0, 2.3, 2.4, 4.0 is allowed$",
    ):
        Simulation(profile="9.9")


# Recording.


def test_everything_is_recorded_unless_told_otherwise():
    """A request that is answered leaves four events."""
    sim = Simulation()
    sim.request("broker-1", BROKERS)
    assert [(event.time_ms, event.node, event.kind) for event in sim.trace] == [
        (0, "client", "send"),
        (1, "broker-1", "receive"),
        (1, "broker-1", "respond"),
        (2, "client", "response"),
    ]


@pytest.mark.parametrize(
    ("record", "seen"),
    [
        ({"kinds": ["send", "respond"]}, [("client", "send"), ("broker-1", "respond")]),
        ({"nodes": ["broker-1"]}, [("broker-1", "receive"), ("broker-1", "respond")]),
        ({"kinds": ["send"], "nodes": ["broker-1"]}, []),
    ],
)
def test_recording_can_be_reduced(record, seen):
    """Only the kinds and nodes that were asked for are kept, and the run is the same."""
    sim = Simulation(record=record)
    sim.request("broker-1", BROKERS)
    assert [(event.node, event.kind) for event in sim.trace] == seen
    assert sim.now_ms == 2


def test_a_kind_that_does_not_exist_cannot_be_recorded():
    """The sentence names the value."""
    with pytest.raises(TraceError, match=r"^'sent' is no kind of event: send, receive"):
        Simulation(record={"kinds": ["sent"]})


def test_what_else_cannot_be_chosen_for_recording():
    """The sentence names the key."""
    with pytest.raises(
        ConfigError, match=r"^kind of record is unknown: kinds and nodes are allowed$"
    ):
        Simulation(record={"kind": ["send"]})
    with pytest.raises(TraceError, match=r"^'5' is no kind of event"):
        Simulation(record={"kinds": 5})


# Time and chance.


def test_time_stands_still_until_somebody_waits():
    """Work between two waits takes no time, and what is sent stays on its way."""
    sim = Simulation()
    pending = sim.send("broker-0", BROKERS)
    sim.coordinator_of(GROUP)
    assert (sim.now_ms, pending.response, len(sim.trace)) == (0, None, 1)
    sim.sleep(0)
    assert (sim.now_ms, pending.response) == (0, None)


def test_run_until_does_what_is_due_by_then():
    """The answer that comes at 2 ms is there at 2 ms and not before."""
    sim = Simulation()
    sim.send("broker-0", BROKERS)
    sim.run_until(1)
    assert [event.kind for event in sim.trace] == ["send", "receive", "respond"]
    sim.run_until(2)
    assert [event.kind for event in sim.trace][3:] == ["response"]
    assert sim.now_ms == 2


def test_time_does_not_go_back():
    """The sentence names both times."""
    sim = Simulation()
    sim.run_until(10)
    with pytest.raises(PastTimeError, match=r"^5 ms has passed: now is 10 ms$"):
        sim.run_until(5)
    with pytest.raises(IllegalArgumentError, match=r"^-1 ms is no time to sleep: 0 or more"):
        sim.sleep(-1)
    assert sim.now_ms == 10


def test_chance_has_one_stream_for_each_purpose():
    """It starts anew each time that it is asked for, by the seed and the purpose alone."""

    def drawn(seed, purpose):
        return Simulation(seed=seed).random_for(purpose).random()

    assert drawn(1, "a") == drawn(1, "a")
    assert len({drawn(1, "a"), drawn(1, "b"), drawn(2, "a")}) == 3


# Who asks whom.


def test_the_main_program_asks_as_client():
    """Unless it names somebody, who then becomes a node."""
    sim = Simulation()
    sim.request("broker-0", BROKERS)
    sim.request("broker-0", BROKERS, client="c7")
    assert [event.node for event in sim.trace.where(kind="send")] == ["client", "c7"]
    assert sim.node("c7") is sim.loop.nodes["c7"]


def test_a_process_asks_as_its_node():
    """Unless it names somebody else."""
    sim = Simulation()

    def run():
        sim.request("broker-0", BROKERS)
        sim.request("broker-0", BROKERS, client="c2")

    sim.spawn(run, node="c1").join()
    assert [event.node for event in sim.trace.where(kind="send")] == ["c1", "c2"]


def test_correlation_ids_count_a_client_s_requests():
    """Over all brokers, and on after a crash, so that no pair has two meanings."""
    sim = Simulation()
    for broker in ("broker-0", "broker-1", "broker-0"):
        sim.request(broker, BROKERS, client="c1")
    sim.crash("c1")
    sim.request("broker-0", BROKERS, client="c1")
    assert [event.correlation_id for event in sim.trace.where(kind="send")] == [0, 1, 2, 3]


@pytest.mark.parametrize("node", ["broker-3", "c1", ""])
def test_only_a_broker_can_be_asked(node):
    """The sentence names the brokers, and nothing was sent."""
    sim = Simulation()
    sim.node("c1")
    with pytest.raises(
        IllegalArgumentError,
        match=rf"^'{node}' is no broker: broker-0, broker-1, broker-2 are$",
    ):
        sim.request(node, BROKERS)
    assert len(sim.trace) == 0


@pytest.mark.parametrize("message", ["hello", MetadataRequest, MetadataResponse(), None])
def test_only_a_request_can_be_sent(message):
    """A class, a response or a text is none."""
    sim = Simulation()
    with pytest.raises(IllegalArgumentError, match=r" is no request: see kafkalearn.protocol$"):
        sim.send("broker-0", message)
    assert len(sim.trace) == 0


def test_a_request_that_no_client_could_send_is_an_error_where_it_is_sent():
    """No answer tells it, since Kafka has none; the simulation goes on."""
    sim = Simulation()
    with pytest.raises(
        InvalidRequestError,
        match=r"^a limit is -1 bytes: 0 or more is allowed\nraised by broker-0 over Fetch",
    ):
        sim.request("broker-0", TOO_LITTLE)
    assert sim.request("broker-0", BROKERS).error_code is Errors.NONE


def test_a_request_can_be_refused_by_the_profile_s_name():
    """What came with a later Kafka is no silent success."""
    sim = Simulation()
    static = Member(sim, "c1", instance_id="till-1")
    with pytest.raises(
        InvalidRequestError, match=r"^profile 1.0 does not know group_instance_id \(KIP-345"
    ):
        static.join()


# The coordinator of a group.


def test_the_coordinator_leads_the_group_s_partition():
    """The brokers take turns with the 50 partitions of __consumer_offsets."""
    sim = Simulation()
    names = ["test", "group1", "polygenelubricants"]
    assert [sim.coordinator_of(name) for name in names] == ["broker-0", "broker-1", "broker-0"]


def test_a_dead_coordinator_is_one_until_it_is_noticed():
    """Then the next broker in the ring is, and none when no broker is left."""
    sim = Simulation(brokers=2)
    sim.crash("broker-0")
    sim.sleep(5_999)
    assert sim.coordinator_of("test") == "broker-0"
    sim.sleep(1)
    assert sim.coordinator_of("test") == "broker-1"
    sim.crash("broker-1")
    sim.sleep(6_000)
    with pytest.raises(
        IllegalStateError, match=r"^group test has no coordinator: no broker is up$"
    ):
        sim.coordinator_of("test")


# Processes.


def test_a_process_waits_in_virtual_time():
    """The caller goes on at once, and gets the result when it asks for it."""
    sim = Simulation()

    def run():
        sim.sleep(7)
        return sim.request("broker-0", BROKERS).brokers

    process = sim.spawn(run, node="c1")
    assert sim.now_ms == 0
    assert process.join() == ("broker-0", "broker-1", "broker-2")
    assert sim.now_ms == 9


def test_an_exception_in_a_process_surfaces_where_the_simulation_is_driven():
    """With the process, the virtual time, and the way it came."""
    sim = Simulation()

    def run():
        sim.sleep(7)
        raise LookupError("no such order")

    sim.spawn(run, node="c1", name="worker")
    with pytest.raises(LookupError, match="no such order") as caught:
        sim.sleep(100)
    assert caught.value.__notes__ == ["raised in worker of c1 at 7 ms of virtual time"]
    assert "run" in [entry.name for entry in caught.traceback]


def test_an_exception_goes_to_who_waits_for_the_process():
    """The simulation itself goes on."""
    sim = Simulation()

    def fail():
        raise LookupError("no such order")

    def wait():
        with pytest.raises(LookupError):
            sim.spawn(fail, node="c1").join()
        return "caught"

    assert sim.spawn(wait, node="c2").join() == "caught"


def test_a_process_of_a_crashed_node_never_goes_on():
    """Not even its finally runs; who waits for it is told."""
    sim = Simulation()
    done = []

    def run():
        try:
            sim.request("broker-0", fetch(0), timeout_ms=50)
        finally:
            done.append("cleaned up")

    create_topic(sim)
    process = sim.spawn(run, node="c1")
    sim.sleep(10)
    sim.crash("c1")
    with pytest.raises(IllegalStateError, match=r"^script of c1 ended when c1 crashed$"):
        process.join()
    sim.sleep(1_000)
    assert done == []


def test_a_client_that_crashed_can_be_started_again():
    """Under the same name it is a new node; one that lives stays as it is."""
    sim = Simulation()
    first = sim.node("c1")
    assert sim.node("c1") is first
    sim.crash("c1")
    assert sim.spawn(lambda: "alive", node="c1").join() == "alive"
    assert sim.node("c1") is not first


@pytest.mark.parametrize(
    "comes_back",
    [
        lambda sim: sim.request("broker-0", BROKERS, client="c1"),
        lambda sim: sim.send("broker-0", BROKERS, client="c1"),
        lambda sim: sim.spawn(lambda: None, node="c1"),
    ],
)
def test_a_client_s_return_is_told(comes_back):
    """Once, as a broker's is."""
    sim = Simulation()
    sim.node("c1")
    sim.crash("c1")
    comes_back(sim)
    comes_back(sim)
    told = [(event.node, event.detail["fault"]) for event in sim.trace.where(kind="fault")]
    assert told == [("c1", "crash"), ("c1", "restart")]


def test_nothing_starts_on_a_broker_that_crashed():
    """Only restart brings a broker back."""
    sim = Simulation()
    sim.crash("broker-0")
    process = sim.spawn(lambda: "alive", node="broker-0")
    with pytest.raises(IllegalStateError, match=r"ended when broker-0 crashed$"):
        process.join()


# Bounds.


def test_a_run_ends_at_its_bound_of_time():
    """The sentence says which bound, and who waited for what."""
    sim = Simulation(max_time_ms=1_000)
    sim.spawn(lambda: sim.sleep(5_000), node="c1", name="sleeper")
    with pytest.raises(
        StuckError,
        match=r"^the run came to its bound of 1,000 ms: the main program runs until 2,000 ms; "
        r"sleeper of c1 sleeps until 5,000 ms$",
    ):
        sim.run_until(2_000)


def test_the_bound_of_time_can_be_reached():
    """Only what lies beyond it is refused."""
    sim = Simulation(max_time_ms=1_000, max_events=1_000)
    sim.sleep(1_000)
    assert sim.now_ms == 1_000


def test_a_run_ends_at_its_bound_of_events():
    """A loop that never waits long enough is a sentence, and no hanging notebook."""
    sim = Simulation(max_events=100)

    def run():
        while True:
            sim.request("broker-0", BROKERS)

    sim.spawn(run, node="c1", name="asker")
    with pytest.raises(
        StuckError,
        match=r"^the run came to its bound of 100 events at \d+ ms: the main program sleeps for "
        r"100,000 ms; asker of c1 waits for the answer to Metadata of c1 to broker-0$",
    ):
        sim.sleep(100_000)


def test_a_wait_that_cannot_end_says_so_at_once():
    """What is waited for is named, by process."""
    sim = Simulation()
    running = {}
    running["one"] = sim.spawn(lambda: running["other"].join(), node="c1", name="one")
    running["other"] = sim.spawn(lambda: running["one"].join(), node="c2", name="other")
    with pytest.raises(
        StuckError,
        match=r"^nothing is left to happen after 0 ms: the main program waits for the end of one "
        r"of c1; one of c1 waits for the end of other of c2; other of c2 waits for the end of one "
        r"of c1$",
    ):
        running["one"].join()


def test_each_process_of_a_node_is_told_apart():
    """Two that wait for different answers are named with the answer that each waits for."""
    sim = Simulation(max_events=300)
    sim.freeze("broker-0", 10_000)
    sim.spawn(lambda: Member(sim, "c1").join(), node="c1", name="joiner")
    sim.spawn(lambda: sim.request("broker-0", BROKERS), node="c1", name="asker")

    def clock():
        while True:
            sim.sleep(1)

    sim.spawn(clock, node="c2")
    with pytest.raises(StuckError) as caught:
        sim.sleep(1_000)
    assert "joiner of c1 waits for the answer to JoinGroup of c1 to broker-0" in str(caught.value)
    assert "asker of c1 waits for the answer to Metadata of c1 to broker-0" in str(caught.value)


def test_a_run_that_was_disposed_of_does_nothing_more():
    """Its trace can still be read."""
    sim = play("new_group")
    before = len(sim.trace)
    sim.dispose()
    with pytest.raises(IllegalStateError, match="this run was disposed of"):
        sim.request("broker-0", BROKERS)
    assert len(sim.trace[:before]) == before
