"""One random run of a group, as data, and when its promises hold. See draw.py for the chance."""

from collections.abc import Iterator
from dataclasses import dataclass
from pprint import pformat
from typing import NamedTuple

from kafkalearn.engine.faults import Crash, Fault, Restart
from kafkalearn.profile import PROFILES
from kafkalearn.records import TopicPartition

BROKERS = ("broker-0", "broker-1", "broker-2")
COMMITS = ("auto", "sync", "async", "each partition", "as they go")  # all of them after processing
COMMIT_BEFORE = "sync before"
MESSAGES_EVERY = 8
"""Of so many runs one has its messages recorded, too, and more is asked of it."""
AFTER_QUIET_MS = 12_000


class Life(NamedTuple):
    """How long a member is there, in virtual ms; to the end of the run without end_ms.

    crashes: it ends by a crash, and else by leaving.
    """

    start_ms: int
    end_ms: int | None = None
    crashes: bool = False


class Change(NamedTuple):
    """A topic has so many partitions from then on; it is new if it was not there, gone with 0."""

    at_ms: int
    topic: str
    count: int


@dataclass(frozen=True)
class MemberPlan:
    """A consumer's machine, and what its application does.

    topics: names, a pattern, or partitions that it assigns itself.
    commit: one of COMMITS or COMMIT_BEFORE; "as they go" is asynchronous after each poll, and
    synchronous when partitions are revoked. poll_ms, process_ms: of a poll, of a record.
    bounded: whether poll_ms bounds the join, too. slow: (from_ms, until_ms, ms a record).
    """

    name: str
    lives: tuple[Life, ...]
    topics: tuple[str, ...] | str | tuple[TopicPartition, ...]
    commit: str
    config: dict[str, object]
    poll_ms: int
    process_ms: int
    bounded: bool
    slow: tuple[int, int, int]

    @property
    def is_alone(self) -> bool:
        """Whether it assigns itself, and is no member of the group."""
        return not isinstance(self.topics, str) and isinstance(self.topics[0], TopicPartition)

    @property
    def is_static(self) -> bool:
        """Whether it has a name that outlives it (KIP-345)."""
        return "group_instance_id" in self.config

    @property
    def strategy(self) -> tuple[str, ...]:
        """The assignors that it offers, preferred first."""
        return self.config["partition_assignment_strategy"]


@dataclass(frozen=True)
class Plan:
    """A whole run. Times are virtual ms; nothing is sent or fails after quiet_ms.

    topics: with their partitions, at the start.
    """

    seed: int
    profile: str
    topics: dict[str, int]
    settings: dict[str, int]
    faults: tuple[Fault, ...]
    members: tuple[MemberPlan, ...]
    producers: tuple[dict[str, object], ...]
    changes: tuple[Change, ...]
    quiet_ms: int

    def __str__(self) -> str:
        """Write it as Python, to be pasted."""
        return pformat(self, width=99, sort_dicts=False)

    @property
    def with_messages(self) -> bool:
        """Whether messages are recorded, too."""
        return self.seed % MESSAGES_EVERY == 0

    @property
    def all_faults(self) -> tuple[Fault, ...]:
        """The faults with the crashes that end lives."""
        ends = [(each.name, *life) for each in self.members for life in each.lives]
        return (
            *(Crash(name, end_ms) for name, _, end_ms, crashes in ends if crashes),
            *self.faults,
        )

    @property
    def lasting_topics(self) -> list[str]:
        """The topics that are there in the end."""
        counts = self.topics | {each.topic: each.count for each in sorted(self.changes)}
        return [topic for topic, count in counts.items() if count]

    @property
    def loses_nothing(self) -> bool:
        """Whether every member commits what it has processed, and nothing else."""
        return all(each.commit != COMMIT_BEFORE for each in self.members)

    @property
    def gets_settled(self) -> bool:
        """Whether in the end all partitions have an owner, and all records are read.

        Not so in Kafka 2.3 and 2.4 with static members: one that restarts while the leader assigns
        is given nothing (until 2.5, KAFKA-9801), and a leader that restarts is not told that it
        leads, so that nobody watches the topics (until 3.2, KIP-814). Nor before 2.0 where a topic
        goes: a poll that is about to reset a position in it waits for ever (Fetcher.resetOffsets).
        """
        rules = PROFILES[self.profile]
        waits_for_ever = not rules.poll_timeout_bounds_join and not all(
            each.count for each in self.changes
        )
        has_static = any(each.is_static for each in self.members)
        return not waits_for_ever and (rules.skip_assignment or not has_static)

    @property
    def settled_by_ms(self) -> int:
        """When the group is stable and has read everything, at the latest.

        After the last fault, a join whose answer is lost is given up (rebalance timeout + 5 s, or
        the request timeout); a broker that is dead is noticed; the member that joined before is
        dropped with its session, which a rebalance may have to wait for, up to its timeout; new
        partitions are heard of, which is one more rebalance.
        """
        config = self.members[0].config
        poll_ms, session_ms = config["max_poll_interval_ms"], config["session_timeout_ms"]
        wait_ms = max(config["request_timeout_ms"], poll_ms + 5_000)
        delay_ms = self.settings["group_initial_rebalance_delay_ms"]
        grown_ms = config["metadata_max_age_ms"] + poll_ms
        quiet_ms = max([self.quiet_ms, *(each.at_ms for each in self.changes)])
        return quiet_ms + 2 * wait_ms + session_ms + poll_ms + delay_ms + grown_ms + 5_000


