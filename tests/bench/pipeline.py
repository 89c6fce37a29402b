"""What the data pipeline costs: all tables by Spark and by pandas, and the runs of a sweep."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pandas
import pyarrow
import pyarrow.parquet

from kafkalearn import scenarios
from kafkalearn.spark.session import spark_session
from tests.bench import pandas_tables
from tests.bench.measure import Row

MILLIONS = tuple(map(int, os.environ.get("PIPELINE_MILLIONS", "1,5,20").split(",")))
PANDAS_UP_TO = 5  # millions of events: beyond that it needs more memory than a laptop has
FILE = 500_000
RUNS = 400
COUNTED = ["events", "members", "rebalances", "unowned_ms", "delivered", "duplicated", "most_lag"]


def rows() -> Iterator[Row]:
    """Every case, as it is measured."""
    # The JVM starts once in a process, so that its memory is set before anything else starts it.
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", "--driver-memory 2g pyspark-shell")
    speeds = {}
    for millions in MILLIONS:
        with tempfile.TemporaryDirectory() as folder:
            events = written(Path(folder), millions * 1_000_000)
            taken, found = by_spark(Path(folder))
            notes = {"Spark": f"{taken:.1f} s"}
            speeds[millions] = events / taken
            case = f"pipeline, all tables of {events / 1e6:,.0f} million events"
            yield Row(f"{case}, events a second", speeds[millions], "events", None, notes=notes)
            if millions <= PANDAS_UP_TO:
                peer, same = by_pandas(Path(folder))
                assert same == found, f"Spark counts {found}, pandas {same}"
                notes |= {"pandas": f"{peer:.1f} s"}
                aim = 1.0 if millions >= 5 else None
                yield Row(f"{case}, pandas", peer / taken, "times", aim, True, notes)
    if len(speeds) > 1:
        first, *_, last = speeds.values()
        growth = first / last
        yield Row("pipeline, cost of an event of the most, to the fewest", growth, "times", 1.0)
    yield from sweeping()


def written(folder: Path, events: int) -> int:
    """Write so many events: group_changes of some seeds, whose runs are copied under new ids."""
    made = [
        scenarios.group_changes(seed=seed, change=change).to_pandas()
        for seed in range(5)
        for change in ("crash", "leave", "join", "slow")
    ]
    count, turn = 0, 0
    while count < events:
        copies = []
        while (size := sum(map(len, copies))) < FILE and count + size < events:
            copies += [each.assign(run_id=f"{each.run_id[0]} copy={turn}") for each in made]
            turn += 1
        count += size
        table = pyarrow.Table.from_pandas(pandas.concat(copies), preserve_index=False)
        path = folder / f"{turn:06}.parquet"
        pyarrow.parquet.write_table(table.replace_schema_metadata(None), path, compression="zstd")
    return count


def by_spark(folder: Path) -> tuple[float, list[int]]:
    """Make all tables of a folder, and write them as Parquet: seconds, and COUNTED in all runs."""
    from kafkalearn.spark.events import events
    from kafkalearn.spark.tables import TABLES

    spark = spark_session()
    read = events(spark, folder)
    TABLES["commits"][0](read).count()  # the first query of a session pays for its start
    began = time.perf_counter()
    for name, (table, _) in TABLES.items():
        table(read).write.mode("overwrite").parquet(str(folder / "spark" / name))
    taken = time.perf_counter() - began
    spark.stop()
    found = pandas.read_parquet(folder / "spark" / "run_summary", columns=COUNTED)
    shutil.rmtree(folder / "spark")
    return taken, [int(found[name].sum()) for name in COUNTED]


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
