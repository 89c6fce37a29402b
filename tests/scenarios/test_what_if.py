"""A story told twice: history is forked and never changed, and the first difference is found."""

import pytest

from kafkalearn import scenarios
from kafkalearn.engine import Crash, CutOff, Freeze, InvalidFaultError
from kafkalearn.errors import ConfigError
from kafkalearn.profile import KAFKA_1_0, KAFKA_2_3
from kafkalearn.scenarios import WhatIf, compare, reruns, what_if
from kafkalearn.trace import Trace

CRASH = {"at_ms": 7008, "crash": "c1"}


def seen(trace, stop=None):
    """Give what happened, without the name of the run."""
    return [event[1:] for event in trace[:stop]]


@pytest.mark.parametrize("name", scenarios.names())
def test_history_is_forked_and_never_changed(name):
    """Whatever the moment: all that happened before is the same, and the fault comes first then."""
    as_it_is = scenarios.run(name)
    story = reruns(name)
    times = sorted({event.time_ms for event in as_it_is})
    for at_ms in [0, *times[:: max(1, len(times) // 8)], times[-1]]:
        forked = story(at_ms=at_ms, freeze="c1", for_ms=1)
        before = sum(event.time_ms < at_ms for event in as_it_is)
        assert seen(forked, before) == seen(as_it_is, before)
        assert [(e.time_ms, e.kind, e.node) for e in forked[before : before + 1]] in (
            [(at_ms, "fault", "c1")],
            [(e.time_ms, e.kind, e.node) for e in as_it_is[before : before + 1]],  # c1 is down
        )


def test_a_crash_more():
    """Two traces, the place where they part, and lines that say so."""
    answer = what_if("consumer_dies", **CRASH)
    one, other = answer
    assert (one, other) == (answer.one, answer.other)
    assert one == scenarios.consumer_dies()
    assert other == scenarios.consumer_dies(faults=[Crash("c1", 7008)])
    assert answer.difference == 84
    assert seen(one, 84) == seen(other, 84)
    assert [(e.time_ms, e.kind) for e in (one[84], other[84])] == [(7008, "send"), (7008, "fault")]
    assert repr(answer) == str(answer)
    assert repr(answer).splitlines() == [
        "the same events: 84, until 6,515 ms",
        "  as it is              7,008 ms  c1 asks broker-0 whether it is still a member of "
        "group billing (Heartbeat, correlation 8)",
        "  crash(c1,at_ms=7008)  7,008 ms  c1 meets a fault: crash",
    ]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"crash": "c1"}, Crash("c1", 7000)),
        ({"freeze": "c1", "for_ms": 50}, Freeze("c1", 7000, 50)),
        ({"cut_off": "c1", "for_ms": 50}, CutOff("c1", 7000, 50)),
        ({"cut_off": "c1", "for_ms": 50, "peer": "broker-0"}, CutOff("c1", 7000, 50, "broker-0")),
    ],
    ids=str,
)
def test_each_fault_can_be_one_more(change, fault):
    """Beside those that are given, which both runs have."""
    given = Crash("c2", 6500)
    answer = what_if("consumer_leaves", seed=3, at_ms=7000, faults=[given], **change)
    assert answer.one == scenarios.consumer_leaves(seed=3, faults=[given])
    assert answer.other == scenarios.consumer_leaves(seed=3, faults=[given, fault])
    assert answer.other[answer.difference].kind == "fault"


def test_other_settings():
    """With Kafka's dots or without; arguments beside them are those of both runs."""
    answer = what_if(
        "consumer_dies", partitions=4, settings={"session.timeout.ms": 9000, "profile": "2.3"}
    )
    assert answer.one == scenarios.consumer_dies(partitions=4)
    assert answer.other == scenarios.consumer_dies(
        partitions=4, session_timeout_ms=9000, profile="2.3"
    )
    assert answer.names == ("as it is", "session.timeout.ms=9000, profile='2.3'")


