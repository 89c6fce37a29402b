"""Stories of groups: who comes and goes, and who reads what then."""

from contextlib import suppress
from functools import partial
from itertools import count
from typing import Any

from kafkalearn.errors import ConfigError, KafkaError
from kafkalearn.records import TopicPartition
from kafkalearn.scenarios.registry import scenario
from kafkalearn.scenarios.story import TOPIC, Story


@scenario()
def first_member(story: Story, *, partitions: int = 2, assignor: str = "range") -> None:
    """A consumer's first poll: find the coordinator, join, sync, find positions, fetch.

    Watch the group: Empty, PreparingRebalance, AwaitingSync, Stable; the member is its leader, and
    assigns. Document 004.
    """
    story.topic(partitions=partitions, records=2 * partitions)
    story.consume("c1", partition_assignment_strategy=(assignor,))
    story.run_until_processed(2 * partitions)
    story.sim.sleep(1000)


@scenario()
def second_member_joins(story: Story, *, partitions: int = 2, assignor: str = "range") -> None:
    """A second consumer makes the group rebalance, and gets its share.

    Watch how the first hears of it: its next heartbeat is answered REBALANCE_IN_PROGRESS, so that
    it commits, gives all up, and joins again: generation 2. Documents 001 and 004.
    """
    story.topic(partitions=partitions, records=2 * partitions)
    story.consume("c1", partition_assignment_strategy=(assignor,), commit_mode="auto")
    story.run_until_processed(2 * partitions)
    story.consume("c2", partition_assignment_strategy=(assignor,), commit_mode="auto")
    story.run_until_shared("c1", "c2", partitions=partitions)
    story.sim.sleep(1000)


@scenario()
def consumer_dies(story: Story, *, partitions: int = 2, session_timeout_ms: int = 6000) -> None:
    """A consumer crashes: nobody reads its partitions until its session has ended.

    Watch the silence: the coordinator drops it session.timeout.ms after its last heartbeat, and the
    other hears of it with its own next one. Documents 001 and 004.
    """
    _pair(story, partitions, session_timeout_ms=session_timeout_ms)
    story.crash("c2")
    story.run_until_shared("c1", partitions=partitions, after_ms=session_timeout_ms)


@scenario()
def consumer_leaves(story: Story, *, partitions: int = 2, session_timeout_ms: int = 6000) -> None:
    """A consumer closes: it says so, and the group rebalances at once.

    Watch LeaveGroup, and compare the times with consumer_dies. Document 004.
    """
    _pair(story, partitions, session_timeout_ms=session_timeout_ms)
    story.leave("c2")
    story.run_until_shared("c1", partitions=partitions)


@scenario()
def consumer_stops_polling(
    story: Story, *, partitions: int = 2, max_poll_interval_ms: int = 1500, work_ms: int = 2500
) -> None:
    """A consumer works for too long on a record: it is alive, but makes no progress.

    Watch its heartbeats go on until max.poll.interval.ms has passed, and its heartbeat process
    leave the group then. Its commit comes too late; its next poll joins again. Document 004.
    """
    _pair(story, partitions, max_poll_interval_ms=max_poll_interval_ms, work_ms=work_ms)
    story.produce(partitions, partitions=partitions)
    story.run_until_shared("c1", partitions=partitions)
    story.run_until_shared("c1", "c2", partitions=partitions)


def _pair(story: Story, partitions: int, *, work_ms: int = 0, **config: Any) -> None:
    """Let c1 and c2 share a topic; c2 takes `work_ms` for a record."""

    def work(record: Any) -> None:
        story.sim.sleep(work_ms)
        story.database.write(record)

    story.topic(partitions=partitions)
    story.consume("c1", **config)
    story.consume("c2", work=work, **config)
    story.run_until_shared("c1", "c2", partitions=partitions)


@scenario()
def topic_grows(
    story: Story, *, partitions: int = 1, grows_to: int = 2, metadata_max_age_ms: int = 1000
) -> None:
    """A topic gets more partitions, and the group takes them in.

    Watch the leader's metadata: only when it is fetched again, after metadata.max.age.ms, does the
    leader see them and join again. Document 004.
    """
    story.topic(partitions=partitions)
    story.consume("c1", metadata_max_age_ms=metadata_max_age_ms)
    story.run_until_shared("c1", partitions=partitions)
    story.administer(lambda: story.sim.create_partitions(TOPIC, grows_to))
    story.produce(grows_to, partitions=grows_to)
    story.run_until_shared("c1", partitions=grows_to)
    story.run_until_processed(grows_to)


@scenario()
def pattern_meets_new_topic(
    story: Story, *, pattern: str = "orders.*", metadata_max_age_ms: int = 1000
) -> None:
    """A consumer subscribes to a pattern, and a topic that matches is made later.

    Watch the metadata of all topics: `mails` changes nothing, `orders-eu` makes the consumer join
    again. Document 001.
    """
    story.topic(partitions=1)
    story.consume(
        "c1",
        subscribe=lambda consumer: consumer.subscribe(pattern=pattern),
        metadata_max_age_ms=metadata_max_age_ms,
    )
    story.run_until_shared("c1", partitions=1)
    story.topic(partitions=1, name="mails")
    story.sim.sleep(metadata_max_age_ms)
    story.topic(partitions=1, name="orders-eu", records=1)
    story.run_until_shared("c1", partitions=2)
    story.run_until_processed(1)


