"""Sweeps: how one is cut and told, what it writes, and what happens to runs that fail."""

import json
import os
import time
from io import BytesIO
from subprocess import DEVNULL, Popen

import psutil
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from kafkalearn import scenarios
from kafkalearn.cli import app
from kafkalearn.spark.sweep import begin, count_rows
from kafkalearn.spark.sweep_part import FILES, as_files, run_part, tables, together
from kafkalearn.spark.sweep_plan import Sweep, SweepError
from kafkalearn.trace import Trace
from tests.commands import KAFKALEARN

VARY = {"assignor": ["range", "sticky"], "members": [2, 99, 3]}
SWEEP = Sweep("group_changes", range(3, 7), VARY)


def test_every_setting_meets_every_seed_once():
    """The parts hold each run once, and are few: 200 runs each, where there are many."""
    runs = [SWEEP.arguments(each) for part in SWEEP.parts for each in SWEEP.runs_of(part)]
    assert len(runs) == len({str(each) for each in runs}) == SWEEP.runs == 24
    assert runs[0] == (3, {"assignor": "range", "members": 2})
    assert runs[-1] == (6, {"assignor": "sticky", "members": 3})
    many = Sweep("first_member", range(10_000), {})
    assert (len(many.parts), many.runs_of(49)) == (50, range(9800, 10_000))


def test_a_part_has_the_events_of_its_runs_and_a_row_for_each_failure():
    """The events are those of the scenario, run by run, whatever fails between."""
    found = run_part(SWEEP, 1, numbers=range(2, 9))
    assert [row["seed"] for row in found["runs"].to_pylist()] == [5, 6, 3]
    failures = found["failures"].to_pylist()
    assert [(row["seed"], json.loads(row["settings"])["members"]) for row in failures] == [
        (seed, 99) for seed in (3, 4, 5, 6)
    ]
    assert {row["error"] for row in failures} == {"ConfigError"}
    assert failures[0]["message"].startswith("members is 99: 1 to 12 is allowed")
    expected = [scenarios.group_changes(members=2, seed=seed) for seed in (5, 6)]
    expected.append(scenarios.group_changes(members=3, seed=3))
    frame = found["events"].to_pandas()
    for trace in expected:
        assert Trace.from_pandas(frame[frame.run_id == trace.run_id]) == trace
    assert len(frame) == sum(map(len, expected)) == sum(found["runs"]["events"].to_pylist())


def test_parts_that_were_run_run_by_run_are_put_together():
    """One file of each kind, with all rows."""
    each = [as_files(run_part(SWEEP, 0, numbers=[number])) for number in (0, 4)]
    whole = together([*each, as_files(tables([], runs=[], failures=[]))])
    rows = {name: pyarrow.parquet.read_table(BytesIO(whole[name])).num_rows for name in whole}
    assert rows == {
        "events": len(scenarios.group_changes(members=2, seed=3)),
        "runs": 1,
        "failures": 1,
    }


