"""Traces that are stored as text: read once by somebody, and compared ever after.

Read what ``git diff`` shows after writing them anew, line by line: each difference is one in what
learners see.
"""

import difflib
from pathlib import Path


class Golden:
    """The stored traces of one folder. module: what writes them anew, as ``python -m`` takes it."""

    def __init__(self, folder: Path, module: str) -> None:
        self.folder = folder
        self.HOW_TO_ACCEPT = f"if this is how it should be: python -m {module}"

    def path_of(self, name):
        """Say where the trace of this name is stored."""
        return self.folder / f"{name}.txt"

    def difference(self, name, text):
        """Compare a trace's text with the stored one: '' if they are equal, or what differs."""
        path = self.path_of(name)
        stored = path.read_text(encoding="utf-8") if path.exists() else ""
        if stored == text + "\n":
            return ""
        lines = difflib.unified_diff(
            stored.splitlines(), text.splitlines(), f"golden/{path.name}", "now", n=2, lineterm=""
        )
        return "\n".join([*lines, self.HOW_TO_ACCEPT])

    def write_all(self, traces):
        """Store each trace by its name, and throw away what belongs to none."""
        texts = {name: f"{trace}\n" for name, trace in traces.items()}
        self.folder.mkdir(exist_ok=True)
        for path in self.stored():
            path.unlink()
        for name, text in texts.items():
            self.path_of(name).write_text(text, encoding="utf-8")

    def stored(self):
        """List the stored traces."""
        return sorted(self.folder.glob("*.txt"))
