"""What exercise 43 asks, and how an answer to it is judged: by what it promises.

It must be valid, balanced, and leave as many partitions with their owners as a balanced answer can.
How many that are is known where all subscribe to the same topics. Where they do not, finding it
takes long, and Kafka itself may keep fewer: there a partition that moved is needless if it could go
home at once with the balance kept, and Kafka's own answer keeps more.

Source: document 002, "StickyAssignor"; KIP-54, KIP-341;
org.apache.kafka.clients.consumer.StickyAssignor and internals.AbstractStickyAssignor (3.9).
Differs from Kafka: racks and static members are not asked about.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from random import Random
from typing import Any

from kafkalearn.assignors import StickyAssignor
from kafkalearn.grading.exercise import Table
from kafkalearn.grading.judging import assignment_picture, assignments
from kafkalearn.grading.judging.assignments import Assignment, Group, all_want, mixed
from kafkalearn.records import Subscription, TopicPartition

Owners = Mapping[TopicPartition, str]


def reference(
    partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]
) -> Assignment:
    """Give Kafka's own answer: one that is right, and the mark to reach where no bound is known."""
    return StickyAssignor().assign(partitions_per_topic, subscriptions)


def inputs(check: str, seed: int) -> Iterable[Group]:
    """Give the groups of one check, small ones first; equal seeds give equal groups."""
    groups = list(_GROUPS[check](Random(f"{seed} {check}")))
    return sorted(groups, key=assignments.size)


def _first_time(random: Random) -> Iterator[Group]:
    yield {"t0": 2}, all_want(["t0"], "c0 c1")
    yield {"t0": 1}, all_want(["t0", "unknown"], "c0 c1") | all_want([], "c2")
    yield {"t0": 0, "t1": 2, "unwanted": 1}, all_want(["t0", "t1"], "c0 c1")
    nested = all_want(["t1"], "c1") | all_want(["t1", "t2"], "c2")
    yield {"t1": 2, "t2": 3, "t3": 4}, nested | all_want(["t1", "t2", "t3"], "c3")
    yield {"t1": 3, "t2": 3}, all_want(["t1", "t2"], "c1") | all_want(["t1"], "c2")
    for number in range(12):
        counts, members = _sizes(random)
        topics = list(counts)
        yield (
            counts,
            all_want(topics, " ".join(members))
            if number % 2
            else mixed(topics, members, random=random),
        )


def _member_leaves(random: Random) -> Iterator[Group]:
    yield {"t0": 3}, {"c0": Subscription(["t0"], [("t0", 1)], 1)}
    yield {"t0": 3}, _owning({"t0": 3}, {"c0": [("t0", 2)], "c1": [("t0", 0)]})
    for _ in range(12):
        counts, members = _sizes(random)
        owned = _dealt(random, counts, members)
        for member in random.sample(members, random.randint(1, len(members) - 1)):
            del owned[member]
        yield counts, _owning(counts, owned)


def _member_joins(random: Random) -> Iterator[Group]:
    yield {"t0": 2}, _owning({"t0": 2}, {"c0": [("t0", 0), ("t0", 1)]}) | all_want(["t0"], "c1")
    two = {"c0": [("t0", 0), ("t0", 1), ("t0", 2)], "c1": [("t0", 3), ("t0", 4), ("t0", 5)]}
    yield {"t0": 6}, _owning({"t0": 6}, two) | all_want(["t0"], "new newer")
    for _ in range(12):
        counts, members = _sizes(random)
        new = " ".join(random.sample(["a", "c1a", "new", "z"], random.randint(1, 3)))
        yield counts, _owning(counts, _dealt(random, counts, members)) | all_want(counts, new)


def _stale_claims(random: Random) -> Iterator[Group]:
    said = {
        "new": Subscription(["t0"], [("t0", 0)], 5),
        "old": Subscription(["t0"], [("t0", 0)], 4),
    }
    for names in (("a", "b"), ("b", "a")):
        for order in (("new", "old"), ("old", "new")):
            yield {"t0": 2}, {name: said[claim] for name, claim in zip(names, order, strict=True)}
    yield {"t0": 2}, dict.fromkeys("ab", said["new"])
    for disputed, first in product((0, 1), (0, 1)):  # who owns both has to give the right one up
        two = [("t0", first), ("t0", 1 - first)]
        claims = [Subscription(["t0"], mine, 5) for mine in (two, [("t0", disputed)])]
        yield {"t0": 2}, dict(zip("ab", claims, strict=True))
        yield {"t0": 2}, dict(zip("ba", claims, strict=True))
    for _ in range(10):
        counts, members = _sizes(random)
        group = _owning(counts, _dealt(random, counts, members), generation=6)
        for member in random.sample(members, random.randint(1, len(members) - 1)):
            once = _dealt(random, counts, members)[member]
            group[member] = Subscription(counts, once, random.randint(3, 6))
        yield counts, group


def _any_change(random: Random) -> Iterator[Group]:
    yield {"t0": 1, "t1": 1}, {"a": Subscription(["t1"], [("t0", 0)], 1), **all_want(["t0"], "b")}
    yield {"t0": 1}, {"a": Subscription(["t0"], [("t0", 0), ("t0", 1)], 1)}  # it had more once
    for _ in range(24):
        counts, members = _sizes(random)
        group = mixed(list(counts), members, random=random)
        owned = reference(counts, group)
        group = {
            m: Subscription(group[m].topics, owned[m], 1)
            for m in random.sample(members, len(members))
        }
        for change in random.sample((_leave, _join, _resubscribe, _grow), random.randint(1, 2)):
            change(random, counts, group)
        yield counts, group


