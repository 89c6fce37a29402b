"""papermill's own way, slow and faithful: a real Jupyter kernel for each notebook.

Behind the same walls as the fork engine's processes: a child of the fork server becomes the kernel.
Its sockets lie in its own folder, of which the judge has a descriptor; no port is opened.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import run_sync
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import Engine, NotebookExecutionManager, papermill_engines

from kafkalearn.grading.answering.wire import JUDGE_ADDRESS
from kafkalearn.grading.engines.limits import ended_in_words, stopped_in_words
from kafkalearn.grading.engines.runner import Ran, hung, run_papermill
from kafkalearn.grading.engines.sandboxed_kernel import SandboxedKernel, received
from kafkalearn.grading.exercise import Exercise
from kafkalearn.grading.isolation.lending import lend, python_path
from kafkalearn.grading.isolation.walls import Ending, ServerPool
from kafkalearn.grading.judging.judge_server import JudgeServer


class _Session:
    """What is known of one run while it goes on."""

    def __init__(self, checks: socket.socket, exercise: Exercise, *, seed: int) -> None:
        self.exercise = exercise
        self.judge = JudgeServer(checks.makefile("rwb"), exercise, seed=seed)
        self.notebook: NotebookNode | None = None
        self.begun: NotebookNode | None = None
        self.written = 0
        self.stop = Event()
        self.why = ""
        Thread(target=self._hear, daemon=True).start()

    def _hear(self) -> None:
        with suppress(EOFError, OSError, ValueError):
            while True:
                self.judge.hear()
        if self.judge.too_many:
            self.end("checks")

    def ran(self, stop: str) -> Ran:
        """Sum up."""
        if self.notebook is None:
            raise OSError("papermill did not come to the first cell")
        return Ran(self.notebook, self.judge.verdicts, self.begun, stop)

    def end(self, why: str) -> None:
        """Note why the notebook must go no further, and end it; see `stopped_in_words`."""
        self.why = self.why or stopped_in_words(why, self.exercise.limits)
        self.stop.set()


class _Client(PapermillNotebookClient):  # type: ignore[misc]
    """Counts what a notebook writes."""

    session: _Session

    def process_message(self, msg: dict[str, Any], *where: Any) -> Any:
        session = self.session
        session.written += len(repr(msg["content"]))
        if session.written > session.exercise.limits.output_kb * 1024:
            session.end("output")
            return None
        return super().process_message(msg, *where)


class KernelEngine(Engine):  # type: ignore[misc]
    """papermill's engine, which tells the judge what cell runs."""

    @classmethod
    def execute_managed_notebook(
        cls, nb_man: NotebookExecutionManager, kernel_name: str, *, session: _Session, **rest: Any
    ) -> None:
        """Run each code cell as nbclient does."""
        session.notebook, start = nb_man.nb, nb_man.cell_start

        def cell_start(cell: NotebookNode, index: int) -> None:
            if session.begun is not None and hung(session.begun):
                raise DeadKernelError  # as far as other checks are concerned
            start(cell, index)
            if cell.cell_type == "code" and cell.source.strip():
                session.begun, session.judge.cell = cell, cell.id

        nb_man.cell_start = cell_start
        seconds = session.exercise.limits.cell_seconds
        client = _Client(
            nb_man, km=rest["km"], timeout=seconds, interrupt_on_timeout=True, kernel_name="python3"
        )
        client.session = session
        client.execute()


papermill_engines.register("kernel", KernelEngine)


class KernelRunner:
    """Runs each notebook in a kernel behind walls."""

    def __init__(self, protections: frozenset[str]) -> None:
        self._servers = ServerPool(protections)

    def execute(self, notebook: NotebookNode, exercise: Exercise, *, seed: int) -> Ran:
        """Run it as the Engine protocol says."""
        manager = SandboxedKernel(transport="ipc", kernel_spec_manager=_no_settings())
        ports = ("shell", "iopub", "stdin", "hb", "control")
        for number, name in enumerate(ports, start=1):
            setattr(manager, f"{name}_port", number)
        info = manager.get_connection_info()
        kernel = {**info, "key": manager.session.key.decode()}
        process = self._servers.of(exercise.lent_modules).start(exercise.limits, kernel=kernel)
        manager.process = process
        session = _Session(process.checks, exercise, seed=seed)
        with _killer(session, exercise, lambda: process.tell({"end": 0})):
            folder = received(process.cells)
            try:
                manager.ip = f"/proc/self/fd/{folder}/k"
                died = _execute(notebook, session, manager, seed)
            finally:
                ending = process.end(patience_seconds=0)
                os.close(folder)
        stop = session.why
        if died and not stop:
            stop = ended_in_words(ending, exercise.limits)
        return session.ran(stop)

    def close(self) -> None:
        """End the servers, and with them all that they started."""
        self._servers.close()


class PlainKernelRunner:
    """Runs each notebook in a kernel without walls, where the system has none."""

    def execute(self, notebook: NotebookNode, exercise: Exercise, *, seed: int) -> Ran:
        """Run it as the Engine protocol says."""
        ours, theirs = socket.socketpair()
        with ours, TemporaryDirectory(prefix="kl-", ignore_cleanup_errors=True) as name:
            room = Path(name)
            lend(exercise.lent_modules, room / "lent")
            (room / "work").mkdir()
            manager = AsyncKernelManager(kernel_spec_manager=_no_settings(), transport="ipc")
            manager.connection_file = str(room / "k.json")
            environment = os.environ | {
                "PYTHONPATH": python_path(room / "lent"),
                "PYTHONHASHSEED": "0",
                "IPYTHONDIR": str(room / "ipython"),
                JUDGE_ADDRESS: str(theirs.fileno()),
            }
            with theirs:
                run_sync(manager.start_kernel)(
                    env=environment, cwd=str(room / "work"), pass_fds=[theirs.fileno()]
                )
            session = _Session(ours, exercise, seed=seed)
            try:
                with _killer(session, exercise, lambda: run_sync(manager.signal_kernel)(9)):
                    died = _execute(notebook, session, manager, seed)
            finally:
                run_sync(manager.shutdown_kernel)(now=True)
        stop = session.why or (ended_in_words(Ending(0, ""), exercise.limits) if died else "")
        return session.ran(stop)

    def close(self) -> None:
        """Nothing stays between two notebooks."""


def _no_settings() -> KernelSpecManager:
    """Keep the settings of the user's own Jupyter out."""
    return KernelSpecManager(kernel_dirs=[])


@contextmanager
def _killer(session: _Session, exercise: Exercise, kill: Any) -> Iterator[None]:
    """End the kernel when the session says so, at the latest after its total time."""
    over = Event()

    def wait() -> None:
        if not session.stop.wait(exercise.limits.total_seconds):
            session.end("time")
        if not over.is_set():
            with suppress(RuntimeError, OSError):  # It may just have ended.
                kill()

    waiter = Thread(target=wait, daemon=True)
    waiter.start()
    try:
        yield
    finally:
        over.set()
        session.stop.set()
        waiter.join()


def _execute(notebook: NotebookNode, session: _Session, manager: Any, seed: int) -> bool:
    """Run papermill; say whether the kernel died."""
    try:
        run_papermill(notebook, "kernel", seed=seed, km=manager, session=session)
    except DeadKernelError:
        return session.begun is None or not hung(session.begun)
    return False
