"""Settings: a frozen dataclass whose fields are Kafka's keys in snake case.

A field says its default (by release, where that changed) and what is allowed; `configure` makes
the settings from what a user gave. One mechanism serves broker, consumer and producer.

Source: org.apache.kafka.common.config.ConfigDef (3.9).
"""

import difflib
from collections.abc import Collection, Mapping
from dataclasses import Field, field, fields
from typing import Any, TypeVar

from kafkalearn.errors import ConfigError
from kafkalearn.records import MAX_INT

Release = tuple[int, ...]
Config = TypeVar("Config")
_EVERY_RELEASE: Release = (0,)


def setting(
    default: object, *, least: int | None = None, most: int = MAX_INT, **changed: object
) -> Any:
    """Declare a setting: its first default, its range if it is a number, and later defaults.

    changed: ``since_2_0=10080`` for a default that holds from Kafka 2.0 on.
    """
    defaults = {_EVERY_RELEASE: default}
    for name, later in changed.items():
        defaults[release_of(name.removeprefix("since_").replace("_", "."))] = later
    return field(metadata={"defaults": defaults, "least": least, "most": most})


def release_of(text: str) -> Release:
    """Turn ``2.4`` into (2, 4), which compares as releases do."""
    return tuple(int(part) for part in text.split("."))


def configure(kind: type[Config], release: Release, *, given: Mapping[str, object]) -> Config:
    """Make the settings of a `release` from what was `given`; ConfigError names what is wrong.

    given: keys in snake case, or Kafka's own with dots.
    """
    known = {each.name: each for each in fields(kind)}  # type: ignore[arg-type]
    values = {name: _default(each, release) for name, each in known.items()}
    for key, value in given.items():
        name = name_of(key, known, of=kind.__name__)
        values[name] = _checked(known[name], value)
    return kind(**values)


def name_of(key: str, known: Collection[str], *, of: str) -> str:
    """Turn a key with dots or without into a field's name; ConfigError if there is none."""
    name = key.replace(".", "_")
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(sorted(known))}"
        raise ConfigError(f"{key} is no setting of {of}: {hint}")
    return name


def _default(each: Field[Any], release: Release) -> object:
    defaults: Mapping[Release, object] = each.metadata["defaults"]
    return defaults[max(since for since in defaults if since <= release)]


def _checked(each: Field[Any], value: object) -> object:
    wanted = each.type if isinstance(each.type, type) else type(_default(each, _EVERY_RELEASE))
    right = isinstance(value, wanted) and isinstance(value, bool) == (wanted is bool)
    least, most = each.metadata["least"], each.metadata["most"]
    if right and (least is None or least <= value <= most):
        return value
    allowed = "True or False" if wanted is bool else f"a value of type {wanted.__name__}"
    if least is not None:
        allowed = f"a whole number from {least} to {most}"
    raise ConfigError(f"{each.name} is {value!r}: {allowed} is allowed")
