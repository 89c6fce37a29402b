"""The stepper and the explorers of stories in JupyterLab: step, fork, both themes."""

import pytest

from kafkalearn import scenarios
from tests.views.contrast import contrast, texts_on_grounds

pytestmark = pytest.mark.browser

STEPPER = """
from kafkalearn import scenarios
from kafkalearn.scenarios.what_if import reruns
from kafkalearn.views import Stepper
story = reruns(scenarios.second_member_joins)
stepper = Stepper(story.trace(), rerun=story)
stepper
""".strip()
COMMITS = """
from kafkalearn import scenarios
from kafkalearn.scenarios.what_if import reruns
from kafkalearn.views import CommitExplorer
CommitExplorer(reruns(scenarios.crash_before_commit))
""".strip()
REBALANCES = """
from kafkalearn.views import RebalanceExplorer
RebalanceExplorer(reruns(scenarios.group_changes))
""".strip()
LIGHT, DARK = "JupyterLab Light", "JupyterLab Dark"


def opened(lab, name, *sources):
    """Run a notebook and give its first stepper."""
    lab.open(name, cells=list(sources))
    lab.run_all()
    stepper = lab.page.locator(".kl-stepper").first
    stepper.wait_for()
    return stepper


def shows(stepper, text, *, run=0):
    """Wait until the sentence of a run holds these words."""
    stepper.locator(".kl-caption").nth(run).filter(has_text=text).wait_for()


def test_a_learner_steps_and_changes_what_happens(lab, pictures):
    """Keys step and JupyterLab does not take them; a crash shows two histories; back shows one."""
    stepper = opened(lab, "stepper.ipynb", STEPPER)
    lab.use_theme(LIGHT)
    stepper.locator(".kl-keys summary").click()
    popup = stepper.locator(".kl-keys dl").bounding_box()
    explained = stepper.locator(".kl-keys dd").first.bounding_box()
    assert explained["x"] + explained["width"] <= popup["x"] + popup["width"]
    stepper.locator(".kl-keys summary").click()
    stepper.locator(".kl-caption").click()  # from here on keys are the picture's
    for key in ("ArrowRight", "r", "r"):
        lab.page.keyboard.press(key)
    shows(stepper, "PreparingRebalance")
    lab.page.keyboard.press("x")  # JupyterLab would cut the cell
    assert lab.page.locator(".jp-CodeCell").count() == 1

    assert stepper.get_by_label("which node").input_value() == "c1"
    stepper.get_by_role("button", name="crash it").click()
    shows(stepper, "meets a fault: crash", run=1)
    assert stepper.locator("[data-run]").count() == 2
    stepper.scroll_into_view_if_needed()
    stepper.screenshot(path=pictures / "forked-light.png")
    stepper.get_by_role("button", name="back to one history").click()
    stepper.locator('[data-run="1"]').wait_for(state="detached")

    stepper.get_by_text("other settings").click()
    text = stepper.locator('[data-setting="assignor"]')
    before = text.input_value()
    text.fill("cooperative-sticky")
    assert text.evaluate("entry => entry.scrollWidth <= entry.clientWidth")
    text.fill(before)
    stepper.locator('[data-setting="partitions"]').fill("-3")
    stepper.get_by_role("button", name="run again").click()
    stepper.locator(".kl-notice").filter(has_text="partitions is -3").wait_for()


def test_python_and_the_page_show_the_same_step(lab):
    """A step in the page is known in Python, and one in Python is shown in the page."""
    told = "stepper.go_to(40); stepper"
    stepper = opened(lab, "synced.ipynb", STEPPER, told)
    at_40 = f"event 41 of {len(scenarios.second_member_joins())}"
    for shown in lab.page.locator(".kl-stepper").all():
        shown.locator(".kl-counter").filter(has_text=at_40).wait_for()
    stepper.locator("[data-scrub]").fill("60")
    lab.page.locator(".kl-stepper").nth(1).locator(".kl-counter").filter(
        has_text="event 61 of"
    ).wait_for()


def test_explorers_tell_the_story_anew(lab, pictures):
    """A control that is used changes the counts and the stepper; in dark it can be read."""
    opened(lab, "explorers.ipynb", COMMITS, REBALANCES)
    lab.use_theme(DARK)
    outcome = lab.page.locator(".kl-outcome")
    assert "processed twice or more\n2" in outcome.nth(0).inner_text()
    lab.page.locator(".widget-dropdown select").nth(0).select_option("before")
    outcome.nth(0).filter(has_text="processed twice or more0").wait_for()
    assert "lost: committed and never processed\n1" in outcome.nth(0).inner_text()
    box = lab.page.locator(".widget-vbox").first
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
    lab.page.locator(".jp-OutputArea").nth(0).screenshot(path=pictures / "commits-dark.png")

    change = lab.page.locator(".widget-dropdown select").nth(1)
    change.select_option("leave")
    outcome.nth(1).filter(has_text="the group hears of it after").wait_for()
    change.select_option("none")
    outcome.nth(1).filter(has_text="rebalances after the change0").wait_for()
    lab.page.locator(".jp-OutputArea").nth(1).screenshot(path=pictures / "rebalances-dark.png")
    texts = ".kl-outcome dt, .kl-moved .kl-caption"
    found = texts_on_grounds(lab.page.locator("body"), color=texts)
    assert [pair for pair in found if contrast(*pair) < 4.5] == [] != found
