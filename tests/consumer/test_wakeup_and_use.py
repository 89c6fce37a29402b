"""wakeup(), and who may use a consumer: one process at a time, until it is closed."""

import pytest

from kafkalearn.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafkalearn.errors import (
    ConcurrentModificationError,
    IllegalArgumentError,
    IllegalStateError,
    NoOffsetForPartitionError,
    WakeupError,
)
from kafkalearn.records import TopicPartition


def test_wakeup_ends_the_poll_that_waits(cluster):
    """At once; the next poll is as any other."""
    world = cluster()
    consumer = world.member()
    began_ms = world.sim.now_ms
    world.sim.loop.call_at(began_ms + 50, consumer.wakeup)
    with pytest.raises(WakeupError):
        consumer.poll(10_000)
    assert world.sim.now_ms == began_ms + 50
    world.send("a")
    assert world.read(consumer, 1) == ["a"]


def test_wakeup_is_remembered_for_the_next_poll(cluster):
    """Two of them raise once."""
    world = cluster()
    consumer = world.member()
    consumer.wakeup()
    consumer.wakeup()
    began_ms = world.sim.now_ms
    with pytest.raises(WakeupError):
        consumer.poll(10_000)
    assert world.sim.now_ms == began_ms
    assert consumer.poll(100).is_empty()


def test_wakeup_does_not_disturb_a_close(cluster):
    """It ends in order, with its commit and its leave; it used to wait for ever."""
    world = cluster()
    world.send("a")
    consumer = world.member(enable_auto_commit=True)
    assert world.read(consumer, 1) == ["a"]
    began_ms = world.sim.now_ms
    consumer.wakeup()
    consumer.close()
    assert world.sim.now_ms - began_ms < 100
    assert world.ask() == 1
    assert len(world.sent("LeaveGroup")) == 1


def test_a_second_process_is_refused(cluster):
    """The sentence names both; wakeup() alone is allowed, and the first goes on undisturbed."""
    world = cluster()
    consumer = world.member()
    refused, ended = [], []

    def poll():
        try:
            consumer.poll(1_000)
        except WakeupError:
            ended.append(world.sim.now_ms)

    def disturb():
        for call in (lambda: consumer.poll(0), consumer.commit_sync, consumer.close):
            with pytest.raises(ConcurrentModificationError, match="is using") as caught:
                call()
            refused.append(str(caught.value))
        consumer.wakeup()

    world.sim.spawn(poll, node="c1", name="poll loop")
    world.sim.sleep(10)
    began_ms = world.sim.now_ms
    world.sim.spawn(disturb, node="c1", name="other")
    world.sim.sleep(100)
    assert len(refused) == 3
    assert refused[0].startswith("other of c1 uses a consumer that poll loop of c1 is using")
    assert ended == [began_ms]
    assert consumer.poll(0).is_empty()


def test_a_listener_may_use_the_consumer_and_nobody_else_meanwhile(cluster):
    """Its own calls end while the poll around them goes on: others stay out until that ends."""
    world = cluster()
    consumer = world.consumer()
    refused = []

    class Asking(ConsumerRebalanceListener):
        def on_partitions_assigned(self, partitions):
            assert set(consumer.assignment()) == set(partitions)
            world.sim.sleep(100)

    def disturb():
        try:
            consumer.poll(0)
        except ConcurrentModificationError:
            refused.append(world.sim.now_ms)

    consumer.subscribe(["t"], listener=Asking())
    world.sim.spawn(lambda: consumer.poll(10_000), node="c1")
    world.await_state("Stable")
    world.sim.sleep(50)
    assert world.sim.spawn(disturb, node="c1").join() is None
    assert len(refused) == 1


def test_a_closed_consumer_is_refused(cluster):
    """Any call but a second close; it says so."""
    world = cluster()
    consumer = world.member()
    consumer.close()
    consumer.close()
    assert repr(consumer) == "<KafkaConsumer c1 of group g, closed>"
    for call in (lambda: consumer.poll(0), lambda: consumer.subscribe(["t"]), consumer.commit_sync):
        with pytest.raises(
            IllegalStateError, match=r"^the consumer c1 has been closed: make a new"
        ):
            call()


@pytest.mark.parametrize("timeout_ms", [-1, True, 1.5, None])
def test_a_close_takes_ms(cluster, timeout_ms):
    """Anything else is refused, and the consumer can still be used."""
    consumer = cluster().member()
    with pytest.raises(IllegalArgumentError, match=r"^timeout_ms is "):
        consumer.close(timeout_ms)
    assert consumer.poll(0).is_empty()


def test_leaving_the_with_block_closes(cluster):
    """Also when it is left by an error."""
    world = cluster()
    consumer = world.member()
    with pytest.raises(LookupError), consumer:
        raise LookupError
    assert "closed" in repr(consumer)
    assert len(world.sent("LeaveGroup")) == 1


@pytest.mark.parametrize("profile", ["0.10.1", "1.0", "2.3", "2.4", "4.0"])
def test_a_wakeup_comes_before_records_that_wait(cluster, profile):
    """Since 0.11; before, a poll that has records to return does not look."""
    world = cluster(profile)
    world.send("a", "b", "c")
    consumer = world.member(max_poll_records=1)
    assert world.read(consumer, 1) == ["a"]
    consumer.wakeup()
    if profile != "0.10.1":
        with pytest.raises(WakeupError):
            consumer.poll(1_000)
    assert world.read(consumer, 2) == ["b", "c"]


def test_who_catches_errors_and_polls_on_comes_to_an_end(cluster):
    """A poll that raises takes time, as one that gives nothing does."""
    world = cluster()
    consumer = world.consumer(auto_offset_reset="none")
    consumer.assign([TopicPartition("t", 0)])
    until_ms, errors = world.sim.now_ms + 50, 0
    while world.sim.now_ms < until_ms:
        with pytest.raises(NoOffsetForPartitionError):
            consumer.poll(500)
        errors += 1
    assert 10 < errors <= 50
