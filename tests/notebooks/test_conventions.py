"""The rules for notebooks, each shown what it must refuse; then the workbook's own notebooks."""

import ast
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

import kafkalearn
from tests.notebooks.conventions import VIEW_PAYLOAD, problems, words
from tests.notebooks.lessons import TITLE, cell_of, good_lesson, save

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
EXPECTED = {
    "00_welcome.ipynb",
    "01_cluster.ipynb",
    "11_partition.ipynb",
    "12_accumulator_and_sender.ipynb",
    "21_one_poll.ipynb",
    "22_joining.ipynb",
    "23_group_states.ipynb",
    "24_heartbeats.ipynb",
    "25_rebalance_triggers.ipynb",
    "26_fetcher.ipynb",
    "31_subscribe.ipynb",
    "32_pattern.ipynb",
    "33_assign.ipynb",
    "34_position_and_committed.ipynb",
    "35_auto_commit.ipynb",
    "36_sync_and_async.ipynb",
    "37_commit_judged.ipynb",
    "38_loss_and_duplicates.ipynb",
    "39_consumer_offsets.ipynb",
    "41_range_assignor.ipynb",
    "42_round_robin_assignor.ipynb",
    "43_sticky_assignor.ipynb",
    "44_your_own_assignor.ipynb",
    "45_cooperative.ipynb",
    "51_versions.ipynb",
    "52_myths.ipynb",
    "53_real_cluster.ipynb",
    "61_pandas.ipynb",
    "62_ten_thousand_runs.ipynb",
    "63_spark_source.ipynb",
}


def source(name: str, text: str) -> Callable[[NotebookNode], None]:
    """Replace the source of one cell."""
    return lambda lesson: cell_of(lesson, name).update(source=text)


def stored(name: str, *outputs: NotebookNode) -> Callable[[NotebookNode], None]:
    """Replace the outputs of one cell."""
    return lambda lesson: cell_of(lesson, name).update(outputs=list(outputs))


def tags(name: str, *names: str) -> Callable[[NotebookNode], None]:
    """Replace the tags of one cell."""
    return lambda lesson: cell_of(lesson, name).metadata.update(tags=list(names))


def printed(text: str) -> NotebookNode:
    """Build what a cell prints."""
    return new_output("stream", name="stdout", text=text)


def many_cells(lesson: NotebookNode) -> None:
    """Add text until there are 21 cells."""
    lesson.cells[6:6] = [new_markdown_cell("A reason.", id=f"reason-{i}") for i in range(10)]


def no_title(lesson: NotebookNode) -> None:
    """Start with the parameters."""
    del lesson.cells[0]


def late_parameters(lesson: NotebookNode) -> None:
    """Put the parameters after the scenario."""
    lesson.cells[1], lesson.cells[2] = lesson.cells[2], lesson.cells[1]


def no_prediction(lesson: NotebookNode) -> None:
    """Reveal without asking first."""
    del lesson.cells[3]


def early_reveal(lesson: NotebookNode) -> None:
    """Show the picture before asking for the answer."""
    lesson.cells[3:3] = [lesson.cells.pop(7), lesson.cells.pop(7)]


def nothing_asserted(lesson: NotebookNode) -> None:
    """Take the assertion away."""
    cell_of(lesson, "sum-is-right").source = "total = sum(numbers)"


def leftover_metadata(lesson: NotebookNode) -> None:
    """Leave what papermill adds to a cell."""
    cell_of(lesson, "sum").metadata["papermill"] = {"status": "completed"}


def answer_in_sight(lesson: NotebookNode) -> None:
    """Let the answer stand below its question before it was run."""
    del cell_of(lesson, "sum").metadata["jupyter"]


def answer_said_again(lesson: NotebookNode) -> None:
    """Let the cells below the answer stand next to it, and say the same."""
    lesson.cells.remove(cell_of(lesson, "reason"))


def widget_state(lesson: NotebookNode) -> None:
    """Leave what JupyterLab adds to a notebook."""
    lesson.metadata["widgets"] = {}


def random_id(lesson: NotebookNode) -> None:
    """Leave an id that nbformat made up."""
    cell_of(lesson, "sum").id = "0badcafe"


def out_of_order(lesson: NotebookNode) -> None:
    """Store a cell that was run again later."""
    cell_of(lesson, "sum").outputs[-1].execution_count = 9


