"""Each script's trace, as text, is the one that was read and stored."""

import pytest

from kafkalearn.trace import LANGUAGES
from tests.simulation.golden import golden
from tests.simulation.scripts import SCRIPTS, play


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_story_is_told_as_it_is_stored(name):
    """The difference is the message: a minus is a line that was there, a plus one that is new."""
    if difference := golden.difference(name, str(play(name).trace)):
        pytest.fail(difference, pytrace=False)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_story_can_be_told_in_each_language(name, lang):
    """A line for each event, and nothing in it is unknown."""
    trace = play(name).trace
    text = trace.text(lang)
    assert len(text.splitlines()) == len(trace) > 15
    assert "?" not in text


def test_each_stored_trace_is_that_of_a_script():
    """A script that is gone leaves no trace."""
    assert [path.stem for path in golden.stored()] == sorted(SCRIPTS)


def test_a_changed_line_is_shown():
    """The check can fail, and says how to accept the change."""
    first, *rest = golden.path_of("new_group").read_text(encoding="utf-8").splitlines()
    changed = "\n".join([first.replace("c1", "c2"), *rest])
    difference = golden.difference("new_group", changed).splitlines()
    assert [line for line in difference[2:] if line[0] in "+-"] == [
        f"-{first}",
        f"+{first.replace('c1', 'c2')}",
    ]
    assert difference[-1] == golden.HOW_TO_ACCEPT
    assert golden.difference("new_group", "\n".join([first, *rest])) == ""


def test_a_trace_that_is_not_stored_is_shown_whole():
    """A new script's trace is a difference as well."""
    assert "+ all of it" in golden.difference("no such script", " all of it").splitlines()
