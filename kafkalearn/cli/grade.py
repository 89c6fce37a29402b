"""``kafkalearn grade``: judge what a class handed in."""

from pathlib import Path
from typing import Annotated

import typer

from kafkalearn.cli.app import app, told_in_a_sentence


@app.command()
def grade(
    submissions: Annotated[
        Path, typer.Argument(help="Holds STUDENT/…/EXERCISE.ipynb, as nbgrader's `submitted` does.")
    ],
    out: Annotated[
        Path, typer.Option(help="Gets grades.csv, grades.parquet and feedback/STUDENT.html.")
    ],
    master: Annotated[
        str | None, typer.Option(help="Spark's master. Default: all cores of this machine.")
    ] = None,
    course_seed: Annotated[
        int, typer.Option(help="With the student's name it chooses that student's random cases.")
    ] = 0,
    exercises: Annotated[
        Path | None, typer.Option(help="Default: `exercises` here, above, or beside the package.")
    ] = None,
) -> None:
    """Grade what a class handed in, on Spark, and say to each learner why.

    This release isolates nothing: submissions run with your rights. Use it for classes you trust.

    Exit status: 0, everything was graded, whether its checks passed or not.
    1, some submissions could not be read or run; their rows say why.
    2, nothing was graded or written; the message says why.
    """
    from kafkalearn.spark.grade_class import GradingError, grade_class

    with told_in_a_sentence(GradingError):
        complete = grade_class(
            submissions, out, master=master, course_seed=course_seed, exercises=exercises
        )
    raise typer.Exit(0 if complete else 1)
