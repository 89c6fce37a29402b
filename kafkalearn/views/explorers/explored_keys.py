"""The keys that an explorer plays with. A refused value is an error that says what is allowed."""

from collections.abc import Iterable, Mapping
from itertools import count
from typing import NamedTuple

from kafkalearn.records import whole_number
from kafkalearn.views.explorers.explored_group import ExplorerError
from kafkalearn.views.explorers.partitioner import Frame, HashOf, Place, frame
from kafkalearn.views.wording import plural, shown

MAX_KEYS = 60
MAX_PARTITIONS = 24
MAX_KEY = 200


class State(NamedTuple):
    """All that a learner can change; before: how many partitions there were before the last."""

    keys: tuple[str | None, ...]
    partitions: int
    before: int | None
    chosen: str


class ExploredKeys:
    """`state`, the `frame` that it gives, and `change`: what happened last.

    The n-th record without a key keeps its place, for each partitioner and number of partitions.
    """

    def __init__(
        self, places: Mapping[str, Place], start: State, *, hash_of: HashOf | None
    ) -> None:
        self.places = places
        self._hash_of = hash_of
        self._nulls: dict[tuple[str, int], list[int]] = {}
        self._start = start._replace(
            keys=_keys(start.keys), partitions=_partitions(start.partitions)
        )
        self.start_over()

    def start_over(self) -> None:
        """Go back to the keys and partitions of the beginning."""
        self._become(self._start, "Equal keys go to the same partition, and so stay in order")

    def set_keys(self, keys: Iterable[str | None]) -> None:
        """Take other keys."""
        self._become(self.state._replace(keys=_keys(keys)), "Other keys")

    def add_key(self, key: str | None) -> None:
        """Take one key more, or with None a record without one."""
        state = self.state._replace(keys=_keys((*self.state.keys, key)))
        self._become(state, "")
        place = self.frame["keys"][-1]["partition"]
        self.change = f"{_named(key)} goes to partition {place}"

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
        now, before = _partitions(partitions), self.state.partitions
        if now != before:
            self._become(
                self.state._replace(partitions=now, before=before),
                f"The topic has {plural(now, 'partition')} instead of {before}",
            )

    def choose(self, name: str) -> None:
        """Take another partitioner."""
        if name not in self.places:
            allowed = ", ".join(self.places)
            raise ExplorerError(f"there is no partitioner {name!r:.80}: {allowed} are allowed")
        self._become(self.state._replace(chosen=name), f"Partitioner: {shown(name, 60)}")

    def sentence(self) -> str:
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

    def _become(self, state: State, change: str) -> None:
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
        self.state, self.change = state, change

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


def _partitions(partitions: int) -> int:
    number = whole_number(partitions, "the number of partitions", least=1)
    if number > MAX_PARTITIONS:
        raise ExplorerError(
            f"the number of partitions is {number}: 1 to {MAX_PARTITIONS} are allowed"
        )
    return number
