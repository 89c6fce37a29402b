"""What no one should do with a consumer ends in one sentence, never in a run that stands still."""

import pytest

from kafkalearn.assignors import AbstractPartitionAssignor
from kafkalearn.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafkalearn.engine.faults import Crash, Freeze
from kafkalearn.errors import IllegalArgumentError, IllegalStateError
from kafkalearn.records import OffsetAndMetadata, TopicPartition
from kafkalearn.simulation import Simulation

PROFILES = ["1.0", "2.4", "4.0"]
GONE = "the client c1 has been closed: make a new one"
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def reader(profile="1.0", *, faults=(), name="c1", **config):
    """Give a simulation with ten records, and a consumer that has subscribed to them."""
    sim = Simulation(profile=profile, faults=faults)
    sim.create_topic("t", 2)
    producer = sim.producer("p1")
    for number in range(10):
        producer.send("t", key=str(number), value=str(number))
    producer.close()
    consumer = sim.consumer(name, group_id="g", auto_offset_reset="earliest", **config)
    consumer.subscribe(["t"])
    return sim, consumer


def poll(consumer, times):
    """Poll again and again."""
    for _ in range(times):
        consumer.poll(1000)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    "setting", ["heartbeat_interval_ms", "auto_commit_interval_ms", "retry_backoff_ms"]
)
def test_no_time_between_two_does_not_stop_the_clock(profile, setting):
    """With 0 ms, a poll ends all the same."""
    _, consumer = reader(profile, **{setting: 0})
    assert len(consumer.poll(5000)) > 0


@pytest.mark.parametrize("profile", PROFILES)
def test_close_in_a_callback_ends_the_poll(profile):
    """The poll that ran it is told that the consumer is closed, and the group is left once."""
    sim, consumer = reader(profile)
    consumer.poll(5000)
    consumer.commit_async(callback=lambda offsets, error: consumer.close())
    with pytest.raises(IllegalStateError, match=GONE):
        poll(consumer, 3)
    assert len(sim.trace.where(kind="send", api="LeaveGroup")) == 1


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("method", ["on_partitions_assigned", "on_partitions_revoked"])
def test_close_in_a_listener_ends_the_poll(profile, method):
    """The poll that called it says so; from 2.4 on, leaving gives up what is still assigned."""
    sim, consumer = reader(profile)
    called = []

    def close(partitions):
        if partitions:
            called.append(sim.now_ms)
            consumer.close()

    listener = ConsumerRebalanceListener()
    setattr(listener, method, close)
    consumer.subscribe(["t"], listener=listener)

    def join():
        other = sim.consumer(group_id="g")
        other.subscribe(["t"])
        while sim.now_ms < 40_000:
            other.poll(500)

    sim.loop.call_at(5_000, lambda: sim.spawn(join, node="c2"))
    with pytest.raises(IllegalStateError, match=GONE):
        poll(consumer, 25)
    gives_up_twice = method == "on_partitions_revoked" and profile != "1.0"
    assert len(called) == (2 if gives_up_twice else 1)


class Careless(AbstractPartitionAssignor):
    """Gives what it was told to give."""

    name = "careless"

    def __init__(self, answer):
        self.answer = answer

    def assign(self, partitions_per_topic, subscriptions):
        """See PartitionAssignor."""
        return self.answer(subscriptions)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda members: None, "gave None: a dict of member id to a list"),
        (lambda members: {1: []}, r"gave \{1: \[\]\}: a dict of member id to a list"),
        (lambda members: dict.fromkeys(members), "gave a member this: partitions is None: a list"),
        (lambda members: dict.fromkeys(members, "t-0"), "gave a member this: partitions is 't-0'"),
        (lambda members: {each: ["t-0"] for each in members}, "gave a member this: 't-0' is no"),
    ],
    ids=["nothing", "no_member", "no_list", "text", "no_partition"],
)
def test_an_assignment_that_is_none_is_told_with_its_assignor(answer, sentence):
    """Each poll of the leader says so, and the next one may go well."""
    _, consumer = reader(partition_assignment_strategy=[Careless(answer)])
    for _ in range(2):
        with pytest.raises(IllegalArgumentError, match=f"the assignor careless {sentence}"):
            consumer.poll(5000)


@pytest.mark.parametrize("profile", ["2.4", "4.0"])
def test_a_partition_that_does_not_exist_holds_up_no_poll(profile):
    """From 2.0 on, a poll ends in its time though there is no position."""
    sim, consumer = reader(profile)
    consumer.unsubscribe()
    consumer.assign([TopicPartition("t", 99)])
    started_ms = sim.now_ms
    assert consumer.poll(1000).is_empty()
    assert sim.now_ms - started_ms < 1_200


def test_plain_pairs_are_partitions():
    """Whatever takes partitions takes them, also without the name."""
    _, consumer = reader()
    consumer.poll(5000)
    consumer.commit_sync({("t", 0): OffsetAndMetadata(1)})
    consumer.pause([("t", 0)])
    consumer.seek(("t", 0), 1)
    assert (consumer.committed(("t", 0)).offset, consumer.paused()) == (1, [T0])


def test_a_set_of_partitions_has_an_order():
    """The answers come sorted, whatever the order of the hashes is."""
    _, consumer = reader()
    assert list(consumer.end_offsets({T1, T0})) == [T0, T1]
    assert list(consumer.offsets_for_times(dict.fromkeys({T1, T0}, 0))) == [T0, T1]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_frozen_machine_is_waited_for(profile):
    """Who polls from outside goes on when it thaws."""
    sim, consumer = reader(profile, faults=[Freeze("c1", 6_000, 60_000)])
    for _ in range(8):
        consumer.poll(1000)
    assert sim.now_ms > 66_000


def test_a_crashed_machine_is_not_waited_for():
    """Who polls from outside is told at once."""
    sim, consumer = reader(faults=[Crash("c1", 1_000)])
    with pytest.raises(IllegalStateError, match="c1 has crashed: its client is gone"):
        consumer.poll(10_000)
    assert sim.now_ms == 1_000


def test_after_dispose_the_run_is_over():
    """The sentence names the run, not the machine."""
    sim, consumer = reader()
    consumer.poll(5000)
    sim.dispose()
    with pytest.raises(IllegalStateError, match="this run was disposed of"):
        consumer.poll(100)


def test_a_client_has_a_machine_of_its_own():
    """Not a broker's, and one with a name; the functions of processes are functions."""
    sim, _ = reader()
    with pytest.raises(IllegalArgumentError, match="broker-0 is a broker: give the client a mach"):
        sim.consumer("broker-0")
    for wrong in ("", 1):
        with pytest.raises(IllegalArgumentError, match=f"a node is called {wrong!r}: a name is"):
            sim.consumer(wrong)
    with pytest.raises(IllegalArgumentError, match="give it, do not call it"):
        sim.spawn(None, node="c9")
