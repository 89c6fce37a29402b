"""Builds brokers: each start, also after a crash, is a new one on the same cluster."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from kafkalearn.broker.broker import Broker
from kafkalearn.broker.broker_context import BrokerContext
from kafkalearn.broker.cluster import OffsetsTopic
from kafkalearn.broker.group_coordinator import GroupCoordinator
from kafkalearn.broker.interfaces import Timer
from kafkalearn.broker.offset_store import OffsetStore
from kafkalearn.engine.connection import Exchange
from kafkalearn.engine.event_loop import EventLoop
from kafkalearn.engine.node import Node
from kafkalearn.engine.timer import Timer as EngineTimer

if TYPE_CHECKING:
    from kafkalearn.simulation.world import World


class BrokerStarter:
    """Starts the brokers of a simulation, and lets the cluster notice when one is gone.

    It notices after broker_session_timeout_ms; until then the dead one counts as leader. Differs
    from Kafka: one that is only frozen is never missed, however long.
    """

    def __init__(self, sim: "World") -> None:
        self._sim = sim
        self._lives: dict[str, int] = {}
        self.store = OffsetStore(
            OffsetsTopic(sim.cluster), sim.broker_config.offsets_topic_num_partitions
        )

    def start(self, name: str) -> None:
        """Start a broker that is not up."""
        sim = self._sim
        if name in sim.cluster.living_brokers:
            # It is back before anybody noticed that it was gone.
            sim.cluster.broker_down(name, now_ms=sim.now_ms)
        self._lives[name] = life = self._lives.get(name, 0) + 1
        node = sim.loop.add_node(name)
        context = BrokerContext(
            node=name,
            config=sim.broker_config,
            profile=sim.profile,
            timers=_NodeTimers(sim.loop, node),
            record=partial(sim.trace.record, node=name),
            random=sim.random_for(f"{name}/{life}"),
            offsets_load_ms=sim.settings.offsets_load_ms,
        )
        coordinator = GroupCoordinator(context, self.store)
        broker = Broker(context, cluster=sim.cluster, coordinator=coordinator)
        loop = sim.loop

        def handle(exchange: Exchange) -> None:
            try:
                broker.handle(exchange.request, loop.now_ms, exchange.reply)
            except Exception as error:
                asked = f"{exchange.request.api} of {exchange.connection.client.name}"
                error.add_note(f"raised by {name} over {asked} at {loop.now_ms:,} ms")
                raise

        sim.network.serve(node, handle)
        broker.startup(sim.now_ms)

    def on_crash(self, node: Node) -> None:
        """Let the cluster notice in time, unless the broker is back by then."""
        sim = self._sim
        if node.name not in sim.broker_names:
            return
        sim.cluster.broker_lost(node.name)

        def notice() -> None:
            gone = sim.loop.nodes[node.name] is node
            if gone and node.name in sim.cluster.living_brokers:
                sim.cluster.broker_down(node.name, now_ms=sim.now_ms)

        sim.loop.call_at(sim.now_ms + sim.broker_config.broker_session_timeout_ms, notice)


class _NodeTimers:
    """Timers of one life of a broker: the loop drops them when its node dies."""

    def __init__(self, loop: EventLoop, node: Node) -> None:
        self._loop = loop
        self._node = node

    def call_at(self, time_ms: int, callback: Callable[[int], object]) -> Timer:
        loop = self._loop
        timer = EngineTimer(loop, lambda: callback(loop.now_ms), node=self._node)
        timer.restart(time_ms)
        return timer
