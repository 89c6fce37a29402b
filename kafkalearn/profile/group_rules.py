"""Which Kafka's rules hold for groups and their offsets on the brokers.

Source: the coordinators of Kafka 0.10.1.1, 1.0.2, 2.3.1, 2.4.0 and of trunk before 4.0.
"""

from dataclasses import dataclass

from kafkalearn.errors import Errors


@dataclass(frozen=True, kw_only=True)
class GroupRules:
    """The switches of group coordinators."""

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
    unsubscribed_offsets_expire: str = "in_stable"
    """While members live, offsets of topics that none of them subscribes to: never expire;
    in_every_state, by their commits (2.4, KAFKA-8730), even in the first rebalance after Empty,
    when no topic counts as subscribed; only in_stable (3.0.1, KAFKA-13636)."""
    commit_needs_partition: bool = True
    """A commit for a partition that its topic does not have is UNKNOWN_TOPIC_OR_PARTITION; it used
    to be kept, since only the topic was looked up (2.0)."""
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
