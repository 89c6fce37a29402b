"""What the five documents print of Kafka, and where it is here.

A line that begins at the margin is a class, a request or a name of its own; below it stand its
members. `=` gives ours: a member of the class above, or a path from kafkalearn on. `:` gives the
reason why there is no counterpart. After `|` are the documents that print it; a heading without
documents only groups what is below. Overloads are one line, with their parameters where ours
differ. Parameters and local variables of printed methods are left out.
"""

import re
from typing import NamedTuple


class Name(NamedTuple):
    """One name of the documents: ours or why, the other of them empty."""

    java: str
    ours: str
    why: str
    documents: tuple[str, ...]


_ROW = re.compile(r" *(\S+) +([=:]) ([^|]*[^| ])(?: \| (00[0-4](?: 00[0-4])*))?")


def parse(table: str) -> list[Name]:
    """Read a table; ValueError for a line that is none of it."""
    names, java_class, our_class = [], "", ""
    for line in filter(None, table.splitlines()):
        row = _ROW.fullmatch(line)
        is_member = line.startswith(" ")
        if row is None or (is_member and not (java_class and row[4])):
            raise ValueError(f"no line of a table: {line!r}")
        java, ours, why = row[1], *((row[3], "") if row[2] == "=" else ("", row[3]))
        if not is_member:
            java_class, our_class = java, ours
        else:
            java = f"{java_class}.{java}"
            ours = f"{our_class}.{ours}" if ours and not ours.startswith("kafkalearn.") else ours
        if row[4]:
            names.append(Name(java, ours, why, tuple(row[4].split())))
    return names


CONSUMER = """
Consumer                     = kafkalearn.consumer.kafka_consumer.KafkaConsumer | 003 004
KafkaConsumer                = kafkalearn.consumer.kafka_consumer.KafkaConsumer | 001
  subscribe                  = subscribe | 001 004
  subscribe(Pattern)         = subscribe | 001
  assign                     = assign | 001 004
  unsubscribe                = unsubscribe | 001 003
  unsubscrible               = unsubscribe | 004
  poll                       = poll | 000 001 002 003 004
  pollOnce                   = poll_once | 001 004
  acquire                    = kafkalearn.consumer.consumer_base._Exclusive.__enter__ | 004
  release                    = kafkalearn.consumer.consumer_base._Exclusive.__exit__ | 004
  updateFetchPositions       = update_fetch_positions | 004
  pause                      = pause | 004
  commitSync                 = commit_sync | 000 001 002 003
  commitAsync                = commit_async | 000 001 002 003
  close                      = close | 002
  coordinator                = coordinator | 004
  fetcher                    = fetcher | 004
  client                     = client | 004
  subscriptions              = subscriptions | 004
  interceptors               = interceptors | 004
  time                       = kafkalearn.clients.client_context.ClientContext.now_ms | 004
ConsumerRecords              = kafkalearn.consumer.consumer_records.ConsumerRecords | 002 004
  empty                      = empty | 004
  partitions                 = partitions | 002
  records                    = records | 002
ConsumerRecord               = kafkalearn.consumer.consumer_records.ConsumerRecord | 002 004
  offset                     = offset | 002 004
  value                      = value | 002
ConsumerInterceptors         = kafkalearn.consumer.consumer_interceptors.ConsumerInterceptors
  onConsume                  = on_consume | 004
  onCommit                   = on_commit | 000 002
ConsumerRebalanceListener    = \
kafkalearn.consumer.consumer_rebalance_listener.ConsumerRebalanceListener | 001 004
OffsetCommitCallback         = kafkalearn.consumer.offset_commits.OffsetCommitCallback | 000 002 003
OffsetCommitCompletion       = kafkalearn.consumer.offset_commits.OffsetCommitCompletion | 000 002
"""

