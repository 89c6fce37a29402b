"""What a consumer subscribes to, which partitions it has, and how far it is in each.

Source: documents 001 and 004 (appendix);
org.apache.kafka.clients.consumer.internals.SubscriptionState (1.0.2), from 2.4.0 where said.
Differs from Kafka: no last stable offset, since there are no transactions, and no listeners for
metrics; topics and partitions are sorted where Kafka has the order of its hash sets.
"""

import re
from collections.abc import Iterable
from enum import Enum
from reprlib import repr as short

from kafkalearn.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafkalearn.consumer.offset_reset_strategy import AutoOffsetResetStrategy
from kafkalearn.consumer.partition_states import (
    OnChange,
    PartitionStates,
    TopicPartitionState,
    check_partitions,
)
from kafkalearn.errors import IllegalArgumentError, IllegalStateError
from kafkalearn.records import TopicPartition, check_topic


class SubscriptionType(Enum):
    """How a consumer comes by its partitions.

    NONE: not at all yet.
    AUTO_TOPICS, AUTO_PATTERN: its group deals out those of topics named, or matched by a pattern.
    USER_ASSIGNED: assign() named them; there is no group to rebalance.
    """

    NONE = "none"
    AUTO_TOPICS = "auto_topics"
    AUTO_PATTERN = "auto_pattern"
    USER_ASSIGNED = "user_assigned"


_AUTO = (SubscriptionType.AUTO_TOPICS, SubscriptionType.AUTO_PATTERN)


