"""The command `kafkalearn run`: what it says of notebooks that fail, and what it refuses."""

import os
import re
import signal
import subprocess
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from typer.testing import CliRunner

from kafkalearn.cli import app
from kafkalearn.workbook import MissingExtraError, WorkbookError, parameter_names, workbook_root
from tests.commands import KAFKALEARN, wait_until
from tests.notebooks.lessons import good_lesson, save

ROOT = Path(__file__).parents[1]
BROKEN = {
    "raises": ("1 / 0", r"Cell 'two' \(1 / 0\) ended with ZeroDivisionError: division by zero"),
    "exits": ("import sys; sys.exit()", r"Cell 'three' \(3\) was not reached"),
    "dies": ("import os; os._exit(3)", r"Cell 'two' .* ended the kernel"),
    "sleeps": ("import time; time.sleep(600)", r"Cell 'two' .* ran longer than 5 s"),
}


def notebook(path, *sources, tag=""):
    """Write a notebook of the given code cells, called one, two, three; the first gets the tag."""
    names = ("one", "two", "three")
    cells = [new_code_cell(text, id=name) for text, name in zip(sources, names, strict=False)]
    cells[0].metadata = {"tags": [tag]} if tag else {}
    return save(new_notebook(cells=cells), path)


def run(*arguments):
    """Call the command in this process."""
    return CliRunner().invoke(app, ["run", *map(str, arguments)])


@pytest.fixture(scope="module")
def run_of_good_and_bad(tmp_path_factory):
    """Run one good notebook among several that fail, each in its own way."""
    folder = tmp_path_factory.mktemp("run")
    save(good_lesson(), folder / "good.ipynb")
    for name, (source, _) in BROKEN.items():
        notebook(folder / f"{name}.ipynb", "1", source, "3")
    (folder / "unreadable.ipynb").write_text("{")
    return run(folder, "--out", folder / "out", "--jobs", 2, "--timeout", 5), folder


@pytest.mark.slow
def test_run_says_which_notebooks_failed(run_of_good_and_bad):
    """Each failure has its line with cell and reason; the others still run; the status is 1."""
    result, folder = run_of_good_and_bad
    for name, (_, sentence) in BROKEN.items():
        assert re.search(rf"^{name}\.ipynb: {sentence}", result.output, re.MULTILINE), result.output
    assert "unreadable.ipynb: It cannot be executed: NotJSONError" in result.output
    assert f"1 of 6 notebooks ran; their copies are in {folder / 'out'}" in result.output
    assert result.exit_code == 1


@pytest.mark.slow
def test_run_leaves_the_sources_alone(run_of_good_and_bad):
    """The copies hold the outputs; what was run is as it was."""
    _, folder = run_of_good_and_bad
    assert nbformat.read(folder / "good.ipynb", as_version=4) == good_lesson()
    copy = nbformat.read(folder / "out" / "good.ipynb", as_version=4)
    assert [cell.execution_count for cell in copy.cells if cell.cell_type == "code"] == [
        *range(1, 8)
    ]


@pytest.mark.slow
def test_run_hands_parameters_to_the_notebooks_that_have_them(tmp_path):
    """-p replaces a value of the parameters cell, as a number; cells run in their own folder."""
    seed = "assert seed == 7"
    notebook(tmp_path / "a.ipynb", "seed = 0", seed, "open('a.ipynb').close()", tag="parameters")
    notebook(tmp_path / "b.ipynb", "members = 3", "assert members == 3", tag="parameters")
    result = run(tmp_path, "--out", tmp_path / "out", "-p", "seed=7")
    assert result.exit_code == 0, result.output
    assert "2 of 2 notebooks ran" in result.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["none.ipynb"], "There is no file none.ipynb."),
        (
            ["text.md"],
            "text.md is no notebook: a file that ends in .ipynb, or a folder, is allowed.",
        ),
        (["empty"], "There is no notebook in empty."),
        (["a.ipynb", "other"], "a.ipynb and other/a.ipynb have one name: run them one by one."),
        (["a.ipynb", "--out", "."], "a.ipynb would be overwritten"),
        (["a.ipynb", "--out", "text.md"], "text.md cannot be written to"),
        (["a.ipynb", "-p", "seed"], "-p seed is not understood: NAME=VALUE is allowed"),
        (["a.ipynb", "-p", "sed=1"], "No notebook here has a parameter 'sed'; there are: seed."),
    ],
)
def test_run_refuses_bad_input_with_a_sentence(arguments, sentence, tmp_path, monkeypatch):
    """What is wrong and what is allowed is said before anything runs; the status is 2."""
    monkeypatch.chdir(tmp_path)
    for folder in ("empty", "other"):
        Path(folder).mkdir()
    Path("text.md").write_text("")
    for path in ("a.ipynb", "other/a.ipynb"):
        notebook(path, "seed = 0", tag="parameters")
    result = run(*arguments)
    assert f"kafkalearn: {sentence}" in result.output
    assert result.exit_code == 2


