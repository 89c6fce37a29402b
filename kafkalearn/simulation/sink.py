"""The world outside: what an application does with a record, and cannot undo."""

from collections.abc import Callable, Iterator

from kafkalearn.consumer.consumer_records import ConsumerRecord
from kafkalearn.errors import IllegalArgumentError


class Sink:
    """A database, or a mail server: it knows nothing of crashes and offsets, and keeps everything.

    Each write is an effect, also a second one of the same record, and leaves a `processed` event.
    """

    def __init__(self, name: str, record: Callable[[ConsumerRecord, str], object]) -> None:
        self.name = name
        self._record = record
        self._effects: list[ConsumerRecord] = []

    def write(self, record: ConsumerRecord) -> None:
        """Let a record have its effect."""
        if not isinstance(record, ConsumerRecord):
            raise IllegalArgumentError(
                f"{record!r:.80} is no ConsumerRecord: a record that a poll returned is allowed"
            )
        self._record(record, self.name)
        self._effects.append(record)

    def __iter__(self) -> Iterator[ConsumerRecord]:
        return iter(self._effects)

    def __len__(self) -> int:
        return len(self._effects)

    def __repr__(self) -> str:
        return f"<Sink {self.name}: {len(self)} effects>"
