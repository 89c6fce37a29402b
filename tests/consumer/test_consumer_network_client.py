"""Requests that wait until they can be sent, and futures that polls complete."""

import pytest

from kafkalearn.clients.request_future import RequestFuture
from kafkalearn.consumer.consumer_network_client import ConsumerNetworkClient
from kafkalearn.errors import DisconnectError, KafkaTimeoutError, WakeupError
from kafkalearn.protocol.metadata import MetadataRequest, MetadataResponse
from tests.clients.world import BROKERS, World

ANSWER = MetadataResponse(brokers=BROKERS)
ASK = MetadataRequest(topics=())


def client_of(world, metadata=None, **settings):
    """Make a client with a back-off of 100 ms; what is not sent expires after 1,000 ms."""
    metadata = metadata or world.metadata()
    return ConsumerNetworkClient(
        world.context,
        world.client(metadata, **settings),
        metadata=metadata,
        retry_backoff_ms=100,
        request_timeout_ms=1_000,
    )


def test_a_request_is_sent_by_a_poll():
    """Not before; it counts as pending until it is answered, and its future is done by a poll."""
    world = World()
    client = client_of(world)
    future = client.send("broker-0", ASK)
    world.loop.run_until(10)
    assert (world.asked, client.pending_request_count()) == ([], 1)
    assert client.poll_future(future, 100)
    assert (future.value(), world.loop.now_ms) == (ANSWER, 12)
    assert client.pending_request_count() == client.pending_request_count("broker-0") == 0


def test_a_poll_without_time_takes_what_is_here():
    """It waits for nothing, and the answer that has arrived is enough."""
    world = World()
    client = client_of(world)
    future = client.send("broker-0", ASK)
    assert client.poll_future(future, 0) is False
    world.loop.run_until(10)
    assert client.poll_future(future, 0) is True


def test_pending_requests_are_counted_by_connection():
    """Sent or not."""
    world = World()
    client = client_of(world)
    client.send("broker-0", ASK)
    client.poll_no_wakeup()
    client.send("broker-0", ASK)
    client.send("broker-1", ASK)
    counts = [client.pending_request_count(name) for name in (*BROKERS, None)]
    assert counts == [2, 1, 3]


def test_what_cannot_be_sent_yet_waits_in_order():
    """A connection that is full takes the next as soon as it has room."""
    world = World()
    client = client_of(world, max_in_flight=1)
    futures = [client.send("broker-0", ASK) for _ in range(3)]
    client.poll_no_wakeup()
    assert client.pending_request_count("broker-0") == 3
    for future in futures:
        assert client.poll_future(future, 100)
    assert [time_ms for time_ms, *_ in world.asked] == [1, 3, 5]


def test_what_is_not_sent_in_time_expires():
    """After more than request.timeout.ms, with a sentence; what was sent does not."""
    world = World()
    world.silent.add("broker-0")
    client = client_of(world, max_in_flight=1)
    sent = client.send("broker-0", ASK, timeout_ms=5_000)
    waiting = client.send("broker-0", ASK)
    client.poll_no_wakeup()
    world.loop.run_until(1_000)
    client.poll_no_wakeup()
    assert not waiting.is_done
    world.loop.run_until(1_001)
    client.poll_no_wakeup()
    assert isinstance(waiting.exception(), KafkaTimeoutError)
    assert str(waiting.exception()) == "Metadata was not sent within 1,000 ms"
    assert not sent.is_done
    assert client.pending_request_count() == 1


def test_what_waits_for_a_connection_that_is_refused_fails():
    """At once when the refusal is heard."""
    world = World(down=["broker-0"])
    client = client_of(world)
    future = client.send("broker-0", ASK)
    assert client.poll_future(future, 5_000)
    assert isinstance(future.exception(), DisconnectError)
    assert str(future.exception()) == "there is no connection to broker-0"
    assert world.loop.now_ms == 1
    assert client.connection_failed("broker-0")


def test_what_was_sent_on_a_connection_that_ends_fails():
    """It may be tried again."""
    world = World()
    world.silent.add("broker-0")
    client = client_of(world)
    future = client.send("broker-0", ASK)
    world.loop.call_at(50, lambda: world.crash("broker-0"))
    assert client.poll_future(future, 5_000)
    assert str(future.exception()) == "the connection to broker-0 ended before the answer came"
    assert (future.is_retriable(), world.loop.now_ms) == (True, 51)


