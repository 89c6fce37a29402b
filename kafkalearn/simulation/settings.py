"""What a simulation is made of, beside its seed, profile and faults."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

from kafkalearn.broker.broker_config import BrokerConfig
from kafkalearn.config import configure, keys_of, setting
from kafkalearn.engine.event_loop import MAX_EVENTS, MAX_TIME_MS
from kafkalearn.errors import ConfigError
from kafkalearn.profile import KafkaProfile

RECORDED = ("kinds", "nodes")  # what of a trace can be chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationSettings:
    """The world around the brokers' own settings.

    brokers: how many, named ``broker-0`` and so on.
    latency_ms, latency_jitter_ms: a message takes the first, and up to the second longer by chance.
    loss_per_million: how many of a million messages get lost.
    offsets_load_ms: how long a new coordinator takes to read its groups, unless there are none.
    max_time_ms, max_events: the bounds of a run.
    """

    brokers: int = setting(3, least=1, most=100)
    latency_ms: int = setting(1, least=0)
    latency_jitter_ms: int = setting(0, least=0)
    loss_per_million: int = setting(0, least=0, most=1_000_000)
    offsets_load_ms: int = setting(100, least=0)
    max_time_ms: int = setting(MAX_TIME_MS, least=1, most=2**62)
    max_events: int = setting(MAX_EVENTS, least=1, most=2**62)


def settings_of(
    profile: KafkaProfile, given: Mapping[str, object]
) -> tuple[SimulationSettings, BrokerConfig]:
    """Tell the settings of the simulation from those of the brokers; ConfigError for any other."""
    own = {each.name for each in fields(SimulationSettings)}
    known = own | {each.name for each in fields(BrokerConfig)}
    simulation: dict[str, object] = {}
    broker: dict[str, object] = {}
    for name, key in keys_of(given, known, of="a simulation or its brokers").items():
        (simulation if name in own else broker)[name] = given[key]
    return (
        configure(SimulationSettings, profile.version, given=simulation),
        configure(BrokerConfig, profile.version, given=broker),
    )


def recorded(record: Mapping[str, Iterable[str] | None]) -> dict[str, list[str]]:
    """Put the names of what to record in order; ConfigError for a key that is none of Trace's."""
    lists: dict[str, list[str]] = {}
    for key, names in record.items():
        if key not in RECORDED:
            raise ConfigError(f"{key} of record is unknown: {' and '.join(RECORDED)} are allowed")
        if names is not None:
            one = isinstance(names, str) or not isinstance(names, Iterable)
            lists[key] = [str(names)] if one else sorted(names, key=str)
    return lists
