"""``kafkalearn lab | run | book``: work on the notebooks, execute them, make a site of them."""

import os
from pathlib import Path
from typing import Annotated

import typer

from kafkalearn.cli.app import app, told_in_a_sentence

_PROCESSORS = os.cpu_count() or 1
Jobs = Annotated[
    int,
    typer.Option("--jobs", "-j", min=1, help="How many run at a time. Default: one a processor."),
]


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
    jobs: Jobs = _PROCESSORS,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", metavar="NAME=VALUE", help="For all that know it."),
    ] = None,
    timeout: Annotated[int, typer.Option(min=1, help="Seconds that one cell may take.")] = 300,
    spark: Annotated[
        bool, typer.Option("--spark", help="Also those of a folder that need Spark.")
    ] = False,
) -> None:
    """Execute notebooks in parallel and say which failed."""
    from rich.progress import track

    from kafkalearn import notebooks as runner
    from kafkalearn import workbook

    with told_in_a_sentence(workbook.WorkbookError):
        asked = notebooks or [workbook.workbook_root() / "notebooks"]
        sources = workbook.find_notebooks(asked)
        left = [] if spark else [each for each in sources if each not in asked]
        left = [each for each in left if workbook.needs_spark(each)]
        sources = [each for each in sources if each not in left]
        if not sources:
            raise workbook.WorkbookError("All notebooks there need Spark: --spark runs them.")
        parameters = workbook.read_parameters(parameter or [], sources)
        folder = out or workbook.workbook_root() / "build" / "notebooks"
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
    if left:
        names = ", ".join(each.name for each in left)
        typer.echo(f"Left out, as they need Spark: {names}; --spark runs them, too")
    raise typer.Exit(1 if failed else 0)


@app.command()
def book(
    out: Annotated[Path | None, typer.Option(help="Default: build/book of the workbook.")] = None,
    jobs: Jobs = _PROCESSORS,
    spark: Annotated[
        bool, typer.Option("--spark/--no-spark", help="With those that need Spark, or without.")
    ] = True,
) -> None:
    """Make a static site of the notebooks, whose steppers step with no kernel and no network.

    It runs them all, which takes some minutes. One that fails is named, and has no page.
    """
    from kafkalearn import notebooks as runner
    from kafkalearn.book import write_book
    from kafkalearn.grading.exercise import ExerciseError
    from kafkalearn.grading.release import ReleaseError, release
    from kafkalearn.views.saved_page import BOOK
    from kafkalearn.workbook import WorkbookError, find_notebooks, needs_spark, workbook_root

    with told_in_a_sentence(WorkbookError, ExerciseError, ReleaseError):
        root = workbook_root()
        executed, folder = root / "build" / "book-notebooks", out or root / "build" / "book"
        sources = find_notebooks([root / "notebooks"])
        sources = [each for each in sources if spark or not needs_spark(each)]
        os.environ[BOOK] = "1"
        tasks = [runner.NotebookTask(source, executed / source.name) for source in sources]
        runs = list(runner.run_notebooks(tasks, jobs=jobs))
        failed = [each for each in runs if each.problem]
        for each in failed:
            typer.echo(f"{each.source.name} has no page: {each.problem}", err=True)
        starters = sorted((root / "exercises").glob("*/starter.ipynb"))
        release([path.parent for path in starters], folder / "exercises", force=True)
        index = write_book(
            [each.output for each in runs if not each.problem],
            folder,
            exercises=starters,
            beside=[root / "notebooks" / "images"],
        )
    lessons = f"{len(runs) - len(failed)} of {len(runs)} lessons"
    typer.echo(f"{lessons} and {len(starters)} exercises; the first page is {index}")
    raise typer.Exit(1 if failed else 0)
