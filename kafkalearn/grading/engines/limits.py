"""Why a notebook's process ended, in words that name the true cause."""

import re
import signal

from kafkalearn.grading.exercise import Exercise, Limits
from kafkalearn.grading.isolation.walls import Ending
from kafkalearn.grading.judging.wording import raised_in_words

# As IPython and its kernel name a cell: <ipython-input-1-…>, or the number of a file.
_IN_LINE = re.compile(r"(.*) \((?:<ipython-input[^)]*>|\d+\.py), line (\d+)\)", re.S)


def stopped_in_words(why: str, limits: Limits) -> str:
    """Say why a notebook was ended, up to the name of the cell."""
    causes = {
        "time": f"ran longer than {limits.total_seconds:g} s",
        "output": f"wrote more than {limits.output_kb} kB",
        "memory": f"used more than {limits.memory_mb} MB of memory",
        "cpu": f"used more than {limits.total_seconds:g} s of processor time",
        "checks": "asked for more checks than any needs",
        "answers": "sent the judge no end of answers",
        "silent": "cut its connection to the judge",  # the process lives
    }
    return f"the notebook {causes[why]} and was ended in"


def ended_in_words(ending: Ending, limits: Limits) -> str:
    """Say how a process ended, up to the name of the cell."""
    status, why = ending
    if why or status == -signal.SIGXCPU:
        return stopped_in_words("cpu" if status == -signal.SIGXCPU else why, limits)
    try:
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else "ended"
    except ValueError:
        how = f"was killed by signal {-status}"
    return f"the notebook's Python process {how} when it came to"


def with_line(said: str, source: str) -> str:
    """Put the line itself to what Python says of code that it cannot read."""
    found = _IN_LINE.fullmatch(said)
    lines = source.splitlines()
    if not found or not 0 < int(found[2]) <= len(lines):
        return said
    return f"{found[1]}, in line {found[2]} of the cell: `{lines[int(found[2]) - 1].strip()}`"


def error_in_words(name: str, value: str, *, exercise: Exercise) -> str:
    """Say what a cell's error means; one that comes from a limit names it."""
    limits = exercise.limits
    if name == "KeyboardInterrupt":
        return f"it ran longer than {limits.cell_seconds:g} s and was interrupted"
    if name == "SystemExit":
        return "it left by sys.exit()"
    words = raised_in_words(f"{name}: {value}" if value else name, exercise)
    causes = {
        r"MemoryError|Errno 12\b": f"at most {limits.memory_mb} MB of memory are allowed",
        r"Errno 11\b|can't start new thread": (
            f"at most {limits.processes} processes and threads are allowed"
        ),
        r"Errno 2[78]\b": f"files may hold at most {limits.disk_mb} MB",
    }
    for pattern, cause in causes.items():
        if re.search(pattern, f"{name}: {value[:200]}"):
            return f"{words} ({cause})"
    return words
