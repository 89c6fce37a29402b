"""Runs tests on a changed copy of the project, each run in a fork of this process.

A fork begins with pytest and its helpers imported, but with nothing of the project: what it
imports, and what it starts, finds the changed file on disk.
"""

import contextlib
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import hypothesis
import pytest

from tests.mutation.mutants import ROOT, Mutant
from tests.mutation.reach import QUIET

NOT_COPIED = shutil.ignore_patterns(".git", ".venv", "build", "node_modules", "*.pyc", ".*_cache")
MEMORY_BYTES = 6 * 2**30
OURS = {"kafkalearn", "tests", "conftest"}


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: "killed", "timed out", "survived" or "not covered"."""

    mutant: Mutant
    outcome: str


class Copy:
    """A copy of the project, in which one module at a time is changed."""

    def __init__(self, folder: Path, *, project: Path = ROOT) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(project, folder, ignore=NOT_COPIED)
        self.folder = folder

    def change(self, module: str, source: str) -> None:
        """Write a module, so that no compiled one of before is taken for it."""
        path = self.folder / module
        path.write_text(source, encoding="utf-8")
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()

    def fork(self, run: Callable[[], int]) -> int:
        """Begin `run` in a process of its own, whose project this copy is; give its pid."""
        pid = os.fork()
        if not pid:
            status = 1
            try:
                self._settle()
                status = run()
            finally:
                os._exit(status)
        return pid

    def _settle(self) -> None:
        os.setsid()
        os.chdir(self.folder)
        output = os.open(f"{self.folder}.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.path[:] = [str(self.folder), *(path for path in sys.path if Path(path) != ROOT)]
        os.environ |= {"PYTHONPATH": str(self.folder), "CI": "1"}
        for name in [name for name in sys.modules if name.split(".")[0] in OURS]:
            del sys.modules[name]


class _Chosen:
    """A plugin of pytest: runs these tests alone, in this order, and shrinks no counterexample."""

    def __init__(self, tests: list[str]) -> None:
        self._rank = {test: rank for rank, test in enumerate(tests)}

    def pytest_collection(self) -> None:
        """Change hypothesis's settings after conftest.py, before a test module reads them."""
        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        hypothesis.settings.register_profile(
            "mutation", hypothesis.settings.get_profile("kafkalearn"), phases=phases
        )
        hypothesis.settings.load_profile("mutation")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out all others."""
        chosen = [item for item in items if item.nodeid in self._rank]
        items[:] = sorted(chosen, key=lambda item: self._rank[item.nodeid])


def run_tests(tests: list[str]) -> int:
    """Run tests in the working directory until one fails; give pytest's status."""
    files = list(dict.fromkeys(test.split("::")[0] for test in tests))
    return int(pytest.main([*QUIET, "-x", *files], plugins=[_Chosen(tests)]))


@dataclass
class _Running:
    mutant: Mutant
    copy: Copy
    original: str
    until: float
    outcome: str = ""


def judge(
    cases: Iterable[tuple[Mutant, list[str], float]], copies: list[Copy]
) -> Iterator[Verdict]:
    """Run each mutant's tests, side by side in `copies`; a case's third is its seconds."""
    free, running, waiting = list(copies), dict[int, _Running](), iter(cases)
    try:
        while True:
            while free and (case := next(waiting, None)):
                mutant, tests, seconds = case
                if not tests:
                    yield Verdict(mutant, "not covered")
                    continue
                pid, begun = _begin(mutant, tests, seconds, copy=free.pop())
                running[pid] = begun
            if not running:
                return
            time.sleep(0.01)
            for pid in [pid for pid, begun in running.items() if _ended(pid, begun)]:
                begun = running.pop(pid)
                begun.copy.change(begun.mutant.module, begun.original)
                free.append(begun.copy)
                yield Verdict(begun.mutant, begun.outcome)
    finally:
        for pid in running:
            os.killpg(pid, signal.SIGKILL)


def _begin(mutant: Mutant, tests: list[str], seconds: float, *, copy: Copy) -> tuple[int, _Running]:
    original = (copy.folder / mutant.module).read_text(encoding="utf-8")
    copy.change(mutant.module, mutant.source)
    processor_seconds = int(5 + 2 * seconds)

    def run() -> int:
        resource.setrlimit(resource.RLIMIT_CPU, (processor_seconds, processor_seconds + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        return run_tests(tests)

    until = time.monotonic() + 6 * processor_seconds
    return copy.fork(run), _Running(mutant, copy, original, until)


def _ended(pid: int, begun: _Running) -> bool:
    """Look whether a process ended or is late; then end what it started, keep the outcome."""
    ended, status = os.waitpid(pid, os.WNOHANG)
    late = not ended and time.monotonic() > begun.until
    if not ended and not late:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    if late:
        os.waitpid(pid, 0)
    late |= os.WIFSIGNALED(status) and os.WTERMSIG(status) in {signal.SIGXCPU, signal.SIGKILL}
    begun.outcome = "timed out" if late else "killed" if status else "survived"
    return True
