"""What holds of committed offsets, as folds over a trace."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from kafkalearn.trace import Event
from tests.stateful.followed import GROUP_KINDS, exchange_of, fields_of, has_ended


class Committed(NamedTuple):
    """What may be committed for a partition, and since when."""

    offset: int = -1  # what OffsetFetch answers where nothing is
    metadata: str = ""
    since_ms: int = -1

    def __str__(self) -> str:
        """Tell it in a sentence."""
        return f"{self.offset} {self.metadata!r}"


NOTHING = Committed()


@dataclass
class _Offsets:
    """The offsets of one group, as far as answers tell.

    held: what each partition's may be, the oldest first: more than one after a commit that
    arrived and was not answered.
    """

    held: dict[str, list[Committed]] = field(default_factory=dict)
    emptied_ms: float = math.inf

    def come(self, offsets: dict, now_ms: int) -> None:
        """Let a commit arrive."""
        for name, asked in offsets.items():
            committed = Committed(asked["offset"], asked["metadata"], now_ms)
            self.held.setdefault(name, [NOTHING]).append(committed)

    def answer(self, errors: dict[str, str]) -> None:
        """Know what became of the commit that came last."""
        for name, error in errors.items():
            committed = self.held[name].pop()
            if error == "NONE":
                self.held[name] = [committed]

    def fetch(self, told: dict, *, everything: bool) -> Iterator[str]:
        """Say what an OffsetFetch tells that cannot be; what it tells is so from now on."""
        for name in list(self.held) if everything else told:
            fetched = (
                Committed(told[name]["offset"], told[name]["metadata"]) if name in told else NOTHING
            )
            may_be = self.held.get(name, [NOTHING])
            self.held[name] = [each for each in may_be if each[:2] == fetched[:2]]
            if not self.held[name]:
                yield f"{name} is told as {fetched}, but is {' or '.join(map(str, may_be))}"
                self.held[name] = [fetched]

    def expire(self, event: Event, retention_ms: int) -> Iterator[str]:
        """Say what is wrong with an offset_expired."""
        name = f"{event.topic}-{event.partition}"
        may_be = [each for each in self.held.get(name, []) if each.offset == event.offset]
        if not may_be:
            yield f"{name} loses {event.offset}, which it does not have"
        elif event.detail["reason"] == "expired":
            age_ms = event.time_ms - min(may_be[-1].since_ms, self.emptied_ms)
            if age_ms < retention_ms:
                yield f"{name} loses {event.offset} after {age_ms} ms"
        self.held[name] = [NOTHING]

    def end(self) -> Iterator[str]:
        """Say what is lost when the group ends by itself."""
        for name, may_be in self.held.items():
            if NOTHING not in may_be:
                yield f"ends with {name} at {may_be[0]}"


def lost_commits(events: Iterable[Event], *, retention_ms: int) -> Iterator[str]:
    """What a group's OffsetFetch tells is the last commit that was answered NONE.

    Or one that arrived later and got no answer; or nothing, after an offset_expired. Retention
    counts from the commit, or from when the group became Empty if that was before it.
    """
    sent: dict[tuple, dict] = {}
    groups: dict[str | None, _Offsets] = {}
    deleted_topics = set()
    for event in events:
        group = groups.setdefault(event.group_id, _Offsets())
        found: Iterable[str] = ()
        match event.kind, event.api:
            case "send", "OffsetCommit" | "OffsetFetch":
                sent[exchange_of(event)] = fields_of(event)
            case "receive", "OffsetCommit":
                group.come(sent[exchange_of(event)]["offsets"], event.time_ms)
            case "respond", "OffsetCommit":
                group.answer(fields_of(event)["partitions"])
            case "respond", "OffsetFetch" if event.error == "NONE":
                everything = "partitions" not in sent[exchange_of(event)]
                found = group.fetch(fields_of(event).get("partitions", {}), everything=everything)
            case "offset_expired", _:
                found = group.expire(event, retention_ms)
                if event.detail["reason"] != "expired" and event.topic not in deleted_topics:
                    yield f"{event.seq}: {event.topic} was not deleted"
            case "topic_changed", _ if event.detail["change"] == "deleted":
                deleted_topics.add(event.topic)
            case "group_state", _ if event.detail["to"] == "Empty":
                group.emptied_ms = event.time_ms
            case "group_state", _ if has_ended(event):
                if event.detail["reason"] != "deleted":
                    found = group.end()
                del groups[event.group_id]
        yield from (f"{event.seq}: {event.group_id}: {sentence}" for sentence in found)


def commits_half_done(events: Iterable[Event]) -> Iterator[str]:
    """What a commit stores is what it answers NONE; a refused one does nothing at all."""
    handled: dict[str, tuple] = {}  # broker -> the request that it took last, and what it did then
    for event in events:
        if event.kind == "receive":
            handled[event.node] = exchange_of(event), []
        elif event.kind in {*GROUP_KINDS, "append"} and event.node in handled:
            handled[event.node][1].append(event)
        elif event.kind == "respond" and event.api == "OffsetCommit":
            exchange, done = handled[event.node]
            assert exchange == exchange_of(event), "a commit is answered at once"
            errors = fields_of(event)["partitions"]
            accepted = {name for name, error in errors.items() if error == "NONE"}
            stored = {
                f"{each.topic}-{each.partition}" for each in done if each.kind == "offset_stored"
            }
            if stored != accepted:
                yield f"{event.seq}: {sorted(stored)} are stored, {sorted(accepted)} answered NONE"
            others = {each.kind for each in done} - {"offset_stored", "append"}
            if others or (done and not accepted):
                yield f"{event.seq}: a commit did {sorted({each.kind for each in done})}"
