"""One random run of a group, as data: all of it follows from the seed."""

import random
from dataclasses import dataclass, fields

from kafkalearn.engine.faults import (
    AnswerWithError,
    Crash,
    CutOff,
    Delay,
    Drop,
    Fault,
    Freeze,
    Restart,
)
from kafkalearn.profile import PROFILES

BROKERS = ("broker-0", "broker-1", "broker-2")
TOPICS = {"orders": 3, "payments": 2}
COMMITS = ("auto", "sync", "async", "each partition")  # all of them after processing
COMMIT_BEFORE = "sync before"
EAGER = (("range",), ("roundrobin",), ("sticky",))
MIXED = (("sticky", "range"), ("range", "sticky"), ("roundrobin", "range"))
COOPERATIVE = (("cooperative-sticky",), ("cooperative-sticky", "range"))
ERRORS = {
    "FindCoordinator": ("COORDINATOR_NOT_AVAILABLE",),
    "JoinGroup": ("COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR", "UNKNOWN_MEMBER_ID"),
    "SyncGroup": ("REBALANCE_IN_PROGRESS", "NOT_COORDINATOR", "UNKNOWN_MEMBER_ID"),
    "Heartbeat": ("REBALANCE_IN_PROGRESS", "NOT_COORDINATOR", "ILLEGAL_GENERATION"),
    "OffsetCommit": ("COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR", "REQUEST_TIMED_OUT"),
    "OffsetFetch": ("COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR"),
    "Fetch": ("NOT_LEADER_OR_FOLLOWER", "UNKNOWN_TOPIC_OR_PARTITION"),
    "ListOffsets": ("NOT_LEADER_OR_FOLLOWER", "UNKNOWN_TOPIC_OR_PARTITION"),
    "Produce": ("NOT_LEADER_OR_FOLLOWER", "NOT_ENOUGH_REPLICAS"),
}
"""What a client has to get over, by api."""
LOST_APIS = (*ERRORS, "Metadata", "LeaveGroup")


@dataclass(frozen=True)
class MemberPlan:
    """A consumer's machine, and what its application does.

    lives: (start, end) each; the last end is None for who stays. A crash that ends a life is in
    the fault plan: a life ends by leaving if nothing else ends it.
    slow: (from_ms, until_ms, ms a record).
    """

    name: str
    lives: tuple[tuple[int, int | None], ...]
    topics: tuple[str, ...] | str  # text: a pattern
    commit: str
    config: dict[str, object]
    poll_ms: int
    process_ms: int
    slow: tuple[int, int, int]


@dataclass(frozen=True)
class Plan:
    """A whole run. Times are virtual ms; nothing is sent or fails after quiet_ms."""

    seed: int
    profile: str
    settings: dict[str, int]
    faults: tuple[Fault, ...]
    members: tuple[MemberPlan, ...]
    producers: tuple[dict[str, object], ...]
    growth: tuple[tuple[int, str, int], ...]  # when, which topic, to how many partitions
    quiet_ms: int

    def __str__(self) -> str:
        """Tell each field in a line or more."""
        lines = []
        for field in fields(self):
            value = getattr(self, field.name)
            each = value if isinstance(value, tuple) else [value]
            lines += [f"{field.name}: {one}" for one in each]
        return "\n".join(lines)

    @property
    def loses_nothing(self) -> bool:
        """Whether every member commits what it has processed, and nothing else."""
        return all(each.commit != COMMIT_BEFORE for each in self.members)

    @property
    def gets_settled(self) -> bool:
        """Whether in the end all partitions have an owner, and all records are read.

        Not so in Kafka 2.3 and 2.4 with static members: one that restarts while the leader assigns
        is given nothing (until 2.5, KAFKA-9801), and a leader that restarts is not told that it
        leads, so that nobody watches the topics (until 3.2, KIP-814).
        """
        has_static = any("group_instance_id" in each.config for each in self.members)
        return PROFILES[self.profile].skip_assignment or not has_static

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
        quiet_ms = max([self.quiet_ms, *(at_ms for at_ms, *_ in self.growth)])
        return quiet_ms + 2 * wait_ms + session_ms + poll_ms + delay_ms + grown_ms + 5_000


def plan_of(seed: int) -> Plan:
    """Draw a run."""
    chance = random.Random(seed)
    profile = chance.choice(sorted(PROFILES))
    quiet_ms = chance.choice((9_000, 14_000, 19_000))
    names = [f"c{number}" for number in range(1, chance.randint(2, 5) + 1)]
    faults: list[Fault] = []
    members = _members(chance, names, profile=profile, quiet_ms=quiet_ms, faults=faults)
    for _ in range(chance.choice((0, 1, 1, 2, 3, 5))):
        faults += _faults(chance, names, quiet_ms=quiet_ms)
    growth = [
        (chance.randint(4_000, quiet_ms), topic, count + chance.randint(1, 2))
        for topic, count in TOPICS.items()
        if chance.random() < 0.25
    ]
    if any("group_instance_id" in each.config for each in members):
        # A static leader that restarts does not see what grew meanwhile (KIP-814 leaves that open).
        growth = [(quiet_ms + 12_000, *grown[1:]) for grown in growth]
    if len({each.config["partition_assignment_strategy"] for each in members}) > 1:
        # A new coordinator reads of each member only the protocol that was chosen, and refuses who
        # does not offer that (GroupMetadataManager.readGroupMessageValue).
        faults = [each for each in faults if getattr(each, "node", None) not in BROKERS]
    producers = [
        {
            "acks": chance.choice(("1", "all")),
            "retries": 20,
            "request_timeout_ms": 2_000,
            "linger_ms": chance.choice((0, 0, 50)),
            "max_in_flight_requests_per_connection": chance.choice((1, 5)),
            "every_ms": chance.choice((100, 250, 600)),
        }
        for _ in range(chance.choice((1, 1, 2)))
    ]
    settings = {
        "auto_create_topics_enable": False,
        "latency_jitter_ms": chance.choice((0, 0, 5, 40)),
        "broker_session_timeout_ms": chance.choice((500, 2_000)),
        "group_initial_rebalance_delay_ms": chance.choice((0, 500, 3_000)),
    }
    return Plan(
        seed=seed,
        profile=profile,
        settings=settings,
        faults=tuple(faults),
        members=members,
        producers=tuple(producers),
        growth=tuple(growth),
        quiet_ms=quiet_ms,
    )


