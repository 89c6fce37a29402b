"""Who owns what, and what changed: two assignments compared, as frames of plain JSON."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypedDict

from kafkalearn.records import TopicPartition
from kafkalearn.views.needless import needless

Assignment = Mapping[str, Iterable[TopicPartition]]
Owned = dict[str, list[TopicPartition]]
State = Literal["kept", "moved", "needless", "orphaned", "new", "waiting", "left", "unowned"]


class Cell(TypedDict):
    """A partition in a member's row.

    state: kept; moved (`other`, the former owner, is still there); needless (moved, but it could
        have stayed with `other`, see needless.py); orphaned (`other` left); new (nobody had it);
        waiting (`other` must give it up first); left (it was here, `other` has it now); unowned.
    """

    topic: str
    partition: int
    state: State
    other: str | None


class Row(TypedDict):
    """A member with its partitions, by topic and number; `count` is of those that it owns."""

    name: str
    state: Literal["stayed", "joined", "left"]
    count: int
    partitions: list[Cell]


class Frame(TypedDict):
    """One picture: the members' rows, and the numbers of the whole.

    given: partitions that somebody owns.
    could_keep: partitions whose owner before is still there and subscribed; kept: of those.
    moved, needless, orphaned, waiting: how many such cells.
    spread: the most partitions that a member has, minus the fewest.
    first: nothing was owned before. step: the reason that this frame shows; None is the result.
    """

    members: list[Row]
    left: list[str]
    unowned: list[Cell]
    given: int
    kept: int
    could_keep: int
    moved: int
    needless: int
    orphaned: int
    waiting: int
    fewest: int
    most: int
    spread: int
    first: bool
    step: dict[str, Any] | None


class Step(Protocol):
    """A reason, as assignors tell it: `changes` holds (partition, source, target)."""

    @property
    def sentence(self) -> str:
        """For the learner."""

    @property
    def changes(self) -> Sequence[tuple[TopicPartition, str | None, str | None]]:
        """What goes from whom to whom."""

    def apply(self, assignment: Owned) -> None:
        """Make its changes in `assignment`."""


def frames(
    before: Assignment,
    after: Assignment,
    *,
    may_read: Assignment | None = None,
    awaited: Assignment | None = None,
    steps: Sequence[Step] = (),
) -> list[Frame]:
    """Compare two assignments; the last frame is the whole change, after one for each step.

    may_read: member -> the partitions of the topics that it subscribes to after the change;
        without it, everybody may read whatever the assignments name.
    awaited: member -> partitions that it gets once their present owner has given them up.
    """
    change = _Change(before, after, may_read=may_read, awaited=awaited or {})
    result, filling = [], {member: list[TopicPartition]() for member in after}
    for number, step in enumerate(steps, start=1):
        step.apply(filling)
        frame = change.frame(filling, {})
        frame["step"] = {
            "number": number,
            "of": len(steps),
            "sentence": step.sentence,
            "partitions": [list(partition) for partition, _, _ in step.changes],
        }
        result.append(frame)
    return [*result, change.frame(change.after, change.awaited)]


class _Change:
    """What all frames of one change share: both sides of it, and who may read what."""

    def __init__(
        self,
        before: Assignment,
        after: Assignment,
        *,
        may_read: Assignment | None,
        awaited: Assignment,
    ) -> None:
        self.before = {member: sorted(partitions) for member, partitions in before.items()}
        self.after = {member: sorted(partitions) for member, partitions in after.items()}
        self.awaited = {member: sorted(partitions) for member, partitions in awaited.items()}
        self.owner = _owners(self.before)
        told = None
        if may_read is not None:
            told = {member: set(may_read.get(member, ())) for member in self.after}
        named = (self.owner, _owners(self.after), _owners(self.awaited))
        self.wanted = set[TopicPartition]().union(*(named if told is None else told.values()))
        self.may_read = dict.fromkeys(self.after, self.wanted) if told is None else told
        self.needless = needless(self.owner, self.after, may_read=told)

    def frame(self, after: Owned, awaited: Owned) -> Frame:
        now = _owners(after)
        rows = [self._row(member, after, awaited=awaited, now=now) for member in self._members()]
        states = Counter(cell["state"] for row in rows for cell in row["partitions"])
        sizes = [row["count"] for row in rows if row["state"] != "left"]
        fewest, most = min(sizes, default=0), max(sizes, default=0)
        unowned = self.wanted - now.keys() - _owners(awaited).keys()
        return {
            "members": rows,
            "left": [row["name"] for row in rows if row["state"] == "left"],
            "unowned": [_cell(p, "unowned") for p in sorted(unowned)],
            "given": sum(row["count"] for row in rows),
            "kept": states["kept"],
            "could_keep": sum(p in self.may_read.get(m, ()) for p, m in self.owner.items()),
            "moved": states["moved"],
            "needless": states["needless"],
            "orphaned": states["orphaned"],
            "waiting": states["waiting"],
            "fewest": fewest,
            "most": most,
            "spread": most - fewest,
            "first": not self.owner,
            "step": None,
        }

    def _members(self) -> list[str]:
        return list(self.before) + [member for member in self.after if member not in self.before]

    def _row(
        self, member: str, after: Owned, *, awaited: Owned, now: Mapping[TopicPartition, str]
    ) -> Row:
        if member not in self.after:
            gone = [
                _cell(p, "left", other=now.get(p)) for p in self.before[member] if p in self.wanted
            ]
            return {"name": member, "state": "left", "count": 0, "partitions": gone}
        cells = [self._owned(p, member) for p in after[member]]
        cells += [_cell(p, "waiting", other=self.owner.get(p)) for p in awaited.get(member, ())]
        return {
            "name": member,
            "state": "stayed" if member in self.before else "joined",
            "count": len(after[member]),
            "partitions": sorted(cells, key=lambda cell: (cell["topic"], cell["partition"])),
        }

    def _owned(self, partition: TopicPartition, member: str) -> Cell:
        owner = self.owner.get(partition)
        state: State = "orphaned"
        if owner is None:
            state = "new"
        elif owner == member:
            state = "kept"
        elif owner in self.after:
            state = "needless" if partition in self.needless else "moved"
        return _cell(partition, state, other=owner)


def _owners(assignment: Owned) -> dict[TopicPartition, str]:
    return {p: member for member, partitions in assignment.items() for p in partitions}


def _cell(partition: TopicPartition, state: State, *, other: str | None = None) -> Cell:
    return {
        "topic": partition.topic,
        "partition": partition.partition,
        "state": state,
        "other": other,
    }
