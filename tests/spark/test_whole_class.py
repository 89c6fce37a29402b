"""One class, graded by whole commands: undisturbed, killed in the middle, and on clusters.

A sweep and its tables are the same on each of these, too.
"""

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import psutil
import pytest

from kafkalearn.spark.java import java_home
from tests.commands import KAFKALEARN
from tests.spark.pipeline import told
from tests.spark.whole_class import (
    GRADED,
    ROOT,
    build,
    grade,
    journal,
    spark_home,
    started,
    written,
)

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def submitted(tmp_path_factory):
    """Twenty students."""
    folder = tmp_path_factory.mktemp("class") / "submitted"
    build(folder)
    return folder


@pytest.fixture(scope="module")
def undisturbed(submitted):
    """What a run on this machine writes that nothing disturbs."""
    out = submitted.parent / "undisturbed"
    grade(submitted, out)
    return written(out)


def test_everybody_gets_the_grade_that_they_must_get(undisturbed):
    """Right, wrong, and what could not be graded; a page for each."""
    rows = [line.split(",")[:6] for line in undisturbed["grades.csv"].decode().splitlines()[1:]]
    status = {(student, check): status for student, _, check, *_, status in rows}
    assert {status[key] for key in status if key[0][:3] in ("ann", "zoe", "<王>")} == {"passed"}
    assert {status["bob-3", "by-name"], status["bob-2", "random-groups"]} == {"failed"}
    assert status["carl", "by-name"] == status["dora", ""] == "not_run"
    pages = [name for name in undisturbed if name.startswith("feedback/")]
    assert len(pages) == 20
    assert "feedback/%3C王%3E.html" in pages


def executors_of(process):
    """The Java processes of Spark's executors on this machine."""
    found = []
    for each in psutil.Process(process.pid).children(recursive=True):
        with suppress(psutil.Error):  # It has ended meanwhile.
            if each.name() == "java" and "CoarseGrainedExecutorBackend" in str(each.cmdline()):
                found.append(each)
    return found


def test_neither_a_killed_driver_nor_a_killed_executor_costs_a_grade(
    submitted, undisturbed, tmp_path
):
    """A run here loses its driver; resumed on Spark's small cluster, it loses an executor too.

    Only what is new is run, all files are the same, nobody is left.
    """
    out = tmp_path / "out"
    process = started(submitted, out)
    others = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate()
    before = journal(out)
    assert 0 < len(before) < GRADED
    assert psutil.wait_procs(others, timeout=60)[1] == []
    assert not (out / "grades.csv").exists()

    small = ["--resume", "--master", "local-cluster[2,1,1024]"]
    process = started(submitted, out, *small, SPARK_HOME=spark_home(tmp_path / "spark"))
    executors = executors_of(process)
    assert len(executors) == 2
    executors[0].kill()
    _, said = process.communicate()
    assert process.returncode == 1, said
    after = journal(out)
    assert (after[: len(before)], len(set(after)), len(after)) == (before, GRADED, GRADED)
    assert written(out) == undisturbed


@pytest.fixture(scope="module")
def swept_here(spark, tmp_path_factory):
    """What a sweep and its tables give on two cores of this machine."""
    return told(spark, tmp_path_factory.mktemp("here"))


def swept_on(master, out, **environment):
    """What they give on another master, in a driver of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.pipeline", master, str(out)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_sparks_small_cluster_sweeps_alike(swept_here, tmp_path):
    """In processes of their own, on this machine."""
    spark = spark_home(tmp_path / "spark")
    assert swept_on("local-cluster[2,1,1024]", tmp_path / "out", SPARK_HOME=spark) == swept_here


@contextmanager
def cluster(folder, *, hidden):
    """A master and two workers, for whom some folders are empty; give the master's address."""
    java = {"JAVA_HOME": str(java_home()), "SPARK_HOME": spark_home(folder / "spark")}
    environment = os.environ | java | {"SPARK_LOCAL_IP": "127.0.0.1"}
    program = [f"{java['SPARK_HOME']}/bin/spark-class"]
    here = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
    mounts = " && ".join(f"mount -t tmpfs none '{each}'" for each in hidden)
    hide = ["unshare", "--mount", "sh", "-c", f'{mounts} && exec "$@"', "sh"]
    log = folder / "master.log"
    processes = []

    def start(*command, to):
        with to.open("wb") as file:
            processes.append(
                subprocess.Popen(command, env=environment, stdout=file, stderr=file, cwd=folder)
            )

    try:
        start(*program, "org.apache.spark.deploy.master.Master", *here, to=log)
        address = heard(log, "Starting Spark master at ")
        for number in range(2):
            worker = ["org.apache.spark.deploy.worker.Worker", address, *here]
            size = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / "work")]
            to = folder / f"worker{number}.log"
            start(*hide, *program, *worker, *size, to=to)
        for number in range(2):
            heard(folder / f"worker{number}.log", "Successfully registered with master")
        yield address
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()


def heard(log, words):
    """Wait until a log says this; give what follows on the line."""
    patience = time.monotonic() + 400
    while time.monotonic() < patience:
        text = log.read_text()
        if words in text:
            return text.split(words)[1].split()[0]
        time.sleep(0.1)
    raise AssertionError(f"{log} does not say {words!r}:\n{log.read_text()}")


@pytest.fixture(scope="module")
def address(submitted, tmp_path_factory):
    """A real master and two real workers, of pip's PySpark, that see nothing of the driver's."""
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode:
        pytest.skip("this user may not hide a folder from the workers")
    hidden = [submitted.parent, ROOT / "kafkalearn", ROOT / "exercises"]
    with cluster(tmp_path_factory.mktemp("cluster"), hidden=hidden) as address:
        yield address


def test_a_cluster_that_sees_nothing_of_the_drivers_folder_grades_alike(
    address, submitted, undisturbed, tmp_path
):
    """It has no exercises and no kafkalearn either."""
    said = grade(submitted, tmp_path / "out", "--master", address, SPARK_LOCAL_IP="127.0.0.1")
    assert "sandbox" in said
    assert written(tmp_path / "out") == undisturbed


def test_a_cluster_that_sees_nothing_of_the_drivers_folder_sweeps_alike(
    address, submitted, swept_here
):
    """The same rows in the same files, and the same tables of them."""
    assert all(swept_here.values())
    out = submitted.parent / "swept"
    assert swept_on(address, out, SPARK_LOCAL_IP="127.0.0.1") == swept_here


def test_a_cluster_that_sees_nothing_of_the_drivers_folder_is_not_given_logs(address, submitted):
    """Its workers would write what they read to folders of their own."""
    log, out = submitted.parent / "c1.log", submitted.parent / "imported"
    log.write_text("2026-11-27 22:26:03,001 INFO Kafka startTimeMs: 1\n")
    done = subprocess.run(
        [*KAFKALEARN, "logs", str(log), "--out", str(out), "--master", address],
        env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 2, done.stderr
    assert f"do not see {submitted.parent}: put the logs and --out where" in done.stderr
    assert not out.exists()
