"""`make pictures`: each view as it looks, light and dark, into build/pictures.

``python -m tests.browser.pictures --readme`` makes anew the two that the README shows.
"""

import os
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from kafkalearn import scenarios
from kafkalearn.assignors import all_assignors
from kafkalearn.producer.placement import hash_of, placements
from kafkalearn.scenarios.what_if import what_if
from kafkalearn.views import AssignmentExplorer, PartitionerExplorer, Stepper
from kafkalearn.views.stepper import DEFAULT_PANES
from tests.browser.chromium import find_chromium, launch
from tests.browser.conftest import HOW_TO_GET_ONE

ROOT = Path(__file__).parents[2]
README = ROOT / "notebooks" / "images"
WIDTH = 1240


def told(scenario, *, wanted, panes, lang="en", **settings):
    """Give a stepper of a scenario, at the last event that is `wanted`."""
    trace = scenarios.run(scenario, **settings)
    stepper = Stepper(trace, panes=panes, lang=lang)
    stepper.go_to(max(place for place, event in enumerate(trace) if wanted(event)))
    return stepper


def refused(event):
    """Whether a heartbeat is answered with the news of a rebalance."""
    return event.kind == "response" and event.error == "REBALANCE_IN_PROGRESS"


def forked():
    """Give two histories: c1 crashes while c2 joins, and does not."""
    stepper = Stepper(
        *what_if("second_member_joins", at_ms=3500, crash="c1"), panes=("messages", "group", "logs")
    )
    stepper.go_to(stepper.story["difference"] + 6)
    return stepper


def steppers():
    """Give what is photographed, by name."""
    joins = {"scenario": "second_member_joins", "partitions": 6}
    yield "stepper", told(**joins, wanted=refused, panes=DEFAULT_PANES)
    yield "stepper-zh", told(**joins, wanted=refused, panes=DEFAULT_PANES, lang="zh")
    yield "messages", told(**joins, wanted=refused, panes=("messages",))
    yield "group", told(**joins, wanted=refused, panes=("group",))
    shared = {"wanted": lambda e: e.kind == "assigned", "panes": ("assignment",)}
    yield "assignment", told(**joins, **shared)
    crash = {"scenario": "crash_before_commit", "wanted": lambda e: e.kind == "fault"}
    yield "subscriptions", told(**crash, panes=("subscriptions",))
    yield "logs", told(**crash, panes=("logs",))
    late = {
        "scenario": "assign_beside_subscribe",
        "wanted": lambda e: e.error == "UNKNOWN_MEMBER_ID",
    }
    yield "decision", told(**late, panes=("decision",))
    poll = Stepper.of_poll(scenarios.first_member())
    poll.go_to(20)
    yield "poll", poll
    yield "two-histories", forked()


def explorers():
    """Give the explorers that need no JupyterLab for their controls."""
    topics = {"t0": 2, "t1": 2, "t2": 2, "t3": 2}
    groups = AssignmentExplorer(
        all_assignors(), topics=topics, members=dict.fromkeys(("c0", "c1", "c2"), topics)
    )
    groups.remove_member("c1")
    yield "assignment-explorer", groups
    keys = [*(f"user-{n}" for n in range(12)), None, None]
    keys = PartitionerExplorer(placements(), keys=keys, hash_of=hash_of)
    keys.set_partitions(5)
    yield "partitioner-explorer", keys


def page_of(view, file):
    """Write a page that shows a view, without a kernel."""
    if isinstance(view, Stepper):
        return view.save(file)
    file.write_text(f'<!doctype html><meta charset="utf-8"><style>{view._css}</style>{view.html}')
    return file


def main(arguments):
    """Take the pictures; 2 if there is no browser."""
    path = find_chromium(os.environ)
    if path is None:
        print(HOW_TO_GET_ONE, file=sys.stderr)
        return 2
    readme = "--readme" in arguments
    folder = README if readme else ROOT / "build" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as pages:
        chromium = launch(playwright, path)
        for name, view in (*steppers(), *explorers()):
            if readme and name != "stepper":
                continue
            page = page_of(view, Path(pages) / f"{name}.html")
            for scheme in ("light", "dark"):
                window = chromium.new_page(
                    viewport={"width": WIDTH, "height": 1200}, color_scheme=scheme
                )
                window.goto(page.as_uri())
                window.locator(".kl-stepper, .kl-explorer").screenshot(
                    path=folder / f"{name}-{scheme}.png"
                )
                window.close()
        chromium.close()
    print(f"the pictures are in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