COORDINATOR = """
ConsumerCoordinator          = \
kafkalearn.consumer.consumer_coordinator.ConsumerCoordinator | 000 001 002 004
  poll                       = poll | 001 004
  timeToNextPoll             = time_to_next_poll | 004
  updatePatternSubscription  = update_pattern_subscription | 001
  addMetadataListener        = _on_metadata_update | 001
  invokeCompletedOffsetCommitCallbacks = \
invoke_completed_offset_commit_callbacks | 000 001 002 004
  completedOffsetCommits     = completed_offset_commits | 000 002
  doCommitOffsetsAsync       = _do_commit_offsets_async | 000 002
  sendOffsetCommitRequest    = send_offset_commit_request | 000 002
  defaultOffsetCommitCallback = _default_offset_commit_callback | 000 002
  asyncCommitFenced          = _async_commit_fenced | 002
  maybeAutoCommitOffsetsAsync = maybe_auto_commit_offsets_async | 001 004
  subscriptions              = subscriptions | 000 001 004
  interceptors               = _interceptors | 000 002
  client                     = client | 000 001 002 004
AbstractCoordinator          = kafkalearn.consumer.abstract_coordinator.AbstractCoordinator
  coordinatorUnknown         = coordinator_unknown | 001 004
  ensureCoordinatorReady     = ensure_coordinator_ready | 001 004
  ensureActiveGroup          = ensure_active_group | 001 004
  startHeartbeatThreadIfNeeded = _start_heartbeat_thread_if_needed | 004
  join                       = join_group_if_needed | 001
  joinGroupIfNeeded          = join_group_if_needed | 004
  initiateJoinGroup          = _initiate_join_group | 004
  resetJoinGroupFuture       = _join_future | 004
  needRejoin                 = need_rejoin | 001 004
  rejoinIncomplete           = rejoin_incomplete | 004
  needsJoinPrepare           = _needs_join_prepare | 004
  onJoinPrepare              = on_join_prepare | 004
  onJoinComplete             = on_join_complete | 004
  pollHeartbeat              = poll_heartbeat | 001 004
  generation                 = generation | 004
  retryBackoffMs             = kafkalearn.consumer.consumer_config.ConsumerConfig.retry_backoff_ms \
| 004
Generation                   = kafkalearn.consumer.member_state.Generation
  generationId               = generation_id | 004
  memberId                   = member_id | 004
  protocol                   = protocol | 004
"""

SUBSCRIPTIONS = """
SubScriptionState            = kafkalearn.consumer.subscription_state.SubscriptionState | 004
SubscriptionState            = kafkalearn.consumer.subscription_state.SubscriptionState | 001 004
  subscriptionType           = subscription_type | 004
  subscribedPattern          = subscribed_pattern | 001 004
  subscription               = subscription | 001 004
  subscriptions              = subscription | 001
  userAssignment             = user_assignment | 004
  assignment                 = assignment | 004
  groupSubscription          = group_subscription | 004
  needFetchCommitedOffsets   = need_fetch_committed_offsets | 004
  defaultResetStrategy       = default_reset_strategy | 004
  listener                   = listener | 004
  hasNoSubscriptionOrUserAssignment = has_no_subscription_or_user_assignment | 004
  partitionsAutoAssigned     = partitions_auto_assigned | 001 004
  hasPatternSubscription     = has_pattern_subscription | 001 004
  hasAllFetchPositions       = has_all_fetch_positions | 004
  missingFetchPositions      = missing_fetch_positions | 004
  isAssigned                 = is_assigned | 004
  isFetchable                = is_fetchable | 004
  position                   = position | 004
  partitionLag               : only metrics read it: kafkalearn.analysis.lag tells | 004
  needRefreshCommits         = need_refresh_commits | 000
SubscriptionType             = kafkalearn.consumer.subscription_state.SubscriptionType | 001 004
  AUTO_TOPICS                = AUTO_TOPICS | 001 004
  AUTO_PATTERN               = AUTO_PATTERN | 001 004
  USER_ASSIGNED              = USER_ASSIGNED | 004
TopicpartitionState          = kafkalearn.consumer.partition_states.TopicPartitionState | 004
TopicPartitionState          = kafkalearn.consumer.partition_states.TopicPartitionState | 004
  position                   = position | 004
  highWatermark              = high_watermark | 004
  committed                  = committed | 004
  commitedOffset             = committed | 003
  paused                     = paused | 004
  resetStrategy              = reset_strategy | 004
OffsetResetStrategy          = kafkalearn.consumer.offset_reset_strategy.OffsetResetStrategy | 004
  latest                     = LATEST | 003
  earliest                   = EARLIEST | 003
  none                       = NONE | 003
"""

