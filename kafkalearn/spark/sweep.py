"""Runs a scenario thousands of times on Spark, and keeps every event as Parquet.

A part is some runs, and a job of its own: its files come back through Spark, and are written here,
whole or not at all. So executors need no shared folder, a part that is finished is never run again,
and whatever happens to one run stays its own.

In the folder: ``sweep.json`` says what is swept. ``events`` has a file for each part, its runs in
the order of run_id: by the statistics of its row groups one run is found without reading the rest.
``runs`` says what was run (RUN), ``failures`` what could not be (FAILURE).
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from kafkalearn.spark.session import check_running, first_line
from kafkalearn.spark.shipped import ship
from kafkalearn.spark.sweep_part import (
    FILES,
    Files,
    as_files,
    failure,
    run_part,
    tables,
    together,
)
from kafkalearn.spark.sweep_plan import Sweep, SweepError
from kafkalearn.trace.jsonl import written_beside

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MOST_JOBS = 256


def begin(sweep: Sweep, out: Path) -> list[int]:
    """Make the folder, or take up an unfinished sweep in it; give the parts that are to be run.

    Errors: SweepError if the folder holds anything else, or cannot be written.
    """
    told, wanted = out / "sweep.json", sweep.as_json()
    try:
        if told.is_file():
            if json.loads(told.read_text(encoding="utf-8")) != json.loads(wanted):
                raise SweepError(f"{out} holds another sweep: {told} says which")
        elif out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise SweepError(f"{out} is neither empty nor the folder of a sweep")
        for name in FILES:
            (out / name).mkdir(parents=True, exist_ok=True)
        for half_written in out.rglob(".*.part"):
            half_written.unlink(missing_ok=True)  # by one that was killed
        with written_beside(told) as beside:
            beside.write_text(wanted, encoding="utf-8")
    except OSError as error:
        raise SweepError(f"{out} cannot be written: {error.strerror or error}") from None
    except ValueError:
        raise SweepError(f"{told} is damaged: it does not say what was swept") from None
    return [part for part in sweep.parts if not _file(out, "runs", part).exists()]


def _file(out: Path, name: str, part: int) -> Path:
    return out / name / f"part-{part:05}.parquet"


def run_parts(
    spark: "SparkSession", sweep: Sweep, *, parts: Sequence[int], out: Path
) -> Iterator[int]:
    """Run as many parts at a time as Spark has cores; give each one's number once it is written.

    Errors: SparkStartError if Spark itself is lost; OSError if a file cannot be written.
    """
    ship(spark.sparkContext)
    waiting = iter(parts)
    running: dict[Future[Files], int] = {}
    pool = ThreadPoolExecutor(_MOST_JOBS)
    try:
        while True:
            free = min(spark.sparkContext.defaultParallelism, _MOST_JOBS) - len(running)
            more = islice(waiting, free)
            running |= {pool.submit(_part, spark, sweep, part=part): part for part in more}
            if not running:
                return
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                part = running.pop(done)
                _write(out, part, files=done.result())
                yield part
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _write(out: Path, part: int, *, files: Files) -> None:
    """Write what a part gave. Most have no failure: the first has a file of the schema at least."""
    for name in FILES:
        file = _file(out, name, part)
        if name == "failures" and part and not _rows(BytesIO(files[name])):
            file.unlink(missing_ok=True)  # of an attempt that was interrupted
        else:
            with written_beside(file) as beside:
                beside.write_bytes(files[name])


def count_rows(out: Path, name: str) -> int:
    """Count all rows of one of FILES in a sweep's folder."""
    return sum(map(_rows, (out / name).glob("part-*.parquet")))


def _rows(file: "Path | BytesIO") -> int:
    import pyarrow.parquet

    return int(pyarrow.parquet.read_metadata(file).num_rows)


def _part(spark: "SparkSession", sweep: Sweep, *, part: int) -> Files:
    """Run a part; if its executor ends with it, run by run, so that only one of them is lost."""
    numbers = sweep.runs_of(part)
    try:
        return _job(spark, sweep, part=part, numbers=numbers)
    except Exception as error:
        check_running(spark, doing="ran the sweep", error=error)
    found = []
    for number in numbers:
        try:
            found.append(_job(spark, sweep, part=part, numbers=[number]))
        except Exception as error:
            check_running(spark, doing="ran the sweep", error=error)
            lost = RuntimeError(f"Spark could not run it: {first_line(error)}")
            row = failure(sweep, part, number=number, error=lost)
            found.append(as_files(tables([], runs=[], failures=[row])))
    return together(found)


def _job(spark: "SparkSession", sweep: Sweep, *, part: int, numbers: Sequence[int]) -> Files:
    """Run some runs of a part on one executor; they come back as Parquet, which is small."""

    def run(_: Iterable[int]) -> Iterator[Files]:
        yield as_files(run_part(sweep, part, numbers=numbers))

    found: list[Files] = spark.sparkContext.range(0, 1, 1, 1).mapPartitions(run).collect()
    return found[0]