def test_a_folder_is_taken_if_it_is_empty_or_of_the_same_sweep(tmp_path):
    """Anything else in it stays as it was, and is named."""
    out = tmp_path / "new" / "out"
    assert begin(SWEEP, out) == [0, 1, 2, 3, 4]
    (out / "runs" / "part-00001.parquet").write_bytes(b"")
    (out / "runs" / ".part-00002.parquet.77.part").write_bytes(b"half")
    assert begin(SWEEP, out) == [0, 2, 3, 4]
    assert [each.name for each in (out / "runs").iterdir()] == ["part-00001.parquet"]
    with pytest.raises(SweepError, match="holds another sweep"):
        begin(Sweep("group_changes", range(3, 8), VARY), out)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    for folder in (tmp_path / "full", tmp_path / "full" / "mine.txt"):
        with pytest.raises(SweepError, match="neither empty nor"):
            begin(SWEEP, folder)
    assert [each.name for each in (tmp_path / "full").iterdir()] == ["mine.txt"]
    with pytest.raises(SweepError, match="cannot be written"):
        begin(SWEEP, tmp_path / "full" / "mine.txt" / "out")
    (out / "sweep.json").write_text("{")
    with pytest.raises(SweepError, match="is damaged"):
        begin(SWEEP, out)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("nowhere", "'nowhere' is no scenario: first_member"),
        ("first_member --seeds 3:3", "--seeds 3:3 are no seeds"),
        ("first_member --seeds -1:3", "--seeds -1:3 is not understood"),
        ("first_member --seeds 1:2:3", "--seeds 1:2:3 is not understood"),
        ("first_member --seeds 0:99999999", "at most 10,000,000 are allowed"),
        ("first_member --seeds 0:999999999999999999", "at most 10,000,000 are allowed"),
        (f"first_member --seeds 0:{'9' * 5000}", "at most 18 digits are allowed"),
        ("first_member --vary bogus=1,2", "bogus is no setting"),
        ("first_member --vary partitions", "NAME=VALUE,VALUE… is allowed"),
        ("first_member --vary partitions=1,1", "has a value twice"),
        ("first_member --vary partitions=1 --vary partitions=2", "is given twice"),
        ("first_member --vary seed=1,2", "--seeds does that"),
        ("first_member --vary profile=7.7,1.9", "profile is '7.7'"),
        ("first_member --vary partitions={1}", "cannot be kept"),
    ],
)
def test_what_cannot_be_swept_is_refused_in_a_sentence(tmp_path, arguments, said):
    """Status 2, and nothing is written."""
    command = ["sweep", *arguments.split(), "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, command, env={"COLUMNS": "500"})
    assert (result.exit_code, said in result.output) == (2, True), result.output
    assert not (tmp_path / "out").exists()


def swept(spark, sweep, out):
    """Run what is left to run; the numbers of these parts."""
    from kafkalearn.spark.sweep import run_parts

    return sorted(run_parts(spark, sweep, parts=begin(sweep, out), out=out))


@pytest.mark.spark
@pytest.mark.slow
def test_a_sweep_keeps_every_event_and_goes_on_where_it_ended(spark, tmp_path):
    """One run is found by the statistics of one file, and a finished part is not run again."""
    from pyspark.sql import functions as F  # noqa: N812

    from kafkalearn.spark.events import events

    sweep = Sweep("first_member", range(8), {"profile": ["1.0", "2.4"], "partitions": [1]})
    assert swept(spark, sweep, tmp_path) == [0, 1, 2, 3]
    assert (count_rows(tmp_path, "runs"), count_rows(tmp_path, "failures")) == (16, 0)
    wanted = scenarios.first_member(seed=5, profile="2.4", partitions=1)
    rows = events(spark, tmp_path).where(F.col("run_id") == wanted.run_id)
    assert Trace.from_pandas(rows.orderBy("seq").toPandas().convert_dtypes()) == wanted
    assert holding(tmp_path, wanted.run_id) == ["part-00002.parquet"]
    files = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/*.parquet")}
    (tmp_path / "runs" / "part-00002.parquet").unlink()
    (tmp_path / "events" / "part-00002.parquet").unlink()
    assert swept(spark, sweep, tmp_path) == [2]
    again = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/*.parquet")}
    assert (
        sorted(path.name for path in files if files[path] != again[path])
        == ["part-00002.parquet"] * 2
    )
    assert holding(tmp_path, wanted.run_id) == ["part-00002.parquet"]


@pytest.mark.spark
@pytest.mark.slow
def test_a_sweep_whose_driver_is_killed_goes_on_and_has_the_same_rows(spark, tmp_path):
    """What was finished is kept, nothing is there twice, and no process is left."""
    sweep = Sweep("consumer_dies", range(32), {"session_timeout_ms": [6000, 9000, "x"]})
    arguments = ["consumer_dies", "--seeds", "0:32", "--vary", "session_timeout_ms=6000,9000,x"]
    to = ["--out", str(tmp_path / "out"), "--master", "local[1]"]
    process = Popen([*KAFKALEARN, "sweep", *arguments, *to], stderr=DEVNULL)
    patience = time.monotonic() + 400
    while not any(tmp_path.glob("out/runs/*.parquet")) and time.monotonic() < patience:
        time.sleep(0.02)
    others = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    assert psutil.wait_procs(others, timeout=60)[1] == []
    left = begin(sweep, tmp_path / "out")
    assert 0 < len(left) < len(sweep.parts)
    assert swept(spark, sweep, tmp_path / "out") == left
    assert not list(tmp_path.glob("out/*/.*"))
    undisturbed = [run_part(sweep, part, numbers=sweep.runs_of(part)) for part in sweep.parts]
    for name in FILES:
        expected = pyarrow.concat_tables([part[name] for part in undisturbed])
        assert pyarrow.parquet.read_table(tmp_path / "out" / name) == expected, name


def holding(out, run_id):
    """The files whose statistics do not rule a run out."""
    found = []
    for path in sorted((out / "events").iterdir()):
        file = pyarrow.parquet.ParquetFile(path)
        for group in range(file.num_row_groups):
            statistics = file.metadata.row_group(group).column(0).statistics
            if statistics.min <= run_id <= statistics.max:
                found.append(path.name)
    return found


@pytest.mark.spark
@pytest.mark.slow
def test_a_run_that_ends_its_process_is_one_failure(spark, tmp_path):
    """The other runs of its part are there."""
    here = os.getpid()

    class Deadly(Sweep):
        """One of its runs takes the executor's Python with it."""

        def arguments(self, number):
            if number == 2 and os.getpid() != here:
                os._exit(1)
            return super().arguments(number)

    assert swept(spark, Deadly("first_member", range(5), {}), tmp_path) == [0]
    (failure,) = pyarrow.parquet.read_table(tmp_path / "failures").to_pylist()
    assert (failure["seed"], "Spark could not run it" in failure["message"]) == (2, True)
    runs = pyarrow.parquet.read_table(tmp_path / "runs").to_pylist()
    assert sorted(row["seed"] for row in runs) == [0, 1, 3, 4]
