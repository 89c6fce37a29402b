"""What if: a story told twice, with one thing different, and where the two tellings part."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

from kafkalearn.config import underscored
from kafkalearn.engine.faults import Crash, CutOff, Fault, Freeze
from kafkalearn.errors import ConfigError
from kafkalearn.profile import KafkaProfile
from kafkalearn.scenarios.registry import Scenario, get
from kafkalearn.simulation.fault_plan import as_plan
from kafkalearn.trace import Event, Trace, describe
from kafkalearn.trace.difference import first_difference
from kafkalearn.trace.text import short

_FAULTS: dict[str, Callable[..., Fault]] = {"crash": Crash, "freeze": Freeze, "cut_off": CutOff}
_LASTING = ("freeze", "cut_off")
_OF_A_FAULT = (*_FAULTS, "at_ms", "for_ms", "peer")
_OTHERWISE = ("settings", "profile")  # what can be different instead of one more fault
_OF_ALL = ("seed", "profile", "faults")  # the arguments that are no scenario's own


@dataclass(frozen=True, eq=False, repr=False)
class WhatIf:
    """Two runs of one story: ``one, other = what_if(…)``.

    names: what tells them apart. difference: the place of the first event that differs, the same
    in both traces, one of which may have ended there; None if they differ in their run_id alone.
    """

    one: Trace
    other: Trace
    names: tuple[str, str]
    difference: int | None

    def __iter__(self) -> Iterator[Trace]:
        return iter((self.one, self.other))

    def __repr__(self) -> str:
        """Say how long the runs are the same, and what comes then in each."""
        place = self.difference
        if place is None:
            return f"all {len(self.one):,} events are the same: {' and '.join(self.names)}"
        until = f", until {self.one[place - 1].time_ms:,} ms" if place else ""
        first, second = [trace[place] if place < len(trace) else None for trace in self]
        rows = [_told(first, second), _told(second, first)]
        wide, long = max(map(len, self.names)), max(len(time) for time, _ in rows)
        lines = [f"the same events: {place:,}{until}"]
        for name, (time, said) in zip(self.names, rows, strict=True):
            lines.append(f"  {name:<{wide}}  {time:>{long}}  {said}")
        return "\n".join(lines)


def _told(event: Event | None, beside: Event | None) -> tuple[str, str]:
    """Say when and what happened; where that is the same beside it, add the values that are not."""
    if event is None:
        return "", "nothing more"
    said = f"{event.time_ms:,} ms", describe(event)
    if beside is None or said != (f"{beside.time_ms:,} ms", describe(beside)):
        return said
    differing = ", ".join(_differing(event._asdict(), beside._asdict()))
    return said[0], f"{said[1]}: {differing}"


def _differing(mine: Any, theirs: Any, name: str = "") -> Iterator[str]:
    if isinstance(mine, dict) and isinstance(theirs, dict):
        for key in mine:
            if key not in ("run_id", "seq") and mine[key] != theirs.get(key):
                yield from _differing(mine[key], theirs.get(key), key)
    else:
        yield f"{name}={short(mine)}"


class Reruns:
    """A scenario bound to its arguments, to be run as it is or with one thing different.

    It keeps no trace: the same call runs it again. See `reruns`.
    """

    def __init__(self, scenario: Scenario | str, arguments: Mapping[str, Any]) -> None:
        found = get(scenario) if isinstance(scenario, str) else scenario
        if not callable(found):
            raise ConfigError(f"{scenario!r} is no scenario: a scenario or its name is allowed")
        self._scenario = found
        self._arguments = underscored(arguments)

    def trace(self) -> Trace:
        """Run it as it is."""
        return self._scenario(**self._arguments)

    def __call__(self, **changes: Any) -> Trace:
        """Run it with one change: those of `what_if`, or another ``profile=``."""
        trace = self._scenario(**self.changed(**changes))
        at_ms = changes.get("at_ms")
        if at_ms is not None and trace and trace[-1].time_ms < at_ms:
            raise ConfigError(f"at_ms is {at_ms}: the story ends at {trace[-1].time_ms} ms")
        return trace

    def changed(self, **changes: Any) -> dict[str, Any]:
        """Give the arguments with one change; the errors are those of `what_if`."""
        given = {name: value for name, value in changes.items() if value not in (None, {})}
        if not any(name in given for name in _OTHERWISE):
            plan = as_plan(self._arguments.get("faults", ()))
            return self._arguments | {"faults": (*plan, _fault(given))}
        if excess := [name for name in given if name not in _OTHERWISE]:
            otherwise = " and ".join(name for name in given if name in _OTHERWISE)
            raise ConfigError(
                f"{', '.join(excess)} beside {otherwise}: "
                "either a fault or other settings are allowed"
            )
        settings = given.pop("settings", {})
        if not isinstance(settings, Mapping):
            raise ConfigError(f"settings is {settings!r}: a dict is allowed")
        return self._arguments | underscored(settings) | given

    @property
    def settings(self) -> dict[str, Any]:
        """The scenario's own settings, in its order, with the values that they have now."""
        return {
            each.name: self._arguments.get(each.name, each.default)
            for each in signature(self._scenario).parameters.values()
            if each.kind is Parameter.KEYWORD_ONLY and each.name not in _OF_ALL
        }

    def having(self, **settings: Any) -> "Reruns":
        """Bind it to other settings of its own; ConfigError names those that it has."""
        given = underscored(settings)
        if unknown := [name for name in given if name not in self.settings]:
            own = ", ".join(self.settings)
            raise ConfigError(f"{', '.join(unknown)} is no setting of this story: {own} are")
        return Reruns(self._scenario, self._arguments | given)


