"""The steps in which an assignor tells its reasons. It words and replays; it decides nothing."""

from collections.abc import Callable, Iterable, Mapping, Sequence
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
    def give(cls, member: str, partitions: Iterable[TopicPartition], *, sentence: str) -> "Step":
        """Partitions that nobody held go to `member`."""
        return cls(sentence, tuple(Change(partition, None, member) for partition in partitions))

    @classmethod
    def keep(cls, member: str, partitions: Sequence[TopicPartition], *, generation: int) -> "Step":
        """`member` keeps what it got in `generation`; -1 is a claim without one."""
        what = "it" if len(partitions) == 1 else "them"
        when = f"in generation {generation}" if generation >= 0 else "before"
        sentence = f"{member} keeps {names(partitions)}: it owned {what} {when}"
        return cls.give(member, partitions, sentence=sentence)

    def apply(self, assignment: dict[str, list[TopicPartition]]) -> None:
        """Do in `assignment` what this step says: take from the source, append to the target."""
        for partition, source, target in self.changes:
            if source is not None:
                assignment[source].remove(partition)
            if target is not None:
                assignment[target].append(partition)


Tell = Callable[[Step], None]
"""Where an assignor that is asked for its reasons hands each step."""


def follow(steps: Iterable[Step], members: Iterable[str]) -> dict[str, list[TopicPartition]]:
    """Rebuild the assignment from the steps alone; ValueError if a step takes what is not there."""
    assignment: dict[str, list[TopicPartition]] = {member: [] for member in members}
    for step in steps:
        step.apply(assignment)
    return assignment


def names(partitions: Iterable[TopicPartition]) -> str:
    """Read a list of partitions aloud: ``t0-0, t0-1``, or ``nothing``."""
    return ", ".join(map(str, partitions)) or "nothing"


def table(assignment: Mapping[str, Iterable[TopicPartition]]) -> str:
    """An assignment as text, one line a member, by name: ``c0  t-0, t-1``."""
    width = max(map(len, assignment), default=0)
    return "\n".join(
        f"{member:<{width}}  {names(assignment[member])}" for member in sorted(assignment)
    )


def count(number: int, noun: str) -> str:
    """Read a count aloud: ``1 partition``, ``2 partitions``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
