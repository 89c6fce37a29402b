"""The command line: ``kafkalearn lab | run | grade``. Each command imports what it needs when it runs.

It wires and prints; the work is in the modules that it calls.
"""

import typer

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Learn how a Kafka consumer really works.",
)
