"""What exercise 42 asks, and how an answer to it is judged.

Source: document 002 (and 000), "RoundRobinAssignor";
org.apache.kafka.clients.consumer.RoundRobinAssignor (3.9).
Differs from Kafka: static members are not asked about.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from random import Random

from kafkalearn.grading.exercise import Table
from kafkalearn.grading.judging import assignment_picture, assignments
from kafkalearn.grading.judging.assignments import Assignment, Group, all_want
from kafkalearn.records import Subscription, TopicPartition


def reference(
    partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]
) -> Assignment:
    """Slow and obvious: whoever heads the circle takes it or not, and goes to the end."""
    assignment: Assignment = {member: [] for member in subscriptions}
    circle = sorted(subscriptions)
    wanted = {topic for wants in subscriptions.values() for topic in wants.topics}
    for topic in sorted(wanted & set(partitions_per_topic)):
        for number in range(partitions_per_topic[topic]):
            dealt = False
            while not dealt:
                member = circle.pop(0)
                circle.append(member)
                if dealt := topic in subscriptions[member].topics:
                    assignment[member].append(TopicPartition(topic, number))
    return assignment


def inputs(check: str, seed: int) -> Iterable[Group]:
    """Give the groups of one check, small ones first; equal seeds give equal groups."""
    groups = list(_GROUPS[check](Random(f"{seed} {check}")))
    return sorted(groups, key=assignments.size)


def _seven_over_three(random: Random) -> Iterator[Group]:
    yield {"t0": 1}, all_want(["t0"], "c0 c1")
    yield {"t0": 7}, all_want(["t0"], "c0 c1 c2")
    for _ in range(6):
        members = [f"c{i}" for i in range(random.randint(2, 6))]
        count = len(members) * random.randint(1, 3) + random.randint(1, len(members) - 1)
        yield {"t0": count}, all_want(["t0"], " ".join(members))


def _one_circle(random: Random) -> Iterator[Group]:
    yield {"t1": 1, "t2": 1}, all_want(["t1", "t2"], "c0 c1")
    for _ in range(8):
        members = [f"c{i}" for i in range(random.randint(2, 5))]
        topics = [f"t{i}" for i in range(random.randint(2, 4))]
        counts = {topic: len(members) * random.randint(0, 2) + 1 for topic in topics}
        yield counts, all_want(topics, " ".join(members))


def _passed_over(random: Random) -> Iterator[Group]:
    few, many = all_want(["t1", "t2"], "c0 c1 c2"), all_want(["t2"], "c3 c4")
    yield {"t1": 5, "t2": 7}, few | many
    yield {"x": 1, "y": 9}, all_want(["x", "y"], "a") | all_want(["x"], "b") | all_want(["y"], "c")
    yield {"t0": 2}, all_want(["t0", "unknown"], "c0") | all_want([], "c1")
    yield {"t0": 3, "unwanted": 2}, all_want(["unknown"], "c0") | all_want(["t0"], "c1 c2")
    yield {"t0": 0, "t1": 2}, all_want(["t0", "t1"], "c0 c1")
    for _ in range(8):
        topics = [f"t{i}" for i in range(random.randint(2, 4))]
        members = [f"c{i}" for i in range(random.randint(3, 6))]
        wants = {m: random.sample(topics, random.randint(0, len(topics) - 1)) for m in members}
        counts = {topic: random.randint(1, 6) for topic in topics}
        yield counts, {member: Subscription(topics) for member, topics in wants.items()}


def _by_name(random: Random) -> Iterator[Group]:
    yield {"t0": 3}, all_want(["t0"], "b a")
    yield {"t0": 1}, all_want(["t0"], "ann Bob")
    yield {"t2": 1, "t10": 1}, all_want(["t2", "t10"], "c0 c1")
    yield {"orders": 1, "Zebra": 1}, all_want(["orders", "Zebra"], "c0 c1")
    yield {"t0": 5}, all_want(["t0"], "c2 c10 c1")
    for _ in range(6):
        names = random.sample(
            ["ann", "bob", "carol", "c1", "c10", "c2", "Zoe", "app-1"], random.randint(3, 5)
        )
        topics = random.sample(["orders", "Orders", "t2", "t10", "a.b", "a-b"], 2)
        if names == sorted(names):
            names.reverse()
        yield {topic: len(names) + 1 for topic in topics}, all_want(topics, " ".join(names))


_GROUPS: dict[str, Callable[[Random], Iterator[Group]]] = {
    "seven-over-three": _seven_over_three,
    "one-circle": _one_circle,
    "passed-over": _passed_over,
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
    return assignments.different(reference(*arguments), answer, assignor="round robin")


def table(arguments: Group, answer: object) -> Table:
    """Lay out the group, round robin's answer and this one."""
    columns = {"expected": reference(*arguments), "got": answer}
    return assignments.table(arguments, columns, differ=True)


def picture(arguments: Group, answer: object) -> str:
    """Draw round robin's answer and this one."""
    expected = reference(*arguments)
    return assignment_picture.compared(arguments, answer, expected=expected, assignor="round robin")
