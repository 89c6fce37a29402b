"""Java's archive of the classes that Spark needs: with it Spark starts, and prepares, in less time.

``python -m kafkalearn.spark.class_archive`` makes it, once for an environment: Spark runs a small
sweep and its report, and Java writes down what it loaded for that (Application Class Data Sharing,
JEP 310 and 350). A Java or a Spark that the archive is not of does without.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from kafkalearn.spark.java import ARCHIVE, ARCHIVE_FILES, JavaNotFoundError, java_home, sharing

_PATIENCE_SECONDS = 300


def main() -> int:
    """Make the archive, whole or not at all; 1 with a sentence if that cannot be."""
    from kafkalearn.spark.session import SparkStartError, first_line

    try:
        java = java_home() / "bin" / "java"
        ARCHIVE.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=ARCHIVE) as folder:
            files = [Path(folder, name) for name in ARCHIVE_FILES]
            _run(java, "-Xshare:dump", f"-XX:SharedArchiveFile={files[0]}")
            _use_spark(f"-XX:SharedArchiveFile={files[0]} -XX:ArchiveClassesAtExit={files[1]}")
            _run(java, sharing(files), "-version")  # What is damaged would stop every Java.
            for file in files:
                file.replace(ARCHIVE / file.name)
    except (OSError, subprocess.SubprocessError, JavaNotFoundError, SparkStartError) as error:
        print(f"no archive was made, and Spark will do without: {first_line(error)}")
        return 1
    return 0


def _run(*command: object) -> None:
    subprocess.run([*map(str, command)], check=True, capture_output=True, timeout=_PATIENCE_SECONDS)


def _use_spark(options: str) -> None:
    """Do with Spark what commands do, and let its Java end in good order: only then it writes."""
    from pyspark import SparkContext

    from kafkalearn.spark.report import gather
    from kafkalearn.spark.session import FEW_ROWS, QUICK_JAVA, spark_session
    from kafkalearn.spark.sweep import begin, run_parts
    from kafkalearn.spark.sweep_plan import Sweep

    quick = FEW_ROWS | {"spark_driver_extraJavaOptions": f"{QUICK_JAVA} {options}"}
    spark = spark_session("local[2]", **quick)
    with TemporaryDirectory() as folder:
        sweep, out = Sweep("consumer_dies", range(1), {}), Path(folder)
        for _ in run_parts(spark, sweep, parts=begin(sweep, out), out=out):
            pass
        gather(spark, out)
    spark.stop()
    gateway = SparkContext._gateway
    assert gateway
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(_PATIENCE_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
