"""The application that every command belongs to, and how a command says that it cannot."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Learn how a Kafka consumer really works.",
)


@contextmanager
def told_in_a_sentence(*errors: type[Exception]) -> Iterator[None]:
    """End the command with the error's own sentence and status 2 instead of a traceback."""
    try:
        yield
    except errors as error:
        typer.echo(f"kafkalearn: {error}", err=True)
        raise typer.Exit(2) from error
