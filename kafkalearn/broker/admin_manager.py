"""Topics made, enlarged and deleted: what is allowed, and Kafka's error where it is not.

Source: kafka.server.AdminManager, kafka.admin.AdminUtils, org.apache.kafka.common.internals.Topic
(1.0.2; 2.3.1); ReplicationControlManager, AutoTopicCreationManager (4.0).
"""

import re
from collections.abc import Callable, Mapping

from kafkalearn.broker.broker_config import MAX_PARTITIONS
from kafkalearn.broker.broker_context import BrokerContext
from kafkalearn.broker.cluster import Cluster
from kafkalearn.config import is_left_out
from kafkalearn.errors import Errors, InvalidTopicError
from kafkalearn.protocol.metadata import CreatableTopic, TopicResult
from kafkalearn.records import check_topic, is_internal

TOPIC_SETTINGS = ("retention.ms", "retention.bytes")
_DONE = TopicResult(Errors.NONE)


class AdminManager:
    """Changes a cluster's topics, any broker's: there is no controller that must be asked.

    topic_changed is recorded by the broker that was asked.
    """

    def __init__(self, context: BrokerContext, cluster: Cluster) -> None:
        self._cluster = cluster
        self._record = context.record
        self._profile = context.profile

    def create_topic(
        self, name: str, topic: CreatableTopic, *, now_ms: int, validate_only: bool = False
    ) -> TopicResult:
        """Make a topic, or say why not.

        num_partitions -1 is the broker's num.partitions in every release; in Kafka since 2.4.
        """
        count = topic.num_partitions
        if count == -1:
            count = self._cluster.config.num_partitions
        refused = self._refuse_new(name, topic.configs, count)
        if refused is None and not validate_only:
            self._record_change(name, now_ms, change="created", count=count)
            configs = {key: int(value) for key, value in topic.configs.items()}
            self._cluster.create_topic(name, count, configs=configs, now_ms=now_ms)
        return refused or _DONE

    def auto_create_topic(self, name: str, *, now_ms: int) -> Errors:
        """Make a topic that somebody asked about; only the next request learns its leaders."""
        error = self.create_topic(name, CreatableTopic(), now_ms=now_ms).error_code
        if self._profile.new_topic_is_unknown and not _refuse_name(name):
            return Errors.UNKNOWN_TOPIC_OR_PARTITION
        return Errors.LEADER_NOT_AVAILABLE if error is Errors.NONE else error

    def create_partitions(self, name: str, total_count: int, *, now_ms: int) -> TopicResult:
        """Give a topic more partitions, or say why not."""
        refused = self._refuse_change(name)
        if refused is not None:
            return refused
        now = len(self._cluster.topics[name].partitions)
        if not now < total_count <= MAX_PARTITIONS:
            return TopicResult(
                Errors.INVALID_PARTITIONS,
                f"{name} has {now} partitions: more is allowed, up to {MAX_PARTITIONS:,}, not "
                f"{total_count:,}",
            )
        self._record_change(name, now_ms, change="partitions_added", count=total_count)
        self._cluster.create_partitions(name, total_count, now_ms=now_ms)
        return _DONE

    def delete_topic(self, name: str, *, now_ms: int) -> TopicResult:
        """Delete a topic, or say why not; REQUEST_TIMED_OUT for one that never goes.

        Source: KafkaApis.handleDeleteTopicsRequest (2.3.1) looks at delete.topic.enable first;
        before, it is the controller's TopicDeletionManager (1.0.2) that does nothing then.
        """
        enabled, problem = self._cluster.config.delete_topic_enable, "delete_topic_enable is False"
        if not enabled and self._profile.deletion_disabled_is_told:
            return TopicResult(Errors.TOPIC_DELETION_DISABLED, problem)
        refused = self._refuse_change(name)
        if refused is not None:
            return refused
        if not enabled:
            return TopicResult(Errors.REQUEST_TIMED_OUT, f"{name} is there still: {problem}")
        self._record_change(name, now_ms, change="deleted")
        self._cluster.delete_topic(name, now_ms=now_ms)
        return _DONE

    def _record_change(self, name: str, now_ms: int, **detail: object) -> None:
        self._record("topic_changed", now_ms, topic=name, detail=detail)

    def _refuse_new(
        self, name: str, configs: Mapping[str, int | str], num_partitions: int
    ) -> TopicResult | None:
        refusals: dict[str, Callable[[], TopicResult | None]] = {
            "exists": lambda: self._refuse_existing(name),
            "configs": lambda: _refuse_configs(configs),
            "count": lambda: _refuse_count(num_partitions),
            "name": lambda: (
                _refuse_name(name) or self._refuse_existing(name) or self._refuse_collision(name)
            ),
        }
        found = (refusals[each]() for each in self._profile.create_topics_checks)
        return next(filter(None, found), None)

    def _refuse_existing(self, name: str) -> TopicResult | None:
        if name in self._cluster.topics:
            return TopicResult(Errors.TOPIC_ALREADY_EXISTS, f"there is a topic {name} already")
        return None

    def _refuse_collision(self, name: str) -> TopicResult | None:
        for other in self._cluster.topics:
            if _metric_name(other) == _metric_name(name):
                return TopicResult(
                    Errors.INVALID_TOPIC_EXCEPTION,
                    f"{name} collides with {other}: in Kafka's metric names . and _ are the same",
                )
        return None

    def _refuse_change(self, name: str) -> TopicResult | None:
        """Differs from Kafka: it would let go or grow the offsets topic, and break its groups."""
        if name not in self._cluster.topics:
            return TopicResult(Errors.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {name}")
        if is_internal(name):
            return TopicResult(
                Errors.INVALID_TOPIC_EXCEPTION, f"{name} is Kafka's own: it stays as it is"
            )
        return None


def _refuse_name(name: str) -> TopicResult | None:
    try:
        check_topic(name)
    except InvalidTopicError as error:
        return TopicResult(Errors.INVALID_TOPIC_EXCEPTION, str(error))
    return None


def _refuse_count(num_partitions: int) -> TopicResult | None:
    if 1 <= num_partitions <= MAX_PARTITIONS:
        return None
    return TopicResult(
        Errors.INVALID_PARTITIONS,
        f"{num_partitions:,} partitions: 1 to {MAX_PARTITIONS:,} are allowed, or -1 for "
        "num.partitions",
    )


def _refuse_configs(configs: Mapping[str, int | str]) -> TopicResult | None:
    for key, value in configs.items():
        if key not in TOPIC_SETTINGS:
            what = (
                "a setting that is not built here" if is_left_out(key) else "no setting of a topic"
            )
            known = " and ".join(TOPIC_SETTINGS)
            return TopicResult(Errors.INVALID_CONFIG, f"{key} is {what}: {known} are known")
        if not re.fullmatch("-1|[0-9]+", str(value)):
            return TopicResult(
                Errors.INVALID_CONFIG, f"{key} is {value!r}: a whole number from -1 is allowed"
            )
    return None


def _metric_name(topic: str) -> str:
    return topic.replace(".", "_")
