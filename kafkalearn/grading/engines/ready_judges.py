"""Judges that are started before somebody needs them, and handed over when somebody does.

Spark takes seconds to start, in which a judge's process can import all that it needs. Who takes a
judge is another process, which Spark started and not we: a socket in a folder of ours is the door.
"""

import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, Thread

from kafkalearn.grading.engines.judge_process import JudgeProcess, LostError
from kafkalearn.grading.exercise import Exercise
from kafkalearn.grading.handed_in.collect import Submission

READY_SECONDS = 10.0  # for a judge to get ready; who waits for it then starts one itself
_END_SECONDS = 5.0  # for a judge to end, once it is killed


@contextmanager
def ready_judges(count: int, exercise: Exercise, *, engine: str, trusted: bool) -> Iterator[str]:
    """Start judges that have each graded once; give the address to `take` them from, or ''.

    Those that nobody took end with the block. Where this cannot be had, everybody starts their own.
    """
    door = _door(count)
    if door is None:
        yield ""
        return
    try:
        for _ in range(count):
            door.open_for(exercise, engine, trusted)
        yield door.address
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


def _door(count: int) -> "_Door | None":
    if not count or not hasattr(socket, "AF_UNIX"):
        return None
    try:
        return _Door(count)
    except OSError:  # The folder's name is too long for a socket, say.
        return None


class _Door:
    """Where judges are handed over; there is no trace of it once the last has gone."""

    def __init__(self, count: int) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="kl-", ignore_cleanup_errors=True)
        self.address = str(Path(self._folder.name, "door"))
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.bind(self.address)
            self._socket.listen()
        except OSError:
            self._shut()
            raise
        self._lock = Lock()
        self._threads: list[Thread] = []
        self._left, self._is_closed = count, False
        self._waiting: set[JudgeProcess] = set()
        # Who took one can see how it ended as long as its starter, which is us, has not asked.
        self._handed_over: list[JudgeProcess] = []

    def open_for(self, exercise: Exercise, engine: str, trusted: bool) -> None:
        """Start a judge, and hand it over once it has graded the exercise's starter."""
        how = exercise, engine, trusted
        self._threads.append(Thread(target=self._prepare, args=how, daemon=True))
        self._threads[-1].start()

    def _prepare(self, exercise: Exercise, engine: str, trusted: bool) -> None:
        starter = Submission("", exercise.name, exercise.files["starter.ipynb"].encode())
        judge: JudgeProcess | None = None
        try:
            judge = self._started(engine, trusted)
            judge.grade(starter, exercise, seed=0, within_seconds=READY_SECONDS)
            with self._socket.accept()[0] as connection, self._lock:
                judge.hand_over(connection)
                self._waiting.discard(judge)
                self._handed_over.append(judge)
                judge = None
        except (LostError, OSError):
            pass  # It is of no use, or nobody wants it any more.
        finally:
            if judge is not None:
                judge.kill()
            with self._lock:
                self._left -= 1
                if not self._left:
                    self._shut()

    def _started(self, engine: str, trusted: bool) -> JudgeProcess:
        with self._lock:
            if self._is_closed:
                raise LostError("is not wanted any more")
            judge = JudgeProcess.start(engine, trusted)
            self._waiting.add(judge)
            return judge

    def close(self) -> None:
        """Let nobody in any more, and end who still waits for that."""
        with self._lock:
            self._is_closed = True
            for judge in self._waiting:
                judge.end()
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(_END_SECONDS)
        self._shut()

    def _shut(self) -> None:
        self._socket.close()
        self._folder.cleanup()
