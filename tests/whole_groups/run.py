"""Plays a plan on a simulation, and says what was acknowledged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from kafkalearn.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
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
    RebalanceInProgressError,
)
from kafkalearn.producer.producer_record import RecordMetadata
from kafkalearn.records import OffsetAndMetadata, TopicPartition, is_internal
from kafkalearn.simulation import Simulation
from kafkalearn.trace import Trace
from tests.whole_groups.invariants import MESSAGES, RECORDED, Standing, callback_message
from tests.whole_groups.plan import COMMIT_BEFORE, MemberPlan, Plan

STEP_MS = 1_000
DONE_BEFORE = (
    Errors.TOPIC_ALREADY_EXISTS,
    Errors.INVALID_PARTITIONS,
    Errors.UNKNOWN_TOPIC_OR_PARTITION,
)
"""What a change of a topic is refused with that was made, and whose answer was lost."""


class CommitsFirst(ConsumerRebalanceListener):
    """Commits while partitions are still the consumer's."""

    def __init__(self, commit: Callable[[], None]) -> None:
        self._commit = commit

    def on_partitions_revoked(self, partitions: Sequence[TopicPartition]) -> None:
        """Save what was done."""
        self._commit()

    def on_partitions_lost(self, partitions: Sequence[TopicPartition]) -> None:
        """Others may have them already."""


@dataclass
class Run:
    """A run that is going on, or over.

    everything: whether all is recorded, as views want it, and not what the invariants need.
    acknowledged: where each record is that a broker said to have.
    settled_seq: how many events there were when members were told to end.
    """

    plan: Plan
    everything: bool = False
    acknowledged: list[TopicPartition] = field(default_factory=list)
    settled_seq: int = 0
    _is_over: bool = False
    _async_commits: int = 0
    _members: dict[str, Process] = field(default_factory=dict)

    def __post_init__(self) -> None:
        kinds = [*RECORDED, *(MESSAGES if self.plan.with_messages else ())]
        self.sim = Simulation(
            name="whole group",
            seed=self.plan.seed,
            profile=self.plan.profile,
            faults=self.plan.all_faults,
            record={} if self.everything else {"kinds": kinds},
            auto_create_topics_enable=False,
            delete_topic_enable=True,
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
        for name, count in plan.topics.items():
            self._insist(partial(sim.create_topic, name, count))
        sim.spawn(self._change_topics, node="admin")
        producers = [
            sim.spawn(partial(self._produce, dict(config)), node=f"p{number}")
            for number, config in enumerate(plan.producers)
        ]
        lives = [(*life, member) for member in plan.members for life in member.lives]
        for start_ms, end_ms, _, member in sorted(lives, key=lambda life: life[0]):
            sim.run_until(max(start_ms, sim.now_ms))
            earlier = self._members.get(member.name)
            consume = partial(self._consume, member, end_ms, earlier=earlier)
            self._members[member.name] = sim.spawn(consume, node=member.name)
        last_ms = max([plan.quiet_ms, *(each.at_ms + STEP_MS for each in plan.changes)])
        sim.run_until(max(last_ms, sim.now_ms))
        standing, seen = Standing(plan.lasting_topics), 0
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

    def _change_topics(self) -> None:
        sim = self.sim
        for at_ms, name, count in sorted(self.plan.changes):
            sim.sleep(max(0, at_ms - sim.now_ms))
            if not count:
                self._insist(partial(sim.delete_topic, name))
            elif name in sim.cluster.topics:
                self._insist(partial(sim.create_partitions, name, count))
            else:
                self._insist(partial(sim.create_topic, name, count))

    def _insist(self, ask) -> None:
        """Ask again while a fault is in the way; what was done and not answered is refused then."""
        while True:
            try:
                ask()
                return
            except ApiError as error:
                if error.error in DONE_BEFORE:
                    return
            except KafkaError:
                pass  # no broker is up
            self.sim.sleep(500)

    def _produce(self, config: dict) -> None:
        """Send now and then to a topic that is there, and is not about to go."""
        sim, quiet_ms = self.sim, self.plan.quiet_ms
        every_ms = config.pop("every_ms")
        producer = sim.producer(**config)
        gone_ms = {each.topic: each.at_ms - 3_000 for each in self.plan.changes if not each.count}
        sim.sleep(1_000)
        for number in range((quiet_ms - sim.now_ms) // every_ms):
            topics = [
                each
                for each in sim.cluster.topics
                if not is_internal(each) and sim.now_ms < gone_ms.get(each, quiet_ms)
            ]
            if topics:
                topic = topics[number * number % len(topics)]
                producer.send(topic, self._on_sent, key=f"k{number % 7}", value=f"v{number}")
            sim.sleep(every_ms)
        producer.close()

    def _on_sent(self, metadata: RecordMetadata | None, error: Exception | None) -> None:
        if error is None:
            self.acknowledged.append((metadata.topic, metadata.partition, metadata.offset))

    def _consume(self, member: MemberPlan, end_ms: int | None, *, earlier: Process | None) -> None:
        """Be the application of a consumer, as tutorials tell to write it; begin after the last."""
        while earlier is not None and earlier.is_alive:
            self.sim.sleep(10)
        consumer = self.sim.consumer(**member.config)
        self._begin_to_read(member, consumer)
        poll_ms = timedelta(milliseconds=member.poll_ms) if member.bounded else member.poll_ms
        is_fenced = False
        while not (is_fenced or self._is_over or (end_ms and self.sim.now_ms >= end_ms)):
            try:
                self._handle(member, consumer, consumer.poll(poll_ms))
            except FencedInstanceIdError:
                # Up to 2.6 a failover may bring back the id from before a static member's restart.
                is_fenced = True
        try:
            consumer.close()
        except KafkaError as error:  # since 2.4 also as what the listener's commit raised
            if not {FencedInstanceIdError} & {type(error), type(error.__cause__)}:
                raise
        if is_fenced:
            self._consume(member, end_ms, earlier=None)

    def _begin_to_read(self, member: MemberPlan, consumer: KafkaConsumer) -> None:
        listener = (
            CommitsFirst(partial(self._commit, consumer)) if member.commit == "as they go" else None
        )
        if member.is_alone:
            consumer.assign(member.topics)
        elif isinstance(member.topics, str):
            consumer.subscribe(pattern=member.topics, listener=listener)
        else:
            consumer.subscribe(member.topics, listener=listener)

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
        elif member.commit in ("async", "as they go"):
            self._async_commits += 1
            consumer.commit_async(callback=partial(self._on_commit, self._async_commits, member))

    def _commit(self, consumer: KafkaConsumer, offsets: dict | None = None) -> None:
        """Commit; others have the partitions if it fails, and process their records again.

        Or nobody does, since the topic is gone.
        """
        try:
            consumer.commit_sync(offsets)
        except (CommitFailedError, KafkaTimeoutError, RebalanceInProgressError):
            pass
        except KafkaError as error:
            if "does not exist" not in str(error):
                raise

    def _on_commit(self, number: int, member: MemberPlan, offsets, error) -> None:
        detail = {"message": callback_message(number, error)}
        self.trace.record("logged", self.sim.now_ms, member.name, detail=detail)
