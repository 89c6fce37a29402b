"""Runs one submission with papermill; only the judge's word and the executed cells count.

papermill's own summary is not read: after a timeout or a dead kernel it says completed, and a
learner's `sys.exit()` raises nothing at all.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Timer
from typing import NamedTuple

import papermill
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import run_sync
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from papermill.exceptions import PapermillExecutionError

from kafkalearn.grading.collect import Submission, SubmissionError
from kafkalearn.grading.exercise import Exercise
from kafkalearn.grading.grades import FAILED, NOT_REACHED, PASSED, Grade, not_run
from kafkalearn.grading.judge import Verdict
from kafkalearn.grading.judge_server import judge_server
from kafkalearn.grading.lending import lend, python_path
from kafkalearn.grading.submission import parse, prepare
from kafkalearn.grading.wire import JUDGE_ADDRESS
from kafkalearn.grading.wording import clean, raised_in_words

LONGEST_FOLDER = 92  # bytes; systems allow the path of a socket 103 or more


class _Run(NamedTuple):
    """What is known after a run. `stopped` says why the cell `last` ended it early, if it did."""

    cells: dict[str, NotebookNode]
    verdicts: dict[str, Verdict | None]
    last: str = ""
    stopped: str = ""


def run(submission: Submission, exercise: Exercise, *, seed: int) -> list[Grade]:
    """Grade one submission: a row for every check of the exercise, whatever happens."""
    began, student = time.monotonic(), submission.student
    try:
        ended = _execute(prepare(submission.content, exercise), exercise, seed)
    except SubmissionError as error:
        return not_run(student, exercise, reason=str(error))
    except (OSError, RuntimeError) as error:
        return not_run(student, exercise, reason=f"the kernel could not be started: {error}")
    except Exception as error:  # a submission may break papermill in ways nobody has thought of
        return not_run(
            student, exercise, reason=f"the notebook broke its run: {clean(repr(error))}"
        )
    seconds = round(time.monotonic() - began, 3)
    grades = []
    for name, _, most in exercise.checks:
        status, reason, detail = _judged(name, exercise, ended)
        points = most if status == PASSED else 0.0
        row = (student, exercise.name, name, points, most, status, reason, seconds, detail)
        grades.append(Grade(*row))
    return grades


def _execute(notebook: NotebookNode, exercise: Exercise, seed: int) -> _Run:
    with TemporaryDirectory(prefix="kl-") as name:
        room = Path(name)
        if len(os.fsencode(room)) > LONGEST_FOLDER:
            raise OSError(f"{room} is too long a path for sockets: set TMPDIR to a shorter folder")
        lend(exercise.lent_modules, room / "lent")
        overran, died = Event(), False
        with (
            judge_server(room / "judge", exercise, seed=seed) as judge,
            _kernel(room, exercise.total_seconds, overran) as kernel,
        ):
            try:
                papermill.execute_notebook(
                    notebook,
                    str(room / "executed.ipynb"),
                    {"seed": seed},
                    kernel_name="python3",
                    language="python",
                    progress_bar=False,
                    km=kernel,
                    execution_timeout=exercise.cell_seconds,
                    interrupt_on_timeout=True,
                )
            except PapermillExecutionError:
                pass  # The executed notebook holds the failures, cell by cell.
            except DeadKernelError:
                died = True
        executed = parse((room / "executed.ipynb").read_text(encoding="utf-8"))
        last, stopped = _stop(executed, exercise, died=died, overran=overran.is_set())
        return _Run({cell.id: cell for cell in executed.cells}, dict(judge.verdicts), last, stopped)


@contextmanager
def _kernel(room: Path, total_seconds: float, overran: Event) -> Iterator[AsyncKernelManager]:
    """Start a kernel in an empty folder; its process group ends with the block, or after the limit.

    No settings of the user's own Jupyter and IPython take part, and no network port is opened.
    """
    (room / "work").mkdir()
    manager = AsyncKernelManager(
        kernel_name="python3",
        kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
        transport="ipc",
        connection_file=str(room / "k.json"),
    )
    environment = os.environ | {
        "PYTHONPATH": python_path(room / "lent"),
        "IPYTHONDIR": str(room / "ipython"),
        JUDGE_ADDRESS: str(room / "judge"),
    }
    run_sync(manager.start_kernel)(env=environment, cwd=str(room / "work"))

    def kill() -> None:
        overran.set()
        with suppress(RuntimeError):  # It may just have ended.
            run_sync(manager.signal_kernel)(signal.SIGKILL)

    timer = Timer(total_seconds, kill)
    timer.start()
    try:
        yield manager
    finally:
        timer.cancel()
        run_sync(manager.shutdown_kernel)(now=True)


def _stop(
    executed: NotebookNode, exercise: Exercise, *, died: bool, overran: bool
) -> tuple[str, str]:
    """Give the id of the last cell that began, and why no other did ('' if it was the last)."""
    code = [cell for cell in executed.cells if cell.cell_type == "code"]
    # A dying kernel may not tell that a cell began; papermill noted it before.
    begun = [cell for cell in code if cell.metadata.get("papermill", {}).get("start_time")]
    if not begun:
        return "", "the notebook stopped before its first cell"
    last = begun[-1]
    where = f"the cell `{(last.source.strip() or '...').splitlines()[0][:60]}`"
    if overran:
        limit = f"{exercise.total_seconds:g} s"
        return last.id, f"the notebook ran longer than {limit} and was ended in {where}"
    if died:
        return last.id, f"the notebook's Python process ended when it came to {where}"
    if last is code[-1]:
        return last.id, ""
    error = _error(last)
    words = _error_in_words(error, exercise) if error else "it ended the notebook"
    return last.id, f"{where} stopped the notebook: {words}"


def _error(cell: NotebookNode) -> NotebookNode | None:
    return next((output for output in cell.outputs if output.output_type == "error"), None)


def _error_in_words(error: NotebookNode, exercise: Exercise) -> str:
    if error.ename == "KeyboardInterrupt":
        return f"it ran longer than {exercise.cell_seconds:g} s and was interrupted"
    if error.ename == "SystemExit":
        return "it left by sys.exit()"
    return raised_in_words(f"{error.ename}: {error.evalue}", exercise)


def _judged(check: str, exercise: Exercise, ended: _Run) -> tuple[str, str, str]:
    """Give status, reason and detail; only the judge's yes and a cell without an error pass."""
    cell, verdict = ended.cells[check], ended.verdicts.get(check)
    if cell.execution_count is None:
        return NOT_REACHED, f"{check}: not reached, since {ended.stopped}", ""
    if verdict and not verdict.passed:
        return FAILED, verdict.sentence, verdict.detail
    if error := _error(cell):
        return FAILED, f"{check}: {_error_in_words(error, exercise)}", ""
    if verdict:
        return PASSED, verdict.sentence, ""
    if ended.last != cell.id or not ended.stopped:
        return FAILED, f"{check}: the judge was not asked; was the name `check` used again?", ""
    return FAILED, f"{check}: {ended.stopped}", ""
