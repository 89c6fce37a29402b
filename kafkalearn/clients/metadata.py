"""The cluster as a client knows it: topics, partitions, leaders; and when to ask again.

Source: document 001; org.apache.kafka.clients.Metadata, org.apache.kafka.common.Cluster (1.0.2).
Differs from Kafka: a producer's topics do not expire after five minutes without use.
"""

from collections.abc import Callable, Iterable

from kafkalearn.clients.exponential_backoff import ExponentialBackoff
from kafkalearn.errors import Errors
from kafkalearn.protocol.message import Response
from kafkalearn.protocol.metadata import MetadataRequest, MetadataResponse
from kafkalearn.records import TopicPartition

Listener = Callable[["Metadata"], object]
_PASSING = (Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.LEADER_NOT_AVAILABLE)


class Metadata:
    """What the last answer said, and whether a new one is wanted.

    topics: those asked about, in the order in which they were added.
    need_metadata_for_all_topics: ask about every topic instead, as a pattern needs it.
    all_topics_suffice: an answer about every topic is enough, whatever listeners ask for then.
    allow_auto_topic_creation: whether asking about a topic may make it.
    version: counts the answers. due_ms: when to ask again.
    brokers: the names of those that live; at first, all that the client was told of.
    partition_counts: topic -> how many partitions it has; only topics without an error.
    leaders: who leads a partition, where somebody does.
    internal_topics: those of the cluster's own, among the topics.
    unavailable_topics: those with an error that the next answer may not have.
    invalid_topics: those that the brokers will never have.
    """

    def __init__(
        self,
        brokers: Iterable[str],
        *,
        refresh_backoff: ExponentialBackoff,
        metadata_expire_ms: int,
    ) -> None:
        self.topics: dict[str, None] = {}
        self.need_metadata_for_all_topics = False
        self.allow_auto_topic_creation = True
        self.all_topics_suffice = False
        self.version = 0
        self.brokers = tuple(brokers)
        self.partition_counts: dict[str, int] = {}
        self.leaders: dict[TopicPartition, str] = {}
        self.internal_topics: frozenset[str] = frozenset()
        self.unavailable_topics: frozenset[str] = frozenset()
        self.invalid_topics: frozenset[str] = frozenset()
        self._listeners: list[Listener] = []
        self._refresh_backoff = refresh_backoff
        self._failures = self._equivalent_responses = 0
        self._backoff_ms = refresh_backoff.initial_ms
        self._metadata_expire_ms = metadata_expire_ms
        self._need_update = False
        self._last_refresh_ms = -self._backoff_ms
        self._last_successful_refresh_ms = -metadata_expire_ms
        self.due_ms = 0

    def add_listener(self, listener: Listener) -> None:
        """Call `listener` after each answer."""
        self._listeners.append(listener)

    def request_update(self) -> int:
        """Ask for an update; give the version to wait past."""
        self._need_update = True
        self._set_due()
        return self.version

    def update_requested(self) -> bool:
        """Whether somebody asked for an update that has not come yet."""
        return self._need_update

    def may_update(self, now_ms: int) -> bool:
        """Whether it was not asked for just before (Java: timeToAllowUpdate is 0)."""
        return now_ms >= self._last_refresh_ms + self._backoff_ms

    def time_to_next_update(self, now_ms: int) -> int:
        """In how many ms to ask again: when it is old, or asked for and not asked just before."""
        return max(0, self.due_ms - now_ms)

    def add(self, topic: str) -> None:
        """Ask about one more topic."""
        if topic not in self.topics:
            self.topics[topic] = None
            self._request_update_for_new_topics()

    def set_topics(self, topics: Iterable[str]) -> None:
        """Ask about these topics from now on."""
        wanted = dict.fromkeys(topics)
        is_new = not wanted.keys() <= self.topics.keys()
        self.topics = wanted
        if is_new:
            self._request_update_for_new_topics()

    def new_request(self) -> MetadataRequest:
        """Make the question that is to be asked."""
        wanted = None if self.need_metadata_for_all_topics else tuple(self.topics)
        may_create = self.allow_auto_topic_creation
        return MetadataRequest(topics=wanted, allow_auto_topic_creation=may_create)

    def handle_response(self, response: Response | None, now_ms: int) -> None:
        """Take an answer, if one came and it names any broker; else the question stays."""
        if isinstance(response, MetadataResponse) and response.brokers:
            self.update(response, now_ms)
        else:
            self.failed_update(now_ms)
            self.request_update()

    def update(self, response: MetadataResponse, now_ms: int) -> None:
        """Take what an answer says."""
        self._need_update = False
        is_old = now_ms >= self._last_successful_refresh_ms + self._metadata_expire_ms
        self._last_refresh_ms = self._last_successful_refresh_ms = now_ms
        known_before = self.partition_counts, self.leaders
        self.version += 1
        if response.brokers:
            self.brokers = response.brokers
        known = [each for each in response.topics if each.error_code is Errors.NONE]
        self.partition_counts = {each.name: len(each.partitions) for each in known}
        self.internal_topics = frozenset(each.name for each in known if each.is_internal)
        self.leaders = {
            TopicPartition(topic.name, partition.partition_index): partition.leader
            for topic in known
            for partition in topic.partitions
            if partition.leader
        }
        errors = [(each.error_code, each.name) for each in response.topics]
        self.unavailable_topics = frozenset(name for error, name in errors if error in _PASSING)
        invalid = Errors.INVALID_TOPIC_EXCEPTION
        self.invalid_topics = frozenset(name for error, name in errors if error is invalid)
        is_news = known_before != (self.partition_counts, self.leaders)
        of_before = 0 if is_old else self._equivalent_responses
        self._back_off(failures=0, equivalent=0 if is_news else of_before + 1)
        for listener in self._listeners:
            listener(self)
        if self.need_metadata_for_all_topics and self.all_topics_suffice:
            self._need_update = False
            self._set_due()

    def failed_update(self, now_ms: int) -> None:
        """Note that an attempt failed: the next one waits for a while."""
        self._last_refresh_ms = now_ms
        self._back_off(failures=self._failures + 1, equivalent=0)

    def _back_off(self, *, failures: int, equivalent: int) -> None:
        """Draw how long the next question must wait: the longer, the less the last ones brought."""
        self._failures, self._equivalent_responses = failures, equivalent
        self._backoff_ms = self._refresh_backoff.backoff(max(failures, equivalent, 1) - 1)
        self._set_due()

    def _set_due(self) -> None:
        self.due_ms = self._last_refresh_ms + self._backoff_ms
        if not self._need_update:
            expiry_ms = self._last_successful_refresh_ms + self._metadata_expire_ms
            self.due_ms = max(self.due_ms, expiry_ms)

    def _request_update_for_new_topics(self) -> None:
        # New topics need not wait for the back-off: the last answer was not about them.
        self._last_refresh_ms = -self._backoff_ms
        self._equivalent_responses = 0
        self.request_update()
