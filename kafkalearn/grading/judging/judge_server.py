"""The judge's end of a socket: it hears checks and alone decides a grade.

A check counts once, and only in its own cell: with the student's seed, whose cases nobody has seen
before. Whatever else a notebook asks gets the answer that it would get at home, with the seed that
everybody has there; a verdict that tells what is right can never be used to answer again.
"""

from typing import Any

from kafkalearn.grading.answering.wire import Stream, WireError, receive, send
from kafkalearn.grading.exercise import Exercise, ExerciseError
from kafkalearn.grading.judging.judge import Verdict, decide

MOST_CHECKS = 200  # of one submission; those of its check cells are far fewer


class TooManyChecksError(EOFError):
    """A submission that asks for no end of checks."""


class _BrokenOffError(EOFError):
    """Another check in place of an answer: what was asked will not be answered any more."""

    def __init__(self, message: dict[str, Any]) -> None:
        super().__init__("the check was broken off")
        self.message = message


class JudgeServer:
    """Hears the checks of one submission; `verdicts` has those that count, None while undecided.

    cell: the id of the cell that runs, as the one who runs the notebook knows it.
    """

    def __init__(self, stream: Stream, exercise: Exercise, *, seed: int) -> None:
        self.stream = stream
        self.exercise = exercise
        self.seed = seed
        self.cell = ""
        self.verdicts: dict[str, Verdict | None] = {}
        self._heard = 0

    @property
    def too_many(self) -> bool:
        """Whether more checks were asked for than any notebook needs."""
        return self._heard > MOST_CHECKS

    def hear(self) -> None:
        """Read a message and do what it asks for; EOFError when nobody is left to ask."""
        try:
            message: dict[str, Any] | None = receive(self.stream)
        except WireError:
            return
        while message is not None and "check" in message:  # All else is an answer that came late.
            name, message = message["check"], None
            try:
                self._check(str(name))
            except _BrokenOffError as error:
                message = error.message

    def _check(self, name: str) -> None:
        self._heard += 1
        if self.too_many:
            raise TooManyChecksError
        exercise_name, _, check = name.partition("/")
        try:
            if exercise_name != self.exercise.name:
                raise ExerciseError(
                    f"this notebook is graded as {self.exercise.name}, not {exercise_name:.60}"
                )
            self.exercise.check(check)
        except ExerciseError as error:
            send(self.stream, {"passed": False, "text": str(error)})
            return
        if counts := self._counts(check):
            self.verdicts[check] = None
        seed = self.seed if counts else 0
        verdict = decide(self.exercise, check, seed=seed, ask=self._ask)
        if counts:
            self.verdicts[check] = verdict
        send(self.stream, {"passed": verdict.passed, "text": verdict.text})

    def _counts(self, check: str) -> bool:
        return check == self.cell and check not in self.verdicts

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        send(self.stream, message)
        try:
            answer = receive(self.stream)
        except WireError as error:
            return {"refused": str(error)}
        if "check" in answer:
            raise _BrokenOffError(answer)
        return answer
