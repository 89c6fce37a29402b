"""What reading logs costs: lines per second of a large log, Spark's start apart."""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kafkalearn.spark.logs.importing import import_logs
from kafkalearn.spark.session import spark_session
from tests.bench.measure import Row, milliseconds

DATA = Path(__file__).parents[1] / "spark" / "logs" / "data"
MANY = 500_000


def rows() -> Iterator[Row]:
    """Every case, as it is measured."""
    spark = spark_session("local[2]")
    try:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "large.log"
            lines = written(log)
            taken, _ = milliseconds(
                lambda: import_logs(spark, [log], out=Path(folder) / "out"), rounds=1
            )
            notes = {"lines": f"{lines:,}", "MB": f"{log.stat().st_size / 1e6:.0f}"}
            yield Row("logs, reading", lines / taken * 1000, "lines a second", None, notes=notes)
    finally:
        spark.stop()


def written(log: Path) -> int:
    """Write the log of many groups, one after another; give its lines."""
    text = (DATA / "librdkafka_range_A.log").read_text()
    count = text.count("\n")
    with log.open("w") as large:
        for number in range(MANY // count):
            large.write(_as_group(text, number))
    return MANY // count * count


def _as_group(text: str, number: int) -> str:
    """Tell the story of another group and client, some minutes later."""
    later = re.sub(r"\|(\d{10})\.", lambda at: f"|{int(at[1]) + 60 * number}.", text)
    return later.replace("raw-range", f"group-{number}").replace("A#", f"A{number}#")
