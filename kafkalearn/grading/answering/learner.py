"""The learner's half of a check: it is asked, answers, and shows what the judge said.

It holds no answers. In grading the judge is another process, found by an environment variable that
only the runner sets. While learning the judge is imported and decides here, by the same messages.
"""

import gc
import os
import socket
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from kafkalearn.grading.answering.wire import (
    JUDGE_ADDRESS,
    WireError,
    decode,
    encode,
    receive,
    send,
)

Answer = Callable[..., Any]
_PATIENCE_SECONDS = 10.0  # for what is asked at once, while learning; Spark has more
_LIBRARIES = (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"))


class CheckFailedError(AssertionError):
    """A check said no; the text is the judge's sentence and the case that showed it."""

    def _render_traceback_(self) -> list[str]:
        """Show the judge's words alone: IPython asks for this instead of a traceback."""
        return [str(self)]


def check(name: str, answer: Answer, *, seed: int = 0) -> None:
    """Ask the judge about your answer: print what it says, or raise CheckFailedError with it.

    name: the exercise and the check, as in ``"41_range_assignor/by-name"``.
    seed: chooses the random cases while you learn. In grading the judge has a seed of its own.
    """
    address = os.environ.get(JUDGE_ADDRESS)
    passed, text = _over_socket(address, name, answer) if address else _in_here(name, answer, seed)
    if not passed:
        raise CheckFailedError(text)
    print(text)


def answer_message(answer: Answer, message: dict[str, Any]) -> dict[str, Any]:
    """Do what the judge asks: call a function, say what it returned or raised; or run a loop."""
    if "each" in message:
        return {"each": [answer_message(answer, each) for each in message["each"]]}
    if "question" not in message:
        from kafkalearn.grading.answering import loop_host

        return loop_host.answer_message(answer, message)
    try:
        return {"returned": encode(answer(*decode(message["question"])))}
    except WireError as error:
        return {"refused": str(error)}
    except (Exception, SystemExit) as error:
        return {"raised": in_words(error)}


def in_words(error: BaseException) -> str:
    """Tell an exception, and the learner's own line that led to it."""
    words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    package = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    told = traceback.extract_tb(error.__traceback__)
    frames = [e for e in told if not e.filename.startswith((package, *_LIBRARIES))]
    return f"{words} (at: {frames[-1].line})" if frames and frames[-1].line else words


def _over_socket(address: str, name: str, answer: Answer) -> tuple[bool, str]:
    with socket.socket(fileno=os.dup(int(address))) as connection:
        # A question that was never heard, of a check that was interrupted, is none of ours.
        with suppress(BlockingIOError):
            while connection.recv(2**16, socket.MSG_DONTWAIT):
                pass
        with connection.makefile("rwb") as stream:
            send(stream, {"check": name})
            while "passed" not in (message := receive(stream)):
                send(stream, answer_message(answer, message))
    return message["passed"], message["text"]


def _in_here(name: str, answer: Answer, seed: int) -> tuple[bool, str]:
    try:
        from kafkalearn.engine.interrupts import TimeIsUpError, limited
        from kafkalearn.grading.exercise import ExerciseError, find_exercise
        from kafkalearn.grading.judging.judge import decide
        from kafkalearn.grading.judging.showing import show
    except ModuleNotFoundError:  # In grading the judge's half is not here, only its address was.
        raise CheckFailedError("the judge cannot be reached: its address is gone") from None

    exercise_name, _, check_name = name.partition("/")
    try:
        exercise = find_exercise(exercise_name)
        exercise.check(check_name)
    except ExerciseError as error:
        raise CheckFailedError(str(error)) from None

    seconds = _PATIENCE_SECONDS * max(1, exercise.limits.cell_seconds / 30)
    ask = limited(seconds)(asker(answer, exercise.lent_modules))
    try:
        verdict = decide(exercise, check_name, seed=seed, ask=ask)
    except TimeIsUpError:
        poll = ": does it poll?" if hasattr(exercise.judge, "stories") else ""
        raise CheckFailedError(
            f"{check_name}: your answer has run for {seconds:g} s and did not come to an end{poll}"
        ) from None
    if verdict.shown:
        show(verdict.shown)
    return verdict.passed, verdict.text


def asker(answer: Answer, lent: frozenset[str]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Ask this answer in this process; calls of modules that are not lent fail as in grading."""

    def ask(message: dict[str, Any]) -> dict[str, Any]:
        with _borrowed(lent) as borrowed:
            reply = answer_message(answer, message)
        if borrowed:
            return {"raised": f"ModuleNotFoundError: No module named '{borrowed[0]}'"}
        return reply

    return ask


@contextmanager
def _borrowed(lent: frozenset[str]) -> Iterator[list[str]]:
    """Notice modules of kafkalearn that run but are not lent, however they were imported."""
    borrowed: list[str] = []

    def notice(frame: FrameType, event: str, _: object) -> None:
        module = str(frame.f_globals.get("__name__", ""))
        if event == "call" and module.startswith("kafkalearn.") and module not in lent:
            borrowed.append(module)

    before, collects = sys.getprofile(), gc.isenabled()
    gc.disable()  # what is freed, of a simulation say, may run code that the answer never called
    sys.setprofile(notice)
    try:
        yield borrowed
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
