"""A cluster in virtual time, to be asked and broken: engine, brokers and trace put together."""

import json
import random
from collections.abc import Callable, Iterable

from kafkalearn.broker.cluster import Cluster
from kafkalearn.config import underscored
from kafkalearn.engine.connection import Connection
from kafkalearn.engine.event_loop import EventLoop
from kafkalearn.engine.fault_injector import FaultInjector
from kafkalearn.engine.faults import Crash, Fault, Freeze, Restart, to_text
from kafkalearn.engine.network import Network
from kafkalearn.engine.node import Node
from kafkalearn.engine.process import Process, Processes
from kafkalearn.errors import Errors, IllegalArgumentError, IllegalStateError
from kafkalearn.profile import KafkaProfile, profile_of
from kafkalearn.protocol.message import Request, Response
from kafkalearn.records import GROUP_METADATA_TOPIC_NAME, TopicPartition
from kafkalearn.simulation.broker_starter import BrokerStarter
from kafkalearn.simulation.fault_plan import as_plan, check_plan, record_fault
from kafkalearn.simulation.message_check import check_request
from kafkalearn.simulation.message_journal import MessageJournal
from kafkalearn.simulation.requester import PendingRequest, Requester, check_ms
from kafkalearn.simulation.settings import recorded, settings_of
from kafkalearn.trace import Trace

SCRIPT = "client"  # who asks, where the caller is no process and names nobody


