"""The application that every command belongs to, and how a command says that it cannot."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Learn how a Kafka consumer really works.",
)
Master = Annotated[
    str | None, typer.Option(help="Spark's master. Default: all cores of this machine.")
]


@contextmanager
def interrupted_by_sigterm() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does, so that what was begun is cleaned up."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def told_in_a_sentence(*errors: type[Exception]) -> Iterator[None]:
    """End the command with the error's own sentence instead of a traceback.

    The exit status is the error's `status`, by default 2.
    """
    try:
        yield
    except errors as error:
        typer.echo(f"kafkalearn: {error}", err=True)
        raise typer.Exit(getattr(error, "status", 2)) from error
