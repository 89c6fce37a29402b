"""Grades one submission after another, whatever becomes of the process that judges them."""

from functools import cache

from kafkalearn.grading.engines.judge_process import JudgeProcess, LostError
from kafkalearn.grading.engines.ready_judges import take
from kafkalearn.grading.exercise import Exercise
from kafkalearn.grading.grades import Grade, not_run
from kafkalearn.grading.handed_in.collect import Submission


class GradingHelper:
    """Grades one submission after another; `close` ends every process that it has.

    engine: "fork" runs a notebook in a fork of a prepared interpreter, where Linux has what it
    takes, and "kernel" in a Jupyter kernel of its own. trusted: grade also where submissions cannot
    be isolated. ready: the address of judges of this kind that wait already; '' for none.
    """

    def __init__(self, *, engine: str = "fork", trusted: bool = False, ready: str = "") -> None:
        self.engine = engine
        self.trusted = trusted
        self.ready = ready
        self._judge: JudgeProcess | None = None

    def grade(self, submission: Submission, exercise: Exercise, *, seed: int) -> list[Grade]:
        """Give a row for every check; whatever a submission does ends up in their reasons."""
        if self._judge is None:
            self._judge = take(self.ready) or JudgeProcess.start(self.engine, self.trusted)
        try:
            return self._judge.grade(submission, exercise, seed=seed)
        except LostError as lost:
            self.close()
            reason = f"the grading process {lost}"
        except BaseException:
            self.close()
            raise
        return not_run(submission.student, exercise, reason=reason)

    def close(self) -> None:
        """End its processes; the next grade starts new ones."""
        if self._judge is not None:
            self._judge.kill()
            self._judge = None


@cache
def helper(engine: str, trusted: bool, *, ready: str) -> GradingHelper:
    """Give this process's own helper; it ends with us."""
    return GradingHelper(engine=engine, trusted=trusted, ready=ready)