FETCHER = """
Fetcher                      = kafkalearn.consumer.fetcher.Fetcher | 004
  sendFetches                = send_fetches | 004
  fetchedRecords             = fetched_records | 004
  hasCompletedFetches        : should_block says the opposite, as it is asked at each poll | 004
  createFetchRequests        = create_fetch_requests | 004
  parseCompletedFetch        = parse_completed_fetch | 004
  drainRecords               = drain_records | 004
  matchesRequestedPartitions = matches_requested_partitions | 004
  completedFetches           = completed_fetches | 004
  nextInLineRecords          = next_in_line_records | 004
  maxPollRecords             = kafkalearn.consumer.consumer_config.ConsumerConfig.max_poll_records \
| 004
  client                     = client | 004
  subscriptions              = subscriptions | 004
  log                        : loggers are not built: a trace tells more | 004
  sensors                    : metrics are not built: a trace tells more | 004
CompletedFetch               = kafkalearn.consumer.completed_fetch.CompletedFetch | 004
PartitionRecords             = kafkalearn.consumer.completed_fetch.PartitionRecords | 004
  partition                  = partition | 004
  fetchOffset                = fetch_offset | 004
  isDrained                  = is_drained | 004
  drainRecords               = drain_records | 004
  drain                      = drain | 004
FetchManagerMetrics          : metrics are not built: a trace tells more
  fetchLatency               : metrics are not built: a trace tells more | 004
  fetchThrottleTimeSensor    : metrics are not built: a trace tells more | 004
  recordPartitionLag         : metrics are not built: kafkalearn.analysis.lag tells | 004
FetchResponseMetricAggregator : metrics are not built: a trace tells more | 004
"""

CLIENTS = """
ConsumerNetworkClient        = kafkalearn.consumer.consumer_network_client.ConsumerNetworkClient
  poll                       = poll | 000 002 004
  poll(RequestFuture)        = poll_future | 004
  pollNoWakeup               = poll_no_wakeup | 004
  pendingRequestCount        = pending_request_count | 004
  ensureFreshMetadata        = ensure_fresh_metadata | 001 004
  send                       = send | 004
PollCondition                = kafkalearn.consumer.consumer_network_client.PollCondition | 004
  shouldBlock                = should_block | 004
RequestFuture                = kafkalearn.clients.request_future.RequestFuture | 000 002 004
  addListener                = add_listener | 000 002 004
  succeeded                  = succeeded | 004
  value                      = value | 004
  exception                  = exception | 004
  isRetriable                = is_retriable | 004
RequestFutureListener        = kafkalearn.clients.request_future.RequestFuture.add_listener \
| 000 002 004
  onSuccess                  = kafkalearn.clients.request_future.OnSuccess | 000 002 004
  onFailure                  = kafkalearn.clients.request_future.OnFailure | 000 002 004
ClientResponse               = kafkalearn.protocol.message.Response | 004
  responseBody               : an answer comes without a wrapper: it is the body | 004
  requestLatencyMs           : metrics are not built: two events of a trace give the latency | 004
NetworkClient                = kafkalearn.clients.network_client.NetworkClient | 003 004
Metadata                     = kafkalearn.clients.metadata.Metadata | 001
  topics                     = topics | 001
  needMetadataForAllTopics   = need_metadata_for_all_topics | 001
Node                         : a broker is known by its name, a text, as in Metadata.leaders | 004
Time                         = kafkalearn.clients.client_context.ClientContext
  milliseconds               = now_ms | 001 004
  sleep                      = kafkalearn.engine.process.Processes.sleep | 004
KafkaProducer                = kafkalearn.producer.kafka_producer.KafkaProducer | 003
RecordAccumulator            = kafkalearn.producer.record_accumulator.RecordAccumulator | 003
  batches                    = batches | 003
ProducerBatch                = kafkalearn.producer.producer_batch.ProducerBatch | 003
Sender                       = kafkalearn.producer.sender.Sender | 003
"""

