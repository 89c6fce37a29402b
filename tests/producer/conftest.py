"""Producers in a simulation of their own."""

import pytest

from kafkalearn.simulation import Simulation


class World:
    """A simulation with topics, and what its producers did."""

    def __init__(self, topics, **settings):
        self.sim = Simulation(name="producer", **settings)
        for name, count in topics.items():
            self.sim.create_topic(name, count)
        self.told = []

    def producer(self, name="p1", **config):
        """Start a producer."""
        return self.sim.producer(name, **config)

    def tell(self, metadata, error):
        """Remember what a callback is told: (partition, offset), or the error's class."""
        self.told.append(metadata[1:3] if error is None else type(error).__name__)

    def log(self, topic, partition=0):
        """List the values in a log."""
        log = self.sim.cluster.topics[topic].partitions[partition].log
        return [record.value for record in log.read(0, max_bytes=10**9)]

    def events(self, kind, api=None, **wanted):
        """List the events of a kind."""
        return [
            event
            for event in self.sim.trace
            if event.kind == kind
            and (api is None or event.api == api)
            and all(getattr(event, key) == value for key, value in wanted.items())
        ]

    def times(self, kind, api, **wanted):
        """Say when such events were."""
        return [event.time_ms for event in self.events(kind, api, **wanted)]


@pytest.fixture
def make():
    """Make worlds, and throw them away."""
    made = []

    def make_world(profile="1.0", *, topics=None, brokers=1, **settings):
        world = World(topics or {"orders": 1}, profile=profile, brokers=brokers, **settings)
        made.append(world)
        return world

    yield make_world
    for world in made:
        world.sim.dispose()
