"""What a client is given by the simulation that it lives in."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from kafkalearn.engine.connection import Connection
from kafkalearn.engine.event_loop import EventLoop
from kafkalearn.engine.network import Network
from kafkalearn.engine.node import Node
from kafkalearn.engine.process import Processes
from kafkalearn.profile import KafkaProfile


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientContext:
    """The machine of a client, and the world around it.

    brokers: the names of all brokers, which stand for bootstrap.servers.
    find_node: a broker's machine as it is now, by name.
    record: writes an event of this client: (kind, time_ms, **columns).
    on_close: told of each connection that ended.
    """

    node: Node
    loop: EventLoop
    processes: Processes
    network: Network
    profile: KafkaProfile
    random: Random
    brokers: tuple[str, ...]
    find_node: Callable[[str], Node]
    record: Callable[..., object]
    on_close: Callable[[Connection], object]

    @property
    def now_ms(self) -> int:
        """The virtual time."""
        return self.loop.now_ms

    def warn(self, message: str) -> None:
        """Note what Kafka's client would only log."""
        self.record("logged", self.now_ms, detail={"message": message})
