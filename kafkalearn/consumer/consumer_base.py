"""What a consumer is made of, and who may use it: one process at a time, until it is closed.

Source: org.apache.kafka.clients.consumer.KafkaConsumer: its constructor, acquire, release (1.0.2).
"""

from collections.abc import Mapping
from datetime import timedelta
from types import TracebackType
from typing import Any

from kafkalearn.assignors.partition_assignor import PartitionAssignor
from kafkalearn.assignors.registry import all_assignors
from kafkalearn.clients.client_context import ClientContext
from kafkalearn.clients.exponential_backoff import ExponentialBackoff
from kafkalearn.clients.metadata import Metadata
from kafkalearn.clients.network_client import NEVER_MS, NetworkClient
from kafkalearn.consumer.consumer_config import ConsumerConfig, consumer_config
from kafkalearn.consumer.consumer_coordinator import ConsumerCoordinator
from kafkalearn.consumer.consumer_interceptors import ConsumerInterceptors
from kafkalearn.consumer.consumer_network_client import ConsumerNetworkClient
from kafkalearn.consumer.consumer_parts import ConsumerParts
from kafkalearn.consumer.fetcher import Fetcher
from kafkalearn.consumer.offset_reset_strategy import strategy_from_string
from kafkalearn.consumer.partition_states import TopicPartitionState
from kafkalearn.consumer.subscription_state import SubscriptionState
from kafkalearn.errors import (
    ConcurrentModificationError,
    ConfigError,
    IllegalArgumentError,
    InvalidGroupIdError,
)
from kafkalearn.profile import KafkaProfile
from kafkalearn.records import TopicPartition


