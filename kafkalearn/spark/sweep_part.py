"""What an executor does for a sweep: it runs some runs, and gives tables."""

import json
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

from kafkalearn import scenarios
from kafkalearn.spark.sweep_plan import Sweep, sentence
from kafkalearn.trace import COLUMNS
from kafkalearn.trace.tables import to_arrow

if TYPE_CHECKING:
    import pyarrow

RUN = "run_id string, scenario string, seed bigint, settings string, part bigint, events bigint"
FAILURE = "scenario string, seed bigint, settings string, part bigint, error string, message string"
_ROW_GROUP = 50_000

FILES = ("failures", "events", "runs")  # written in this order: a part with `runs` is finished
Files = dict[str, bytes]
Tables = dict[str, "pyarrow.Table"]


def run_part(sweep: Sweep, part: int, *, numbers: Sequence[int]) -> Tables:
    """Run some runs of a part, one after the other; those that fail are rows too."""
    events, runs, failures = [], [], []
    for number in numbers:
        seed, settings = sweep.arguments(number)
        try:
            trace = scenarios.run(sweep.scenario, seed=seed, **settings)
        except Exception as error:
            failures.append(failure(sweep, part, number=number, error=error))
            continue
        # What Trace itself hands to Parquet: a way by files or pandas would slow the sweep.
        table = to_arrow(trace.run_id, map(trace._column, COLUMNS)).replace_schema_metadata(None)
        events.append((trace.run_id, table))
        known = {"run_id": trace.run_id, "events": len(trace)}
        runs.append(_row(sweep, part, number) | known)
    in_order = [table for _, table in sorted(events, key=lambda each: each[0])]
    return tables(in_order, runs=runs, failures=failures)


def failure(sweep: Sweep, part: int, *, number: int, error: Exception) -> dict[str, Any]:
    """Tell of a run that failed."""
    why = {"error": type(error).__name__, "message": sentence(error)}
    return _row(sweep, part, number) | why


def _row(sweep: Sweep, part: int, number: int) -> dict[str, Any]:
    seed, settings = sweep.arguments(number)
    return {
        "scenario": sweep.scenario,
        "seed": seed,
        "settings": json.dumps(settings, ensure_ascii=False),
        "part": part,
    }


def tables(
    events: list["pyarrow.Table"], *, runs: list[dict[str, Any]], failures: list[dict[str, Any]]
) -> Tables:
    """Make the tables of runs, in their order."""
    import pyarrow

    empty = to_arrow("", [[] for _ in COLUMNS]).replace_schema_metadata(None)
    return {
        "events": pyarrow.concat_tables([empty, *events]),
        "runs": pyarrow.Table.from_pylist(runs, arrow_schema(RUN)),
        "failures": pyarrow.Table.from_pylist(failures, arrow_schema(FAILURE)),
    }


def arrow_schema(schema: str) -> "pyarrow.Schema":
    """Give a schema of text and numbers as Arrow has it."""
    import pyarrow

    types = {"string": pyarrow.string(), "bigint": pyarrow.int64()}
    names = [column.split() for column in schema.split(", ")]
    return pyarrow.schema([(name, types[type_]) for name, type_ in names])


def as_files(found: Tables) -> Files:
    """Give each table as the content of a Parquet file."""
    import pyarrow.parquet

    files = {name: BytesIO() for name in FILES}
    for name, file in files.items():
        pyarrow.parquet.write_table(
            found[name],
            file,
            compression="zstd",
            row_group_size=_ROW_GROUP,
            write_page_checksum=True,
        )
    return {name: file.getvalue() for name, file in files.items()}


def together(found: Sequence[Files]) -> Files:
    """Put the files of several runs into those of one part."""
    import pyarrow.parquet

    def read(name: str) -> "pyarrow.Table":
        parts = [pyarrow.parquet.read_table(BytesIO(files[name])) for files in found]
        return pyarrow.concat_tables(parts)

    return as_files({name: read(name) for name in FILES})
