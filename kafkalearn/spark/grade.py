"""Grades submissions on Spark: rows in, rows out.

What executors need reaches them through Spark, not a shared folder: the exercises travel with the
function, the package's own source as a file of the job, the submissions as rows. A cluster's
machines need the third-party packages only.
"""

import atexit
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import cache
from hashlib import blake2b
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

import kafkalearn
from kafkalearn.grading.collect import Submission
from kafkalearn.grading.exercise import Exercise, student_seed
from kafkalearn.grading.grades import COLUMN_TYPES, Grade, not_run
from kafkalearn.grading.helper import grade_in_helper
from kafkalearn.spark.session import SparkStartError, first_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SUBMISSION = "student string, exercise string, content binary"
GRADE = ", ".join(f"{name} {kind}" for name, kind in COLUMN_TYPES.items())
_GRADE_ARROW = pa.schema(COLUMN_TYPES.items())
MOST_JOBS = 256  # at a time; each is one submission, and one thread here waits for it


def grade(
    submissions: "DataFrame", exercises: Mapping[str, Exercise], *, course_seed: int = 0
) -> "DataFrame":
    """Judge every submission, each in a clean process of its own.

    in:  SUBMISSION   one row per submission, of an exercise that `exercises` holds
    out: GRADE        one row per check of a submission, in the exercise's order
    """
    files = {name: dict(exercise.files) for name, exercise in exercises.items()}

    def grade_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for row in (row for batch in batches for row in batch.to_pylist()):
            submission = Submission(**row)
            exercise = Exercise.of(submission.exercise, files[submission.exercise])
            seed = student_seed(submission.student, exercise.name, course_seed=course_seed)
            grades = grade_in_helper(submission, exercise, seed=seed)
            rows = [grade._asdict() for grade in grades]
            yield pa.RecordBatch.from_pylist(rows, schema=_GRADE_ARROW)

    return submissions.mapInArrow(grade_batches, GRADE)


def grade_all(
    spark: "SparkSession",
    submissions: Iterable[Submission],
    *,
    exercises: Mapping[str, Exercise],
    course_seed: int = 0,
) -> Iterator[list[Grade]]:
    """Grade as many submissions at a time as Spark has cores; give each one's rows when done.

    A job is one submission, so that whatever happens to it or to its executor stays its own, and
    no more of them are read than run. Errors: SparkStartError if Spark itself is lost.
    """
    spark.sparkContext.addPyFile(str(packed()))
    waiting = iter(submissions)

    def job(submission: Submission) -> list[Grade]:
        frame = spark.createDataFrame([submission], SUBMISSION).coalesce(1)
        rows = grade(frame, exercises, course_seed=course_seed).collect()
        return [Grade(*row) for row in rows]

    running: dict[Future[list[Grade]], Submission] = {}
    pool = ThreadPoolExecutor(MOST_JOBS)
    try:
        while True:
            free = min(spark.sparkContext.defaultParallelism, MOST_JOBS) - len(running)
            running |= {pool.submit(job, each): each for each in islice(waiting, free)}
            if not running:
                return
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                submission = running.pop(done)
                yield _rows(done, spark) or _lost(done, submission, exercises)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # After an interrupt nobody waits for jobs.


def _rows(done: Future[list[Grade]], spark: "SparkSession") -> list[Grade]:
    """Give what a job gave, or nothing if it failed; SparkStartError if there is no Spark left."""
    error = done.exception()
    if error is None:
        return done.result()
    context = spark.sparkContext._jsc
    if context is None or context.sc().isStopped():
        raise SparkStartError(f"Spark was lost while it graded: {first_line(error)}")
    return []


def _lost(
    done: Future[list[Grade]], submission: Submission, exercises: Mapping[str, Exercise]
) -> list[Grade]:
    error = done.exception() or RuntimeError("it gave no rows")
    reason = f"Spark could not run it: {first_line(error)}"
    return not_run(submission.student, exercises[submission.exercise], reason=reason)


@cache
def packed() -> Path:
    """Zip this very kafkalearn for executors, whether or not they have one installed.

    It is one file as long as we live: Spark takes a name once, and fetches it late for an executor
    that starts late.
    """
    root = Path(kafkalearn.__file__).parent
    content = BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(root.rglob("*.py")):
            name = Path("kafkalearn", path.relative_to(root)).as_posix()
            archive.writestr(zipfile.ZipInfo(name), path.read_bytes())
    digest = blake2b(content.getvalue(), digest_size=8).hexdigest()
    folder = Path(tempfile.mkdtemp(prefix="kafkalearn-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    shipped = folder / f"kafkalearn-{digest}.zip"
    shipped.write_bytes(content.getvalue())
    return shipped
