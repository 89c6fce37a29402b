"""The explorer in JupyterLab, as a learner uses it: by mouse, by keyboard alone, light and dark."""

import re

import pytest

from kafkalearn.assignors import all_assignors
from kafkalearn.views import AssignmentExplorer, PartitionerExplorer
from tests.browser.pictures import page_of
from tests.views.contrast import assert_readable_in_both, texts_on_grounds

pytestmark = pytest.mark.browser

SOURCE = """
from kafkalearn.assignors import all_assignors
from kafkalearn.views import AssignmentExplorer

topics = {"t0": 2, "t1": 2, "t2": 2, "t3": 2}
members = dict.fromkeys(["c0", "c1", "c2"], list(topics))
explorer = AssignmentExplorer(all_assignors(), topics=topics, members=members)
explorer
""".strip()
LIGHT, DARK = "JupyterLab Light", "JupyterLab Dark"
# What stands on the accent is turned round, and left out.
TEXTS = {
    "color": ".kl-sentence, .kl-data, .kl-unit, .kl-choice input:not(:checked) + span, "
    "button:not(.kl-primary), input[type=number]",
    "fill": ".kl-title, .kl-name, .kl-count, .kl-big, .kl-remark, text.kl-soft",
}


def opened(lab, name, *, source=SOURCE):
    """Run a notebook with an explorer in it, and give the explorer."""
    lab.open(name, cells=[source])
    lab.run_all()
    explorer = lab.page.locator(".kl-explorer")
    explorer.wait_for()
    return explorer


def says(explorer, sentence):
    """Wait until the sentence on top holds these words."""
    explorer.locator(".kl-sentence").filter(has_text=sentence).wait_for()


def picture(explorer, path):
    """Take a picture of the explorer alone."""
    explorer.scroll_into_view_if_needed()
    explorer.screenshot(path=path)


def test_everything_works_by_mouse(lab, pictures):
    """Members, topics, counts, subscriptions, assignors, reasons and the follow-up, in light."""
    explorer = opened(lab, "by_mouse.ipynb")
    lab.use_theme(LIGHT)
    says(explorer, "The first assignment of 8 partitions to 3 members")
    picture(explorer, pictures / "first-light.png")

    output = lab.page.locator(".jp-OutputArea-output").first
    assert output.evaluate("output => output.scrollHeight <= output.clientHeight")
    explorer.get_by_role("button", name="+ member").click()
    says(explorer, "c3 joined: ")
    picture(explorer, pictures / "joined-light.png")
    explorer.get_by_role("button", name="follow-up rebalance").click()
    says(explorer, "The follow-up rebalance: cooperative-sticky moves 2, none needlessly")

    explorer.get_by_role("button", name="remove c1").click()
    says(explorer, "c1 left: ")
    picture(explorer, pictures / "left-light.png")

    explorer.get_by_role("button", name="+ topic").click()
    says(explorer, "t4 was added with 3 partitions")
    explorer.get_by_label("partitions of t4").fill("5")
    explorer.get_by_label("partitions of t4").blur()
    says(explorer, "t4 now has 5 partitions instead of 3")
    explorer.get_by_role("button", name="remove t4").click()
    says(explorer, "t4 was deleted")

    explorer.get_by_role("checkbox", name="c0 subscribes to t0").click()
    says(explorer, "c0 no longer subscribes to t0")
    explorer.get_by_label("partitions of t0").fill("99")
    explorer.get_by_label("partitions of t0").blur()
    explorer.locator(".kl-refused").filter(has_text="t0 is 99: 0 to 24 are allowed").wait_for()
    assert explorer.get_by_label("partitions of t0").input_value() == "2"
    picture(explorer, pictures / "refused-light.png")

    explorer.locator(".kl-choice").get_by_text("sticky", exact=True).click()
    explorer.get_by_role("button", name="step through the reasons").click()
    explorer.get_by_role("button", name="next reason").click()
    explorer.get_by_text("reason 2 of").first.wait_for()
    assert explorer.locator(".kl-framed").count() > 0
    picture(explorer, pictures / "steps-light.png")
    explorer.get_by_role("button", name="show the result").click()
    explorer.get_by_role("button", name="start over").click()
    says(explorer, "The first assignment")


