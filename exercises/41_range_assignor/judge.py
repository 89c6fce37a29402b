"""What exercise 41 asks, and how an answer to it is judged.

Source: document 002, "RangeAssignor"; org.apache.kafka.clients.consumer.RangeAssignor (3.9).
Differs from Kafka: racks and static members are not asked about.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from random import Random

from kafkalearn.grading.exercise import Table
from kafkalearn.grading.judging import assignment_picture, assignments
from kafkalearn.grading.judging.assignments import Assignment, Group, all_want
from kafkalearn.records import Subscription, TopicPartition


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
    return sorted(groups, key=assignments.size)


def _seven_over_five(random: Random) -> Iterator[Group]:
    yield {"t0": 7}, all_want(["t0"], "c0 c1 c2 c3 c4")
    for _ in range(6):
        members = [f"c{i}" for i in range(random.randint(2, 6))]
        count = len(members) * random.randint(1, 3) + random.randint(1, len(members) - 1)
        yield {"t0": count}, all_want(["t0"], " ".join(members))


def _topic_by_topic(random: Random) -> Iterator[Group]:
    few, many = all_want(["t1", "t2"], "c0 c1 c2"), all_want(["t2"], "c3 c4")
    yield {"t1": 5, "t2": 7}, few | many
    for _ in range(6):
        both = [f"c{i}" for i in range(random.randint(2, 3))]
        one = [f"c{i}" for i in range(len(both), len(both) + random.randint(1, 2))]
        counts = {topic: len(both) * random.randint(1, 2) + 1 for topic in ("t0", "t1", "t2")}
        yield counts, all_want(counts, " ".join(both)) | all_want(["t1"], " ".join(one))


def _nobody_forgotten(random: Random) -> Iterator[Group]:
    yield {"t0": 1}, all_want(["t0"], "c0 c1")
    yield {"t0": 2}, {"c0": Subscription(["t0"]), "c1": Subscription([])}
    yield {"t0": 2}, {"c0": Subscription(["t0", "unknown"]), "c1": Subscription(["unknown"])}
    yield {"t0": 2, "unwanted": 3}, all_want(["t0"], "c0 c1")
    yield {"t0": 0, "t1": 3}, all_want(["t0", "t1"], "c0 c1")
    for _ in range(4):
        yield {"t0": random.randint(1, 3)}, all_want(["t0"], "c0 c1 c2 c3 c4 c5")


def _by_name(random: Random) -> Iterator[Group]:
    yield {"t0": 3}, all_want(["t0"], "b a")
    yield {"t0": 5}, all_want(["t0"], "c2 c10 c1")
    for _ in range(6):
        names = random.sample(
            ["ann", "bob", "carol", "c1", "c10", "c2", "Zoe", "app-1"], random.randint(3, 5)
        )
        if names == sorted(names):
            names.reverse()
        yield {"t0": len(names) + 1, "t1": 1}, all_want(["t0", "t1"], " ".join(names))


_GROUPS: dict[str, Callable[[Random], Iterator[Group]]] = {
    "seven-over-five": _seven_over_five,
    "topic-by-topic": _topic_by_topic,
    "nobody-forgotten": _nobody_forgotten,
    "by-name": _by_name,
    "random-groups": assignments.random_groups,
}


def allowed(arguments: Group) -> bool:
    """A group has a member, or nobody asks."""
    return bool(arguments[1])


def problem(arguments: Group, answer: object) -> str | None:
    """Name the first promise that the answer breaks, or the first member that differs."""
    if sentence := assignments.malformed(arguments, answer):
        return sentence
    return assignments.different(reference(*arguments), answer, assignor="range")


def table(arguments: Group, answer: object) -> Table:
    """Lay out the group, range's answer and this one."""
    columns = {"expected": reference(*arguments), "got": answer}
    return assignments.table(arguments, columns, differ=True)


def picture(arguments: Group, answer: object) -> str:
    """Draw range's answer and this one."""
    expected = reference(*arguments)
    return assignment_picture.compared(arguments, answer, expected=expected, assignor="range")
