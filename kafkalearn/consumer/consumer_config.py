"""A consumer's settings, with the defaults of each release.

Source: org.apache.kafka.clients.consumer.ConsumerConfig at the release tags.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kafkalearn.config import configure, setting, with_one_backoff, with_properties
from kafkalearn.consumer.offset_reset_strategy import (
    BY_DURATION,
    OffsetResetStrategy,
    strategy_from_string,
)
from kafkalearn.errors import ConfigError
from kafkalearn.profile import KafkaProfile
from kafkalearn.records import LEGAL_NAMES, is_legal_name, short

ISOLATION_LEVELS = ("read_uncommitted", "read_committed")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerConfig:
    """Kafka's keys in snake case.

    bootstrap_servers, connections_max_idle_ms, isolation_level, group_protocol: taken, so that a
    configuration can be used as it is, but without effect: the simulation is the cluster, no
    connection is closed for being idle, there are no transactions and one protocol.
    group_id: None is '', no group. client_id: by default the name of the consumer's node.
    enable_auto_commit: by default True where there is a group id.
    partition_assignment_strategy: names (``range``), Java's classes (``RangeAssignor``) or objects
    of classes derived from PartitionAssignor; preferred first.
    auto_offset_reset: latest, earliest, none; in 4.0 also a duration, by_duration:PT1H for an hour.
    retry_backoff_ms, heartbeat_interval_ms, auto_commit_interval_ms: 0 counts as 1.
    key_deserializer, value_deserializer: a function from bytes, or the name of Java's class.
    interceptor_classes: objects with `on_consume(records)`, `on_commit(offsets)` and, if they like,
    `close()`.

    Differs from Kafka: '' is no group since 2.2, where Kafka takes it for an id (4.0 refuses it).
    """

    bootstrap_servers: object = setting("")
    group_id: str = setting("")
    client_id: str = setting("")
    group_instance_id: str | None = setting(None, added="2.3")
    enable_auto_commit: bool | None = setting(None)
    auto_commit_interval_ms: int = setting(5000, least=0)
    auto_offset_reset: str = setting("latest")
    max_poll_records: int = setting(500, least=1)
    max_poll_interval_ms: int = setting(300_000, least=1)
    session_timeout_ms: int = setting(10_000, least=0, since_3_0=45_000)
    heartbeat_interval_ms: int = setting(3000, least=0)
    fetch_min_bytes: int = setting(1, least=0)
    fetch_max_wait_ms: int = setting(500, least=0)
    fetch_max_bytes: int = setting(52_428_800, least=0)
    max_partition_fetch_bytes: int = setting(1_048_576, least=0)
    partition_assignment_strategy: tuple[object, ...] = setting(
        ("range",), since_3_0=("range", "cooperative-sticky")
    )
    metadata_max_age_ms: int = setting(300_000, least=0)
    retry_backoff_ms: int = setting(100, least=0)
    retry_backoff_max_ms: int | None = setting(None, least=0, added="3.7", since_3_7=1000)
    reconnect_backoff_ms: int = setting(50, least=0)
    reconnect_backoff_max_ms: int = setting(50, least=0, added="0.11", since_0_11=1000)
    request_timeout_ms: int = setting(305_000, least=0, since_2_0=30_000)
    connections_max_idle_ms: int = setting(540_000, least=-1)
    isolation_level: str = setting("read_uncommitted", allowed=ISOLATION_LEVELS, added="0.11")
    group_protocol: str = setting("classic", allowed=("classic",), added="4.0")
    default_api_timeout_ms: int = setting(60_000, least=0, added="2.0")
    exclude_internal_topics: bool = setting(True)
    allow_auto_create_topics: bool = setting(True, added="2.3")
    key_deserializer: object = setting("StringDeserializer")
    value_deserializer: object = setting("StringDeserializer")
    interceptor_classes: tuple[object, ...] | None = setting(None)


def consumer_config(
    profile: KafkaProfile,
    given: Mapping[str, object],
    *,
    properties: Mapping[str, str] | None = None,
) -> ConsumerConfig:
    """Make the settings of a consumer; ConfigError names the key, the value and what is allowed.

    Source of the checks between keys: Heartbeat and KafkaConsumer's constructor (1.0.2); of the
    instance id's: JoinGroupRequest.validateGroupInstanceId (2.3.1).
    """
    values = with_properties(ConsumerConfig, given, properties=properties)
    if values.get("group_id", "") is None:
        values["group_id"] = ""
    config: ConsumerConfig = configure(ConsumerConfig, profile.version, given=values)
    config = with_one_backoff(config, values)
    _check_offset_reset(config.auto_offset_reset, profile)
    name = config.group_instance_id
    if name is not None and not is_legal_name(name):
        raise ConfigError(f"group_instance_id is {short(name)}: {LEGAL_NAMES} are allowed")
    if config.heartbeat_interval_ms >= config.session_timeout_ms:
        raise ConfigError(
            f"heartbeat_interval_ms is {config.heartbeat_interval_ms}: less than "
            f"session_timeout_ms, {config.session_timeout_ms}, is allowed, and a third of it usual"
        )
    if not profile.poll_timeout_bounds_join:
        _check_request_timeout(config)
    # No code runs in no time: with 0 a loop would never let the clock go on.
    config = replace(
        config,
        retry_backoff_ms=max(1, config.retry_backoff_ms),
        heartbeat_interval_ms=max(1, config.heartbeat_interval_ms),
        auto_commit_interval_ms=max(1, config.auto_commit_interval_ms),
    )
    needs_group_id = profile.group_id_is_optional and not config.group_id
    if config.enable_auto_commit and needs_group_id:
        raise ConfigError("enable_auto_commit is True: without a group_id only False is allowed")
    if config.enable_auto_commit is None:
        config = replace(config, enable_auto_commit=not needs_group_id)
    return config


def _check_offset_reset(text: str, profile: KafkaProfile) -> None:
    allowed = ", ".join(repr(each.value) for each in OffsetResetStrategy)
    try:
        strategy = strategy_from_string(text)
    except ValueError as error:
        why = f" ({error})" if text.startswith(BY_DURATION) else ""
    else:
        if isinstance(strategy, OffsetResetStrategy) or profile.offsets_reset_by_duration:
            return
        why = " (known from Kafka 4.0 on: this is an older one)"
    if profile.offsets_reset_by_duration:
        allowed += f", {BY_DURATION}PnDTnHnMn.nS"
    raise ConfigError(f"auto_offset_reset is {text!r}{why}: one of {allowed} is allowed")


def _check_request_timeout(config: ConsumerConfig) -> None:
    """Before 2.0 a request must be given more time than what it may have to wait for."""
    for name in ("session_timeout_ms", "fetch_max_wait_ms"):
        if config.request_timeout_ms <= getattr(config, name):
            raise ConfigError(
                f"request_timeout_ms is {config.request_timeout_ms}: more than {name}, which is "
                f"{getattr(config, name)}, is allowed"
            )
