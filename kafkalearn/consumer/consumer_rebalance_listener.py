"""What an application is told when its partitions come and go.

Source: org.apache.kafka.clients.consumer.ConsumerRebalanceListener (2.4.0).
"""

from collections.abc import Sequence

from kafkalearn.records import TopicPartition


class ConsumerRebalanceListener:
    """Derive from it and override what is wanted; as it is, it does nothing.

    All of it runs inside poll(), on the consumer's own process. What it raises comes out of there
    from 2.4 on; before, Kafka only logs it, and so does the trace: ``trace.where(kind="logged")``.
    """

    def on_partitions_revoked(self, partitions: Sequence[TopicPartition]) -> None:
        """Save what belongs to these partitions: they are still this consumer's, so a commit works.

        Differs from Kafka: its interface has no default here, nor for on_partitions_assigned.
        """

    def on_partitions_assigned(self, partitions: Sequence[TopicPartition]) -> None:
        """Get ready to read these partitions: seek() works from here on."""

    def on_partitions_lost(self, partitions: Sequence[TopicPartition]) -> None:
        """Let go of partitions that may be another's already (since 2.4): a commit would fail."""
        self.on_partitions_revoked(partitions)
