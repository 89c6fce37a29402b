"""What a cluster's machines need: the third-party packages, and no kafkalearn of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafkalearn.spark.grade import packed
from tests.grading.submissions import FOLDER

ROOT = Path(__file__).parents[2]
# Python imports a module of this name first of all: it takes the checkout from the path again.
HIDE_CHECKOUT = f"import sys\nsys.path[:] = [p for p in sys.path if p != {str(ROOT)!r}]\n"
GRADE = """
import sys
from pathlib import Path
import kafkalearn
from kafkalearn.grading.collect import Submission
from kafkalearn.grading.exercise import load
from kafkalearn.grading.helper import grade_in_helper
folder = Path(sys.argv[1])
submission = Submission("ann", folder.name, (folder / "solution.ipynb").read_bytes())
grades = grade_in_helper(submission, load(folder), seed=1)
print(kafkalearn.__file__, *{grade.status for grade in grades})
"""
CLUSTER = """
import sys
from pathlib import Path
from kafkalearn.grading.collect import Submission
from kafkalearn.grading.exercise import load
from kafkalearn.spark.grade import grade_all
from kafkalearn.spark.session import spark_session
folder = Path(sys.argv[1])
exercises = {folder.name: load(folder)}
contents = {"ann": (folder / "solution.ipynb").read_bytes(), "bob": b""}
spark = spark_session("local-cluster[2,1,1024]")
try:
    for student, content in contents.items():
        submission = Submission(student, folder.name, content)
        for grades in grade_all(spark, [submission], exercises=exercises):
            print(student, *{grade.status for grade in grades})
finally:
    spark.stop()
"""


def python(source, *arguments, path, cwd, **environment):
    """Run a fresh interpreter with this PYTHONPATH; give its status and what it said."""
    done = subprocess.run(
        [sys.executable, "-c", source, *map(str, arguments)],
        env=os.environ | environment | {"PYTHONPATH": os.pathsep.join(map(str, path))},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, (done.stdout + done.stderr).strip()


@pytest.mark.slow
def test_what_is_shipped_grades_where_no_kafkalearn_is_installed(tmp_path):
    """The zip alone is enough: for the process that grades, and for the kernel."""
    (tmp_path / "sitecustomize.py").write_text(HIDE_CHECKOUT)
    status, said = python("import kafkalearn", path=[tmp_path], cwd=tmp_path)
    assert (status, said.splitlines()[-1]) == (
        1,
        "ModuleNotFoundError: No module named 'kafkalearn'",
    )
    status, said = python(GRADE, FOLDER, path=[packed(), tmp_path], cwd=tmp_path)
    assert (status, said) == (0, f"{packed()}/kafkalearn/__init__.py passed")


@pytest.mark.spark
@pytest.mark.slow
def test_a_cluster_grades_as_one_machine_does(tmp_path):
    """Executors of their own, twice in one session, on a small cluster that Spark brings."""
    import pyspark

    # Workers write below SPARK_HOME, which is no place for a test to write to.
    home = tmp_path / "spark"
    home.mkdir()
    for entry in Path(pyspark.__file__).parent.iterdir():
        (home / entry.name).symlink_to(entry)
    status, said = python(CLUSTER, FOLDER, path=[ROOT], cwd=tmp_path, SPARK_HOME=str(home))
    assert (status, said.splitlines()) == (0, ["ann passed", "bob not_run"])
