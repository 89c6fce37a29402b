"""The command line: ``kafkalearn lab | run | book | trace | grade``.

It wires and prints; each command imports what it calls when it runs. Exit status: 0 when all went
well, 1 when something that was run or graded failed, 2 when the command cannot do what was asked.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

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


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def lab(
    context: typer.Context,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Default: 8888, or the next free one.")
    ] = None,
    browser: Annotated[
        bool, typer.Option(help="Open a browser window, or only print the address.")
    ] = True,
) -> None:
    """Open JupyterLab on the welcome notebook. Further options are handed to `jupyter lab`."""
    from kafkalearn.lab import open_lab
    from kafkalearn.workbook import WorkbookError, workbook_root

    with told_in_a_sentence(WorkbookError):
        open_lab(workbook_root(), context.args, port=port, browser=browser)


@app.command()
def run(
    notebooks: Annotated[
        list[Path] | None, typer.Argument(help="Notebooks or folders. Default: the workbook's.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Where executed copies go. Default: build/notebooks of the workbook."),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", "-j", min=1, help="How many run at a time. Default: one a processor."
        ),
    ] = os.cpu_count() or 1,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", metavar="NAME=VALUE", help="For all that know it."),
    ] = None,
    timeout: Annotated[int, typer.Option(min=1, help="Seconds that one cell may take.")] = 300,
) -> None:
    """Execute notebooks in parallel and say which failed."""
    from rich.progress import track

    from kafkalearn import notebooks as runner
    from kafkalearn.workbook import WorkbookError, find_notebooks, read_parameters, workbook_root

    with told_in_a_sentence(WorkbookError):
        sources = find_notebooks(notebooks or [workbook_root() / "notebooks"])
        parameters = read_parameters(parameter or [], sources)
        folder = out or workbook_root() / "build" / "notebooks"
        tasks = [
            runner.NotebookTask(source, folder / source.name, parameters, timeout)
            for source in sources
        ]
        runs = track(runner.run_notebooks(tasks, jobs=jobs), "notebooks", total=len(tasks))
        failed = [each for each in runs if each.problem]
    for each in sorted(failed, key=lambda each: each.source.name):
        typer.echo(f"{each.source.name}: {each.problem}")
    typer.echo(
        f"{len(tasks) - len(failed)} of {len(tasks)} notebooks ran; their copies are in {folder}"
    )
    raise typer.Exit(1 if failed else 0)


@app.command()
def book(
    out: Annotated[Path | None, typer.Option(help="Default: build/book of the workbook.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1)] = os.cpu_count() or 1,
) -> None:
    """Make a static site of the notebooks, whose steppers step with no kernel and no network."""
    from kafkalearn import notebooks as runner
    from kafkalearn.book import write_book
    from kafkalearn.views.saved_page import BOOK
    from kafkalearn.workbook import WorkbookError, find_notebooks, workbook_root

    with told_in_a_sentence(WorkbookError):
        root = workbook_root()
        executed = root / "build" / "book-notebooks"
        sources = find_notebooks([root / "notebooks"])
        os.environ[BOOK] = "1"
        tasks = [runner.NotebookTask(source, executed / source.name) for source in sources]
        failed = [each for each in runner.run_notebooks(tasks, jobs=jobs) if each.problem]
        for each in failed:
            typer.echo(f"{each.source.name}: {each.problem}", err=True)
        if failed:
            raise typer.Exit(1)
        index = write_book(
            [task.output for task in tasks],
            out or root / "build" / "book",
            beside=[root / "notebooks" / "images", root / "exercises"],
        )
    typer.echo(f"{len(tasks)} pages; the first is {index}")


@app.command()
def trace(
    scenario: Annotated[
        str | None, typer.Argument(help="Its name; without one, the scenarios are listed.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write one page here that steps without a network.")
    ] = None,
    jsonl: Annotated[Path | None, typer.Option(help="Write the events here, one a line.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Chooses latencies and member ids.")] = 0,
    profile: Annotated[str, typer.Option(help="Whose rules hold: 0.10.1, 1.0, 2.3, 2.4, 4.0.")] = (
        "1.0"
    ),
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the scenario."),
    ] = None,
    lang: Annotated[str, typer.Option(help="Language of the sentences: en or zh.")] = "en",
) -> None:
    """Run a scenario: print its events, or write them as a page to step through."""
    from kafkalearn import scenarios
    from kafkalearn.errors import KafkaError
    from kafkalearn.workbook import WorkbookError, read_assignment

    if scenario is None:
        for name in scenarios.names():
            summary = (scenarios.get(name).__doc__ or "").partition("\n")[0]
            typer.echo(f"{name:<24} {summary}")
        return
    with told_in_a_sentence(KafkaError, WorkbookError, OSError):
        settings = dict(read_assignment(each, option="--set") for each in setting or [])
        told = scenarios.run(scenario, **{"seed": seed, "profile": profile, **settings})
        if html is not None:
            from kafkalearn.views import Stepper

            Stepper(told, lang=lang).save(html)
        if jsonl is not None:
            told.to_jsonl(jsonl)
        if html is None and jsonl is None:
            typer.echo(told.text(lang))


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
