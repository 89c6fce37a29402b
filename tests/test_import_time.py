"""`import kafkalearn` is fast because it loads nothing that is only needed sometimes."""

import subprocess
import sys

import pytest

HEAVY = {
    *("pandas", "numpy", "pyarrow", "pyspark", "hypothesis"),
    *("ipywidgets", "anywidget", "IPython", "jupyterlab", "papermill", "nbformat", "nbclient"),
    *("typer", "rich"),
}


def loaded_by(statement: str) -> set[str]:
    """Run the statement in a fresh process and tell which heavy packages it loaded."""
    program = f"{statement}\nimport sys\nprint(*sys.modules)"
    command = [sys.executable, "-c", program]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return HEAVY & set(output.split())


@pytest.mark.parametrize("module", ["kafkalearn", "kafkalearn.assignors", "kafkalearn.records"])
def test_importing_the_package_loads_nothing_heavy(module):
    """A learner's first cell, and a script that only assigns, start at once."""
    assert loaded_by(f"import {module}") == set()


def test_the_command_line_loads_what_a_command_needs_only_when_it_runs():
    """`kafkalearn --help` answers at once: typer and its rich are all that it loads."""
    assert loaded_by("import kafkalearn.cli") <= {"typer", "rich"}


def test_a_heavy_import_would_be_seen():
    """The check can fail: an import of typer is found."""
    assert "typer" in loaded_by("import kafkalearn, typer")
