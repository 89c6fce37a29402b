"""Messages arrive in order, late, or not at all, and the journal tells which."""

from itertools import pairwise

import pytest

from kafkalearn.engine import Inbox, PastTimeError
from kafkalearn.errors import ConfigError, IllegalStateError
from tests.engine.world import Request, World


def test_a_round_trip_is_written_down():
    """Four entries, with one correlation id; the exchange lies in the inbox until it is taken."""
    world = World(latency_ms=2)
    connection = world.connect()
    exchange = connection.send(Request(value=7))
    world.loop.run_until(10)
    assert world.log == [
        (0, "send c1 0"),
        (2, "receive c1 0"),
        (2, "respond c1 0"),
        (4, "response c1 0"),
    ]
    inbox = world.inboxes[world.c1]
    assert (inbox.take(), inbox.take(), exchange.response) == ([exchange], [], ("answer to", 7))


def test_a_client_counts_its_requests_over_all_connections():
    """So that the client's name and the number name a request; also after it started again."""
    world = World()
    ids = [world.connect(node).send(Request()).correlation_id for node in (world.c1, world.c2)]
    ids += [world.connect().send(Request()).correlation_id]
    world.processes.kill(world.c1)
    again = world.loop.add_node("c1")
    world.inboxes[again] = world.inboxes[world.c1]
    assert [*ids, world.connect(again).send(Request()).correlation_id] == [0, 0, 1, 2]


def test_a_process_waits_for_what_arrives():
    """It goes on when there is something; it does not wait when there is something already."""
    world = World(latency_ms=3)
    inbox = world.inboxes[world.c1]

    def run():
        connection = world.connect()
        connection.send(Request())
        seen = [(inbox.wait(5), world.loop.now_ms), (inbox.wait(100), world.loop.now_ms)]
        inbox.take()
        connection.send(Request())
        return [*seen, (inbox.wait(100), world.loop.now_ms)]

    assert world.spawn(run).join() == [(False, 5), (True, 6), (True, 12)]
    inbox.take()
    assert (inbox.wait(8), world.loop.now_ms) == (False, 20)


def test_an_inbox_may_hand_on_what_arrives():
    """Each response at once and in order, so that none waits; a close is still told."""
    world = World(latency_ms=3)
    inbox = Inbox(world.processes, deliver=lambda each: world.note(each.response))
    world.inboxes[world.c1] = inbox
    connection = world.connect()
    for value in (7, 8):
        connection.send(Request(value=value))
    world.loop.run_until(10)
    assert world.log[-4:] == [
        *[(6, "response c1 0"), (6, ("answer to", 7))],
        *[(6, "response c1 1"), (6, ("answer to", 8))],
    ]
    assert inbox.take() == []
    world.processes.kill(world.broker)
    world.loop.run_until(20)
    assert world.log[-1] == (13, "c1 told")


@pytest.mark.parametrize("seed", range(20))
def test_each_direction_of_a_connection_keeps_its_order(seed):
    """However long each message takes; others may overtake."""
    world = World(seed=seed, latency_ms=(1, 50))
    connections = [world.connect(), world.connect(world.c2)]
    for number in range(40):
        world.loop.call_at(
            number, lambda number=number: connections[number % 2].send(Request(value=number))
        )
    world.loop.run_until(1000)
    arrived = [exchange.request.value for exchange in world.inboxes[world.c1].take()]
    assert arrived == list(range(0, 40, 2))
    assert world.handled != sorted(world.handled)
    assert [each for each in world.handled if each % 2] == list(range(1, 40, 2))


def test_the_latency_is_drawn_from_the_range():
    """Both ends included, by the Random that was handed in."""
    world = World(latency_ms=(2, 4))
    for number in range(100):
        connection = world.connect()
        world.loop.call_at(10 * number, lambda connection=connection: connection.send(Request()))
    world.loop.run_until(2000)
    times_ms = [time_ms for time_ms, what in world.log if what.startswith(("send", "receive"))]
    assert {late - early for early, late in pairwise(times_ms)} >= {2, 3, 4}
    assert {time_ms % 10 for time_ms in times_ms} == {0, 2, 3, 4}


