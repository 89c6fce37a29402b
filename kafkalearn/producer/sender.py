"""The producer's own process: takes batches from the accumulator and sends them to the leaders.

Source: document 003; org.apache.kafka.clients.producer.internals.Sender (1.0.2; 2.4.0 for
delivery.timeout.ms).
"""

from collections.abc import Callable

from kafkalearn.clients.client_context import ClientContext
from kafkalearn.clients.metadata import Metadata
from kafkalearn.clients.network_client import NEVER_MS, NetworkClient
from kafkalearn.engine.process import Process
from kafkalearn.engine.signals import Signal
from kafkalearn.errors import Errors, IllegalStateError, KafkaError, KafkaTimeoutError
from kafkalearn.producer.producer_batch import ProducerBatch
from kafkalearn.producer.producer_config import ProducerConfig, check_timeout
from kafkalearn.producer.record_accumulator import RecordAccumulator
from kafkalearn.protocol.message import Response
from kafkalearn.protocol.produce import INVALID_OFFSET, ProduceRequest, ProduceResponse

_INVALID_METADATA = (
    Errors.UNKNOWN_TOPIC_OR_PARTITION,
    Errors.LEADER_NOT_AVAILABLE,
    Errors.NOT_LEADER_OR_FOLLOWER,
    Errors.NETWORK_EXCEPTION,
    Errors.KAFKA_STORAGE_ERROR,
)


