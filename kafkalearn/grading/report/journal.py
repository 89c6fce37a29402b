"""What a run has graded so far, in a file that survives the run: JSON Lines, appended at once."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from kafkalearn.grading.grades import Grade
from kafkalearn.grading.handed_in.collect import Submission

FILE = "journal.jsonl"


class JournalBusyError(RuntimeError):
    """Another run writes into the same folder now."""


def key(submission: Submission, files: Mapping[str, str], *settings: object) -> str:
    """Name a submission by all that its grades depend on, its content first."""
    named = json.dumps([submission.student, submission.exercise, sorted(files.items()), settings])
    digest = blake2b(submission.content, digest_size=16)
    digest.update(named.encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


class Journal:
    """Holds grades by key, on disk: memory keeps where each stands.

    dropped: how many graded submissions of an earlier run were thrown away, as nobody resumes.
    Errors: OSError; JournalBusyError if another run holds it.
    """

    def __init__(self, folder: Path, *, resume: bool) -> None:
        self._file = (folder / FILE).open("a+b")
        try:
            _lock(self._file.fileno())
            self._places: dict[str, int] = {}
            end = 0
            for place, line in self._lines():
                end = place + len(line)
                with suppress(ValueError, TypeError, KeyError):  # damaged: it is graded again
                    entry = json.loads(line)
                    _grades(entry)
                    self._places[str(entry["key"])] = place
            self.dropped = 0 if resume else len(self._places)
            if not resume:
                self._places.clear()
            # What was being written when a run was killed goes, or it would spoil the next line.
            self._file.truncate(end if resume else 0)
        except BaseException:
            self._file.close()
            raise

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        self._file.seek(0)
        place = 0
        for line in self._file:
            if line.endswith(b"\n"):
                yield place, line
            place += len(line)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # of a full disk `add` has told; nothing else is left to write
            self._file.close()

    def find(self, key: str) -> int | None:
        """The place of what was graded under this key; None if nothing was."""
        return self._places.get(key)

    def add(self, key: str, grades: list[Grade]) -> int:
        """Append and give the place; a run that is killed afterwards keeps it."""
        place = self._file.seek(0, os.SEEK_END)
        line = json.dumps({"key": key, "grades": grades})
        self._file.write(line.encode() + b"\n")
        self._file.flush()
        self._places[key] = place
        return place

    def grades(self, place: int) -> list[Grade]:
        """Read what stands at a place."""
        self._file.seek(place)
        return _grades(json.loads(self._file.readline()))


def _grades(entry: dict[str, Any]) -> list[Grade]:
    return [Grade(*row) for row in entry["grades"]]


def _lock(descriptor: int) -> None:
    """Hold the file until it is closed or this process ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # Windows: nobody is kept from running twice
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise JournalBusyError("another run is grading into this folder") from None
