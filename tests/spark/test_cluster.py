"""What a cluster's machines need: the third-party packages, and no kafkalearn of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafkalearn.spark.shipped import packed
from tests.grading.submissions import FOLDER

ROOT = Path(__file__).parents[2]
# Python imports a module of this name first of all: it takes the checkout from the path again.
HIDE_CHECKOUT = f"import sys\nsys.path[:] = [p for p in sys.path if p != {str(ROOT)!r}]\n"
GRADE = """
import sys
from pathlib import Path
import kafkalearn
from kafkalearn.grading.handed_in.collect import Submission
from kafkalearn.grading.exercise import load
from kafkalearn.grading.engines.helper import GradingHelper
folder = Path(sys.argv[1])
submission = Submission("ann", folder.name, (folder / "solution.ipynb").read_bytes())
grading = GradingHelper(trusted=True)
grades = grading.grade(submission, load(folder), seed=1)
grading.close()
print(kafkalearn.__file__, *{grade.status for grade in grades})
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
