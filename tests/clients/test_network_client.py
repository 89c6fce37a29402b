"""A client's connections: in flight, ended, overdue, refused; and the questions for metadata."""

import pytest

from kafkalearn.errors import IllegalStateError
from kafkalearn.protocol.metadata import MetadataRequest, MetadataResponse
from tests.clients.world import BROKERS, World

ANSWER = MetadataResponse(brokers=BROKERS)


def test_a_request_is_in_flight_until_a_poll_takes_its_answer():
    """Time alone completes nothing."""
    world = World()
    client = world.client()
    ends = world.ask(client)
    assert client.in_flight_request_count("broker-0") == client.in_flight_request_count() == 1
    world.loop.run_until(10)
    assert (ends, client.in_flight_request_count()) == ([], 1)
    client.poll(0)
    assert ends == [(10, ANSWER)]
    assert client.in_flight_request_count("broker-0") == client.in_flight_request_count() == 0


def test_a_poll_waits_for_one_thing_to_happen():
    """Two answers that arrive together are completed together, in order; a later one is not."""
    world = World()
    client = world.client()
    ends = world.ask(client), world.ask(client)
    client.poll(500)
    assert ends == ([(2, ANSWER)], [(2, ANSWER)])
    world.silent.add("broker-0")
    world.ask(client)
    client.poll(500)
    assert world.loop.now_ms == 502


def test_a_connection_takes_only_so_many_requests():
    """max_in_flight is for each connection."""
    world = World()
    client = world.client(max_in_flight=2)
    world.ask(client)
    world.ask(client)
    assert not client.ready("broker-0")
    assert client.ready("broker-1")
    client.poll(10)
    assert client.ready("broker-0")


def test_an_unanswered_request_is_not_in_flight():
    """A Produce with acks 0 arrives, and nobody waits for it."""
    world = World()
    client = world.client()
    assert client.ready("broker-0")
    client.send_unanswered("broker-0", MetadataRequest(topics=()))
    assert client.in_flight_request_count() == 0
    world.loop.run_until(5)
    assert [each[:2] for each in world.asked] == [(1, "broker-0")]


def test_wakeup_ends_the_poll_that_waits_and_no_later_one():
    """It is not remembered."""
    world = World()
    client = world.client()
    client.wakeup()
    world.loop.call_at(7, client.wakeup)
    client.poll(100)
    assert world.loop.now_ms == 7
    client.poll(100)
    assert world.loop.now_ms == 107


def test_the_end_of_a_connection_ends_its_requests():
    """They get no answer, metadata is asked for, and the back-off begins."""
    world = World()
    metadata = world.metadata()
    client = world.client(metadata)
    world.silent.add("broker-0")
    ends = world.ask(client)
    world.loop.call_at(100, lambda: world.crash("broker-0"))
    client.poll(1_000)
    assert ends == [(101, None)]
    assert client.in_flight_request_count() == 0
    assert client.connection_failed("broker-0")
    assert client.connection_delay("broker-0") == 50
    assert metadata.update_requested()
    assert world.ended == [(101, "broker-0")]


def test_a_connection_that_ended_while_nobody_polled_cannot_be_used():
    """It is dealt with by the next poll, which does not wait; only then does the back-off begin."""
    world = World()
    client = world.client()
    world.silent.add("broker-0")
    ends = world.ask(client)
    world.crash("broker-0")
    world.loop.run_until(500)
    assert not client.ready("broker-0")
    assert not client.connection_failed("broker-0")
    client.poll(1_000)
    assert ends == [(500, None)]
    assert world.loop.now_ms == 500
    assert client.connection_delay("broker-0") == 50


@pytest.mark.parametrize(("timeout_ms", "due_ms"), [(None, 1_000), (300, 300), (3_000, 3_000)])
def test_an_overdue_answer_breaks_the_connection(timeout_ms, due_ms):
    """After request.timeout.ms, or the request's own; all that is in flight on it ends."""
    world = World()
    metadata = world.metadata()
    client = world.client(metadata)
    world.silent.add("broker-0")
    late = world.ask(client, timeout_ms=timeout_ms)
    other = world.ask(client, timeout_ms=9_000)
    client.poll(20_000)
    assert late == other == [(due_ms, None)]
    assert client.connection_failed("broker-0")
    assert metadata.update_requested()


def test_an_answer_in_time_lets_the_connection_be():
    """The other connections are not broken by one that is late."""
    world = World()
    client = world.client()
    world.silent.add("broker-0")
    late, good = world.ask(client), world.ask(client, "broker-1")
    client.poll(2_000)
    assert good == [(2, ANSWER)]
    client.poll(2_000)
    assert late == [(1_000, None)]
    assert client.ready("broker-1")


def test_refused_connections_hold_requests_back():
    """Nobody can send on one, and its end, which comes after the latency, begins the back-off."""
    world = World(down=["broker-0"])
    client = world.client()
    assert not client.ready("broker-0")
    assert not client.connection_failed("broker-0")
    client.poll(100)
    assert world.loop.now_ms == 1
    assert client.connection_failed("broker-0")
    assert (client.ready("broker-0"), client.connection_delay("broker-0")) == (False, 50)
    world.start("broker-0")
    world.loop.run_until(51)
    assert client.ready("broker-0")


