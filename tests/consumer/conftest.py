"""A small cluster with topic ``t``, and what most tests of a consumer do with it."""

import pytest

from kafkalearn.protocol.offsets import OffsetFetchRequest
from kafkalearn.records import TopicPartition
from kafkalearn.simulation import Simulation

T0 = TopicPartition("t", 0)


class Cluster:
    """A simulation, its topic, and consumers of group ``g`` that commit by hand.

    `ask` is the truth about committed offsets: it comes from the broker, without any consumer.
    """

    def __init__(self, profile="1.0", *, partitions=1, **settings):
        self.sim = Simulation(profile=profile, **settings)
        self.sim.create_topic("t", partitions)
        self._producer = self.sim.producer("p1")

    def send(self, *values, topic="t", partition=0, **fields):
        """Let the producer send texts to one partition, and wait until they are there."""
        for value in values:
            self._producer.send(topic, partition=partition, value=value, **fields)
        self._producer.flush()

    def consumer(self, name="c1", **config):
        """Make a consumer; `config` goes over what the class says."""
        defaults = {"group_id": "g", "auto_offset_reset": "earliest", "enable_auto_commit": False}
        return self.sim.consumer(name, **(defaults | config))

    def member(self, name="c1", *, listener=None, **config):
        """Make a consumer that subscribes to ``t`` and is alone in its group by now."""
        consumer = self.consumer(name, **config)
        consumer.subscribe(["t"], listener=listener)
        consumer.poll_once(0)
        return consumer

    def poller(self, name, *, every_ms=100, **config):
        """Let a member poll on its own node from now on; gives the list that its records go to."""
        returned = []

        def run():
            consumer = self.consumer(name, **config)
            consumer.subscribe(["t"])
            while True:
                returned.extend(consumer.poll(every_ms))

        self.sim.spawn(run, node=name)
        return returned

    def lose_all_brokers(self, for_ms):
        """Let all brokers crash now, and come back together."""
        sim = self.sim
        for name in sim.broker_names:
            sim.crash(name)

        def come_back():
            sim.sleep(for_ms)
            for name in sim.broker_names:
                sim.restart(name)

        sim.spawn(come_back, node="operator")

    def read(self, consumer, count):
        """Poll until `count` records came, at most ten times; give their values."""
        values = []
        for _ in range(10):
            values += [record.value for record in consumer.poll(1_000)]
            if len(values) >= count:
                break
        return values

    def ask(self, partition=T0, group_id="g"):
        """Ask the coordinator what is committed; None if nothing is."""
        request = OffsetFetchRequest(group_id=group_id, partitions=(partition,))
        coordinator = self.sim.coordinator_of(group_id)
        response = self.sim.request(coordinator, request, client="asker")
        offset = response.partitions[partition].offset
        return None if offset < 0 else offset

    def await_state(self, state):
        """Let time pass until the group is in a state, which 1.0 calls so."""
        wanted = self.sim.profile.state_name(state)
        for _ in range(1_000):
            events = self.sim.trace.where(kind="group_state")
            if events and events[-1].detail["to"] == wanted:
                return
            self.sim.sleep(100)
        raise AssertionError(f"the group was not {wanted} within 100 s")

    def commits(self, node="c1"):
        """Give how each commit of a client ended: (time, offset, mode, error)."""
        return [
            (event.time_ms, event.offset, event.detail["mode"], event.error)
            for event in self.sim.trace.where(kind="commit", node=node)
        ]

    def sent(self, api, node="c1"):
        """Give when a client sent requests of an api."""
        return [each.time_ms for each in self.sim.trace.where(kind="send", node=node, api=api)]

    def logged(self, node="c1"):
        """Give what a client would have logged."""
        events = self.sim.trace.where(kind="logged", node=node)
        return [event.detail["message"] for event in events]


@pytest.fixture
def cluster():
    """Make clusters by ``cluster(profile, partitions=..., **settings)``; they end with the test."""
    made = []

    def make(*args, **settings):
        made.append(Cluster(*args, **settings))
        return made[-1]

    yield make
    for each in made:
        each.sim.dispose()