@scenario()
def assign_beside_subscribe(story: Story, *, leaves: bool = True) -> None:
    """A consumer uses assign() with the group id of a group that has a member.

    Watch both read the same records; the commit of the one that assigned is refused, as it is no
    member, and accepted (generation -1) once the group is Empty. Document 001.
    """
    story.topic(partitions=1, records=2)
    story.consume("c1")
    story.run_until_processed(2)
    story.consume("c2", subscribe=lambda consumer: consumer.assign([TopicPartition(TOPIC, 0)]))
    story.produce(1)
    story.run_until_processed(4)
    if leaves:
        story.leave("c1")
    story.produce(1)
    story.run_until_processed(5 if leaves else 6)


CHANGES = ("crash", "leave", "freeze", "slow", "join", "none")
_TRICKLE_MS = 1000
_LIMITS = {
    "members": (1, 12),
    "partitions": (1, 24),
    "session_timeout_ms": (1, 60_000),
    "heartbeat_interval_ms": (100, 60_000),
    "at_ms": (0, 60_000),
    "for_ms": (0, 60_000),
}


@scenario()
def group_changes(
    story: Story,
    *,
    members: int = 3,
    partitions: int = 6,
    assignor: str = "range",
    session_timeout_ms: int = 6000,
    heartbeat_interval_ms: int = 1000,
    max_poll_interval_ms: int = 5000,
    change: str = "crash",
    at_ms: int = 7500,
    for_ms: int = 8000,
) -> None:
    """Consumers share a topic, and something becomes of one: the RebalanceExplorer's settings.

    A record comes each second, to one partition after the other. A fetch waits for it up to 5 s
    (Kafka's default is 500 ms), and so may the first records after a rebalance.
    change: what the last of them does at at_ms: ``crash``, ``leave``, ``freeze`` (it stands still
    for for_ms), ``slow`` (it works for for_ms on the next record that it gets), ``join`` (only then
    does it come) or ``none``.

    Watch the time until the others have its partitions: none after ``leave``, what is left of
    session.timeout.ms after ``crash`` and ``freeze``, of max.poll.interval.ms where it is ``slow``;
    and their next heartbeats, by which they hear of it. Its records wait meanwhile. Document 004.
    """
    _check_limits(locals())
    nodes = [f"c{number}" for number in range(1, members + 1)]
    *others, last = nodes
    late: list[Any] = []

    def work(record: Any) -> None:
        if change == "slow" and story.sim.now_ms >= at_ms and not late:
            late.append(record)
            story.sim.sleep(for_ms)
        story.database.write(record)

    consume = partial(
        story.consume,
        commit_mode="auto",
        partition_assignment_strategy=(assignor,),
        session_timeout_ms=session_timeout_ms,
        heartbeat_interval_ms=heartbeat_interval_ms,
        max_poll_interval_ms=max_poll_interval_ms,
        fetch_max_wait_ms=5000,  # so that records stand out, and not the asking for them
    )
    story.topic(partitions=partitions)
    story.sim.spawn(partial(_trickle, story, partitions), node="p1", name="producer")
    for node in nodes:
        story.sim.node(node)
        if (node, change) != (last, "join"):
            consume(node, work=work if node == last else None)
    story.sim.sleep(max(0, at_ms - story.sim.now_ms))
    if change == "slow":  # each partition gets a record in this time
        story.run_until(lambda: bool(late), patience_ms=(partitions + 1) * _TRICKLE_MS)
    elif change == "join":
        consume(last)
    elif change == "freeze" and story.is_up(last):
        story.sim.freeze(last, for_ms)
    elif change in ("crash", "leave"):
        getattr(story, change)(last)
        nodes = others
    silent_ms = {"crash": session_timeout_ms, "freeze": for_ms, "slow": for_ms}.get(change, 0)
    story.sim.sleep(silent_ms + heartbeat_interval_ms)  # by then each has heard of it
    story.run_until_shared(*nodes, partitions=partitions if nodes else 0)
    story.sim.sleep(heartbeat_interval_ms)


def _check_limits(given: dict[str, Any]) -> None:
    for name, (least, most) in _LIMITS.items():
        if not least <= given[name] <= most:
            raise ConfigError(f"{name} is {given[name]}: {least} to {most} is allowed")
    if given["change"] not in CHANGES:
        allowed = ", ".join(CHANGES)
        raise ConfigError(f"change is {given['change']!r}: one of {allowed} is allowed")


def _trickle(story: Story, partitions: int) -> None:
    """Send a record each second, round robin, until the story ends or a fault is in its way."""
    producer = story.sim.producer()
    with suppress(KafkaError):
        for number in count():
            producer.send(TOPIC, value=f"{TOPIC} {number}", partition=number % partitions)
            story.sim.sleep(_TRICKLE_MS)
