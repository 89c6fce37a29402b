"""Change keys and the number of partitions, see where each key goes. Draws; decides nothing."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kafkalearn.views.assets import joined
from kafkalearn.views.explorers import partitioner_page as drawn
from kafkalearn.views.explorers.drawn_widget import DrawnWidget
from kafkalearn.views.explorers.explored_group import ExplorerError
from kafkalearn.views.explorers.explored_keys import ExploredKeys, State
from kafkalearn.views.explorers.partitioner import HashOf, Place, as_text
from kafkalearn.views.wording import plural, shown


class PartitionerExplorer(DrawnWidget):
    """Shows which partition each key goes to, and which keys move when there are more partitions.

    partition: ``partition(key, partitions) -> int``, as a producer places a record; or several by
    name, to choose from. It is asked with None for a record without a key, one after the other.
    keys: texts, or None for a record without a key. hash_of: the hash of a key, to show the sums.

    The controls in the picture do what the methods do. At most 60 keys and 24 partitions.

    Errors: ExplorerError, and for a partition count InvalidAssignmentInputError: all ValueErrors.
    """

    actions = (
        *("set_partitions", "add_key", "add_next_key", "remove_key", "choose", "start_over"),
    )
    _css = joined("look.css", "explorers/explorer.css", "explorers/partitioner.css")

    def __init__(
        self,
        partition: Place | Mapping[str, Place],
        *,
        keys: Iterable[str | None],
        partitions: int = 3,
        hash_of: HashOf | None = None,
    ) -> None:
        places = partition if isinstance(partition, Mapping) else {"partitioner": partition}
        if not places or not all(map(callable, places.values())):
            raise ExplorerError(f"{partition!r:.80} is no partitioner: a function of key and count")
        start = State(keys, partitions, None, next(iter(places)))  # type: ignore[arg-type]
        self._keys = ExploredKeys(places, start, hash_of=hash_of)
        super().__init__()

    @property
    def placed(self) -> list[tuple[str | None, int]]:
        """Each key with the partition that it goes to, in their order."""
        return [(row["key"], row["partition"]) for row in self._keys.frame["keys"]]

    def set_keys(self, keys: Iterable[str | None]) -> None:
        """Take other keys."""
        self._change(self._keys.set_keys, keys)

    def add_key(self, key: str | None) -> None:
        """Take one key more, or with None a record without one."""
        self._change(self._keys.add_key, key)

    def add_next_key(self) -> None:
        """Take one key more: the first that is free of user-0, user-1 and so on."""
        self._change(self._keys.add_next_key)

    def remove_key(self, key: str | None) -> None:
        """Leave a key out, or with None the last record without one."""
        self._change(self._keys.remove_key, key)

    def set_partitions(self, partitions: int) -> None:
        """Give the topic another number of partitions, and compare with those that it had."""
        self._change(self._keys.set_partitions, partitions)

    def choose(self, name: str) -> None:
        """Take another of the partitioners."""
        self._change(self._keys.choose, name)

    def start_over(self) -> None:
        """Go back to the keys and partitions of the beginning, and the first partitioner."""
        self._change(self._keys.start_over)

    def as_text(self) -> str:
        """Tell in words what the picture shows."""
        return f"{self._said()}\n\n{as_text(self._keys.frame)}"

    def picture(self) -> str:
        """Draw what is shown now as one SVG document."""
        return drawn.picture(self._keys.frame, self._said())

    def __repr__(self) -> str:
        frame = self._keys.frame
        size = f"{plural(len(frame['keys']), 'key')}, {plural(frame['partitions'], 'partition')}"
        return f"PartitionerExplorer({shown(self._keys.state.chosen)}: {size})"

    def _change(self, change: Callable[..., None], *arguments: Any) -> None:
        change(*arguments)
        self._draw()

    def _page(self, notice: str) -> str:
        keys = self._keys
        said, chosen = self._said(), keys.state.chosen
        return drawn.page(keys.frame, said, notice=notice, places=keys.places, chosen=chosen)

    def _said(self) -> str:
        return self._keys.sentence()