class Sender:
    """Sends, completes, tries again and gives up.

    progress: fires when a batch has ended, new metadata came, or it is to end, or has ended.
    process: where it runs, and where callbacks are called.
    """

    def __init__(
        self,
        context: ClientContext,
        config: ProducerConfig,
        *,
        metadata: Metadata,
        accumulator: RecordAccumulator,
    ) -> None:
        self.progress = Signal(context.processes, f"the brokers of {context.node.name}")
        self._context = context
        self._config = config
        self._client = NetworkClient(
            context,
            metadata,
            request_timeout_ms=config.request_timeout_ms,
            reconnect_backoff_ms=(config.reconnect_backoff_ms, config.reconnect_backoff_max_ms),
            max_in_flight=config.max_in_flight_requests_per_connection,
        )
        self._metadata = metadata
        self._accumulator = accumulator
        self._acks = -1 if config.acks == "all" else int(config.acks)
        self._guarantee_message_order = config.max_in_flight_requests_per_connection == 1
        self._in_flight: dict[ProducerBatch, None] = {}
        self._running = True
        self._force_close = False
        metadata.add_listener(lambda _: self.progress.fire())
        context.processes.on_kill.append(lambda _: self.progress.fire())
        name = f"kafka-producer-network-thread | {config.client_id or context.node.name}"
        self.process: Process = context.processes.spawn(self.run, node=context.node, name=name)

    def wakeup(self) -> None:
        """Let it look at the accumulator now."""
        self._client.wakeup()

    def initiate_close(self) -> None:
        """Let it end when everything is sent and answered."""
        self._accumulator.closed = True
        self._running = False
        self.wakeup()
        self.progress.fire()

    def force_close(self) -> None:
        """Let it end now; what is not acknowledged fails."""
        self._force_close = True
        self.initiate_close()

    def is_current(self) -> bool:
        """Whether it is its own process that calls, in a callback."""
        return self._context.processes.current() is self.process

    def wait_until(self, until: Callable[[], bool], timeout_ms: int | None = None) -> bool:
        """Wait for what it brings about; False after `timeout_ms`."""
        check_timeout(timeout_ms)
        started_ms = self._context.now_ms
        left_ms = timeout_ms
        while not until():
            if self.is_current():
                raise IllegalStateError(
                    "a callback waits for its own producer, which would be for ever: callbacks run "
                    "in the process that sends, so wait outside of them"
                )
            if not self.process.is_alive:
                raise IllegalStateError(f"{self.process} ended, and nothing more comes of it")
            if timeout_ms is not None:
                left_ms = started_ms + timeout_ms - self._context.now_ms
                if left_ms <= 0:
                    return False
            self.progress.wait(left_ms)
        return True

    def run(self) -> None:
        """Send until it is closed, and then what is left."""
        accumulator, client = self._accumulator, self._client
        while self._running:
            self.run_once()
        while not self._force_close and (
            accumulator.has_undrained() or client.in_flight_request_count()
        ):
            self.run_once()
        if self._force_close:
            name, told = self._context.node.name, self._context.profile.close_fails_sends
            kind = KafkaError if told else IllegalStateError
            accumulator.abort_incomplete_batches(
                kind(f"producer {name} was closed before the record was acknowledged")
            )
        client.close()
        self.progress.fire()

    def run_once(self) -> None:
        """Send what is ready, and wait for answers or for more to be ready."""
        self._client.poll(self._send_producer_data(self._context.now_ms))

    def _send_producer_data(self, now_ms: int) -> int:
        """Send what is ready; for how many ms there is nothing more to do."""
        accumulator, leaders = self._accumulator, self._metadata.leaders
        result = accumulator.ready(leaders, now_ms)
        for topic in result.unknown_leader_topics:
            self._metadata.add(topic)
            self._metadata.request_update()
        nodes, delay_ms = [], result.next_ready_check_delay_ms
        for node in result.ready_nodes:
            if self._client.ready(node):
                nodes.append(node)
            else:  # no delay: it has as many requests in flight as it may, and will answer one
                delay_ms = min(delay_ms, self._client.connection_delay(node) or NEVER_MS)
        drained = accumulator.drain(leaders, nodes, now_ms=now_ms)
        for batch in (batch for batches in drained.values() for batch in batches):
            self._in_flight[batch] = None
            if self._guarantee_message_order:
                accumulator.muted.add(batch.topic_partition)
        expired = self._expired_in_flight(now_ms) + accumulator.expired_batches(now_ms)
        for node, batches in drained.items():
            self._send_produce_request(node, batches)
        self._end_without_answer(drained, expired)
        if nodes or expired:  # there may be more, also from callbacks
            return 0
        return max(0, min(delay_ms, self._next_expiry_ms() - now_ms))

    def _send_produce_request(self, node: str, batches: list[ProducerBatch]) -> None:
        request = ProduceRequest(
            acks=self._acks,
            timeout_ms=self._config.request_timeout_ms,
            batches={batch.topic_partition: tuple(batch.records) for batch in batches},
        )
        if self._acks == 0:
            self._client.send_unanswered(node, request)
            return
        self._client.send(
            node,
            request,
            on_complete=lambda response: self._handle_produce_response(response, batches),
        )

    def _handle_produce_response(
        self, response: Response | None, batches: list[ProducerBatch]
    ) -> None:
        is_timeout = self._client.timed_out and self._context.profile.request_timeout_is_told
        lost = Errors.REQUEST_TIMED_OUT if is_timeout else Errors.NETWORK_EXCEPTION
        for batch in batches:
            error, base_offset = lost, INVALID_OFFSET
            if isinstance(response, ProduceResponse):
                error, base_offset, _ = response.partitions[batch.topic_partition]
            self._complete_batch(batch, error, base_offset=base_offset)

    def _end_without_answer(
        self, drained: dict[str, list[ProducerBatch]], expired: list[ProducerBatch]
    ) -> None:
        """Complete what was sent with acks 0, and let fail what waited for too long."""
        now_ms = self._context.now_ms
        for batch in expired:
            sentence = (
                f"{len(batch.records)} records for {batch.topic_partition} expired: no broker had "
                f"acknowledged them {now_ms - batch.created_ms:,} ms after their batch was begun"
            )
            self._end(batch, INVALID_OFFSET, KafkaTimeoutError(sentence))
        if self._acks == 0 and drained:
            for batch in (batch for batches in drained.values() for batch in batches):
                self._complete_batch(batch, Errors.NONE, base_offset=INVALID_OFFSET)
            self._context.processes.sleep(0)  # a callback that sends must not keep the run here

    def _complete_batch(self, batch: ProducerBatch, error: Errors, *, base_offset: int) -> None:
        """Take a batch's answer: it is written, tried again, or given up."""
        accumulator, now_ms = self._accumulator, self._context.now_ms
        self._in_flight.pop(batch, None)
        if error is Errors.NONE:
            self._end(batch, base_offset, None)
        elif self._can_retry(batch, error, now_ms):
            accumulator.reenqueue(batch, now_ms)
        else:
            refused = error.exception(
                f"{len(batch.records)} records for {batch.topic_partition} are not acknowledged, "
                f"after {batch.attempts} retries: {error.name}"
            )
            self._end(batch, base_offset, refused)
        if error in _INVALID_METADATA:
            self._metadata.request_update()
        accumulator.muted.discard(batch.topic_partition)

    def _can_retry(self, batch: ProducerBatch, error: Errors, now_ms: int) -> bool:
        timeout_ms = self._config.delivery_timeout_ms
        return (
            error.retriable
            and batch.attempts < self._config.retries
            and not batch.is_done
            and not (timeout_ms and batch.created_ms + timeout_ms <= now_ms)
        )

    def _end(self, batch: ProducerBatch, base_offset: int, error: Exception | None) -> None:
        self._in_flight.pop(batch, None)
        if batch.done(base_offset, error):
            self._accumulator.deallocate(batch)
            self.progress.fire()

    def _expired_in_flight(self, now_ms: int) -> list[ProducerBatch]:
        """List what is given up although its answer may come: only by delivery.timeout.ms."""
        if not self._config.delivery_timeout_ms:
            return []
        return [each for each in self._in_flight if self._accumulator.expires_ms(each) <= now_ms]

    def _next_expiry_ms(self) -> int:
        due_ms = self._accumulator.next_expiry_ms()
        if not self._config.delivery_timeout_ms:
            return due_ms
        return min([due_ms, *map(self._accumulator.expires_ms, self._in_flight)])