@pytest.mark.parametrize("network", [{"latency_ms": (1, 50)}, {"loss": 0.5}])
def test_chance_depends_on_the_seed_alone(network):
    """Equal seeds, equal journals; another seed, another one."""
    logs = []
    for seed in (1, 1, 2):
        world = World(seed=seed, **network)
        for _ in range(20):
            world.connect().send(Request())
        world.loop.run_until(1000)
        logs.append(world.log)
    assert logs[0] == logs[1] != logs[2]


def test_a_lost_message_ends_its_connection():
    """What was sent before arrives, nothing that is sent after it; the client is told."""
    world = World(latency_ms=5)
    connection = world.connect()
    connection.send(Request())
    world.loop.run_until(4)
    world.network.cut_off("c1", until_ms=5)
    connection.send(Request())
    world.loop.run_until(6)
    connection.send(Request())
    world.loop.run_until(20)
    assert world.log == [
        *[(0, "send c1 0"), (4, "send c1 1"), (4, "dropped c1 1: cut off")],
        *[(5, "receive c1 0"), (5, "respond c1 0")],
        (5, "dropped c1 0: an earlier message got lost"),
        *[(6, "send c1 2"), (6, "dropped c1 2: an earlier message got lost"), (10, "c1 told")],
    ]
    assert not connection.is_open


def test_loss_is_a_probability():
    """None at 0, all at 1, some between; each loss is written down, and told."""
    lost = {}
    for loss in (0.0, 0.2, 1.0):
        world = World(loss=loss)
        for _ in range(100):
            world.connect().send(Request())
        world.loop.run_until(10)
        kinds = [what.split(" ")[0] for _, what in world.log]
        lost[loss] = kinds.count("dropped")
        assert kinds.count("c1") == kinds.count("dropped") == 100 - kinds.count("response")
    assert lost[0.0] == 0 < lost[0.2] < lost[1.0] == 100


def test_two_nodes_are_cut_off_from_each_other():
    """Others pass; both are told when messages pass again, and a new connection works."""
    world = World()
    connections = [world.connect(), world.connect(world.c2)]
    world.network.cut_off("broker-0", "c1", until_ms=50)
    for connection in connections:
        connection.send(Request(value=connection.client.name))
    world.loop.run_until(49)
    assert (world.handled, [each.is_open for each in connections]) == (["c2"], [True, True])
    world.loop.run_until(60)
    assert (world.log[-1], connections[0].is_open) == ((51, "c1 told"), False)
    world.connect().send(Request(value="c1"))
    world.loop.run_until(70)
    assert world.handled == ["c2", "c1"]


@pytest.mark.parametrize("cut", [("c2",), ("c2", "broker-0"), ("c1", "c2")])
def test_a_cut_elsewhere_changes_nothing(cut):
    """Messages between others pass."""
    world = World()
    world.network.cut_off(*cut, until_ms=50)
    world.connect().send(Request())
    world.loop.run_until(10)
    assert world.log[-1] == (2, "response c1 0")


def test_a_node_is_cut_off_from_all():
    """The longest cut counts; a cut cannot end in the past."""
    world = World()
    world.network.cut_off("broker-0", until_ms=20)
    world.network.cut_off("broker-0", until_ms=10)
    for time_ms in (5, 15, 20):
        for node in (world.c1, world.c2):
            request = Request(value=(node.name, time_ms))
            world.loop.call_at(
                time_ms, lambda node=node, request=request: world.connect(node).send(request)
            )
    world.loop.run_until(30)
    assert world.handled == [("c1", 20), ("c2", 20)]
    with pytest.raises(PastTimeError, match="29 ms has passed"):
        world.network.cut_off("broker-0", until_ms=29)


