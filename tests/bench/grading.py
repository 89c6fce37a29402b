"""Grading a class: whole commands, beside `nbgrader autograde` on the same notebooks."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.measure import Row, peak_megabytes
from tests.grading.submissions import FOLDER, notebook

NAME = f"{FOLDER.name}.ipynb"
PEERS = 60  # submissions that both grade
CLASS = 1000
NBGRADER = {"schema_version": 3, "grade": False, "locked": False, "solution": False, "task": False}


@dataclass(frozen=True)
class Run:
    """One command: wall time, of which Spark's start, and the driver's peaks of memory in MB."""

    seconds: float
    spark_seconds: float
    python_mb: float
    java_mb: float

    @property
    def own_seconds(self) -> float:
        """Everything but Spark's start."""
        return self.seconds - self.spark_seconds


def rows() -> Iterator[Row]:
    """Every case, as it is measured."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours = _kafkalearn(_class(folder / "few", PEERS), folder / "out-few")
        theirs = _nbgrader(folder / "course")
        yield Row(
            f"grading {PEERS} submissions of exercise 41, nbgrader's time over ours",
            theirs / ours.own_seconds,
            "times",
            50,
            at_least=True,
            notes={
                "kafkalearn": f"{ours.own_seconds / PEERS:.3f} s each without Spark's start",
                "Spark's start": f"{ours.spark_seconds:.1f} s",
                "its whole command": f"{ours.seconds:.1f} s",
                "nbgrader autograde": f"{theirs / PEERS:.3f} s each",
            },
        )
        whole = _kafkalearn(_class(folder / "whole", CLASS), folder / "out-whole")
        start = {"Spark's start, not counted": f"{whole.spark_seconds:.1f} s"}
        case = f"grading {CLASS:,} submissions, one in five wrong"
        yield Row(case, whole.own_seconds, "s", 90, notes=start)
        memory = {
            f"{count:,} submissions": f"{run.python_mb:.0f} MB Python, {run.java_mb:.0f} MB Java"
            for count, run in ((PEERS, ours), (CLASS, whole))
        }
        case = f"grading, the driver's memory with {CLASS:,} over {PEERS} submissions"
        yield Row(case, whole.python_mb / ours.python_mb, "times", 1.2, notes=memory)


def _contents(count: int) -> Iterator[tuple[str, bytes]]:
    right = (FOLDER / "solution.ipynb").read_bytes()
    wrong = [path.read_bytes() for path in sorted((FOLDER / "wrong").glob("*.ipynb"))]
    for number in range(count):
        is_wrong = number % 5 == 4
        yield f"student-{number:04}", wrong[number // 5 % len(wrong)] if is_wrong else right


def _class(folder: Path, count: int) -> Path:
    for student, content in _contents(count):
        (folder / student).mkdir(parents=True)
        (folder / student / NAME).write_bytes(content)
    return folder


def _kafkalearn(submissions: Path, out: Path) -> Run:
    code = "from kafkalearn.cli import app; app()"
    command = [sys.executable, "-c", code, "grade", str(submissions), "--out", str(out)]
    with tempfile.TemporaryFile("w+") as said, ThreadPoolExecutor(1) as beside:
        began = time.perf_counter()
        process = subprocess.Popen(command, stderr=said, env=os.environ | {"COLUMNS": "200"})
        watching = beside.submit(_peaks, process)
        process.wait()
        seconds = time.perf_counter() - began
        python_mb, java_mb = watching.result()
        said.seek(0)
        text = said.read()
    assert process.returncode in (0, 1), text  # 1: a wrong answer stopped its notebook early
    rows = (out / "grades.csv").read_text().count("\n") - 1
    assert rows == 5 * len(list(submissions.iterdir())), "not everything was graded"
    spark = re.search(r"Spark started in ([\d.]+) s", text)
    assert spark, text
    return Run(seconds, float(spark[1]), python_mb, java_mb)


def _peaks(process: subprocess.Popen[bytes]) -> tuple[float, float]:
    """The most MB that a driver's Python and its Java have held. To look now and then is enough."""
    python_mb = java_mb = 0.0
    while process.returncode is None:
        python_mb = max(python_mb, peak_megabytes(process.pid))
        with suppress(OSError):  # It has ended.
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
            java_mb = max([java_mb, *map(peak_megabytes, children.split())])
        time.sleep(0.2)
    return python_mb, java_mb


def _nbgrader(course: Path) -> float:
    """Seconds that nbgrader takes for the same notebooks with the same checks in them."""
    _write(course / "source" / "bench" / NAME, _with_marks(notebook()))
    for student, content in _contents(PEERS):
        submitted = _with_marks(json.loads(content))
        _write(course / "submitted" / student / "bench" / NAME, submitted)
    (course / "nbgrader_config.py").write_text("c = get_config()\n")
    _run_nbgrader(course, "generate_assignment", "bench", "--create", "--force")
    began = time.perf_counter()
    _run_nbgrader(course, "autograde", "bench")
    seconds = time.perf_counter() - began
    graded = len(list((course / "autograded").glob(f"*/bench/{NAME}")))
    assert graded == PEERS, f"nbgrader graded {graded} of {PEERS}"
    return seconds


def _run_nbgrader(course: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "nbgrader", *arguments, f"--course={course}"]
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # it calls alembic
    done = subprocess.run(
        command,
        cwd=course,
        env=os.environ | {"PATH": programs},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def _with_marks(book: dict[str, Any]) -> dict[str, Any]:
    """Mark the answer and the checks as nbgrader wants them; the cells stay as they are."""
    for cell in book["cells"]:
        tags = cell["metadata"].get("tags", [])
        marks = NBGRADER | {"grade_id": cell["id"], "cell_type": cell["cell_type"]}
        if "answer" in tags:
            cell["metadata"]["nbgrader"] = marks | {"solution": True}
        elif "check" in tags:
            cell["metadata"]["nbgrader"] = marks | {"grade": True, "locked": True, "points": 2}
    return book


def _write(path: Path, book: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(book), encoding="utf-8")
