"""Finds the processes that a session's submissions left behind."""

from contextlib import suppress
from pathlib import Path

from kafkalearn.grading.wire import JUDGE_ADDRESS

MARK = "KAFKALEARN_TEST_SESSION"


def judged_processes(mark: str) -> list[str]:
    """Ids of the processes that were given a judge's address and inherited this mark."""
    wanted = {f"{MARK}={mark}".encode()}
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # It has ended, or is somebody else's.
            entries = environment.read_bytes().split(b"\0")
            address = any(entry.startswith(f"{JUDGE_ADDRESS}=".encode()) for entry in entries)
            if address and wanted <= set(entries):
                found.append(environment.parent.name)
    return found
