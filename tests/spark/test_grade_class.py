"""The command `kafkalearn grade`: what it writes, says and returns."""

import csv
import os
import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from kafkalearn.cli import app
from kafkalearn.grading.grades import NOT_REACHED, Grade, not_run
from kafkalearn.grading.report.journal import Journal
from kafkalearn.spark import class_run, shipped
from kafkalearn.spark.session import SparkStartError
from tests.grading.submissions import CHECKS, EXERCISE, FOLDER

NAME = "41_range_assignor.ipynb"
pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
STARTER = (FOLDER / "starter.ipynb").read_bytes()


def hand_in(folder, student, content=STARTER, name=NAME):
    """A student's submission, as nbgrader lays it out."""
    (folder / student / "ps1").mkdir(parents=True, exist_ok=True)
    (folder / student / "ps1" / name).write_bytes(content)


def grade(*arguments):
    """Run the command in this process: (exit status, what it said on long lines)."""
    result = CliRunner().invoke(app, ["grade", *map(str, arguments)], env={"COLUMNS": "500"})
    return result.exit_code, result.output


def passed(row, points=2.0):
    """A row for each check, with these points."""
    return [
        Grade(row.student, row.exercise, c, points, 2.0, "passed", f"{c}: right", 1.0, "{}")
        for c in CHECKS
    ]


class Spark:
    """Stands for Spark: remembers what it was asked, gives what it is told to."""

    def __init__(self):
        self.asked = []
        self.judges = []
        self.problems = []
        self.result = passed
        self.settings = None
        self.stopped = 0

    def start(self, master, **_):
        """Begin a session."""
        self.asked.append(master)
        return SimpleNamespace(stop=self.stop)

    @contextmanager
    def ready_judges(self, count, exercise, *, engine, trusted):
        """Judges that would wait."""
        self.judges.append((count, exercise.name, engine, trusted))
        yield f"{count} are here"
        self.judges.append("closed")

    def stop(self):
        """End the session, which somebody else has ended already."""
        self.stopped += 1
        raise ConnectionRefusedError

    def times_stopped(self):
        """Wait until the last stop is over: how many there were. The command itself does not."""
        while class_run._STOPPING:
            assert class_run._STOPPING[-1].daemon
            class_run._STOPPING.pop().join()
        return self.stopped

    def grade_all(self, spark, rows, *, exercises, settings, count):
        """Grade each row as it is read."""
        self.settings = settings
        for row in rows:
            self.asked.append(row.student)
            yield row.number, self.result(row)


@pytest.fixture
def spark(monkeypatch):
    """Neither Spark starts nor a judge."""
    fake = Spark()
    monkeypatch.setattr(class_run, "spark_session", fake.start)
    monkeypatch.setattr(class_run, "ready_judges", fake.ready_judges)
    monkeypatch.setattr(class_run, "isolation_problems", lambda _, count: fake.problems)
    monkeypatch.setattr(class_run, "grade_all", fake.grade_all)
    return fake


@pytest.fixture
def submissions(tmp_path):
    """Two students."""
    hand_in(tmp_path / "submitted", "ann")
    hand_in(tmp_path / "submitted", "bob")
    return tmp_path / "submitted"


def table(out):
    """student -> (points, reason) of the first check, as the CSV has it."""
    with (out / "grades.csv").open(newline="", encoding="utf-8") as file:
        return {
            r["student"]: (r["points"], r["reason"]) for r in reversed(list(csv.DictReader(file)))
        }


