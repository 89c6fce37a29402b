"""The sticky assignment of a group in which members subscribe to different topics.

No share is known beforehand, so it goes step by step. Everybody keeps what they owned; a partition
without an owner goes to the lightest member that wants it, the rarest topics first; and as long as
some partition's owner holds at least two more than another member that wants it, that partition
moves to the lightest of them. Two rules keep such moves few: a partition rather goes back to its
former owner, and if one of the same topic has just gone the other way, that one returns instead.

Inside, a member is a number, and a set of members an int with a bit for each. The numbers count
from the last name to the first, since the highest bit of an int is had at once: "the lightest that
want it, of these the first by name" is the highest bit of `members of this size & subscribers of
this topic`.

Source: org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor.GeneralAssignmentBuilder
(3.9).
Differs from Kafka: racks are not modelled; hash order becomes the order of names or of time;
nothing moves to a member that does not want it; a partition is sent home at most once, where Kafka
has no such bound and could go on for ever.
"""

from bisect import insort
from collections import defaultdict
from collections.abc import Iterator, Mapping

from kafkalearn.assignors.explanation import Change, Step, Tell, names
from kafkalearn.assignors.partition_assignor import AbstractPartitionAssignor, Assignment
from kafkalearn.assignors.partition_movements import PartitionMovements
from kafkalearn.assignors.previous_owners import PreviousOwners
from kafkalearn.records import Subscription, TopicPartition


class _Loads:
    """How many partitions each member holds, so that the lightest of any set is found at once."""

    def __init__(self, sizes: list[int]) -> None:
        self.sizes = sizes
        self._bits = [1 << member for member in range(len(sizes))]
        self._members: defaultdict[int, int] = defaultdict(int)
        for member, size in enumerate(sizes):
            self._members[size] |= self._bits[member]
        self._occupied = sorted(self._members)

    def change(self, member: int, by: int) -> None:
        """`member` holds one more (by=1) or one fewer (by=-1)."""
        members, bit = self._members, self._bits[member]
        size = self.sizes[member]
        members[size] ^= bit
        if not members[size]:
            self._occupied.remove(size)
        size += by
        if not members[size]:
            insort(self._occupied, size)
        members[size] |= bit
        self.sizes[member] = size

    def lightest(self, candidates: int) -> int:
        """Give the first by name of the lightest members in the bit set `candidates`."""
        for size in self._occupied:
            if hit := self._members[size] & candidates:
                return hit.bit_length() - 1
        raise ValueError("no candidates")

    def in_turn(self, candidates: int) -> Iterator[int]:
        """Give the lightest again and again; each must get one more before the next is asked for.

        So all the lightest have their turn before the candidates are looked through anew.
        """
        while True:
            size = self.sizes[self.lightest(candidates)]
            lightest = self._members[size] & candidates
            while lightest:
                member = lightest.bit_length() - 1
                lightest ^= self._bits[member]
                yield member


