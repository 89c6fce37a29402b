"""Spark starts quietly on a machine that has no Java of its own."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from kafkalearn.spark.session import (
    SparkStartError,
    _end_java,
    check_running,
    first_cause,
    local_cores,
)

pytestmark = [pytest.mark.spark, pytest.mark.slow]

JOB = """
import os
from kafkalearn.spark.session import spark_session
spark = spark_session()
rows = spark.range(7).mapInArrow(lambda batches: batches, "id long").count()
print(rows, spark.sparkContext.master, "kafkalearn-java-" in os.environ["JAVA_HOME"])
spark.stop()
"""


def tools_without_java(folder):
    """A folder of links to all programs on the PATH but Java."""
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).glob("*"):
            link = folder / program.name
            if program.name != "java" and not link.is_symlink():
                link.symlink_to(program)
    return folder


def test_pips_java_runs_a_job_and_says_nothing(tmp_path):
    """With an empty home, no JAVA_HOME and no java on the PATH, only the job is heard."""
    (tmp_path / "home").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", JOB],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path / "home",
        env={
            "PATH": str(tools_without_java(tmp_path / "bin")),
            "HOME": str(tmp_path / "home"),
            "JAVA_TOOL_OPTIONS": os.environ["JAVA_TOOL_OPTIONS"],
        },
    )
    assert (done.stdout, done.stderr) == ("7 local[*] True\n", "")
    assert list((tmp_path / "home").iterdir()) == []


def test_a_master_that_is_none_fails_with_the_end_of_the_log(tmp_path):
    """What Spark wrote before it gave up is part of the error, Java's stack frames are not."""
    source = (
        "from kafkalearn.spark.session import SparkStartError, spark_session\n"
        "try:\n    spark_session('nonsense://x')\n"
        "except SparkStartError as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("Spark did not start on nonsense://x:")
    assert "Master must either be yarn or start with spark, k8s, or local" in done.stdout
    assert "\tat " not in done.stdout
    assert done.stderr == ""


def test_only_a_local_master_uses_cores_of_this_machine(monkeypatch):
    """As Spark reads the master's name; what spark-submit starts is where that says."""
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    masters = {None: 6, "local": 1, "local[*]": 6, "local[3]": 3, "local[2,4]": 2, "local[*,2]": 6}
    masters |= {"local-cluster[2,1,1024]": 0, "spark://local:7077": 0, "yarn": 0, "local[x]": 0}
    assert {master: local_cores(master) for master in masters} == masters
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert local_cores(None) == 0


def test_a_start_that_is_broken_off_leaves_no_java():
    """What PySpark was starting then would never hear that nobody waits for it."""
    from pyspark.java_gateway import launch_gateway as theirs

    code = theirs.__code__
    assert "proc" in code.co_varnames + code.co_cellvars  # as in the one below

    def launch_gateway():
        proc = subprocess.Popen(["sleep", "600"])
        started.append(proc)
        raise KeyboardInterrupt

    started = []
    with pytest.raises(KeyboardInterrupt) as broken_off:
        launch_gateway()
    _end_java(broken_off.value)
    assert started[0].returncode == -signal.SIGKILL


def test_a_spark_whose_java_is_gone_is_lost():
    """Whether it stopped, or nobody answers; as long as it runs, an error is but an error."""

    def context(is_stopped):
        return SimpleNamespace(sparkContext=SimpleNamespace(_jsc=is_stopped))

    def refuse():
        raise ConnectionRefusedError("[Errno 111]")

    running = SimpleNamespace(sc=lambda: SimpleNamespace(isStopped=lambda: False))
    stopped = SimpleNamespace(sc=lambda: SimpleNamespace(isStopped=lambda: True))
    check_running(context(running), doing="graded", error=ValueError("a row"))
    for lost in (None, stopped, SimpleNamespace(sc=refuse)):
        with pytest.raises(SparkStartError, match=r"^Spark was lost while it graded: a row$"):
            check_running(context(lost), doing="graded", error=ValueError("a row"))


def test_of_javas_words_the_cause_is_what_one_can_act_on():
    """The first that is not Spark's own; without one, the first line."""
    told = (
        "An error occurred while calling z.\n: org.apache.spark.SparkException: Job aborted, most "
        'recent failure: (localhost executor driver): java.io.IOException: Cannot run program "p"'
        "\n\tat java.base/java.lang.X\nCaused by: java.io.IOException: error=2"
    )
    assert first_cause(ValueError(told)) == 'java.io.IOException: Cannot run program "p"'
    assert first_cause(ValueError("no\nJava")) == "no"