def _members(
    chance: random.Random, names: list[str], *, profile: str, quiet_ms: int, faults: list[Fault]
) -> tuple[MemberPlan, ...]:
    knows_2_3 = PROFILES[profile].static_members
    knows_2_4 = PROFILES[profile].incremental_rebalance
    strategies = [chance.choice(EAGER if chance.random() < 0.7 else MIXED)] * len(names)
    if knows_2_4 and chance.random() < 0.5:
        strategies = [chance.choice(COOPERATIVE)] * len(names)
    elif chance.random() < 0.2:  # each its own, with one that all have
        strategies = [chance.choice((("range",), *MIXED[:2])) for _ in names]
    commits = (COMMIT_BEFORE, "sync") if chance.random() < 0.12 else COMMITS
    commits = chance.choice((commits, (chance.choice(commits),)))
    same = {
        "group_id": "billing",
        "auto_offset_reset": "earliest",
        "auto_commit_interval_ms": chance.choice((300, 1_000)),
        "session_timeout_ms": chance.choice((6_000, 8_000)),
        "heartbeat_interval_ms": chance.choice((1_000, 2_000)),
        "max_poll_interval_ms": chance.choice((5_000, 8_000)),
        "request_timeout_ms": 9_000,
        "metadata_max_age_ms": chance.choice((1_000, 4_000)),
        "fetch_max_wait_ms": 1_000,
    }
    members = []
    for name, strategy in zip(names, strategies, strict=True):
        config = same | {
            "partition_assignment_strategy": strategy,
            "max_poll_records": chance.choice((1, 5, 20, 500)),
        }
        if knows_2_3 and chance.random() < 0.15:
            config["group_instance_id"] = name
        commit = chance.choice(commits)
        config["enable_auto_commit"] = commit == "auto"
        topics = chance.choice((tuple(TOPICS), tuple(TOPICS), tuple(TOPICS)[:1], "orders|pay.*"))
        slow_ms = chance.randint(0, quiet_ms)
        members.append(
            MemberPlan(
                name=name,
                lives=_lives(chance, name, stays=name == "c1", quiet_ms=quiet_ms, faults=faults),
                topics=tuple(TOPICS) if name == "c1" else topics,
                commit=commit,
                config=config,
                poll_ms=chance.choice((100, 500, 1_000)),
                process_ms=chance.choice((0, 0, 1, 10)),
                slow=(slow_ms, quiet_ms, chance.choice((0, 0, 0, 100, 1_500, 4_000))),
            )
        )
    return tuple(members)


def _lives(
    chance: random.Random, name: str, *, stays: bool, quiet_ms: int, faults: list[Fault]
) -> tuple[tuple[int, int | None], ...]:
    """Draw when a member is there; the end of each life but the last is a crash or a leave."""
    start_ms = 0 if stays else chance.choice((0, 0, chance.randint(1, quiet_ms)))
    lives: list[tuple[int, int | None]] = []
    while chance.random() < 0.4 and start_ms < quiet_ms:
        end_ms = chance.randint(start_ms, quiet_ms)
        if chance.random() < 0.5:
            faults.append(Crash(name, end_ms))
        lives.append((start_ms, end_ms))
        start_ms = end_ms + chance.choice((10, 1_000, 7_000))
    if stays or not lives or chance.random() < 0.5:
        lives.append((start_ms, None))
    return tuple(lives)


def _faults(chance: random.Random, members: list[str], *, quiet_ms: int) -> list[Fault]:
    """Draw something that goes wrong, and is over before quiet_ms."""
    at_ms = chance.randint(1, quiet_ms - 1_000)
    for_ms = min(chance.choice((50, 500, 3_000, 7_000)), quiet_ms - at_ms)
    broker, nth = chance.choice(BROKERS), chance.choice((1, 2, 3, 5, 8, 13))
    api = chance.choice(LOST_APIS)
    node = chance.choice((None, *members)) if api != "Produce" else None
    part = chance.choice(("request", "response"))
    match chance.choice(("crash", "freeze", "cut", "drop", "drop", "delay", "error", "error")):
        case "crash":
            return [Crash(broker, at_ms), Restart(broker, at_ms + for_ms)]
        case "freeze":
            return [Freeze(chance.choice((*members, *members, broker)), at_ms, for_ms)]
        case "cut":
            other = chance.choice((None, *members))
            return [CutOff(broker, at_ms, for_ms, other)]
        case "drop":
            return [Drop(api, nth, node, part)]
        case "delay":
            return [Delay(api, for_ms, nth, node, part)]
    api = chance.choice(tuple(ERRORS))
    return [AnswerWithError(api, chance.choice(ERRORS[api]), nth)]
