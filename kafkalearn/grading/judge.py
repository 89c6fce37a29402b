"""Decides a check: asks about the exercise's inputs one by one, compares answers with promises.

It sees questions and answers as JSON only, so it is the same whether an answer comes from this
notebook or from another process. It never runs a learner's code.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from kafkalearn.grading.exercise import Exercise, Table
from kafkalearn.grading.wire import WireError, decode, encode
from kafkalearn.trace.text import columns, padded

Ask = Callable[[Any], dict[str, Any]]
LONGEST_SENTENCE = 400  # characters of a learner's own message that are repeated


class Verdict(NamedTuple):
    """What the judge says about one check: one sentence, and the case that showed it."""

    passed: bool
    sentence: str
    table: Table | None = None

    @property
    def text(self) -> str:
        """The verdict as a notebook shows it."""
        return self.sentence if self.table is None else f"{self.sentence}\n\n{as_text(self.table)}"


def decide(exercise: Exercise, check: str, *, seed: int, ask: Ask) -> Verdict:
    """Ask until an answer is wrong or none is left; anything that cannot be judged has failed.

    Errors: EOFError and OSError of `ask`, when nobody is left to answer.
    """
    try:
        return _decide(exercise, check, seed, ask)
    except (OSError, EOFError):
        raise
    except Exception as error:
        return Verdict(
            False, f"{check}: the judge itself failed, tell your teacher: {clean(repr(error))}"
        )


def _decide(exercise: Exercise, check: str, seed: int, ask: Ask) -> Verdict:
    asked = 0
    for arguments in exercise.judge.inputs(check, seed):
        message = ask(encode(arguments))
        sentence, answer = _hear(exercise, arguments, message)
        if sentence:
            table = exercise.judge.table(arguments, answer)
            rows = tuple(tuple(map(clean, row)) for row in table.rows)
            return Verdict(False, f"{check}: {clean(sentence)}", table._replace(rows=rows))
        asked += 1
    if not asked:
        return Verdict(
            False, f"{check}: the exercise has no inputs for this check; tell your teacher"
        )
    return Verdict(True, f"{check}: right in {asked} of {asked} cases")


def _hear(
    exercise: Exercise, arguments: tuple[Any, ...], message: dict[str, Any]
) -> tuple[str | None, Any]:
    """What is wrong (None: nothing), and the answer if there is one."""
    if "raised" in message:
        return raised_in_words(str(message["raised"]), exercise), None
    if "returned" not in message:
        return str(message.get("refused", "no answer came back")), None
    try:
        answer = decode(message["returned"])
        return exercise.judge.problem(arguments, answer), answer
    except WireError as error:
        return str(error), None


def raised_in_words(message: str, exercise: Exercise) -> str:
    """An exception for a learner, with the usual reason for the two that mean something else."""
    if message.startswith("NotImplementedError"):
        return "not written yet: your answer still raises NotImplementedError"
    missing = re.search(r"No module named '(kafkalearn[\w.]*)'", message)
    if missing and missing[1] not in exercise.lent_modules:
        return f"this exercise does not lend {missing[1]}: write it yourself"
    return f"your code stopped with {clean(message)}"


def clean(text: str) -> str:
    """A learner's text on one line, bounded, and fit for any file."""
    text = " ".join(text.replace("\0", " ").split()).encode("utf-8", "replace").decode()
    return text if len(text) <= LONGEST_SENTENCE else f"{text[: LONGEST_SENTENCE - 3]}..."


def as_text(table: Table) -> str:
    """Lay a table out in columns of equal width; rows that differ say so at their end."""
    lines = (table.header, *table.rows)
    widths = [max(map(columns, column)) for column in zip(*lines, strict=True)]
    text = [table.caption, ""]
    for number, line in enumerate(lines, start=-1):
        cells = "  ".join(padded(cell, width) for cell, width in zip(line, widths, strict=True))
        text.append((f"{cells}  <- differs" if number in table.marked else cells).rstrip())
    return "\n".join(text)
