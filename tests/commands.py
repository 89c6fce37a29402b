"""Commands started as a person would start them, for tests that watch them from outside."""

import sys
import time
from collections.abc import Callable
from subprocess import Popen
from typing import Any

import pytest

KAFKALEARN = [sys.executable, "-c", "from kafkalearn.cli import app; app()"]


def wait_until(true: Callable[[], bool], process: Popen[Any]) -> None:
    """Wait for something that the process is to do; fail if it ends or never does it."""
    for _ in range(600):
        if true():
            return
        assert process.poll() is None, "the process ended before"
        time.sleep(0.1)
    pytest.fail("nothing happened for a minute")
