"""Which Kafka's rules hold for topics, and for records on their way into them.

Source: AdminManager, KafkaApis and the producer of Kafka 0.10.1.1, 1.0.2, 2.3.1, 2.4.0 and of trunk
before 4.0.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class TopicRules:
    """The switches of brokers and producers that no group asks about."""

    # What brokers do.

    create_topics_checks: tuple[str, ...] = ("name", "configs", "count")
    """In which order a new topic is checked; one that exists, or collides with another, is found
    with its name: last, in 1.0. Since 2.3.1 (KAFKA-8875) that it exists is found first; in 4.0 the
    name comes first."""
    new_topic_is_unknown: bool = True
    """A topic that is made because somebody asks about it is UNKNOWN_TOPIC_OR_PARTITION in that
    answer, even if it cannot be made since its name collides: the controller hears of it only then.
    Before, LEADER_NOT_AVAILABLE or what is wrong with it (4.0, with KRaft alone)."""
    deletion_disabled_is_told: bool = True
    """Where delete.topic.enable is off, DeleteTopics is refused with TOPIC_DELETION_DISABLED, which
    used to time out (2.1, KAFKA-5975)."""
    batch_is_measured: bool = True
    """message.max.bytes is the most for a batch; before, for each of its messages (0.11, with
    KIP-98)."""

    # What producers do.

    unknown_partition_is_awaited: bool = True
    """A send to a partition that its topic does not have waits for it, up to max.block.ms, where it
    used to be refused after one look at the metadata (2.2)."""
    invalid_topic_is_told: bool = True
    """A send to a topic that the brokers refuse fails as soon as they say so; before, it waited for
    max.block.ms (2.1, KAFKA-5098)."""
    close_fails_sends: bool = True
    """A producer's end fails what is not done with KafkaException, also a send that waits for
    metadata, as soon as nobody asks for it any more; before, that waited for max.block.ms, and what
    was given up or came too late failed with IllegalStateException (2.0, KAFKA-6897)."""
    close_ends_wait_for_memory: bool = True
    """A send that waits for memory fails as soon as its producer is closed; before, it waited until
    there was room, and failed then (2.4.1, KAFKA-9449)."""
    request_timeout_is_told: bool = True
    """Records whose request was not answered in time fail with REQUEST_TIMED_OUT, not as if the
    connection had ended by itself, with NETWORK_EXCEPTION (3.5, KAFKA-14317)."""
    failed_send_metadata: str = "always"
    """Whether a callback gets a RecordMetadata beside an error: never; once_in_batch, if the record
    was in a batch before it failed (1.1); always (3.2, KAFKA-12841)."""
    record_headers: bool = True
    """A record may have headers (0.11, KIP-82)."""
    null_key_partitioner: str = "uniform_sticky"
    """Where a record without key and partition goes: round_robin_one_counter (of the producer),
    round_robin_per_topic (0.10.2), sticky (one partition a batch: 2.4, KIP-480) or uniform_sticky
    (one partition for batch.size bytes: 3.3, KIP-794)."""
