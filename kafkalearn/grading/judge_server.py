"""The judge behind a socket: it lives in the runner's process, and alone decides a grade."""

import socketserver
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

from kafkalearn.grading.exercise import Exercise, ExerciseError
from kafkalearn.grading.judge import Verdict, decide
from kafkalearn.grading.wire import WireError, receive, send


class JudgeServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Hears checks over a socket; `verdicts` holds each check's last one, None while undecided."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, socket: Path, exercise: Exercise, *, seed: int) -> None:
        self.exercise = exercise
        self.seed = seed
        self.verdicts: dict[str, Verdict | None] = {}
        super().__init__(str(socket), _Hearing)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Leave the check undecided when a learner's process breaks off or talks nonsense."""
        print(f"judge: {sys.exception()!r:.300}", file=sys.stderr)


class _Hearing(socketserver.StreamRequestHandler):
    """One connection: one check."""

    server: JudgeServer
    wbufsize = -1

    def handle(self) -> None:
        server = self.server
        name = str(receive(self.rfile).get("check"))
        exercise_name, _, check = name.partition("/")
        try:
            if exercise_name != server.exercise.name:
                raise ExerciseError(
                    f"this notebook is graded as {server.exercise.name}, not {exercise_name}"
                )
            server.exercise.check(check)
        except ExerciseError as error:
            send(self.wfile, {"passed": False, "text": str(error)})
            return
        server.verdicts[check] = None
        verdict = decide(server.exercise, check, seed=server.seed, ask=self._ask)
        server.verdicts[check] = verdict
        send(self.wfile, {"passed": verdict.passed, "text": verdict.text})

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        send(self.wfile, message)
        try:
            return receive(self.rfile)
        except WireError as error:
            return {"refused": str(error)}


@contextmanager
def judge_server(socket: Path, exercise: Exercise, *, seed: int) -> Iterator[JudgeServer]:
    """Hear checks at `socket` until the block ends."""
    with JudgeServer(socket, exercise, seed=seed) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
