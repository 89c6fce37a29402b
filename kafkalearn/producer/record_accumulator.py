"""Where records wait for the sender: a queue of batches for each partition, in bounded memory.

It never waits and never sends: who appends asks for memory first, the sender asks what is ready.

Source: document 003; org.apache.kafka.clients.producer.internals.RecordAccumulator, BufferPool
(1.0.2; 2.4.0 for delivery.timeout.ms).
Differs from Kafka from 0.11 on: a batch of several records that the broker calls too large fails
here. There it is split into batches of batch.size and sent again at once, which counts as no retry
(Sender.completeBatch, splitAndReenqueue); without compression these are the same batch again
(KAFKA-8350). So it goes on for ever, and from 2.1 on until delivery.timeout.ms after the batch was
begun: then its records fail with TimeoutException.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kafkalearn.clients.exponential_backoff import ExponentialBackoff
from kafkalearn.clients.network_client import NEVER_MS
from kafkalearn.producer.producer_batch import ProducerBatch, Thunk
from kafkalearn.producer.producer_config import ProducerConfig
from kafkalearn.records import Record, TopicPartition

Leaders = Mapping[TopicPartition, str]


class ReadyCheckResult(NamedTuple):
    """ready_nodes: leaders of what can be sent. next_ready_check_delay_ms: when to look again.

    unknown_leader_topics: those with records that nobody leads.
    """

    ready_nodes: list[str]
    next_ready_check_delay_ms: int
    unknown_leader_topics: list[str]


class RecordAccumulator:
    """Batches by partition; the first of a queue is the next to be sent.

    batches: only of partitions where something waits, those that wait longest first.
    incomplete: the batches that are neither acknowledged nor given up, sent or not, oldest first.
    free_memory: what is left of buffer.memory. waiters: how many wait for more of it.
    flushes: how many wait for all of `incomplete`, so that nothing lingers.
    """

    def __init__(
        self, config: ProducerConfig, retry_backoff: ExponentialBackoff | None = None
    ) -> None:
        self.batches: dict[TopicPartition, deque[ProducerBatch]] = {}
        self.incomplete: dict[ProducerBatch, None] = {}
        self.muted: set[TopicPartition] = set()
        self.free_memory = config.buffer_memory
        self.waiters = 0
        self.flushes = 0
        self.closed = False
        self._config = config
        self._retry_backoff = retry_backoff or ExponentialBackoff(config.retry_backoff_ms)
        self._drain_index = 0

    # Appending.

    def has_room_for(self, topic_partition: TopicPartition, size: int) -> bool:
        """Whether a record of so many bytes fits into a batch that is there."""
        batches = self.batches.get(topic_partition)
        return batches is not None and batches[-1].has_room_for(size)

    def is_full(self, topic_partition: TopicPartition) -> bool:
        """Whether the next record needs a new batch, whatever its size."""
        batches = self.batches.get(topic_partition)
        return batches is None or batches[-1].is_full

    def capacity_for(self, size: int) -> int:
        """Say how much memory a new batch takes that begins with such a record."""
        return max(self._config.batch_size, size)

    def append(
        self, topic_partition: TopicPartition, record: Record, *, thunk: Thunk, now_ms: int
    ) -> bool:
        """Add a record; whether that is something to wake the sender for.

        If it needs a new batch there must be memory for it.
        """
        is_ready = self.try_append(topic_partition, record, thunk=thunk, now_ms=now_ms)
        if is_ready is not None:
            return is_ready
        batches = self.batches.setdefault(topic_partition, deque())
        capacity = self.capacity_for(record.size_in_bytes)
        self.free_memory -= capacity
        batch = ProducerBatch(
            topic_partition, limit=self._config.batch_size, capacity=capacity, now_ms=now_ms
        )
        batches.append(batch)
        self.incomplete[batch] = None
        batch.try_append(record, thunk=thunk, now_ms=now_ms)
        return True

    def try_append(
        self, topic_partition: TopicPartition, record: Record, *, thunk: Thunk, now_ms: int
    ) -> bool | None:
        """Add a record to a batch that is there, as append() does; None if none has room for it.

        A batch that has not is closed, wherever the record goes then.
        """
        batches = self.batches.get(topic_partition)
        if batches is None:
            return None
        if not batches[-1].try_append(record, thunk=thunk, now_ms=now_ms):
            batches[-1].close()
            return None
        return len(batches) > 1 or batches[-1].is_full

    # Sending.

    def ready(self, leaders: Leaders, now_ms: int) -> ReadyCheckResult:
        """Find out what can be sent: it is full, waited long enough, or cannot wait any longer."""
        ready_nodes: dict[str, None] = {}
        unknown: dict[str, None] = {}
        delay_ms = NEVER_MS
        at_once = self.waiters > 0 or self.closed or self.flushes > 0
        for topic_partition, batches in self.batches.items():
            leader = leaders.get(topic_partition)
            if leader is None:
                unknown[topic_partition.topic] = None
            elif leader not in ready_nodes and topic_partition not in self.muted:
                batch = batches[0]
                backing_off = self._is_backing_off(batch, now_ms)
                wait_ms = batch.backoff_ms if backing_off else self._config.linger_ms
                left_ms = batch.last_attempt_ms + wait_ms - now_ms
                full = len(batches) > 1 or batch.is_full
                if (full or at_once or left_ms <= 0) and not backing_off:
                    ready_nodes[leader] = None
                else:
                    delay_ms = min(delay_ms, left_ms)
        return ReadyCheckResult(list(ready_nodes), delay_ms, list(unknown))

    def drain(
        self, leaders: Leaders, nodes: Iterable[str], *, now_ms: int
    ) -> dict[str, list[ProducerBatch]]:
        """Take for each node the first batch of each of its partitions, up to a request's size.

        Where it begins moves on, so that a partition at the end of the list gets its turn.
        """
        drained = {}
        for node in nodes:
            parts = [each for each in self.batches if leaders.get(each) == node]
            drained[node] = self._drain_node(parts, now_ms)
        return drained

    def reenqueue(self, batch: ProducerBatch, now_ms: int) -> None:
        """Put a batch back, before those that were sent later and are not back yet.

        Kafka draws by chance how long it backs off each time it looks (3.7); here it is once.
        """
        batch.reenqueued(now_ms, self._retry_backoff.backoff(batch.attempts))
        self.batches.setdefault(batch.topic_partition, deque()).appendleft(batch)

    def has_undrained(self) -> bool:
        """Whether any batch waits to be sent."""
        return bool(self.batches)

    def deallocate(self, batch: ProducerBatch) -> None:
        """Forget a batch that has ended, and get its memory back."""
        del self.incomplete[batch]
        self.free_memory += batch.capacity

    # Giving up.

    def expired_batches(self, now_ms: int) -> list[ProducerBatch]:
        """Take out what has waited for too long.

        With max.in.flight 1, before delivery.timeout.ms, nothing expires behind what is in flight.
        """
        expired = []
        for topic_partition in self._expiring():
            batches = self.batches[topic_partition]
            while batches and self.expires_ms(batches[0]) <= now_ms:
                expired.append(self._take_first(topic_partition))
        return expired

    def next_expiry_ms(self) -> int:
        """Say when the next batch expires; NEVER_MS without one."""
        due = (self.expires_ms(self.batches[each][0]) for each in self._expiring())
        return min(due, default=NEVER_MS)

    def expires_ms(self, batch: ProducerBatch) -> int:
        """Say when a batch is given up.

        By delivery.timeout.ms since it was begun; in a release before that, by request.timeout.ms
        since it could have been sent.
        """
        config = self._config
        if config.delivery_timeout_ms:
            return batch.created_ms + config.delivery_timeout_ms
        if batch.in_retry:
            since_ms = batch.last_attempt_ms + batch.backoff_ms
        else:
            since_ms = batch.created_ms + config.linger_ms
            if batch.is_full or self.batches[batch.topic_partition][-1] is not batch:
                since_ms = min(since_ms, batch.last_append_ms)
        return since_ms + config.request_timeout_ms + 1

    def abort_incomplete_batches(self, error: Exception) -> None:
        """Let all that is not acknowledged fail."""
        for batch in list(self.incomplete):
            batch.close()
            batch.done(-1, error)
            self.deallocate(batch)
        self.batches.clear()

    def _expiring(self) -> list[TopicPartition]:
        if self._config.delivery_timeout_ms:
            return list(self.batches)
        return [each for each in self.batches if each not in self.muted]

    def _take_first(self, topic_partition: TopicPartition) -> ProducerBatch:
        batches = self.batches[topic_partition]
        batch = batches.popleft()
        batch.close()
        if not batches:
            del self.batches[topic_partition]
        return batch

    def _drain_node(self, parts: list[TopicPartition], now_ms: int) -> list[ProducerBatch]:
        taken: list[ProducerBatch] = []
        size = 0
        start = self._drain_index = self._drain_index % len(parts)
        for step in range(len(parts)):
            self._drain_index = (start + step) % len(parts)
            topic_partition = parts[self._drain_index]
            first = self.batches[topic_partition][0]
            if topic_partition in self.muted or self._is_backing_off(first, now_ms):
                continue
            if taken and size + first.size > self._config.max_request_size:
                return taken
            size += first.size
            taken.append(self._take_first(topic_partition))
        self._drain_index = start
        return taken

    def _is_backing_off(self, batch: ProducerBatch, now_ms: int) -> bool:
        return batch.attempts > 0 and now_ms - batch.last_attempt_ms < batch.backoff_ms
