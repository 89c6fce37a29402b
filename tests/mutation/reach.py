"""Which test reaches which line of a package, and what each costs: measured once per state."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.mutation.mutants import Mutant

# Processor seconds as measured, which costs twice what running does.
QUICK_SECONDS = 3.0
THOROUGH_SECONDS = 20.0
MOST_FILES = 5  # to import one with its cases costs as much as many tests
AT_IMPORT = ""
DEAR = {"slow", "spark", "browser"}
# What runs in the processes that these start is not seen here: they judge what nobody reaches.
IN_OTHER_PROCESSES = tuple(
    f"tests/grading/{test}"
    for test in (
        "test_runner.py::test_a_right_answer_passes_without_any_metadata[fork]",
        "test_runner.py::test_a_notebook_may_use_what_notebooks_offer[fork]",
        "test_runner.py::test_code_that_cannot_be_read_is_shown[fork]",
        "test_runner.py::test_an_error_stops_the_notebook_and_is_repeated[fork]",
        "test_runner.py::test_an_error_stops_the_notebook_and_is_repeated[kernel]",
        "test_loop_host.py::test_what_loops_print_reaches_the_page[processes]",
        "test_isolation.py::test_a_submission_reaches_itself_and_nobody_else",
        "test_isolation.py::test_a_process_finds_a_small_machine_and_its_limits",
        "test_helper.py::test_a_helper_that_fails_repeats_its_last_words",
        "test_helper.py::test_the_same_submission_gets_the_same_rows_again",
    )
)
QUIET = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:nbval")


@dataclass(frozen=True)
class Reach:
    """Of one package: module -> line -> tests; and each test's cost in processor seconds."""

    lines: dict[str, dict[str, list[str]]]
    seconds: dict[str, float]

    @classmethod
    def load(cls, path: Path) -> "Reach":
        """Read what `measure` wrote."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    def tests(self, mutant: Mutant) -> tuple[list[str], list[str]]:
        """Choose who judges first, and who judges what those let live.

        First the cheapest of few files, then all others within THOROUGH_SECONDS. Where only an
        import reaches the place any test may notice, and where nobody does, those that start other
        processes.
        """
        reached, (first, last) = self.lines.get(mutant.module, {}), mutant.lines
        found = {test for line in range(first, last + 1) for test in reached.get(str(line), [])}
        if not found:
            return [test for test in IN_OTHER_PROCESSES if test in self.seconds], []
        found = set(self.seconds) if found == {AT_IMPORT} else found - {AT_IMPORT}
        own = f"/test_{Path(mutant.module).stem}.py"
        reaching = Counter(map(_file, found))
        files = sorted(reaching, key=lambda file: (not file.endswith(own), -reaching[file], file))
        near = {test for test in found if _file(test) in files[:MOST_FILES]}
        quick = self._cheapest(near, QUICK_SECONDS)
        quick.sort(key=lambda test: not _file(test).endswith(own))
        return quick, self._cheapest(found - set(quick), THOROUGH_SECONDS)

    def _cheapest(self, tests: set[str], budget: float) -> list[str]:
        """Choose as many as the budget in seconds allows; one, if each costs more."""
        chosen: list[str] = []
        for test in sorted(tests, key=lambda each: (self.seconds[each], each)):
            budget -= self.seconds[test]
            if budget >= 0 or not chosen:
                chosen.append(test)
        return chosen


def _file(test: str) -> str:
    return test.split("::")[0]


class _Meter:
    """A plugin of pytest: names the running test to coverage.py, and keeps its cost."""

    def __init__(self, coverage: Any) -> None:
        self._coverage = coverage
        self.seconds: dict[str, float] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out what is dear."""
        items[:] = [
            item
            for item in items
            if item.nodeid in IN_OTHER_PROCESSES
            or DEAR.isdisjoint(mark.name for mark in item.iter_markers())
        ]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Measure one test, its fixtures included."""
        before = sum(os.times()[:4])
        self._coverage.switch_context(item.nodeid)
        try:
            return (yield)
        finally:
            self._coverage.switch_context(AT_IMPORT)
            self.seconds[item.nodeid] = sum(os.times()[:4]) - before


def measure(package: str, tests: tuple[str, ...], to: Path) -> int:
    """Run the tests in the working directory, and write what they reach; give pytest's status."""
    from coverage import Coverage

    source = [str(Path("kafkalearn", package).resolve())]
    coverage = Coverage(
        data_file=None, source=source, concurrency=["greenlet", "thread"], config_file=False
    )
    meter = _Meter(coverage)
    coverage.start()
    status = pytest.main([*QUIET, *tests], plugins=[meter])
    coverage.stop()
    data = coverage.get_data()
    lines = {
        Path(file).relative_to(Path.cwd()).as_posix(): {
            line: sorted(names) for line, names in data.contexts_by_lineno(file).items()
        }
        for file in data.measured_files()
    }
    to.write_text(json.dumps({"lines": lines, "seconds": meter.seconds}), encoding="utf-8")
    return int(status)
