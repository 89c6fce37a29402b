"""The stepper as Python knows it: where it is, how history is forked, what it says and saves."""

import json
import re

import pytest

from kafkalearn import scenarios
from kafkalearn.errors import ConfigError
from kafkalearn.scenarios.what_if import compare, reruns, what_if
from kafkalearn.trace import Trace
from kafkalearn.views import Stepper


@pytest.fixture(scope="module")
def story():
    """A story that can be run again."""
    return reruns(scenarios.second_member_joins)


@pytest.fixture
def stepper(story):
    """Step through it."""
    return Stepper(story.trace(), rerun=story)


def test_it_tells_what_it_is(stepper):
    """The text names the story, its length and the step; there is no address in it."""
    count = len(scenarios.second_member_joins())
    assert repr(stepper) == f"Stepper(second member joins: {count} steps, at 1)"
    stepper.go_to(5)
    assert repr(stepper).endswith("at 6)")


def test_a_place_that_runs_nothing_shows_text_and_picture(stepper):
    """The bundle has the text that nbval compares, and a picture with its sentence."""
    data, _ = stepper._repr_mimebundle_()
    assert data["text/plain"] == repr(stepper)
    assert re.match(
        r'<img src="data:image/svg\+xml;base64,[^"]+" alt="admin [^"]+">$', data["text/html"]
    )


def test_it_goes_to_what_matters(stepper):
    """`next` finds the next rebalance, and stays where there is none."""
    stepper.next("rebalance")
    assert "PreparingRebalance" in stepper.as_text()
    first = stepper.step
    stepper.next("rebalance")
    assert stepper.step > first
    stepper.next("rebalance")
    stepper.next("rebalance")
    last = stepper.step
    stepper.next("rebalance")
    assert stepper.step == last


def test_history_is_forked(stepper, story):
    """A crash leaves all up to the step shown as it was; then both are shown, and back is one."""
    stepper.next("rebalance")
    stepper.next("rebalance")
    here = stepper.step
    stepper.crash("c1")
    assert stepper.step > here
    assert len(stepper.story["runs"]) == 2
    steps = stepper.story["steps"]
    parted = stepper.step
    assert steps[:parted] == [[k, k] for k in range(parted)]
    stepper.back()
    assert len(stepper.story["runs"]) == 1
    assert stepper.step == steps[parted][0]


def test_other_settings_tell_the_story_from_its_beginning(stepper):
    """Another setting is another run of the whole story."""
    stepper.change(partitions=3)
    assert stepper.step == stepper.story["difference"]
    assert "partitions=3" in stepper.html


def test_a_frozen_and_a_cut_off_node(stepper):
    """The other two faults fork history too."""
    stepper.next("rebalance")
    for fault in ("freeze", "cut_off"):
        getattr(stepper, fault)("c1", 500)
        assert len(stepper.story["runs"]) == 2
        assert f"{fault}(c1" in stepper.html
        stepper.back()
        assert len(stepper.story["runs"]) == 1


def test_a_step_stays_within_the_story(stepper):
    """Whatever is set from outside: the nearest step there is."""
    last = len(stepper.story["steps"]) - 1
    stepper.step = 10**6
    assert stepper.step == last
    stepper.step = -5
    assert stepper.step == 0
    assert stepper.as_text()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda each: each.go_to(9999), r"the step is 9999: 0 to \d+ are allowed"),
        (lambda each: each.go_to(-1), "the step is -1"),
        (lambda each: each.go_to("2"), "the step is '2'"),
        (lambda each: each.next("party"), "'party' cannot be gone to: rebalance, "),
        (lambda each: each.crash("c9"), "c9"),
        (lambda each: each.show(), "given nothing: one Trace or two are allowed"),
        (lambda each: each.show("x"), "given str"),
    ],
)
def test_what_is_not_there_is_refused(stepper, change, said):
    """An error names the value and what is allowed, and nothing has changed."""
    before = stepper.html
    with pytest.raises(ValueError, match=said):
        change(stepper)
    assert stepper.html == before


def test_what_cannot_be_built_is_refused():
    """Unknown panes and languages, and three traces."""
    trace = Trace("empty")
    with pytest.raises(ConfigError, match="'pies' is no pane: messages, "):
        Stepper(trace, panes=("pies",))
    with pytest.raises(ConfigError, match="lang is 'fr'"):
        Stepper(trace, lang="fr")
    with pytest.raises(ConfigError, match="one Trace or two are allowed"):
        Stepper(trace, trace, trace)
    with pytest.raises(ConfigError, match="panes is 'logs': a list of messages, "):
        Stepper(trace, panes="logs")
    with pytest.raises(ConfigError, match=r"events is 5: a range is allowed"):
        Stepper(trace, events=5)
    with pytest.raises(ConfigError, match="options of 'grup': 'group_id', but nothing is allowed"):
        Stepper(trace, options={"grup": {"group_id": "a"}})
    with pytest.raises(ConfigError, match="options of 'poll': 'nod', but node is allowed"):
        Stepper(trace, options={"poll": {"nod": "c1"}})
    with pytest.raises(ConfigError, match="cannot be run again"):
        Stepper(trace).crash("c1")