def test_a_fault_that_finds_nothing_to_do():
    """c2 is dead by then: the runs are equal but for their run_id, and it says so."""
    answer = what_if(scenarios.consumer_dies, at_ms=8000, crash="c2")
    assert answer.difference is None
    assert repr(answer) == "all 189 events are the same: as it is and crash(c2,at_ms=8000)"


def test_one_story_under_two_kafkas():
    """Since 2.2 a member is first given an id, with which it has to come again."""
    answer = compare("first_member", ("1.0", "2.3"), seed=2)
    assert tuple(answer) == tuple(scenarios.first_member(seed=2, profile=p) for p in ("1.0", "2.3"))
    assert [trace[answer.difference].detail.get("pending") for trace in answer] == [None, True]
    assert repr(answer).splitlines()[1:] == [
        "  Kafka 1.0  15 ms  broker-0 takes c1-d5da… into group billing",
        "  Kafka 2.3  15 ms  broker-0 takes c1-d5da… into group billing, "
        "once it joins with this id",
    ]
    assert compare("first_member", (KAFKA_1_0, KAFKA_2_3)).difference == answer.difference
    assert compare("first_member").names == ("Kafka 1.0", "Kafka 4.0")


def made_up(*events):
    """Make a trace of (time_ms, detail)."""
    trace = Trace("made up")
    for time_ms, detail in events:
        trace.record("send", time_ms, "c1", api="Heartbeat", peer="b", detail=detail)
    return trace


def test_what_is_said_alike_is_told_apart_by_its_values():
    """At the same time, in the same words: the values that differ are named, down in the detail."""
    one = made_up((0, None), (5, {"fields": {"timeout_ms": 1, "same": 2}}))
    other = made_up((0, None), (5, {"fields": {"timeout_ms": 9, "same": 2}}))
    lines = repr(WhatIf(one, other, ("one", "the other"), 1)).splitlines()
    assert lines[0] == "the same events: 1, until 0 ms"
    assert lines[1].endswith(" (Heartbeat): timeout_ms=1")
    assert lines[2].endswith(" (Heartbeat): timeout_ms=9")


def test_a_run_that_is_over_has_nothing_more():
    """One trace goes on after the other: the place is that of the rest."""
    lines = repr(WhatIf(made_up(), made_up((5, None)), ("one", "two"), 0)).splitlines()
    assert lines[:2] == ["the same events: 0", "  one        nothing more"]
    assert lines[2].startswith("  two  5 ms  c1 ")


def test_a_view_is_handed_what_runs_the_story_again():
    """The scenario's own settings as they are, and every change."""
    story = reruns("consumer_dies", seed=4, **{"session.timeout.ms": 7000}, latency_ms=2)
    assert story.settings == {"partitions": 2, "session_timeout_ms": 7000}
    arguments = {"seed": 4, "session_timeout_ms": 7000, "latency_ms": 2}
    assert story.trace() == scenarios.consumer_dies(**arguments)
    assert story(profile="2.4") == scenarios.consumer_dies(**arguments, profile="2.4")
    assert story(settings={"partitions": 3}) == scenarios.consumer_dies(**arguments, partitions=3)
    forked = scenarios.consumer_dies(**arguments, faults=[Crash("c1", 9000)])
    assert story(at_ms=9000, crash="c1") == forked
    assert story.trace() == scenarios.consumer_dies(**arguments)


def test_a_story_can_be_bound_to_other_settings():
    """The others stay, and so does the story that it came from; only its own are allowed."""
    story = reruns("consumer_dies", seed=4, partitions=3)
    other = story.having(**{"session.timeout.ms": 7000})
    assert other.settings == {"partitions": 3, "session_timeout_ms": 7000}
    arguments = {"seed": 4, "partitions": 3, "session_timeout_ms": 7000}
    assert other.trace() == scenarios.consumer_dies(**arguments)
    assert story.settings == {"partitions": 3, "session_timeout_ms": 6000}
    with pytest.raises(ConfigError, match="latency_ms is no setting of this story: partitions, s"):
        story.having(latency_ms=3)