def focus_on(lab, explorer, name):
    """Press Tab until the control of this name has the focus; give up after one round."""
    for _ in range(60):
        lab.page.keyboard.press("Tab")
        focused = explorer.locator(":focus")
        if focused.count() and name in named(focused):
            return
    pytest.fail(f"Tab never reached {name!r}")


def named(focused):
    """What a control is called: its label, or its text."""
    return focused.get_attribute("aria-label") or focused.evaluate(
        "element => element.closest('label')?.textContent ?? element.textContent"
    )


def test_everything_works_by_keyboard_alone(lab, pictures):
    """Tab reaches each control, the focus survives each redraw, arrows step; in dark."""
    explorer = opened(lab, "by_keyboard.ipynb")
    lab.use_theme(DARK)
    picture(explorer, pictures / "first-dark.png")
    explorer.locator("input[type=radio]:checked").focus()
    press = lab.page.keyboard.press

    focus_on(lab, explorer, "partitions of t0")
    press("ArrowUp")
    says(explorer, "t0 now has 3 partitions instead of 2")
    press("ArrowUp")
    says(explorer, "t0 now has 4 partitions instead of 3")
    focus_on(lab, explorer, "c0 subscribes to t1")
    press("Space")
    says(explorer, "c0 no longer subscribes to t1")
    press("Space")
    says(explorer, "c0 now subscribes to t1")
    focus_on(lab, explorer, "+ member")
    press("Enter")
    says(explorer, "c3 joined")
    press("x")  # JupyterLab would cut the cell
    picture(explorer, pictures / "joined-dark.png")
    press("Shift+Tab")
    focus_on(lab, explorer, "+ member")
    press("Enter")
    says(explorer, "c4 joined")

    explorer.get_by_role("button", name="remove c4").focus()
    press("Enter")
    says(explorer, "c4 left")
    assert named(explorer.locator(":focus")) == "+ member"

    explorer.locator("input[type=radio]:checked").focus()
    press("ArrowLeft")
    explorer.get_by_role("button", name="step through the reasons").wait_for()
    assert "cooperative-sticky" in named(explorer.locator(":focus"))
    press("ArrowLeft")
    explorer.get_by_text("now: sticky").wait_for()
    focus_on(lab, explorer, "step through the reasons")
    press("Enter")
    explorer.get_by_text("reason 1 of").first.wait_for()
    press("ArrowRight")
    press("ArrowRight")
    explorer.get_by_text("reason 3 of").first.wait_for()
    press("ArrowLeft")
    explorer.get_by_text("reason 2 of").first.wait_for()
    picture(explorer, pictures / "steps-dark.png")
    assert lab.page.locator(".jp-CodeCell").count() == 1


def test_it_follows_the_theme_and_can_be_read_in_both(lab):
    """Dark on light turns into light on dark, for every text, with a contrast of 4.5 or more."""
    explorer = opened(lab, "themes.ipynb")
    explorer.get_by_role("button", name="remove c1").click()
    says(explorer, "c1 left")
    lab.use_theme(LIGHT)
    light = texts_on_grounds(explorer, **TEXTS)
    lab.use_theme(DARK)
    dark = texts_on_grounds(explorer, **TEXTS)
    assert len(light) > 60
    assert_readable_in_both(light, dark)


def test_it_can_be_heard(lab):
    """Each control has a name, each picture tells what it shows, and a change is announced."""
    explorer = opened(lab, "heard.ipynb")
    snapshot = explorer.aria_snapshot()
    unnamed = re.findall(
        r"- (?:button|radio|checkbox|spinbutton|img)(?: \[.*\])?:?$", snapshot, re.M
    )
    assert unnamed == []
    assert 'img "roundrobin: 8 partitions given' in snapshot.replace("\\n", " ")
    explorer.get_by_role("button", name="remove c1").click()
    aloud = lab.page.locator(".kl-aloud[aria-live=polite]")
    aloud.filter(has_text="c1 left: range moves only").wait_for(state="attached")


