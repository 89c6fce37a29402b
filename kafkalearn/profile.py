"""Which Kafka's rules hold: one flat table of switches, and the releases that we know.

A switch is only what has no Kafka key; settings with changed defaults are in the config classes.
Code asks a switch, never the release. A switch that is not given has the newest rule.

Source: the coordinators of Kafka 0.10.1.1, 1.0.2, 2.3.1, 2.4.0 and of trunk before 4.0.
"""

from dataclasses import dataclass, fields, replace

from kafkalearn.config import Release, release_of
from kafkalearn.errors import ConfigError, Errors
from kafkalearn.topic_rules import TopicRules


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaProfile(TopicRules):
    """One release's rules. Each switch says what holds when it is True, and since when.

    Those of topics and producers are in TopicRules.
    """

    deleted_topic_takes_offsets: bool = True
    """What was committed for a topic goes when the topic is deleted (0.10.2, KAFKA-2000)."""
    initial_delay_from_empty: bool = True
    """A rebalance of an empty group waits group.initial.rebalance.delay.ms (0.11, KIP-134)."""
    empty_group_extends_delay: bool = True
    """Joiners extend that delay in any group that was Empty, not only at generation 0 (4.0)."""
    first_join_checks_protocols: bool = True
    """A first join without protocols is INCONSISTENT_GROUP_PROTOCOL, not an unknown error (1.0)."""
    completing_rebalance_name: str = "CompletingRebalance"
    """How the state between join and sync is called: AwaitingSync up to 1.0."""
    sync_while_loading: Errors = Errors.COORDINATOR_LOAD_IN_PROGRESS
    """A sync while the group is read: UNKNOWN_MEMBER_ID before 2.0, then REBALANCE_IN_PROGRESS,
    since older clients did not expect COORDINATOR_LOAD_IN_PROGRESS (4.0)."""
    delete_groups: bool = True
    """DeleteGroups exists (1.1, KIP-229)."""
    group_id_checked_everywhere: bool = True
    """An empty group id is INVALID_GROUP_ID in every membership request, not only a join (2.0)."""
    offsets_expire_from_empty: bool = True
    """Offsets age since the group became Empty, not since each commit (2.1, KIP-211)."""
    new_member_join_timeout: bool = True
    """A new member waits in a join for at most 5 minutes, and one that is removed while it waits is
    answered UNKNOWN_MEMBER_ID instead of never (2.1.1, KAFKA-7610)."""
    member_id_required: bool = True
    """A first join is answered MEMBER_ID_REQUIRED and a member id (2.2, KIP-394)."""
    static_members: bool = True
    """group.instance.id is known, and late static members are kept (2.3, KIP-345)."""
    dead_group_moves: bool = True
    """A Dead group answers COORDINATOR_NOT_AVAILABLE, not UNKNOWN_MEMBER_ID (2.3, KAFKA-8386)."""
    completing_checks_generation: bool = True
    """A heartbeat between join and sync has its generation checked (2.3)."""
    commit_checks_member_first: bool = True
    """A commit between join and sync has member and generation checked first (2.4)."""
    batch_leave: bool = True
    """LeaveGroup names several members and answers each (2.4, KIP-345)."""
    describe_tells_instances: bool = True
    """DescribeGroups tells group.instance.id (2.4)."""
    sync_names_protocol: bool = True
    """SyncGroup carries protocol type and name, and they are checked (2.5, KIP-559)."""
    static_restart_rebalances: bool = True
    """A static member that restarts while others sync, or changes the vote, rebalances (2.5);
    else its new id is stored at once, so that a failover does not bring the old back (2.6.1)."""
    heartbeat_ok_in_completing_rebalance: bool = True
    """A heartbeat between join and sync is NONE and restarts the session (2.6.1, KAFKA-10134)."""
    heartbeat_limits_first_join: bool = True
    """A heartbeat during a member's first join begins a session that can end before the join; it
    used to lift every limit from that join (2.5, KAFKA-9752)."""
    full_group_counts_joins: bool = True
    """While a group rebalances, group.max.size counts who has joined: the last to join are turned
    away, not the first, and ids that were given out, too (2.6, KAFKA-9885). The join phase does
    not end because the last that was missing is turned away (4.0)."""
    list_groups_states: bool = True
    """ListGroups tells states and filters by them (2.6, KIP-518)."""
    pending_sync_expires: bool = True
    """Members that never sync are removed after the rebalance timeout (2.8.1, KAFKA-12890)."""
    skip_assignment: bool = True
    """A restarted static leader is told that it leads but must not assign (3.2, KIP-814)."""
    rejoin_updates_timeouts: bool = True
    """A rejoin changes the member's session and rebalance timeouts (3.3.2)."""
    refused_offset_is_forgotten: bool = True
    """An offset refused for its metadata, in a commit that is otherwise accepted, leaves nothing
    behind; it used to keep the group from ever being removed (3.8)."""
    expiry_ends_initial_delay: bool = True
    """The initial delay ends when a member or a given-out id expires and none is missing (4.0)."""
    cleanup_waits_for_check: bool = True
    """When a topic goes with its offsets, Empty groups without others stay until the next check
    for old offsets (4.0)."""
    sync_in_stable_keeps_session: bool = True
    """A sync of a Stable group does not restart the session timer (4.0)."""
    leave_in_one_step: bool = True
    """Whoever one LeaveGroup names goes first, then the group reacts; it does so even if only an id
    that was never used has left (4.0)."""
    describe_shows_assignment: bool = True
    """DescribeGroups shows the latest assignments outside Stable, too (4.0)."""
    admin_sees_stored_groups: bool = True
    """A group is described and listed only once something about it is in the log (4.0): not so one
    that a commit brought into being which was refused. While a part of the log is being read,
    ListGroups is refused, where it used to bring the rest beside the error."""

    # What clients do.

    sync_commit_runs_callbacks: bool = True
    """commit_sync runs the callbacks of earlier asynchronous commits first (1.0, KAFKA-5730)."""
    empty_commit_runs_callbacks: bool = True
    """A commit_sync without any offset waits for earlier asynchronous commits, too, and runs their
    callbacks (3.6, KAFKA-10337)."""
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
    join_waits_request_timeout: bool = True
    """JoinGroup waits for request.timeout.ms if that is more than the rebalance timeout and 5 s,
    which it waits for since 2.0 (2.6)."""
    heartbeat_while_rebalancing: bool = True
    """Heartbeats go on between JoinGroup and SyncGroup (2.7, KAFKA-10134)."""
    illegal_generation_keeps_member_id: bool = True
    """A member of an old generation joins again under the id that it has (3.2, KAFKA-13419)."""
    pattern_refreshes_metadata: bool = True
    """A member with a pattern asks for metadata before it joins again, if it may already (2.0)."""

    @property
    def version(self) -> Release:
        """The release as numbers: for defaults of settings, never for rules."""
        return release_of(self.release)

    def __str__(self) -> str:
        """Read like ``1.0``, with the switches that differ from that release's, if any do."""
        preset = PROFILES.get(self.release)
        changed = [
            f"+{each.name}={getattr(self, each.name)}"
            for each in fields(self)
            if preset is None or getattr(self, each.name) != getattr(preset, each.name)
        ]
        return self.release + "".join(changed)

    def state_name(self, name: str) -> str:
        """Say a group's state as this release calls it."""
        return self.completing_rebalance_name if name == "AwaitingSync" else name


