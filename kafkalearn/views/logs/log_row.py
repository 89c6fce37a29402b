"""One row of the logs: the cells to show, and the words for them."""

from itertools import groupby
from operator import itemgetter
from typing import TypedDict

from kafkalearn.views.language import Say, Saying
from kafkalearn.views.logs.partition_log import CELL_KINDS, PartitionLog
from kafkalearn.views.logs.partition_verdict import judge
from kafkalearn.views.logs.spans import told

_RUNS = 6


class Row(TypedDict):
    """One partition.

    first: the offset of the first cell. cells: a letter each, see CELL_KINDS.
    again: (offset, how often), of cells that were processed more than once.
    before, after: how many records are left out on either side. committed: the next to read, as the
    broker has it. positions: (offset, consumers) of those that read it, by offset.
    says: what matters, in parts: (English text, values); tone: ``bad``, ``wait``, ``ok``, ``soft``.
    """

    topic: str
    partition: int
    first: int
    cells: str
    again: tuple[tuple[int, int], ...]
    before: int
    after: int
    committed: int | None
    positions: tuple[tuple[int, str], ...]
    says: tuple[Saying, ...]
    tone: str


def row_of(topic: str, partition: int, *, log: PartitionLog) -> Row:
    """Make the row of a log as it is now."""
    lost = log.lost()
    tone, says = judge(log, lost)
    first, end = log.window()
    return {
        "topic": topic,
        "partition": partition,
        "first": first,
        "cells": log.cells(first, end, lost=lost),
        "again": tuple((at, log.again[at]) for at in range(first, end) if at in log.again),
        "before": first - log.first,
        "after": max(0, log.end - end),
        "committed": log.committed,
        "positions": tuple(log.positions()),
        "says": tuple(says),
        "tone": tone,
    }


def sentence(row: Row, say: Say) -> str:
    """Say the one thing that matters about a partition."""
    cause, *effects = [say(*saying) for saying in row["says"]]
    return say("{}: {}", cause, *effects) if effects else cause


def in_words(row: Row, say: Say) -> str:
    """Say what the bar shows: ``0–4 processed, 5 returned; committed 3; position 6 (c1)``."""
    runs: list[str] = []
    for kind, group in groupby(enumerate(row["cells"], row["first"]), key=itemgetter(1)):
        offsets = [offset for offset, _ in group]
        runs.append(f"{told([(offsets[0], offsets[-1] + 1)])} {say(CELL_KINDS[kind])}")
    parts = runs[:_RUNS] + ["…"] * (len(runs) > _RUNS)
    if row["before"]:
        parts.insert(0, say("{} before", f"{row['before']:,}"))
    if row["after"]:
        parts.append(say("{} after", f"{row['after']:,}"))
    marks = [say("position {} ({})", f"{at:,}", names) for at, names in row["positions"]]
    if row["committed"] is not None:
        marks.insert(0, say("committed {}", f"{row['committed']:,}"))
    return "; ".join([", ".join(parts) or say("no records"), *marks])