def test_the_crash_of_a_client_loses_what_is_on_its_way():
    """A request from it and a response to it; another client's are not touched."""
    world = World(latency_ms=5)
    world.connect().send(Request())
    world.loop.run_until(4)
    connection = world.connect()
    connection.send(Request())
    world.connect(world.c2).send(Request())
    world.loop.run_until(6)
    world.processes.kill(world.c1)
    connection.send(Request())
    connection.close()
    world.loop.run_until(30)
    assert world.log == [
        *[(0, "send c1 0"), (4, "send c1 1"), (4, "send c2 0")],
        *[(5, "receive c1 0"), (5, "respond c1 0")],
        *[(9, "dropped c1 1: c1 crashed"), (9, "receive c2 0"), (9, "respond c2 0")],
        *[(10, "dropped c1 0: c1 crashed"), (14, "response c2 0")],
    ]


def test_the_crash_of_a_server_is_told():
    """After the latency; what was on its way either way is lost; its parked replies are inert."""
    world, parked = World(latency_ms=5), []
    world.network.serve(world.broker, parked.append)
    connection = world.connect()
    connection.send(Request())
    world.loop.run_until(6)
    connection.send(Request())
    world.processes.kill(world.broker)
    connection.send(Request())
    parked[0].reply("too late")
    world.loop.run_until(30)
    assert world.log == [
        *[(0, "send c1 0"), (5, "receive c1 0"), (6, "send c1 1"), (6, "send c1 2")],
        (6, "dropped c1 2: broker-0 crashed"),
        *[(11, "dropped c1 1: broker-0 crashed"), (11, "c1 told")],
    ]
    assert parked[0].response is None


def test_what_was_sent_before_a_loss_does_not_reach_a_node_that_crashed_since():
    """The connection had ended already when the node crashed."""
    world = World(latency_ms=5)
    connection = world.connect()
    connection.send(Request())
    world.network.cut_off("c1", until_ms=1)
    connection.send(Request())
    world.processes.kill(world.broker)
    world.loop.run_until(30)
    assert (world.handled, connection.is_open) == ([], False)


def test_a_server_that_is_not_there_refuses():
    """Nothing arrives, and the client is told after the latency; also of one that serves nobody."""
    world = World(latency_ms=5)
    world.processes.kill(world.broker)
    world.connect().send(Request())
    world.broker = world.c2
    world.connect().send(Request())
    world.loop.run_until(30)
    assert world.log == [
        *[(0, "send c1 0"), (0, "dropped c1 0: broker-0 is not there")],
        *[(0, "send c1 1"), (0, "dropped c1 1: c2 is not there"), (5, "c1 told"), (5, "c1 told")],
    ]


def test_a_restarted_server_takes_new_connections():
    """An old connection stays dead."""
    world = World()
    old = world.connect()
    world.processes.kill(world.broker)
    world.restart("broker-0")
    new = world.connect()
    old.send(Request(value="old"))
    new.send(Request(value="new"))
    world.loop.run_until(30)
    assert (world.handled, old.is_open, new.is_open) == (["new"], False, True)


def test_closing_is_orderly():
    """What was sent before arrives; its response does not; then the server knows, and is silent."""
    world, parked = World(latency_ms=5), []
    world.network.serve(world.broker, parked.append)
    connection = world.connect()
    connection.send(Request())
    connection.send(Request())
    connection.close()
    connection.close()
    world.loop.run_until(5)
    assert [exchange.correlation_id for exchange in parked] == [0, 1]
    world.loop.run_until(10)
    parked[1].reply("after it knows")
    world.loop.run_until(30)
    assert world.log == [
        (0, "send c1 0"),
        (0, "send c1 1"),
        (5, "receive c1 0"),
        (5, "receive c1 1"),
    ]
    with pytest.raises(IllegalStateError, match="the connection of c1 to broker-0 is closed"):
        connection.send(Request())


