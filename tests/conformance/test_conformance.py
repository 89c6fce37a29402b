"""The coordinator against answers of Kafka's own coordinators, recorded in virtual time."""

import copy
import json

import pytest

from kafkalearn.profile import KAFKA_1_0, KAFKA_2_4
from tests.conformance.player import first_difference
from tests.conformance.report import VECTORS, report_on

FILES = sorted(path.name for path in VECTORS.glob("coordinator*.json"))
NO_LIMIT = 10**9


def sequence_named(file: str, name: str):
    """Find one recorded sequence."""
    sequences = json.loads((VECTORS / file).read_text(encoding="utf-8"))
    return next(each for each in sequences if each["name"] == name)


@pytest.mark.parametrize("name", FILES)
def test_every_recorded_sequence_agrees(name):
    """Errors, generations, members, assignments, states and times are those of Kafka's own."""
    report = report_on(VECTORS / name)
    assert report.compared > 200
    assert report.differences == {}


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("answer", "error"), "ILLEGAL_GENERATION"),
        (("answer", "generation"), 9),
        (("answer", "members"), []),
        (("answer", "answered_at_ms"), 2000),
        (("answer", "answered_at_step"), 2),
        (("after", "state"), "Stable"),
        (("after", "generation"), 7),
        (("after", "members"), 2),
    ],
)
def test_a_wrong_answer_is_found(path, wrong):
    """Each thing that is compared, changed in the recording, is named as the difference."""
    sequence = copy.deepcopy(
        sequence_named("coordinator-1.0.json", "timed/initial-delay/one-member")
    )
    assert first_difference(sequence, KAFKA_1_0, NO_LIMIT) == ""
    where, what = path
    sequence["steps"][0][where][what] = wrong
    assert f"step 1 JoinGroup: {what} is" in first_difference(sequence, KAFKA_1_0, NO_LIMIT)


def test_a_wrong_event_is_found():
    """A change of the group at another time than Kafka's is a difference."""
    sequence = copy.deepcopy(
        sequence_named("coordinator-1.0.json", "timed/initial-delay/one-member")
    )
    sequence["steps"][2]["events"][0]["at_ms"] = 2500
    assert "step 3 wait: events is" in first_difference(sequence, KAFKA_1_0, NO_LIMIT)


def test_another_release_answers_differently():
    """The recordings of one release do not agree with the rules of another."""
    sequence = sequence_named("coordinator-1.0.json", "stable-two/join-refused")
    assert first_difference(sequence, KAFKA_2_4, NO_LIMIT) != ""