class ConsumerBase:
    """The parts of a consumer.

    subscriptions, coordinator, fetcher, client, interceptors: as in Java; for reading.
    is_closed: whether close() has been called, and is over.
    """

    def __init__(
        self,
        context: ClientContext,
        given: Mapping[str, object],
        *,
        properties: Mapping[str, str] | None = None,
    ) -> None:
        config = consumer_config(context.profile, given, properties=properties)
        assignors = assignors_of(config, context.profile)
        self.context = context
        self.config = config
        self.metadata = Metadata(
            context.brokers,
            refresh_backoff=ExponentialBackoff.of(config, context.random),
            metadata_expire_ms=config.metadata_max_age_ms,
        )
        self.metadata.allow_auto_topic_creation = config.allow_auto_create_topics
        self.metadata.all_topics_suffice = not context.profile.matched_topics_are_asked_for
        self.client = self._network_client()
        self.subscriptions = SubscriptionState(
            strategy_from_string(config.auto_offset_reset), on_change=self._record_position
        )
        self.interceptors = ConsumerInterceptors(config.interceptor_classes or (), context.warn)
        parts = ConsumerParts(
            context=context,
            config=config,
            client=self.client,
            cluster_metadata=self.metadata,
            subscriptions=self.subscriptions,
            interceptors=self.interceptors,
        )
        self.coordinator = ConsumerCoordinator(parts, assignors)
        self.fetcher = Fetcher(parts)
        self.is_closed = self._closing = False
        self._exclusive = _Exclusive(self)

    def __repr__(self) -> str:
        """Name its node and its group."""
        group = f" of group {self.config.group_id}" if self.config.group_id else ""
        return (
            f"<KafkaConsumer {self.context.node.name}{group}{', closed' if self.is_closed else ''}>"
        )

    def check_group_id(self) -> None:
        """InvalidGroupIdError if there is none (2.2; before, the broker refuses it)."""
        if self.context.profile.group_id_is_optional and not self.config.group_id:
            raise InvalidGroupIdError(
                "this consumer has no group_id: groups and committed offsets need one"
            )

    def api_timeout_ms(self, otherwise: int, timeout: timedelta | None = None) -> int:
        """Give `timeout` in ms, or default.api.timeout.ms, or `otherwise` before 2.0 had these.

        IllegalArgumentError for a timeout that is none, or that this release does not know.
        """
        has_timeouts = self.context.profile.poll_timeout_bounds_join
        if timeout is None:
            return self.config.default_api_timeout_ms if has_timeouts else otherwise
        if not isinstance(timeout, timedelta):
            raise IllegalArgumentError(f"timeout is {timeout!r}: None or a timedelta is allowed")
        if not has_timeouts:
            raise IllegalArgumentError(
                f"Kafka {self.context.profile.release} has no timeout here, 2.0 does: leave it out"
            )
        return _checked(timeout // timedelta(milliseconds=1), timeout)

    def poll_timeouts(self, timeout: int | timedelta) -> tuple[int, int]:
        """Give how long a poll waits for records, and how long for all else, in ms.

        IllegalArgumentError for what is no time, or one that this release does not know.
        """
        if isinstance(timeout, timedelta):
            if not self.context.profile.poll_timeout_bounds_join:
                raise IllegalArgumentError(
                    f"Kafka {self.context.profile.release} has no poll(timedelta), which is 2.0's "
                    "poll(Duration): give the timeout in ms"
                )
            timeout_ms = timeout // timedelta(milliseconds=1)
            bound_ms = timeout_ms
        elif type(timeout) is int:
            timeout_ms, bound_ms = timeout, NEVER_MS
        else:
            raise IllegalArgumentError(
                f"timeout is {timeout!r}: whole ms or a timedelta are allowed"
            )
        return _checked(timeout_ms, timeout), bound_ms

    def _network_client(self) -> ConsumerNetworkClient:
        config = self.config
        network_client = NetworkClient(
            self.context,
            self.metadata,
            request_timeout_ms=config.request_timeout_ms,
            reconnect_backoff_ms=(config.reconnect_backoff_ms, config.reconnect_backoff_max_ms),
        )
        return ConsumerNetworkClient(
            self.context,
            network_client,
            metadata=self.metadata,
            retry_backoff_ms=config.retry_backoff_ms,
            request_timeout_ms=config.request_timeout_ms,
        )

    def _record_position(
        self, reason: str, partition: TopicPartition, state: TopicPartitionState
    ) -> None:
        detail: dict[str, Any] = {"reason": reason}
        if state.paused:
            detail["paused"] = True
        if state.high_watermark is not None:
            detail["high_watermark"] = state.high_watermark
        self.context.record(
            "position",
            self.context.now_ms,
            topic=partition.topic,
            partition=partition.partition,
            offset=state.position,
            detail=detail,
        )


class _Exclusive:
    """Lets one process in at a time, as often as it likes: its listeners may call the consumer."""

    __slots__ = ("_consumer", "_depth", "_owner")

    def __init__(self, consumer: ConsumerBase) -> None:
        self._consumer = consumer
        self._owner: object = None
        self._depth = 0

    def __enter__(self) -> None:
        consumer = self._consumer
        consumer.context.check_usable("consumer", is_closed=consumer.is_closed)
        caller = consumer.context.processes.current() or "the main program"
        if self._depth and caller is not self._owner:
            raise ConcurrentModificationError(
                f"{caller} uses a consumer that {self._owner} is using: KafkaConsumer is not safe "
                "for multi-threaded access; wakeup() alone may be called from elsewhere"
            )
        self._owner = caller
        self._depth += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._depth -= 1


def _checked(timeout_ms: int, given: object) -> int:
    if timeout_ms < 0:
        raise IllegalArgumentError(f"Timeout must not be negative: it is {given}")
    return timeout_ms


def assignors_of(config: ConsumerConfig, profile: KafkaProfile) -> list[PartitionAssignor]:
    """Find the assignors of partition.assignment.strategy; ConfigError for what is none."""
    by_name: dict[str, PartitionAssignor] = {}
    for each in all_assignors():
        by_name[each.name] = by_name[type(each).__name__] = each
    found: list[PartitionAssignor] = []
    for given in config.partition_assignment_strategy:
        assignor: Any = given
        if isinstance(given, str):
            assignor = by_name.get(given.rpartition(".")[2])
        elif isinstance(given, type):
            assignor = given()
        if not isinstance(assignor, PartitionAssignor):
            names = ", ".join(each.name for each in all_assignors())
            raise ConfigError(
                f"partition_assignment_strategy names {given!r}: {names}, or an object of a class "
                "that derives from PartitionAssignor, is allowed"
            )
        if assignor.name in [each.name for each in found]:
            raise ConfigError(f"partition_assignment_strategy names {assignor.name} twice")
        found.append(assignor)
        if assignor.name == "sticky" and not profile.sticky_assignor:
            raise ConfigError(
                "partition_assignment_strategy names sticky, which is known from Kafka 0.11 on: "
                "this is an older one"
            )
        if assignor.rebalance_protocol == "cooperative" and not profile.incremental_rebalance:
            raise ConfigError(
                f"partition_assignment_strategy names {assignor.name}, which is cooperative: Kafka "
                f"{profile.release} does not know that, 2.4 does"
            )
    return found