def test_disconnect_async_fails_all_requests_of_a_connection():
    """Those sent and those not, when somebody polls; another connection is left alone."""
    world = World()
    client = client_of(world)
    sent = client.send("broker-0", ASK)
    other = client.send("broker-1", ASK)
    client.poll_no_wakeup()
    waiting = client.send("broker-0", ASK)
    client.disconnect_async("broker-0")
    assert [sent.is_done, waiting.is_done] == [False, False]
    client.poll_no_wakeup()
    client.poll_no_wakeup()
    assert [type(each.exception()) for each in (sent, waiting)] == [DisconnectError] * 2
    assert client.poll_future(other, 100)
    assert other.succeeded()


# Waiting.


def test_poll_future_gives_up_in_time():
    """The future may still be done by a later poll."""
    world = World()
    client = client_of(world)
    future = client.send("broker-0", ASK)
    assert not client.poll_future(future, 1)
    assert world.loop.now_ms == 1
    assert not client.poll_future(RequestFuture(), 0)
    assert client.poll_future(future, 1)


def test_a_poll_without_anything_in_flight_waits_for_the_back_off_only():
    """As nobody can answer; with something in flight it waits for its time."""
    world = World()
    client = client_of(world)
    client.poll(5_000)
    assert world.loop.now_ms == 100
    world.silent.add("broker-0")
    client.send("broker-0", ASK)
    client.poll(600)
    assert world.loop.now_ms == 700


def test_a_condition_that_holds_lets_a_poll_not_wait():
    """It sends all the same."""
    world = World()
    client = client_of(world)
    client.send("broker-0", ASK)
    client.poll(5_000, RequestFuture.void_success())
    assert world.loop.now_ms == 0
    world.loop.run_until(5)
    assert len(world.asked) == 1


def test_await_pending_requests_waits_for_one_connection():
    """True as soon as it has no request left; False if it has when the time is over."""
    world = World()
    world.silent.add("broker-1")
    client = client_of(world)
    client.send("broker-0", ASK)
    client.send("broker-1", ASK)
    assert client.await_pending_requests("broker-0", 500)
    assert world.loop.now_ms == 2
    assert not client.await_pending_requests("broker-1", 500)
    assert world.loop.now_ms == 502


# Waking up.


def test_a_wakeup_is_raised_once_by_the_poll_that_waits_or_the_next():
    """Not by one that disables it."""
    world = World()
    client = client_of(world)
    client.wakeup()
    client.poll_no_wakeup()
    with pytest.raises(WakeupError):
        client.poll(5_000)
    client.poll(50)
    assert world.loop.now_ms == 50
    world.loop.call_at(60, client.wakeup)
    with pytest.raises(WakeupError):
        client.poll(5_000)
    assert world.loop.now_ms == 60


def test_a_wakeup_loses_no_answer():
    """The future is done by the next poll."""
    world = World()
    client = client_of(world)
    future = client.send("broker-0", ASK)
    client.poll_no_wakeup()
    world.loop.run_until(2)
    client.wakeup()
    with pytest.raises(WakeupError):
        client.poll(0)
    client.poll(0)
    assert future.succeeded()


def test_disabled_wakeups_neither_raise_nor_keep_a_poll_from_waiting():
    """Else a close would look again and again in the same ms."""
    world = World()
    client = client_of(world)
    client.disable_wakeups()
    client.wakeup()
    client.poll(50)
    assert world.loop.now_ms == 50


# Metadata.


def test_await_metadata_update_asks_and_waits():
    """After the back-off of the last question."""
    world = World()
    metadata = world.metadata()
    client = client_of(world, metadata)
    assert client.await_metadata_update()
    assert (metadata.version, world.loop.now_ms) == (2, 102)


def test_await_metadata_update_gives_up_in_time():
    """Nobody answers."""
    world = World()
    world.silent.update(BROKERS)
    assert not client_of(world).await_metadata_update(300)
    assert world.loop.now_ms == 300


def test_fresh_metadata_is_not_asked_for():
    """Only what was asked for, or is old."""
    world = World()
    metadata = world.metadata()
    client = client_of(world, metadata)
    assert client.ensure_fresh_metadata()
    assert (world.loop.now_ms, metadata.version) == (0, 1)
    metadata.request_update()
    assert client.ensure_fresh_metadata()
    assert (world.loop.now_ms, metadata.version) == (102, 2)
