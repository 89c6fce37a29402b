"""A simulation: a cluster in virtual time with its clients, and the world outside."""

from collections.abc import Mapping
from functools import cached_property

from kafkalearn.consumer.consumer_records import ConsumerRecord
from kafkalearn.consumer.kafka_consumer import KafkaConsumer
from kafkalearn.engine.node import Node
from kafkalearn.errors import IllegalArgumentError
from kafkalearn.producer.kafka_producer import KafkaProducer
from kafkalearn.protocol.metadata import (
    CreatableTopic,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
)
from kafkalearn.simulation.client_starter import ClientStarter
from kafkalearn.simulation.sink import Sink
from kafkalearn.simulation.world import SCRIPT, World


class Simulation(World):
    """Brokers, clients, a network between them, and the trace of all that happens.

    All arguments name the run (`trace.run_id`), and equal ones give equal traces.
    settings: the fields of SimulationSettings and, for every broker, of BrokerConfig, where their
    defaults stand too; `sim.settings` and `sim.broker_config` have those of this run.
    record: what of Trace's `kinds` and `nodes` to record; everything if it is not given.

    It stands still until somebody waits: a poll, `request`, `sleep` or `run_until`.

    Errors: ConfigError for a setting, profile or record, InvalidFaultError for a fault.
    """

    @cached_property
    def _clients(self) -> ClientStarter:
        return ClientStarter(self)

    @cached_property
    def _sinks(self) -> dict[str, Sink]:
        return {}

    def consumer(
        self,
        name: str | None = None,
        *,
        properties: Mapping[str, str] | None = None,
        **config: object,
    ) -> KafkaConsumer:
        """Make a consumer on the node `name`; by default on that of the process that calls.

        config: see ConsumerConfig; properties: the same as Java properties, whose values are text.
        A node that crashed is restarted. ConfigError for a setting that Kafka refuses.
        """
        return KafkaConsumer(self._clients.context(self._mine(name)), config, properties=properties)

    def producer(
        self,
        name: str | None = None,
        *,
        properties: Mapping[str, str] | None = None,
        **config: object,
    ) -> KafkaProducer:
        """Make a producer, as `consumer` makes a consumer; config: see ProducerConfig."""
        return KafkaProducer(self._clients.context(self._mine(name)), config, properties=properties)

    def sink(self, name: str) -> Sink:
        """Give the part of the world outside that is called so, as in ``orders-db``."""
        if name not in self._sinks:
            self._sinks[name] = Sink(name, self._record_processed)
            if self.trace.records("processed"):
                self.trace.sinks += (name,)
        return self._sinks[name]

    def create_topic(
        self, name: str, partitions: int = 1, *, configs: Mapping[str, int | str] | None = None
    ) -> None:
        """Make a topic, and wait until it is there; ApiError if a broker refuses.

        configs: ``retention.ms`` and ``retention.bytes``.
        """
        topic = CreatableTopic(partitions, configs or {})
        self._clients.administer(CreateTopicsRequest(topics={name: topic}))

    def create_partitions(self, name: str, partitions: int) -> None:
        """Let a topic have so many partitions, more than now; ApiError if a broker refuses."""
        self._clients.administer(CreatePartitionsRequest(topics={name: partitions}))

    def delete_topic(self, name: str) -> None:
        """Throw a topic away with its records and offsets; ApiError if a broker refuses.

        Up to 0.11 it stays unless delete_topic_enable is True: KafkaTimeoutError, a minute later.
        """
        self._clients.administer(DeleteTopicsRequest(topic_names=(name,)))

    def _mine(self, name: str | None) -> Node:
        """Find the node that is meant where a client may be named."""
        process = self.processes.current()
        if name is None and process is not None:
            return process.node
        if name in self.broker_names:
            raise IllegalArgumentError(f"{name} is a broker: give the client a machine of its own")
        return self.node(SCRIPT if name is None else name)

    def _record_processed(self, record: ConsumerRecord, sink: str) -> None:
        process = self.processes.current()
        self.trace.record(
            "processed",
            self.now_ms,
            SCRIPT if process is None else process.node.name,
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            detail={"sink": sink},
        )
