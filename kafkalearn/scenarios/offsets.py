"""Stories of offsets and records: what is committed, lost, read twice, out of order."""

from typing import Any

from kafkalearn.engine.faults import AnswerWithError
from kafkalearn.scenarios.registry import scenario
from kafkalearn.scenarios.story import GROUP, TOPIC, Story


@scenario()
def crash_before_commit(
    story: Story,
    *,
    commit_mode: str = "sync",
    records: int = 6,
    max_poll_records: int = 3,
    crash_after: int = 5,
) -> None:
    """A consumer crashes between processing and committing, and is started again.

    commit_mode: auto, sync, async, or before the work. crash_after: how many records are processed
    until then; 0 for no crash.

    Watch `offset_stored` and `processed`: from the committed offset on all is delivered again, and
    what was processed is so twice; with ``before``, what was committed and not processed is lost.
    Documents 000 and 002.
    """

    def work(record: Any) -> None:
        story.sim.sleep(5)
        story.database.write(record)
        if len(story.database) == crash_after:
            story.crash("c1")

    story.topic(partitions=1, records=records)
    for _ in ("once", "again"):
        story.consume("c1", work=work, commit_mode=commit_mode, max_poll_records=max_poll_records)
        story.run_until(lambda: not story.is_up("c1") or story.has_read("c1", records))
        story.leave("c1")


@scenario(AnswerWithError("OffsetCommit", "COORDINATOR_LOAD_IN_PROGRESS"))
def async_commit_overtaken(story: Story, *, retries: bool = False) -> None:
    """An asynchronous commit fails after a later one was sent.

    retries: whether the application's callback commits the same offsets once more, which Kafka
    never does by itself.

    Watch `offset_stored`: 6, and with retries 3 after it, though all 6 records are processed; and
    the callback, which runs only within a later poll. Documents 000 and 002.
    """

    def loop(consumer: Any) -> None:
        def on_complete(offsets: Any, error: Exception | None) -> None:
            if error is not None and retries:
                consumer.commit_async(offsets, on_complete)

        consumer.subscribe([TOPIC])
        while len(story.database) < 6:
            records = consumer.poll(500)
            for record in records:
                story.database.write(record)
            if records:
                consumer.commit_async(callback=on_complete)
        consumer.poll(500)

    story.topic(partitions=1, records=6)
    story.start("c1", loop, enable_auto_commit=False, max_poll_records=3)
    story.run_until(lambda: not story.is_up("c1"))


@scenario(brokers=3, broker_session_timeout_ms=1000)
def coordinator_fails_over(story: Story, *, records: int = 2) -> None:
    """The broker that coordinates a group crashes, and another takes over.

    Watch the consumer ask for the coordinator until the cluster has noticed; the new one reads
    group and offsets from the log, and the generation goes on: there is no rebalance. Document 004.
    """
    story.topic(partitions=1, records=records)
    story.consume("c1")
    story.run_until_processed(records)
    story.administer(lambda: story.sim.crash(story.sim.coordinator_of(GROUP)))
    story.sim.sleep(story.sim.broker_config.broker_session_timeout_ms)
    story.produce(records)
    story.run_until_processed(2 * records)
    story.run_until(lambda: story.has_committed("c1", 2 * records))


@scenario(offsets_retention_minutes=1, offsets_retention_check_interval_ms=60_000)
def offset_expired(story: Story, *, auto_offset_reset: str = "earliest") -> None:
    """A group comes back after its committed offset was forgotten.

    Watch auto.offset.reset decide: ``earliest`` reads all again, ``latest`` skips what nobody has
    read, ``none`` raises. Document 004.
    """
    story.topic(partitions=1, records=2)
    story.consume("c1")
    story.run_until_processed(2)
    story.leave("c1")
    broker = story.sim.broker_config
    story.produce(1)
    story.sim.sleep(broker.offsets_retention_minutes * 60_000)
    story.sim.sleep(broker.offsets_retention_check_interval_ms)
    _come_back(story, auto_offset_reset)


@scenario(log_retention_ms=30_000, log_retention_check_interval_ms=30_000)
def offset_out_of_range(story: Story, *, auto_offset_reset: str = "earliest") -> None:
    """A group comes back after the records at its committed offset were deleted.

    Watch the fetch be answered OFFSET_OUT_OF_RANGE, and auto.offset.reset decide: ``earliest``
    reads on where the log begins now, ``latest`` at its end, ``none`` raises; what was deleted is
    lost. Document 004.
    """
    story.topic(partitions=1, records=2)
    story.consume("c1")
    story.run_until_processed(2)
    story.leave("c1")
    story.produce(2)
    broker = story.sim.broker_config
    story.sim.sleep(broker.log_retention_ms + broker.log_retention_check_interval_ms)
    _come_back(story, auto_offset_reset)


def _come_back(story: Story, auto_offset_reset: str) -> None:
    """Start c1 again, and let one more record come."""
    sent = story.produce(1)
    story.run_until(lambda: not sent.is_alive)
    story.consume("c1", auto_offset_reset=auto_offset_reset)
    story.run_until_shared("c1", partitions=1)
    story.sim.sleep(100)
    story.produce(1)
    story.sim.sleep(100)


@scenario(AnswerWithError("Produce", "NOT_LEADER_OR_FOLLOWER"))
def producer_retries(story: Story, *, retries: int = 1, max_in_flight: int = 5) -> None:
    """A producer's first batch, of one record, fails and is sent again after the second, of two.

    Watch `append`: two records, then one, so that the order has flipped. With max_in_flight 1 it
    does not; with retries 0 the first record is lost. Document 003.
    """

    def run() -> None:
        config: dict[str, Any] = {"max_in_flight_requests_per_connection": max_in_flight}
        producer = story.sim.producer(retries=retries, **config)
        producer.send(TOPIC, value="first", partition=0)
        story.sim.sleep(1)
        for value in ("second", "third"):
            producer.send(TOPIC, value=value, partition=0)
        producer.close()

    story.topic(partitions=1)
    sent = story.sim.spawn(run, node="p1", name="producer")
    story.run_until(lambda: not sent.is_alive)
