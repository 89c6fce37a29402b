"""What a failing check shows in a notebook, beside its words."""

import sys
from io import StringIO

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from kafkalearn.grading import CheckFailedError, check
from kafkalearn.grading.judging.cases import Shown, Story
from kafkalearn.grading.judging.showing import show
from kafkalearn.trace import Trace

PICTURE = Shown("words", picture='<div class="kl"><svg class="kl-matrix"></svg></div>')


def trace_of(events):
    """A run of one node that only polls."""
    trace = Trace("polls")
    for number in range(events):
        trace.record("poll", number, "c1")
    return trace


def story_of(events, step):
    """A run as a story, to be looked at from a step on."""
    text = StringIO()
    trace_of(events).to_jsonl(text)
    return Shown("words", story=Story("c1 polls", text.getvalue(), step))


@pytest.fixture
def notebook(monkeypatch):
    """Run inside of IPython, as a cell does; gives what shows the outputs."""
    shell = InteractiveShell.instance()
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    return capture_output


def test_a_picture_comes_with_its_styles_once(notebook):
    """The text of the output is the same each time; the picture's colours are in the page."""
    with notebook() as captured:
        show(PICTURE)
    (output,) = captured.outputs
    assert output.data["text/plain"] == "(a picture of this case)"
    html = output.data["text/html"]
    assert html.count("<style>") == 1
    assert html.startswith("<style>/* The look that all views share")
    assert html.endswith(PICTURE.picture)


@pytest.mark.parametrize(
    ("events", "step", "says"),
    [
        (3, 1, "Stepper(polls: 3 steps, at 2)"),
        (2500, 2000, "Stepper(polls: 1000 steps, at 501)"),
        (2500, 2499, "Stepper(polls: 1000 steps, at 1000)"),
    ],
)
def test_a_story_opens_at_its_step(notebook, events, step, says):
    """Of a long one, the thousand events around the step are shown."""
    with notebook() as captured:
        show(story_of(events, step))
    assert captured.stdout == "c1 polls\n"
    (output,) = captured.outputs
    assert output.data["text/plain"] == says


def test_where_the_widgets_are_missing_no_story_is_shown(notebook, monkeypatch):
    """The verdict's words tell it too."""
    monkeypatch.setitem(sys.modules, "kafkalearn.views.stepper", None)
    with notebook() as captured:
        show(story_of(3, 1))
    assert (captured.stdout, captured.outputs) == ("", [])


def test_words_alone_show_nothing(notebook):
    """A case without picture and story is all in the verdict's text."""
    with notebook() as captured:
        show(Shown("words"))
    assert (captured.stdout, captured.outputs) == ("", [])


@pytest.mark.parametrize("where", ["in a script", "without IPython"])
def test_outside_of_a_notebook_nothing_is_shown(where, monkeypatch, capsys):
    """A script that calls check sees the words alone, and IPython is not imported for it."""
    monkeypatch.setattr("IPython.get_ipython", lambda: None)
    if where == "without IPython":
        monkeypatch.delitem(sys.modules, "IPython")
    show(PICTURE)
    show(story_of(3, 1))
    assert capsys.readouterr().out == ""
    assert ("IPython" in sys.modules) == (where == "in a script")


def test_a_check_that_says_no_shows_its_picture(notebook):
    """The picture stands above the words; a check that says yes shows none."""
    with notebook() as captured, pytest.raises(CheckFailedError, match="a gets nothing"):
        check("41_range_assignor/by-name", lambda _, members: {member: [] for member in members})
    (output,) = captured.outputs
    assert output.data["text/html"].count('class="kl-matrix"') == 2