def view_payload(lesson: NotebookNode) -> None:
    """Store the id of a widget's view."""
    cell_of(lesson, "bars").outputs[0].data[VIEW_PAYLOAD] = {"model_id": "1"}


def no_alt_text(lesson: NotebookNode) -> None:
    """Show a picture that a screen reader cannot read."""
    cell_of(lesson, "bars").outputs[0].data["text/html"] = '<img src="data:image/png,x" alt="">'


def widget_without_text(lesson: NotebookNode) -> None:
    """Go from the picture straight to prose."""
    lesson.cells.insert(8, new_markdown_cell("Look at the bars.", id="look"))


def failed_cell(lesson: NotebookNode) -> None:
    """Store a cell that failed."""
    error = new_output("error", ename="KeyError", evalue="t0", traceback=[])
    cell_of(lesson, "sum-is-right").outputs = [error]


def empty_cell(lesson: NotebookNode) -> None:
    """Leave a cell that nobody filled."""
    lesson.cells.insert(10, new_code_cell("", id="empty", execution_count=8))


SPOILED = {
    "21 cells": (many_cells, "21 cells: at most 20"),
    "81 words": (source("reason", "word " * 81), "'reason' has 81 words"),
    "162 Chinese characters": (source("reason", "消费" * 81), "'reason' has 81 words"),
    "13 lines": (source("sum-is-right", "assert seed == 0\n" * 13), "has 13 lines"),
    "an empty cell": (empty_cell, "'empty' is empty"),
    "a long def": (
        source("sum-is-right", "def add(a, b):\n" + "    a += b\n" * 6 + "assert add"),
        "def add has 7 lines, more than 6",
    ),
    "no title": (no_title, "the first cell must be the title"),
    "a second title": (source("reason", "# Again"), "'reason' has a second title"),
    "a title without a question": (source("title", TITLE.replace("?", ".")), "question in a line"),
    "no needs": (source("title", TITLE.replace("Needs", "Takes")), "lacks the line 'Needs: …'"),
    "no outcome": (
        source("title", TITLE.replace("You will", "You may")),
        "lacks the line 'You will be able to …'",
    ),
    "parameters too late": (late_parameters, "the second cell, and only it"),
    "two parameters cells": (tags("sum-is-right", "parameters"), "the second cell, and only it"),
    "computed parameters": (source("parameters", "seed = int('0')"), "nothing but NAME = literal"),
    "no seed": (source("parameters", "members = 3"), "the parameters cell must set seed"),
    "no imports": (source("scenario", "numbers = [seed, 1, 2]"), "the third cell must be code"),
    "no prediction asked for": (no_prediction, "no text cell starts with '**Predict'"),
    "a prediction filled in": (source("prediction", "prediction = 3"), "'prediction = None'"),
    "an early reveal": (early_reveal, "a widget is shown before the first '**Predict'"),
    "no reveal": (stored("sum"), "'prediction' must be followed by a cell whose output reveals"),
    "an answer in sight": (answer_in_sight, "'sum': outputs_hidden is for what answers"),
    "an answer said again": (answer_said_again, "'bars-as-text': outputs_hidden is for what"),
    "a first line in sight": (
        lambda lesson: cell_of(lesson, "sum").outputs.pop(0),
        "'sum' shows the first line of its answer",
    ),
    "another output folded": (
        lambda lesson: cell_of(lesson, "bars").metadata.update(jupyter={"outputs_hidden": True}),
        "'bars': outputs_hidden is for what answers",
    ),
    "nothing asserted": (nothing_asserted, "no cell asserts anything"),
    "no question at the end": (source("next-time", "Bye."), "the last cell must be text with"),
    "leftover cell metadata": (leftover_metadata, "has metadata ['papermill']"),
    "leftover widget state": (widget_state, "metadata has ['kernelspec', 'widgets']"),
    "a tag that skips nbval": (tags("sum", "nbval-skip"), "has the tags ['nbval-skip']"),
    "a comment that skips nbval": (source("sum", "# NBVAL_SKIP\n3"), "hides its output"),
    "a random id": (random_id, "'0badcafe' needs an id that names it"),
    "a count of another run": (out_of_order, "'sum' and its output are numbered [4, 9]"),
    "a check without output": (stored("bars-as-text"), "'bars-as-text' is a check, but no output"),
    "a blank check": (stored("bars-as-text", printed("\n")), "is a check, but no output"),
    "a failed cell": (failed_cell, "'sum-is-right' ended with KeyError"),
    "a warning": (
        stored("sum-is-right", new_output("stream", name="stderr", text="careful")),
        "'sum-is-right' wrote to standard error",
    ),
    "a widget's view": (view_payload, "'bars' stores the widget's view"),
    "an address": (stored("sum-is-right", printed("<Thing at 0x7f3a2b1c>")), "holds an address"),
    "a path": (
        stored("sum-is-right", printed("read '/" + "home/ada/orders.csv'")),
        "holds a path of one machine",
    ),
    "no alt text": (no_alt_text, "'bars' shows a picture without alt text"),
    "a widget without text": (widget_without_text, "'bars' shows a widget: the next cell must"),
    "a dead link": (source("reason", "[next](42_none.ipynb)"), "links to 42_none.ipynb"),
    "a dead anchor": (source("reason", "[up](#Four-numbers)"), "links to #Four-numbers"),
    "a nameless picture": (source("reason", "![](lesson.ipynb)"), "a picture without a text"),
    "a magic": (source("sum", "%time 3"), "'sum' is no plain Python"),
}


