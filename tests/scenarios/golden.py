"""The stored traces of the scenarios. ``python -m tests.scenarios.golden`` writes them anew.

Read what ``git diff`` shows then, line by line: each difference is one in what learners see.
"""

import difflib
from pathlib import Path

from kafkalearn import scenarios

FOLDER = Path(__file__).with_suffix("")
HOW_TO_ACCEPT = "if this is how it should be: python -m tests.scenarios.golden"


def path_of(name):
    """Say where a scenario's trace is stored."""
    return FOLDER / f"{name}.txt"


def difference(name, text):
    """Compare a trace's text with the stored one: '' if they are equal, or what differs."""
    path = path_of(name)
    stored = path.read_text(encoding="utf-8") if path.exists() else ""
    if stored == text + "\n":
        return ""
    lines = difflib.unified_diff(
        stored.splitlines(), text.splitlines(), f"golden/{path.name}", "now", n=2, lineterm=""
    )
    return "\n".join([*lines, HOW_TO_ACCEPT])


def write_all():
    """Store each scenario's trace, and throw away what belongs to none."""
    texts = {name: f"{scenarios.run(name)}\n" for name in scenarios.names()}
    FOLDER.mkdir(exist_ok=True)
    for path in stored():
        path.unlink()
    for name, text in texts.items():
        path_of(name).write_text(text, encoding="utf-8")


def stored():
    """List the stored traces."""
    return sorted(FOLDER.glob("*.txt"))


if __name__ == "__main__":
    write_all()
