"""The judge's process: clean, apart from whoever asks, and kept for the next submission.

``python -m kafkalearn.grading.engines.judge_process`` reads requests from stdin and writes grades
to stdout, one line of JSON each. It ends, and ends all that it started, when nobody is left to ask.
"""

import base64
import json
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import IO, Any

import kafkalearn
from kafkalearn.grading.exercise import Exercise
from kafkalearn.grading.grades import Grade
from kafkalearn.grading.handed_in.collect import Submission
from kafkalearn.grading.isolation import linux
from kafkalearn.grading.isolation.lending import python_path
from kafkalearn.grading.judging.wording import clean

GRACE_SECONDS = 30  # beyond the exercise's own limit, before the process is given up
TAIL = 300  # characters of its last words that a reason repeats
_MOST_TOLD = 2**12  # bytes of a message that hands it over
# What jsonschema and papermill import if it is there, and no notebook needs: a grammar of addresses
# that takes seconds, durations, a file system.
_LEFT_OUT = ("rfc3987_syntax", "isoduration", "pyarrow.fs")


class LostError(Exception):
    """The judge's process gave no grades; the message says what became of it."""


class JudgeProcess:
    """The process as its one asker has it: two pipes, and a folder for all that it leaves on disk.

    starter: None in another process than the one that started it.
    """

    def __init__(
        self,
        pid: int,
        room: Path,
        *,
        requests: IO[bytes],
        answers: IO[bytes],
        starter: subprocess.Popen[bytes] | None = None,
    ) -> None:
        self.pid = pid
        self.room = room
        self._requests = requests
        self._answers = answers
        self._starter = starter
        self._knows: set[str] = set()

    @classmethod
    def start(cls, engine: str, trusted: bool) -> "JudgeProcess":
        """Start one; what keeps it from working shows when it is first asked."""
        room = Path(tempfile.mkdtemp(prefix="kl-"))
        try:
            process = _started_in(room, engine, str(trusted))
        except BaseException:
            shutil.rmtree(room, ignore_errors=True)
            raise
        assert process.stdin
        assert process.stdout
        return cls(
            process.pid, room, requests=process.stdin, answers=process.stdout, starter=process
        )

    def hand_over(self, connection: socket.socket) -> None:
        """Give it to the process at the other end, as its one asker from now on.

        LostError if it has ended meanwhile.
        """
        if self._starter and self._starter.poll() is not None:
            raise LostError(self._how_it_ended())
        told = json.dumps({"pid": self.pid, "room": str(self.room)}).encode()
        pipes = [self._requests.fileno(), self._answers.fileno()]
        socket.send_fds(connection, [told], pipes)
        self._requests.close()
        self._answers.close()

    @classmethod
    def handed_over(cls, connection: socket.socket) -> "JudgeProcess | None":
        """Take one that is handed over; None if the other end has none left."""
        told, descriptors, *_ = socket.recv_fds(connection, _MOST_TOLD, 2)
        if not told:
            return None
        for each in descriptors:
            os.set_inheritable(each, False)
        message = json.loads(told)
        requests, answers = os.fdopen(descriptors[0], "wb"), os.fdopen(descriptors[1], "rb")
        return cls(message["pid"], Path(message["room"]), requests=requests, answers=answers)

    def grade(
        self,
        submission: Submission,
        exercise: Exercise,
        *,
        seed: int,
        within_seconds: float | None = None,
    ) -> list[Grade]:
        """Send a request and wait for its rows; LostError if none come in time.

        within_seconds: by default what the exercise allows, and some more.
        """
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
        if within_seconds is None:
            within_seconds = exercise.limits.total_seconds + GRACE_SECONDS
        deadline = time.monotonic() + within_seconds
        with suppress(BrokenPipeError):  # What became of it shows when its answer is read.
            self._requests.write(json.dumps(request).encode() + b"\n")
            self._requests.flush()
        return [Grade(*row) for row in json.loads(self._line(deadline))]

    def _line(self, deadline: float) -> bytes:
        line = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(self._answers, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                if not selector.select(max(0, deadline - time.monotonic())):
                    raise LostError("did not end within its limit and was killed")
                data = os.read(self._answers.fileno(), 2**16)
                if not data:
                    raise LostError(self._how_it_ended())
                line += data
        return bytes(line)

    def _how_it_ended(self) -> str:
        status = self._starter.wait() if self._starter else linux.exit_status(self.pid)
        how = "has ended"
        if status is not None:
            how = (
                f"was killed by signal {-status}" if status < 0 else f"failed with status {status}"
            )
        words = clean((self.room / "log").read_text(errors="replace")[-TAIL:])
        return f"{how}; its last words: {words}" if words else how

    def end(self) -> None:
        """End it and all that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def kill(self) -> None:
        """End it and all that it started, and remove what it left."""
        self.end()
        with suppress(BrokenPipeError):
            self._requests.close()
        with self._answers:
            self._answers.read()  # To its end, which is the process's.
        if self._starter:
            self._starter.wait()
        shutil.rmtree(self.room, ignore_errors=True)


def _started_in(room: Path, *arguments: str) -> subprocess.Popen[bytes]:
    room.chmod(0o711)  # Processes of other users read what is lent to them.
    with (room / "log").open("wb") as stderr:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            # It imports the same kafkalearn as we do, wherever that came from; and wherever it is
            # started, by Spark or for it, its sets have the same order.
            env=os.environ
            | {
                "PYTHONPATH": python_path(Path(kafkalearn.__file__).resolve().parent.parent),
                "PYTHONHASHSEED": "0",
                "TMPDIR": str(room),
            },
            cwd=room,
            start_new_session=True,
        )


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