def test_bad_input_is_refused_before_anything_starts(tmp_path, submissions, spark):
    """Each with status 2 and a sentence that names it."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    out = tmp_path / "out"
    for arguments, said in [
        ((tmp_path / "nowhere", "--out", out), "there is no folder or zip"),
        ((tmp_path / "file", "--out", out), "the zip cannot be read"),
        ((tmp_path / "empty", "--out", out), "no submission in"),
        ((submissions, "--out", tmp_path / "file" / "out"), "cannot be written"),
        ((submissions, "--out", submissions / "out"), "would be taken for submissions"),
        ((submissions, "--out", out, "--exercises", tmp_path / "empty"), "no exercises"),
        ((submissions,), "Missing option '--out'"),
        ((submissions, "--out", out, "--attempts", "worst"), "'worst' is not one of"),
        ((submissions, "--out", out, "--engine", "steam"), "'steam' is not one of"),
    ]:
        status, output = grade(*arguments)
        assert (status, said in output) == (2, True), output
    assert not (tmp_path / "out" / "grades.csv").exists()
    assert spark.asked == []


def test_judges_are_started_beside_spark_where_submissions_run_here(
    tmp_path, submissions, spark, monkeypatch
):
    """As many as there is use for, of the kind that was asked for; an executor has its own."""
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    for number, (how, count) in enumerate(
        [
            ((), 2),
            (("--master", "local[1]"), 1),
            (("--master", "local[8]", "--trusted", "--engine", "kernel"), 2),
            (("--master", "spark://there:7077"), 0),
            (("--master", "local-cluster[2,1,1024]"), 0),
        ]
    ):
        grade(submissions, "--out", tmp_path / f"out-{number}", *how)
        kind = ("kernel", True) if "kernel" in how else ("fork", False)
        assert spark.judges[-2:] == [(count, EXERCISE.name, *kind), "closed"]
        assert spark.settings.ready == f"{count} are here"
    hand_in(tmp_path / "one", "ann")
    grade(tmp_path / "one", "--out", tmp_path / "out")
    assert spark.judges[-2][0] == 1
    before = list(spark.judges)
    grade(tmp_path / "one", "--out", tmp_path / "out", "--resume")
    assert spark.judges == before


@pytest.mark.parametrize("bob", ["passed", "not graded", "stopped early"])
def test_the_status_tells_whether_everything_was_graded(tmp_path, submissions, spark, bob):
    """0 and 1 both leave grades; help explains them."""
    if bob == "not graded":
        spark.result = lambda row: (
            passed(row) if row.student == "ann" else not_run("bob", EXERCISE, reason="it died")
        )
    if bob == "stopped early":
        spark.result = lambda row: [g._replace(status=NOT_REACHED) for g in passed(row)]
    got, output = grade(submissions, "--out", tmp_path / "out")
    assert ("could not be graded or stopped early" in output) == (got == 1)
    assert got == (0 if bob == "passed" else 1)
    assert "Each submission runs in a sandbox" in output
    assert "Course seed 0 (the default; --course-seed changes it)" in output
    assert (tmp_path / "out" / "feedback" / "bob.html").is_file()
    assert (tmp_path / "out" / "class.html").is_file()
    assert spark.times_stopped() == 1
    _, described = grade("--help")
    assert "Exit status: 0, everything was graded" in " ".join(described.split())


def test_without_isolation_only_a_trusted_class_is_graded(tmp_path, submissions, spark):
    """Status 2 with the reason and the way out; --trusted says what it means."""
    spark.problems = ["no namespaces here"]
    status, output = grade(submissions, "--out", tmp_path / "out")
    assert status == 2
    assert "submissions cannot be isolated where they would run: no namespaces here" in output
    assert "--trusted" in output
    assert spark.asked == [None]
    status, output = grade(
        submissions,
        "--out",
        tmp_path / "out",
        "--trusted",
        "--engine",
        "kernel",
        "--course-seed",
        7,
    )
    assert (status, spark.settings) == (0, (7, "kernel", True, "2 are here"))
    assert "nothing keeps them from your files or from their grades" in output


def test_sigterm_breaks_a_run_off_as_ctrl_c_does(tmp_path, submissions, spark):
    """What was begun is cleaned up, and what was graded is kept."""
    spark.result = lambda row: os.kill(os.getpid(), signal.SIGTERM) or passed(row)
    before = signal.getsignal(signal.SIGTERM)
    status, output = grade(submissions, "--out", tmp_path / "out")
    assert status == 130
    assert "nothing was written: interrupted" in output
    assert spark.times_stopped() == 1
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SparkStartError("Spark is lost")])
def test_a_run_that_breaks_off_writes_nothing_and_says_what_is_still_there(
    tmp_path, submissions, spark, error
):
    """An earlier run's grades stay, and what was graded now is kept for the next."""
    out = tmp_path / "out"
    grade(submissions, "--out", out)
    before = (out / "grades.csv").read_bytes()

    def breaks_off(row):
        if row.student == "bob":
            raise error
        return passed(row)

    spark.result = breaks_off
    status, output = grade(submissions, "--out", out)
    assert status == (130 if isinstance(error, KeyboardInterrupt) else 1)
    assert "of an earlier run that --resume would have used: 2." in output
    assert f"nothing was written: {str(error) or 'interrupted'}" in output
    assert "graded submissions that --resume can use: 1" in output
    assert "still holds the grades of an earlier run" in output
    assert (out / "grades.csv").read_bytes() == before
    assert spark.times_stopped() == 2


def test_a_rerun_grades_only_what_is_new(tmp_path, submissions, spark):
    """Spark is not even started for nothing; who could not be graded is tried again."""
    out = tmp_path / "out"
    spark.result = lambda row: (
        passed(row) if row.student == "ann" else not_run("bob", EXERCISE, reason="it died")
    )
    grade(submissions, "--out", out, "--resume")
    spark.result = passed
    assert grade(submissions, "--out", out, "--resume")[0] == 0
    first = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert "Nothing is new: 2 as before." in grade(submissions, "--out", out, "--resume")[1]
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == first
    hand_in(submissions, "ann", STARTER + b" ")
    hand_in(submissions, "carl")
    assert "1 as before, 2 new." in grade(submissions, "--out", out, "--resume")[1]
    assert spark.asked == [None, "ann", "bob", None, "bob", None, "ann", "carl"]
    assert list(table(out)) == ["carl", "bob", "ann"]


