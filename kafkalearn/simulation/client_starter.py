"""What a client of a simulation is given, and the requests that make and delete topics."""

from functools import partial
from typing import TYPE_CHECKING, Any

from kafkalearn.clients.client_context import ClientContext
from kafkalearn.engine.node import Node
from kafkalearn.errors import Errors, KafkaTimeoutError
from kafkalearn.protocol.message import Request

if TYPE_CHECKING:
    from kafkalearn.simulation.world import World

ADMIN = "admin"  # whose requests make and delete topics


class ClientStarter:
    """Gives each client its surroundings, and chance of its own."""

    def __init__(self, sim: "World") -> None:
        self._sim = sim
        self._count = 0

    def context(self, node: Node) -> ClientContext:
        """Make what a new client on this node needs."""
        sim = self._sim
        self._count += 1
        return ClientContext(
            node=node,
            loop=sim.loop,
            processes=sim.processes,
            network=sim.network,
            profile=sim.profile,
            random=sim.random_for(f"client {self._count}"),
            brokers=tuple(sim.broker_names),
            find_node=lambda broker: sim.loop.nodes[broker],
            record=partial(sim.trace.record, node=node.name),
            on_close=sim.record_disconnect,
        )

    def administer(self, request: Request) -> None:
        """Ask any broker that is up to change topics; its error, if it has one, is raised."""
        sim = self._sim
        up = [name for name in sim.broker_names if sim.loop.nodes[name].alive]
        if not up:
            raise KafkaTimeoutError(f"{request.api} reaches nobody: no broker is up")
        answer: Any = sim.request(up[0], request, client=ADMIN)
        for name, result in answer.results.items():
            if result.error_code is not Errors.NONE:
                reason = result.error_message or result.error_code.name
                raise result.error_code.exception(f"{request.api} of {name}: {reason}")
