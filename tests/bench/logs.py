"""What reading logs costs: lines per second of a large log, and what each line more takes.

Spark's start is apart. What it takes to plan is not, so that a line more costs less than the first.
"""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from kafkalearn.spark.logs.importing import import_logs
from kafkalearn.spark.session import spark_session
from tests.bench.measure import Row, milliseconds

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DATA = Path(__file__).parents[1] / "spark" / "logs" / "data"
FEW, MANY = 200_000, 600_000


def rows() -> Iterator[Row]:
    """Every case, as it is measured."""
    spark = spark_session("local[2]")
    try:
        with tempfile.TemporaryDirectory() as folder:
            # The first one is for Java, which learns.
            _, (few, begin), (lines, taken) = (
                measured(spark, Path(folder), about) for about in (FEW, FEW, MANY)
            )
            each = (taken - begin) / (lines - few) * 1000
            notes = {"lines": f"{lines:,}", "each line more": f"{each:.0f} µs"}
            yield Row("logs, reading", lines / taken * 1000, "lines a second", None, notes=notes)
    finally:
        spark.stop()


def measured(spark: "SparkSession", folder: Path, about: int) -> tuple[int, float]:
    """Import a log of so many lines; give how many they are, and milliseconds."""
    log = folder / "large.log"
    lines = written(log, about)
    out = Path(tempfile.mkdtemp(dir=folder))
    taken, _ = milliseconds(lambda: import_logs(spark, [log], out=out), rounds=1)
    return lines, taken


def written(log: Path, about: int) -> int:
    """Write the log of many groups, one after another; give its lines."""
    text = (DATA / "librdkafka_range_A.log").read_text()
    count = text.count("\n")
    with log.open("w") as large:
        for number in range(about // count):
            large.write(_as_group(text, number))
    return about // count * count


def _as_group(text: str, number: int) -> str:
    """Tell the story of another group and client, some minutes later."""
    later = re.sub(r"\|(\d{10})\.", lambda at: f"|{int(at[1]) + 60 * number}.", text)
    return later.replace("raw-range", f"group-{number}").replace("A#", f"A{number}#")
