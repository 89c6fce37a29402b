"""The explorer of keys in JupyterLab: by mouse and by keyboard, light and dark, read aloud."""

import re

import pytest

from tests.browser.test_assignment_explorer import DARK, LIGHT, opened, picture, says
from tests.views.contrast import assert_readable_in_both, texts_on_grounds

pytestmark = pytest.mark.browser

NAME = "<img src=x onerror=alert(1)>"
SOURCE = f"""
from kafkalearn.producer.partitioner import murmur2, partition_for_key
from kafkalearn.views.explorers.partitioner_explorer import PartitionerExplorer

explorer = PartitionerExplorer(
    {{name: lambda key, n: partition_for_key((key or "").encode(), n) for name in ("one", "two")}},
    keys=["alice", "bob", "carol", "dave", "{NAME}", "", None],
    hash_of=lambda key: murmur2(key.encode()),
)
explorer
""".strip()
TEXTS = {
    "color": ".kl-sentence, .kl-numbers *, .kl-sums th, .kl-sums td, .kl-sums .kl-data, "
    "button, input[type=number], .kl-choice input:not(:checked) + span",
    "fill": ".kl-name, .kl-count, .kl-remark",
}


def test_it_works_by_mouse_and_by_keyboard(lab, pictures):
    """Partitions, keys and partitioners; what is refused is said, and a name stays text."""
    lab.page.on("dialog", lambda dialog: lab.errors.append(dialog.message) or dialog.dismiss())
    explorer = opened(lab, "keys.ipynb", source=SOURCE)
    lab.use_theme(LIGHT)
    count = explorer.get_by_role("spinbutton", name="partitions")
    count.fill("5")
    count.blur()
    says(explorer, "The topic has 5 partitions instead of 3")
    picture(explorer, pictures / "keys-light.png")
    count.focus()
    lab.page.keyboard.press("ArrowUp")
    says(explorer, "The topic has 6 partitions instead of 5")
    count.fill("99")
    count.blur()
    explorer.locator(".kl-refused").filter(has_text="partitions is 99: 1 to 24 are").wait_for()

    explorer.get_by_role("button", name="+ key").click()
    says(explorer, "key 'user-0' goes to partition")
    explorer.get_by_label("add a key").fill("erin")
    lab.page.keyboard.press("Enter")
    says(explorer, "key 'erin' goes to partition")
    explorer.get_by_role("button", name="+ record without key").click()
    says(explorer, "a record without a key goes to partition")
    explorer.get_by_role("button", name="remove bob, number 2").focus()
    lab.page.keyboard.press("Enter")
    says(explorer, "key 'bob' is gone")
    explorer.locator(".kl-choice").get_by_text("two", exact=True).click()
    says(explorer, "Partitioner: two")
    explorer.get_by_role("button", name="start over").click()
    says(explorer, "Equal keys go to the same partition")
    assert explorer.get_by_text(NAME).count() > 0
    assert explorer.locator("img").count() == 0


def test_it_can_be_read_in_both_themes_and_heard(lab, pictures):
    """Each text has a contrast of 4.5 or more, each control a name, and the picture tells all."""
    explorer = opened(lab, "keys_read.ipynb", source=SOURCE)
    explorer.get_by_role("spinbutton", name="partitions").fill("5")
    explorer.get_by_role("spinbutton", name="partitions").blur()
    says(explorer, "The topic has 5 partitions")
    lab.use_theme(LIGHT)
    light = texts_on_grounds(explorer, **TEXTS)
    lab.use_theme(DARK)
    dark = texts_on_grounds(explorer, **TEXTS)
    picture(explorer, pictures / "keys-dark.png")
    assert len(light) > 60
    assert_readable_in_both(light, dark)
    snapshot = explorer.aria_snapshot()
    assert not re.findall(r"- (?:button|radio|spinbutton|img)(?: \[.*\])?:?$", snapshot, re.M)
    assert 'img "5 partitions: 6 keys, 1 without key' in snapshot
