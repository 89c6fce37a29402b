"""Every lesson holds under other seeds: its code is run as papermill would, without a kernel.

Those on Spark run in the session of tests/spark.
"""

from pathlib import Path

import nbformat
import pytest

from kafkalearn.workbook import needs_spark

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
LESSONS = sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
ON_SPARK = [path for path in LESSONS if needs_spark(path)]
SEEDS = (1, 7, 23)


def run(path, seed):
    """Run the code cells in one namespace, the seed put in after the parameters."""
    namespace = {"__name__": "lesson"}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, f"{path.name}:{cell.id}", "exec"), namespace)
        if "parameters" in cell.metadata.get("tags", ()):
            namespace["seed"] = seed


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "path", [path for path in LESSONS if path not in ON_SPARK], ids=lambda path: path.stem[:2]
)
def test_a_lesson_holds_under_another_seed(path, seed, tmp_path, monkeypatch):
    """No assertion depends on the stored seed."""
    monkeypatch.chdir(tmp_path)
    run(path, seed)


def test_an_assertion_that_fails_is_noticed(tmp_path):
    """A lesson that is true for one seed only is refused."""
    cells = [
        nbformat.v4.new_code_cell("seed = 0", metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell("assert seed == 0"),
    ]
    path = tmp_path / "lesson.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    with pytest.raises(AssertionError):
        run(path, 1)