# Of each text in a drawing: what it says, how much it is scaled, and its room to left and right.
MEASURED = """[...document.querySelectorAll("svg text")].map((text) => {
  const [box, edge] = [text, text.ownerSVGElement].map((each) => each.getBoundingClientRect());
  return [text.textContent, text.getScreenCTM().a, box.left - edge.left, edge.right - box.right];
})"""


@pytest.mark.parametrize("width", [848, 568])
def test_every_text_has_its_size_and_its_room(browser, tmp_path, width):
    """As wide as a cell is in windows of 1,280 and 1,000 pixels, nothing shrinks or is cut."""
    topics = {"t1": 5, "t2": 7}
    members = dict.fromkeys(("consumer0", "consumer1", "consumer2"), topics)
    groups = AssignmentExplorer(all_assignors(), topics=topics, members=members)
    groups.remove_member("consumer1")
    keys = PartitionerExplorer({"of": lambda key, n: len(key) % n}, keys=["a", "bc", "def"])
    keys.set_partitions(9)
    page = browser.new_page(viewport={"width": width, "height": 900})
    for view in (groups, keys):
        page.goto(page_of(view, tmp_path / "page.html").as_uri())
        page.add_style_tag(content="body { margin: 0 }")
        texts = page.evaluate(MEASURED)
        assert len(texts) > 20
        assert [text for text in texts if text[1] < 0.999 or min(text[2:]) < -1] == []
    page.close()


def test_a_name_stays_text_in_the_browser(lab):
    """A member called like an image with a handler makes no image and runs nothing."""
    name = "<img src=x onerror=alert(1)>"
    source = SOURCE.replace('["c0", "c1", "c2"]', f'["c0", "{name}"]')
    lab.page.on("dialog", lambda dialog: lab.errors.append(dialog.message) or dialog.dismiss())
    explorer = opened(lab, "hostile.ipynb", source=source)
    explorer.get_by_role("button", name="remove <img").click()
    says(explorer, "<img src=x")
    assert explorer.locator("img").count() == 0


def test_a_stored_explorer_is_a_picture_until_it_is_run(lab, pictures):
    """A stored cell that was not run, in a notebook not trusted: the picture and its alt text."""
    topics = {"t0": 2, "t1": 2}
    members = {"c0": ["t0"], "c1": ["t0", "t1"]}
    explorer = AssignmentExplorer(all_assignors(), topics=topics, members=members)
    data, _ = explorer._repr_mimebundle_()
    del data["application/vnd.jupyter.widget-view+json"]
    output = {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": 1}
    lab.open("stored.ipynb", cells=["explorer"], outputs=[output])
    lab.use_theme(LIGHT)
    image = lab.page.get_by_alt_text("The first assignment of 4 partitions to 2 members")
    image.wait_for()
    assert image.evaluate("image => image.naturalWidth") > 800
    lab.page.screenshot(path=pictures / "stored-light.png")


def test_the_picture_for_the_readme(lab, pictures):
    """All assignors after c1 left, about 1,100 pixels wide and small enough to ship."""
    lab.page.set_viewport_size({"width": 1560, "height": 1400})
    source = SOURCE.removesuffix("explorer") + 'explorer.remove_member("c1")\nexplorer'
    explorer = opened(lab, "readme.ipynb", source=source)
    lab.use_theme(LIGHT)
    says(explorer, "c1 left")
    lab.page.mouse.move(0, 0)
    picture(explorer, pictures / "assignment_explorer.png")
    content = (pictures / "assignment_explorer.png").read_bytes()
    assert len(content) < 150_000
    assert 1050 <= int.from_bytes(content[16:20], "big") <= 1110
