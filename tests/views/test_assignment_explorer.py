"""The explorer: what it says, what the browser may ask of it, that it is the same every time."""

import base64
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

from kafkalearn.assignors import RangeAssignor, all_assignors
from kafkalearn.errors import UnknownAssignorError
from kafkalearn.views import AssignmentExplorer
from kafkalearn.views.explorers.model import ExplorerError

TOPICS = {"t0": 2, "t1": 2, "t2": 2, "t3": 2}


def explorer_of(chosen="all", *, topics=TOPICS, members=("c0", "c1", "c2"), assignors=None):
    """Make an explorer in which every member subscribes to everything."""
    return AssignmentExplorer(
        assignors or all_assignors(),
        topics=topics,
        members={member: list(topics) for member in members},
        chosen=chosen,
    )


def send(explorer, **message):
    """Send what the browser sends."""
    explorer._handle_custom_msg(message, [])


class Controls(HTMLParser):
    """Collects every control of a page, and the text that is not in a control's attributes."""

    def __init__(self, html):
        super().__init__()
        self.found, self.tags, self.text = [], set(), ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if "data-send" in (attributes := dict(attrs)):
            self.found.append(attributes)

    def handle_data(self, data):
        self.text += data


def test_the_documents_example():
    """c1 leaves: sticky keeps five of five, round robin three of five."""
    explorer = explorer_of()
    explorer.remove_member("c1")
    assert explorer.as_text().splitlines()[:11] == [
        "c1 left: range moves only its 4 partitions; roundrobin moves 2 that need not move; "
        "sticky and cooperative-sticky move only its 3 partitions.",
        "",
        "range: 4 of 4 kept, 0 moved needlessly, 0 spread (4 each)",
        "  c0   4  t0-0, t1-0, t2-0, t3-0",
        "  c1   -  left",
        "  c2   4  t0-1 (from c1), t1-1 (from c1), t2-1 (from c1), t3-1 (from c1)",
        "",
        "roundrobin: 3 of 5 kept, 2 moved needlessly, 0 spread (4 each)",
        "  c0   4  t0-0, t1-0 (from c2, needlessly), t2-0 (from c1), t3-0",
        "  c1   -  left",
        "  c2   4  t0-1 (from c1), t1-1 (from c0, needlessly), t2-1, t3-1 (from c1)",
    ]
    assert "sticky: 5 of 5 kept, 0 moved needlessly" in explorer.as_text()


def test_the_assignments_are_data():
    """Assignor -> member -> partitions, as the assignor gave them; they are the caller's own."""
    explorer = explorer_of()
    given = explorer.assignments
    assert list(given) == ["range", "roundrobin", "sticky", "cooperative-sticky"]
    assert [str(partition) for partition in given["range"]["c0"]] == [
        "t0-0",
        "t1-0",
        "t2-0",
        "t3-0",
    ]
    given["range"]["c0"].clear()
    assert len(explorer.assignments["range"]["c0"]) == 4


def test_every_method_returns_nothing():
    """A notebook cell that ends with a change shows no stray value."""
    explorer = explorer_of("cooperative-sticky")
    acts = [
        lambda: explorer.add_member("c3", ["t0"]),
        lambda: explorer.rebalance(),
        lambda: explorer.add_topic("t4", 3),
        lambda: explorer.set_partitions("t4", 1),
        lambda: explorer.subscribe("c3", "t1"),
        lambda: explorer.unsubscribe("c3", "t0"),
        lambda: explorer.next_step(),
        lambda: explorer.step(2),
        lambda: explorer.previous_step(),
        lambda: explorer.choose("range"),
        lambda: explorer.remove_topic("t4"),
        lambda: explorer.remove_member("c3"),
        lambda: explorer.start_over(),
    ]
    explorer.remove_member("c2")
    assert [act() for act in acts] == [None] * len(acts)


def test_the_steps_lead_to_the_result():
    """Each reason is the sentence; the last one's picture holds what the assignor gave."""
    explorer = explorer_of("sticky")
    explorer.remove_member("c1")
    result = explorer.as_text()
    reasons = len(re.findall(r"<li[ >]", explorer.html))
    for number in range(1, reasons + 1):
        explorer.next_step()
        assert f"reason {number} of {reasons}" in explorer.as_text()
        assert explorer.sentence == explorer.as_text().splitlines()[0]
    assert explorer.as_text().splitlines()[3:] == result.splitlines()[3:]
    with pytest.raises(ValueError, match=f"the step is {reasons + 1}"):
        explorer.next_step()


