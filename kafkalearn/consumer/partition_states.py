"""How far a consumer is in each partition that it has.

Source: document 004 (appendix); org.apache.kafka.clients.consumer.internals.SubscriptionState and
org.apache.kafka.common.internals.PartitionStates (1.0.2).
"""

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass
from reprlib import repr as short

from kafkalearn.consumer.offset_reset_strategy import AutoOffsetResetStrategy, OffsetResetStrategy
from kafkalearn.errors import IllegalArgumentError, IllegalStateError
from kafkalearn.records import MAX_INT, OffsetAndMetadata, TopicPartition, check_offset, check_topic


@dataclass(slots=True)
class TopicPartitionState:
    """How far the consumer is in one partition.

    position: the offset to fetch next; None while it is not known.
    high_watermark: as of the last fetch.
    committed: what is known to be committed.
    paused: whether the application does not want its records for now.
    pending_revocation: whether it is committed and given up next (3.2).
    reset_strategy: set while the position is to be looked up.
    next_reset_ms: that lookup is not to be begun before; 0 if it never was (2.0).
    """

    position: int | None = None
    high_watermark: int | None = None
    committed: OffsetAndMetadata | None = None
    paused: bool = False
    pending_revocation: bool = False
    reset_strategy: AutoOffsetResetStrategy | None = None
    next_reset_ms: int = 0


OnChange = Callable[[str, TopicPartition, TopicPartitionState], object]


