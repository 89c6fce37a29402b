"""What runs beside a test: which processes there are, and waiting for them."""

import time
from pathlib import Path


def until(is_so):
    """Wait, not for ever, until something is so."""
    patience = time.monotonic() + 30
    while not is_so() and time.monotonic() < patience:
        time.sleep(0.01)


def alive(pid):
    """Whether there is such a process, which has not ended."""
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pids):
    """Wait, not for ever, until none of the processes is left."""
    until(lambda: not any(map(alive, pids)))
    return not any(map(alive, pids))


def descendants(pid):
    """The process and all that it has started, in whichever of its threads."""
    threads = Path("/proc", str(pid), "task").glob("*/children")
    children = " ".join(each.read_text() for each in threads).split()
    return [pid, *(each for child in children for each in descendants(int(child)))]
