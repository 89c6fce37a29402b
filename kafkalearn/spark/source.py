"""A topic as a source for Spark, batch and stream: ``spark.read.format("kafkalearn")``.

It reads as Spark reads Kafka: by partition, with Spark's own offsets and checkpoint, in assign mode
and with no group. The topic is a `TopicFolder` that the driver can read; executors get rows through
Spark, and in a stream no more of them at a time than ``maxOffsetsPerTrigger``.

Options, named as Spark's for Kafka: ``path`` (the folder) and ``topic``; ``startingOffsets``,
``endingOffsets`` (batch only): ``earliest``, ``latest`` or JSON like ``{"orders": {"0": 5}}``, with
-2 for earliest and -1 for latest; ``maxOffsetsPerTrigger``; ``failOnDataLoss`` (default true).

Source: Spark's Structured Streaming + Kafka Integration Guide (4.x), for the options and columns.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from kafkalearn.errors import ConfigError
from kafkalearn.spark.read_plan import Offsets, ReadPlan, Rows, shared

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

RECORDS = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, "
    "headers array<struct<key: string, value: binary>>"
)


def register(spark: "SparkSession") -> None:
    """Let a session know the format ``kafkalearn``; its executors get this package along."""
    from kafkalearn.spark.shipped import packed

    spark.sparkContext.addPyFile(str(packed()))
    spark.dataSource.register(TopicSource)


class TopicSource(DataSource):
    """The format ``kafkalearn``. Errors: ConfigError for an option that is wrong or missing."""

    @classmethod
    def name(cls) -> str:
        """How it is asked for."""
        return "kafkalearn"

    def schema(self) -> str:
        """Spark's columns for Kafka, but for timestampType: it would always be CreateTime."""
        return RECORDS

    def reader(self, schema: "StructType") -> DataSourceReader:
        """Read what is there now."""
        return _BatchReader(ReadPlan(self.options))

    def streamReader(self, schema: "StructType") -> DataSourceStreamReader:  # noqa: N802
        """Read on and on."""
        return _StreamReader(ReadPlan(self.options))


class _BatchReader(DataSourceReader):
    def __init__(self, plan: ReadPlan) -> None:
        self._plan = plan

    def partitions(self) -> Sequence[InputPartition]:
        start = self._plan.resolve("startingOffsets", self._plan.starting or "earliest")
        return self._plan.inputs(start, self._plan.resolve("endingOffsets", self._plan.ending))

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        assert isinstance(partition, Rows)
        return partition.rows()


class _StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets are those of Spark's Kafka source: ``{"orders": {"0": 12}}``, the next to be read."""

    def __init__(self, plan: ReadPlan) -> None:
        self._plan = plan
        self._target: Offsets | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        return self._told(self._plan.resolve("startingOffsets", self._plan.starting or "latest"))

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        limit = self._plan.max_offsets
        return ReadMaxRows(limit) if limit else ReadAllAvailable()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        begin = self._heard(start)
        end = self._target if self._target is not None else self._plan.latest()
        begin = {number: begin.get(number, self._start_of(number)) for number in {**begin, **end}}
        if isinstance(limit, ReadMaxRows):
            end = shared(begin, end, limit=limit.max_rows)
        return self._told({**begin, **end})

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._target = self._plan.latest()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        return self._plan.inputs(self._heard(start), self._heard(end))

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        assert isinstance(partition, Rows)
        return partition.rows()

    def _start_of(self, number: int) -> int:
        return self._plan.earliest().get(number, 0)

    def _told(self, offsets: Offsets) -> dict[str, Any]:
        return {self._plan.topic: {str(number): at for number, at in sorted(offsets.items())}}

    def _heard(self, told: dict[str, Any]) -> Offsets:
        if self._plan.topic not in told:
            raise ConfigError(
                f"the checkpoint is of {', '.join(told)}, and the topic is {self._plan.topic}: use "
                "another checkpoint"
            )
        return {int(number): int(at) for number, at in told[self._plan.topic].items()}
