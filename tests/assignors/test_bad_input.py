"""What no cluster could send is refused with a sentence that names it."""

import re

import numpy as np
import pytest

from kafkalearn.assignors import Subscription, TopicPartition, all_assignors, assignor
from kafkalearn.errors import (
    InvalidAssignmentInputError,
    InvalidTopicError,
    KafkaError,
    UnknownAssignorError,
)

every_assignor = pytest.mark.parametrize("chosen", all_assignors(), ids=lambda each: each.name)


@every_assignor
@pytest.mark.parametrize("count", [-1, 1.0, "3", None, True, [2], 2**31])
def test_a_partition_count_must_be_a_whole_number_from_0(chosen, count):
    """The message names the topic, the value and what is allowed."""
    with pytest.raises(InvalidAssignmentInputError) as refused:
        chosen.assign({"orders": count}, {"c": Subscription(["orders"])})
    assert "orders" in str(refused.value)
    assert str(count) in str(refused.value)
    assert re.search(
        "a whole number (from 0 up|up to 2,147,483,647) is allowed", str(refused.value)
    )


@every_assignor
def test_numpys_whole_numbers_are_counts_too(chosen):
    """A count read from a table works like an int."""
    group = {"c": Subscription(["t"])}
    assert chosen.assign({"t": np.int64(2)}, group) == chosen.assign({"t": 2}, group)


@every_assignor
@pytest.mark.parametrize("topic", ["", ".", "..", "a b", "a/b", "ü", "t" * 250, 7])
def test_a_topic_that_kafka_refuses(chosen, topic):
    """In the metadata as in a subscription, with the allowed characters in the message."""
    with pytest.raises(InvalidTopicError, match="1 to 249 of the characters"):
        chosen.assign({topic: 1}, {"c": Subscription([])})
    with pytest.raises(InvalidTopicError, match="1 to 249 of the characters"):
        Subscription([topic])


def test_the_longest_topic_name_is_allowed():
    """249 characters, of each kind that Kafka knows."""
    assert Subscription(["aZ0._-" + "t" * 243]).topics == ("aZ0._-" + "t" * 243,)


def test_a_partition_claimed_twice():
    """The message names the partition."""
    with pytest.raises(ValueError, match="claims t0-1 twice"):
        Subscription(["t0"], [TopicPartition("t0", 1), ("t0", 1)])


@pytest.mark.parametrize(
    ("build", "names"),
    [
        (lambda: Subscription("orders"), "'orders': a list of topic names"),
        (lambda: Subscription(None), "None: a list of topic names"),
        (lambda: Subscription([["t"]]), "['t'] is no topic name"),
        (lambda: Subscription(["t"], generation=2**31), "up to 2,147,483,647 is allowed"),
        (lambda: Subscription(["t"], "t-0"), "'t-0': a list of TopicPartition"),
        (lambda: Subscription(["t"], ["t-0"]), "'t-0': only TopicPartition"),
        (lambda: Subscription(["t"], [("t", -1)]), "a claimed partition of t is -1"),
        (lambda: Subscription(["t"], generation="4"), "generation is '4'"),
        (lambda: Subscription(["t"], generation=-2), "generation is -2"),
        (lambda: Subscription(["t"], group_instance_id=""), "group_instance_id is ''"),
    ],
)
def test_a_subscription_of_the_wrong_shape(build, names):
    """Each field says what it was given and what is allowed."""
    with pytest.raises((InvalidAssignmentInputError, InvalidTopicError)) as refused:
        build()
    assert names in str(refused.value)


@every_assignor
@pytest.mark.parametrize(
    ("counts", "group", "names"),
    [
        ([("t", 1)], {}, "partitions_per_topic is a list: a dict is allowed"),
        ({"t": 1}, ["c"], "subscriptions is a list: a dict is allowed"),
        (
            {"t": 1},
            {"c": ["t"]},
            "c has a list as its subscription: Subscription(topics, ...) is allowed",
        ),
        (
            {"t": 1},
            {"": Subscription(["t"])},
            "the member id '' is not allowed: it must be a text that is not empty",
        ),
        (
            {"t": 1},
            {3: Subscription(["t"])},
            "the member id 3 is not allowed: it must be a text that is not empty",
        ),
    ],
)
def test_inputs_of_the_wrong_shape(chosen, counts, group, names):
    """assign and explain refuse the same."""
    for ask in (chosen.assign, chosen.explain):
        with pytest.raises(InvalidAssignmentInputError) as refused:
            ask(counts, group)
        assert str(refused.value) == names


def test_an_unknown_assignor():
    """The message lists the names there are."""
    with pytest.raises(UnknownAssignorError) as refused:
        assignor("stickier")
    assert "'stickier'" in str(refused.value)
    assert "range, roundrobin, sticky, cooperative-sticky" in str(refused.value)


def test_every_refusal_is_a_kafka_error_and_a_value_error():
    """One except clause catches them all, and so does Python's own."""
    for kind in (InvalidAssignmentInputError, InvalidTopicError, UnknownAssignorError):
        assert issubclass(kind, KafkaError)
        assert issubclass(kind, ValueError)


@every_assignor
def test_an_empty_group_and_topics_without_partitions(chosen):
    """Nothing to do is no error; 0 partitions count as missing."""
    assert chosen.assign({"t": 3}, {}) == {}
    assert chosen.assign({}, {"c": Subscription(["t"])}) == {"c": []}
    assert chosen.assign({"t": 0, "u": 5}, {"c": Subscription(["t"])}) == {"c": []}


@every_assignor
def test_nothing_is_changed_or_remembered(chosen):
    """Inputs stay as they were, and a second call does not know of the first."""
    counts = {"t": 3}
    group = {"a": Subscription(["t"], [("t", 2)], 4), "b": Subscription(["t"])}
    before = (dict(counts), dict(group))
    first = chosen.assign(counts, group)
    chosen.assign({"u": 9}, {"z": Subscription(["u"], [("u", 1)], 99)})
    assert (counts, group) == before
    assert chosen.assign(counts, group) == first


def test_a_notebook_shows_the_sentence_and_no_traceback():
    """What a learner sees of a refusal is one line, not the inside of the package."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    shell = InteractiveShell()
    with capture_output() as shown:
        shell.run_cell("from kafkalearn import Subscription\nSubscription(['a b'])")
    assert shown.stdout.strip().startswith("InvalidTopicError: 'a b' is no topic name")
    assert "records.py" not in shown.stdout
