"""A class of twenty in a folder, the whole command that grades it, and what must be the same."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from pyarrow import parquet

from tests.grading.submissions import FOLDER, as_bytes, code, notebook

ROOT = Path(__file__).parents[2]
NAME = "41_range_assignor.ipynb"
GRADED = 18  # of the twenty; one holds no notebook, one is none
SLOWEST = re.compile(r"<section><header><h2>The slowest</h2>.*?</section>", re.S)


def hand_in(folder, student, content):
    """A student's submission, as nbgrader lays it out."""
    (folder / student / "ps1").mkdir(parents=True)
    (folder / student / "ps1" / NAME).write_bytes(content)


def build(folder):
    """Right, wrong and slow answers; odd names; what cannot be graded."""
    right = notebook(FOLDER / "solution.ipynb")
    slow = right | {"cells": [code("import time; time.sleep(1)"), *right["cells"]]}
    wrong = sorted((FOLDER / "wrong").glob("*.ipynb"))
    for number in range(6):
        hand_in(folder, f"ann-{number}", as_bytes(right))
        hand_in(folder, f"bob-{number}", wrong[number % len(wrong)].read_bytes())
        hand_in(folder, f"zoe-{number}" if number else "<王>", as_bytes(slow))
    hand_in(folder, "carl", b"print('hello')")
    (folder / "dora").mkdir()


def command(folder, out, *options):
    """The command line that grades it."""
    source = "from kafkalearn.cli import app; app()"
    return [sys.executable, "-c", source, "grade", str(folder), "--out", str(out), *options]


def grade(folder, out, *options, **environment):
    """Run the whole command; give what it said. Two submissions cannot be graded."""
    done = subprocess.run(
        command(folder, out, *options),
        env=os.environ | {"COLUMNS": "300"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    return done.stderr


def started(folder, out, *options, **environment):
    """Begin to grade, and come back when its first submissions are done and more are not."""
    before = len(journal(out))
    process = subprocess.Popen(
        command(folder, out, *options),
        env=os.environ | {"COLUMNS": "300"} | environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    patience = time.monotonic() + 400
    while len(journal(out)) == before and process.poll() is None and time.monotonic() < patience:
        time.sleep(0.02)
    return process


def journal(out):
    """The keys of what was graded so far, in order."""
    path = out / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    return [json.loads(line)["key"] for line in lines if line.endswith(b"\n")]


def written(out):
    """Everything that a run wrote but its journal, without what was measured in seconds."""
    files = {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name != "journal.jsonl"
    }
    files["grades.csv"] = re.sub(rb",[0-9.]+\r\n", b"\r\n", files["grades.csv"])
    files["class.html"] = SLOWEST.sub("", files["class.html"].decode()).encode()
    table = parquet.read_table(out / "grades.parquet").drop_columns("seconds")
    files["grades.parquet"] = repr(table.to_pylist()).encode()
    return files


def spark_home(folder):
    """PySpark's own folder by links: workers write below it, which is no place for a test's."""
    import pyspark

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for entry in Path(pyspark.__file__).parent.iterdir():
        (folder / entry.name).symlink_to(entry)
    return str(folder)