def test_a_step_frames_what_it_touches():
    """Round robin's third reason deals t1-0."""
    explorer = explorer_of("roundrobin")
    explorer.step(3)
    framed = re.findall(
        r"<title>([^<]*)</title><rect[^>]*></rect><rect class=\"kl-framed", explorer.html
    )
    assert framed == ["t1-0"]
    assert explorer.sentence == "t1-0 goes to c2, the next in the circle."


def test_reasons_are_one_assignors():
    """With all side by side, a step says that one must be chosen first."""
    with pytest.raises(ExplorerError, match="choose range or roundrobin"):
        explorer_of().step(1)


@pytest.mark.parametrize("step", [-1, 9, 1.5, None, "1"])
def test_a_step_that_is_not_there_is_refused(step):
    """It says which there are; learners catch it as a ValueError too."""
    explorer = explorer_of("roundrobin")
    with pytest.raises(ExplorerError, match=r"the step is .*: 0 \(the result\) to 8 ") as refused:
        explorer.step(step)
    assert isinstance(refused.value, ValueError)
    assert "reason" not in explorer.as_text()


def test_a_change_leads_back_to_the_result():
    """The old reasons say nothing about the new group."""
    explorer = explorer_of("range")
    explorer.step(2)
    explorer.add_member()
    assert "reason" not in explorer.as_text()


def test_starting_over_forgets_everything_but_the_choice():
    """The first assignment again, and names count from the beginning."""
    explorer, fresh = explorer_of("sticky"), explorer_of("sticky")
    explorer.add_member()
    explorer.add_topic()
    explorer.start_over()
    assert (explorer.html, explorer.as_text()) == (fresh.html, fresh.as_text())
    explorer.add_member()
    assert "c3 joined" in explorer.as_text()


def test_an_unknown_assignor_is_refused():
    """The names that there are come with the refusal."""
    with pytest.raises(
        UnknownAssignorError, match="range, roundrobin, sticky, cooperative-sticky, all"
    ):
        explorer_of("eager")
    with pytest.raises(UnknownAssignorError, match="'eager'"):
        explorer_of().choose("eager")


def test_a_single_assignor_is_simply_shown():
    """There is nothing to choose, and its reasons are at hand."""
    explorer = explorer_of(assignors=[RangeAssignor()])
    assert 'type="radio"' not in explorer.html
    explorer.next_step()
    assert repr(explorer) == "AssignmentExplorer(range: 3 members, 8 partitions, reason 1)"


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ({"action": "add_member"}, "c3 joined: "),
        ({"action": "remove_member", "name": "c1"}, "c1 left: "),
        ({"action": "add_topic"}, "t4 was added with 3 partitions: "),
        ({"action": "remove_topic", "name": "t0"}, "t0 was deleted: "),
        ({"action": "set_partitions", "topic": "t0", "n": 5}, "t0 now has 5 partitions instead"),
        ({"action": "unsubscribe", "member": "c1", "topic": "t0"}, "c1 no longer subscribes to t0"),
        ({"action": "choose", "name": "range", "step": 1}, "t0: 2 partitions over 3 consumers"),
    ],
)
def test_the_browsers_messages_do_what_the_methods_do(message, sentence):
    """Each control's message changes the state, and the sentence says so."""
    explorer = explorer_of()
    send(explorer, **message)
    assert explorer.sentence.startswith(sentence)


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ({"action": "set_partitions", "topic": "t0", "n": 25}, "0 to 24 are allowed."),
        ({"action": "set_partitions", "topic": "t0", "n": None}, "a whole number from 0 up"),
        ({"action": "remove_member", "name": "c9"}, "there is no member"),
        ({"action": "rebalance"}, "no partition waits to be given up"),
        ({"action": "step", "k": 1}, "choose range or roundrobin"),
    ],
)
def test_a_refused_message_becomes_a_sentence_in_the_picture(message, sentence):
    """No traceback: the notice stands there, is said aloud, and goes with the next change."""
    explorer = explorer_of()
    before, drawn = explorer.assignments, explorer.drawn
    send(explorer, **message)
    assert sentence in explorer.sentence
    assert sentence in Controls(explorer.html).text
    assert (explorer.assignments, explorer.drawn) == (before, drawn + 1)
    send(explorer, action="add_member")
    assert "kl-refused" not in explorer.html


