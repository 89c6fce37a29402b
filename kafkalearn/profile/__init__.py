"""Which Kafka's rules hold: the releases that we know, each as a set of named switches.

A switch is only what has no Kafka key; settings with changed defaults are in the config classes.
Code asks a switch, never the release. A switch that is not given has the newest rule.
"""

from dataclasses import dataclass, fields, replace

from kafkalearn.config import Release, release_of
from kafkalearn.errors import ConfigError, Errors
from kafkalearn.profile.consumer_rules import ConsumerRules
from kafkalearn.profile.group_rules import GroupRules
from kafkalearn.profile.topic_rules import TopicRules


@dataclass(frozen=True, kw_only=True)
class KafkaProfile(ConsumerRules, TopicRules, GroupRules):
    """One release's rules. Each switch says what holds when it is True, and since when."""

    release: str

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
    unsubscribed_offsets_expire="in_every_state",
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
    join_raises_listener_error=False,
    join_waits_request_timeout=False,
    heartbeat_while_rebalancing=False,
    reset_prepares_join=False,
    illegal_generation_keeps_member_id=False,
    end_offsets_wait_api_timeout=False,
    failed_send_metadata="once_in_batch",
    close_ends_wait_for_memory=False,
    offsets_reset_by_duration=False,
    request_timeout_is_told=False,
    null_key_partitioner="sticky",
)
KAFKA_2_3 = replace(
    KAFKA_2_4,
    release="2.3",
    unsubscribed_offsets_expire="never",
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
    commit_needs_partition=False,
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
    deletion_disabled_is_told=False,
    group_id_is_optional=False,
    pattern_refreshes_metadata=False,
    fetches_go_beside_others=False,
    matched_topics_are_asked_for=False,
    unassigned_fetches_are_dropped=False,
    unknown_partition_is_awaited=False,
    commit_awaits_topic=False,
    invalid_topic_is_told=False,
    failed_send_metadata="never",
    close_fails_sends=False,
)
"""The default: the Kafka of the other four documents."""

KAFKA_0_10_1 = replace(
    KAFKA_1_0,
    release="0.10.1",
    deleted_topic_takes_offsets=False,
    initial_delay_from_empty=False,
    first_join_checks_protocols=False,
    sticky_assignor=False,
    sync_commit_runs_callbacks=False,
    committed_asks_coordinator=False,
    missing_topics_are_asked_for=False,
    failed_fetch="read_whole",
    poll_looks_for_wakeups=False,
    batch_is_measured=False,
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
