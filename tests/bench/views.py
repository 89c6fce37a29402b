"""What looking costs: making the frames, the size of a saved page, and drawing while one scrubs."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kafkalearn import scenarios
from kafkalearn.trace import Trace
from kafkalearn.views import Stepper
from kafkalearn.views.language import Say
from kafkalearn.views.panes import PANES, Look
from kafkalearn.views.story import story
from tests.bench.measure import Row, milliseconds
from tests.browser.chromium import find_chromium, launch

FRAMES = 200
# Moves the slider once a picture, as fast as the screen asks for one, and measures both: how long
# drawing took, layout and all, and when the pictures came.
SCRUB = """async (frames) => {
  const slider = document.querySelector("[data-scrub]");
  const drawn = [], came = [];
  for (let k = 0; k < 2 * frames; k += 1) {
    const now = await new Promise(requestAnimationFrame);
    if (k >= frames) came.push(now);
    const began = performance.now();
    slider.value = k < frames ? k : 2 * frames - k - 1;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    document.querySelector(".kl-stepper").getBoundingClientRect();
    if (k >= frames) drawn.push(performance.now() - began);
  }
  return { drawn, came };
}"""


def rows() -> Iterator[Row]:
    """Every case, as it is measured."""
    thousand = _thousand()
    everything = ("messages", *PANES, "fields")
    taken, told = milliseconds(
        lambda: story([thousand], [range(1000)], look=Look(Say(), everything, {})), rounds=5
    )
    assert len(told["steps"]) == 1000, "not all events were drawn"
    yield Row("views, 1,000 events to frames and drawings", taken, "ms", 500)
    long = _long()
    taken, _ = milliseconds(lambda: Stepper(long), rounds=3)
    yield Row(f"views, opening a trace of {len(long):,} events", taken, "ms", None)
    with tempfile.TemporaryDirectory() as folder:
        page = _five()
        path = page.save(Path(folder) / "story.html")
        yield Row(f"views, saved page of {FRAMES} frames", path.stat().st_size / 1000, "kB", 1000)
        yield from _scrubbing(path)


def _scrubbing(path: Path) -> Iterator[Row]:
    from playwright.sync_api import sync_playwright

    found = find_chromium(os.environ)
    with sync_playwright() as playwright:
        chromium = launch(playwright, found)
        window = chromium.new_page(viewport={"width": 1280, "height": 1400})
        window.goto(path.as_uri())
        measured: Any = window.evaluate(SCRUB, FRAMES)
        chromium.close()
    drawn = sorted(measured["drawn"])
    gaps = [b - a for a, b in zip(measured["came"], measured["came"][1:], strict=False)]
    missed = sum(round(gap / (1000 / 60)) - 1 for gap in gaps)
    yield Row(
        "views, drawing a frame while scrubbing, 95th percentile",
        drawn[int(0.95 * len(drawn))],
        "ms",
        1000 / 60,
    )
    yield Row(f"views, pictures missed in {FRAMES} at 60 a second", missed, "pictures", None)


def _five() -> Stepper:
    trace = scenarios.run("group_changes", members=5)
    return Stepper(trace[:FRAMES])


def _thousand() -> Trace:
    trace = scenarios.run("group_changes", members=5, change="crash", at_ms=20_000)
    return trace[:1000]


def _long() -> Trace:
    one = list(scenarios.run("group_changes", members=5))
    trace = Trace("long")
    for turn in range(100_000 // len(one) + 1):
        for event in one:
            columns = event._asdict()
            later = columns.pop("time_ms") + turn * 60_000
            kind, node = columns.pop("kind"), columns.pop("node")
            del columns["run_id"], columns["seq"]
            trace.record(kind, later, node, **columns)
    return trace
