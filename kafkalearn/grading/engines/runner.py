"""Runs one submission with papermill; only the judge's word and the executed cells count.

papermill's own summary is not read: after a timeout or a dead kernel it says completed, and a
learner's `sys.exit()` raises nothing at all.
"""

import time
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from nbformat import NotebookNode

from kafkalearn.grading.engines.limits import error_in_words, with_line
from kafkalearn.grading.engines.submission import prepare
from kafkalearn.grading.exercise import Exercise, tags_of
from kafkalearn.grading.grades import FAILED, NOT_ASKED, NOT_REACHED, PASSED, Grade, not_run
from kafkalearn.grading.handed_in.archives import SubmissionError
from kafkalearn.grading.handed_in.collect import Submission
from kafkalearn.grading.isolation.walls import IsolationError
from kafkalearn.grading.judging.judge import Verdict
from kafkalearn.grading.judging.wording import clean


class Ran(NamedTuple):
    """What is known after a run. `stop` says why the cell `last` was the last, up to its name."""

    notebook: NotebookNode
    verdicts: Mapping[str, Verdict | None]
    last: NotebookNode | None
    stop: str = ""


class Engine(Protocol):
    """Something that runs a prepared notebook."""

    def execute(self, notebook: NotebookNode, exercise: Exercise, *, seed: int) -> Ran:
        """Run it within the exercise's limits; IsolationError if no process could be had."""

    def close(self) -> None:
        """End every process that the engine has."""


def run_papermill(notebook: NotebookNode, engine: str, *, seed: int, **handed: Any) -> None:
    """Let papermill put in the seed and run the cells by an engine of ours, handed the rest.

    These are the two steps of its `execute_notebook`, which beyond them writes the notebook twice
    and reads it again: most of its time, and nobody wants the file.
    """
    from papermill.engines import papermill_engines
    from papermill.parameterize import parameterize_notebook

    notebook.metadata["papermill"] = {}
    for cell in notebook.cells:
        cell.metadata.setdefault("tags", [])
    filled = parameterize_notebook(
        notebook, {"seed": seed}, kernel_name="python3", language="python"
    )
    papermill_engines.execute_notebook_with_engine(
        engine, filled, "python3", progress_bar=False, **handed
    )


def run(submission: Submission, exercise: Exercise, *, seed: int, engine: Engine) -> list[Grade]:
    """Grade one submission: a row for every check of the exercise, whatever happens."""
    began, student = time.monotonic(), submission.student
    try:
        ran = engine.execute(prepare(submission.content, exercise), exercise, seed=seed)
    except (SubmissionError, IsolationError) as error:
        return not_run(student, exercise, reason=str(error))
    except (OSError, RuntimeError) as error:
        return not_run(student, exercise, reason=f"the notebook could not be started: {error}")
    except Exception as error:  # a submission may break papermill in ways nobody has thought of
        return not_run(
            student, exercise, reason=f"the notebook broke its run: {clean(repr(error))}"
        )
    seconds = round(time.monotonic() - began, 3)
    stopped = _stopped(ran, exercise)
    cells = {cell.id: cell for cell in ran.notebook.cells}
    grades = []
    for name, _, most in exercise.checks:
        status, reason, detail = _judged(cells[name], exercise, ran, stopped)
        points = most if status == PASSED else 0.0
        row = (student, exercise.name, name, points, most, status, reason, seconds, detail)
        grades.append(Grade(*row))
    return grades


def hung(cell: NotebookNode) -> bool:
    """Whether it is a check that ran too long: the same answer would let the others hang too."""
    return "check" in tags_of(cell) and any(
        output.get("ename") == "KeyboardInterrupt" for output in cell.outputs
    )


def _stopped(ran: Ran, exercise: Exercise) -> str:
    """Say why the last cell that began was the last; '' if none was left."""
    if ran.last is None:
        return "the notebook stopped before its first cell"
    where = f"the cell `{(ran.last.source.strip() or '...').splitlines()[0][:60]}`"
    if ran.stop:
        return f"{ran.stop} {where}"
    code = [cell for cell in ran.notebook.cells if cell.cell_type == "code"]
    if ran.last.id == code[-1].id:
        return ""
    error = _error(ran.last, exercise) or "it ended the notebook"
    return f"{where} stopped the notebook: {error}"


def _error(cell: NotebookNode, exercise: Exercise) -> str:
    for output in cell.outputs:
        if output["output_type"] == "error":
            said = with_line(output["evalue"], cell.source)
            return error_in_words(output["ename"], said, exercise=exercise)
    return ""


def _judged(cell: NotebookNode, exercise: Exercise, ran: Ran, stopped: str) -> tuple[str, str, str]:
    """Give status, reason and detail; only the judge's yes and a cell without an error pass."""
    check, verdict = cell.id, ran.verdicts.get(cell.id)
    here = ran.last is not None and ran.last.id == check
    if cell.execution_count is None and ran.last is not None and hung(ran.last):
        why = _error(ran.last, exercise)
        return FAILED, f"{check}: {NOT_ASKED} {ran.last.id} did not end: {why}", ""
    if cell.execution_count is None and not (here and ran.stop):
        return NOT_REACHED, f"{check}: not reached, since {clean(stopped)}", ""
    if verdict and not verdict.passed:
        return FAILED, verdict.sentence, verdict.detail
    if error := _error(cell, exercise):
        return FAILED, f"{check}: {error}", ""
    if here and stopped:
        return FAILED, f"{check}: {clean(stopped)}", ""
    if verdict:
        return PASSED, verdict.sentence, ""
    return FAILED, f"{check}: the judge was not asked; was the name `check` used again?", ""
