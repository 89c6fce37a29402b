"""Starts Spark quietly, on any master, on a machine that may have no Java and no network.

The JVM keeps the file descriptors that it was started with, so they point at a log file while it
starts: nothing of it reaches a terminal or a cell's output.
"""

import atexit
import os
import re
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from subprocess import Popen
from traceback import walk_tb
from typing import IO, TYPE_CHECKING

from kafkalearn.spark.java import JavaNotFoundError, java_home, sharing_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TAIL_LINES = 15
_LONGEST_PLACE = 50  # characters of a temporary folder: some 100 are allowed, and Spark adds 50
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Files are here, where they are listed sooner than a job is begun that lists them.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "10000",
}

# Where the driver's Java has little to do, to translate its code well costs more than it gains.
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
FEW_ROWS = {
    "spark_driver_extraJavaOptions": QUICK_JAVA,
    "spark_sql_adaptive_enabled": "false",
    "spark_sql_shuffle_partitions": "2",
    "spark_sql_codegen_wholeStage": "false",
    "spark_sql_codegen_factoryMode": "NO_CODEGEN",
}
"""Settings for where preparing a job, or Java's compiler, would cost more than the job."""


class SparkStartError(RuntimeError):
    """Spark did not start, or was lost; the message ends with what its log says."""


def spark_session(master: str | None = None, **settings: str) -> "SparkSession":
    """Give the running session, or a new one on `master`: spark-submit's, else all cores here.

    settings: Spark's keys with `_` for `.`, as in ``spark_sql_shuffle_partitions="1"``.
    Errors: SparkStartError with the end of the log.
    """
    from pyspark.sql import SparkSession

    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    if master is None and not submitted:
        master = "local[*]"
    builder = SparkSession.builder.appName("kafkalearn")
    given = {key.replace("_", "."): value for key, value in settings.items()}
    # With options of a caller's own it is they that count, and they come after these.
    shared = {"spark.driver.defaultJavaOptions": sharing_options()}
    for key, value in (SETTINGS | _own_sockets(master) | shared | given).items():
        builder = builder.config(key, value)
    if master is not None:
        builder = builder.master(master)
    with tempfile.NamedTemporaryFile(prefix="kafkalearn-spark-", suffix=".log") as log:
        try:
            if not submitted and SparkSession.getActiveSession() is None:
                _prepare_environment(master or "")
            with _quietly(log):
                return builder.getOrCreate()
        except JavaNotFoundError as error:
            raise SparkStartError(str(error)) from None
        except (KeyboardInterrupt, SystemExit) as error:
            _end_java(error)
            raise
        except Exception as error:
            raise SparkStartError(
                f"Spark did not start on {master}: {first_line(error)}{_tail(log.name)}"
            ) from error


def quick_session(master: str = "local[2]") -> "SparkSession":
    """Give the running session, or a new one for few rows."""
    return spark_session(master, **FEW_ROWS)


def local_cores(master: str | None) -> int:
    """Count the cores that a local master uses; 0 for one that is elsewhere."""
    if master is None:
        master = "" if "PYSPARK_GATEWAY_PORT" in os.environ else "local[*]"
    found = re.fullmatch(r"local(?:\[(\*|\d+)(?:,\d+)?\])?", master)
    if found is None:
        return 0
    return (os.cpu_count() or 1) if found[1] == "*" else int(found[1] or 1)


def _own_sockets(master: str | None) -> dict[str, str]:
    """Let Java and the Pythons here talk through sockets in a folder, where that can be had.

    Over TCP, Spark's default, a job of a few rows takes twice as long.
    """
    is_short = len(tempfile.gettempdir()) <= _LONGEST_PLACE
    if not (local_cores(master) and is_short and hasattr(socket, "AF_UNIX")):
        return {}
    name = "spark.python.unix.domain.socket"
    return {f"{name}.enabled": "true", f"{name}.dir": _socket_folder()}


@cache
def _socket_folder() -> str:
    """Make the folder, which nobody else may enter; Spark leaves sockets behind in it."""
    folder = tempfile.mkdtemp(prefix="kafkalearn-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def check_running(spark: "SparkSession", *, doing: str, error: BaseException) -> None:
    """SparkStartError if a job failed because Spark itself was lost."""
    context = spark.sparkContext._jsc
    try:
        is_lost = context is None or context.sc().isStopped()
    except Exception:  # There is no Java to ask.
        is_lost = True
    if is_lost:
        raise SparkStartError(f"Spark was lost while it {doing}: {first_line(error)}")


def _end_java(error: BaseException) -> None:
    """Kill the Java that PySpark was starting: that the start was broken off it never hears."""
    for frame, _ in walk_tb(error.__traceback__):
        process = frame.f_locals.get("proc")
        if frame.f_code.co_name == "launch_gateway" and isinstance(process, Popen):
            process.kill()
            process.wait()


def _prepare_environment(master: str) -> None:
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local"):
        # Names and addresses of this machine may not resolve, or only with a network.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ.setdefault("SPARK_LOCAL_HOSTNAME", "localhost")


@contextmanager
def _quietly(log: IO[bytes]) -> Iterator[None]:
    """Point the descriptors 1 and 2 at the log, for a child that keeps them."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = {descriptor: os.dup(descriptor) for descriptor in (1, 2)}
    try:
        for descriptor in kept:
            os.dup2(log.fileno(), descriptor)
        yield
    finally:
        for descriptor, copy in kept.items():
            os.dup2(copy, descriptor)
            os.close(copy)


def first_line(error: BaseException) -> str:
    """Give the part of one of Spark's long messages that people can read."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def first_cause(error: BaseException) -> str:
    """Give what Java says that an error came from, or else its first line."""
    cause = re.search(r"\bjava\.[\w.]+(?:Exception|Error): .*", str(error))
    return cause[0] if cause else first_line(error)


def _tail(log: str) -> str:
    """The last lines of the log, without Java's stack frames."""
    lines = Path(log).read_text(encoding="utf-8", errors="replace").splitlines()
    told = [line for line in lines if not line.startswith("\tat ")][-TAIL_LINES:]
    return "".join(f"\n  {line}" for line in ["Its log ends with:", *told]) if told else ""