def _fault(given: Mapping[str, Any]) -> Fault:
    if unknown := [name for name in given if name not in _OF_A_FAULT]:
        allowed = ", ".join((*_OF_A_FAULT, *_OTHERWISE))
        raise ConfigError(f"{', '.join(unknown)} cannot be different: {allowed} are allowed")
    kinds = [name for name in _FAULTS if name in given]
    if len(kinds) != 1:
        said = " and ".join(kinds) or "nothing"
        allowed = ", ".join((*_FAULTS, *_OTHERWISE))
        raise ConfigError(f"what is different is {said}: one of {allowed} is allowed")
    (kind,) = kinds
    needed = ["at_ms", "for_ms"] if kind in _LASTING else ["at_ms"]
    if missing := [name for name in needed if name not in given]:
        raise ConfigError(f"{kind} needs {' and '.join(missing)}")
    takes = [kind, *needed, *(["peer"] if kind == "cut_off" else [])]
    if excess := [name for name in given if name not in takes]:
        raise ConfigError(f"{', '.join(excess)} is given, which {kind} does not have")
    return _FAULTS[kind](*(given[name] for name in takes if name in given))


def reruns(scenario: Scenario | str, **arguments: Any) -> Reruns:
    """Bind a scenario, or its name, to its arguments, as a view needs it that runs it again.

    ConfigError for an unknown scenario.
    """
    return Reruns(scenario, arguments)


def what_if(scenario: Scenario | str, seed: int = 0, **changes: Any) -> WhatIf:
    """Run a scenario as it is, and with one more fault or other settings.

    A fault is given by at_ms and ``crash=NODE``, ``freeze=NODE, for_ms=…`` or ``cut_off=NODE,
    for_ms=…``, from all others or from ``peer=NODE``; or else ``settings={…}`` are arguments of
    the scenario for the second run. All others are those of both runs; one whose name is also that
    of a change, such as at_ms, can be bound with `reruns`.

    History is forked, not changed: what happens before at_ms is the same in both. The fault comes
    before all else of its own millisecond: to keep what happens then too, give at_ms + 1.

    Errors: ConfigError for an unknown scenario or setting, for no change or several at once, and if
    the story ends before at_ms; InvalidFaultError for a time, and for a node that is not there.
    """
    change = {name: changes.pop(name) for name in (*_OF_A_FAULT, "settings") if name in changes}
    story = reruns(scenario, seed=seed, **changes)
    changed = story.changed(**change)  # what is refused is so before anything is run
    if settings := change.get("settings"):
        said = ", ".join(f"{name}={value!r}" for name, value in settings.items())
    else:
        said = str(changed["faults"][-1])
    return _beside(("as it is", said), story.trace(), story(**change))


def compare(
    scenario: Scenario | str,
    profiles: tuple[str | KafkaProfile, str | KafkaProfile] = ("1.0", "4.0"),
    *,
    seed: int = 0,
    **settings: Any,
) -> WhatIf:
    """Tell one story under two Kafkas; ConfigError for an unknown scenario, setting or profile."""
    if not isinstance(profiles, tuple | list) or len(profiles) != 2:
        raise ConfigError(f"profiles is {profiles!r}: two profiles are allowed")
    story = reruns(scenario, seed=seed, **settings)
    one, other = (story(profile=each) for each in profiles)
    return _beside((f"Kafka {profiles[0]}", f"Kafka {profiles[1]}"), one, other)


def _beside(names: tuple[str, str], one: Trace, other: Trace) -> WhatIf:
    return WhatIf(one, other, names, first_difference(one, other))
