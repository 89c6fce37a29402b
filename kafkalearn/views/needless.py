"""Which moves of a rebalance were needless: could all have been undone, at nobody's expense.

Undone means that a partition sits with its former owner again, while everybody's number of
partitions is what it is, what stayed stays, and all read only what they may read.

Members pass partitions round in circles; a circle is worth the partitions that it brings home, less
those that it takes away from there. While one is worth something, more can be undone; when none is,
no other arrangement undoes more (a flow of least cost has no negative cycle in its residual graph).
"""

from collections.abc import Mapping, Sequence

from kafkalearn.records import TopicPartition

Pass = tuple[TopicPartition, str, str]  # what goes from whom to whom
Held = dict[str, list[TopicPartition]]
Readers = Mapping[TopicPartition, Sequence[str]]
Homes = Mapping[TopicPartition, str]


def needless(
    homes: Homes,
    after: Mapping[str, Sequence[TopicPartition]],
    *,
    may_read: Mapping[str, set[TopicPartition]] | None,
) -> set[TopicPartition]:
    """Find the most partitions that could have stayed together; `homes` are the former owners.

    may_read: None where everybody may read everything: then all get home whom there is room for.
    """
    held = {m: [p for p in sorted(owned) if homes.get(p) != m] for m, owned in after.items()}
    if may_read is None:
        back: dict[str | None, list[TopicPartition]] = {}
        for partition in [p for owned in held.values() for p in owned]:
            back.setdefault(homes.get(partition), []).append(partition)
        return {p for m, owned in held.items() for p in back.get(m, ())[: len(owned)]}
    readers = {p: [m for m in held if p in may_read[m]] for owned in held.values() for p in owned}
    while circle := _circle(_passes(held, homes, readers=readers)):
        for partition, source, target in circle:
            held[source].remove(partition)
            held[target].append(partition)
    return {p for member, owned in held.items() for p in owned if homes.get(p) == member}


def _passes(held: Held, homes: Homes, *, readers: Readers) -> list[tuple[int, Pass]]:
    """Give the best pass from everybody to everybody, with its worth: 1, 0 or -1."""
    passes: list[tuple[int, Pass]] = []
    for source, owned in held.items():
        best: dict[str, tuple[int, Pass]] = {}
        for partition in owned:
            home = homes.get(partition)
            lost = home == source
            for target in readers[partition]:
                worth = (home == target) - lost
                if target not in best or worth > best[target][0]:
                    best[target] = worth, (partition, source, target)
        passes += best.values()
    return passes


def _circle(passes: Sequence[tuple[int, Pass]]) -> list[Pass]:
    """Find passes in a circle that are worth something, by Bellman and Ford's method."""
    worth = {member: 0 for _, (_, *both) in passes for member in both}
    came: dict[str, Pass] = {}
    for _ in range(len(worth) + 1):
        member = ""
        for gain, each in passes:
            _, source, target = each
            if worth[source] + gain > worth[target]:
                worth[target] = worth[source] + gain
                came[target], member = each, target
        if not member:
            return []
    for _ in worth:  # back to where it goes round, which need not be where it was noticed
        member = came[member][1]
    circle = [came[member]]
    while circle[-1][1] != member:
        circle.append(came[circle[-1][1]])
    return circle
