import ast
import inspect
import re
from dataclasses import FrozenInstanceError, fields, replace
from itertools import pairwise

import pytest

from kafkalearn.errors import ConfigError
from kafkalearn.profile import (
    KAFKA_0_10_1,
    KAFKA_1_0,
    KAFKA_2_3,
    KAFKA_2_4,
    KAFKA_4_0,
    PROFILES,
    KafkaProfile,
    profile_of,
)
from kafkalearn.profile.consumer_rules import ConsumerRules
from kafkalearn.profile.group_rules import GroupRules
from kafkalearn.profile.topic_rules import TopicRules

IN_ORDER = [KAFKA_0_10_1, KAFKA_1_0, KAFKA_2_3, KAFKA_2_4, KAFKA_4_0]
SWITCHES = [each.name for each in fields(KafkaProfile) if each.name != "release"]


@pytest.mark.parametrize("name", ["0.10.1", "1.0", "2.3", "2.4", "4.0"])
def test_a_profile_is_found_by_its_release(name):
    """It is the preset of that release, and knows its number."""
    profile = profile_of(name)
    assert profile is PROFILES[name]
    assert (profile.release, profile.version) == (name, tuple(map(int, name.split("."))))


def test_a_profile_stands_for_itself():
    """One with a switch of its own may be given wherever a name may."""
    profile = replace(KAFKA_1_0, static_members=True)
    assert profile_of(profile) is profile


@pytest.mark.parametrize("name", ["", "1", "1.1", "v1.0", "KAFKA_1_0", 1.0, None])
def test_another_name_is_refused(name):
    """The sentence names it, and those that there are."""
    with pytest.raises(ConfigError) as error:
        profile_of(name)
    assert str(error.value) == (
        f"profile is {name!r}: one of 0.10.1, 1.0, 2.3, 2.4, 4.0 is allowed"
        + ("" if isinstance(name, str) else ", as text")
    )


def test_releases_compare_as_numbers():
    """0.10.1 is older than 1.0, although it would not be as text with 0.9."""
    versions = [each.version for each in IN_ORDER]
    assert versions == sorted(versions)
    assert replace(KAFKA_1_0, release="0.9").version < KAFKA_0_10_1.version


@pytest.mark.parametrize("name", SWITCHES)
def test_a_rule_that_came_stays(name):
    """From one release to the next a switch changes in one direction, so presets build on presets.

    A switch that is a value may have more than two, each for releases without a gap.
    """
    values = [getattr(each, name) for each in IN_ORDER]
    changes = [before for before, after in pairwise(values) if before != after]
    if isinstance(values[-1], bool):
        assert values[-1] is True
        assert len(changes) <= 1
    assert len(set(values)) == len(changes) + 1
    assert getattr(KafkaProfile(release="9.9"), name) == values[-1]


def test_each_switch_differs_between_presets():
    """One that is the same in all of them is a rule and not a switch."""
    assert [name for name in SWITCHES if len({getattr(each, name) for each in IN_ORDER}) < 2] == []


def test_each_switch_says_what_it_does_and_since_when():
    """Below each field stands what holds, with the release that brought it."""
    body = []
    for each in (GroupRules, TopicRules, ConsumerRules):
        (class_,) = ast.parse(inspect.getsource(each)).body
        body += class_.body
    told = {}
    for field, text in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            told[field.target.id] = text.value.value
    assert list(told) == SWITCHES
    assert [name for name, text in told.items() if not re.search(r"\d\.\d", text)] == []


def test_a_profile_is_never_changed():
    """Two simulations may share one."""
    with pytest.raises(FrozenInstanceError):
        KAFKA_1_0.static_members = True


def test_only_a_known_switch_can_be_set():
    """A misspelt one would be a rule that nobody asks for."""
    with pytest.raises(TypeError, match="static_member"):
        replace(KAFKA_1_0, static_member=True)


@pytest.mark.parametrize("profile", IN_ORDER, ids=lambda each: each.release)
@pytest.mark.parametrize("name", ["Empty", "PreparingRebalance", "Stable", "Dead"])
def test_four_states_have_one_name(profile, name):
    """Only the state between join and sync was renamed."""
    assert profile.state_name(name) == name


def test_one_state_was_renamed():
    """AwaitingSync up to 1.0, CompletingRebalance later."""
    names = [each.state_name("AwaitingSync") for each in IN_ORDER]
    assert names == ["AwaitingSync"] * 2 + ["CompletingRebalance"] * 3