def message(**content):
    """What the browser sends."""
    return {"step": 3, "node": "c1", "for_ms": 1000, "settings": {}} | content


def test_the_buttons_of_the_page(stepper):
    """What a button asks for is done; what is refused is said in the page, and so is nonsense."""
    stepper._receive(message(action="crash", step=40))
    assert len(stepper.story["runs"]) == 2
    stepper._receive(message(action="back"))
    assert len(stepper.story["runs"]) == 1
    stepper._receive(message(action="crash", node="nobody"))
    assert "nobody" in stepper.notice
    stepper._receive(message(action="freeze", for_ms=None))
    assert stepper.notice == "freeze needs for_ms"
    stepper._receive(message(action="settings", settings={"partitions": -1}))
    assert "partitions is -1" in stepper.notice
    drawn = stepper.drawn
    for nonsense in (message(action="__class__"), {}, None, {"action": "crash"}, "crash"):
        stepper._receive(nonsense)
    assert stepper.drawn == drawn


def test_a_saved_page_stands_alone(stepper, tmp_path):
    """One file with nothing from elsewhere, no buttons that need a kernel, and all its data."""
    path = stepper.save(tmp_path / "story.html")
    text = path.read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert "data-act" not in text.split("<script")[0]
    assert not re.search(r"""(src|href)=["']?http""", text)
    held = json.loads(re.search(r'id="held">(.*?)</script>', text, re.S).group(1))
    assert held["story"]["steps"] == stepper.story["steps"]
    assert "data-act" not in held["html"]


def test_a_name_cannot_end_the_script(tmp_path):
    """A topic called like the end of a script stays data."""
    trace = Trace("</script><script>alert(1)</script>")
    trace.record("poll", 0, "</script>")
    text = Stepper(trace).save(tmp_path / "x.html").read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert text.count("</script>") == 2


def test_a_saved_page_is_never_half_written(stepper, tmp_path):
    """What was there before stays, if a page cannot be written."""
    path = stepper.save(tmp_path / "story.html")
    before = path.read_text(encoding="utf-8")
    stepper._showing.story["strings"].append("a lone surrogate \ud800")
    with pytest.raises(UnicodeEncodeError):
        stepper.save(path)
    assert path.read_text(encoding="utf-8") == before
    assert [each.name for each in tmp_path.iterdir()] == ["story.html"]


def test_a_node_may_be_called_anything(tmp_path):
    """A name that UTF-8 cannot hold is spelled out."""
    trace = Trace("odd")
    trace.record("poll", 0, "a\ud800b")
    stepper = Stepper(trace)
    assert "a\\ud800b" in stepper.html
    assert stepper.save(tmp_path / "x.html").exists()


def test_it_speaks_chinese():
    """Captions, headings and controls are in the language that was asked for."""
    stepper = Stepper(scenarios.first_member(), lang="zh")
    assert "播放" in stepper.html
    assert 'lang="zh"' in stepper.html
    stepper.next("rebalance")
    assert "消费组" in stepper.as_text()


def test_two_kafkas_side_by_side():
    """The same story under two profiles is told in two runs, each with its own heading."""
    stepper = Stepper(*compare(scenarios.second_member_joins, profiles=("1.0", "4.0")))
    assert "profile=1.0" in stepper.html
    assert "profile=4.0" in stepper.html


def test_what_if_can_be_looked_at():
    """`what_if` gives two traces, which a stepper takes as they are."""
    forked = what_if(scenarios.second_member_joins, at_ms=3500, crash="c1")
    stepper = Stepper(*forked)
    assert stepper.story["difference"] == forked.difference


def test_one_poll():
    """The preset shows the events of one poll, and its steps."""
    trace = scenarios.first_member()
    stepper = Stepper.of_poll(trace)
    assert "Poll 1 of c1" in stepper.as_text()
    with pytest.raises(ConfigError, match="poll number 99 of c1"):
        Stepper.of_poll(trace, number=99)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_empty_trace_and_one_event(lang):
    """A trace without events says so; one event is shown; what is missing is named."""
    empty = Stepper(Trace("empty"), lang=lang)
    assert empty.as_text() in ("this trace has no events", "此 trace 没有事件")
    assert empty._repr_mimebundle_()
    one = Trace("one")
    one.record("poll", 7, "c1")
    stepper = Stepper(one, lang=lang)
    assert "c1" in stepper.as_text()
    assert "group_state" in stepper.html
    stepper.go_to(0)


def test_a_long_trace_says_what_it_shows():
    """Beyond 1,000 events the page says which it shows, and another range can be asked for."""
    trace = Trace("long")
    for time_ms in range(2500):
        trace.record("poll", time_ms, "c1")
    assert "events 1 to 1,000 of 2,500 are shown" in Stepper(trace).html
    late = Stepper(trace, events=range(2000, 2500))
    assert "events 2,001 to 2,500 of 2,500 are shown" in late.html
