"""What the models of explorers have in common: what they have place for, and who hears of it."""

from kafkalearn.errors import KafkaError
from kafkalearn.records import whole_number

MAX_PARTITIONS = 24  # a picture with more is no longer read, it is only looked at


class ExplorerError(KafkaError, ValueError):
    """Something that an explorer has no place for, or that is not there."""


class Model:
    """What a learner changes. Knows nothing of pictures; an explorer is one, and a widget too."""

    def _made(self) -> None:
        """Follow the model's `__init__`."""

    def _changed(self) -> None:
        """Follow a change."""


def partitions(count: int, *, of: str = "", least: int = 1) -> int:
    """Check a number of partitions."""
    what = f"the number of partitions{of}"
    number = whole_number(count, what, least=least)
    if number > MAX_PARTITIONS:
        raise ExplorerError(f"{what} is {number}: {least} to {MAX_PARTITIONS} are allowed")
    return number
