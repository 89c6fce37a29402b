"""What reading logs costs: lines per second of a large log, Spark's start apart."""

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
    lines = (DATA / "librdkafka_range_A.log").read_text().splitlines(keepends=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "large.log"
            with log.open("w") as large:
                for _ in range(MANY // len(lines)):
                    large.writelines(lines)
            taken, _ = milliseconds(
                lambda: import_logs(spark, [log], out=Path(folder) / "out"), rounds=1
            )
            yield Row(
                "logs, reading",
                MANY // len(lines) * len(lines) / taken * 1000,
                "lines a second",
                None,
            )
    finally:
        spark.stop()
