"""What the judges of assignors share: groups, what makes an answer an assignment, and its table.

A group is (topic -> number of partitions, member -> Subscription), an assignment is
member -> list of TopicPartition. Answers come from learners: they may be anything.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from kafkalearn.grading.exercise import Table
from kafkalearn.records import Subscription, TopicPartition

Group = tuple[Mapping[str, int], Mapping[str, Subscription]]
Assignment = dict[str, list[TopicPartition]]
ROWS_SHOWN = 12


def all_want(topics: Iterable[str], members: str) -> dict[str, Subscription]:
    """Members, by names with spaces between, that subscribe to the same topics."""
    return {member: Subscription(topics) for member in members.split()}


def mixed(
    topics: Iterable[str], members: Iterable[str], *, random: Random
) -> dict[str, Subscription]:
    """Members of which each subscribes to some of the topics, one at least."""
    topics = list(topics)
    return {m: Subscription(random.sample(topics, random.randint(1, len(topics)))) for m in members}


def same_for_all(subscriptions: Mapping[str, Subscription]) -> bool:
    """Whether all members subscribe to the same topics."""
    return len({frozenset(wants.topics) for wants in subscriptions.values()}) == 1


def size(group: Group) -> int:
    """Members and partitions: small groups are asked about first."""
    return len(group[1]) + sum(group[0].values())


def readable(group: Group) -> dict[str, list[TopicPartition]]:
    """Member -> every partition that it subscribes to and that is there."""
    counts, subscriptions = group
    return {
        member: [
            TopicPartition(topic, number)
            for topic in wants.topics
            for number in range(counts.get(topic, 0))
        ]
        for member, wants in subscriptions.items()
    }


def owners_before(group: Group) -> dict[TopicPartition, str]:
    """Partition -> who owned it: the claim of the newest generation; two such are none.

    Claims to what is not there (any more), or not subscribed to (any more), count for nothing.
    """
    may_read = readable(group)
    claims: dict[TopicPartition, dict[int, list[str]]] = {}
    for member in sorted(group[1]):
        for partition in group[1][member].owned_partitions:
            of_generations = claims.setdefault(partition, {})
            of_generations.setdefault(group[1][member].generation, []).append(member)
    newest = {partition: generations[max(generations)] for partition, generations in claims.items()}
    return {
        partition: members[0]
        for partition, members in newest.items()
        if len(members) == 1 and partition in may_read[members[0]]
    }


def owned_before(group: Group) -> Assignment:
    """Member -> what it owned, by `owners_before`; every member is there."""
    owned: Assignment = {member: [] for member in sorted(group[1])}
    for partition, member in sorted(owners_before(group).items()):
        owned[member].append(partition)
    return owned


def random_groups(random: Random) -> Iterator[Group]:
    """Forty groups: some topics are empty or unwanted, some members want nothing."""
    for _ in range(40):
        topics = [f"t{i}" for i in range(random.randint(1, 4))]
        members = random.sample([f"c{i}" for i in range(12)], random.randint(1, 8))
        counts = {topic: random.randint(0, 12) for topic in random.sample(topics, len(topics))}
        wants = {
            m: Subscription(random.sample(topics, random.randint(0, len(topics)))) for m in members
        }
        yield counts, wants


def malformed(group: Group, answer: object) -> str | None:
    """Say why an answer is no assignment: its shape, its members, what is given wrongly."""
    _, subscriptions = group
    if not isinstance(answer, dict):
        return f"the answer is {_a(answer)}: a dict of member -> list of TopicPartition is wanted"
    for member in sorted(set(subscriptions) - set(answer)):
        return f"{member} is missing: every member is in the answer, maybe with an empty list"
    for member in answer:
        if member not in subscriptions:
            return f"the answer holds {member!r:.60}, which is no member of this group"
        if not isinstance(answer[member], list):
            return f"{member} gets {_a(answer[member])}: a list of TopicPartition is wanted"
    return _misplaced(group, answer)


def _misplaced(group: Group, answer: dict[str, list[object]]) -> str | None:
    counts, subscriptions = group
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


def forgotten(group: Group, answer: Any) -> str | None:
    """Name a partition that nobody gets, though somebody subscribes to its topic."""
    given = {partition for partitions in answer.values() for partition in partitions}
    for member, partitions in sorted(readable(group).items()):
        for partition in partitions:
            if partition not in given:
                return f"{partition} goes to nobody, though {member} subscribes to it"
    return None


def different(expected: Assignment, answer: Any, *, assignor: str) -> str | None:
    """Name the first member that gets something else than `assignor` gives it."""
    for member in sorted(expected):
        if set(answer[member]) != set(expected[member]):
            return (
                f"{member} gets {names(answer[member])}; "
                f"{assignor} gives it {names(expected[member])}"
            )
    return None


def table(
    group: Group,
    columns: Mapping[str, object],
    *,
    differ: bool = False,
    told: Callable[[list[Any]], str] | None = None,
) -> Table:
    """Lay a group out, a row for each member, by name; `columns` are assignments, or no such thing.

    differ: the last two columns should agree, so a row in which they do not is marked.
    told: words for a member's partitions; their names by default.
    """
    counts, subscriptions = group
    members = sorted(subscriptions)[:ROWS_SHOWN]
    rows = [
        (
            member,
            " ".join(subscriptions[member].topics) or "nothing",
            *(_got(each, member, told or names) for each in columns.values()),
        )
        for member in members
    ]
    has = ", ".join(f"{topic} has {count}" for topic, count in sorted(counts.items())) or "none"
    order = ", ".join(list(subscriptions)[:ROWS_SHOWN])
    caption = f"Partitions: {has}\nMembers, in the order of your dict: {order}"
    if len(subscriptions) > ROWS_SHOWN:
        caption += f" … ({len(subscriptions)} in all, the first {ROWS_SHOWN} are shown)"
    comparable = differ and isinstance(list(columns.values())[-1], dict)
    marked = tuple(i for i, row in enumerate(rows) if comparable and row[-2] != row[-1])
    return Table(caption, ("member", "subscribes to", *columns), tuple(rows), marked)


def _got(assignment: object, member: str, told: Callable[[list[Any]], str]) -> str:
    partitions = assignment.get(member) if isinstance(assignment, dict) else None
    return told(partitions) if isinstance(partitions, list) else "-"


def names(partitions: Sequence[Any]) -> str:
    """``t0-0 t0-1``, in order if they are partitions, the first dozen; ``nothing`` for none."""
    whole = all(isinstance(partition, TopicPartition) for partition in partitions)
    shown = sorted(partitions) if whole else partitions
    return " ".join(str(partition)[:40] for partition in shown[:ROWS_SHOWN]) or "nothing"


def _a(value: object) -> str:
    return "None (is a `return` missing?)" if value is None else f"a {type(value).__name__}"