def test_the_back_off_grows_until_there_is_a_response():
    """Each refusal doubles it, with jitter, up to its maximum; a response begins anew."""
    world = World(down=["broker-0"])
    client = world.client(reconnect_backoff_ms=(100, 400))
    delays = []
    for _ in range(5):
        client.ready("broker-0")
        while not client.connection_failed("broker-0"):
            client.poll(100)
        delays.append(client.connection_delay("broker-0"))
        world.loop.run_until(world.loop.now_ms + delays[-1])
    bounds = [(80, 120), (160, 240), (320, 480), (320, 480), (320, 480)]
    assert all(low <= ms <= high for ms, (low, high) in zip(delays, bounds, strict=True))
    assert len(set(delays[2:])) > 1
    world.start("broker-0")
    ends = world.ask(client)
    while not ends:
        client.poll(100)
    world.crash("broker-0")
    while not client.connection_failed("broker-0"):
        client.poll(100)
    assert 80 <= client.connection_delay("broker-0") <= 120


def test_disconnect_ends_what_is_in_flight_at_the_next_poll():
    """The answer that is on its way is not heard; to end what does not stand does nothing."""
    world = World()
    client = world.client()
    ends = world.ask(client)
    client.disconnect("broker-0")
    client.disconnect("broker-0")
    client.disconnect("broker-1")
    assert (ends, client.in_flight_request_count()) == ([], 0)
    client.poll(100)
    assert ends == [(0, None)]
    client.poll(100)
    assert ends == [(0, None)]
    assert client.connection_failed("broker-0")


def test_a_closed_client_hears_nothing_any_more():
    """The broker still gets what was sent; who polls on is told."""
    world = World()
    client = world.client()
    ends = world.ask(client)
    client.close()
    world.loop.run_until(10)
    with pytest.raises(IllegalStateError, match="the client c1 has been closed: make a new one"):
        client.poll(0)
    assert (ends, len(world.asked)) == ([], 1)


# The least loaded node.


def test_an_idle_connection_is_preferred():
    """Wherever the search begins; a busy one comes after a broker that was not tried yet."""
    world = World()
    client = world.client()
    assert client.ready("broker-1")
    assert {client.least_loaded_node() for _ in range(20)} == {"broker-1"}
    world.silent.add("broker-1")
    world.ask(client, "broker-1")
    assert {client.least_loaded_node() for _ in range(20)} == {"broker-0"}


def test_where_none_is_better_chance_decides():
    """The search begins anywhere."""
    client = World().client()
    assert {client.least_loaded_node() for _ in range(20)} == set(BROKERS)


def test_who_waits_for_its_back_off_is_not_asked():
    """None if all wait."""
    world = World(down=BROKERS)
    client = world.client()
    client.ready("broker-0")
    client.poll(10)
    assert {client.least_loaded_node() for _ in range(20)} == {"broker-1"}
    client.ready("broker-1")
    client.poll(10)
    assert client.least_loaded_node() is None


def test_looking_for_the_least_loaded_node_connects_to_nobody():
    """A dead broker is not tried again only because somebody looks."""
    world = World(down=["broker-0"])
    client = world.client()
    client.ready("broker-0")
    assert client.ready("broker-1")
    client.poll(10)
    world.loop.run_until(1_000)
    assert {client.least_loaded_node() for _ in range(20)} == {"broker-1"}
    assert client.connection_failed("broker-0")
    client.poll(100)
    assert world.ended == [(1, "broker-0")]


# Metadata.


def test_a_poll_asks_for_metadata_that_is_due():
    """Once: while an answer is awaited, nobody asks again."""
    world = World()
    metadata = world.metadata(is_due=True)
    client = world.client(metadata)
    client.poll(0)
    client.poll(0)
    assert client.in_flight_request_count() == 1
    client.poll(100)
    assert (metadata.version, world.loop.now_ms, len(world.asked)) == (1, 2, 1)


def test_a_poll_wakes_up_when_metadata_gets_due():
    """It asks in the next one."""
    world = World()
    metadata = world.metadata()
    client = world.client(metadata)
    metadata.request_update()
    client.poll(5_000)
    assert world.loop.now_ms == 100
    client.poll(5_000)
    assert (metadata.version, world.loop.now_ms) == (2, 102)


def test_a_question_for_metadata_that_is_lost_is_asked_again():
    """After the back-off; of the other broker, while the first one's connection must wait."""
    world = World()
    metadata = world.metadata(is_due=True)
    client = world.client(metadata, reconnect_backoff_ms=(200, 200))
    world.silent.update(BROKERS)
    client.poll(0)
    client.poll(5_000)
    assert (world.loop.now_ms, metadata.version) == (1_000, 0)
    world.silent.clear()
    while not metadata.version:
        client.poll(5_000)
    assert [each[0] for each in world.asked] == [1, 1_101]
    assert len({each[1] for each in world.asked}) == 2


def test_nobody_to_ask_for_metadata_is_tried_after_the_back_off():
    """The poll waits no longer than reconnect.backoff.ms."""
    world = World(down=BROKERS)
    client = world.client(world.metadata(is_due=True), reconnect_backoff_ms=(200, 200))
    for _ in range(3):
        client.poll(50)
    began_ms = world.loop.now_ms
    client.poll(9_000)
    assert 0 < world.loop.now_ms - began_ms <= 200
