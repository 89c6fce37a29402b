"""What Binder reads agrees with the rest; `make binder-check` replays all that it does."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from kafkalearn.workbook import WELCOME

ROOT = Path(__file__).parents[1]
BINDER = ROOT / "binder"


def test_binder_installs_what_is_locked():
    """There is one list of versions, requirements.lock, and Binder's requirements are that list."""
    assert (BINDER / "requirements.txt").read_text().split() == ["-r", "../requirements.lock"]
    assert (ROOT / "requirements.lock").is_file()


def test_binder_has_a_python_that_the_package_allows():
    """runtime.txt names a Python that requires-python lets in."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    name, version = (BINDER / "runtime.txt").read_text().strip().split("-")
    assert name == "python"
    assert version in SpecifierSet(project["requires-python"])


@pytest.mark.parametrize("script", ["postBuild", "start"])
def test_binder_scripts_can_run(script):
    """They are executable, and bash understands them."""
    assert os.access(BINDER / script, os.X_OK)
    subprocess.run(["bash", "-n", BINDER / script], check=True)


def test_binder_installs_the_package_without_its_dependencies():
    """They come from the lock; pip refuses an editable package beside hashes."""
    assert "--no-deps" in (BINDER / "postBuild").read_text()


def test_binder_starts_with_the_settings_of_the_lab_command():
    """start hands over to its arguments, with our configuration folder before others."""
    show = "import os; print(os.environ['JUPYTER_CONFIG_PATH'])"
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    shown = subprocess.run(
        [BINDER / "start", sys.executable, "-c", show],
        env=os.environ | {"PATH": path, "JUPYTER_CONFIG_PATH": "elsewhere"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    ours, theirs = shown.split(os.pathsep)
    assert theirs == "elsewhere"
    assert WELCOME.as_posix() in (Path(ours) / "jupyter_lab_config.json").read_text()