def _leave(random: Random, counts: dict[str, int], group: dict[str, Subscription]) -> None:
    if len(group) > 2:
        del group[random.choice(sorted(group))]


def _join(random: Random, counts: dict[str, int], group: dict[str, Subscription]) -> None:
    group |= mixed(list(counts), [random.choice(["a", "new"])], random=random)


def _resubscribe(random: Random, counts: dict[str, int], group: dict[str, Subscription]) -> None:
    member = random.choice(sorted(group))
    topics = random.sample(list(counts), random.randint(1, len(counts)))
    group[member] = Subscription(topics, group[member].owned_partitions, 1)


def _grow(random: Random, counts: dict[str, int], group: dict[str, Subscription]) -> None:
    counts[random.choice(list(counts))] += random.randint(1, 3)


_GROUPS: dict[str, Callable[[Random], Iterator[Group]]] = {
    "first-time": _first_time,
    "member-leaves": _member_leaves,
    "member-joins": _member_joins,
    "stale-claims": _stale_claims,
    "any-change": _any_change,
}


def _sizes(random: Random) -> tuple[dict[str, int], list[str]]:
    counts = {f"t{i}": random.randint(1, 6) for i in range(random.randint(1, 4))}
    return counts, [f"c{i}" for i in range(random.randint(2, 6))]


def _dealt(random: Random, counts: Mapping[str, int], members: list[str]) -> Assignment:
    """Deal all partitions in a row that no assignor would choose."""
    row = [TopicPartition(topic, number) for topic in counts for number in range(counts[topic])]
    random.shuffle(row)
    return {member: row[i :: len(members)] for i, member in enumerate(members)}


def _owning(
    counts: Mapping[str, int], owned: Mapping[str, Sequence[tuple[str, int]]], generation: int = 1
) -> dict[str, Subscription]:
    return {member: Subscription(counts, mine, generation) for member, mine in owned.items()}


def allowed(arguments: Group) -> bool:
    """A group has a member, or nobody asks."""
    return bool(arguments[1])


def problem(arguments: Group, answer: Any) -> str | None:
    """Name the first promise that the answer breaks: valid, balanced, nothing moves needlessly."""
    return (
        assignments.malformed(arguments, answer)
        or assignments.forgotten(arguments, answer)
        or _unbalanced(arguments, answer)
        or _needless(arguments, answer)
    )


def _unbalanced(group: Group, answer: Assignment) -> str | None:
    for member in sorted(answer):
        for other in sorted(answer):
            if len(answer[member]) > len(answer[other]) + 1:
                for partition in sorted(answer[member]):
                    if partition.topic in group[1][other].topics:
                        ends = (f"{each} (has {len(answer[each])})" for each in (member, other))
                        return f"{partition} could move from {' to '.join(ends)}"
    return None


def _needless(group: Group, answer: Assignment) -> str | None:
    owners = assignments.owners_before(group)
    stayed, alike = _stayed(owners, answer), assignments.same_for_all(group[1])
    most = most_that_can_stay(owners, answer) if alike else _stayed(owners, reference(*group))
    if stayed >= most:
        return None
    movable = _could_have_stayed(group, owners, answer)
    if movable is None:
        counted = f"{stayed} partitions stay with their owners; in a balanced answer {most} can"
        return counted if alike else None
    now = next(member for member in answer if movable in answer[member])
    return (
        f"{movable} moved from {owners[movable]} to {now} needlessly: "
        "with it back, the answer is balanced too"
    )


def _stayed(owners: Owners, answer: Assignment) -> int:
    return sum(owners.get(p) == member for member, mine in answer.items() for p in mine)


def most_that_can_stay(owners: Owners, answer: Assignment) -> int:
    """Count what can stay if all subscribe to the same: everybody's share is known beforehand.

    A share is n // m partitions, and n % m members have one more: best those that own so many.
    """
    share, one_more = divmod(sum(map(len, answer.values())), len(answer))
    owned = [sum(owner == member for owner in owners.values()) for member in answer]
    return sum(min(n, share) for n in owned) + min(one_more, sum(n > share for n in owned))


def _could_have_stayed(group: Group, owners: Owners, answer: Assignment) -> TopicPartition | None:
    """Find a partition that could go home alone, and the answer would still be balanced."""
    for member, mine in sorted(answer.items()):
        for partition in sorted(mine):
            home = owners.get(partition, member)
            if home != member:
                undone = {m: [p for p in answer[m] if p != partition] for m in answer}
                undone[home].append(partition)
                if not _unbalanced(group, undone):
                    return partition
    return None


def table(arguments: Group, answer: object) -> Table:
    """Lay out the group with its claims, one right answer and this one."""
    claims = {member: list(said.owned_partitions) for member, said in arguments[1].items()}
    columns = {"owned": claims, "one right answer": reference(*arguments), "got": answer}
    laid_out = assignments.table(arguments, columns)
    generations = {m: said.generation for m, said in arguments[1].items() if claims[m]}
    if len(set(generations.values())) > 1:
        told = ", ".join(f"{member} in {generation}" for member, generation in generations.items())
        return laid_out._replace(caption=f"{laid_out.caption}\nOwned in generation: {told}")
    return laid_out


def picture(arguments: Group, answer: object) -> str:
    """Draw what one right answer changes of what was owned, and what this one does."""
    answers = {"one right answer": reference(*arguments), "got: your answer": answer}
    return assignment_picture.changed(arguments, answers)