ASSIGNORS = """
PartitionAssignor            = kafkalearn.assignors.partition_assignor.PartitionAssignor | 002 004
  name                       = name | 002
AbstractPartitionAssignor    = kafkalearn.assignors.partition_assignor.AbstractPartitionAssignor \
| 000 002
  assign                     = assign | 000 002
  partitions                 = partitions | 000 002
RangeAssignor                = kafkalearn.assignors.range_assignor.RangeAssignor | 000 002
  assign                     = assign | 000 002
  consumersPerTopic          = consumers_per_topic | 000 002
RoundRobinAssignor           = kafkalearn.assignors.round_robin_assignor.RoundRobinAssignor \
| 000 002
  assign                     = assign | 000 002
  allPartitionsSorted        = all_partitions_sorted | 000 002
StickyAssignor               = kafkalearn.assignors.sticky_assignor.StickyAssignor | 002
  assign                     = assign | 002
  partitionMovements         = \
kafkalearn.assignors.general_assignment_builder.GeneralAssignmentBuilder._movements | 002
  prepopulateCurrentAssignments = kafkalearn.assignors.previous_owners.previous_owners | 002
  sortPartitions             = \
kafkalearn.assignors.general_assignment_builder.GeneralAssignmentBuilder._partitions | 002
  balance                    = \
kafkalearn.assignors.general_assignment_builder.GeneralAssignmentBuilder._balance | 002
ConsumerGenerationPair       = kafkalearn.assignors.previous_owners.PreviousOwners.former | 002
PartitionMovements           = kafkalearn.assignors.partition_movements.PartitionMovements | 002
SubscriptionComparator       = kafkalearn.assignors.general_assignment_builder._Loads | 002
Subscription                 = kafkalearn.records.Subscription | 002
  topics                     = topics | 002
CircularIterator             : a list and a number that counts round do | 000 002
  peek                       : the member whose turn it is, in RoundRobinAssignor._deal | 000 002
  next                       : the number goes one up, in RoundRobinAssignor._deal | 000 002
Utils                        = kafkalearn.assignors.partition_assignor.AbstractPartitionAssignor
  sorted                     = sorted_members | 000 002
TopicPartition               = kafkalearn.records.TopicPartition | 000 001 002 003 004
  topic                      = topic | 000 002
OffsetAndMetadata            = kafkalearn.records.OffsetAndMetadata | 000 001 002 003 004
"""

BROKER = """
GroupCoordinator             = kafkalearn.broker.group_coordinator.GroupCoordinator \
| 000 001 002 003 004
  handleCommitOffsets        = kafkalearn.broker.group_offsets.GroupOffsets.handle_commit_offsets \
| 001 004
  doCommitOffsets            = kafkalearn.broker.group_offsets.GroupOffsets._do_commit_offsets \
| 001 004
  isActive                   = \
kafkalearn.broker.group_metadata_manager.GroupMetadataManager.is_active | 001 004
  isCoordinatorForGroup      = kafkalearn.broker.group_metadata_manager.GroupMetadataManager.find \
| 001 004
  isCoordinatorLoadingInProgress = \
kafkalearn.broker.group_metadata_manager.GroupMetadataManager.find | 001 004
  groupManager               = groups | 001 004
  completeAndScheduleNextHeartbeatExpiration = \
kafkalearn.broker.member_sessions.MemberSessions.schedule_next_heartbeat_expiration | 001 004
GroupMetadataManager         = kafkalearn.broker.group_metadata_manager.GroupMetadataManager
  getGroup                   = get | 001 004
  addGroup                   = add | 001 004
  prepareStoreOffsets        = kafkalearn.broker.group_offsets.GroupOffsets._store_offsets | 001 004
  store                      = kafkalearn.broker.offset_store.OffsetStore.store_offsets | 001 004
DelayedStore                 : the log here is written at once, so no store has to wait | 001 004
GroupMetadata                = kafkalearn.broker.group_metadata.GroupMetadata | 000 001 002 004
  is                         = is_in | 001 004
  has                        = members | 001 004
  get                        = members | 001 004
  generationId               = generation_id | 001 004
  synchronized               : one thing happens at a time in virtual time: no lock is needed \
| 001 004
GroupState                   = kafkalearn.broker.group_state.GroupState
  Empty                      = EMPTY | 001 004
  PreparingRebalance         = PREPARING_REBALANCE | 004
  AwaitingSync               = AWAITING_SYNC | 001 004
  AwaitSync                  = AWAITING_SYNC | 004
  AwaiSync                   = AWAITING_SYNC | 004
  Stable                     = STABLE | 004
  Dead                       = DEAD | 001 004
LEO                          = kafkalearn.broker.partition_log.PartitionLog.log_end_offset | 003
__consumer_offsets           = kafkalearn.records.GROUP_METADATA_TOPIC_NAME | 003
__Consumer_offsets           = kafkalearn.records.GROUP_METADATA_TOPIC_NAME | 003
"""

