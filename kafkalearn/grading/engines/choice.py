"""The two ways to run a notebook, and whether its process can be isolated."""

import sys

from nbformat import NotebookNode

from kafkalearn.grading.engines.runner import Engine, Ran
from kafkalearn.grading.exercise import Exercise
from kafkalearn.grading.isolation.sandbox import PROTECTIONS, WITHOUT_PRIVILEGES
from kafkalearn.grading.isolation.walls import IsolationError, isolation_problem


class _Refusing:
    """Runs nothing, since nothing would protect the judge."""

    def __init__(self, problem: str) -> None:
        self.problem = problem

    def execute(self, notebook: NotebookNode, exercise: Exercise, *, seed: int) -> Ran:
        raise IsolationError(f"{self.problem}: --trusted grades without isolation")

    def close(self) -> None:
        pass


def engine_called(name: str, *, trusted: bool) -> Engine:
    """Give the engine for this machine, isolated if that can be had at all.

    On Linux one that must isolate refuses when its first server cannot: nobody asks before.
    """
    problem = isolation_problem() if trusted or sys.platform != "linux" else None
    if problem and not trusted:
        return _Refusing(problem)
    if sys.platform != "linux":
        from kafkalearn.grading.engines.kernel_engine import PlainKernelRunner

        return PlainKernelRunner()
    protections = WITHOUT_PRIVILEGES if problem else PROTECTIONS
    if name == "kernel":
        from kafkalearn.grading.engines.kernel_engine import KernelRunner

        return KernelRunner(protections)
    from kafkalearn.grading.engines.fork_engine import ForkRunner

    return ForkRunner(protections)
