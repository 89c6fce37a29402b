"""The scenarios by name, and what makes a function one."""

import json
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import partial, wraps
from inspect import Signature, signature
from typing import Any, Protocol

from kafkalearn.config import underscored
from kafkalearn.engine.faults import Fault
from kafkalearn.errors import ConfigError
from kafkalearn.profile import KafkaProfile
from kafkalearn.scenarios.story import Story
from kafkalearn.simulation import Simulation
from kafkalearn.simulation.fault_plan import as_plan
from kafkalearn.trace import Trace


class Scenario(Protocol):
    """A named, seeded run: equal arguments give equal traces, and `trace.run_id` tells them."""

    __name__: str

    def __call__(
        self,
        *,
        seed: int = 0,
        profile: str | KafkaProfile = "1.0",
        faults: Iterable[Fault] = (),
        **settings: object,
    ) -> Trace:
        """Run it.

        faults: what happens beside the faults of the story itself. settings: its own, and those of
        Simulation; ConfigError for any other.
        """
        ...


_SCENARIOS: dict[str, Scenario] = {}


def names() -> list[str]:
    """List the scenarios, in the order in which they are best told."""
    return list(_SCENARIOS)


def get(name: str) -> Scenario:
    """Find a scenario; ConfigError says which there are."""
    if name not in _SCENARIOS:
        raise ConfigError(f"{name!r} is no scenario: {', '.join(_SCENARIOS)} are allowed")
    return _SCENARIOS[name]


def run(name: str, /, **arguments: Any) -> Trace:
    """Run a scenario by name; see Scenario."""
    return get(name)(**arguments)


def scenario(*breaks: Fault, **defaults: object) -> Callable[[Callable[..., None]], Scenario]:
    """Make a scenario of a function of a Story and its own settings, which are keyword-only.

    breaks: faults that are part of the story. defaults: settings of its simulation.
    """

    def add(tell: Callable[..., None]) -> Scenario:
        _, *own = signature(tell).parameters.values()
        mine = {each.name: each.default for each in own}
        world: dict[str, Any] = {"brokers": 1} | defaults

        @wraps(tell, assigned=("__module__", "__name__", "__qualname__", "__doc__"))
        def play(
            *,
            seed: int = 0,
            profile: str | KafkaProfile = "1.0",
            faults: Iterable[Fault] = (),
            **settings: object,
        ) -> Trace:
            told, given = _split(settings, mine)
            texts = (f" {name}={json.dumps(value)}" for name, value in told.items())
            try:
                sim = Simulation(
                    name=tell.__name__ + "".join(texts),
                    seed=seed,
                    profile=profile,
                    faults=(*breaks, *as_plan(faults)),
                    **world | given,
                )
            except ConfigError as error:
                better = _nearer(error, given, of=tell.__name__, mine=mine)
                better.add_note(f"settings of {tell.__name__} itself: {', '.join(mine)}")
                raise better from None
            try:
                # A process of its own waits more cheaply than one who drives the simulation.
                sim.spawn(partial(tell, Story(sim), **told), node="story").join()
                return sim.trace[:]  # what is unwound afterwards is no part of the story
            finally:
                sim.dispose()

        seed, profile, faults, settings = signature(play, follow_wrapped=False).parameters.values()
        shown = Signature([seed, profile, faults, *own, settings], return_annotation=Trace)
        play.__signature__ = shown  # type: ignore[attr-defined]
        return _SCENARIOS.setdefault(tell.__name__, play)

    return add


def _nearer(
    error: ConfigError, given: Iterable[str], *, of: str, mine: Iterable[str]
) -> ConfigError:
    """Name the scenario's own setting that is meant, since the simulation knows only its own."""
    for name in given:
        close = get_close_matches(name, mine, n=1, cutoff=0.8)
        if close and str(error).startswith(f"{name} is no setting"):
            return ConfigError(f"{name} is no setting of {of}: did you mean {close[0]}?")
    return error


def _split(
    settings: dict[str, object], mine: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tell a scenario's own settings, all of them, from those given for its simulation."""
    given = underscored(settings)
    if len(given) < len(settings):
        raise ConfigError(f"{', '.join(settings)}: one is given twice, with dots too")
    if "name" in given:
        raise ConfigError(f"name is {given['name']!r}: a scenario has its own")
    return {each: _checked(each, given.pop(each, mine[each]), mine[each]) for each in mine}, given


def _checked(name: str, value: Any, default: object) -> Any:
    """Refuse what is of another type than the default, and negative numbers."""
    if type(value) is not type(default) or (type(value) is int and value < 0):
        allowed = {int: "a whole number from 0 up", bool: "True or False", str: "a text"}
        raise ConfigError(f"{name} is {value!r}: {allowed[type(default)]} is allowed")
    return value
