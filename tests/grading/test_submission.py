"""What is no submission, and how the checks of one are restored."""

import json

import pytest

from kafkalearn.grading.engines.submission import MOST_CELLS, prepare
from kafkalearn.grading.handed_in.archives import LARGEST_BYTES, SubmissionError
from tests.grading.submissions import (
    CHECKS,
    EXERCISE,
    as_bytes,
    code,
    notebook,
    without_checks,
)


def book(**changes):
    """The starter with other top-level keys."""
    return as_bytes(notebook() | changes)


def without_answer():
    """The starter without its answer cell."""
    cells = [cell for cell in notebook()["cells"] if cell["id"] != "answer"]
    return book(cells=cells)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        ("# Grüße".encode("latin-1"), "the file is not UTF-8 text, so it is no notebook"),
        (b"print('hello')", "the file is no notebook: it does not hold JSON"),
        (b"[" * 100_000, "the file is no notebook: it does not hold JSON"),
        (b"[]", "format is none"),
        (book(nbformat=3), "format is 3"),
        (book(cells="none"), "no valid notebook"),
        (book(cells=[{"cell_type": "code"}]), "no valid notebook"),
        (book(cells=[{**code("1"), "metadata": 5}]), "no valid notebook"),
        (book(metadata=[]), "no valid notebook"),
        (book(cells=[code("'\ud800'")]), "no valid notebook"),
        (without_answer(), "the answer cell is gone: no code cell has the tag `answer`"),
        (
            book(metadata={"kafkalearn": {"exercise": "42_round_robin_assignor"}}),
            "written for the exercise 42_round_robin_assignor, not for 41_range_assignor",
        ),
        (book(metadata={"kafkalearn": "mine"}), "no valid notebook"),
        (book(cells=[code("1")] * (MOST_CELLS + 1)), "the notebook has 501 cells: at most 500"),
        (b" " * LARGEST_BYTES + b"{}", "larger than 10 MB"),
    ],
)
def test_what_is_no_submission_is_refused_with_a_sentence(content, said):
    """Each kind of wrong file has its own words."""
    with pytest.raises(SubmissionError, match=said):
        prepare(content, EXERCISE)


def restored_of(content):
    """The check cells that will run, as (id, source)."""
    cells = prepare(content, EXERCISE).cells
    return [(c.id, c.source) for c in cells if "check" in c.metadata.get("tags", [])], cells


def test_deleted_emptied_and_reordered_checks_are_the_starters_again():
    """Whatever a learner does to the check cells, the starter's run, at the end, in its order."""
    starter, _ = restored_of(as_bytes(notebook()))
    assert [name for name, _ in starter] == CHECKS
    emptied = notebook()
    for cell in emptied["cells"][-len(CHECKS) :]:
        cell["source"] = "print('passed')"
    backwards = notebook()
    backwards["cells"].reverse()
    for changed in (without_checks(notebook()), emptied, backwards):
        checks, cells = restored_of(as_bytes(changed))
        assert checks == starter
        assert [cell.id for cell in cells[-len(CHECKS) :]] == CHECKS


def test_a_learners_cell_never_passes_for_a_check():
    """A cell with a check's id but without its tag gets another id; stored outputs are dropped."""
    forged = notebook()
    cell = code("check = print")
    cell |= {"id": "by-name", "execution_count": 7}
    cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "by-name: right"}]
    forged["cells"].insert(1, cell)
    _, cells = restored_of(as_bytes(forged))
    assert [cell.id for cell in cells].count("by-name") == 1
    assert all(not cell.get("outputs") and not cell.get("execution_count") for cell in cells)


def test_a_notebook_of_an_older_tool_is_read():
    """Cells without ids, nbformat_minor 4, a byte order mark: all fine."""
    old = notebook() | {"nbformat_minor": 4}
    for cell in old["cells"]:
        del cell["id"]
    checks, _ = restored_of(b"\xef\xbb\xbf" + json.dumps(old).encode())
    assert [name for name, _ in checks] == CHECKS
