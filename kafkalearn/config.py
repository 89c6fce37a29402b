"""Settings: a frozen dataclass whose fields are Kafka's keys in snake case.

A field says its default (by release, where that changed) and what is allowed; `configure` makes
the settings from what a user gave. One mechanism serves broker, consumer and producer.

Source: org.apache.kafka.common.config.ConfigDef (3.9); for the keys that are not built,
ConsumerConfig, ProducerConfig, KafkaConfig and TopicConfig from 0.10.1.1 to 4.0.
"""

import difflib
import re
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import Field, field, fields, replace
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin

from kafkalearn.errors import ConfigError
from kafkalearn.records import MAX_INT

Release = tuple[int, ...]
Config = TypeVar("Config")
_EVERY_RELEASE: Release = (0,)
# How keys of Kafka begin that mean nothing here, whosever they are; underscores stand for dots.
_NOT_BUILT = re.compile(
    r"""
    advertised_ | alter_config | alter_log | authorizer | auto_include | auto_leader |
    background_threads | block_on_buffer | broker_heartbeat | broker_id | broker_rack | check_crcs
    | cleanup_policy | client_dns | client_quota | client_rack | compression_ | connection_failed
    | connections_max | control_plane | controlled_ | controller_ | create_topic_policy |
    default_list | default_replication | delegation_ | delete_records | delete_retention |
    early_start | eligible_leader | enable_metrics | fetch_purgatory | file_delete
    | flush_ | follower_ | group_consumer | group_coordinator | group_remote |
    group_share | host_name | index_interval | initial_broker | inter_broker | interceptor_classes
    | internal_ | kafka_metrics | leader_ | listener | local_retention | log_cleaner | log_cleanup
    | log_dir | log_flush | log_index | log_initial | log_local | log_message | log_preallocate |
    log_retention_hours | log_retention_minutes | log_roll | log_segment | max_compaction |
    max_connection | max_incremental | max_message_bytes | max_request_partition |
    message_downconversion | message_format | message_timestamp | metadata_fetch | metadata_log |
    metadata_max_id | metadata_max_retention | metadata_recovery | metric | min_cleanable |
    min_compaction | min_insync | node_id | num_io | num_network | num_recovery | num_replica |
    offsets_commit | offsets_load_buffer | offsets_topic_compression | offsets_topic_replication |
    offsets_topic_segment | partitioner_adaptive | partitioner_availability | partitioner_ignore |
    password_encoder | port | preallocate | principal_ | process_roles | producer_id |
    producer_purgatory | queued_max | quota_ | rebalance_timeout | receive_buffer | remote_ |
    replica_ | replication_quota | reserved_broker | sasl_ | security_ |
    segment_ | send_buffer | server_max | share_ | socket_ | ssl_ | telemetry_ | timeout_ms |
    transaction | unclean_ | unstable_ | zookeeper_
    """,
    re.VERBOSE,
)


def setting(
    default: object,
    *,
    least: int | None = None,
    most: int = MAX_INT,
    allowed: Collection[object] = (),
    added: str = "0",
    **changed: object,
) -> Any:
    """Declare a setting: its first default, what is allowed, and later defaults.

    least, most: the range of a number. allowed: the only values, if there are few.
    added: the release that brought the key; older ones do not know it.
    changed: ``since_2_0=10080`` for a default that holds from Kafka 2.0 on.
    """
    defaults = {_EVERY_RELEASE: default}
    for name, later in changed.items():
        defaults[release_of(name.removeprefix("since_").replace("_", "."))] = later
    metadata = {"defaults": defaults, "least": least, "most": most, "allowed": allowed}
    return field(metadata=metadata | {"added": added})


def release_of(text: str) -> Release:
    """Turn ``2.4`` into (2, 4), which compares as releases do."""
    return tuple(int(part) for part in text.split("."))


def configure(kind: type[Config], release: Release, *, given: Mapping[str, object]) -> Config:
    """Make the settings of a `release` from what was `given`; ConfigError names what is wrong.

    given: keys in snake case, or Kafka's own with dots.
    """
    known = {each.name: each for each in fields(kind)}  # type: ignore[arg-type]
    values = {name: _default(each, release) for name, each in known.items()}
    for name, key in keys_of(given, known, of=kind.__name__).items():
        values[name] = _checked(known[name], given[key], release)
    return kind(**values)


def keys_of(given: Iterable[str], known: Collection[str], *, of: str) -> dict[str, str]:
    """Tell by which key each field is given; ConfigError if it is by two, or for an unknown key."""
    keys: dict[str, str] = {}
    for key in given:
        name = name_of(key, known, of=of)
        if name in keys:
            raise ConfigError(f"{keys[name]} and {key} are one setting of {of}: give one of them")
        keys[name] = key
    return keys


