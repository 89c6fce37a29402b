"""Why a notebook ended, in words: the limit that was met is named, with its number."""

import signal
from dataclasses import replace

import pytest

from kafkalearn.grading.engines.limits import (
    ended_in_words,
    error_in_words,
    stopped_in_words,
    with_line,
)
from kafkalearn.grading.exercise import Limits
from tests.grading.submissions import EXERCISE

LIMITS = Limits(
    cell_seconds=2.5, total_seconds=30, memory_mb=100, output_kb=20, processes=8, disk_mb=4
)


@pytest.mark.parametrize(
    ("why", "did"),
    [
        ("time", "ran longer than 30 s"),
        ("output", "wrote more than 20 kB"),
        ("memory", "used more than 100 MB of memory"),
        ("cpu", "used more than 30 s of processor time"),
        ("checks", "asked for more checks than any needs"),
        ("answers", "sent the judge no end of answers"),
        ("silent", "cut its connection to the judge"),
    ],
)
def test_a_limit_is_named_with_its_number(why, did):
    """What the notebook did, and in which cell: that name follows."""
    assert stopped_in_words(why, LIMITS) == f"the notebook {did} and was ended in"


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        ((0, "memory"), "the notebook used more than 100 MB of memory and was ended in"),
        ((-signal.SIGKILL, "output"), "the notebook wrote more than 20 kB and was ended in"),
        (
            (-signal.SIGXCPU, ""),
            "the notebook used more than 30 s of processor time and was ended in",
        ),
        ((0, ""), "the notebook's Python process ended when it came to"),
        ((3, ""), "the notebook's Python process ended when it came to"),
        (
            (-signal.SIGSEGV, ""),
            "the notebook's Python process was killed by SIGSEGV when it came to",
        ),
        ((-99, ""), "the notebook's Python process was killed by signal 99 when it came to"),
    ],
)
def test_an_ending_tells_its_cause(ending, said):
    """A limit first, then a signal by its name, then that the process just ended."""
    assert ended_in_words(ending, LIMITS) == said


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "invalid syntax (<ipython-input-3-ab>, line 2)",
            "invalid syntax, in line 2 of the cell: `def f(:`",
        ),
        ("bad (1234.py, line 1)", "bad, in line 1 of the cell: `x = 1`"),
        ("bad (1234.py, line 3)", "bad (1234.py, line 3)"),
        ("bad (1234.py, line 0)", "bad (1234.py, line 0)"),
        ("bad (other.txt, line 1)", "bad (other.txt, line 1)"),
        ("bad", "bad"),
    ],
)
def test_code_that_cannot_be_read_is_shown_with_its_line(said, told):
    """Only where the cell has that line."""
    assert with_line(said, "x = 1\n  def f(:") == told


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("KeyboardInterrupt", "", "it ran longer than 2.5 s and was interrupted"),
        ("SystemExit", "0", "it left by sys.exit()"),
        ("KeyError", "'key'", "your code stopped with KeyError: 'key'"),
        ("ValueError", "", "your code stopped with ValueError"),
        (
            "MemoryError",
            "",
            "your code stopped with MemoryError (at most 100 MB of memory are allowed)",
        ),
        (
            "OSError",
            "[Errno 12] no memory",
            "your code stopped with OSError: [Errno 12] no memory "
            "(at most 100 MB of memory are allowed)",
        ),
        (
            "BlockingIOError",
            "[Errno 11] again",
            "your code stopped with BlockingIOError: [Errno 11] again "
            "(at most 8 processes and threads are allowed)",
        ),
        (
            "RuntimeError",
            "can't start new thread",
            "your code stopped with RuntimeError: can't start new thread "
            "(at most 8 processes and threads are allowed)",
        ),
        (
            "OSError",
            "[Errno 27] too large",
            "your code stopped with OSError: [Errno 27] too large (files may hold at most 4 MB)",
        ),
        (
            "OSError",
            "[Errno 28] no space",
            "your code stopped with OSError: [Errno 28] no space (files may hold at most 4 MB)",
        ),
        ("OSError", "[Errno 112] x", "your code stopped with OSError: [Errno 112] x"),
        ("OSError", "[Errno 115] x", "your code stopped with OSError: [Errno 115] x"),
        (
            "NotImplementedError",
            "",
            "not written yet: your answer still raises NotImplementedError",
        ),
        (
            "ModuleNotFoundError",
            "No module named 'kafkalearn.views'",
            "this exercise does not lend kafkalearn.views: write it yourself",
        ),
        (
            "ModuleNotFoundError",
            "No module named 'kafka'",
            "your code stopped with ModuleNotFoundError: No module named 'kafka'",
        ),
    ],
)
def test_an_error_that_comes_from_a_limit_names_it(name, value, said):
    """Memory, processes and files have their numbers; any other error is repeated."""
    assert error_in_words(name, value, exercise=replace(EXERCISE, limits=LIMITS)) == said