class PartitionStates:
    """The assigned partitions with their states, in the order in which to fetch them.

    assignment: partition -> its state.
    default_reset_strategy: where to read when there is no valid offset.
    on_change: called with a reason when what a partition reads next, or whether, has changed:
    consumed, reset, paused, resumed, or what seek() was given.

    IllegalStateError for a partition that is not assigned; where only a bool is asked for, False.
    """

    def __init__(
        self, default_reset_strategy: AutoOffsetResetStrategy, on_change: OnChange | None
    ) -> None:
        self.assignment: dict[TopicPartition, TopicPartitionState] = {}
        self.default_reset_strategy = default_reset_strategy
        self.on_change = on_change

    # Each poll asks the following for every partition: they look at the states themselves.

    def is_fetchable(self, partition: TopicPartition) -> bool:
        """Whether it is assigned and will stay so, is not paused, and its position is known."""
        state = self.assignment.get(partition)
        if state is None or state.paused or state.pending_revocation:
            return False
        return state.position is not None

    def has_all_fetch_positions(self, partitions: Iterable[TopicPartition] | None = None) -> bool:
        """Whether the positions of all assigned partitions, or of these, are known."""
        if partitions is not None:
            return all(map(self.has_valid_position, partitions))
        return None not in [state.position for state in self.assignment.values()]

    def position(self, partition: TopicPartition, offset: int | None = None) -> int | None:
        """Give the offset to fetch next, None if unknown; with `offset`, move on to it first.

        IllegalStateError for moving on from nowhere: seek() is what sets a first position.
        """
        state = self._assigned_state(partition)
        if offset is not None and offset != state.position:
            if state.position is None:
                raise IllegalStateError(
                    f"{partition} has no position to move on from to {offset}: seek() sets one"
                )
            state.position = offset
            self._tell("consumed", partition, state)
        return state.position

    def assigned_partitions(self) -> list[TopicPartition]:
        """Those that this consumer has, in the order in which to fetch them."""
        return list(self.assignment)

    def is_paused(self, partition: TopicPartition) -> bool:
        """Whether it is assigned, and the application paused it."""
        state = self.assignment.get(partition)
        return state is not None and state.paused

    def paused_partitions(self) -> list[TopicPartition]:
        """Those that the application paused."""
        return [each for each, state in self.assignment.items() if state.paused]

    def missing_fetch_positions(self) -> list[TopicPartition]:
        """Those whose position is not known."""
        return [each for each, state in self.assignment.items() if state.position is None]

    def is_assigned(self, partition: TopicPartition) -> bool:
        """Whether this consumer has it."""
        return partition in self.assignment

    def has_valid_position(self, partition: TopicPartition) -> bool:
        """Whether it is assigned and its position is known."""
        state = self.assignment.get(partition)
        return state is not None and state.position is not None

    def seek(self, partition: TopicPartition, offset: int, *, reason: str = "seek") -> None:
        """Fetch from `offset` on; a reset that was needed is not any more.

        reason: what on_change is told; the client itself seeks to what is "committed", and to what
        a "reset" found.
        """
        check_offset(offset, f"seek to in {partition}")
        self._place(partition, offset, None, reason)

    def need_offset_reset(
        self, partition: TopicPartition, strategy: AutoOffsetResetStrategy | None = None
    ) -> None:
        """Forget the position: it is to be looked up, as `strategy` or the default says."""
        self._place(partition, None, strategy or self.default_reset_strategy, "reset")

    def is_offset_reset_needed(self, partition: TopicPartition) -> bool:
        """Whether its position is to be looked up."""
        return self._assigned_state(partition).reset_strategy is not None

    def reset_strategy(self, partition: TopicPartition) -> AutoOffsetResetStrategy | None:
        """Where, if it is."""
        return self._assigned_state(partition).reset_strategy

    def has_default_offset_reset_policy(self) -> bool:
        """Whether a partition without a valid offset is read all the same."""
        return self.default_reset_strategy is not OffsetResetStrategy.NONE

    def committed(
        self, partition: TopicPartition, offset: OffsetAndMetadata | None = None
    ) -> OffsetAndMetadata | None:
        """Give what is known to be committed, if anything; with `offset`, note that first."""
        state = self._assigned_state(partition)
        if offset is not None:
            state.committed = offset
        return state.committed

    def all_consumed(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """What a commit without arguments commits: the positions, where they are known."""
        return {
            each: OffsetAndMetadata(state.position)
            for each, state in self.assignment.items()
            if state.position is not None
        }

    def update_high_watermark(self, partition: TopicPartition, high_watermark: int) -> None:
        """Note what the last fetch said."""
        self._assigned_state(partition).high_watermark = high_watermark

    def pause(self, partition: TopicPartition) -> None:
        """Fetch nothing of it until resume()."""
        self._set_paused(partition, True, "paused")

    def resume(self, partition: TopicPartition) -> None:
        """Fetch it again."""
        self._set_paused(partition, False, "resumed")

    def mark_pending_revocation(self) -> None:
        """Fetch nothing any more of what this consumer has: it is about to give all of it up."""
        for state in self.assignment.values():
            state.pending_revocation = True

    def move_to_end(self, partition: TopicPartition) -> None:
        """Let the others be fetched first, so that each gets its turn."""
        state = self.assignment.pop(partition, None)
        if state is not None:
            self.assignment[partition] = state

    def _place(
        self,
        partition: TopicPartition,
        position: int | None,
        strategy: AutoOffsetResetStrategy | None,
        reason: str,
    ) -> None:
        state = self._assigned_state(partition)
        state.next_reset_ms = 0
        if (state.position, state.reset_strategy) != (position, strategy):
            state.position, state.reset_strategy = position, strategy
            self._tell(reason, partition, state)

    def _set_paused(self, partition: TopicPartition, paused: bool, reason: str) -> None:
        state = self._assigned_state(partition)
        if state.paused is not paused:
            state.paused = paused
            self._tell(reason, partition, state)

    def _tell(self, reason: str, partition: TopicPartition, state: TopicPartitionState) -> None:
        if self.on_change is not None:
            self.on_change(reason, partition, state)

    def _assigned_state(self, partition: TopicPartition) -> TopicPartitionState:
        try:
            return self.assignment[partition]
        except (KeyError, TypeError):  # a list, say, is no key at all
            wanted = check_partition(partition)
        raise IllegalStateError(
            f"No current assignment for partition {wanted}: poll until the group assigns it, or "
            "name it in assign()"
        )


def check_partition(partition: object) -> TopicPartition:
    """Give it back as a TopicPartition; IllegalArgumentError or InvalidTopicError if it is none."""
    if isinstance(partition, tuple) and len(partition) == 2:
        topic, number = partition
        if type(number) is int and 0 <= number <= MAX_INT:
            return TopicPartition(check_topic(topic), number)
    raise IllegalArgumentError(
        f"{short(partition)} is no partition: TopicPartition(topic, number) is allowed, the number "
        f"from 0 to {MAX_INT:,}"
    )


def check_partitions(partitions: object) -> tuple[TopicPartition, ...]:
    """Give partitions back, sorted, each once; IllegalArgumentError if they are no such list."""
    return tuple(sorted(set(listed_partitions(partitions))))


def listed_partitions(partitions: object) -> list[TopicPartition]:
    """Give partitions back as they are listed, those of a set sorted, with the same errors."""
    if isinstance(partitions, str | TopicPartition) or not isinstance(partitions, Iterable):
        raise IllegalArgumentError(
            f"partitions is {short(partitions)}: a list of TopicPartition is allowed"
        )
    found = list(map(check_partition, partitions))
    return sorted(found) if isinstance(partitions, Set) else found
