"""An exercise as its folder states it, and the seed of a student."""

import json
import shutil

import pytest

from kafkalearn.grading.exercise import (
    Exercise,
    ExerciseError,
    by_name,
    load,
    load_all,
    student_seed,
)
from tests.grading.submissions import CHECKS, EXERCISE, FOLDER, changed, notebook


def test_the_exercise_states_its_checks_and_points():
    """Five checks of two points, in the order of the starter."""
    assert [(check.name, check.points) for check in EXERCISE.checks] == [
        ("seven-over-five", 2.0),
        ("topic-by-topic", 2.0),
        ("nobody-forgotten", 2.0),
        ("by-name", 2.0),
        ("random-groups", 2.0),
    ]
    assert load_all(FOLDER.parent)["41_range_assignor"] == EXERCISE


@pytest.mark.parametrize(
    ("replaced", "said"),
    [
        ({"toml": ('name = "by-name"', 'name = "by-nam"')}, "starter.ipynb has seven-over-five"),
        ({"starter": ('"id": "by-name"', '"id": "other"')}, "exercise.toml states the checks"),
        ({"toml": ("title = ", "titel = ")}, "lacks or garbles 'title'"),
        ({"toml": ("cell_seconds = 10", 'cell_seconds = "ten"')}, "lacks or garbles"),
        ({"toml": ("[limits]", "[limits")}, "lacks or garbles"),
        ({"starter": ('"cells": [', '"cells": {')}, "its starter.ipynb is no notebook: JSONDecode"),
        ({"starter": ('"cells"', '"sells"')}, "its starter.ipynb is no notebook: KeyError"),
    ],
)
def test_files_that_contradict_each_other_are_refused(replaced, said):
    """A check without a cell, a cell without a check, a word that is missing: all named."""
    with pytest.raises(ExerciseError, match=said):
        changed(**replaced)


def test_exercises_of_ones_own_stand_beside_those_of_the_package(tmp_path):
    """All folders are read; of two exercises with one name the first folder's is taken."""
    own, again = tmp_path / "50_own", tmp_path / FOLDER.name
    shutil.copytree(FOLDER, again)
    shutil.copytree(FOLDER, own)
    for each in own.rglob("*.ipynb"):
        each.write_text(each.read_text("utf-8").replace(FOLDER.name, own.name), "utf-8")
    (again / "README.md").write_text("mine")
    found = by_name([tmp_path, FOLDER.parent])
    assert (found[own.name], found[FOLDER.name]) == (own, again)
    assert "38_loss_and_duplicates" in found
    assert set(load_all(tmp_path, FOLDER.parent)) == set(found)


def test_a_folder_that_lacks_a_file_is_refused(tmp_path):
    """The error names the files that are missing."""
    (tmp_path / "50_new").mkdir()
    (tmp_path / "50_new" / "exercise.toml").write_text("")
    with pytest.raises(ExerciseError, match=r"lacks starter.ipynb, judge.py"):
        load_all(tmp_path)
    with pytest.raises(ExerciseError, match=r"lacks exercise.toml, starter.ipynb, judge.py"):
        load(tmp_path / "51_none")


def test_a_students_seed_depends_on_all_three_and_fits_in_31_bits():
    """Course seed, student and exercise each change it; the same three never do."""
    seeds = {
        student_seed(student, exercise, course_seed=course_seed)
        for course_seed in (-1, 0, 1)
        for student in ("ann", "bob", "王小明")
        for exercise in ("41_range_assignor", "42_round_robin_assignor")
    }
    assert len(seeds) == 18
    assert all(0 < seed < 2**31 for seed in seeds)
    assert student_seed("ann", "41_range_assignor", course_seed=0) == 1451909000


def test_the_starter_keeps_the_conventions():
    """Parameters, a task of at most 80 words, one answer that is not written, checks at the end."""
    cells = notebook()["cells"]
    assert cells.pop()["id"] == "way-back"
    tags = [cell["metadata"].get("tags", []) for cell in cells]
    assert [cell["id"] for cell in cells if "check" in cell["metadata"].get("tags", [])] == CHECKS
    assert tags[-len(CHECKS) :] == [["check", "raises-exception"]] * len(CHECKS)
    assert tags.count(["parameters"]) == tags.count(["answer"]) == 1
    assert "raise NotImplementedError" in "".join(cells[tags.index(["answer"])]["source"])
    prose = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    assert all(len(text.split()) <= 80 for text in prose)
    assert all(not cell.get("outputs") and not cell.get("execution_count") for cell in cells)


def test_solution_and_wrong_answers_differ_from_the_starter_in_answer_and_title_only():
    """What a learner is given and what is proved stay one exercise."""
    free = ("title", "answer", "way-back")  # the last is a link, which a wrong answer lacks
    starter = [cell for cell in notebook()["cells"] if cell["id"] not in free]
    for path in [FOLDER / "solution.ipynb", *(FOLDER / "wrong").glob("*.ipynb")]:
        assert [cell for cell in notebook(path)["cells"] if cell["id"] not in free] == starter


def test_an_exercise_is_read_from_its_text_alone(tmp_path, monkeypatch):
    """Where it is graded, nothing of it needs to lie on a disk."""
    files = json.loads(json.dumps(dict(EXERCISE.files)))
    monkeypatch.chdir(tmp_path)
    assert list(Exercise.of("41_range_assignor", files).judge.inputs("by-name", 0))
