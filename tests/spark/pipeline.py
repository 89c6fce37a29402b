"""A small sweep and all tables of it, on whichever master; as a program it prints them as JSON."""

import json
import sys
from pathlib import Path

import pyarrow.parquet

from kafkalearn.spark.events import events
from kafkalearn.spark.session import quick_session
from kafkalearn.spark.sweep import begin, run_parts
from kafkalearn.spark.sweep_part import FILES
from kafkalearn.spark.sweep_plan import Sweep
from kafkalearn.spark.tables import all_tables

SWEEP = Sweep("crash_before_commit", range(3), {"commit_mode": ["sync", "async", "x"]})


def told(spark, out):
    """Sweep into a folder; give the rows of its files, as they lie there, and of each table."""
    for _ in run_parts(spark, SWEEP, parts=begin(SWEEP, out), out=out):
        pass
    files = {name: pyarrow.parquet.read_table(out / name).to_pylist() for name in FILES}
    with all_tables(events(spark, out)) as tables:
        rows = {name: table.toArrow().to_pylist() for name, table in tables.items()}
    return files | {name: sorted(rows[name], key=repr) for name in rows}


if __name__ == "__main__":
    session = quick_session(sys.argv[1])
    print(json.dumps(told(session, Path(sys.argv[2]))))
    session.stop()
