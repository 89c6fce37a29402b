"""Events as Spark has them: their schema, reading them back, and refusing what are none."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafkalearn.trace import COLUMNS, REQUIRED
from kafkalearn.trace.text import short

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

TYPES = {name: "bigint" if type_ is int else "string" for name, type_ in COLUMNS.items()}
EVENT = ", ".join(f"{name} {type_}" for name, type_ in TYPES.items())
_OF_ARROW = {"string": "string", "int64": "bigint"}
_WHOLE_NUMBERS = ("tinyint", "smallint", "int", "bigint")


class EventsError(Exception):
    """What was given holds no events; the message says why, and what is allowed."""


def events(spark: "SparkSession", folder: str | os.PathLike[str]) -> "DataFrame":
    """Read the events of a sweep, or any folder of Parquet files of traces, or one such file.

    out: EVENT   one row per event
    Errors: EventsError for no Parquet, other columns, files that differ, a file that is not whole.
    """
    return known(read_parquet(spark, parquet_files(folder, "events")))


def parquet_files(folder: str | os.PathLike[str], part: str) -> list[Path]:
    """List the files of one part of a sweep's folder, or of a plain folder; EventsError if none."""
    root = Path(folder).absolute()  # Java was started in another folder, perhaps.
    if root.is_file():
        return [root]
    place = root / part if (root / part).is_dir() else root
    if not place.is_dir():
        raise EventsError(f"there is no folder or file {place}")
    files = sorted(path for path in place.glob("*.parquet") if path.name[0] not in "._")
    if not files:
        raise EventsError(f"there is no Parquet file in {place}")
    return files


def read_parquet(spark: "SparkSession", files: list[Path]) -> "DataFrame":
    """Read files whose schema is one, see `schema_of`."""
    wanted = schema_of(files)
    if not str(spark.sparkContext.master).startswith("local"):
        return _carried(spark, files)
    # A backslash makes a path of what Spark takes for a pattern.
    paths = ["".join(f"\\{c}" if c in "\\{}[]*?," else c for c in str(each)) for each in files]
    reader = spark.read
    if {*wanted.values()} <= _OF_ARROW.keys():  # else Spark looks into the files, which is a job
        reader = reader.schema(", ".join(f"`{name}` {_OF_ARROW[wanted[name]]}" for name in wanted))
    return reader.parquet(*paths)


def _carried(spark: "SparkSession", files: list[Path]) -> "DataFrame":
    """Take the files to a cluster's executors through Spark: they may not see this folder.

    All of them pass through the driver, and Python reads them: what is large belongs on storage
    that the executors share, where `spark.read.parquet` reads it.
    """
    import pyarrow.parquet
    from pyspark.sql.pandas.types import from_arrow_schema

    def read(batches: Iterable["pyarrow.RecordBatch"]) -> Iterator["pyarrow.RecordBatch"]:
        import pyarrow.parquet

        for batch in batches:
            for content in batch["content"]:
                yield from pyarrow.parquet.ParquetFile(content.as_buffer()).iter_batches()

    contents = [(path.read_bytes(),) for path in files]
    of_each = spark.sparkContext.parallelize(contents, len(contents))
    schema = from_arrow_schema(pyarrow.parquet.read_schema(files[0]))
    return spark.createDataFrame(of_each, "content binary").mapInArrow(read, schema)


def schema_of(files: list[Path]) -> dict[str, str]:
    """Give the columns of whole files; EventsError names the first that is another or damaged.

    Spark itself would take the first one's schema, and give nulls for what another lacks.
    """
    schemas = [(path, _schema(path)) for path in files]
    (first, wanted), *others = schemas
    for path, schema in others:
        if schema != wanted:
            differing = sorted({*schema.items()} ^ {*wanted.items()})[0][0]
            raise EventsError(
                f"{first} and {path} differ: column {differing} is "
                f"{wanted.get(differing, 'missing')} in one and "
                f"{schema.get(differing, 'missing')} in the other"
            )
    return wanted


def _schema(path: Path) -> dict[str, str]:
    import pyarrow
    import pyarrow.parquet

    try:
        schema: Any = pyarrow.parquet.read_schema(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise EventsError(f"{path} is no whole Parquet file: {error}") from None
    return {field.name: str(field.type) for field in schema}


def known(frame: "DataFrame") -> "DataFrame":
    """Give exactly the columns of EVENT; what may be absent and is missing is null.

    Errors: EventsError for a required column that is missing, another one, or another type.
    """
    from pyspark.sql import functions as F  # noqa: N812

    types = dict(frame.dtypes)
    if types == TYPES:
        return frame
    if unknown := [name for name in types if name not in TYPES]:
        raise EventsError(f"{short(unknown[0])} is no column of events: {', '.join(TYPES)} are")
    if missing := [name for name in REQUIRED if name not in types]:
        raise EventsError(f"column {missing[0]} is missing: these are no events")
    for name, type_ in types.items():
        allowed = _WHOLE_NUMBERS if TYPES[name] == "bigint" else ("string",)
        if type_ not in (*allowed, "void"):
            raise EventsError(f"column {name} holds {type_}: {TYPES[name]} is allowed")
    found = {name: F.col(name) if name in types else F.lit(None) for name in TYPES}
    return frame.select(
        *(
            found[name] if types.get(name) == type_ else found[name].cast(type_).alias(name)
            for name, type_ in TYPES.items()
        )
    )
