"""The command line, a module a family: ``kafkalearn lab | run | book | trace | exercise | grade``.

It wires and prints; each command imports what it calls when it runs. Exit status: 0 when all went
well, 1 when something that was run or graded failed, 2 when the command cannot do what was asked.
"""

# The order of imports is the order of commands in the help.
from kafkalearn.cli import notebooks, trace, exercise, grade  # noqa: F401, I001
from kafkalearn.cli import sweep, logs, report  # noqa: F401
from kafkalearn.cli.app import app

__all__ = ["app"]
