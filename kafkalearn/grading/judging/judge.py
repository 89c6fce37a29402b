"""Decides a check: asks about case after case, and makes the first that goes wrong small.

It sees messages as JSON only, so it is the same whether they come from this notebook or from
another process. It never runs a learner's code.
"""

from typing import NamedTuple

from kafkalearn.grading.exercise import Exercise
from kafkalearn.grading.judging.cases import Ask, Cases, FunctionCases, Shown
from kafkalearn.grading.judging.smallest import smallest
from kafkalearn.grading.judging.wording import NOT_WRITTEN, clean


class Verdict(NamedTuple):
    """What the judge says about one check: one sentence, and the smallest case that showed it."""

    passed: bool
    sentence: str
    shown: Shown | None = None

    @property
    def text(self) -> str:
        """The verdict as a notebook shows it."""
        return self.sentence if self.shown is None else f"{self.sentence}\n\n{self.shown.text}"

    @property
    def detail(self) -> str:
        """The case as JSON text for a page of feedback; '' if there is none."""
        return self.shown.detail if self.shown else ""


def decide(exercise: Exercise, check: str, *, seed: int, ask: Ask) -> Verdict:
    """Ask until an answer is wrong or no case is left; what cannot be judged has failed.

    Errors: EOFError and OSError of `ask`, when nobody is left to answer.
    """
    try:
        return _decide(exercise, check, seed, ask)
    except (OSError, EOFError):
        raise
    except Exception as error:
        return Verdict(
            False, f"{check}: the judge itself failed, tell your teacher: {clean(repr(error))}"
        )


def _decide(exercise: Exercise, check: str, seed: int, ask: Ask) -> Verdict:
    kind = cases_of(exercise, ask)
    asked = 0
    for case, found in kind.tried(check, seed):
        if found and found.sentence == NOT_WRITTEN:  # no case can show more
            return Verdict(False, f"{check}: {NOT_WRITTEN}")
        if found:
            case, found = smallest(case, found, simpler=kind.simpler, find=kind.find)
            sentence = f"{check}: {clean(found.sentence)}"
            return Verdict(False, sentence, kind.shown(case, found))
        asked += 1
    if not asked:
        return Verdict(
            False, f"{check}: the exercise has no inputs for this check; tell your teacher"
        )
    return Verdict(True, f"{check}: right in {asked} of {asked} cases")


def cases_of(exercise: Exercise, ask: Ask) -> Cases:
    """Choose by what judge.py defines: stories for a loop, inputs for a function."""
    if hasattr(exercise.judge, "stories"):
        from kafkalearn.grading.judging.stories import LoopCases

        return LoopCases(exercise, ask)
    return FunctionCases(exercise, ask)