@pytest.mark.parametrize("changes", ["seed", "engine", "package", "anew"])
def test_what_grades_depend_on_makes_everything_new(
    tmp_path, submissions, spark, monkeypatch, changes
):
    """Another course seed, engine or state of the package, or no --resume at all."""
    grade(submissions, "--out", tmp_path / "out")
    options = {"seed": ["--course-seed", 3], "engine": ["--engine", "kernel"]}.get(changes, [])
    if changes == "package":
        monkeypatch.setattr(class_run, "grading_digest", lambda: "another")
    resume = [] if changes == "anew" else ["--resume"]
    grade(submissions, "--out", tmp_path / "out", *options, *resume)
    assert spark.asked == [None, "ann", "bob"] * 2


def test_two_runs_in_one_folder_are_refused(tmp_path, submissions, spark):
    """The second says so and touches nothing."""
    (tmp_path / "out").mkdir()
    with Journal(tmp_path / "out", resume=False):
        status, output = grade(submissions, "--out", tmp_path / "out")
    assert (status, "another run is grading into this folder" in output) == (2, True)
    assert spark.asked == []


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("grades.csv", b"student;points\nann;2\n", "would be overwritten"),
        ("grades.csv", "student,points\nJosé,2\n".encode("latin-1"), "would be overwritten"),
        ("grades.csv", None, "would be overwritten"),
        ("journal.jsonl", None, "cannot be written: [Errno 21] Is a directory"),
    ],
)
def test_what_is_in_the_way_of_a_report_is_named(tmp_path, submissions, spark, name, content, said):
    """A table that a spreadsheet wrote, or a folder: a sentence, and nothing is begun."""
    place = tmp_path / "out" / name
    place.parent.mkdir()
    place.mkdir() if content is None else place.write_bytes(content)
    status, output = grade(submissions, "--out", tmp_path / "out")
    assert (status, said in output) == (2, True), output
    assert spark.asked == []


def test_of_several_attempts_the_best_counts(tmp_path, submissions, spark):
    """The later at a tie; how many there were and which counts is said; `last` runs one only."""
    points = {b"1": 1.0, b"2": 2.0, b"3": 2.0, b"4": 0.5}
    for content in points:
        hand_in(submissions, "bob", content, f"41_range_assignor-{content.decode()}.ipynb")
    spark.result = lambda row: passed(row, points.get(row.content, 1.5))
    grade(submissions, "--out", tmp_path / "best", "--attempts", "best")
    assert spark.asked == [None, "ann", *["bob"] * 5]
    best, reason = table(tmp_path / "best")["bob"]
    assert best == "2.0"
    assert "(5 copies were handed in, and ps1/41_range_assignor-3.ipynb, the best, counts" in reason
    assert table(tmp_path / "best")["ann"][1] == "seven-over-five: right"
    grade(submissions, "--out", tmp_path / "last")
    last, reason = table(tmp_path / "last")["bob"]
    assert (last, spark.asked[7:]) == ("0.5", [None, "ann", "bob"])
    assert "5 copies were handed in, and ps1/41_range_assignor-4.ipynb, the last by name" in reason


def test_what_is_shipped_holds_all_that_graders_read():
    """Modules and what stands beside them; one file, whose name tells its state."""
    import zipfile

    names = zipfile.ZipFile(shipped.packed()).namelist()
    assert {"kafkalearn/grading/engines/helper.py", "kafkalearn/views/look.css"} <= set(names)
    assert shipped.packed() == shipped.packed()


@pytest.mark.parametrize(
    ("master", "program"),
    [
        ("local[2]", sys.executable),
        ("local[2]", "another-python"),
        ("local-cluster[2,1,1024]", sys.executable),
        ("spark://there:7077", sys.executable),
    ],
)
def test_executors_elsewhere_get_the_package_as_a_file(master, program):
    """Those of a local master find it where it lies; asked twice, nothing changes."""
    files: list[str] = []
    context = SimpleNamespace(
        master=master, pythonExec=program, environment={}, addPyFile=files.append
    )
    for _ in range(2):
        shipped.ship(context)
    if (master, program) == ("local[2]", sys.executable):
        assert files == []
        first = context.environment["PYTHONPATH"].split(os.pathsep)[0]
        assert (Path(first) / "kafkalearn" / "__init__.py").is_file()
    else:
        assert set(files) == {str(shipped.packed())}
        assert context.environment == {}


def test_grades_of_students_who_are_not_here_are_not_overwritten(tmp_path, submissions, spark):
    """Another class, or a part of this one, needs a folder of its own; the message names them."""
    grade(submissions, "--out", tmp_path / "out")
    before = (tmp_path / "out" / "grades.csv").read_bytes()
    hand_in(tmp_path / "others", "zoe", b"1")
    status, output = grade(tmp_path / "others", "--out", tmp_path / "out", "--resume")
    assert (status, "holds grades of ann, bob, who handed in nothing here" in output) == (2, True)
    assert (tmp_path / "out" / "grades.csv").read_bytes() == before
    (tmp_path / "out" / "grades.csv").unlink()
    assert grade(tmp_path / "others", "--out", tmp_path / "out", "--resume")[0] == 0
