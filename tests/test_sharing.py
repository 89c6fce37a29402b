"""Tests that share a kernel, a session or a server stay in one worker."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sharing import group

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("notebooks/41.ipynb::Cell 0", "notebooks/41.ipynb::Cell 1", True),
        ("notebooks/41.ipynb::Cell 0", "notebooks/42.ipynb::Cell 0", False),
        ("tests/spark/test_a.py::test_x", "tests/spark/test_b.py::test_x", True),
        ("notebooks/62.ipynb::Cell 0", "notebooks/63.ipynb::Cell 0", True),
        ("tests/spark/test_a.py::test_x", "tests/browser/test_a.py::test_x", False),
        ("tests/test_a.py::test_x[a::b]", "tests/test_a.py::test_y", True),
    ],
)
def test_what_shares_something_is_one_group(one, other, together):
    """A notebook is a group, a file is one, and so are the folders with a session or a server."""
    assert (group(one) == group(other)) is together


@pytest.mark.slow
def test_two_workers_keep_files_whole(tmp_path):
    """The scheduler is really in use: no file is spread over two workers."""
    body = "import os, pytest\n@pytest.mark.parametrize('i', range(6))\ndef test_x(i):\n"
    body += "    open(f'{__file__}.{os.getpid()}', 'w').close()\n"
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    for name in ("a", "b", "c"):
        (tmp_path / f"test_{name}.py").write_text(body)
    command = [sys.executable, "-m", "pytest", "-p", "xdist", "-n", "2", "-p", "no:cacheprovider"]
    options = ["--rootdir", tmp_path, "--confcutdir", tmp_path, "--import-mode=importlib", tmp_path]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    subprocess.run([*command, *options], cwd=ROOT, env=environment, check=True, capture_output=True)
    assert len(list(tmp_path.glob("test_*.py.*"))) == 3
