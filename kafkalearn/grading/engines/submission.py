"""Makes a submitted notebook fit to run: the learner's cells, then the starter's checks."""

import json
from collections.abc import Mapping
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import to_notebook

from kafkalearn.grading.exercise import Exercise, tags_of
from kafkalearn.grading.handed_in.archives import SubmissionError, check_size

MOST_CELLS = 500  # of a learner's; a starter has some 20


def prepare(content: bytes, exercise: Exercise) -> NotebookNode:
    """Give the notebook to run; SubmissionError if the file is no notebook for this exercise."""
    submitted = _read(content)
    named = str(submitted["metadata"].get("kafkalearn", {}).get("exercise", exercise.name))
    if named != exercise.name:
        raise SubmissionError(
            f"the notebook was written for the exercise {named}, not for {exercise.name}"
        )
    if not any(_has_tag(cell, "answer") for cell in submitted["cells"]):
        raise SubmissionError("the answer cell is gone: no code cell has the tag `answer`")
    _restore_checks(submitted, exercise)
    notebook: NotebookNode = to_notebook(submitted)  # type: ignore[no-untyped-call]
    return notebook


def _has_tag(cell: Mapping[str, Any], tag: str) -> bool:
    return cell["cell_type"] == "code" and tag in tags_of(cell)


def _read(content: bytes) -> dict[str, Any]:
    if not content.strip():
        raise SubmissionError("the file is empty")
    check_size(len(content))
    try:
        text = content.decode("utf-8-sig")
        raw = json.loads(text)
    except UnicodeDecodeError:
        raise SubmissionError("the file is not UTF-8 text, so it is no notebook") from None
    except (ValueError, RecursionError):
        raise SubmissionError("the file is no notebook: it does not hold JSON") from None
    version = raw.get("nbformat") if isinstance(raw, dict) else None
    if version != 4:
        found = "none" if version is None else f"{version!r:.20}"
        raise SubmissionError(
            f"the notebook's format is {found}: only nbformat 4, as JupyterLab writes it, is read"
        )
    cells = raw.get("cells")
    if isinstance(cells, list) and len(cells) > MOST_CELLS:
        raise SubmissionError(
            f"the notebook has {len(cells):,} cells: at most {MOST_CELLS} are run"
        )
    return _valid(raw)


def _valid(raw: dict[str, Any]) -> dict[str, Any]:
    """Old notebooks have no cell ids; a learner's cells all get new ones, never a check's."""
    try:
        raw["nbformat_minor"] = 5
        for number, cell in enumerate(raw["cells"], start=1):
            cell["id"] = f"learner-{number}"
            if cell["cell_type"] == "code":
                cell["outputs"], cell["execution_count"] = [], None
        nbformat.validate(raw)
        for cell in raw["cells"]:
            "".join(cell["source"]).encode()  # Half a surrogate pair cannot run.
        # Of the metadata nbformat checks nothing that is ours.
        raw["metadata"].get("kafkalearn", {}).get("exercise")
    except (nbformat.ValidationError, LookupError, TypeError, AttributeError, ValueError) as error:
        what = str(error).strip().splitlines()
        raise SubmissionError(
            f"the file is no valid notebook: {what[0] if what else error!r}"
        ) from None
    return raw


def _restore_checks(submitted: dict[str, Any], exercise: Exercise) -> None:
    """Throw away every check of the learner's copy, and put the starter's at the end."""
    starter = json.loads(exercise.files["starter.ipynb"])
    restored = [cell for cell in starter["cells"] if _has_tag(cell, "check")]
    for cell in restored:
        cell["outputs"], cell["execution_count"] = [], None
    submitted["cells"] = [c for c in submitted["cells"] if not _has_tag(c, "check")] + restored
