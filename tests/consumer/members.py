"""Groups of consumers that poll, and what the trace tells about them."""

from kafkalearn.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafkalearn.engine.faults import AnswerWithError
from kafkalearn.records import TopicPartition
from kafkalearn.simulation.simulation import Simulation


def loading(api, times=3):
    """Let a coordinator answer so often that it is still reading its groups."""
    error = "COORDINATOR_LOAD_IN_PROGRESS"
    return [AnswerWithError(api, error, nth=nth + 1) for nth in range(times)]


def names(partitions):
    """Write partitions as Kafka's logs do, in order."""
    return " ".join(map(str, sorted(partitions)))


class Told(ConsumerRebalanceListener):
    """Remembers what it is told."""

    def __init__(self):
        self.calls = []

    def on_partitions_revoked(self, partitions):
        self.calls.append(f"revoked {names(partitions)}".strip())

    def on_partitions_assigned(self, partitions):
        self.calls.append(f"assigned {names(partitions)}".strip())

    def on_partitions_lost(self, partitions):
        self.calls.append(f"lost {names(partitions)}".strip())


class Member:
    """An application on the node `name`: subscribes, then polls for ever.

    busy_ms: how long it works after each poll. errors: what its calls raised; it goes on, unless
    ends_with_error.
    """

    def __init__(
        self, sim, name, *, topics=("orders",), pattern=None, poll=100, busy_ms=0, **config
    ):
        self.sim, self.name, self.poll_timeout = sim, name, poll
        self.told, self.records, self.errors = Told(), [], []
        self.busy_ms, self.todo = busy_ms, []
        self.ended = self.ends_with_error = False
        given = {"group_id": "g", "auto_offset_reset": "earliest", "enable_auto_commit": False}
        self.consumer = sim.consumer(name, **(given | config))
        self.consumer.subscribe(None if pattern else topics, pattern=pattern, listener=self.told)
        sim.spawn(self._run, node=name)

    def _run(self):
        while not self.ended:
            try:
                self.records += self.consumer.poll(self.poll_timeout)
                while self.todo:
                    self.todo.pop(0)(self.consumer)
                self.sim.sleep(self.busy_ms)
            except Exception as error:
                self.errors.append(error)
                self.ended = self.ended or self.ends_with_error
                self.sim.sleep(1)

    def do(self, action):
        """Let its own process do something after the poll that runs."""
        self.todo.append(action)

    def close(self):
        """Let it end in order."""

        def close(consumer):
            self.ended = True
            consumer.close()

        self.do(close)

    @property
    def owns(self):
        """What it has, as text."""
        return names(self.consumer.subscriptions.assigned_partitions())

    @property
    def generation(self):
        """The generation that it believes in."""
        return self.consumer.coordinator.generation.generation_id

    @property
    def member_id(self):
        """The id that it has now."""
        return self.consumer.coordinator.generation.member_id


def cluster(profile="1.0", *, partitions=2, topic="orders", **settings):
    """Make a cluster with one topic, whose groups start without a delay."""
    settings = {"group_initial_rebalance_delay_ms": 0} | settings
    sim = Simulation(seed=1, profile=profile, **settings)
    sim.create_topic(topic, partitions)
    return sim


def group(sim, *members, **config):
    """Start members one after the other, 5,000 ms apart; give them with the group at rest."""
    started = []
    for name in members:
        started.append(Member(sim, name, **config))
        sim.run_until(sim.now_ms + 5000)
    return started


def sent(sim, node, *apis, since_ms=0):
    """Tell when a node sent which of these requests."""
    events = sim.trace.where(kind="send", node=node, api=apis)
    return [(each.time_ms, each.api) for each in events if each.time_ms >= since_ms]


def answers(sim, node, api, *, since_ms=0):
    """Tell the errors in the answers that a node got, in order."""
    events = sim.trace.where(kind="response", node=node, api=api)
    return [each.error for each in events if each.time_ms >= since_ms]


def generations(sim, group_id="g"):
    """Tell when each generation of the group got stable."""
    moves = sim.trace.where(kind="group_state", group_id=group_id)
    return [(each.time_ms, each.generation) for each in moves if each.detail["to"] == "Stable"]


def removed(sim):
    """Tell when which client's member was dropped, and why."""
    gone = sim.trace.where(kind="member_removed")
    return [(each.time_ms, each.member_id[:2], each.detail["reason"]) for each in gone]


def partition(number=0, topic="orders"):
    """Name a partition."""
    return TopicPartition(topic, number)


def produce(sim, count, *, number=0, topic="orders"):
    """Write so many records to a partition, `0` and on."""
    producer = sim.producer("p1")
    for value in range(count):
        producer.send(topic, value=str(value), partition=number)
    producer.flush()
    producer.close()
