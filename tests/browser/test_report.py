"""A report's page in a browser with no network: what is asked at night must be there at once."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from kafkalearn.scenarios import consumer_dies
from kafkalearn.trace import Trace
from kafkalearn.views.report import page
from tests.views.test_report_page import data, group, rebalance, sweep

pytestmark = pytest.mark.browser

EVIL = "<script>alert(1)</script>"


def log():
    """Make a report of a log, whose names are tags, with a window to step through."""
    frame = consumer_dies().to_pandas().replace({"billing": EVIL, "c2": EVIL, "orders": EVIL})
    trace = Trace.from_pandas(frame)
    window = {"run_id": EVIL, "group_id": EVIL, "size": 300, "step": 5, "trace": trace, "at": EVIL}
    row = {"reason": EVIL, "count": 1, "file": EVIL, "line_number": 7, "line": EVIL}
    names = {"group_id": EVIL, "run_id": EVIL, "nodes": {"c1-1": EVIL}}
    advice = dict.fromkeys(("seen", "setting", "why"), EVIL)
    told = rebalance(
        window=0, step=7, node=EVIL, leader=EVIL, names=[EVIL], owners={EVIL: {EVIL: [0]}}
    )
    told["outcome"] = "interrupted"
    groups = [group(**names, rebalances=[told], advice=[advice]), group()]
    windows = [window | {"events": range(len(trace))}]
    return data(name=EVIL, runs=[EVIL], groups=groups, windows=windows, unparsed=[row])


REPORTS = {"log": log, "sweep": sweep, "empty": lambda: data(unparsed=[])}


@pytest.fixture
def opened(browser, tmp_path):
    """Open a report; the test fails if the console reports an error, or anything is fetched."""
    errors, contexts = [], []

    def open_page(name):
        file = tmp_path / f"{name}.html"
        file.write_text(page(REPORTS[name]()), encoding="utf-8")
        size = {"width": 700, "height": 1100}
        contexts.append(browser.new_context(viewport=size, offline=True))
        window = contexts[-1].new_page()
        window.set_default_timeout(15_000)
        window.on("pageerror", lambda error: errors.append(str(error)))
        window.on("dialog", lambda dialog: errors.append(f"a dialog: {dialog.message}"))
        window.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
        window.on("request", lambda r: None if r.url.startswith("file:") else errors.append(r.url))
        window.goto(file.as_uri())
        return window

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


def test_a_rebalance_opens_in_the_stepper_and_steps(opened):
    """Its link opens the window at its event; the keys step there; tags in names are text."""
    window = opened("log")
    window.get_by_role("link", name="step through it (1)").click()
    stepper = window.frame_locator("iframe").locator(".kl-stepper")
    scrub = stepper.locator("[data-scrub]")
    expect(stepper).to_be_focused()
    assert scrub.input_value() == "7"  # the window itself opens at 5
    window.keyboard.press("ArrowRight")
    assert scrub.input_value() == "8"
    bar = window.locator(".kl-window > summary")
    for _ in range(2):
        bar.click()
    expect(stepper).to_be_focused()  # Chromium tells of what was opened a moment later.
    window.keyboard.press("ArrowRight")
    assert scrub.input_value() == "9"
    for shown in (window.locator("main"), stepper):
        assert EVIL[:7] in shown.inner_text()  # a picture cuts a long name
        assert shown.locator("script").count() == 0


def test_a_generation_is_a_narrow_column(opened):
    """What became of it stands below its number, and leaves the room to the reasons."""
    window = opened("log")
    window.set_viewport_size({"width": 1280, "height": 900})
    cell = window.locator("td", has_text="interrupted").first
    assert cell.bounding_box()["width"] < 130


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_accessible_and_fits_a_narrow_window(opened, name):
    """An accessibility checker finds nothing, light or dark, with all tables open."""
    window = opened(name)
    for folded in window.locator("details:not(.kl-window) > summary").all():
        folded.click()
    for scheme in ("light", "dark"):
        window.emulate_media(color_scheme=scheme)
        found = Axe().run(window).response["violations"]
        assert [(each["id"], [n["html"][:150] for n in each["nodes"]][:3]) for each in found] == []
    assert window.evaluate("document.documentElement.scrollWidth <= innerWidth")
