"""Judges that are started before somebody needs them, and handed over when somebody does.

Spark takes seconds to start, in which a judge's process can import all that it needs. Who takes a
judge is another process, which Spark started and not we: a socket in a folder of ours is the door.
"""

import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Event, Lock, Thread

from kafkalearn.grading.engines.judge_process import JudgeProcess, LostError
from kafkalearn.grading.exercise import Exercise
from kafkalearn.grading.handed_in.collect import Submission

_PATIENCE_SECONDS = 1.0  # for a judge that ends; without us it would end, too


@contextmanager
def ready_judges(count: int, exercise: Exercise, *, engine: str, trusted: bool) -> Iterator[str]:
    """Start judges that have each graded once; give the address to `take` them from, or ''.

    Those that nobody took end with the block. Where this cannot be had, everybody starts their own.
    """
    if not count:
        yield ""
        return
    with tempfile.TemporaryDirectory(prefix="kl-", ignore_cleanup_errors=True) as folder:
        address = str(Path(folder, "door"))
        try:
            door = _Door(address, count)
        except (OSError, AttributeError):  # Its name is too long, or a system has none of its kind.
            yield ""
            return
        for _ in range(count):
            door.open_for(exercise, engine, trusted)
        try:
            yield address
        finally:
            door.close()


def take(address: str) -> JudgeProcess | None:
    """Take a judge, as soon as one is ready; None if there is none left, or no address."""
    if not address:
        return None
    with socket.socket(socket.AF_UNIX) as connection, suppress(OSError):
        connection.connect(address)
        return JudgeProcess.handed_over(connection)
    return None


class _Door:
    """Where judges are handed over; shut when the last has gone."""

    def __init__(self, address: str, count: int) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(address)
        self._socket.listen()
        self._lock = Lock()
        self._left = count
        self._gone: list[Event] = []

    def open_for(self, exercise: Exercise, engine: str, trusted: bool) -> None:
        """Start a judge, and hand it over once it has graded the exercise's starter."""
        gone = Event()
        self._gone.append(gone)
        start = partial(JudgeProcess.start, engine, trusted)
        Thread(target=self._prepare, args=(start, exercise, gone), daemon=True).start()

    def _prepare(self, start: Callable[[], JudgeProcess], exercise: Exercise, gone: Event) -> None:
        starter = exercise.files["starter.ipynb"].encode()
        judge = None
        try:
            judge = start()
            judge.grade(Submission("", exercise.name, starter), exercise, seed=0)
            with self._socket.accept()[0] as connection:
                judge.hand_over(connection)
        except (LostError, OSError):  # It is of no use, or nobody wants it any more.
            if judge:
                judge.kill()
        with self._lock:
            self._left -= 1
            if not self._left:
                self._socket.close()
        gone.set()
        if judge:
            judge.wait()

    def close(self) -> None:
        """Let nobody in any more, and end who still waits for that."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        for each in self._gone:
            each.wait(_PATIENCE_SECONDS)
