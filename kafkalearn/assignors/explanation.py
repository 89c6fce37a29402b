"""The steps in which an assignor tells its reasons. It words and replays; it decides nothing."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from kafkalearn.records import TopicPartition


class Change(NamedTuple):
    """A partition goes from one member to another; None is nobody."""

    partition: TopicPartition
    source: str | None
    target: str | None


@dataclass(frozen=True, slots=True)
class Step:
    """One reason: a sentence for the learner, and what changes hands with it (maybe nothing)."""

    sentence: str
    changes: tuple[Change, ...] = ()

    @classmethod
    def give(cls, member: str, partitions: Iterable[TopicPartition], sentence: str) -> "Step":
        """Partitions that nobody held go to `member`."""
        return cls(sentence, tuple(Change(partition, None, member) for partition in partitions))

    def apply(self, assignment: dict[str, list[TopicPartition]]) -> None:
        """Do in `assignment` what this step says: take from the source, append to the target."""
        for partition, source, target in self.changes:
            if source is not None:
                assignment[source].remove(partition)
            if target is not None:
                assignment[target].append(partition)


def follow(steps: Iterable[Step], members: Iterable[str]) -> dict[str, list[TopicPartition]]:
    """Rebuild the assignment from the steps alone; ValueError if a step takes what its source does not hold."""
    assignment: dict[str, list[TopicPartition]] = {member: [] for member in members}
    for step in steps:
        step.apply(assignment)
    return assignment