def test_the_good_lesson_has_no_problems(tmp_path):
    """The rules are silent about a lesson that keeps them all."""
    assert problems(save(good_lesson(), tmp_path / "lesson.ipynb")) == []


@pytest.mark.parametrize(("spoil", "sentence"), SPOILED.values(), ids=SPOILED.keys())
def test_a_breach_is_named(spoil, sentence, tmp_path):
    """A lesson spoiled in one place is refused with a sentence that names the place."""
    lesson = good_lesson()
    spoil(lesson)
    found = problems(save(lesson, tmp_path / "lesson.ipynb"))
    assert any(sentence in problem for problem in found), found


def test_a_link_to_a_learners_copy_leads_to_its_starter(tmp_path):
    """The copy is made later, so the starter stands for it, its headings too, and no other file."""
    folder = tmp_path / "exercises" / "41_range"
    folder.mkdir(parents=True)
    save(good_lesson(), folder / "starter.ipynb")

    def said(link):
        lesson = good_lesson()
        source("reason", f"[write it](../exercises/{link})")(lesson)
        (tmp_path / "notebooks").mkdir(exist_ok=True)
        return problems(save(lesson, tmp_path / "notebooks" / "lesson.ipynb"))

    assert said("41_range/41_range.ipynb") == []
    for dead in ("41_range/41_rang.ipynb", "42_none/42_none.ipynb", "41_range/41_range.md"):
        assert said(dead) == [f"cell 'reason' links to ../exercises/{dead}, which does not exist"]
    assert said("41_range/41_range.ipynb#None") == [
        "cell 'reason' links to #None, but there is no such heading"
    ]


def test_what_is_no_notebook_is_one_problem(tmp_path):
    """A file that cannot be read is refused instead of raising."""
    path = tmp_path / "lesson.ipynb"
    path.write_text("{")
    assert len(problems(path)) == 1


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("**Two** words", 2),
        ("[one link](https://example.org/a/b)", 2),
        ("c0's t0-1 stays", 3),
        ("消费者 reads", 3),
        ('<img alt="not read"> | - |', 0),
    ],
)
def test_words_are_what_is_read(text, count):
    """Markup and link targets are not read; two Chinese characters make a word."""
    assert words(text) == count


def test_the_workbook_has_its_first_notebooks():
    """The checks below run over the notebooks that there must be, not over an empty folder."""
    assert {path.name for path in NOTEBOOKS.glob("*.ipynb")} >= EXPECTED


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_of_the_workbook_keeps_the_conventions(path):
    """Style holds in all the notebooks that a learner opens."""
    assert problems(path) == []


def test_every_public_class_is_used_in_a_lesson():
    """What the package offers by name, a learner meets in the code of some notebook."""
    used: set[str] = set()
    for path in NOTEBOOKS.glob("*.ipynb"):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code":
                names = ast.walk(ast.parse(cell.source))
                used |= {each.id for each in names if isinstance(each, ast.Name)}
    classes = {name for name in kafkalearn.__all__ if isinstance(getattr(kafkalearn, name), type)}
    assert len(classes) > 10
    assert not sorted(classes - used)