@pytest.mark.slow
def test_run_leaves_out_what_needs_spark_unless_it_is_named(tmp_path):
    """Of a folder only the others run, and the last line says how to run all."""
    notebook(tmp_path / "plain.ipynb", "1")
    spark = notebook(tmp_path / "spark.ipynb", "from kafkalearn.spark.session import spark_session")
    notebook(tmp_path / "broken.ipynb", "%time 1")
    out = ("--out", tmp_path / "out")
    told = run(tmp_path, *out)
    assert "2 of 2 notebooks ran" in told.output
    assert "Left out, as they need Spark: spark.ipynb; --spark runs them, too" in told.output
    assert "3 of 3 notebooks ran" in run(tmp_path, "--spark", *out).output
    assert "1 of 1 notebooks ran" in run(spark, *out).output


def test_run_refuses_a_folder_of_which_nothing_is_left(tmp_path):
    """It says that all need Spark, and what to do."""
    notebook(tmp_path / "spark.ipynb", "from pyspark.sql import functions as F")
    told = run(tmp_path, "--out", tmp_path / "out")
    assert told.exit_code == 2
    assert "All notebooks there need Spark: --spark runs them." in told.output


def test_run_refuses_no_jobs():
    """A number of jobs below 1 is bad input."""
    assert run("--jobs", 0).exit_code == 2


@pytest.mark.slow
def test_an_interrupt_ends_a_run_at_once(tmp_path):
    """Ctrl-C does not wait for the notebooks, and leaves no traceback on the screen."""
    path = notebook(tmp_path / "long.ipynb", "open('started', 'w').close()", "while True: pass")
    command = [*KAFKALEARN, "run", str(path), "--out", str(tmp_path / "out")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    process = subprocess.Popen(command, cwd=ROOT, start_new_session=True, **pipes)
    wait_until(lambda: (tmp_path / "started").exists(), process)
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in output


def test_run_without_papermill_says_what_to_install(monkeypatch, tmp_path):
    """The same for running notebooks."""
    monkeypatch.setattr("kafkalearn.notebooks.find_spec", lambda name: None)
    result = run(notebook(tmp_path / "a.ipynb", "1"), "--out", tmp_path / "out")
    assert str(MissingExtraError("papermill", "grade")) in result.output
    assert result.exit_code == 2


def test_the_workbook_is_found_from_below(tmp_path):
    """A command may be called in any folder of the workbook."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "00_welcome.ipynb").write_text("{}")
    (tmp_path / "exercises" / "41").mkdir(parents=True)
    assert workbook_root(tmp_path / "exercises" / "41") == tmp_path.resolve()


def test_a_place_without_a_workbook_is_refused(tmp_path, monkeypatch):
    """An installed package far from any checkout says where to run the command."""
    monkeypatch.setattr("kafkalearn.workbook.__file__", str(tmp_path / "a" / "b.py"))
    with pytest.raises(WorkbookError, match="run this inside a checkout of kafkalearn"):
        workbook_root(tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", '{"cells": [1]}'])
def test_a_file_that_is_no_notebook_has_no_parameters(text, tmp_path):
    """Running it will say what is wrong with it."""
    path = tmp_path / "a.ipynb"
    path.write_text(text)
    assert parameter_names(path) == set()
