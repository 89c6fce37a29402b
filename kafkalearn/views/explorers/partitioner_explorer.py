"""Change keys and the number of partitions, see where each key goes. Draws; decides nothing."""

from kafkalearn.views.explorers import partitioner_page as drawn
from kafkalearn.views.explorers.explored_keys import ExploredKeys
from kafkalearn.views.explorers.explorer import Explorer
from kafkalearn.views.wording import plural, shown


class PartitionerExplorer(ExploredKeys, Explorer):
    """Shows which partition each key goes to, and which keys move when there are more partitions.

    partition: ``partition(key, partitions) -> int``, as a producer places a record; or several by
    name, to choose from. It is asked with None for a record without a key, one after the other.
    keys: texts, or None for a record without a key. hash_of: the hash of a key, to show the sums.

    The controls in the picture do what the methods do. At most 60 keys and 24 partitions.

    Errors: ExplorerError, and for a partition count InvalidAssignmentInputError: all ValueErrors.
    """

    actions = ("set_partitions", "add_key", "add_next_key", "remove_key", "choose", "start_over")

    def picture(self) -> str:
        """Draw what is shown now as one SVG document."""
        return drawn.picture(self.frame, self.said())

    def __repr__(self) -> str:
        keys, partitions = len(self.frame["keys"]), self.frame["partitions"]
        size = f"{plural(keys, 'key')}, {plural(partitions, 'partition')}"
        return f"PartitionerExplorer({shown(self.state.chosen)}: {size})"

    def _page(self, notice: str) -> str:
        return drawn.page(self, notice)
