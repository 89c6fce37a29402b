"""Plays a plan on a simulation, and says what was acknowledged."""

from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from kafkalearn.consumer.consumer_records import ConsumerRecords
from kafkalearn.consumer.kafka_consumer import KafkaConsumer
from kafkalearn.engine.process import Process
from kafkalearn.errors import (
    ApiError,
    CommitFailedError,
    Errors,
    FencedInstanceIdError,
    KafkaError,
    KafkaTimeoutError,
)
from kafkalearn.producer.producer_record import RecordMetadata
from kafkalearn.records import OffsetAndMetadata, TopicPartition
from kafkalearn.simulation import Simulation
from kafkalearn.trace import Trace
from tests.whole_groups.invariants import MESSAGES, RECORDED, Standing, callback_message
from tests.whole_groups.plan import COMMIT_BEFORE, TOPICS, MemberPlan, Plan

STEP_MS = 1_000


@dataclass
class Run:
    """A run that is going on, or over.

    acknowledged: where each record is that a broker said to have.
    settled_seq: how many events there were when members were told to end.
    """

    plan: Plan
    with_messages: bool = False
    acknowledged: list[TopicPartition] = field(default_factory=list)
    settled_seq: int = 0
    _is_over: bool = False
    _async_commits: int = 0
    _members: dict[str, Process] = field(default_factory=dict)

    def __post_init__(self) -> None:
        kinds = [*RECORDED, *(MESSAGES if self.with_messages else ())]
        self.sim = Simulation(
            name="whole group",
            seed=self.plan.seed,
            profile=self.plan.profile,
            faults=self.plan.faults,
            record={"kinds": kinds},
            **self.plan.settings,
        )

    @property
    def trace(self) -> Trace:
        """What happened."""
        return self.sim.trace

    def play(self) -> None:
        """Let it happen: until all is settled and read, or it should be; then all members end."""
        sim, plan = self.sim, self.plan
        for member in plan.members:
            sim.node(member.name)
        for name, count in TOPICS.items():
            self._insist(partial(sim.create_topic, name, count))
        sim.spawn(self._let_grow, node="admin")
        producers = [
            sim.spawn(partial(self._produce, dict(config)), node=f"p{number}")
            for number, config in enumerate(plan.producers)
        ]
        lives = [(*life, member) for member in plan.members for life in member.lives]
        for start_ms, end_ms, member in sorted(lives, key=lambda life: life[0]):
            sim.run_until(max(start_ms, sim.now_ms))
            earlier = self._members.get(member.name)
            consume = partial(self._consume, member, end_ms, earlier=earlier)
            self._members[member.name] = sim.spawn(consume, node=member.name)
        last_ms = max([plan.quiet_ms, *(at_ms + STEP_MS for at_ms, *_ in plan.growth)])
        sim.run_until(max(last_ms, sim.now_ms))
        standing, seen = Standing(TOPICS), 0
        while True:
            for event in self.trace[seen:]:
                standing.learn(event)
            seen = len(self.trace)
            are_done = not any(each.is_alive for each in producers)
            if sim.now_ms >= plan.settled_by_ms or (are_done and not any(standing.open_ends())):
                break
            sim.sleep(STEP_MS)
        self.settled_seq = seen
        self._is_over = True
        sim.sleep(35_000)  # what is on its way when they close is answered, or given up

    def _let_grow(self) -> None:
        for at_ms, name, count in sorted(self.plan.growth):
            self.sim.sleep(max(0, at_ms - self.sim.now_ms))
            self._insist(partial(self.sim.create_partitions, name, count))

    def _insist(self, ask) -> None:
        """Ask again while a fault is in the way; what was done and not answered is refused then."""
        while True:
            try:
                ask()
                return
            except ApiError as error:
                if error.error in (Errors.TOPIC_ALREADY_EXISTS, Errors.INVALID_PARTITIONS):
                    return
            except KafkaError:
                pass  # no broker is up
            self.sim.sleep(500)

    def _produce(self, config: dict) -> None:
        every_ms = config.pop("every_ms")
        producer = self.sim.producer(**config)
        topics = list(TOPICS)
        self.sim.sleep(1_000)
        for number in range((self.plan.quiet_ms - self.sim.now_ms) // every_ms):
            topic = topics[number * number % len(topics)]
            producer.send(topic, self._on_sent, key=f"k{number % 7}", value=f"v{number}")
            self.sim.sleep(every_ms)
        producer.close()

    def _on_sent(self, metadata: RecordMetadata | None, error: Exception | None) -> None:
        if error is None:
            self.acknowledged.append((metadata.topic, metadata.partition, metadata.offset))

    def _consume(self, member: MemberPlan, end_ms: int | None, *, earlier: Process | None) -> None:
        """Be the application of a consumer, as tutorials tell to write it; begin after the last."""
        while earlier is not None and earlier.is_alive:
            self.sim.sleep(10)
        consumer = self.sim.consumer(**member.config)
        if isinstance(member.topics, str):
            consumer.subscribe(pattern=member.topics)
        else:
            consumer.subscribe(member.topics)
        is_fenced = False
        while not (is_fenced or self._is_over or (end_ms and self.sim.now_ms >= end_ms)):
            try:
                self._handle(member, consumer, consumer.poll(member.poll_ms))
            except FencedInstanceIdError:
                # Up to 2.6 a failover may bring back the id from before a static member's restart.
                is_fenced = True
        with suppress(FencedInstanceIdError):
            consumer.close()
        if is_fenced:
            self._consume(member, end_ms, earlier=None)

    def _handle(self, member: MemberPlan, consumer: KafkaConsumer, records: ConsumerRecords):
        if records.is_empty():
            return
        if member.commit == COMMIT_BEFORE:
            self._commit(consumer)
        for partition in records.partitions():
            of_partition = records.records(partition)
            for record in of_partition:
                from_ms, until_ms, slow_ms = member.slow
                is_slow = from_ms <= self.sim.now_ms < until_ms
                self.sim.sleep(member.process_ms + (slow_ms if is_slow else 0))
                self.sim.sink("db").write(record)
            if member.commit == "each partition":
                self._commit(consumer, {partition: OffsetAndMetadata(of_partition[-1].offset + 1)})
        if member.commit == "sync":
            self._commit(consumer)
        elif member.commit == "async":
            self._async_commits += 1
            consumer.commit_async(callback=partial(self._on_commit, self._async_commits, member))

    def _commit(self, consumer: KafkaConsumer, offsets: dict | None = None) -> None:
        """Commit; others have the partitions if it fails, and process their records again."""
        with suppress(CommitFailedError, KafkaTimeoutError):
            consumer.commit_sync(offsets)

    def _on_commit(self, number: int, member: MemberPlan, offsets, error) -> None:
        detail = {"message": callback_message(number, error)}
        self.trace.record("logged", self.sim.now_ms, member.name, detail=detail)