def test_who_closed_is_not_told():
    """Not even when the server crashes afterwards."""
    world = World(latency_ms=5)
    world.connect().close()
    world.processes.kill(world.broker)
    world.loop.run_until(30)
    assert world.log == []


def test_a_process_that_waits_sees_a_connection_end():
    """It goes on, with nothing in the inbox."""
    world = World(latency_ms=5)
    connection = world.connect()
    world.spawn(lambda: world.note((world.inboxes[world.c1].wait(100), connection.is_open)))
    world.loop.call_at(10, lambda: world.processes.kill(world.broker))
    world.loop.run_until(200)
    assert world.log == [(15, "c1 told"), (15, (False, False))]


def test_a_response_to_a_client_that_closed_is_dropped():
    """The server answered before it could know."""
    world = World(latency_ms=5)
    connection = world.connect()
    connection.send(Request())
    world.loop.run_until(4)
    connection.close()
    world.loop.run_until(30)
    assert world.log[-1] == (10, "dropped c1 0: connection closed")
    assert world.inboxes[world.c1].take() == []


def test_a_request_has_one_response():
    """A second one is a mistake of the server, and says whose request it was."""
    world = World()
    world.network.serve(world.broker, lambda exchange: (exchange.reply(1), exchange.reply(2)))
    world.connect().send(Request())
    with pytest.raises(IllegalStateError, match="request 0 of c1 to broker-0 was answered before"):
        world.loop.run_until(10)


def test_messages_wait_for_a_frozen_node():
    """In their order; and before its processes, which find them there when they go on."""
    world = World(latency_ms=5)
    connection = world.connect()
    inbox = world.inboxes[world.c1]

    def wait():
        world.note((inbox.wait(4), len(inbox.take())))

    connection.send(Request())
    connection.send(Request())
    world.loop.call_at(20, lambda: connection.send(Request()), node=world.c2)
    world.loop.call_at(8, lambda: world.spawn(wait))
    world.loop.call_at(9, lambda: world.processes.freeze(world.c1, 30))
    world.loop.run_until(100)
    assert world.log[6:] == [
        *[(20, "send c1 2"), (25, "receive c1 2"), (25, "respond c1 2")],
        *[(30, "response c1 0"), (30, "response c1 1"), (30, "response c1 2"), (30, (True, 3))],
    ]


def test_what_waits_for_a_frozen_node_comes_before_what_arrives_then():
    """However early the later message was sent."""
    world = World(latency_ms=22)
    connection = world.connect()
    for time_ms in (0, 8):
        request = Request(value=time_ms)
        world.loop.call_at(time_ms, lambda request=request: connection.send(request))
    world.loop.call_at(20, lambda: world.processes.freeze(world.broker, 30))
    world.loop.run_until(100)
    assert world.handled == [0, 8]


def test_a_frozen_server_handles_nothing():
    """Until it goes on; a crash meanwhile loses what waits."""
    world = World(latency_ms=5)
    world.processes.freeze(world.broker, 30)
    connections = [world.connect(), world.connect(world.c2)]
    for connection in connections:
        connection.send(Request(value=connection.client.name))
    world.loop.call_at(20, lambda: world.processes.kill(world.c1))
    world.loop.run_until(29)
    assert world.handled == []
    world.loop.run_until(100)
    assert world.handled == ["c2"]


@pytest.mark.parametrize(
    ("network", "sentence"),
    [
        ({"latency_ms": -1}, r"latency_ms is -1: a time from 0 up, or a range \(low, high\)"),
        ({"latency_ms": (5, 4)}, r"latency_ms is \(5, 4\)"),
        ({"loss": 1.5}, "loss is 1.5: a probability from 0 to 1 is allowed"),
    ],
)
def test_a_network_that_cannot_be_is_refused(network, sentence):
    """The error names the value and what is allowed."""
    with pytest.raises(ConfigError, match=sentence):
        World(**network)
