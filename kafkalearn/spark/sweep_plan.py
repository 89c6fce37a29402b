"""What a sweep is: a scenario, seeds, and settings that vary; and how that is cut into parts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from kafkalearn import scenarios
from kafkalearn.errors import ConfigError

MOST_RUNS = 10_000_000


class SweepError(Exception):
    """Something that cannot be swept, or not into this folder; the message says why."""


@dataclass(frozen=True)
class Sweep:
    """A scenario, its seeds, and the settings that are varied: each value with each other one."""

    scenario: str
    seeds: range
    vary: Mapping[str, Sequence[Any]]

    @cached_property
    def combinations(self) -> list[dict[str, Any]]:
        """All settings that are run, each with all seeds."""
        return [
            dict(zip(self.vary, values, strict=True)) for values in product(*self.vary.values())
        ]

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return (self.seeds.stop - self.seeds.start) * len(self.combinations)

    @property
    def part_size(self) -> int:
        """Runs of a part: few and large files, but enough parts to share."""
        return min(200, max(5, -(-self.runs // 32)))

    @property
    def parts(self) -> range:
        """The numbers of the parts."""
        return range(-(-self.runs // self.part_size))

    def runs_of(self, part: int) -> range:
        """The numbers of a part's runs: all seeds of the first settings, then of the next."""
        first = part * self.part_size
        return range(first, min(first + self.part_size, self.runs))

    def arguments(self, number: int) -> tuple[int, dict[str, Any]]:
        """Give the seed and the settings of a run."""
        which, seed = divmod(number, len(self.seeds))
        return self.seeds[seed], self.combinations[which]

    def as_json(self) -> str:
        """Say what is swept, and how it is cut into parts."""
        seeds = [self.seeds.start, self.seeds.stop]
        told = {"scenario": self.scenario, "seeds": seeds, "vary": self.vary}
        return json.dumps(told | {"part_size": self.part_size}, indent=1)

    def check(self) -> None:
        """Refuse what no run of can begin; SweepError with the scenario's own sentence.

        That only some settings are refused is no reason to run nothing: those runs are failures.
        """
        if self.runs > MOST_RUNS:
            raise SweepError(f"these are {self.runs:,} runs: at most {MOST_RUNS:,} are allowed")
        refused = []
        try:
            self.as_json()
        except (TypeError, ValueError) as error:
            raise SweepError(f"a value of {', '.join(self.vary)} cannot be kept: {error}") from None
        try:
            scenario = scenarios.get(self.scenario)
            for settings in self.combinations:
                try:
                    scenario(seed=self.seeds[0], **settings)
                except ConfigError as error:
                    refused.append(error)
                    continue
                except Exception:
                    pass  # it began, and that it failed will be told
                return
            raise refused[0]
        except ConfigError as error:
            raise SweepError(sentence(error)) from None


def sentence(error: BaseException) -> str:
    """Give an error's message with its notes, or at least its name."""
    return "; ".join([str(error) or type(error).__name__, *getattr(error, "__notes__", ())])
