"""Scenarios by name, with settings and faults; whatever breaks, a story ends with a trace."""

from inspect import signature

import pytest

from kafkalearn import scenarios
from kafkalearn.engine import Crash, CutOff, Drop, Freeze, InvalidFaultError
from kafkalearn.errors import ConfigError
from kafkalearn.profile import PROFILES
from kafkalearn.scenarios.story import Story
from kafkalearn.trace import Trace

NAMES = scenarios.names()


def test_there_is_one_for_each_story_of_the_documents():
    """In the order in which they are best told, under the names of the functions."""
    assert scenarios.names() == [
        *("first_member", "second_member_joins", "consumer_dies", "consumer_leaves"),
        *("consumer_stops_polling", "topic_grows", "pattern_meets_new_topic"),
        *("assign_beside_subscribe", "group_changes"),
        *("crash_before_commit", "async_commit_overtaken"),
        *("coordinator_fails_over", "offset_expired", "offset_out_of_range", "producer_retries"),
    ]
    assert all(scenarios.get(name) is getattr(scenarios, name) for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_help_shows_what_to_watch_and_every_setting(name):
    """A docstring with the document, and a signature with the scenario's own settings."""
    run = scenarios.get(name)
    assert "Watch" in run.__doc__
    assert "Document" in run.__doc__
    seed, profile, faults, *own, settings = signature(run).parameters.values()
    assert str(seed) == "seed: int = 0"
    assert str(profile) == "profile: str | kafkalearn.profile.KafkaProfile = '1.0'"
    assert (faults.default, settings.kind.name) == ((), "VAR_KEYWORD")
    told = scenarios.run(name, record={"kinds": []}).run_id
    assert all(f" {each.name}=" in told for each in own)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", NAMES)
def test_each_story_can_be_told_under_each_profile(name, profile):
    """Nobody runs out of patience."""
    trace = scenarios.run(name, profile=profile)
    assert trace.run_id.startswith(f"{name} ")
    assert f" profile={profile} " in trace.run_id
    quiet = {"offset_expired": 130_000, "offset_out_of_range": 70_000}
    assert trace[-1].time_ms < quiet.get(name, 20_000)


def test_the_run_id_tells_the_whole_run():
    """Own settings with their values, then profile, seed, what was set of the world, faults."""
    trace = scenarios.run(
        "crash_before_commit",
        seed=7,
        profile="2.4",
        commit_mode="before",
        faults=[Freeze("broker-0", 100, 5)],
        **{"latency.ms": 2},
    )
    assert trace.run_id == (
        'crash_before_commit commit_mode="before" records=6 max_poll_records=3 crash_after=5 '
        "profile=2.4 seed=7 brokers=1 latency_ms=2 faults=freeze(broker-0,at_ms=100,for_ms=5)"
    )


def test_a_run_can_be_repeated_and_forked():
    """The same again is the same; with one more fault all is the same up to it."""
    told = scenarios.consumer_leaves()
    assert scenarios.run("consumer_leaves") == told
    forked = scenarios.consumer_leaves(faults=[Crash("c1", 6500)])
    place = next(each.seq for each in forked if each.kind == "fault")
    assert [each[1:] for each in forked[:place]] == [each[1:] for each in told[:place]]
    assert forked[place].time_ms == 6500


FORKS = [
    *(
        fault(node, at_ms)
        for node in ("c1", "broker-0")
        for at_ms in (50, 3018, 4000)
        for fault in (
            Crash,
            lambda node, at_ms: Freeze(node, at_ms, 8000),
            lambda node, at_ms: CutOff(node, at_ms, 2000),
        )
    ),
    *(Drop(api, nth) for api in ("JoinGroup", "OffsetCommit", "Fetch") for nth in (1, 2)),
]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "producer_retries"])
def test_a_fork_ends_with_a_trace_whatever_breaks(name):
    """A crash of a client or of the only broker, a pause, a cut, a lost message."""
    for fault in FORKS:
        trace = scenarios.run(name, faults=[fault])
        assert isinstance(trace, Trace)
        assert str(fault) in trace.run_id


def test_a_fault_for_a_node_that_never_comes_is_refused():
    """As by the simulation; so is what is no list of faults."""
    with pytest.raises(InvalidFaultError):
        scenarios.first_member(faults=[Crash("c9", 100)])
    with pytest.raises(InvalidFaultError):
        scenarios.first_member(faults=Crash("c1", 100))


def test_what_is_recorded_can_be_chosen():
    """As a sweep does."""
    trace = scenarios.run("consumer_dies", record={"kinds": ["member_removed"]})
    assert [each.kind for each in trace] == ["member_removed"]


def test_a_story_leaves_nothing_running(monkeypatch):
    """Its simulation is disposed of, also when it fails; what is unwound then is not told."""
    kept = []
    make = Story.__init__

    def keep(story, sim):
        kept.append(sim)
        make(story, sim)

    monkeypatch.setattr(Story, "__init__", keep)
    trace = scenarios.first_member()
    with pytest.raises(ConfigError):
        scenarios.first_member(assignor="fair")
    assert [list(sim.processes.living) for sim in kept] == [[], []]
    assert not trace.where(kind="logged")


REFUSED = {
    "unknown scenario": (
        "first_membr",
        {},
        "'first_membr' is no scenario: first_member, second_member_joins, ",
    ),
    "unknown setting": (
        "first_member",
        {"heartbeats": 1},
        "heartbeats is no setting of a simulation or its brokers: known are ",
    ),
    "wrong type": ("topic_grows", {"grows_to": "2"}, "grows_to is '2': a whole number from 0 up"),
    "True is no number": ("topic_grows", {"grows_to": True}, "grows_to is True: a whole number"),
    "negative": ("topic_grows", {"partitions": -1}, "partitions is -1: a whole number from 0 up"),
    "no text": ("first_member", {"assignor": 1}, "assignor is 1: a text is allowed"),
    "no bool": ("async_commit_overtaken", {"retries": 1}, "retries is 1: True or False is allowed"),
    "commit mode": (
        "crash_before_commit",
        {"commit_mode": "later"},
        "commit_mode is 'later': one of auto, sync, async, before is allowed",
    ),
    "assignor": ("first_member", {"assignor": "fair"}, "fair"),
    "profile": ("first_member", {"profile": "9.9"}, "profile is '9.9'"),
    "name": ("first_member", {"name": "mine"}, "name is 'mine': a scenario has its own"),
    "given twice": (
        "first_member",
        {"latency_ms": 1, "latency.ms": 2},
        "latency_ms, latency.ms: one is given twice, with dots too",
    ),
}


@pytest.mark.parametrize(("name", "settings", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused_in_a_sentence(name, settings, sentence):
    """It names the value and what is allowed."""
    with pytest.raises(ConfigError) as refused:
        scenarios.run(name, **settings)
    assert sentence in str(refused.value)


def test_an_unknown_setting_is_refused_with_those_of_the_scenario():
    """The simulation names its own, and a note those of the story."""
    with pytest.raises(ConfigError) as refused:
        scenarios.first_member(partition=3)
    assert "did you mean partitions?" in str(refused.value)
    assert refused.value.__notes__ == ["settings of first_member itself: partitions, assignor"]
    with pytest.raises(ConfigError, match=r"consumer_dies: did you mean session_timeout_ms\?"):
        scenarios.consumer_dies(sesion_timeout_ms=1)
    with pytest.raises(ConfigError, match="is no setting of a simulation"):
        scenarios.consumer_dies(heartbeats=1, broker_session_timeout_ms=3)
