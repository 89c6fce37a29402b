"""``kafkalearn lab | run | book``: work on the notebooks, execute them, make a site of them."""

import os
from pathlib import Path
from typing import Annotated

import typer

from kafkalearn.cli.app import app, told_in_a_sentence


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
    spark: Annotated[
        bool, typer.Option("--spark", help="Also those of a folder that need Spark.")
    ] = False,
) -> None:
    """Execute notebooks in parallel and say which failed."""
    from rich.progress import track

    from kafkalearn import notebooks as runner
    from kafkalearn.workbook import (
        WorkbookError,
        find_notebooks,
        needs_spark,
        read_parameters,
        workbook_root,
    )

    with told_in_a_sentence(WorkbookError):
        asked = notebooks or [workbook_root() / "notebooks"]
        sources = find_notebooks(asked)
        left = [each for each in sources if not spark and each not in asked and needs_spark(each)]
        sources = [each for each in sources if each not in left]
        if not sources:
            raise WorkbookError("All notebooks there need Spark: --spark runs them.")
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
    if left:
        names = ", ".join(each.name for each in left)
        typer.echo(f"Left out, as they need Spark: {names}; --spark runs them, too")
    raise typer.Exit(1 if failed else 0)


@app.command()
def book(
    out: Annotated[Path | None, typer.Option(help="Default: build/book of the workbook.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1)] = os.cpu_count() or 1,
) -> None:
    """Make a static site of the notebooks, whose steppers step with no kernel and no network."""
    from kafkalearn import notebooks as runner
    from kafkalearn.book import write_book
    from kafkalearn.grading.exercise import ExerciseError
    from kafkalearn.grading.release import ReleaseError, release
    from kafkalearn.views.saved_page import BOOK
    from kafkalearn.workbook import WorkbookError, find_notebooks, workbook_root

    with told_in_a_sentence(WorkbookError, ExerciseError, ReleaseError):
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
            beside=[root / "notebooks" / "images"],
        )
        exercises = [path.parent for path in (root / "exercises").glob("*/exercise.toml")]
        release(exercises, index.parent / "exercises", force=True)
    typer.echo(f"{len(tasks)} pages; the first is {index}")
