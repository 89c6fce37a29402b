"""Grades a submission in a process of its own: a fresh interpreter that shares nothing.

``python -m kafkalearn.grading.helper`` reads a request from stdin and writes grades to stdout, as
JSON.
"""

import base64
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import kafkalearn
from kafkalearn.grading.collect import Submission
from kafkalearn.grading.exercise import Exercise
from kafkalearn.grading.grades import Grade, not_run
from kafkalearn.grading.lending import python_path
from kafkalearn.grading.wording import clean

GRACE_SECONDS = 30  # beyond the exercise's own limit, before the helper itself is given up
TAIL = 300  # characters of the helper's last words that a reason repeats


def grade_in_helper(submission: Submission, exercise: Exercise, *, seed: int) -> list[Grade]:
    """Grade one submission; if the helper dies or never ends it is killed, and the rows say so."""
    request = {
        "student": submission.student,
        "exercise": exercise.name,
        "files": dict(exercise.files),
        "content": base64.b64encode(submission.content).decode(),
        "seed": seed,
    }
    with TemporaryDirectory(prefix="kl-", ignore_cleanup_errors=True) as name:
        room = Path(name)
        (room / "request").write_text(json.dumps(request), encoding="utf-8")
        ended = _run(room, exercise.total_seconds + GRACE_SECONDS)
        if ended == 0:
            return [Grade(*row) for row in json.loads((room / "grades").read_bytes())]
        last_words = clean((room / "log").read_text(errors="replace")[-TAIL:])
    reason = f"the grading process {_how(ended)}; its last words: {last_words}"
    return not_run(submission.student, exercise, reason=reason)


def _run(room: Path, limit_seconds: float) -> int | None:
    """Give the exit status of a helper that leaves nothing outside of `room`; None if killed."""
    environment = os.environ | {
        # The helper imports the same kafkalearn as we do, wherever that came from.
        "PYTHONPATH": python_path(Path(kafkalearn.__file__).parent.parent),
        "TMPDIR": str(room),
    }
    # Files, not pipes: a process that a submission left behind may hold a pipe open for ever.
    with (
        (room / "request").open("rb") as stdin,
        (room / "grades").open("wb") as stdout,
        (room / "log").open("wb") as stderr,
    ):
        process = subprocess.Popen(
            [sys.executable, "-m", "kafkalearn.grading.helper"],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env=environment,
            cwd=room,
            start_new_session=True,
        )
    try:
        return process.wait(limit_seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _how(ended: int | None) -> str:
    if ended is None:
        return "did not end within its limit and was killed"
    return f"was killed by signal {-ended}" if ended < 0 else f"failed with status {ended}"


def main() -> None:
    """Read a request, grade it, write the rows."""
    # Whatever libraries and kernels print goes to stderr; only the rows reach the real stdout.
    results = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    # jsonschema, if it can, spends seconds on a grammar of addresses that no notebook needs.
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
    from kafkalearn.grading.runner import run

    request = json.load(sys.stdin)
    exercise = Exercise.of(request["exercise"], request["files"])
    content = base64.b64decode(request["content"])
    submission = Submission(request["student"], exercise.name, content)
    with results:
        json.dump(run(submission, exercise, seed=request["seed"]), results)


if __name__ == "__main__":
    main()
