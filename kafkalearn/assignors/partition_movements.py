"""What has moved during one assignment, so that moves of one topic can be undone, not crossed.

Source: org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor.PartitionMovements (3.9).
"""

from collections import defaultdict

from kafkalearn.records import TopicPartition


class PartitionMovements:
    """What moved from whom to whom, so that no two of a topic move in opposite directions."""

    def __init__(self) -> None:
        self._of: dict[TopicPartition, tuple[str, int, int]] = {}
        self._by_pair: defaultdict[tuple[str, int, int], dict[TopicPartition, None]] = defaultdict(
            dict
        )

    def origin(self, partition: TopicPartition, holder: int) -> int:
        """Who held it before anything moved."""
        return self._of[partition][1] if partition in self._of else holder

    def instead_of(self, partition: TopicPartition, *, holder: int, target: int) -> TopicPartition:
        """Give what rather goes to `target`: the newest of the topic that came from there, if any.

        It must have gone to where this partition was at first; moving it back undoes that move.
        Differs from Kafka: there a hash set chooses among several.
        """
        pair = partition.topic, target, self.origin(partition, holder)
        came = self._by_pair.get(pair)
        return next(reversed(came)) if came else partition

    def add(self, partition: TopicPartition, *, source: int, target: int) -> None:
        """Note a move; several of one partition count as one, and one back home as none."""
        if partition in self._of:
            pair = self._of.pop(partition)
            del self._by_pair[pair][partition]
            source = pair[1]
        if source != target:
            pair = self._of[partition] = partition.topic, source, target
            self._by_pair[pair][partition] = None