class GeneralAssignmentBuilder:
    """Builds one assignment; ask for what is `transferring` after that."""

    def __init__(
        self,
        partitions_per_topic: Mapping[str, int],
        subscriptions: Mapping[str, Subscription],
        *,
        previous: PreviousOwners,
        tell: Tell | None = None,
    ) -> None:
        self._subscriptions = subscriptions
        self._previous = previous
        self._tell = tell
        self._names = sorted(subscriptions, reverse=True)
        self._number = {name: number for number, name in enumerate(self._names)}
        self._subscribers = dict.fromkeys(partitions_per_topic, 0)
        for number, name in enumerate(self._names):
            bit = 1 << number
            for topic in subscriptions[name].topics:
                if topic in self._subscribers:
                    self._subscribers[topic] |= bit
        rarest_first = sorted(
            partitions_per_topic, key=lambda topic: (self._subscribers[topic].bit_count(), topic)
        )
        self._partitions = {
            topic: AbstractPartitionAssignor.partitions(topic, partitions_per_topic[topic])
            for topic in rarest_first
        }
        self._held: list[dict[TopicPartition, None]] = [{} for _ in self._names]
        self._owner: dict[TopicPartition, int] = {}
        self._must_revoke = False
        self._movements = PartitionMovements()
        self._sent_home: set[TopicPartition] = set()

    def build(self) -> Assignment:
        """Keep, hand out, then move for balance: first only what was just handed out."""
        self._assign_owned_partitions()
        self._loads = _Loads([len(held) for held in self._held])
        unassigned = {
            topic: [partition for partition in partitions if partition not in self._owner]
            for topic, partitions in self._partitions.items()
        }
        for topic, partitions in unassigned.items():
            takers = self._loads.in_turn(self._subscribers[topic])
            for partition, taker in zip(partitions, takers, strict=False):
                self._give(partition, taker)
        if not self._must_revoke:
            self._balance(unassigned)
        self._balance(self._partitions)
        return {name: list(self._held[self._number[name]]) for name in self._previous.owned}

    def transferring(self) -> dict[TopicPartition, str]:
        """Partition -> new owner, for those claimed by another member and not by that one."""
        claimed = {
            partition
            for subscription in self._subscriptions.values()
            for partition in subscription.owned_partitions
        }
        return {
            partition: name
            for name, held in zip(self._names, self._held, strict=True)
            for partition in (held.keys() & claimed).difference(
                self._subscriptions[name].owned_partitions
            )
        }

    def _assign_owned_partitions(self) -> None:
        for name, owned in self._previous.owned.items():
            number = self._number[name]
            wanted = [each for each in owned if self._subscribers[each.topic] >> number & 1]
            self._must_revoke |= len(wanted) < len(owned)
            self._held[number] = dict.fromkeys(wanted)
            self._owner.update(dict.fromkeys(wanted, number))
            if self._tell:
                self._tell_kept(name, owned, wanted)

    def _balance(self, candidates: dict[str, list[TopicPartition]]) -> None:
        """Go through the candidates until none of them can move to a lighter member."""
        owner, sizes = self._owner, self._loads.sizes
        moved = True
        while moved:
            moved = False
            for topic, partitions in candidates.items():
                lightest = self._loads.lightest(self._subscribers[topic])
                for partition in partitions:
                    if sizes[owner[partition]] > sizes[lightest] + 1:
                        self._reassign(partition, lightest)
                        lightest = self._loads.lightest(self._subscribers[topic])
                        moved = True

    def _gains(self, source: int, target: int) -> bool:
        return self._loads.sizes[source] > self._loads.sizes[target] + 1

    def _reassign(self, partition: TopicPartition, target: int) -> None:
        """Move it to `target`, or better to its former owner; or one that came the other way."""
        if partition in self._previous.former:
            former = self._number[self._previous.former[partition][0]]
            wants_it = self._subscribers[partition.topic] >> former & 1
            if wants_it and self._gains(self._owner[partition], former):
                target = former
        instead = self._movements.instead_of(
            partition, holder=self._owner[partition], target=target
        )
        if instead is not partition and instead not in self._sent_home:
            # It may come from a third member, where the balance gains nothing: once each, or two
            # of a topic could take turns for ever.
            self._sent_home.add(instead)
            partition = instead
        self._move(partition, target)

    def _give(self, partition: TopicPartition, target: int) -> None:
        if self._tell:
            name, load = self._names[target], self._loads.sizes[target]
            why = f"the lightest that wants {partition.topic} (it holds {load})"
            sentence = f"{partition} has no owner: it goes to {name}, {why}"
            self._tell(Step.give(name, (partition,), sentence=sentence))
        self._held[target][partition] = None
        self._owner[partition] = target
        self._loads.change(target, 1)

    def _move(self, partition: TopicPartition, target: int) -> None:
        source = self._owner[partition]
        if self._tell:
            self._tell_move(partition, source, target)
        self._movements.add(partition, source=source, target=target)
        del self._held[source][partition]
        self._held[target][partition] = None
        self._owner[partition] = target
        self._loads.change(source, -1)
        self._loads.change(target, 1)

    def _tell_kept(
        self, name: str, owned: list[TopicPartition], wanted: list[TopicPartition]
    ) -> None:
        assert self._tell
        if wanted:
            self._tell(Step.keep(name, wanted, generation=self._previous.generations[name]))
        lost = [partition for partition in owned if partition not in wanted]
        if lost:
            topics = ", ".join(dict.fromkeys(partition.topic for partition in lost))
            self._tell(Step(f"{name} gives up {names(lost)}: it no longer subscribes to {topics}"))

    def _tell_move(self, partition: TopicPartition, source: int, target: int) -> None:
        assert self._tell
        giver, taker, loads = self._names[source], self._names[target], self._loads.sizes
        sentence = f"{partition} moves from {giver} ({loads[source]}) to {taker} ({loads[target]})"
        former, generation = self._previous.former.get(partition, (None, -1))
        if self._movements.origin(partition, source) == target:
            sentence += ": back to where it was"
        elif former == taker:
            sentence += f": {taker} owned it in generation {generation}"
        self._tell(Step(sentence, (Change(partition, giver, taker),)))
