"""A story saved as one file, opened with no network: as a learner gets it by mail or on a stick."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from kafkalearn import scenarios
from kafkalearn.scenarios.what_if import what_if
from kafkalearn.trace import Trace
from kafkalearn.views import Stepper
from kafkalearn.views.panes import PANES
from tests.views.contrast import contrast

pytestmark = pytest.mark.browser

EVIL = "<img src=x onerror=alert(1)>"


class Page:
    """One saved page in a browser window that has no network."""

    def __init__(self, window, path):
        self.window = window
        window.goto(path.as_uri())
        self.stepper = window.locator(".kl-stepper")
        self.stepper.wait_for()

    @property
    def step(self):
        """The step shown, from 0."""
        return int(self.stepper.locator("[data-scrub]").input_value())

    def caption(self, run=0):
        """The sentence of a run."""
        return self.stepper.locator(".kl-caption").nth(run).inner_text()

    def press(self, *keys):
        """Press keys while the stepper has the focus."""
        for key in keys:
            self.window.keyboard.press(key)


@pytest.fixture
def opened(browser, tmp_path):
    """Save a stepper and open it; the test fails if the console reports an error."""
    errors, contexts = [], []

    def open_page(stepper, *, scheme="light"):
        context = browser.new_context(
            viewport={"width": 1280, "height": 1400}, color_scheme=scheme, offline=True
        )
        contexts.append(context)
        window = context.new_page()
        window.set_default_timeout(15_000)
        window.on("pageerror", lambda error: errors.append(str(error)))
        window.on("dialog", lambda dialog: errors.append(f"a dialog: {dialog.message}"))
        window.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
        window.on("request", lambda r: None if r.url.startswith("file:") else errors.append(r.url))
        page = Page(window, stepper.save(tmp_path / f"story{len(contexts)}.html"))
        page.stepper.focus()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture(scope="module")
def joined():
    """The story that most tests step through."""
    return scenarios.second_member_joins()


def test_it_opens_at_the_beginning_and_steps(opened, joined):
    """The first event is told in a sentence; steps go on and back, Home and End to the ends."""
    page = opened(Stepper(joined))
    assert page.step == 0
    assert "admin" in page.caption()
    page.press("ArrowRight", "ArrowRight")
    there = page.step
    assert there >= 2
    page.press("ArrowLeft")
    assert 0 < page.step < there
    page.press("End")
    assert page.step == len(joined) - 1
    page.press("Home")
    assert page.step == 0


def test_all_fits_the_usual_window(opened):
    """As wide as JupyterLab leaves, all lanes are in the pane, and two histories in the window."""
    runs = what_if("second_member_joins", at_ms=3500, crash="c1")
    page = opened(Stepper(*runs, panes=("messages", "group")))
    for width in (969, 390):
        page.window.set_viewport_size({"width": width, "height": 900})
        page.window.wait_for_timeout(200)
        pane = page.stepper.locator(".kl-scroll").first.bounding_box()
        names = [each.bounding_box() for each in page.stepper.locator(".kl-heads .kl-name").all()]
        assert max(name["x"] + name["width"] for name in names) <= pane["x"] + pane["width"]
        if width == 969:
            bottom = page.stepper.locator("[data-run]").last.bounding_box()
            assert bottom["y"] + bottom["height"] <= 900


def test_a_decision_fits_a_narrow_cell(opened):
    """Names of errors break at their underscores where a window of 1,000 pixels has no more."""
    trace = scenarios.assign_beside_subscribe()
    stepper = Stepper(trace, panes=("decision",))
    stepper.go_to(trace.where(kind="respond", error="UNKNOWN_MEMBER_ID")[0].seq)
    page = opened(stepper)
    page.window.set_viewport_size({"width": 568, "height": 900})
    pane = page.stepper.locator(".kl-at-decision")
    assert "COORDINATOR_NOT_AVAILABLE" in pane.inner_text()
    assert pane.evaluate("pane => pane.scrollWidth <= pane.clientWidth")


def test_it_scrubs(opened, joined):
    """The slider shows any step at once, and the panes follow."""
    page = opened(Stepper(joined))
    last = next(k for k, e in enumerate(joined) if e.kind == "group_state" and e.generation == 2)
    page.stepper.locator("[data-scrub]").fill(str(last))
    assert page.step == last
    assert "generation 2" in page.stepper.locator('[data-shows="group"] h3').inner_text().lower()
    page.stepper.locator("[data-scrub]").fill("0")
    assert "generation 2" not in page.stepper.locator('[data-shows="group"]').inner_text().lower()


def test_it_jumps_to_what_matters(opened, joined):
    """Keys and buttons go to the next rebalance, commit and error, and with Shift back."""
    page = opened(Stepper(joined))
    page.press("r")
    first = page.step
    assert joined[first].kind == "group_state"
    page.press("r")
    assert page.step > first
    page.press("Shift+R")
    assert page.step == first
    page.press("e")
    assert "REBALANCE_IN_PROGRESS" in page.caption()
    page.stepper.get_by_role("button", name="next commit").click()
    assert "commit" in page.caption() or "OffsetCommit" in page.caption()


def test_what_was_narrow_takes_no_room_when_it_is_wide(opened, joined):
    """The sentence is as high as before, once a page that was nearly closed is open again."""
    page = opened(Stepper(joined))
    page.press("r")
    resize = "(element, width) => { element.style.width = width; return element }"
    height = "element => element.querySelector('.kl-caption').offsetHeight"
    before = page.stepper.evaluate(height)
    heights = []
    for width in ("150px", ""):
        page.stepper.evaluate(resize, width)
        page.window.wait_for_timeout(200)
        heights.append(page.stepper.evaluate(height))
    assert heights[0] > 2 * before
    assert heights[1] == before


def test_a_log_has_the_time_of_clocks(opened):
    """Beside the counter and in the diagram, to the millisecond; a simulation has virtual time."""
    trace = Trace("logs a.log")
    for ms in (1_795_818_364_042, 1_795_818_365_000):
        trace.record("assigned", ms, "c1", group_id="g", detail={"partitions": {"t": [0]}})
    page = opened(Stepper(trace))
    assert "· 22:26:04.042" in page.stepper.locator("[data-count]").inner_text()
    page.press("ArrowRight")
    assert "· 22:26:05.000" in page.stepper.locator("[data-count]").inner_text()
    assert "22:26:05.000" in page.stepper.locator('[data-shows="messages"]').text_content()


def test_it_plays_and_pauses(opened, joined):
    """Space plays and pauses; the speed can be changed; any step pauses."""
    page = opened(Stepper(joined))
    page.press("+", "+", "Space")
    page.stepper.locator(".kl-counter").filter(
        has_text=re.compile("event (1.|[6-9]) of")
    ).wait_for()
    page.press("Space")
    stopped = page.step
    page.window.wait_for_timeout(400)
    assert page.step == stopped
    assert page.stepper.get_by_role("button", name="Play").is_visible()


def test_nodes_and_routine_are_filtered(opened, joined):
    """Steps go only to the nodes that are chosen; routine is passed over unless it is asked for."""
    page = opened(Stepper(joined))
    choices = page.stepper.locator(".kl-choices")
    for node in ("admin", "p1", "broker-0", "c1", "network"):
        button = choices.get_by_role("button", name=node, exact=True)
        if button.count():
            button.click()
    page.stepper.focus()
    page.press("ArrowRight")
    assert joined[page.step].node == "c2"
    for _ in range(60):
        page.press("ArrowRight")
    assert page.step == len(joined) - 1


def test_an_arrow_leads_to_its_message(opened, joined):
    """A click on an arrow goes to its sending, whose fields are shown."""
    page = opened(Stepper(joined))
    page.press("End")
    arrow = page.stepper.locator('[data-shows="messages"] [data-k]').last
    place = int(arrow.get_attribute("data-k"))
    arrow.dispatch_event("click", {"bubbles": True})
    assert page.step == place
    place = next(k for k, e in enumerate(joined) if e.kind == "send" and e.api == "JoinGroup")
    page.stepper.locator("[data-scrub]").fill(str(place))
    assert "session_timeout_ms" in page.stepper.locator("[data-fields]").inner_text()


def test_panes_close_and_open(opened, joined):
    """Each pane has a button that hides it and shows it again."""
    page = opened(Stepper(joined))
    group = page.stepper.locator('[data-shows="group"]')
    button = page.stepper.locator('button[data-pane="group"]')
    button.click()
    assert not group.is_visible()
    button.click()
    assert group.is_visible()


@pytest.mark.parametrize("panes", [["messages"], ["messages", "logs"], ["messages", "group"]])
@pytest.mark.parametrize("runs", [1, 2])
def test_the_messages_have_room_whatever_stands_beside_them(opened, panes, runs):
    """And of two histories, two panes that were asked for are both open."""
    pair = what_if(scenarios.async_commit_overtaken, settings={"retries": True})
    page = opened(Stepper(*[*pair][:runs], panes=panes))
    heights = [each.bounding_box()["height"] for each in page.stepper.locator(".kl-scroll").all()]
    assert len(heights) == runs
    assert min(heights) > 120
    for pane in panes:
        assert page.stepper.locator(f"[data-shows={pane}]").first.is_visible()


def test_two_histories_stand_one_above_the_other(opened):
    """Both runs show the same until they part; the first difference has a button of its own."""
    forked = what_if(scenarios.second_member_joins, at_ms=3500, crash="c1")
    page = opened(Stepper(*forked))
    assert page.stepper.locator("[data-run]").count() == 2
    page.press("ArrowRight")
    assert page.caption(0) == page.caption(1)
    page.stepper.get_by_role("button", name="first difference").click()
    assert page.caption(0) != page.caption(1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible_in_both_schemes(opened, joined, scheme):
    """An accessibility checker finds nothing, in a waiting, an erring and a final state."""
    page = opened(Stepper(joined), scheme=scheme)
    for key in ("Home", "r", "e", "End"):
        page.press(key)
        found = Axe().run(page.window, ".kl-stepper").response["violations"]
        told = [(each["id"], [n["html"][:150] for n in each["nodes"]][:3]) for each in found]
        assert told == [], key


def test_it_is_heard(opened, joined):
    """What a step comes to is announced, in the words of the caption."""
    page = opened(Stepper(joined))
    page.press("r")
    aloud = page.stepper.locator(".kl-aloud[aria-live=polite]")
    aloud.filter(has_text="PreparingRebalance").wait_for(state="attached")
    assert aloud.inner_text() == page.caption()
    unnamed = r"- (?:button|slider|combobox|spinbutton|img)(?: \[.*\])?:?$"
    assert re.findall(unnamed, page.stepper.aria_snapshot(), re.M) == []


def test_it_follows_the_scheme(opened, joined):
    """Dark is light on dark; the caption can be read in both."""
    grounds = {}
    for scheme in ("light", "dark"):
        page = opened(Stepper(joined), scheme=scheme)
        colours = page.stepper.locator(".kl-moved .kl-caption").evaluate(
            "e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]"
        )
        assert contrast(*colours) >= 4.5
        grounds[scheme] = colours[1]
    assert grounds["light"] != grounds["dark"]


def hostile():
    """Record a trace whose every name is a tag."""
    trace = Trace(EVIL)
    where = {"topic": EVIL, "partition": 0}
    state = {"from": "Empty", "to": EVIL, "reason": EVIL, "members": [EVIL], "leader": EVIL}
    trace.record("group_state", 0, EVIL, group_id=EVIL, generation=1, detail=state)
    asked = {"api": EVIL, "correlation_id": 1}
    trace.record("send", 1, EVIL, peer="b", **asked, detail={"fields": {EVIL: {EVIL: EVIL}}})
    trace.record("receive", 2, "b", peer=EVIL, **asked)
    trace.record("append", 3, "b", **where, offset=0, detail={"count": 3})
    given = {"partitions": {EVIL: [0]}}
    trace.record("assigned", 3, EVIL, group_id=EVIL, member_id=EVIL, detail=given)
    trace.record("position", 4, EVIL, **where, offset=1, detail={"reason": EVIL})
    trace.record("processed", 5, EVIL, **where, offset=0, detail={"sink": EVIL})
    trace.record("commit", 6, EVIL, **where, offset=1, error=EVIL, detail={"mode": EVIL})
    trace.record("logged", 7, EVIL, detail={"message": EVIL})
    return trace


def test_names_from_a_run_are_text(opened):
    """A topic, key, node or group called like a tag is shown as it is written, in every pane."""
    trace = hostile()
    page = opened(Stepper(trace, panes=("messages", *PANES, "fields")))
    for step in range(len(trace)):
        page.stepper.locator("[data-scrub]").fill(str(step))
        assert page.stepper.locator("img").count() == 0
    assert EVIL in page.stepper.inner_text()


def test_an_empty_trace_says_so(opened):
    """A trace without events opens, and says that it has none."""
    page = opened(Stepper(Trace("nothing")))
    assert "this trace has no events" in page.stepper.inner_text()
