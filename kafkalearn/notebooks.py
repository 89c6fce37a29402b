"""Executes notebooks with papermill, several at a time, and says honestly which ones ran.

Each runs in a process of its own kind: papermill changes the working directory, so threads would
disturb each other. A notebook ran only if every code cell did: papermill returns normally after a
cell called ``sys.exit()``, and its own metadata says "completed" even after a kernel has died.
"""

import multiprocessing
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kafkalearn.workbook import MissingExtraError, WorkbookError, parameter_names

KERNEL_LOG = "kernels.log"


@dataclass(frozen=True, slots=True)
class NotebookTask:
    """One notebook to execute. Parameters that its parameters cell does not name are left out."""

    source: Path
    output: Path
    parameters: Mapping[str, Any] = field(default_factory=dict)
    cell_timeout_s: int = 300


@dataclass(frozen=True, slots=True)
class NotebookRun:
    """How one notebook went. `problem` is a sentence; empty when every code cell ran well."""

    source: Path
    output: Path
    seconds: float
    problem: str


def run_notebooks(tasks: Sequence[NotebookTask], *, jobs: int) -> Iterator[NotebookRun]:
    """Execute the notebooks, `jobs` at a time; each result comes as soon as it is there.

    All outputs go to one folder; its `kernels.log` gets what the kernels write to standard error.

    Errors: MissingExtraError without papermill; WorkbookError if an output would overwrite its
    source or cannot be written.
    """
    if find_spec("papermill") is None:
        raise MissingExtraError("papermill", "grade")
    for task in tasks:
        if task.output.resolve() == task.source.resolve():
            raise WorkbookError(
                f"{task.source} would be overwritten: choose another folder with --out."
            )
    log = _fresh_log(tasks[0].output.parent)
    pool = ProcessPoolExecutor(
        min(jobs, len(tasks)),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_log_stderr,
        initargs=(log,),
    )
    try:
        futures = {pool.submit(run_notebook, task): task for task in tasks}
        for future in as_completed(futures):
            yield _result(future, futures[future])
    except BaseException:
        # A worker would first finish its notebook. Its kernel ends when its parent is gone.
        for worker in multiprocessing.active_children():
            worker.kill()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def run_notebook(task: NotebookTask) -> NotebookRun:
    """Execute one notebook in its own folder, as JupyterLab does; the result says what failed."""
    started = time.monotonic()
    task.output.unlink(missing_ok=True)
    problem = _execute(task) or _not_reached(task.output)
    return NotebookRun(task.source, task.output, time.monotonic() - started, problem)


def _execute(task: NotebookTask) -> str:
    import papermill
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    known = parameter_names(task.source)
    try:
        papermill.execute_notebook(
            str(task.source.resolve()),
            str(task.output.resolve()),
            {name: value for name, value in task.parameters.items() if name in known},
            cwd=str(task.source.resolve().parent),
            kernel_name="python3",
            language="python",
            progress_bar=False,
            execution_timeout=task.cell_timeout_s,
        )
    except papermill.PapermillExecutionError as error:
        return f"{_cell(task.output, error.exec_count)} ended with {error.ename}: {error.evalue}"
    except CellTimeoutError:
        return f"{_unfinished(task.output)} ran longer than {task.cell_timeout_s} s."
    except DeadKernelError:
        return f"{_unfinished(task.output)} ended the kernel: a crash, or too little memory."
    except Exception as error:  # whatever is wrong with one file, the others still run
        return f"It cannot be executed: {type(error).__name__}: {str(error).strip()}"
    return ""


def _not_reached(output: Path) -> str:
    missed = [cell for cell in _code_cells(output) if cell.execution_count is None]
    if not missed:
        return ""
    return f"{_name(missed[0])} was not reached: an earlier cell ended all, as sys.exit() does."


def _cell(output: Path, count: int) -> str:
    same = [cell for cell in _code_cells(output) if cell.execution_count == count]
    return _name(same[0]) if same else f"In [{count}]"


def _unfinished(output: Path) -> str:
    """Name the cell to which no kernel replied."""
    for cell in _code_cells(output):
        if "shell.execute_reply" not in cell.metadata.get("execution", {}):
            return _name(cell)
    return "A cell"


def _name(cell: Any) -> str:
    return f"Cell {cell.id!r} ({cell.source.strip().splitlines()[0][:40]})"


def _code_cells(output: Path) -> list[Any]:
    import nbformat

    cells = nbformat.read(output, as_version=4).cells  # type: ignore[no-untyped-call]
    return [cell for cell in cells if cell.cell_type == "code" and cell.source.strip()]


def _result(future: "Future[NotebookRun]", task: NotebookTask) -> NotebookRun:
    try:
        return future.result()
    except BrokenProcessPool:
        reason = "A process that runs notebooks was killed; this one was running or still to come."
        return NotebookRun(task.source, task.output, 0.0, reason)


def _fresh_log(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / KERNEL_LOG).write_text("")
    except OSError as error:
        raise WorkbookError(f"{folder} cannot be written to: {error.strerror}.") from error
    return folder / KERNEL_LOG


def _log_stderr(path: Path) -> None:
    """Send standard error, which kernels inherit, to a file: their chatter hides the result."""
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(log, 2)
    os.close(log)
