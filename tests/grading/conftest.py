"""A place for what grading leaves on the disk."""

import tempfile
from pathlib import Path

import pytest


@pytest.fixture
def files(monkeypatch):
    """The folder in which all that grading leaves on the disk would lie."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)
