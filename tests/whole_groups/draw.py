"""Draws a run: all of it follows from the seed."""

import random

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
from kafkalearn.records import TopicPartition
from tests.whole_groups.plan import (
    AFTER_QUIET_MS,
    BROKERS,
    COMMIT_BEFORE,
    COMMITS,
    Change,
    Life,
    MemberPlan,
    Plan,
)

COORDINATOR = "broker-0"  # of this group, as long as it lives
TOPICS = {"orders": 3, "payments": 2}
LATE_TOPIC = "payouts"
PATTERN = "orders|pay.*"
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


def plan_of(seed: int) -> Plan:
    """Draw a run."""
    chance = random.Random(seed)
    profile = chance.choice(sorted(PROFILES))
    quiet_ms = chance.choice((9_000, 14_000, 19_000))
    names = [f"c{number}" for number in range(1, chance.randint(2, 5) + 1)]
    changes = _changes(chance, quiet_ms=quiet_ms)
    # Asked for a topic that is not there, clients ask again and again.
    topics = tuple(dict.fromkeys([*TOPICS, *(each.topic for each in changes)]))
    members = _members(chance, names, profile=profile, topics=topics, quiet_ms=quiet_ms)
    if chance.random() < 0.15:
        members.append(_loner(chance, members[0], quiet_ms=quiet_ms))
        names.append(members[-1].name)
    faults: list[Fault] = []
    for _ in range(chance.choice((0, 1, 1, 2, 3, 5))):
        faults += _faults(chance, names, quiet_ms=quiet_ms)
    if len({each.strategy for each in members}) > 1:  # see `unfair`
        faults = [each for each in faults if getattr(each, "node", None) not in BROKERS]
    if any(each.is_static for each in members):
        changes = [
            each._replace(at_ms=quiet_ms + AFTER_QUIET_MS + each.at_ms // 4) for each in changes
        ]
    return Plan(
        seed=seed,
        profile=profile,
        topics=dict(TOPICS),
        settings={
            "latency_jitter_ms": chance.choice((0, 0, 5, 40)),
            "broker_session_timeout_ms": chance.choice((500, 2_000)),
            "group_initial_rebalance_delay_ms": chance.choice((0, 500, 3_000)),
        },
        faults=tuple(faults),
        members=tuple(members),
        producers=tuple(_producer(chance) for _ in range(chance.choice((1, 1, 2)))),
        changes=tuple(changes),
        quiet_ms=quiet_ms,
    )


def _producer(chance: random.Random) -> dict[str, object]:
    return {
        "acks": chance.choice(("1", "all")),
        "retries": 20,
        "request_timeout_ms": 2_000,
        "linger_ms": chance.choice((0, 0, 50)),
        "max_in_flight_requests_per_connection": chance.choice((1, 5)),
        "every_ms": chance.choice((100, 250, 600)),
    }


def _changes(chance: random.Random, *, quiet_ms: int) -> list[Change]:
    """Draw how topics grow, which comes late, and which goes."""
    changes = [
        Change(chance.randint(4_000, quiet_ms), topic, count + chance.randint(1, 2))
        for topic, count in TOPICS.items()
        if chance.random() < 0.25
    ]
    if chance.random() < 0.2:
        came_ms = chance.randint(3_000, quiet_ms)
        changes.append(Change(came_ms, LATE_TOPIC, chance.randint(1, 2)))
        if chance.random() < 0.5:
            changes.append(Change(chance.randint(came_ms + 1, quiet_ms + 1), LATE_TOPIC, 0))
    elif chance.random() < 0.1:
        changes = [each for each in changes if each.topic != "payments"]
        changes.append(Change(chance.randint(4_000, quiet_ms), "payments", 0))
    return sorted(changes)


def _members(
    chance: random.Random,
    names: list[str],
    *,
    profile: str,
    topics: tuple[str, ...],
    quiet_ms: int,
) -> list[MemberPlan]:
    rules = PROFILES[profile]
    strategies = [chance.choice(EAGER if chance.random() < 0.7 else MIXED)] * len(names)
    if rules.incremental_rebalance and chance.random() < 0.5:
        strategies = [chance.choice(COOPERATIVE)] * len(names)
    elif chance.random() < 0.2:  # each its own, with one that all have
        strategies = [chance.choice((("range",), *MIXED[:2])) for _ in names]
    if profile == "0.10.1":  # it does not have the sticky one
        strategies = [
            tuple(each.replace("sticky", "roundrobin") for each in one) for one in strategies
        ]
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
        stays, commit = name == "c1", chance.choice(commits)
        config = same | {
            "partition_assignment_strategy": strategy,
            "max_poll_records": chance.choice((1, 5, 20, 500)),
            "enable_auto_commit": commit == "auto",
        }
        if rules.static_members and chance.random() < 0.15:
            config["group_instance_id"] = name
        everything = (topics, topics, PATTERN)
        slow_ms = chance.randint(0, quiet_ms)
        members.append(
            MemberPlan(
                name=name,
                lives=_lives(chance, stays=stays, quiet_ms=quiet_ms),
                topics=chance.choice(everything if stays else (*everything, ("orders",))),
                commit=commit,
                config=config,
                poll_ms=chance.choice((100, 500, 1_000)),
                process_ms=chance.choice((0, 0, 1, 10)),
                bounded=rules.poll_timeout_bounds_join and chance.random() < 0.3,
                slow=(slow_ms, quiet_ms, chance.choice((0, 0, 0, 100, 1_500, 4_000))),
            )
        )
    return members


def _loner(chance: random.Random, like: MemberPlan, *, quiet_ms: int) -> MemberPlan:
    """Draw a consumer with the group's name that assigns itself partitions, beside the group.

    It may commit while the group is empty, and is refused while it is not.
    """
    commit = chance.choice(("auto", "sync"))
    config = like.config | {"enable_auto_commit": commit == "auto"}
    config.pop("group_instance_id", None)
    return MemberPlan(
        name="m1",
        lives=_lives(chance, stays=False, quiet_ms=quiet_ms),
        topics=(TopicPartition("orders", 0), TopicPartition("payments", 1)),
        commit=commit,
        config=config,
        poll_ms=500,
        process_ms=chance.choice((0, 10)),
        bounded=False,
        slow=(0, 0, 0),
    )


def _lives(chance: random.Random, *, stays: bool, quiet_ms: int) -> tuple[Life, ...]:
    """Draw when a member is there."""
    start_ms = 0 if stays else chance.choice((0, 0, chance.randint(1, quiet_ms)))
    lives: list[Life] = []
    while chance.random() < 0.4 and start_ms < quiet_ms:
        end_ms = chance.randint(start_ms, quiet_ms)
        lives.append(Life(start_ms, end_ms, crashes=chance.random() < 0.5))
        start_ms = end_ms + chance.choice((10, 1_000, 7_000))
    if stays or not lives or chance.random() < 0.5:
        lives.append(Life(start_ms))
    return tuple(lives)


def _faults(chance: random.Random, members: list[str], *, quiet_ms: int) -> list[Fault]:
    """Draw something that goes wrong, and is over before quiet_ms."""
    at_ms = chance.randint(1, quiet_ms - 1_000)
    for_ms = min(chance.choice((50, 500, 3_000, 7_000)), quiet_ms - at_ms)
    broker, nth = chance.choice((*BROKERS, COORDINATOR)), chance.choice((1, 2, 3, 5, 8, 13))
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