def test_the_browser_may_ask_for_nothing_else():
    """A message is no way to call any other method."""
    explorer = explorer_of()
    drawn = explorer.drawn
    for action in ("close", "_draw", "__init__", "picture", None):
        send(explorer, action=action)
    assert explorer.drawn == drawn


@pytest.mark.parametrize(
    ("chosen", "step"), [("all", 0), ("cooperative-sticky", 0), ("cooperative-sticky", 2)]
)
def test_every_control_on_the_page_works(chosen, step):
    """Each message that the page holds is one that Python takes."""

    def made():
        explorer = explorer_of(chosen)
        explorer.add_member()
        if step:
            explorer.step(step)
        return explorer

    for control in Controls(made().html).found:
        fresh = made()
        drawn = fresh.drawn
        message = json.loads(control["data-send"])
        if "data-value" in control:
            message[control["data-value"]] = 4
        send(fresh, **message)
        assert fresh.drawn > drawn
        assert "kl-refused" not in fresh.html or control.get("aria-disabled")


def test_the_controls_can_be_told_apart_and_named():
    """Keys are unique, so that the focus finds its way back, and each has a name to be read."""
    controls = Controls(explorer_of().html).found
    keys = [control["data-key"] for control in controls]
    assert len(set(keys)) == len(keys)
    unnamed = [c for c in controls if c["type"] in ("number", "checkbox") and not c["aria-label"]]
    assert unnamed == []


@pytest.mark.parametrize("chosen", ["all", "range"])
@pytest.mark.parametrize("name", ["<img src=x onerror=alert(1)>", '"><script>', "\ud800\0\u202e"])
def test_a_name_is_never_markup(name, chosen):
    """A member called like a tag is shown as text: in the page, the notice and the picture."""
    explorer = explorer_of(chosen, members=("c0", name))
    send(explorer, action="remove_member", name=name)
    send(explorer, action="remove_member", name=name)
    page = Controls(explorer.html)
    assert not page.tags & {"img", "script"}
    assert explorer.html.encode("utf-8")
    assert " left" in page.text
    html = explorer._repr_mimebundle_()[0]["text/html"]
    assert re.fullmatch(r"<img [^<>]*>", html)


def test_the_mime_bundle_has_text_picture_and_the_live_view():
    """Text to compare, a picture with the sentence as its alt text, and the widget itself."""
    explorer = explorer_of("sticky")
    data, _ = explorer._repr_mimebundle_()
    assert data["text/plain"] == "AssignmentExplorer(sticky: 3 members, 8 partitions)"
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == explorer.model_id
    source, alt = re.fullmatch(r'<img src="([^"]*)" alt="([^"]*)">', data["text/html"]).groups()
    assert alt == explorer.sentence
    kind, _, content = source.partition(",")
    assert kind == "data:image/svg+xml;base64"
    assert base64.b64decode(content).decode() == explorer.picture()


WHOLE_STORY = """
from kafkalearn.assignors import all_assignors
from kafkalearn.views import AssignmentExplorer
topics = {f"t{n}": n for n in range(5)}
members = {f"member-{n}": [t for t in topics if n % 2 or t != "t3"] for n in range(5)}
explorer = AssignmentExplorer(all_assignors(), topics=topics, members=members)
explorer.add_member()
explorer.remove_member("member-2")
print(explorer.as_text(), explorer.picture(), explorer.html)
explorer.choose("sticky")
explorer.step(3)
print(explorer.as_text(), explorer.picture(), explorer.html, explorer)
"""


def run(code, **environ):
    """Run code in a fresh Python and give what it printed."""
    command = [sys.executable, "-c", code]
    environ = os.environ | {"PYTHONIOENCODING": "utf-8"} | environ
    return subprocess.run(command, env=environ, capture_output=True, check=True).stdout


def test_the_same_changes_give_the_same_text_and_picture_everywhere():
    """Two fresh processes with other hash seeds write the same bytes."""
    one, other = (run(WHOLE_STORY, PYTHONHASHSEED=seed) for seed in ("1", "2"))
    assert b"member-2 left" in one
    assert one == other


def test_the_plain_functions_need_no_widgets():
    """Frames and drawings are there without anywidget, pandas or Spark."""
    told = run(
        "import sys, kafkalearn.views, kafkalearn.views.drawings.matrix\n"
        "import kafkalearn.views.explorers.scene\n"
        "print(sorted({'anywidget', 'ipywidgets', 'pandas', 'pyspark'} & set(sys.modules)))"
    )
    assert told.split() == [b"[]"]
