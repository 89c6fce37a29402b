"""The copy of the package for a learner's process: it wins, and holds what is lent only."""

import os
import py_compile
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from kafkalearn.grading.isolation.lending import lend, python_path
from tests.grading.submissions import EXERCISE

ROOT = Path(__file__).parents[2]


@pytest.fixture
def copy(tmp_path):
    """What exercise 41 lends."""
    lend(EXERCISE.lent_modules, tmp_path / "lent")
    return tmp_path / "lent"


def python(source, folder):
    """Run a fresh interpreter whose PYTHONPATH begins with the folder; give its last line."""
    done = subprocess.run(
        [sys.executable, "-c", source],
        env=os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return (done.stdout + done.stderr).strip().splitlines()[-1]


def test_the_copy_wins_over_an_installed_package(copy):
    """Although the whole package stands later on the path, what is not lent is not there."""
    assert python("import kafkalearn; print(kafkalearn.__file__)", copy).startswith(str(copy))
    for source in (
        "from kafkalearn.assignors import RangeAssignor",
        "from kafkalearn.assignors.range_assignor import RangeAssignor",
    ):
        missing = "ModuleNotFoundError: No module named 'kafkalearn.assignors.range_assignor'"
        assert python(source, copy) == missing


def test_what_is_compiled_is_lent_compiled(tmp_path):
    """Python need not compile it again, as long as it is the source that stands beside it."""
    copy = tmp_path / "lent"
    for name in EXERCISE.lent_modules:
        py_compile.compile(find_spec(name).origin)
    lend(EXERCISE.lent_modules, copy)
    source = (
        "import sys; from importlib._bootstrap_external import SourceFileLoader as L\n"
        "L.source_to_code = None\n"
        "import kafkalearn.records; print(kafkalearn.records.__file__)"
    )
    assert python(source, copy) == str(copy / "kafkalearn" / "records.py")
    with (copy / "kafkalearn" / "records.py").open("a") as file:
        file.write("\nraise ValueError('the new source')\n")
    assert python("import kafkalearn.records", copy) == "ValueError: the new source"


@pytest.mark.parametrize("module", ["judging", "exercise", "handed_in", "engines"])
def test_the_judges_half_is_not_in_the_copy(copy, module):
    """Nothing that knows or decides an answer can be imported."""
    source = f"import kafkalearn.grading.{module}"
    assert python(source, copy) == (
        f"ModuleNotFoundError: No module named 'kafkalearn.grading.{module}'"
    )


def test_what_is_lent_works(copy):
    """check, the records and the documents' helpers are there."""
    source = (
        "from kafkalearn.grading import check\n"
        "from kafkalearn.assignors import AbstractPartitionAssignor, Subscription\n"
        "print(AbstractPartitionAssignor.consumers_per_topic({'c0': Subscription(['t0'])}))"
    )
    assert python(source, copy) == "{'t0': ['c0']}"


def test_a_module_that_does_not_exist_cannot_be_lent(tmp_path):
    """A mistake in an exercise.toml is named."""
    with pytest.raises(ModuleNotFoundError, match=r"no module kafkalearn.nothing to lend"):
        lend(["kafkalearn.nothing"], tmp_path)


def test_the_path_keeps_what_does_not_hold_the_package(tmp_path, monkeypatch):
    """Third-party folders stay, another kafkalearn goes."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(tmp_path / "libraries")]))
    assert python_path(tmp_path / "lent").split(os.pathsep) == [
        str(tmp_path / "lent"),
        str(tmp_path / "libraries"),
    ]


def test_without_the_judges_address_a_check_says_so(copy):
    """In the copy there is no judge to fall back on."""
    source = "from kafkalearn.grading import check; check('41_range_assignor/by-name', print)"
    assert python(source, copy).endswith("the judge cannot be reached: its address is gone")


def test_without_the_copy_there_is_no_package_left(copy):
    """Taking the copy off the path leads to no installed package behind it."""
    source = (
        "import sys\n"
        f"sys.path[:] = [entry for entry in sys.path if entry not in ('', {str(copy)!r})]\n"
        "sys.path_importer_cache.clear()\n"
        "import kafkalearn"
    )
    assert python(source, copy) == "ModuleNotFoundError: No module named 'kafkalearn'"
