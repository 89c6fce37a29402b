"""Grades submissions in a process of its own, the judge's: clean, and kept for the next one.

``python -m kafkalearn.grading.engines.helper`` reads requests from stdin and writes grades to
stdout, one line of JSON each. It ends, and ends all that it started, when its starter is gone.
"""

import base64
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import kafkalearn
from kafkalearn.grading.exercise import Exercise
from kafkalearn.grading.grades import Grade, not_run
from kafkalearn.grading.handed_in.collect import Submission
from kafkalearn.grading.isolation.lending import python_path
from kafkalearn.grading.judging.wording import clean

GRACE_SECONDS = 30  # beyond the exercise's own limit, before the judge's process is given up
TAIL = 300  # characters of its last words that a reason repeats
# What jsonschema and papermill import if it is there, and no notebook needs: a grammar of addresses
# that takes seconds, durations, a file system.
_LEFT_OUT = ("rfc3987_syntax", "isoduration", "pyarrow.fs")


class _LostError(Exception):
    """The judge's process gave no grades; the message says what became of it."""


class GradingHelper:
    """Grades one submission after another; `close` ends every process that it has.

    engine: "fork" runs a notebook in a fork of a prepared interpreter, where Linux has what it
    takes, and "kernel" in a Jupyter kernel of its own. trusted: grade also where submissions cannot
    be isolated.
    """

    def __init__(self, *, engine: str = "fork", trusted: bool = False) -> None:
        self.engine = engine
        self.trusted = trusted
        self._judge: _JudgeProcess | None = None

    def grade(self, submission: Submission, exercise: Exercise, *, seed: int) -> list[Grade]:
        """Give a row for every check; whatever a submission does ends up in their reasons."""
        if self._judge is None:
            self._judge = _JudgeProcess(self.engine, self.trusted)
        try:
            return self._judge.grade(submission, exercise, seed)
        except _LostError as lost:
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
def helper(engine: str, trusted: bool) -> GradingHelper:
    """Give this process's own helper; it ends with us."""
    return GradingHelper(engine=engine, trusted=trusted)


class _JudgeProcess:
    """The process itself, and a folder for everything that it leaves on the disk."""

    def __init__(self, engine: str, trusted: bool) -> None:
        self._folder = TemporaryDirectory(prefix="kl-", ignore_cleanup_errors=True)
        room = Path(self._folder.name)
        room.chmod(0o711)  # Processes of other users read what is lent to them.
        self._log = room / "log"
        self._knows: set[str] = set()
        with self._log.open("wb") as stderr:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__, engine, str(trusted)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                # It imports the same kafkalearn as we do, wherever that came from.
                env=os.environ
                | {
                    "PYTHONPATH": python_path(Path(kafkalearn.__file__).resolve().parent.parent),
                    "TMPDIR": str(room),
                },
                cwd=room,
                start_new_session=True,
            )

    def grade(self, submission: Submission, exercise: Exercise, seed: int) -> list[Grade]:
        """Send a request and wait for its rows; _LostError if none come."""
        files = json.dumps(dict(exercise.files), sort_keys=True)
        key = blake2b(f"{exercise.name}\0{files}".encode()).hexdigest()
        request: dict[str, Any] = {
            "student": submission.student,
            "exercise": exercise.name,
            "key": key,
            "files": None if key in self._knows else dict(exercise.files),
            "content": base64.b64encode(submission.content).decode(),
            "seed": seed,
        }
        self._knows.add(key)
        deadline = time.monotonic() + exercise.limits.total_seconds + GRACE_SECONDS
        assert self._process.stdin
        with suppress(BrokenPipeError):  # What became of it shows when its answer is read.
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        return [Grade(*row) for row in json.loads(self._line(deadline))]

    def _line(self, deadline: float) -> bytes:
        assert self._process.stdout
        line = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                if not selector.select(max(0, deadline - time.monotonic())):
                    raise _LostError("did not end within its limit and was killed")
                data = os.read(self._process.stdout.fileno(), 2**16)
                if not data:
                    raise _LostError(self._how_it_ended())
                line += data
        return bytes(line)

    def _how_it_ended(self) -> str:
        status = self._process.wait()
        how = f"was killed by signal {-status}" if status < 0 else f"failed with status {status}"
        return f"{how}; its last words: {clean(self._log.read_text(errors='replace')[-TAIL:])}"

    def kill(self) -> None:
        """End it and all that it started, and remove what it left."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()
        self._folder.cleanup()


def main() -> None:
    """Grade what is asked for until the other side is gone."""
    # Whatever libraries and kernels print goes to stderr; only the rows reach the real stdout.
    results = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for name in _LEFT_OUT:
        sys.modules[name] = None  # type: ignore[assignment]
    from kafkalearn.grading.engines.choice import engine_called
    from kafkalearn.grading.engines.runner import run

    lines: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_read, args=(lines,), daemon=True).start()
    engine = engine_called(sys.argv[1], trusted=sys.argv[2] == "True")
    exercises: dict[str, Exercise] = {}
    while True:
        request = json.loads(lines.get())
        if request["files"] is not None:
            exercises[request["key"]] = Exercise.of(request["exercise"], request["files"])
        exercise = exercises[request["key"]]
        content = base64.b64decode(request["content"])
        submission = Submission(request["student"], exercise.name, content)
        json.dump(run(submission, exercise, seed=request["seed"], engine=engine), results)
        results.write("\n")
        results.flush()


def _read(lines: "SimpleQueue[bytes]") -> None:
    for line in sys.stdin.buffer:
        lines.put(line)
    # Whoever asked is gone, also in the middle of a submission.
    shutil.rmtree(os.environ["TMPDIR"], ignore_errors=True)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
