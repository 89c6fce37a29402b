"""Lessons as a learner opens them: run from top to bottom in JupyterLab, with all their pictures.

Three of them in `make test`; all of them with BROWSE=all, as `make browse` has it.
"""

import json
import os
import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
EVERYTHING = sorted(path.name for path in NOTEBOOKS.glob("*.ipynb"))
ALWAYS = ("00_welcome.ipynb", "22_joining.ipynb", "38_loss_and_duplicates.ipynb")
CHOSEN = EVERYTHING if os.environ.get("BROWSE") == "all" else ALWAYS


def widgets_of(name):
    """Count the cells of a lesson that show a widget."""
    cells = json.loads((NOTEBOOKS / name).read_text(encoding="utf-8"))["cells"]
    return sum("widget" in cell["metadata"].get("tags", []) for cell in cells)


@pytest.mark.parametrize("name", CHOSEN)
def test_a_lesson_runs_from_top_to_bottom(lab, pictures, name):
    """What answers a prediction unfolds; no cell fails, every drawing appears, no console error."""
    shutil.copytree(NOTEBOOKS / "images", lab.folder / "images", dirs_exist_ok=True)
    cells = json.loads((NOTEBOOKS / name).read_text(encoding="utf-8"))["cells"]
    lab.open_file(name, NOTEBOOKS / name)
    folded = lab.page.locator(".jp-Notebook .jp-OutputPlaceholder")
    folded.first.wait_for()
    lab.run_all()
    folded.first.wait_for(state="detached")
    code = sum(bool(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    assert lab.page.locator(".jp-Notebook .jp-CodeCell").count() == code
    assert lab.page.locator('[data-mime-type="application/vnd.jupyter.error"]').count() == 0
    shown = lab.page.locator(".jp-Notebook .kl, .jp-OutputArea-output img")
    for place in range(widgets_of(name)):
        shown.nth(place).wait_for()
    lab.page.screenshot(path=pictures / f"{name.removesuffix('.ipynb')}.png")


def test_the_three_are_there():
    """The lessons that are always tried exist, and show widgets."""
    assert set(ALWAYS) <= set(EVERYTHING)
    assert all(map(widgets_of, ALWAYS))
