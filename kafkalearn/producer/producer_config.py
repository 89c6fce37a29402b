"""A producer's settings, with the defaults of each release.

Source: org.apache.kafka.clients.producer.ProducerConfig at the release tags.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kafkalearn.config import configure, setting, with_one_backoff, with_properties
from kafkalearn.errors import ConfigError, IllegalArgumentError
from kafkalearn.profile import KafkaProfile
from kafkalearn.records import MAX_INT, MAX_LONG


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerConfig:
    """Kafka's keys in snake case.

    bootstrap_servers: taken, and without effect: the simulation is the cluster.
    acks: ``0``, ``1``, or ``all``, which ``-1`` says, too; the numbers will do.
    client_id: by default the name of the producer's node.
    delivery_timeout_ms: 0 in a release that does not know it.
    key_serializer, value_serializer: a function to bytes, or the name of Java's class.
    partitioner_class: a class derived from Partitioner, or the name of Java's class.

    Differs from Kafka: enable_idempotence stays False (3.0 and later: True), since the brokers here
    give no producer ids, so that order and single delivery are as without it. There is no
    compression and no interceptor.
    """

    bootstrap_servers: object = setting("")
    acks: str = setting("1", allowed=("all", "-1", "0", "1"), since_3_0="all")
    retries: int = setting(0, least=0, since_2_1=MAX_INT)
    batch_size: int = setting(16_384, least=0)
    linger_ms: int = setting(0, least=0, most=MAX_LONG, since_4_0=5)
    buffer_memory: int = setting(33_554_432, least=0, most=MAX_LONG)
    max_block_ms: int = setting(60_000, least=0, most=MAX_LONG)
    max_in_flight_requests_per_connection: int = setting(5, least=1)
    max_request_size: int = setting(1_048_576, least=0)
    request_timeout_ms: int = setting(30_000, least=0)
    delivery_timeout_ms: int = setting(0, least=0, added="2.1", since_2_1=120_000)
    retry_backoff_ms: int = setting(100, least=0, most=MAX_LONG)
    retry_backoff_max_ms: int | None = setting(None, least=0, added="3.7", since_3_7=1000)
    reconnect_backoff_ms: int = setting(50, least=0)
    reconnect_backoff_max_ms: int = setting(50, least=0, added="0.11", since_0_11=1000)
    metadata_max_age_ms: int = setting(300_000, least=0)
    client_id: str = setting("")
    key_serializer: object = setting("StringSerializer")
    value_serializer: object = setting("StringSerializer")
    partitioner_class: object = setting(None)
    enable_idempotence: bool = setting(False, added="0.11")


def producer_config(
    profile: KafkaProfile,
    given: Mapping[str, object],
    *,
    properties: Mapping[str, str] | None = None,
) -> ProducerConfig:
    """Make the settings of a producer; ConfigError names the key, the value and what is allowed.

    Source of the checks between keys: KafkaProducer.configureDeliveryTimeout (2.4.0).
    """
    values = with_properties(ProducerConfig, given, properties=properties)
    if type(values.get("acks")) is int:
        values["acks"] = str(values["acks"])
    config: ProducerConfig = configure(ProducerConfig, profile.version, given=values)
    config = with_one_backoff(config, values)
    if config.enable_idempotence:
        raise ConfigError(
            "enable_idempotence is True: only False is allowed, since producer ids and sequence "
            "numbers are not built here"
        )
    return _with_delivery_timeout(config, is_given="delivery_timeout_ms" in values)


def _with_delivery_timeout(config: ProducerConfig, *, is_given: bool) -> ProducerConfig:
    least_ms = min(config.linger_ms + config.request_timeout_ms, MAX_INT)
    if (not is_given and not config.delivery_timeout_ms) or config.delivery_timeout_ms >= least_ms:
        return config
    if is_given:
        raise ConfigError(
            f"delivery_timeout_ms is {config.delivery_timeout_ms}: linger_ms + request_timeout_ms, "
            f"{least_ms}, or more is allowed"
        )
    return replace(config, delivery_timeout_ms=least_ms)


def check_timeout(timeout_ms: object) -> None:
    """IllegalArgumentError for what is no time to wait."""
    if timeout_ms is not None and (type(timeout_ms) is not int or timeout_ms < 0):
        raise IllegalArgumentError(
            f"timeout_ms is {timeout_ms!r}: None or a whole number of ms from 0 is allowed"
        )
