"""What the data pipeline costs: all tables by Spark and by pandas, and the runs of a sweep."""

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pandas
import pyarrow
import pyarrow.parquet

from kafkalearn import scenarios
from kafkalearn.spark.session import spark_session
from tests.bench import pandas_tables
from tests.bench.measure import Row, peak_megabytes

MILLIONS = tuple(map(int, os.environ.get("PIPELINE_MILLIONS", "1,5,20").split(",")))
PANDAS_UP_TO = 5  # millions of events: beyond that it needs more memory than a laptop has
SEEDS = 50
RUNS = 1_500  # of a few hundred, most is Spark getting ready
COUNTED = ["events", "members", "rebalances", "unowned_ms", "delivered", "duplicated", "most_lag"]


def rows() -> Iterator[Row]:
    """Every case, as it is measured."""
    # The JVM starts once in a process, so that its memory is set before anything else starts it.
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", "--driver-memory 2g pyspark-shell")
    costs = {}
    for millions in MILLIONS:
        with tempfile.TemporaryDirectory() as folder:
            events = written(Path(folder), millions * 1_000_000)
            taken, used_mb, found = by_spark(Path(folder))
            costs[millions] = taken / events
            notes = {"Spark": f"{taken:.1f} s", "most memory of the driver": f"{used_mb:,.0f} MB"}
            case = f"pipeline, all tables of {events / 1e6:,.0f} million events"
            yield Row(f"{case}, events a second", events / taken, "events", None, notes=notes)
            if millions <= PANDAS_UP_TO:
                peer, same = by_pandas(Path(folder))
                assert same == found, f"Spark counts {found}, pandas {same}"
                notes |= {"pandas": f"{peer:.1f} s"}
                aim = 1.0 if millions >= 5 else None
                yield Row(f"{case}, pandas", peer / taken, "times", aim, True, notes)
    if len(costs) > 1:
        first, *_, last = costs.values()
        yield Row("pipeline, cost of an event of the most, to the fewest", last / first, "times", 1)
    yield from sweeping()


def written(folder: Path, events: int) -> int:
    """Write about so many events of a sweep: 200 runs, again and again under other ids."""
    runs = _runs()
    lengths = [run.num_rows for run in runs]
    together = pyarrow.concat_tables(runs)
    place = together.schema.get_field_index("run_id")
    for turn in range(max(1, round(events / together.num_rows))):
        names = [_with_seed(run["run_id"][0].as_py(), turn) for run in runs]
        ids = pyarrow.concat_arrays(map(pyarrow.repeat, names, lengths))
        table = together.set_column(place, "run_id", ids)
        pyarrow.parquet.write_table(table, folder / f"{turn:06}.parquet", compression="zstd")
    return (turn + 1) * together.num_rows


@cache
def _runs() -> list[pyarrow.Table]:
    changes = ("crash", "leave", "join", "slow")
    frames = (
        scenarios.group_changes(seed=seed, change=change).to_pandas()
        for seed in range(SEEDS)
        for change in changes
    )
    return [pyarrow.Table.from_pandas(each).replace_schema_metadata(None) for each in frames]


def _with_seed(run_id: str, turn: int) -> str:
    """Give the id that a run would have with another seed."""
    name, seed, rest = re.split(r"seed=(\d+)", run_id)
    return f"{name}seed={int(seed) + SEEDS * turn}{rest}"


def by_spark(folder: Path) -> tuple[float, float, list[int]]:
    """Make all tables of a folder, and write them as Parquet: seconds, MB of the JVM, COUNTED."""
    from kafkalearn.spark.events import events
    from kafkalearn.spark.tables import all_tables, commits

    spark = spark_session()
    read = events(spark, folder)
    commits(read).count()  # the first query of a session pays for its start
    began = time.perf_counter()
    with all_tables(read) as tables:
        for name, table in tables.items():
            table.write.mode("overwrite").parquet(str(folder / "spark" / name))
    taken = time.perf_counter() - began
    used_mb = peak_megabytes(spark._jvm.java.lang.ProcessHandle.current().pid())
    spark.stop()
    found = pandas.read_parquet(folder / "spark" / "run_summary", columns=COUNTED)
    shutil.rmtree(folder / "spark")
    return taken, used_mb, [int(found[name].sum()) for name in COUNTED]


def by_pandas(folder: Path) -> tuple[float, list[int]]:
    """Do the same with pandas."""
    began = time.perf_counter()
    frame = pandas.read_parquet([*sorted(folder.glob("*.parquet"))])
    for name, table in pandas_tables.tables(frame):
        table.to_parquet(folder / f"{name}.pandas")
    return time.perf_counter() - began, [int(table[name].sum()) for name in COUNTED]


def sweeping() -> Iterator[Row]:
    """Simulations a second, with one core and with two."""
    from kafkalearn.spark.sweep import begin, run_parts
    from kafkalearn.spark.sweep_plan import Sweep

    speeds = {}
    for cores in (1, 2):
        spark = spark_session(f"local[{cores}]")
        with tempfile.TemporaryDirectory() as folder:
            warm = Sweep("group_changes", range(10), {"members": [3]})
            list(
                run_parts(spark, warm, parts=begin(warm, Path(folder, "w")), out=Path(folder, "w"))
            )
            sweep, out = Sweep("group_changes", range(RUNS), {}), Path(folder, "out")
            parts = begin(sweep, out)
            began = time.perf_counter()
            list(run_parts(spark, sweep, parts=parts, out=out))
            speeds[cores] = RUNS / (time.perf_counter() - began)
        spark.stop()
    notes = {f"{cores} cores": f"{speed:.0f} runs/s" for cores, speed in speeds.items()}
    yield Row("sweep, two cores to one", speeds[2] / speeds[1], "times", 1.8, True, notes)
