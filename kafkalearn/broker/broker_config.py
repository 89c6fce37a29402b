"""A broker's settings, with the defaults of each release.

Source: kafka.server.KafkaConfig at the release tags; in 3.9 ServerConfigs, ServerLogConfigs and
KRaftConfigs of org.apache.kafka.server.config, org.apache.kafka.coordinator.group.
GroupCoordinatorConfig.
"""

from dataclasses import dataclass

from kafkalearn.config import setting
from kafkalearn.records import MAX_INT, MAX_LONG

MAX_PARTITIONS = 10_000  # of one topic


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerConfig:
    """Kafka's keys in snake case, made by `configure`.

    broker_session_timeout_ms: how long the cluster does not notice that a broker is dead. Before
    4.0 the key is zookeeper.session.timeout.ms.
    Differs from Kafka: a topic has at most MAX_PARTITIONS; without a bound a typing error would
    fill the memory.
    """

    group_initial_rebalance_delay_ms: int = setting(0, least=0, since_0_11=3000)
    group_min_session_timeout_ms: int = setting(6000, least=0)
    group_max_session_timeout_ms: int = setting(300_000, least=0, since_2_3=1_800_000)
    group_max_size: int = setting(MAX_INT, least=1, added="2.2")
    offsets_topic_num_partitions: int = setting(50, least=1, most=MAX_PARTITIONS)
    offsets_retention_minutes: int = setting(1440, least=1, since_2_0=10_080)
    offsets_retention_check_interval_ms: int = setting(600_000, least=1)
    offset_metadata_max_bytes: int = setting(4096, least=0)
    broker_session_timeout_ms: int = setting(6000, least=0, since_4_0=9000)
    num_partitions: int = setting(1, least=1)
    auto_create_topics_enable: bool = setting(True)
    delete_topic_enable: bool = setting(False, since_1_0=True)
    log_retention_ms: int = setting(604_800_000, least=-1, most=MAX_LONG)
    log_retention_bytes: int = setting(-1, least=-1, most=MAX_LONG)
    log_retention_check_interval_ms: int = setting(300_000, least=1)
    message_max_bytes: int = setting(1_000_012, least=0, since_2_5=1_048_588)