def unfair(plan: Plan) -> Iterator[str]:
    """Say why what is promised need not hold in a plan: by Kafka's rules, or since nobody stays."""
    if not plan.members or plan.members[0].lives[-1].end_ms is not None:
        yield "the first member does not stay"
        return
    lasting, group = set(plan.lasting_topics), [each for each in plan.members if not each.is_alone]
    first = plan.members[0].topics
    if not lasting or (not isinstance(first, str) and not lasting.issubset(first)):
        yield "the first member does not read all that there is"
    if not set.intersection(*(set(each.strategy) for each in group)):
        yield "no assignor is known to all"
    brokers = {each for each in plan.faults if getattr(each, "node", None) in BROKERS}
    if brokers and len({each.strategy for each in group}) > 1:
        # A new coordinator reads of each member only the protocol that was chosen, and refuses who
        # does not offer that (GroupMetadataManager.readGroupMessageValue).
        yield "a coordinator may move while members offer different assignors"
    for name in BROKERS:
        down = [each.at_ms for each in brokers if isinstance(each, Crash) and each.node == name]
        up = [each.at_ms for each in brokers if isinstance(each, Restart) and each.node == name]
        if max(down, default=-1) >= max(up, default=0):
            yield f"{name} stays dead"
    if any(each.is_static for each in group) and any(
        each.at_ms < plan.quiet_ms + AFTER_QUIET_MS for each in plan.changes
    ):
        yield "a static leader that restarts does not see what changed meanwhile (KIP-814)"
    yield from _out_of_time(plan)


def _out_of_time(plan: Plan) -> Iterator[str]:
    """Say what is over too late, or begins too early."""
    for each in plan.faults:
        if getattr(each, "at_ms", 0) + getattr(each, "for_ms", 0) > plan.quiet_ms:
            yield f"{each} is not over when all is quiet"
    names = {*BROKERS, *(each.name for each in plan.members)}
    met = {getattr(each, name, None) for each in plan.faults for name in ("node", "other")}
    yield from (f"there is no {name}" for name in sorted(met - names - {None}))
    for member in plan.members:
        now_ms = 0
        for start_ms, end_ms, _ in member.lives:
            if start_ms < now_ms or (
                end_ms is not None and not start_ms <= end_ms <= plan.quiet_ms
            ):
                yield f"{member.name} lives in no order, or for too long"
            now_ms = plan.quiet_ms if end_ms is None else end_ms
