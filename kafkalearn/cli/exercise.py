"""``kafkalearn exercise list | test | release | reset``: to give exercises, and to do them."""

from pathlib import Path
from typing import Annotated

import typer

from kafkalearn.cli.app import app, told_in_a_sentence

exercise_app = typer.Typer(no_args_is_help=True, help="Exercises: prove, hand out, begin anew.")
app.add_typer(exercise_app, name="exercise")

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME]...", help="As in 41_range_assignor, or 41. Default: all."),
]


@exercise_app.command("list")
def list_all() -> None:
    """List the exercises with their points."""
    from kafkalearn.grading.exercise import ExerciseError, load
    from kafkalearn.grading.kit import find_folders

    for folder in find_folders():
        with told_in_a_sentence(ExerciseError):
            exercise = load(folder)
        points = sum(check.points for check in exercise.checks)
        typer.echo(f"{exercise.name:24} {points:3g} points  {exercise.title}")


@exercise_app.command("test")
def prove_exercises(
    names: Names = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many students' seeds are tried.")] = 20,
) -> None:
    """Prove that a starter fails, its solution passes, and each wrong answer is caught.

    A wrong answer is caught by the check that it names, under every seed; (+2) tells that two more
    say no to it. Exit status: 1, an exercise is not proven; the lines below its name say why.
    """
    from kafkalearn.grading.exercise import ExerciseError
    from kafkalearn.grading.kit import find_folders, prove_all

    with told_in_a_sentence(ExerciseError):
        folders = find_folders(names or [])
    proven = True
    for folder, proof in zip(folders, prove_all(folders, seeds=range(seeds)), strict=True):
        wrong = [
            f"{name} by {named}" + (f" (+{len(others)})" if others else "")
            for name, (named, *others) in proof.caught.items()
        ]
        state = "NOT proven" if proof.problems else f"proven under {seeds} seeds"
        caught = f"; caught: {', '.join(wrong)}" if wrong else ""
        typer.echo(f"{folder.name}: {state}{caught}")
        for problem in proof.problems:
            typer.echo(f"  {problem}")
        proven = proven and not proof.problems
    raise typer.Exit(0 if proven else 1)


@exercise_app.command()
def release(
    out: Annotated[Path, typer.Option(help="Gets a notebook for each exercise.")],
    names: Names = None,
    with_checks: Annotated[
        bool,
        typer.Option(
            "--with-checks",
            help="Also what `check` needs where there is no checkout. It holds the reference.",
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is there.")] = False,
) -> None:
    """Write the student version: notebooks without solutions, wrong answers and judge."""
    from kafkalearn.grading.exercise import ExerciseError
    from kafkalearn.grading.kit import find_folders
    from kafkalearn.grading.release import ReleaseError
    from kafkalearn.grading.release import release as write

    with told_in_a_sentence(ExerciseError, ReleaseError):
        written = write(find_folders(names or []), out, with_checks=with_checks, force=force)
    for path in written:
        typer.echo(path)


@exercise_app.command()
def reset(name: Annotated[str, typer.Argument(help="As in 41_range_assignor, or 41.")]) -> None:
    """Begin an exercise anew from its starter; what was there is kept beside it."""
    from kafkalearn.grading.exercise import ExerciseError
    from kafkalearn.grading.kit import find_folders
    from kafkalearn.lab import learners_copy, put_back
    from kafkalearn.workbook import WorkbookError

    with told_in_a_sentence(ExerciseError, WorkbookError):
        (folder,) = find_folders([name])
        kept = put_back(folder)
    typer.echo(f"{learners_copy(folder)} is the starter again")
    if kept:
        typer.echo(f"what was there is {kept.name}")