def name_of(key: str, known: Collection[str], *, of: str) -> str:
    """Turn a key with dots or without into a field's name; ConfigError if there is none."""
    name = key.replace(".", "_")
    if name not in known:
        if is_left_out(key):
            raise ConfigError(f"{key} is a setting of Kafka that is not built here: leave it out")
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(sorted(known))}"
        raise ConfigError(f"{key} is no setting of {of}: {hint}")
    return name


def is_left_out(key: str) -> bool:
    """Whether Kafka knows the key, with dots or without, in any release, and we do not."""
    return _NOT_BUILT.match(key.replace(".", "_")) is not None


def underscored(given: Mapping[str, Any]) -> dict[str, Any]:
    """Write each key as an argument: Kafka's keys have dots."""
    return {key.replace(".", "_"): value for key, value in given.items()}


def with_properties(
    kind: type[Any], given: Mapping[str, object], *, properties: Mapping[str, str] | None
) -> dict[str, object]:
    """Join what was `given` with Java properties, over which it wins, for `configure`."""
    if properties is not None and not isinstance(properties, Mapping):
        raise ConfigError(f"properties is {properties!r}: a dict of texts is allowed")
    keys = keys_of(given, {each.name for each in fields(kind)}, of=kind.__name__)
    read = parse_properties(kind, properties or {})
    return read | {name: given[key] for name, key in keys.items()}


def with_one_backoff(config: Any, given: Container[str]) -> Any:
    """Let reconnect.backoff.ms, given without a maximum, stay what it is.

    Source: CommonClientConfigs.postProcessReconnectBackoffConfigs (1.0.2).
    """
    if "reconnect_backoff_ms" in given and "reconnect_backoff_max_ms" not in given:
        return replace(config, reconnect_backoff_max_ms=config.reconnect_backoff_ms)
    return config


def parse_properties(kind: type[Any], properties: Mapping[str, str]) -> dict[str, object]:
    """Turn Java properties, whose values are all text, into what `configure` takes as given."""
    known = {each.name: each for each in fields(kind)}
    parsed: dict[str, object] = {}
    for name, key in keys_of(properties, known, of=kind.__name__).items():
        text = properties[key]
        if not isinstance(text, str):
            raise ConfigError(f"{key} is {text!r}: a property is text, as in {str(text)!r}")
        parsed[name] = _parsed(known[name], text.strip())
    return parsed


def _parsed(each: Field[Any], text: str) -> object:
    """Read a property's text as a value of the field's type; what is no such value stays text."""
    wanted = _type_of(each)
    if wanted is bool and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if wanted is int and text.removeprefix("-").isdecimal():
        return int(text)
    if get_origin(wanted) is tuple:
        return tuple(part.strip() for part in text.split(",")) if text else ()
    return text


def _default(each: Field[Any], release: Release) -> object:
    defaults: Mapping[Release, object] = each.metadata["defaults"]
    return defaults[max(since for since in defaults if since <= release)]


def _type_of(each: Field[Any]) -> Any:
    """Give the type that a value must have, beside None where that is allowed."""
    parts = [part for part in get_args(each.type) if part is not NoneType]
    may_be_none = NoneType in get_args(each.type)
    return parts[0] if may_be_none and len(parts) == 1 else each.type


def _checked(each: Field[Any], value: object, release: Release) -> object:
    rule = each.metadata
    if release < release_of(rule["added"]):
        raise ConfigError(
            f"{each.name} is known from Kafka {rule['added']} on: this is an older one"
        )
    wanted = _type_of(each)
    if value is None and wanted is not each.type:
        return value
    if get_origin(wanted) is tuple:
        if isinstance(value, str) and value:
            value = tuple(part.strip() for part in value.split(","))
        if isinstance(value, list | tuple) and (value or wanted is not each.type):
            return tuple(value)
        raise ConfigError(f"{each.name} is {value!r}: a list that is not empty is allowed")
    least, most, allowed = rule["least"], rule["most"], rule["allowed"]
    right = isinstance(value, wanted) and isinstance(value, bool) == (wanted is bool)
    in_range: Any = value
    if (
        (wanted is object or right)
        and (least is None or least <= in_range <= most)
        and (not allowed or value in allowed)
    ):
        return value
    what = "True or False" if wanted is bool else f"a value of type {wanted.__name__}"
    if least is not None:
        what = f"a whole number from {least} to {most}"
    if allowed:
        what = f"one of {', '.join(map(repr, allowed))}"
    raise ConfigError(f"{each.name} is {value!r}: {what} is allowed")
