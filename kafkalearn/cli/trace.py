"""``kafkalearn trace``: run a scenario and read its events."""

from pathlib import Path
from typing import Annotated

import typer

from kafkalearn.cli.app import app, told_in_a_sentence


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
