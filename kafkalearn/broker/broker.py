"""A broker: takes each request to its handler, and hears from the cluster what it leads.

It is thrown away at a crash; a restart makes a new one on the same Cluster. Whatever it replied to,
and its timers, are dropped by whoever drives it.

Source: kafka.server.KafkaApis (1.0.2; 2.3.1 where a partition is looked up to write or read it:
before 2.0 it was enough that the topic exists, and the log was missed later).
"""

from collections.abc import Sequence
from dataclasses import replace

from kafkalearn.broker.admin_manager import AdminManager
from kafkalearn.broker.broker_context import BrokerContext
from kafkalearn.broker.cluster import Cluster, Partition, Topic
from kafkalearn.broker.fetch_requests import FetchRequests
from kafkalearn.broker.group_coordinator import GroupCoordinator, Handler
from kafkalearn.broker.log_requests import LogRequests
from kafkalearn.broker.log_retention import LogRetention
from kafkalearn.errors import Errors, InvalidRequestError
from kafkalearn.protocol.fetch import FetchRequest, ListOffsetsRequest
from kafkalearn.protocol.group import FindCoordinatorRequest, FindCoordinatorResponse
from kafkalearn.protocol.message import Reply, Request, Response
from kafkalearn.protocol.metadata import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    MetadataRequest,
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafkalearn.protocol.offsets import OffsetCommitRequest, OffsetCommitResponse
from kafkalearn.protocol.produce import ProduceRequest
from kafkalearn.records import GROUP_METADATA_TOPIC_NAME, TopicPartition, is_internal

_UNKNOWN = Errors.UNKNOWN_TOPIC_OR_PARTITION


