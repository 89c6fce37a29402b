"""What a client is given by the simulation that it lives in."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from kafkalearn.engine.connection import Connection
from kafkalearn.engine.event_loop import EventLoop
from kafkalearn.engine.network import Network
from kafkalearn.engine.node import Node
from kafkalearn.engine.process import Processes
from kafkalearn.errors import IllegalStateError
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

    def check_usable(self, what: str, *, is_closed: bool) -> None:
        """IllegalStateError if the client, a `what`, is closed, or is there no more."""
        if self.loop.broken:
            raise IllegalStateError(f"{self.loop.broken}: this {what} is gone")
        if is_closed:
            raise IllegalStateError(f"the {what} {self.node.name} has been closed: make a new one")
        if not self.node.alive:
            name = self.node.name
            raise IllegalStateError(f"{name} has crashed: its {what} is gone, make a new one")

    def on_crash(self, callback: Callable[[], object]) -> None:
        """Call back when the machine crashes, for callers that are no processes of it."""
        node = self.node
        self.processes.on_kill.append(lambda killed: killed is node and callback())

    def wait_until_thawed(self) -> None:
        """Let a caller that is no process of this machine wait while the machine stands still."""
        if self.node.frozen_until_ms > self.loop.now_ms:
            self.processes.sleep(self.node.frozen_until_ms - self.loop.now_ms)

    def warn(self, message: str) -> None:
        """Note what Kafka's client would only log."""
        self.record("logged", self.now_ms, detail={"message": message})
