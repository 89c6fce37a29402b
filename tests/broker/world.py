"""A small cluster to ask: brokers with timers that a test moves, and a coordinator that listens."""

import random

from kafkalearn.broker.broker import Broker
from kafkalearn.broker.broker_config import BrokerConfig
from kafkalearn.broker.broker_context import BrokerContext
from kafkalearn.broker.cluster import Cluster
from kafkalearn.config import configure
from kafkalearn.errors import Errors
from kafkalearn.profile import KAFKA_1_0
from kafkalearn.protocol.fetch import FetchPartition, FetchRequest
from kafkalearn.protocol.group import HeartbeatRequest, HeartbeatResponse
from kafkalearn.protocol.metadata import CreatableTopic, CreateTopicsRequest
from kafkalearn.protocol.offsets import OffsetCommitRequest, OffsetCommitResponse
from kafkalearn.protocol.produce import ProduceRequest
from kafkalearn.records import Record, TopicPartition


class FakeTimer:
    """See Timer."""

    def __init__(self, timers, time_ms, callback):
        self.timers, self.callback = timers, callback
        self.restart(time_ms)

    def cancel(self):
        """See Timer."""
        if self in self.timers.waiting:
            self.timers.waiting.remove(self)

    def restart(self, time_ms):
        """See Timer."""
        self.cancel()
        self.deadline_ms = time_ms
        self.timers.waiting.append(self)


class FakeTimers:
    """See Timers; `run_until` lets time go by."""

    def __init__(self):
        self.waiting = []

    def call_at(self, time_ms, callback):
        """See Timers."""
        return FakeTimer(self, time_ms, callback)

    def run_until(self, limit_ms):
        """Call what is due, in order."""
        while due := [timer for timer in self.waiting if timer.deadline_ms <= limit_ms]:
            timer = min(due, key=lambda each: each.deadline_ms)
            timer.cancel()
            timer.callback(timer.deadline_ms)


class ListeningCoordinator:
    """Stands in for GroupCoordinator: notes what it is told, and takes every commit."""

    def __init__(self, node, told):
        self.node, self.told = node, told
        self.handlers = dict.fromkeys((HeartbeatRequest, OffsetCommitRequest), self.handle)

    def partition_for(self, group_id):
        """Let the name's length decide."""
        return len(group_id) % 4

    def handle(self, request, now_ms, reply):
        """Note the request, and answer."""
        self.told.append((self.node, request, now_ms))
        if isinstance(request, OffsetCommitRequest):
            reply(OffsetCommitResponse(partitions=dict.fromkeys(request.offsets, Errors.NONE)))
        else:
            reply(HeartbeatResponse())

    def startup(self, now_ms):
        """Note it."""
        self.told.append((self.node, "startup", now_ms))

    def handle_group_immigration(self, partition, now_ms):
        """Note it."""
        self.told.append((self.node, f"immigration {partition}", now_ms))

    def handle_group_emigration(self, partition, now_ms):
        """Note it."""
        self.told.append((self.node, f"emigration {partition}", now_ms))

    def handle_deleted_partitions(self, partitions, now_ms):
        """Note it."""
        self.told.append((self.node, f"deleted {' '.join(map(str, partitions))}", now_ms))


class World:
    """A cluster of brokers ``b0``, ``b1`` …, all up at 0 ms, with 4 partitions for offsets.

    events: (node, kind, time, columns) of what was recorded. told: what coordinators heard.
    """

    def __init__(self, brokers=1, *, profile=KAFKA_1_0, **settings):
        given = {"offsets_topic_num_partitions": 4, **settings}
        self.profile = profile
        self.config = configure(BrokerConfig, profile.version, given=given)
        self.cluster = Cluster([f"b{index}" for index in range(brokers)], config=self.config)
        self.timers, self.events, self.told = FakeTimers(), [], []
        self.brokers = {}
        for node in self.cluster.nodes:
            self.start(node, 0)
        self.events.clear()

    def start(self, node, now_ms):
        """Start a broker, as after a crash."""

        def record(kind, time_ms, **columns):
            self.events.append((node, kind, time_ms, columns))

        context = BrokerContext(
            node=node,
            config=self.config,
            profile=self.profile,
            timers=self.timers,
            record=record,
            random=random.Random(0),
        )
        coordinator = ListeningCoordinator(node, self.told)
        self.brokers[node] = Broker(context, cluster=self.cluster, coordinator=coordinator)
        self.brokers[node].startup(now_ms)

    def crash(self, node, now_ms):
        """Throw a broker away."""
        del self.brokers[node]
        self.cluster.broker_down(node, now_ms=now_ms)

    def ask(self, request, *, node="b0", now_ms=0):
        """Give the list that answers go to: empty while the request waits."""
        answers = []
        self.brokers[node].handle(request, now_ms, answers.append)
        return answers

    def answer(self, request, *, node="b0", now_ms=0):
        """Give the one answer that comes at once."""
        (answer,) = self.ask(request, node=node, now_ms=now_ms)
        return answer

    def create(self, name, partitions=1, **configs):
        """Make a topic; settings in snake case."""
        topic = CreatableTopic(
            partitions, {key.replace("_", "."): value for key, value in configs.items()}
        )
        response = self.answer(CreateTopicsRequest(topics={name: topic}))
        assert response.results[name].error_code is Errors.NONE

    def partition(self, topic, partition=0):
        """Look at a partition."""
        return self.cluster.topics[topic].partitions[partition]

    def write(self, topic, *values, partition=0, now_ms=0):
        """Produce values to a partition's leader, stamped with the time."""
        batches = {TopicPartition(topic, partition): records(*values, timestamp_ms=now_ms)}
        node = self.partition(topic, partition).leader
        request = ProduceRequest(acks=1, timeout_ms=0, batches=batches)
        (found,) = self.answer(request, node=node, now_ms=now_ms).partitions.values()
        assert found.error_code is Errors.NONE
        return found.base_offset

    def seen(self, *kinds):
        """Give what was recorded of some kinds, as (node, kind, time, columns without None)."""
        return [
            (*rest, kind, time_ms, {k: v for k, v in columns.items() if v is not None})
            for *rest, kind, time_ms, columns in self.events
            if kind in kinds
        ]


def records(*values, timestamp_ms=0):
    """Make records without a key."""
    return tuple(Record(-1, timestamp_ms, None, value) for value in values)


def fetch(*asked, max_wait_ms=500, min_bytes=1, max_bytes=1000):
    """Make a fetch of (topic, partition, offset[, limit]) in this order."""
    partitions = {
        TopicPartition(topic, partition): FetchPartition(offset, *(rest or [1000]))
        for topic, partition, offset, *rest in asked
    }
    return FetchRequest(
        max_wait_ms=max_wait_ms, min_bytes=min_bytes, max_bytes=max_bytes, partitions=partitions
    )


def read(response):
    """Give a fetch's answer as {'topic-partition': error or (values, high watermark, start)}."""
    return {
        str(topic_partition): data.error_code.name
        if data.error_code
        else ([r.value for r in data.records], data.high_watermark, data.log_start_offset)
        for topic_partition, data in response.partitions.items()
    }
