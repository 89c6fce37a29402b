"""``kafkalearn grade``: judge what a class handed in."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kafkalearn.cli.app import Master, app, interrupted_by_sigterm, told_in_a_sentence


class Attempts(StrEnum):
    """Which of several copies of one exercise counts."""

    LAST = "last"
    BEST = "best"


class Engine(StrEnum):
    """What runs a notebook."""

    FORK = "fork"
    KERNEL = "kernel"


@app.command()
def grade(
    submissions: Annotated[
        Path,
        typer.Argument(
            help="A folder of STUDENT/…/EXERCISE.ipynb, as nbgrader's `submitted`, or a zip as "
            "Moodle and Canvas export it."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(help="Gets grades.csv, grades.parquet, class.html and feedback/STUDENT.html."),
    ],
    master: Master = None,
    course_seed: Annotated[
        int, typer.Option(help="With the student's name it chooses that student's random cases.")
    ] = 0,
    exercises: Annotated[
        Path | None,
        typer.Option(help="Default: all in `exercises` here, above, and beside the package."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Grade only what is new since the last run into OUT.")
    ] = False,
    attempts: Annotated[
        Attempts, typer.Option(help="Of several copies the last by name counts, or the best.")
    ] = Attempts.LAST,
    engine: Annotated[
        Engine, typer.Option(help="`kernel` starts a Jupyter kernel for each: slow.")
    ] = Engine.FORK,
    trusted: Annotated[
        bool, typer.Option("--trusted", help="Run without isolation where there is none.")
    ] = False,
) -> None:
    """Grade what a class handed in, on Spark, and say to each learner why.

    Exit status: 0, everything was graded, whether its checks passed or not.
    1, some submissions could not be read or run to their end, and their rows say why; or the run
    broke off, and --resume goes on from there. 130, the same, by Ctrl-C.
    2, nothing could be begun; the message says why.
    """
    from kafkalearn.spark.grade import Settings
    from kafkalearn.spark.grade_class import GradingError, Options, grade_class

    settings = Settings(course_seed, engine.value, trusted)
    options = Options(settings, master, exercises, resume, attempts.value)
    with told_in_a_sentence(GradingError), interrupted_by_sigterm():
        complete = grade_class(submissions, out, options=options)
    raise typer.Exit(0 if complete else 1)