class World:
    """Brokers, the network, whoever sends requests by hand, and the trace; see Simulation."""

    def __init__(
        self,
        *,
        name: str = "requests",
        seed: int = 0,
        profile: str | KafkaProfile = "1.0",
        faults: Iterable[Fault] = (),
        record: dict[str, Iterable[str]] | None = None,
        **settings: object,
    ) -> None:
        self.profile = profile_of(profile)
        self.settings, self.broker_config = settings_of(self.profile, settings)
        self.seed = seed
        self.faults = as_plan(faults)
        self.loop = EventLoop(
            max_time_ms=self.settings.max_time_ms, max_events=self.settings.max_events
        )
        self.processes = Processes(self.loop)
        wanted = recorded(record or {})
        self.trace = Trace(self._run_id(name, settings, wanted), **wanted)
        low_ms = self.settings.latency_ms
        self.network = Network(
            self.processes,
            MessageJournal(self.trace),
            random=self.random_for("network"),
            latency_ms=(low_ms, low_ms + self.settings.latency_jitter_ms),
            loss=self.settings.loss_per_million / 1_000_000,
        )
        self.broker_names = [f"broker-{number}" for number in range(self.settings.brokers)]
        self.cluster = Cluster(self.broker_names, config=self.broker_config)
        self._brokers = BrokerStarter(self)
        self.processes.on_kill.append(self._brokers.on_crash)
        for each in self.broker_names:
            self._brokers.start(each)
        self._requesters: dict[Node, Requester] = {}
        self.processes.on_kill.append(self._end_requests)
        check_plan(self.faults, self.broker_names)
        FaultInjector(
            self.faults,
            self.network,
            record=self._record_fault,
            on_restart=self._restart_node,
            error_response=lambda request, error: request.get_error_response(Errors.of(error)),
        )

    def __repr__(self) -> str:
        """Name the run, and say how far it came."""
        return f"<{type(self).__name__} {self.trace.run_id} at {self.now_ms:,} ms>"

    def random_for(self, purpose: str) -> random.Random:
        """Give chance for one purpose, so that one more draw here shifts nothing elsewhere."""
        return random.Random(f"{self.seed}/{purpose}")

    # Time.

    @property
    def now_ms(self) -> int:
        """The virtual time, from 0 at the start."""
        return self.loop.now_ms

    def run_until(self, time_ms: int) -> None:
        """Let everything happen that is due by then."""
        check_ms(time_ms)
        self.loop.run_until(time_ms)

    def sleep(self, ms: int) -> None:
        """Let time pass: for the process that calls, or for the caller that drives."""
        check_ms(ms)
        self.processes.sleep(ms)

    # Asking.

    def node(self, name: str) -> Node:
        """Find a node; a client that is not there yet is started, and restarted if it crashed."""
        if not isinstance(name, str) or not name.strip():
            raise IllegalArgumentError(f"a node is called {name!r}: a name is allowed, as in 'c1'")
        node = self.loop.nodes.get(name)
        if node is None:
            return self.loop.add_node(name)
        if not node.alive and name not in self.broker_names:
            self._record_fault(self.now_ms, Restart(name, self.now_ms))
            return self.loop.add_node(name)
        return node

    def request(
        self,
        node: str,
        message: Request,
        *,
        client: str | None = None,
        timeout_ms: int | None = None,
    ) -> Response:
        """Send a request to a broker and wait, in virtual time, for the answer.

        client: whose request it is; by default that of the process that calls. One that crashed is
        restarted by it. A JoinGroup without a client id gets this name, as Kafka's headers have it.
        DisconnectError if the connection or the broker dies first, IllegalStateError if the client
        does; RequestTimeoutError after `timeout_ms`; InvalidRequestError for a request that no
        client could send.
        """
        return self.send(node, message, client=client).wait(timeout_ms)

    def send(self, node: str, message: Request, *, client: str | None = None) -> PendingRequest:
        """Send a request to a broker, as `request` does, and go on; `wait` on what it gives."""
        self._check_broker(node)
        if not isinstance(message, Request):
            raise IllegalArgumentError(f"{message!r} is no request: see kafkalearn.protocol")
        check_request(message)
        process = self.processes.current()
        if client is None and process is not None:
            sender = process.node
        else:
            sender = self.node(client or SCRIPT)
        if sender not in self._requesters:
            self._requesters[sender] = Requester(
                self.processes, self.network, node=sender, on_close=self.record_disconnect
            )
        return self._requesters[sender].send(self.loop.nodes[node], message)

    def spawn(self, function: Callable[[], object], *, node: str, name: str = "script") -> Process:
        """Run a function as a process of a client node; its waiting takes virtual time only.

        A client that crashed is restarted by it, as a new node.
        """
        return self.processes.spawn(function, node=self.node(node), name=name)

    def coordinator_of(self, group_id: str) -> str:
        """Say which broker coordinates a group now; IllegalStateError if none does."""
        number = self._brokers.store.partition_for(group_id)
        partition = self.cluster.find(TopicPartition(GROUP_METADATA_TOPIC_NAME, number))
        if partition is None or partition.leader is None:
            raise IllegalStateError(f"group {group_id} has no coordinator: no broker is up")
        return partition.leader

    # Faults by hand.

    def crash(self, node: str) -> None:
        """Let a node stop as at a loss of power; IllegalStateError if it is down.

        A broker comes back by `restart`, a client by its next `spawn` or `request`; the trace tells
        either as a restart.
        """
        existing = self._alive(node)
        self._record_fault(self.now_ms, Crash(node, self.now_ms))
        self.processes.kill(existing)

    def restart(self, node: str) -> None:
        """Start a broker again that crashed; see `crash` for clients."""
        self._check_broker(node)
        if self.loop.nodes[node].alive:
            raise IllegalStateError(f"{node} is up: only one that crashed can be started again")
        self._record_fault(self.now_ms, Restart(node, self.now_ms))
        self._brokers.start(node)

    def freeze(self, node: str, for_ms: int) -> None:
        """Let a node stand still for a while; IllegalStateError if it is down."""
        existing = self._alive(node)
        check_ms(for_ms)
        self._record_fault(self.now_ms, Freeze(node, self.now_ms, for_ms))
        self.processes.freeze(existing, self.now_ms + for_ms)

    def dispose(self) -> None:
        """End the run; see Processes.dispose."""
        self.processes.dispose()

    def _check_broker(self, name: str) -> None:
        if name not in self.broker_names:
            brokers = ", ".join(self.broker_names)
            raise IllegalArgumentError(f"{name!r} is no broker: {brokers} are")

    def _alive(self, name: str) -> Node:
        if name not in self.loop.nodes:
            raise IllegalArgumentError(f"there is no {name}: {', '.join(self.loop.nodes)} are")
        if not self.loop.nodes[name].alive:
            raise IllegalStateError(f"{name} is down already")
        return self.loop.nodes[name]

    def _end_requests(self, node: Node) -> None:
        if node in self._requesters:
            self._requesters.pop(node).crash()

    def record_disconnect(self, connection: Connection) -> None:
        """Write down that a client lost a connection; clients call this."""
        self.trace.record(
            "disconnected",
            self.now_ms,
            connection.client.name,
            peer=connection.server.name,
            detail={"reason": connection.ended} if connection.ended else None,
        )

    def _restart_node(self, name: str) -> None:
        if name in self.broker_names:
            self._brokers.start(name)
        else:
            self.loop.add_node(name)

    def _record_fault(self, time_ms: int, fault: Fault) -> None:
        record_fault(self.trace, fault, time_ms=time_ms)

    def _run_id(self, name: str, settings: dict[str, object], wanted: dict[str, list[str]]) -> str:
        parts = [name, f"profile={self.profile}", f"seed={self.seed}"]
        given = sorted(underscored(settings).items())
        parts += [f"{key}={json.dumps(value)}" for key, value in given]
        parts += [f"{key}={json.dumps(names)}" for key, names in sorted(wanted.items())]
        return " ".join(parts) + (f" faults={to_text(self.faults)}" if self.faults else "")
