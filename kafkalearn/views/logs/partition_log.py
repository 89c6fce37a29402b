"""What is known of one partition's log: its records, who reads them, and what became of each."""

from collections import Counter
from collections.abc import Iterator

from kafkalearn.views.logs.spans import Spans, add, clip, common, cut, holds, minus
from kafkalearn.views.wording import shown

CELLS = 24
CELL_KINDS = {"p": "processed", "r": "returned", "u": "unread", "l": "lost", "d": "deleted"}
_STEP = 8  # the cells that are shown move on in such steps, so that a picture stands still
_NAMES = 3
_END = 1 << 63  # after every offset


class Reader:
    """position: None while it is not known. work: what polls returned and nobody processed yet."""

    __slots__ = ("position", "work")

    def __init__(self) -> None:
        self.position: int | None = None
        self.work: Spans = []


class PartitionLog:
    """One log as a group sees it.

    first: the first record ever. begin: the first that is not deleted. end: the next to come.
    since: where the group began, at the lowest; nothing before it is missed. None before that.
    entered: where a consumer began last.
    handed_out: where the records begin that a poll returned last.
    gone: who read it last and is gone, and why. refused: who, offset and error, of the last commit.
    forgotten: the committed offset that expired.
    again: how often, of what was processed more than once; twice: the same as spans.
    processing_is_told: else nothing is known of what is lost.
    """

    def __init__(self, *, processing_is_told: bool) -> None:
        self._known = False
        self.first = self.begin = self.end = 0
        self.since: int | None = None
        self.entered: int | None = None
        self.handed_out = 0
        self.committed: int | None = None
        self.done: Spans = []
        self.again: dict[int, int] = {}
        self.twice: Spans = []
        self.readers: dict[str, Reader] = {}
        self.gone: tuple[str, str] | None = None
        self.refused: tuple[str, int, str] | None = None
        self.forgotten: int | None = None
        self._effects: Counter[tuple[int, str]] = Counter()
        self._processing_is_told = processing_is_told

    # What happens to it.

    def append(self, offset: int, count: int) -> None:
        """Take records."""
        self._see(offset, offset + count)

    def grow(self, end: int) -> None:
        """Hear that it reaches so far at least."""
        self.end = max(self.end, end)

    def delete_before(self, offset: int) -> None:
        """Keep only what comes from `offset` on."""
        self.begin = max(self.begin, offset)
        self._see(self.begin, self.begin)

    def assign(self, node: str) -> None:
        """Let a consumer have it."""
        self.readers.setdefault(node, Reader())
        self.gone = None

    def move(self, node: str, offset: int | None, *, read_on: bool) -> None:
        """Note what a consumer reads next; read_on: a poll returns what it has passed."""
        self.assign(node)
        reader = self.readers[node]
        before, reader.position = reader.position, offset
        if offset is None:
            return
        self._begin_at(offset)
        self.refused = self.forgotten = None
        if not read_on:
            self.entered = offset
        elif before is not None:
            reader.work = add(reader.work, (before, offset))

    def hand_out(self, node: str, offset: int, *, count: int) -> None:
        """Let a consumer's poll return records."""
        self._see(offset, offset + count)
        self._begin_at(offset)
        self.assign(node)
        reader = self.readers[node]
        reader.work = add(reader.work, (offset, offset + count))
        self.handed_out = offset
        self.refused = None

    def process(self, node: str, offset: int, *, sink: str) -> None:
        """Note a record's effect; who has it returned is done with it."""
        self._see(offset, offset + 1)
        self._begin_at(offset)
        self.done = add(self.done, (offset, offset + 1))
        self._effects[offset, sink] += 1
        if self._effects[offset, sink] > 1:
            self.again[offset] = max(self.again.get(offset, 0), self._effects[offset, sink])
            self.twice = add(self.twice, (offset, offset + 1))
        own = self.readers.get(node)
        for reader in self.readers.values() if own is None else [own]:
            reader.work = cut(reader.work, (offset, offset + 1))

    def drop(self, node: str, why: str) -> None:
        """Let a consumer be gone, with what it had in work."""
        del self.readers[node]
        self.gone = node, why

    def commit(self, offset: int) -> None:
        """Note where the group goes on."""
        self._begin_at(offset)
        self.committed = offset
        self.refused = self.forgotten = None

    def refuse(self, node: str, offset: int, *, error: str) -> None:
        """Note a commit that failed, unless what is committed is past it already."""
        if self.committed is None or offset >= self.committed:
            self.refused = node, offset, error

    def forget_committed(self) -> None:
        """Let the committed offset be unknown."""
        self.committed, self.forgotten = None, self.committed

    def _see(self, offset: int, end: int) -> None:
        """Know of records from `offset` to before `end`."""
        self.first = min(self.first, offset) if self._known else offset
        self.begin = max(self.begin, self.first)
        self.end = max(self.end, end)
        self._known = True

    def _begin_at(self, offset: int) -> None:
        self.since = offset if self.since is None else min(self.since, offset)

    # What follows from it.

    def names(self, spans: Spans) -> str:
        """Name those who have some of these in work, else who comes to them, else all."""
        readers = self.readers.items()
        at_work = [node for node, reader in readers if common(reader.work, spans)]
        end = spans[-1][1] if spans else 0
        to_come = [node for node, reader in readers if (reader.position or 0) < end]
        return _named(at_work or to_come or list(self.readers))

    def positions(self) -> list[tuple[int, str]]:
        """Give the positions, each with the consumers that are there."""
        at: dict[int, list[str]] = {}
        for node, reader in self.readers.items():
            if reader.position is not None:
                at.setdefault(reader.position, []).append(node)
        return [(offset, _named(at[offset])) for offset in sorted(at)]

    def front(self) -> int:
        """Give the lowest position of those that read it; without one, the end of all offsets."""
        places = [each.position for each in self.readers.values() if each.position is not None]
        return min(places, default=_END)

    def in_work(self) -> Spans:
        """What consumers that are there have returned and not processed."""
        works = [reader.work for reader in self.readers.values() if reader.work]
        spans = works[0] if works else []
        for span in (each for work in works[1:] for each in work):
            spans = add(spans, span)
        return spans

    def is_in_work(self, offset: int) -> bool:
        """Whether a consumer that is there has this record, and has not processed it."""
        return any(holds(reader.work, offset) for reader in self.readers.values())

    def passed(self) -> Spans:
        """What is committed past and was not processed: it is lost, or would be by a crash."""
        if not self._processing_is_told or self.since is None:
            return []
        end = min(self.end, max(self.committed or 0, self.begin))
        return minus([(self.since, end)] if end > self.since else [], self.done)

    def lost(self) -> Spans:
        """The part of that which nobody can process any more."""
        passed = self.passed()
        to_come = clip(passed, (max(self.begin, self.front()), _END))
        return minus(minus(passed, to_come), self.in_work())

    def uncommitted(self) -> tuple[Spans, Spans]:
        """What a new reader would get again: that was processed, and that is in work."""
        first = self.committed
        if first is None:
            first = self.begin if self.entered is None else self.entered
        left = first, _END
        return clip(self.done, left), clip(minus(self.in_work(), self.done), left)

    def repeated(self) -> Spans:
        """What was processed, and is in work or to be read once more."""
        again = clip(self.done, (self.front(), _END))
        for span in common(self.done, self.in_work()):
            again = add(again, span)
        return again

    def window(self) -> tuple[int, int]:
        """Choose the cells to show: all, or some around the work and what is committed."""
        first = self.first
        if self.end - first > CELLS:
            focus = min(self._places(), default=self.end)
            step = (focus - self.first) // _STEP - 1
            first = max(first, min(first + step * _STEP, self.end - _STEP))
        return first, min(first + CELLS, self.end)

    def _places(self) -> Iterator[int]:
        if work := clip(self.in_work(), (self.handed_out, _END)):
            yield work[0][0]
        elif self.committed is not None:
            yield self.committed
        elif self.front() < _END:
            yield self.front()

    def cells(self, first: int, end: int, *, lost: Spans) -> str:
        """Say what became of each of these records, in a letter each: see CELL_KINDS."""
        cells = ["u"] * (end - first)
        deleted = [(first, self.begin)]
        layers = ("r", self.in_work()), ("p", self.done), ("d", deleted), ("l", lost)
        for kind, spans in layers:
            for low, high in clip(spans, (first, end)):
                cells[low - first : high - first] = kind * (high - low)
        return "".join(cells)


def _named(nodes: list[str]) -> str:
    return ", ".join([*map(shown, nodes[:_NAMES]), *["…"] * (len(nodes) > _NAMES)])