ERRORS = """
Errors                       = kafkalearn.errors.Errors | 001 004
  GROUP_COORDINATOR_NOT_AVAILABLE = COORDINATOR_NOT_AVAILABLE | 001 004
  NOT_COORDINATOR_FOR_GROUP  = NOT_COORDINATOR | 001 004
  GROUP_LOAD_IN_PROGRESS     = COORDINATOR_LOAD_IN_PROGRESS | 001 004
  ILLEGAL_GENERATION         = ILLEGAL_GENERATION | 001 004
  UNKNOWN_MEMBER_ID          = UNKNOWN_MEMBER_ID | 001 004
  REBALANCE_IN_PROGRESS      = REBALANCE_IN_PROGRESS | 001 004
  code                       : each of Errors is an int, its code | 001 004
RetriableException           = kafkalearn.errors.RetriableError | 000 002
RetriableCommitFailedException = kafkalearn.errors.RetriableCommitFailedError | 000 002
FencedInstanceIdException    = kafkalearn.errors.FencedInstanceIdError | 002
UnknownMemberIdException     = kafkalearn.errors.UnknownMemberIdError | 004
RebalanceInProgressException = kafkalearn.errors.RebalanceInProgressError | 004
IllegalGenerationException   = kafkalearn.errors.IllegalGenerationError | 004
IllegalArgumentException     = kafkalearn.errors.IllegalArgumentError | 004
IllegalStateException        = kafkalearn.errors.IllegalStateError | 004
"""

REQUESTS = """
OffsetFetch                  = kafkalearn.protocol.offsets.OffsetFetchRequest | 003
OffsetFetchRequest           = kafkalearn.protocol.offsets.OffsetFetchRequest | 004
OffsetCommit                 = kafkalearn.protocol.offsets.OffsetCommitRequest | 001 003
OFFSET_COMMIT                = kafkalearn.protocol.offsets.OffsetCommitRequest | 003
OffsetCommitRequest          = kafkalearn.protocol.offsets.OffsetCommitRequest | 004
offset-commit                = kafkalearn.protocol.offsets.OffsetCommitRequest | 004
JoinGroup                    = kafkalearn.protocol.group.JoinGroupRequest | 003
join-group                   = kafkalearn.protocol.group.JoinGroupRequest | 001 004
SyncGroup                    = kafkalearn.protocol.group.SyncGroupRequest | 003
SyncGroupRequest             = kafkalearn.protocol.group.SyncGroupRequest | 004
sync-group                   = kafkalearn.protocol.group.SyncGroupRequest | 001 004
HeartBeat                    = kafkalearn.protocol.group.HeartbeatRequest | 003
HeartbeatRequest             = kafkalearn.protocol.group.HeartbeatRequest | 004
heartbeat                    = kafkalearn.protocol.group.HeartbeatRequest | 001 004
LeaveGroup                   = kafkalearn.protocol.group.LeaveGroupRequest | 003
LEAVE_Group                  = kafkalearn.protocol.group.LeaveGroupRequest | 003
DescribeGroup                = kafkalearn.protocol.group_admin.DescribeGroupsRequest | 003
Fetch                        = kafkalearn.protocol.fetch.FetchRequest | 003 004
FetchRequest.Builder         = kafkalearn.protocol.fetch.FetchRequest | 004
  fetchData                  = partitions | 004
  version                    : a profile says which Kafka's rules hold, for a whole run | 004
FetchRequest.PartitionData   = kafkalearn.protocol.fetch.FetchPartition
  offset                     = fetch_offset | 004
FetchResponse                = kafkalearn.protocol.fetch.FetchResponse | 004
  responseData               = partitions | 004
  getThrottleTime            : quotas are not built: no broker slows a client down | 004
FetchResponse.PartitionData  = kafkalearn.protocol.fetch.PartitionData | 004
"""