def test_a_setting_that_is_called_like_a_change_is_bound_first():
    """group_changes has an at_ms of its own."""
    story = reruns("group_changes", at_ms=6000, change="none")
    assert story.settings["at_ms"] == 6000
    assert story(at_ms=6500, crash="c1") == scenarios.group_changes(
        at_ms=6000, change="none", faults=[Crash("c1", 6500)]
    )


REFUSED = {
    "no change": ({}, "what is different is nothing: one of crash, freeze, cut_off, settings, "),
    "no settings": ({"settings": {}}, "what is different is nothing"),
    "time alone": ({"at_ms": 5}, "what is different is nothing"),
    "two faults": (
        {"at_ms": 5, "crash": "c1", "freeze": "c1", "for_ms": 2},
        "what is different is crash and freeze",
    ),
    "a fault and settings": (
        {**CRASH, "settings": {"partitions": 3}},
        "crash, at_ms beside settings: either a fault or other settings are allowed",
    ),
    "no time": ({"crash": "c1"}, "crash needs at_ms"),
    "no length": ({"at_ms": 5, "freeze": "c1"}, "freeze needs for_ms"),
    "a length too much": ({**CRASH, "for_ms": 5}, "for_ms is given, which crash does not have"),
    "a peer too much": (
        {"at_ms": 5, "freeze": "c1", "for_ms": 5, "peer": "c2"},
        "peer is given, which freeze does not have",
    ),
    "after the end": (
        {"at_ms": 99_000, "crash": "c1"},
        "at_ms is 99000: the story ends at 12020 ms",
    ),
    "settings are no dict": ({"settings": 3}, "settings is 3: a dict is allowed"),
    "unknown setting": (
        {"settings": {"partition": 3}},
        "partition is no setting of consumer_dies: did you mean partitions?",
    ),
}


@pytest.mark.parametrize(("changes", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_different_is_refused(changes, sentence):
    """In a sentence that says what is allowed."""
    with pytest.raises(ConfigError) as refused:
        what_if("consumer_dies", **changes)
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"at_ms": -1, "crash": "c1"}, "at_ms of crash is -1: a whole number from 0 up"),
        ({"at_ms": 1.5, "crash": "c1"}, "at_ms of crash is 1.5: a whole number from 0 up"),
        ({"at_ms": 5, "crash": "c9"}, "names c9: the nodes are broker-0, p1, c1, c2"),
        ({"at_ms": 5, "crash": "broker-9"}, "names broker-9: the brokers are broker-0"),
        ({"at_ms": 5, "cut_off": "c1", "for_ms": 5, "peer": "c9"}, "names c9: the nodes are"),
        ({"at_ms": 5, "freeze": "c1", "for_ms": "5"}, "for_ms of freeze is '5': a whole number"),
    ],
    ids=str,
)
def test_a_fault_that_cannot_be_is_refused(changes, sentence):
    """As anywhere else, with the nodes that there are."""
    with pytest.raises(InvalidFaultError) as refused:
        what_if("consumer_dies", **changes)
    assert sentence in str(refused.value)


def test_a_change_that_is_none_is_refused_by_a_rerun():
    """It names those that there are."""
    with pytest.raises(ConfigError, match="explode cannot be different: crash, freeze, cut_off, "):
        reruns("consumer_dies")(at_ms=5, explode="c1")


@pytest.mark.parametrize("profiles", ["1.0", "ab", ("1.0",), ("1.0", "2.3", "4.0"), None])
def test_other_than_two_profiles_are_refused(profiles):
    """A text is no two of them, however long it is."""
    with pytest.raises(ConfigError, match="two profiles are allowed"):
        compare("first_member", profiles)


@pytest.mark.parametrize("scenario", ["first_membr", 3, None])
def test_what_is_no_scenario_is_refused(scenario):
    """By each of the three, before anything is run."""
    for ask in (reruns, compare, lambda given: what_if(given, **CRASH)):
        with pytest.raises(ConfigError, match="is no scenario: "):
            ask(scenario)
