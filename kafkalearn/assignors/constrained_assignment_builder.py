"""The sticky assignment of a group in which all members subscribe to the same topics.

Then every member's share is known beforehand: the quotient, and for some one more. So: keep what
you owned up to your share, then deal what is left to those below their share. That needs one look
at each partition.

Source:
org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor.ConstrainedAssignmentBuilder
(3.9).
Differs from Kafka: racks are not modelled; where Kafka's answer depends on hash order, members go
by name.
"""

from collections import deque
from collections.abc import Mapping
from itertools import chain
from operator import itemgetter

from kafkalearn.assignors.explanation import Step, Tell, count, names
from kafkalearn.assignors.partition_assignor import AbstractPartitionAssignor, Assignment
from kafkalearn.assignors.previous_owners import PreviousOwners
from kafkalearn.records import TopicPartition

_NUMBER_THEN_TOPIC = itemgetter(1, 0)


class ConstrainedAssignmentBuilder:
    """Builds one assignment; ask for what is `transferring` after that."""

    def __init__(
        self,
        partitions_per_topic: Mapping[str, int],
        previous: PreviousOwners,
        *,
        tell: Tell | None = None,
    ) -> None:
        self._partitions_per_topic = partitions_per_topic
        self._previous = previous
        self._tell = tell
        total, members = sum(partitions_per_topic.values()), max(len(previous.owned), 1)
        self._min_quota, self._members_over_min = divmod(total, members)
        self._max_quota = self._min_quota + (1 if self._members_over_min else 0)
        self._assignment: Assignment = {member: [] for member in previous.owned}
        self._revoked: dict[TopicPartition, str] = {}
        self._under_min: deque[str] = deque()
        self._exactly_min: deque[str] = deque()

    def build(self) -> Assignment:
        """Keep, then deal."""
        if self._tell:
            self._tell(self._quotas())
        self._assign_owned_partitions()
        self._deal(self._unassigned_partitions())
        return self._assignment

    def _assign_owned_partitions(self) -> None:
        over_min = 0
        for member, owned in self._previous.owned.items():
            owned = sorted(owned, key=_NUMBER_THEN_TOPIC)
            if len(owned) < self._min_quota:
                keep = len(owned)
                self._under_min.append(member)
            elif len(owned) >= self._max_quota and over_min < self._members_over_min:
                keep = self._max_quota
                over_min += 1
            else:
                keep = self._min_quota
                self._exactly_min.append(member)
            self._keep(member, owned, keep)
        if over_min == self._members_over_min:
            self._exactly_min.clear()

    def _keep(self, member: str, owned: list[TopicPartition], keep: int) -> None:
        self._assignment[member] = owned[:keep]
        for partition in owned[keep:]:
            self._revoked[partition] = member
        if self._tell and owned[:keep]:
            generation = self._previous.generations[member]
            self._tell(Step.keep(member, owned[:keep], generation=generation))
        if self._tell and owned[keep:]:
            share = f"its share is {keep}" if keep else "there is no share for it"
            self._tell(Step(f"{member} gives up {names(owned[keep:])}: {share}"))

    def _unassigned_partitions(self) -> list[TopicPartition]:
        kept = set(chain.from_iterable(self._assignment.values()))
        return [
            partition
            for topic in sorted(self._partitions_per_topic)
            for partition in AbstractPartitionAssignor.partitions(
                topic, self._partitions_per_topic[topic]
            )
            if partition not in kept
        ]

    def _deal(self, unassigned: list[TopicPartition]) -> None:
        """Go round those below the smaller share; then one more each for those who may have it."""
        under_min, exactly_min = self._under_min, self._exactly_min
        for partition in unassigned:
            member = under_min.popleft() if under_min else exactly_min.popleft()
            mine = self._assignment[member]
            if self._tell:
                self._tell(self._gift(partition, member, len(mine)))
            mine.append(partition)
            if len(mine) < self._min_quota:
                under_min.append(member)
            elif len(mine) == self._min_quota:
                exactly_min.append(member)

    def transferring(self) -> dict[TopicPartition, str]:
        """Partition -> new owner, for those that another member may still be reading."""
        revoked, disputed = self._revoked, self._previous.disputed
        return {
            partition: member
            for member, mine in self._assignment.items()
            for partition in mine
            if revoked.get(partition, member) != member or partition in disputed
        }

    def _quotas(self) -> Step:
        total, members = sum(self._partitions_per_topic.values()), len(self._assignment)
        sentence = (
            f"{count(total, 'partition')} over {count(members, 'member')}: {self._min_quota} each"
        )
        if self._members_over_min:
            sentence += f", and {self._members_over_min} of them one more"
        return Step(sentence)

    def _gift(self, partition: TopicPartition, member: str, holds: int) -> Step:
        giver = self._revoked.get(partition)
        was = f"{giver} gave {partition} up" if giver else f"{partition} has no owner"
        if holds < self._min_quota:
            why = f"{member} holds {holds} of {self._min_quota} and is next"
        else:
            why = f"all hold {self._min_quota} now, and {member} is the next that may have one more"
        sentence = f"{was}: it goes to {member} ({why})"
        return Step.give(member, (partition,), sentence=sentence)