class Broker:
    """One broker from its start to its crash; `startup` comes first."""

    def __init__(
        self, context: BrokerContext, *, cluster: Cluster, coordinator: GroupCoordinator
    ) -> None:
        self.node = context.node
        self.record = context.record
        self._config = context.config
        self._profile = context.profile
        self._timers = context.timers
        self._cluster = cluster
        self._coordinator = coordinator
        self._admin = AdminManager(context, cluster)
        self._fetches = FetchRequests(context, cluster)
        self._retention = LogRetention(context, cluster)
        logs = LogRequests(context, cluster)
        self._handlers: dict[type[Request], Handler] = {
            **coordinator.handlers,
            OffsetCommitRequest: self._commit_offsets,
            FindCoordinatorRequest: self._find_coordinator,
            ProduceRequest: logs.produce,
            FetchRequest: self._fetches.handle,
            ListOffsetsRequest: logs.list_offsets,
            MetadataRequest: self._metadata,
            CreateTopicsRequest: self._create_topics,
            DeleteTopicsRequest: self._delete_topics,
            CreatePartitionsRequest: self._create_partitions,
        }

    def startup(self, now_ms: int) -> None:
        """Come up, and lead what the cluster gives."""
        self._retention.started_ms = now_ms
        self._coordinator.startup(now_ms)
        self._cluster.broker_up(self.node, self, now_ms=now_ms)

    def handle(self, request: Request, now_ms: int, reply: Reply) -> None:
        """Answer a request by `reply`, now or later.

        InvalidRequestError: a request, or a value in it, that no client could send.
        """
        handler = self._handlers.get(type(request))
        if handler is None:
            known = ", ".join(each.__name__ for each in self._handlers)
            raise InvalidRequestError(f"{type(request).__name__} is no request: {known} are")
        handler(request, now_ms, reply)

    # What the cluster tells.

    def become_leader(self, partitions: Sequence[Partition], now_ms: int) -> None:
        """Lead these from now on; those of the offsets topic bring groups."""
        for partition in partitions:
            topic, number = partition.topic_partition
            if is_internal(topic):
                self._coordinator.handle_group_immigration(number, now_ms)
            self._retention.watch(partition, now_ms)

    def resign(self, partitions: Sequence[Partition], now_ms: int) -> None:
        """Lead these no more, and tell whoever waits for them."""
        for partition in partitions:
            topic, number = partition.topic_partition
            if is_internal(topic):
                self._coordinator.handle_group_emigration(number, now_ms)
            self._fetches.check_and_complete(partition.topic_partition)

    def topic_deleted(self, partitions: Sequence[TopicPartition], now_ms: int) -> None:
        """Forget the offsets that this coordinator's groups committed for these.

        A broker that is down hears of it no more, as in Kafka; see handle_deleted_partitions.
        """
        self._coordinator.handle_deleted_partitions(partitions, now_ms)

    def log_changed(self, partition: Partition, now_ms: int) -> None:
        """Wake those who wait for records; plan when the records have to go."""
        self._fetches.check_and_complete(partition.topic_partition)
        self._retention.watch(partition, now_ms)

    # Groups: what comes before the coordinator.

    def _find_coordinator(self, request: FindCoordinatorRequest, now_ms: int, reply: Reply) -> None:
        """Name the broker that leads the group's partition; any key will do, even an empty one."""
        number = self._coordinator.partition_for(request.key)
        leader = self._cluster.topics[GROUP_METADATA_TOPIC_NAME].partitions[number].leader
        if leader is None:
            reply(request.get_error_response(Errors.COORDINATOR_NOT_AVAILABLE))
        else:
            reply(FindCoordinatorResponse(node=leader))

    def _commit_offsets(self, request: OffsetCommitRequest, now_ms: int, reply: Reply) -> None:
        """Keep what does not exist from the coordinator; with nothing left, it hears nothing."""
        cluster, by_partition = self._cluster, self._profile.commit_needs_partition
        known = {
            each: offset
            for each, offset in request.offsets.items()
            if (cluster.find(each) if by_partition else cluster.topics.get(each.topic)) is not None
        }

        def merged(response: Response) -> None:
            assert isinstance(response, OffsetCommitResponse)
            unknown = Errors.UNKNOWN_TOPIC_OR_PARTITION
            errors = {each: response.partitions.get(each, unknown) for each in request.offsets}
            reply(OffsetCommitResponse(error_code=response.error_code, partitions=errors))

        if len(known) == len(request.offsets) > 0:
            self._coordinator.handle(request, now_ms, reply)
        elif known:
            self._coordinator.handle(replace(request, offsets=known), now_ms, merged)
        else:
            merged(OffsetCommitResponse())

    # Topics.

    def _metadata(self, request: MetadataRequest, now_ms: int, reply: Reply) -> None:
        asked = self._cluster.topics if request.topics is None else dict.fromkeys(request.topics)
        may_create = request.allow_auto_topic_creation and self._config.auto_create_topics_enable
        topics = []
        for name in asked:
            topic = self._cluster.topics.get(name)
            if topic is not None:
                topics.append(_described(topic))
            else:
                create = self._admin.auto_create_topic
                error = create(name, now_ms=now_ms) if may_create else _UNKNOWN
                topics.append(MetadataResponseTopic(error, name, is_internal(name)))
        reply(MetadataResponse(brokers=tuple(self._cluster.living_brokers), topics=tuple(topics)))

    def _create_topics(self, request: CreateTopicsRequest, now_ms: int, reply: Reply) -> None:
        create, only = self._admin.create_topic, request.validate_only
        reply(
            CreateTopicsResponse(
                results={
                    name: create(name, topic, now_ms=now_ms, validate_only=only)
                    for name, topic in request.topics.items()
                }
            )
        )

    def _delete_topics(self, request: DeleteTopicsRequest, now_ms: int, reply: Reply) -> None:
        """Delete topics; the answer waits for all of them, for as long as the request says."""
        delete, names = self._admin.delete_topic, dict.fromkeys(request.topic_names)
        response = DeleteTopicsResponse(
            results={name: delete(name, now_ms=now_ms) for name in names}
        )
        errors = [result.error_code for result in response.results.values()]
        if Errors.REQUEST_TIMED_OUT in errors and request.timeout_ms > 0:
            self._timers.call_at(now_ms + request.timeout_ms, lambda due_ms: reply(response))
        else:
            reply(response)

    def _create_partitions(
        self, request: CreatePartitionsRequest, now_ms: int, reply: Reply
    ) -> None:
        create = self._admin.create_partitions
        results = {
            name: create(name, count, now_ms=now_ms) for name, count in request.topics.items()
        }
        reply(CreatePartitionsResponse(results=results))


def _described(topic: Topic) -> MetadataResponseTopic:
    partitions = tuple(
        MetadataResponsePartition(
            Errors.LEADER_NOT_AVAILABLE if partition.leader is None else Errors.NONE,
            number,
            partition.leader or "",
        )
        for number, partition in enumerate(topic.partitions)
    )
    return MetadataResponseTopic(Errors.NONE, topic.name, is_internal(topic.name), partitions)
