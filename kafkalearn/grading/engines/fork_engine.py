"""A papermill engine: runs a notebook's cells in a child of the fork server, and judges meanwhile.

One loop hears both sockets of the process, so that a check is decided while its cell runs, and the
limits hold for both.
"""

import json
import os
import selectors
import time
from collections import deque
from typing import Any

from nbformat import NotebookNode
from papermill.engines import Engine, NotebookExecutionManager, papermill_engines

from kafkalearn.grading.engines.limits import ended_in_words, stopped_in_words
from kafkalearn.grading.engines.outputs import Lines, add_output, message_of
from kafkalearn.grading.engines.runner import Ran, hung, run_papermill
from kafkalearn.grading.exercise import Exercise, tags_of
from kafkalearn.grading.isolation.walls import IsolationError, SandboxedProcess, ServerPool
from kafkalearn.grading.judging.judge_server import JudgeServer, TooManyChecksError

_CHUNK = 2**16
_MOST_HEARD = 64 * 2**20  # bytes of answers to the judge
_PATIENCE_SECONDS = 2.0


class StoppedError(EOFError):
    """The notebook goes no further; the message says why, up to the name of the cell."""


class _CellEndedError(EOFError):
    """The cell is over; nobody will answer the judge any more."""


class Conversation:
    """What the judge's process and a submission's say to each other; a Stream of its checks."""

    def __init__(self, process: SandboxedProcess, exercise: Exercise, *, seed: int) -> None:
        self.process = process
        self.limits = exercise.limits
        self.judge = JudgeServer(self, exercise, seed=seed)
        self.total_deadline = time.monotonic() + self.limits.total_seconds
        self.cell_deadline: float | None = None
        self.cells, self.checks = Lines(), Lines()
        self.messages: deque[dict[str, Any]] = deque()
        self.notebook: NotebookNode | None = None
        self.begun: NotebookNode | None = None
        self.executed, self.deaf = 0, False
        self.selector = selectors.DefaultSelector()
        for each in (process.cells, process.checks, process.control):
            self.selector.register(each, selectors.EVENT_READ)
        for each in (process.cells, process.checks):
            each.settimeout(self.limits.cell_seconds)

    def run(self, cell: NotebookNode) -> None:
        """Run a cell to its end, with its outputs; StoppedError if there is no going on."""
        self.begun, self.judge.cell = cell, cell.id
        self.cell_deadline = time.monotonic() + self.limits.cell_seconds
        cell.outputs = []
        try:
            self.process.cells.sendall(json.dumps({"source": cell.source}).encode() + b"\n")
        except OSError:
            raise self._gone() from None
        while not self._done(cell):
            if self.checks.whole:
                try:
                    self.judge.hear()
                except _CellEndedError:
                    pass
                except TooManyChecksError:
                    raise self._stopped("checks") from None
                except OSError:
                    raise self._gone() from None
            else:
                self._listen()

    def _done(self, cell: NotebookNode) -> bool:
        while self.messages:
            message = self.messages.popleft()
            if "done" in message:
                error = message["done"]
                if isinstance(error, dict):
                    name, value = (str(error.get(key)) for key in ("ename", "evalue"))
                    output = {"output_type": "error", "ename": name, "evalue": value}
                    cell.outputs.append(output | {"traceback": [value]})
                self.executed += 1
                cell.execution_count = self.executed
                self.judge.cell = ""
                return True
            add_output(cell, message)
        return False

    def readline(self, size: int) -> bytes:
        """Give the next line of the checks, as long as the cell runs."""
        while not self.checks.whole:
            if self.deaf or any("done" in message for message in self.messages):
                raise _CellEndedError
            self._listen()
        return self.checks.whole.pop(0)[:size]

    def write(self, data: bytes) -> int:
        """Send to whoever checks."""
        self.process.checks.sendall(data)
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def _listen(self) -> None:
        """Wait until something has come, or a limit is reached."""
        now = time.monotonic()
        if now >= self.total_deadline:
            raise self._stopped("time")
        if self.cell_deadline and now >= self.cell_deadline:
            self.cell_deadline = None
            self.process.interrupt()
        until = min(self.cell_deadline or self.total_deadline, self.total_deadline)
        for key, _ in self.selector.select(until - now):
            if key.fileobj is self.process.control:
                self.process.notice()
                raise self._gone()
            lines = self.cells if key.fileobj is self.process.cells else self.checks
            if data := os.read(key.fd, _CHUNK):
                lines.add(data)
            elif lines is self.cells:
                raise self._gone()
            else:  # Its checks will fail by themselves.
                self.deaf = True
                self.selector.unregister(self.process.checks)
        self.messages += map(message_of, self.cells.whole)
        self.cells.whole.clear()
        if self.cells.total > self.limits.output_kb * 1024:
            raise self._stopped("output")
        if self.checks.total > _MOST_HEARD:
            raise self._stopped("answers")

    def _stopped(self, why: str) -> StoppedError:
        return StoppedError(stopped_in_words(why, self.limits))

    def _gone(self) -> StoppedError:
        ending = self.process.end(patience_seconds=_PATIENCE_SECONDS)
        return StoppedError(ended_in_words(ending, self.limits))


class ForkEngine(Engine):  # type: ignore[misc]
    """Runs the cells in a conversation; stops at the first error, as notebooks do."""

    @classmethod
    def execute_managed_notebook(
        cls,
        nb_man: NotebookExecutionManager,
        kernel_name: str,
        *,
        conversation: Conversation,
        **_: Any,
    ) -> None:
        """Run each code cell; a cell tagged raises-exception may fail."""
        conversation.notebook = nb_man.nb
        for cell in nb_man.nb.cells:
            tags = tags_of(cell)
            if cell.cell_type != "code" or not cell.source.strip() or "skip-execution" in tags:
                continue
            conversation.run(cell)
            failed = any(output["output_type"] == "error" for output in cell.outputs)
            if (failed and "raises-exception" not in tags) or hung(cell):
                break


papermill_engines.register("fork", ForkEngine)


class ForkRunner:
    """Runs notebooks in processes of fork servers; a server stays for the next of its kind."""

    def __init__(self, protections: frozenset[str]) -> None:
        self._servers = ServerPool(protections)

    def execute(self, notebook: NotebookNode, exercise: Exercise, *, seed: int) -> Ran:
        """Run it as the Engine protocol says."""
        process = self._servers.of(exercise.lent_modules).start(exercise.limits)
        conversation, stop = Conversation(process, exercise, seed=seed), ""
        try:
            run_papermill(notebook, "fork", seed=seed, conversation=conversation)
        except StoppedError as error:
            stop = str(error)
        finally:
            conversation.selector.close()
            process.end()
        executed = conversation.notebook
        if executed is None:
            raise IsolationError("papermill did not come to the first cell")
        return Ran(executed, conversation.judge.verdicts, conversation.begun, stop)

    def close(self) -> None:
        """End the servers, and with them all that they started."""
        self._servers.close()
