"""Which Kafka's rules hold for consumers.

Source: KafkaConsumer, ConsumerCoordinator, AbstractCoordinator, Heartbeat and Fetcher of Kafka
0.10.1.1, 1.0.2, 2.3.1, 2.4.0, of trunk before 4.0 and, for KIP-1106, after it.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ConsumerRules:
    """The switches of consumers."""

    sticky_assignor: bool = True
    """There is a sticky assignor (0.11, KIP-54)."""
    sync_commit_runs_callbacks: bool = True
    """commit_sync runs the callbacks of earlier asynchronous commits first (1.0, KAFKA-5730)."""
    empty_commit_runs_callbacks: bool = True
    """A commit_sync without any offset waits for earlier asynchronous commits, too, and runs their
    callbacks (3.6, KAFKA-10337); a commit_async without any is over without a coordinator (3.2).
    """
    poll_timeout_bounds_join: bool = True
    """poll(timedelta) bounds the join, too, and default.api.timeout.ms what blocks (2.0, KIP-266).
    """
    group_id_is_optional: bool = True
    """Without a group id a consumer commits nothing by itself, and what needs a group is refused
    before anything is sent (2.2, KIP-289)."""
    heartbeat_timers: bool = True
    """A client's session and poll are over in the very ms, not after it; a heartbeat is tried again
    retry.backoff.ms after the failure, not after it was sent; and to find the coordinator counts
    neither as a heartbeat nor as a poll (2.1)."""
    auto_commit_finds_coordinator: bool = True
    """An automatic commit that is due looks an unknown coordinator up, and assign() commits only if
    it is due. Before, it waited until something else had found the coordinator, which a consumer
    that uses assign() never does; and assign() committed at once (1.1, KAFKA-6362)."""
    poll_heartbeat_first: bool = True
    """A poll counts from its beginning, not only once the member has joined (2.0)."""
    committed_asks_coordinator: bool = True
    """committed() asks the coordinator, also about an assigned partition whose committed offset the
    consumer has learnt before, and which others may have changed (0.11, KAFKA-5273)."""
    failed_fetch: str = "dropped"
    """What becomes of a fetch whose error a poll raises: it is dropped, and fetched anew (2.0,
    KAFKA-6877); it is kept, so that a poll returns nothing of other partitions either until a
    seek() (0.11); or it is read_whole before: dropped, with the records in front of one that cannot
    be read, where each is returned up to that one since (0.10, KAFKA-5211)."""
    poll_looks_for_wakeups: bool = True
    """A poll begins by looking whether wakeup() was called; before, it did not as long as it had
    records to return (0.11)."""
    paused_fetches_are_kept: bool = True
    """What was fetched of a partition that is paused waits for resume(); before, it was thrown away
    and fetched once more (2.4, KAFKA-7548)."""
    fetches_go_beside_others: bool = True
    """A fetch waits for the fetch before it alone; before, for all that its broker has to answer to
    this consumer, as for metadata (2.3, KAFKA-8052)."""
    incremental_rebalance: bool = True
    """Assignors may be cooperative; listeners hear of lost partitions, are not called with nothing
    before the first join, and what they raise reaches the caller of poll (2.4, KIP-429)."""
    commit_keeps_generation: bool = True
    """A commit refused with REBALANCE_IN_PROGRESS asks for a rejoin and keeps the generation (2.4).
    """
    poll_goes_on_in_rebalance: bool = True
    """poll(timedelta) waits neither for the join (2.5, KAFKA-8421) nor for the automatic commit
    before it (3.2, KAFKA-13310): it returns what it has meanwhile, and later polls go on."""
    commit_tells_rebalance: bool = True
    """A commit in the middle of a rebalance fails with RebalanceInProgressError, after which a poll
    and another try may help, not with CommitFailedError (2.5)."""
    stale_errors_are_ignored: bool = True
    """An error is of no effect if the member is not any more in the generation in which it asked; a
    fenced heartbeat resets the member, and to leave during a rebalance loses partitions (2.6)."""
    join_raises_listener_error: bool = True
    """An error of Kafka's that a listener raises at the end of a join, as a commit's, comes out of
    poll as itself, not as the cause of a KafkaError (2.6, KAFKA-9620)."""
    join_waits_request_timeout: bool = True
    """JoinGroup waits for request.timeout.ms if that is more than the rebalance timeout and 5 s,
    which it waits for since 2.0 (2.6)."""
    heartbeat_while_rebalancing: bool = True
    """Heartbeats go on between JoinGroup and SyncGroup (2.7, KAFKA-10134)."""
    reset_prepares_join: bool = True
    """A member that falls out of its generation while it joins loses what it has kept before it
    joins anew; it used to claim that as its own (2.7.2, KAFKA-12983)."""
    illegal_generation_keeps_member_id: bool = True
    """A member of an old generation joins again under the id that it has (3.2, KAFKA-13419)."""
    missing_topics_are_asked_for: bool = True
    """A consumer asks again and again for a topic that it subscribes to and that is not there yet;
    before, only once metadata.max.age.ms has passed (0.10.2, KAFKA-4631)."""
    commit_awaits_topic: bool = True
    """A commit for a topic that does not exist is tried again until its time is over, and so holds
    up a member of which a topic was deleted (2.0, KAFKA-6829; KAFKA-13310); before, it failed."""
    matched_topics_are_asked_for: bool = True
    """Whoever subscribes by a pattern asks for metadata once more when other topics match; before,
    the answer that told of them, and of all topics, was enough (2.3)."""
    end_offsets_wait_api_timeout: bool = True
    """end_offsets waits for default.api.timeout.ms, as the other calls have done since 2.0; before
    for request.timeout.ms (3.2, also 3.0.1 and 3.1.1, KAFKA-13637)."""
    unassigned_fetches_are_dropped: bool = True
    """Who subscribes to other topics, assigns other partitions or unsubscribes throws away what was
    fetched of the rest; before, it stayed until a poll came to it (2.1, KAFKA-7096)."""
    pattern_refreshes_metadata: bool = True
    """A member with a pattern asks for metadata before it joins again, if it may already (2.0)."""
    offsets_reset_by_duration: bool = True
    """auto.offset.reset may be a duration, as in by_duration:PT1H: what is younger is read (4.0,
    KIP-1106)."""