SETTINGS = """
consumer                     = kafkalearn.consumer.consumer_config.ConsumerConfig
  partition.assignment.strategy = partition_assignment_strategy | 000 001 002
  enable.auto.commit         = enable_auto_commit | 002 003
  auto.commit.interval.ms    = auto_commit_interval_ms | 002 003
  auto.offset.reset          = auto_offset_reset | 003
  group.id                   = group_id | 001 004
  heartbeat.interval.ms      = heartbeat_interval_ms | 004
  session.timeout.ms         = session_timeout_ms | 004
  max.poll.records           = max_poll_records | 004
"""

JDK = """
java.util.Map                : Python's dict (get put remove containsKey isEmpty keySet values \
entrySet) | 000 002 003 004
java.util.Map.Entry          : a pair of Python's (getKey getValue) | 000 002 004
java.util.HashMap            : Python's dict, which keeps its order | 000 002 004
java.util.List               : Python's list (add addAll contains get isEmpty size subList) \
| 000 002 004
java.util.stream.Stream      : Python's for and if (stream filter forEach) | 002
java.util.ArrayList          : Python's list | 000 002 004
java.util.Set                : Python's set, or a tuple that is sorted | 004
java.util.HashSet            : Python's set | 004
java.util.SortedSet          : Python's sorted | 000 002
java.util.TreeSet            : Python's sorted | 000 002
java.util.Iterator           : Python's for (iterator hasNext next remove) | 002
java.util.Collection         : Python's Iterable | 001
java.util.Collections        : sort, singletonMap, emptyMap and emptyList are Python's own \
| 000 002 004
java.util.Properties         = kafkalearn.config.parse_properties | 002
java.util.Queue              : Python's deque (add poll) | 000 002 004
java.util.Deque              : Python's deque | 003
ConcurrentMap                : Python's dict: nothing here runs at the same time | 003
ConcurrentHashMap            : Python's dict: nothing here runs at the same time | 003
AtomicBoolean                : Python's bool (get set) | 001 002 004
java.util.regex.Pattern      : Python's re.Pattern | 001 004
java.nio.ByteBuffer          : an assignment travels as text here | 004
java.lang.Math               : Python's min | 000 002 004
java.lang.System             : Python's print (out.println) | 002
java.lang.Exception          : Python's Exception, as RuntimeException is | 000 002 004
java.lang.Long               : Python's int; a poll without limit needs no MAX_VALUE | 002 004
java.lang.Integer            : Python's int | 000 002
java.lang.String             : Python's str | 000 001 002 004
java.lang.Void               : Python's None | 000 002
java.lang.Override           : a method of the same name does | 000 002 004
scala.Option                 : Python's None, or the value (Some None foreach) | 001 004
scala.immutable.Map          : Python's dict (mapValues) | 001 004
scala.Types                  : Int, Short and Unit are Python's int and None | 001 004
"""

NAMES = parse(CONSUMER) + parse(COORDINATOR) + parse(SUBSCRIPTIONS) + parse(FETCHER)
NAMES += parse(CLIENTS) + parse(ASSIGNORS) + parse(BROKER)
NAMES += parse(ERRORS) + parse(REQUESTS) + parse(SETTINGS) + parse(JDK)
