"""The keys that an explorer plays with. A refused value is an error that says what is allowed."""

from collections.abc import Iterable, Mapping
from itertools import count
from typing import NamedTuple

from kafkalearn.views.explorers.model import ExplorerError, Model
from kafkalearn.views.explorers.model import partitions as checked
from kafkalearn.views.explorers.partitioner import Frame, HashOf, Place, as_text, frame
from kafkalearn.views.wording import plural, shown

MAX_KEYS = 60
MAX_KEY = 200


class State(NamedTuple):
    """All that a learner can change; before: how many partitions there were before the last."""

    keys: tuple[str | None, ...]
    partitions: int
    before: int | None
    chosen: str


class ExploredKeys(Model):
    """`state`, the `frame` that it gives, and `change`: what happened last.

    The n-th record without a key keeps its place, for each partitioner and number of partitions.
    """

    def __init__(
        self,
        partition: Place | Mapping[str, Place],
        *,
        keys: Iterable[str | None],
        partitions: int = 3,
        hash_of: HashOf | None = None,
    ) -> None:
        self.places = partition if isinstance(partition, Mapping) else {"partitioner": partition}
        if not self.places or not all(map(callable, self.places.values())):
            raise ExplorerError(f"{partition!r:.80} is no partitioner: a function of key and count")
        self._hash_of = hash_of
        self._nulls: dict[tuple[str, int], list[int]] = {}
        self._start = State(_keys(keys), checked(partitions), None, next(iter(self.places)))
        self.start_over()
        self._made()

    @property
    def placed(self) -> list[tuple[str | None, int]]:
        """Each key with the partition that it goes to, in their order."""
        return [(row["key"], row["partition"]) for row in self.frame["keys"]]

    def start_over(self) -> None:
        """Go back to the keys and partitions of the beginning, and the first partitioner."""
        self._become(self._start, "Equal keys go to the same partition, and so stay in order")

    def set_keys(self, keys: Iterable[str | None]) -> None:
        """Take other keys."""
        self._become(self.state._replace(keys=_keys(keys)), "Other keys")

    def add_key(self, key: str | None) -> None:
        """Take one key more, or with None a record without one."""
        state = self.state._replace(keys=_keys((*self.state.keys, key)))
        self._become(state, f"{_named(key)} goes to partition", ends_with_place=True)

    def add_next_key(self) -> None:
        """Take one key more: the first that is free of user-0, user-1 and so on."""
        self.add_key(next(key for n in count() if (key := f"user-{n}") not in self.state.keys))

    def remove_key(self, key: str | None) -> None:
        """Leave a key out, or with None the last record without one."""
        if key not in self.state.keys:
            raise ExplorerError(f"{_named(key)} is not there")
        at = len(self.state.keys) - 1 - self.state.keys[::-1].index(key)
        keys = (*self.state.keys[:at], *self.state.keys[at + 1 :])
        self._become(self.state._replace(keys=keys), f"{_named(key)} is gone")

    def set_partitions(self, partitions: int) -> None:
        """Give the topic another number of partitions, and compare with those that it had."""
        now, before = checked(partitions), self.state.partitions
        if now != before:
            self._become(
                self.state._replace(partitions=now, before=before),
                f"The topic has {plural(now, 'partition')} instead of {before}",
            )

    def choose(self, name: str) -> None:
        """Take another of the partitioners."""
        if name not in self.places:
            allowed = ", ".join(self.places)
            raise ExplorerError(f"there is no partitioner {name!r:.80}: {allowed} are allowed")
        self._become(self.state._replace(chosen=name), f"Partitioner: {shown(name, 60)}")

    def said(self) -> str:
        """Say what happened, and what it means for the keys."""
        moved, before = self.frame["moved"], self.frame["before"]
        keyed = sum(key is not None for key in self.state.keys)
        if before is None or not keyed:
            return f"{self.change}."
        if not moved:
            return f"{self.change}. No key goes elsewhere than with {plural(before, 'partition')}."
        told = f"{moved} of {plural(keyed, 'key')} {'goes' if moved == 1 else 'go'} elsewhere than"
        risk = "their new records are no longer in order with the older ones"
        return f"{self.change}. {told} with {plural(before, 'partition')}: {risk}."

    def as_text(self) -> str:
        """Tell in words what the picture shows."""
        return f"{self.said()}\n\n{as_text(self.frame)}"

    def _become(self, state: State, change: str, *, ends_with_place: bool = False) -> None:
        """Ask for every place first, so that what fails changes nothing."""
        try:
            self.frame: Frame = frame(
                state.keys,
                state.partitions,
                place=self._place_of(state),
                before=state.before,
                hash_of=self._hash_of,
            )
        except ExplorerError:
            raise
        except Exception as error:  # a learner's own partitioner may raise anything
            said = shown(f"{type(error).__name__}: {error}", 160)
            raise ExplorerError(f"the partitioner failed with {said}") from error
        place = f" {self.placed[-1][1]}" if ends_with_place else ""
        self.state, self.change = state, f"{change}{place}"
        self._changed()

    def _place_of(self, state: State) -> Place:
        nulls = self._nulls.setdefault((state.chosen, state.partitions), [])
        number = count()

        def place(key: str | None, partitions: int) -> int:
            if key is not None:
                return _asked(self.places[state.chosen], key, partitions)
            nth = next(number)
            if nth == len(nulls):
                nulls.append(_asked(self.places[state.chosen], key, partitions))
            return nulls[nth]

        return place


def _asked(place: Place, key: str | None, partitions: int) -> int:
    partition = place(key, partitions)
    if type(partition) is not int or partition not in range(partitions):
        raise ExplorerError(
            f"the partitioner gives {partition!r:.80} for {_named(key)}: 0 to {partitions - 1} is "
            "allowed"
        )
    return partition


def _named(key: object) -> str:
    return "a record without a key" if key is None else f"key {shown(str(key))!r}"


def _keys(keys: Iterable[str | None]) -> tuple[str | None, ...]:
    if isinstance(keys, str) or not isinstance(keys, Iterable):
        raise ExplorerError(
            f"keys is {keys!r:.80}: a list of texts, or None for no key, is allowed"
        )
    found = tuple(keys)
    for key in found:
        if key is not None and (not isinstance(key, str) or len(key) > MAX_KEY):
            raise ExplorerError(
                f"{key!r:.80} is no key: None or a text of up to {MAX_KEY} characters is allowed"
            )
    texts = [key for key in found if key is not None]
    if twice := [key for key in texts if texts.count(key) > 1]:
        raise ExplorerError(f"{_named(twice[0])} is there already: equal keys go together")
    if len(found) > MAX_KEYS:
        raise ExplorerError(f"{len(found)} keys are too many: at most {MAX_KEYS} fit the picture")
    return found