class SubscriptionState(PartitionStates):
    """The one place that knows; coordinator and fetcher ask here. Positions are in PartitionStates.

    subscription: the topics asked for, or matched by the pattern; sorted.
    subscribed_pattern: set by subscribe_pattern().
    user_assignment: the partitions that assign() named.
    group_subscription: the leader's: the topics of all members. Others: their own.
    need_fetch_committed_offsets: whether to ask for committed offsets before they are used. The
    documents print needFetchCommitedOffsets.
    listener: told by the coordinator when the assignment changes.
    """

    def __init__(
        self, default_reset_strategy: AutoOffsetResetStrategy, *, on_change: OnChange | None = None
    ) -> None:
        super().__init__(default_reset_strategy, on_change)
        self.subscription_type = SubscriptionType.NONE
        self.subscribed_pattern: re.Pattern[str] | None = None
        self.subscription: tuple[str, ...] = ()
        self.user_assignment: tuple[TopicPartition, ...] = ()
        self.group_subscription: tuple[str, ...] = ()
        self.need_fetch_committed_offsets = True
        self.listener = ConsumerRebalanceListener()

    def subscribe(self, topics: Iterable[str], listener: ConsumerRebalanceListener) -> None:
        """Ask for these topics instead of those before; the assignment stays until a rebalance.

        InvalidTopicError for a name that Kafka refuses.
        """
        wanted, told = check_topics(topics), _listener(listener)
        self._set_subscription_type(SubscriptionType.AUTO_TOPICS)
        self.listener = told
        self._change_subscription(wanted)

    def subscribe_pattern(
        self, pattern: str | re.Pattern[str], listener: ConsumerRebalanceListener
    ) -> None:
        """Ask for the topics whose whole name matches (Java: subscribe(Pattern, listener)).

        Which they are, subscribe_from_pattern() says once the cluster's topics are known.
        """
        compiled, told = _pattern(pattern), _listener(listener)
        self._set_subscription_type(SubscriptionType.AUTO_PATTERN)
        self.listener, self.subscribed_pattern = told, compiled

    def subscribe_from_pattern(self, topics: Iterable[str]) -> bool:
        """Take the topics that match now; give whether they are others than before."""
        if self.subscription_type is not SubscriptionType.AUTO_PATTERN:
            raise IllegalArgumentError(
                f"the subscription is {self.subscription_type.name}: only one with a pattern takes "
                "the topics that match"
            )
        return self._change_subscription(check_topics(topics))

    def matches_subscribed_pattern(self, topic: str) -> bool:
        """Whether there is a pattern, and the whole name matches it (since 2.4)."""
        return self.subscribed_pattern is not None and bool(
            self.subscribed_pattern.fullmatch(topic)
        )

    def check_assignment_matched_subscription(self, assigned: Iterable[TopicPartition]) -> bool:
        """Whether all topics of an assignment are still subscribed to (since 2.4)."""
        topics = {each.topic for each in assigned}
        if self.has_pattern_subscription():
            return all(map(self.matches_subscribed_pattern, topics))
        return topics.issubset(self.subscription)

    def assign_from_user(self, partitions: Iterable[TopicPartition]) -> None:
        """Have these partitions instead of those before; what stays keeps its state."""
        wanted = check_partitions(partitions)
        self._set_subscription_type(SubscriptionType.USER_ASSIGNED)
        self.user_assignment = wanted
        if self.assignment.keys() != set(wanted):
            self._assign(wanted)

    def assign_from_subscribed(self, partitions: Iterable[TopicPartition]) -> None:
        """Have the partitions that the group gave; what stays keeps its state (since 2.4).

        A member that gave all of them up (the eager protocol) assigns () first, so that nothing is
        kept. IllegalArgumentError for a partition of a topic that was not asked for.
        """
        if not self.partitions_auto_assigned():
            raise IllegalArgumentError(
                f"the subscription is {self.subscription_type.name}: a group assigns partitions "
                "only to who subscribed"
            )
        given = check_partitions(partitions)
        for partition in {each.topic: each for each in given}.values():
            if self.subscribed_pattern is not None:
                if not self.matches_subscribed_pattern(partition.topic):
                    raise IllegalArgumentError(
                        f"the group assigned {partition}, whose topic does not match the pattern "
                        f"{self.subscribed_pattern.pattern!r}"
                    )
            elif partition.topic not in self.subscription:
                raise IllegalArgumentError(
                    f"the group assigned {partition}, whose topic is not in the subscription: "
                    f"{', '.join(self.subscription)}"
                )
        self._assign(given)

    def unsubscribe(self) -> None:
        """Forget topics, pattern and partitions: any of the three ways may be chosen again."""
        self.subscription_type = SubscriptionType.NONE
        self.subscribed_pattern = None
        self.subscription = self.group_subscription = ()
        self.user_assignment = ()
        self.assignment = {}

    def group_subscribe(self, topics: Iterable[str]) -> None:
        """Add the topics of the other members, as the leader needs their metadata."""
        if self.subscription_type is SubscriptionType.USER_ASSIGNED:
            raise self._mutually_exclusive()
        self.group_subscription = tuple(sorted({*self.group_subscription, *topics}))

    def reset_group_subscription(self) -> None:
        """Go back to its own topics, as a member does that may not be the leader any more."""
        self.group_subscription = self.subscription

    def has_no_subscription_or_user_assignment(self) -> bool:
        """Whether there is nothing to poll for."""
        return self.subscription_type is SubscriptionType.NONE

    def partitions_auto_assigned(self) -> bool:
        """Whether a group deals out the partitions."""
        return self.subscription_type in _AUTO

    def has_pattern_subscription(self) -> bool:
        """Whether the topics are those that match a pattern."""
        return self.subscription_type is SubscriptionType.AUTO_PATTERN

    def need_refresh_commits(self) -> None:
        """Committed offsets may be others than are known here."""
        self.need_fetch_committed_offsets = True

    def refresh_commits_needed(self) -> bool:
        """Whether to ask the coordinator before a committed offset is used."""
        return self.need_fetch_committed_offsets

    def commits_refreshed(self) -> None:
        """The coordinator was asked."""
        self.need_fetch_committed_offsets = False

    def _set_subscription_type(self, kind: SubscriptionType) -> None:
        if self.subscription_type not in (SubscriptionType.NONE, kind):
            raise self._mutually_exclusive()
        self.subscription_type = kind

    def _mutually_exclusive(self) -> IllegalStateError:
        return IllegalStateError(
            "Subscription to topics, partitions and pattern are mutually exclusive: this one is "
            f"{self.subscription_type.name} until unsubscribe()"
        )

    def _change_subscription(self, topics: tuple[str, ...]) -> bool:
        if topics == self.subscription:
            return False
        self.subscription = topics
        self.group_subscribe(topics)  # those of before stay until the next rebalance begins
        return True

    def _assign(self, partitions: tuple[TopicPartition, ...]) -> None:
        before = self.assignment
        self.assignment = {each: before.get(each) or TopicPartitionState() for each in partitions}
        self.need_fetch_committed_offsets = True


def check_topics(topics: object) -> tuple[str, ...]:
    """Give topic names back, sorted; IllegalArgumentError or InvalidTopicError if they are none."""
    if isinstance(topics, str) or not isinstance(topics, Iterable):
        raise IllegalArgumentError(f"topics is {short(topics)}: a list of topic names is allowed")
    return tuple(sorted(set(map(check_topic, topics))))


def _pattern(pattern: str | re.Pattern[str]) -> re.Pattern[str]:
    try:
        compiled = re.compile(pattern)
    except (re.error, TypeError) as error:
        raise IllegalArgumentError(
            f"{short(pattern)} is no pattern of topic names: {error}"
        ) from None
    if not compiled.pattern or not isinstance(compiled.pattern, str):
        raise IllegalArgumentError(
            f"{short(pattern)} is no pattern of topic names: text that is not empty is allowed"
        )
    return compiled


def _listener(listener: ConsumerRebalanceListener) -> ConsumerRebalanceListener:
    if not isinstance(listener, ConsumerRebalanceListener):
        raise IllegalArgumentError(
            f"the listener is {short(listener)}: an object of a class that derives from "
            "ConsumerRebalanceListener is allowed"
        )
    return listener
