"""The judge's words: a learner's text made fit to repeat, exceptions in plain sentences, tables."""

import re

from kafkalearn.grading.exercise import Exercise, Table
from kafkalearn.trace.text import columns, padded

NOT_WRITTEN = "not written yet: your answer still raises NotImplementedError"
LONGEST_SENTENCE = 400  # characters of a learner's own message that are repeated


def clean(text: str) -> str:
    """A learner's text on one line, bounded, and fit for any file."""
    printable = "".join(each if each.isprintable() else " " for each in text)
    text = " ".join(printable.split()).encode("utf-8", "replace").decode()
    return text if len(text) <= LONGEST_SENTENCE else f"{text[: LONGEST_SENTENCE - 3]}..."


def raised_in_words(message: str, exercise: Exercise) -> str:
    """An exception for a learner, with the usual reason for the two that mean something else."""
    if message.startswith("NotImplementedError"):
        return NOT_WRITTEN
    missing = re.search(r"No module named '(kafkalearn[\w.]*)'", message)
    if missing and missing[1] not in exercise.lent_modules:
        return f"this exercise does not lend {missing[1]}: write it yourself"
    return f"your code stopped with {clean(message)}"


def as_text(table: Table) -> str:
    """Lay a table out in columns of equal width; rows that differ say so at their end."""
    lines = (table.header, *table.rows)
    widths = [max(map(columns, column)) for column in zip(*lines, strict=True)]
    text = [table.caption, ""]
    for number, line in enumerate(lines, start=-1):
        cells = "  ".join(padded(cell, width) for cell, width in zip(line, widths, strict=True))
        text.append((f"{cells}  <- differs" if number in table.marked else cells).rstrip())
    return "\n".join(text)
