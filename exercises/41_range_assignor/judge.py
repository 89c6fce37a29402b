"""What exercise 41 asks, and how an answer to it is judged.

Source: document 002, "RangeAssignor"; org.apache.kafka.clients.consumer.RangeAssignor (3.9).
Differs from Kafka: racks and static members are not asked about.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from random import Random

from kafkalearn.grading.exercise import Table
from kafkalearn.records import Subscription, TopicPartition

Group = tuple[Mapping[str, int], Mapping[str, Subscription]]
Assignment = dict[str, list[TopicPartition]]
ROWS_SHOWN = 12


def reference(
    partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]
) -> Assignment:
    """Slow and obvious: deal one partition at a time to count, then hand out runs of that size."""
    assignment: Assignment = {member: [] for member in subscriptions}
    for topic, count in partitions_per_topic.items():
        members = sorted(member for member, wants in subscriptions.items() if topic in wants.topics)
        sizes = Counter(members[i % len(members)] for i in range(count) if members)
        numbers = iter(range(count))
        for member in members:
            assignment[member] += [
                TopicPartition(topic, next(numbers)) for _ in range(sizes[member])
            ]
    return assignment


def inputs(check: str, seed: int) -> Iterable[Group]:
    """Give the groups of one check, small ones first; equal seeds give equal groups."""
    groups = list(_GROUPS[check](Random(f"{seed} {check}")))
    return sorted(groups, key=lambda group: len(group[1]) + sum(group[0].values()))


def _seven_over_five(random: Random) -> Iterator[Group]:
    yield {"t0": 7}, _all_want(["t0"], "c0 c1 c2 c3 c4")
    for _ in range(6):
        members = [f"c{i}" for i in range(random.randint(2, 6))]
        count = len(members) * random.randint(1, 3) + random.randint(1, len(members) - 1)
        yield {"t0": count}, _all_want(["t0"], " ".join(members))


def _topic_by_topic(random: Random) -> Iterator[Group]:
    few, many = _all_want(["t1", "t2"], "c0 c1 c2"), _all_want(["t2"], "c3 c4")
    yield {"t1": 5, "t2": 7}, few | many
    for _ in range(6):
        both = [f"c{i}" for i in range(random.randint(2, 3))]
        one = [f"c{i}" for i in range(len(both), len(both) + random.randint(1, 2))]
        counts = {topic: len(both) * random.randint(1, 2) + 1 for topic in ("t0", "t1", "t2")}
        yield counts, _all_want(counts, " ".join(both)) | _all_want(["t1"], " ".join(one))


def _nobody_forgotten(random: Random) -> Iterator[Group]:
    yield {"t0": 1}, _all_want(["t0"], "c0 c1")
    yield {"t0": 2}, {"c0": Subscription(["t0"]), "c1": Subscription([])}
    yield {"t0": 2}, {"c0": Subscription(["t0", "unknown"]), "c1": Subscription(["unknown"])}
    yield {"t0": 2, "unwanted": 3}, _all_want(["t0"], "c0 c1")
    yield {"t0": 0, "t1": 3}, _all_want(["t0", "t1"], "c0 c1")
    for _ in range(4):
        yield {"t0": random.randint(1, 3)}, _all_want(["t0"], "c0 c1 c2 c3 c4 c5")


def _by_name(random: Random) -> Iterator[Group]:
    yield {"t0": 3}, _all_want(["t0"], "b a")
    yield {"t0": 5}, _all_want(["t0"], "c2 c10 c1")
    for _ in range(6):
        names = random.sample(
            ["ann", "bob", "carol", "c1", "c10", "c2", "Zoe", "app-1"], random.randint(3, 5)
        )
        if names == sorted(names):
            names.reverse()
        yield {"t0": len(names) + 1, "t1": 1}, _all_want(["t0", "t1"], " ".join(names))


def _random_groups(random: Random) -> Iterator[Group]:
    for _ in range(40):
        topics = [f"t{i}" for i in range(random.randint(1, 4))]
        members = random.sample([f"c{i}" for i in range(12)], random.randint(1, 8))
        counts = {topic: random.randint(0, 12) for topic in random.sample(topics, len(topics))}
        wants = {
            m: Subscription(random.sample(topics, random.randint(0, len(topics)))) for m in members
        }
        yield counts, wants


def _all_want(topics: Iterable[str], members: str) -> dict[str, Subscription]:
    return {member: Subscription(topics) for member in members.split()}


_GROUPS: dict[str, Callable[[Random], Iterator[Group]]] = {
    "seven-over-five": _seven_over_five,
    "topic-by-topic": _topic_by_topic,
    "nobody-forgotten": _nobody_forgotten,
    "by-name": _by_name,
    "random-groups": _random_groups,
}


def allowed(arguments: Group) -> bool:
    """A group has a member, or nobody asks."""
    return bool(arguments[1])


def problem(arguments: Group, answer: object) -> str | None:
    """Name the first promise that the answer breaks, or the first member that differs."""
    _, subscriptions = arguments
    if not isinstance(answer, dict):
        return f"the answer is {_a(answer)}: a dict of member -> list of TopicPartition is wanted"
    for member in sorted(set(subscriptions) - set(answer)):
        return f"{member} is missing: every member is in the answer, maybe with an empty list"
    for member in answer:
        if member not in subscriptions:
            return f"the answer holds {member!r:.60}, which is no member of this group"
        if not isinstance(answer[member], list):
            return f"{member} gets {_a(answer[member])}: a list of TopicPartition is wanted"
    return _misplaced(arguments, answer) or _different(reference(*arguments), answer)


def _misplaced(arguments: Group, answer: dict[str, list[object]]) -> str | None:
    counts, subscriptions = arguments
    owner: dict[TopicPartition, str] = {}
    for member, partitions in answer.items():
        for partition in partitions:
            if not isinstance(partition, TopicPartition):
                return f"{member} gets {partition!r:.60}: TopicPartition(topic, number) is wanted"
            if not 0 <= partition.partition < counts.get(partition.topic, 0):
                return f"{member} gets {partition}, which does not exist"
            if partition.topic not in subscriptions[member].topics:
                return f"{member} gets {partition}, but does not subscribe to {partition.topic}"
            if partition in owner:
                return f"{partition} is given twice: to {owner[partition]} and to {member}"
            owner[partition] = member
    return None


def _different(expected: Assignment, answer: dict[str, list[TopicPartition]]) -> str | None:
    for member in sorted(expected):
        if set(answer[member]) != set(expected[member]):
            return (
                f"{member} gets {_names(answer[member])}; range gives it {_names(expected[member])}"
            )
    return None


def table(arguments: Group, answer: object) -> Table:
    """Lay out the group, range's answer and this one, a row for each member, by name."""
    counts, subscriptions = arguments
    expected = reference(*arguments)
    given = answer if isinstance(answer, dict) else {}
    members = sorted(subscriptions)[:ROWS_SHOWN]
    rows = [
        (
            member,
            " ".join(subscriptions[member].topics) or "nothing",
            _names(expected[member]),
            _got(given, member),
        )
        for member in members
    ]
    caption = "Partitions: " + ", ".join(
        f"{topic} has {count}" for topic, count in sorted(counts.items())
    )
    caption += f"\nThe dict's order of members: {', '.join(list(subscriptions)[:ROWS_SHOWN])}"
    if len(subscriptions) > ROWS_SHOWN:
        caption += f" … ({len(subscriptions)} in all, the first {ROWS_SHOWN} are shown)"
    marked = tuple(i for i, row in enumerate(rows) if given and row[2] != row[3])
    return Table(caption, ("member", "subscribes to", "expected", "got"), tuple(rows), marked)


def _got(given: Mapping[object, object], member: str) -> str:
    partitions = given.get(member)
    return _names(partitions) if isinstance(partitions, list) else "-"


def _names(partitions: list[TopicPartition] | list[object]) -> str:
    whole = all(isinstance(partition, TopicPartition) for partition in partitions)
    shown = sorted(partitions) if whole else partitions
    return " ".join(str(partition)[:40] for partition in shown[:ROWS_SHOWN]) or "nothing"


def _a(value: object) -> str:
    return "None (is a `return` missing?)" if value is None else f"a {type(value).__name__}"