KAFKA_4_0 = KafkaProfile(release="4.0")
"""The classic protocol of 4.0, as recorded from trunk shortly before."""

KAFKA_2_4 = replace(
    KAFKA_4_0,
    release="2.4",
    empty_group_extends_delay=False,
    sync_while_loading=Errors.REBALANCE_IN_PROGRESS,
    sync_names_protocol=False,
    static_restart_rebalances=False,
    heartbeat_ok_in_completing_rebalance=False,
    heartbeat_limits_first_join=False,
    full_group_counts_joins=False,
    list_groups_states=False,
    pending_sync_expires=False,
    skip_assignment=False,
    rejoin_updates_timeouts=False,
    refused_offset_is_forgotten=False,
    expiry_ends_initial_delay=False,
    cleanup_waits_for_check=False,
    sync_in_stable_keeps_session=False,
    leave_in_one_step=False,
    describe_shows_assignment=False,
    admin_sees_stored_groups=False,
    poll_goes_on_in_rebalance=False,
    empty_commit_runs_callbacks=False,
    create_topics_checks=("exists", "configs", "count", "name"),
    new_topic_is_unknown=False,
    commit_tells_rebalance=False,
    stale_errors_are_ignored=False,
    join_waits_request_timeout=False,
    heartbeat_while_rebalancing=False,
    illegal_generation_keeps_member_id=False,
    failed_send_metadata="once_in_batch",
    request_timeout_is_told=False,
    null_key_partitioner="sticky",
)
KAFKA_2_3 = replace(
    KAFKA_2_4,
    release="2.3",
    commit_checks_member_first=False,
    batch_leave=False,
    describe_tells_instances=False,
    paused_fetches_are_kept=False,
    incremental_rebalance=False,
    commit_keeps_generation=False,
    null_key_partitioner="round_robin_per_topic",
)
"""The Kafka of the document on committing and assigning (002)."""

KAFKA_1_0 = replace(
    KAFKA_2_3,
    release="1.0",
    completing_rebalance_name="AwaitingSync",
    sync_while_loading=Errors.UNKNOWN_MEMBER_ID,
    delete_groups=False,
    group_id_checked_everywhere=False,
    offsets_expire_from_empty=False,
    new_member_join_timeout=False,
    member_id_required=False,
    static_members=False,
    dead_group_moves=False,
    completing_checks_generation=False,
    heartbeat_timers=False,
    auto_commit_finds_coordinator=False,
    poll_heartbeat_first=False,
    failed_fetch="kept",
    poll_timeout_bounds_join=False,
    create_topics_checks=("configs", "count", "name"),
    group_id_is_optional=False,
    pattern_refreshes_metadata=False,
    unknown_partition_is_awaited=False,
    invalid_topic_is_told=False,
    failed_send_metadata="never",
)
"""The default: the Kafka of the other four documents."""

KAFKA_0_10_1 = replace(
    KAFKA_1_0,
    release="0.10.1",
    deleted_topic_takes_offsets=False,
    initial_delay_from_empty=False,
    first_join_checks_protocols=False,
    sync_commit_runs_callbacks=False,
    committed_asks_coordinator=False,
    failed_fetch="read_whole",
    poll_looks_for_wakeups=False,
    record_headers=False,
    null_key_partitioner="round_robin_one_counter",
)

PROFILES = {
    each.release: each for each in (KAFKA_0_10_1, KAFKA_1_0, KAFKA_2_3, KAFKA_2_4, KAFKA_4_0)
}


def profile_of(name: str | KafkaProfile) -> KafkaProfile:
    """Find a profile by its release, as in ``1.0``; ConfigError names those there are."""
    if isinstance(name, KafkaProfile):
        return name
    if not isinstance(name, str) or name not in PROFILES:
        as_text = "" if isinstance(name, str) else ", as text"
        raise ConfigError(f"profile is {name!r}: one of {', '.join(PROFILES)} is allowed{as_text}")
    return PROFILES[name]
