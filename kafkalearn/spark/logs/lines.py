"""Files of logs as rows: one per line, with where it stood, whatever the file is.

Each split of a file is a task of its own (SETTINGS): the number of a line is its place in the task
and the lines of the splits before, which are counted first where a file has several.
"""

import bz2
import gzip
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from kafkalearn.spark.logs.wording import constant

LONGEST = 1_000_000
SPLIT_BYTES = 32 << 20
SETTINGS = {
    "spark.sql.files.maxPartitionBytes": str(SPLIT_BYTES),
    # A file costs as much to open as a whole task may read: so none shares its task.
    "spark.sql.files.openCostInBytes": str(SPLIT_BYTES),
}
_MAGIC = {b"\x1f\x8b": ".gz", b"BZ": ".bz2"}
_ROTATED = r"(?:[-_.](?:\d{4}-?\d\d-?\d\d(?:[-_T]?\d\d)?|\d{1,4})|\.gz|\.bz2|\.log|\.txt|\.out)+$"
_JUNK = r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f\uFEFF\u001F]"


class LogError(Exception):
    """Nothing was read or written; the message says why."""


class Lines(NamedTuple):
    """frame: file, block, place, text: one row per line.

    about: name, source, modified_ms of the file of a row, columns to be added to those of use.
    starts: file, block, earlier (lines before a split); None where no file has several. broken:
    names of files that break off.
    """

    frame: DataFrame
    about: dict[str, Column]
    starts: DataFrame | None
    broken: list[str]


def linked(files: Sequence[Path], folder: Path) -> None:
    """Put a link to each file into `folder`, under a name that means nothing to Spark.

    Whether a file is packed is seen by how it begins, not by its name.
    """
    for number, path in enumerate(files):
        with path.open("rb") as log:
            begin = log.read(2)
        (folder / f"{number:06}{_MAGIC.get(begin, '.log')}").symlink_to(path.resolve())


def read_lines(spark: SparkSession, files: Sequence[Path], *, folder: Path) -> Lines:
    """Read the files that `linked` put into `folder`, each as far as it goes."""
    broken = [str(path) for path in files if not _is_whole(path)]
    reader = spark.read.option("ignoreCorruptFiles", bool(broken))
    read = reader.text(str(folder))
    file = F.substring("_metadata.file_name", 1, 6).cast("int")
    block = F.col("_metadata.file_block_start")

    def told(values: list[object]) -> Column:
        return F.get(constant(values, "\0"), F.col("file"))

    frame = read.select(
        file.alias("file"),
        block.alias("block"),
        F.monotonically_increasing_id().bitwiseAND((1 << 33) - 1).alias("place"),
        clean(F.make_valid_utf8(F.col("value"))).alias("text"),
    )
    about = {
        "name": told([*files]),
        "source": told([source_of(path) for path in files]),
        "modified_ms": told([path.stat().st_mtime_ns // 1_000_000 for path in files]).cast("long"),
    }
    if all(path.stat().st_size <= SPLIT_BYTES for path in files):
        return Lines(frame, about, None, broken)
    # What is before, in this file: an empty split has no lines, and no row.
    before = Window.partitionBy("file").orderBy("block").rowsBetween(Window.unboundedPreceding, -1)
    splits = read.groupBy(file.alias("file"), block.alias("block")).agg(F.count("*").alias("lines"))
    earlier = F.coalesce(F.sum("lines").over(before), F.lit(0))
    starts = splits.select("file", "block", earlier.alias("earlier"))
    return Lines(frame, about, starts, broken)


def numbered(frame: DataFrame, starts: DataFrame | None) -> DataFrame:
    """Turn block and place into `number`, which counts the lines of a file from 1."""
    if starts is None:
        return frame.withColumn("number", F.col("place") + 1).drop("block", "place")
    found = frame.join(F.broadcast(starts), ["file", "block"])
    number = F.col("place") + F.col("earlier") + 1
    return found.withColumn("number", number).drop("block", "place", "earlier")


def source_of(path: Path) -> str:
    """Name what wrote a file: its name without the dates and numbers of rotated files."""
    return re.sub(_ROTATED, "", path.name) or path.name


def clean(text: Column) -> Column:
    """Take away colours, control characters and the zeros of UTF-16."""
    return F.regexp_replace(text, _JUNK, "")


def _is_whole(path: Path) -> bool:
    """Whether a packed file can be unpacked to its end."""
    with path.open("rb") as log:
        kind = _MAGIC.get(log.read(2))
    if kind is None:
        return True
    try:
        with gzip.open(path) if kind == ".gz" else bz2.open(path) as unpacked:
            while unpacked.read(1 << 20):
                pass
    except (OSError, EOFError, ValueError, zlib.error):
        return False
    return True
