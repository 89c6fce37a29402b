"""What the scenarios have in common: applications, the loop of a consumer, running until."""

from collections.abc import Callable
from typing import Any

from kafkalearn.engine.process import Process
from kafkalearn.errors import CommitFailedError, ConfigError, KafkaError
from kafkalearn.records import TopicPartition
from kafkalearn.simulation import Simulation

TOPIC = "orders"
GROUP = "billing"
COMMIT_MODES = ("auto", "sync", "async", "before")
_CONFIG: dict[str, Any] = {
    "group_id": GROUP,
    "auto_offset_reset": "earliest",
    "session_timeout_ms": 6000,
    "heartbeat_interval_ms": 1000,
}
_CAST = ("p1", "c1", "c2")
_POLL_MS = 500
_LOOK_MS = 10
_PATIENCE_MS = 30_000


class Story:
    """A simulation and the applications on it; whatever a fault breaks, the story goes on.

    consumers: the latest consumer of each node. database: where applications write.
    """

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        for node in _CAST:
            sim.node(node)  # so that a fault may meet it before it has anything to do
        self.database = sim.sink("orders-db")
        self.consumers: dict[str, Any] = {}
        self._applications: dict[str, Process] = {}
        self._leaving: list[str] = []

    # The cluster.

    def topic(self, *, partitions: int, records: int = 0, name: str = TOPIC) -> None:
        """Make a topic, and fill it round robin."""
        self.administer(lambda: self.sim.create_topic(name, partitions))
        if records:
            sent = self.produce(records, partitions=partitions, topic=name)
            self.run_until(lambda: not sent.is_alive)

    def administer(self, step: Callable[[], object]) -> None:
        """Ask the cluster for something; that it cannot or will not is logged."""
        try:
            step()
        except KafkaError as error:
            self._log("admin", f"it cannot be done: {error}")

    def produce(self, count: int, *, partitions: int = 1, topic: str = TOPIC) -> Process:
        """Start a producer on p1 that sends so many records, round robin."""

        def run() -> None:
            producer = self.sim.producer()
            for number in range(count):
                producer.send(topic, value=f"{topic} {number}", partition=number % partitions)
            producer.close()

        return self.sim.spawn(run, node="p1", name="producer")

    # Applications.

    def start(self, node: str, loop: Callable[[Any], object], **config: Any) -> None:
        """Start an application: `loop` gets a consumer, which is closed when it ends.

        A KafkaError ends it, and is logged, as is a refused commit by those that go on.
        """

        def run() -> None:
            consumer = self.sim.consumer(**_CONFIG | config)
            self.consumers[node] = consumer
            try:
                with consumer:
                    loop(consumer)
            except KafkaError as error:
                self._log(node, f"the application ends: {error}")

        self.consumers.pop(node, None)
        self._applications[node] = self.sim.spawn(run, node=node, name="application")

    def consume(
        self,
        node: str,
        *,
        subscribe: Callable[[Any], object] = lambda consumer: consumer.subscribe([TOPIC]),
        work: Callable[[Any], object] | None = None,
        commit_mode: str = "sync",
        **config: Any,
    ) -> None:
        """Start an application that reads, works and commits until it is told to leave.

        commit_mode: ``auto`` as poll does it; ``sync`` or ``async`` after the work on what a poll
        gave; ``before`` that work. work: what to do with a record; by default it is written to the
        database.
        """
        if commit_mode not in COMMIT_MODES:
            allowed = ", ".join(COMMIT_MODES)
            raise ConfigError(f"commit_mode is {commit_mode!r}: one of {allowed} is allowed")

        def loop(consumer: Any) -> None:
            subscribe(consumer)
            while node not in self._leaving:
                records = consumer.poll(_POLL_MS)
                if records and commit_mode == "before":
                    self.commit(consumer)
                for record in records:
                    (work or self.database.write)(record)
                if records and commit_mode == "sync":
                    self.commit(consumer)
                if records and commit_mode == "async":
                    consumer.commit_async()

        self.start(node, loop, enable_auto_commit=commit_mode == "auto", **config)

    def commit(self, consumer: Any) -> None:
        """Commit and wait; go on if this is no active member any more."""
        try:
            consumer.commit_sync()
        except CommitFailedError as error:
            self._log(consumer.context.node.name, str(error))

    def leave(self, node: str) -> None:
        """Let an application end after its poll, and close its consumer."""
        self._leaving.append(node)
        self.run_until(lambda: not self.is_up(node))
        self._leaving.remove(node)

    def crash(self, node: str) -> None:
        """Let a node crash, if it has not yet."""
        if self.is_up(node):
            self.sim.crash(node)

    def is_up(self, node: str) -> bool:
        """Whether the application on a node has neither ended nor crashed."""
        return self._applications[node].is_alive

    def has_read(self, node: str, offset: int) -> bool:
        """Whether polls on a node have returned all before this offset of the topic's first log."""
        first = TopicPartition(TOPIC, 0)
        assigned = self.consumers[node].subscriptions.assignment if node in self.consumers else {}
        return first in assigned and assigned[first].position == offset

    def has_committed(self, node: str, offset: int) -> bool:
        """Whether a client knows that this offset of the topic's first log is committed."""
        first = TopicPartition(TOPIC, 0)
        if node not in self.consumers or not self.is_up(node):
            return False
        assigned = self.consumers[node].subscriptions.assignment
        committed = assigned[first].committed if first in assigned else None
        return committed is not None and committed.offset == offset

    # Time.

    def run_until(self, reached: Callable[[], bool], *, patience_ms: int = _PATIENCE_MS) -> None:
        """Let time pass until something is so, or patience ends: a fault may be in its way."""
        end_ms = self.sim.now_ms + patience_ms
        while not reached() and self.sim.now_ms < end_ms:
            self.sim.sleep(_LOOK_MS)

    def run_until_shared(self, *nodes: str, partitions: int, after_ms: int = 0) -> None:
        """Let time pass until these are stable members that have so many partitions together.

        after_ms: how long it must take at least.
        """

        def is_shared() -> bool:
            consumers = [self.consumers[node] for node in nodes if node in self.consumers]
            stable = [
                each
                for each in consumers
                if each.coordinator.state.name == "STABLE" and not each.coordinator.need_rejoin()
            ]
            assigned = [each.subscriptions.assigned_partitions() for each in stable]
            return len(stable) == len(nodes) and sum(map(len, assigned)) == partitions

        self.run_until(is_shared, patience_ms=_PATIENCE_MS + after_ms)

    def run_until_processed(self, count: int) -> None:
        """Let time pass until so many effects are in the database, and a little more."""
        self.run_until(lambda: len(self.database) >= count)
        self.sim.sleep(_LOOK_MS)

    def _log(self, node: str, message: str) -> None:
        self.sim.trace.record("logged", self.sim.now_ms, node, detail={"message": message})
