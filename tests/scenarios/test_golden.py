"""Each scenario's trace, as text, is the one that was read and stored."""

import pytest

from kafkalearn import scenarios
from kafkalearn.trace import LANGUAGES
from tests.scenarios.golden import golden

MAX_LINES = 260
MORE_LINES = {"group_changes": 540}  # three consumers, and the silence after the crash of one


@pytest.mark.parametrize("name", scenarios.names())
def test_a_story_is_told_as_it_is_stored(name):
    """The difference is the message: a minus is a line that was there, a plus one that is new."""
    if difference := golden.difference(name, str(scenarios.run(name))):
        pytest.fail(difference, pytrace=False)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", scenarios.names())
def test_a_story_can_be_told_in_each_language(name, lang):
    """A line for each event, few enough to be read, with nothing left blank."""
    trace = scenarios.run(name)
    lines = trace.text(lang).splitlines()
    assert len(lines) == len(trace) < MORE_LINES.get(name, MAX_LINES)
    assert not [line for line in lines if "None" in line or line.endswith(" ")]


def test_each_stored_trace_is_that_of_a_scenario():
    """A scenario that is gone leaves no trace."""
    assert [path.stem for path in golden.stored()] == sorted(scenarios.names())


def test_a_changed_line_is_shown():
    """The check can fail, and says how to accept the change."""
    lines = golden.path_of("first_member").read_text(encoding="utf-8").splitlines()
    changed = [*lines[:-1], lines[-1].replace("c1", "c2")]
    difference = golden.difference("first_member", "\n".join(changed)).splitlines()
    assert [line for line in difference[2:] if line[0] in "+-"] == [
        f"-{lines[-1]}",
        f"+{changed[-1]}",
    ]
    assert difference[-1] == golden.HOW_TO_ACCEPT
    assert golden.difference("first_member", "\n".join(lines)) == ""


def test_a_trace_that_is_not_stored_is_shown_whole():
    """A new scenario's trace is a difference as well."""
    assert "+ all of it" in golden.difference("no such scenario", " all of it").splitlines()
