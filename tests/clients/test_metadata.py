"""What a client knows of the cluster: what an answer changes, and when to ask again."""

import pytest

from kafkalearn.clients.exponential_backoff import ExponentialBackoff
from kafkalearn.clients.metadata import Metadata
from kafkalearn.errors import Errors
from kafkalearn.protocol.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafkalearn.records import TopicPartition


@pytest.fixture
def metadata():
    """Make one with a back-off of 100 ms that gets old after 1,000 ms."""
    return Metadata(["broker-0"], refresh_backoff=ExponentialBackoff(100), metadata_expire_ms=1_000)


def answer(*topics, brokers=("broker-0",)):
    """Make an answer."""
    return MetadataResponse(brokers=brokers, topics=topics)


def topic(name, *leaders, error=Errors.NONE, is_internal=False):
    """Describe a topic by the leaders of its partitions; '' for none."""
    partitions = tuple(
        MetadataResponsePartition(Errors.NONE if leader else Errors.LEADER_NOT_AVAILABLE, n, leader)
        for n, leader in enumerate(leaders)
    )
    return MetadataResponseTopic(error, name, is_internal, partitions)


def test_the_first_question_is_due_at_once(metadata):
    """Nothing was answered yet, and the brokers are those it was told of."""
    assert (metadata.time_to_next_update(0), metadata.version) == (0, 0)
    assert metadata.brokers == ("broker-0",)
    assert not metadata.update_requested()


def test_an_answer_gets_old(metadata):
    """The next is due metadata.max.age.ms after it, and not 1 ms before."""
    metadata.update(answer(), 50)
    assert metadata.version == 1
    assert [metadata.time_to_next_update(now_ms) for now_ms in (50, 1_049, 1_050, 2_000)] == [
        *(1_000, 1, 0, 0)
    ]


def test_a_request_for_an_update_waits_for_the_back_off_only(metadata):
    """It holds until an answer came."""
    metadata.update(answer(), 50)
    assert metadata.request_update() == 1
    assert metadata.update_requested()
    assert [metadata.time_to_next_update(now_ms) for now_ms in (50, 149, 150)] == [100, 1, 0]
    metadata.update(answer(), 200)
    assert not metadata.update_requested()
    assert metadata.time_to_next_update(200) == 1_000


def test_a_failed_attempt_is_followed_by_the_back_off(metadata):
    """Also if nobody asked for it, as with an old answer."""
    metadata.update(answer(), 0)
    metadata.failed_update(1_000)
    assert metadata.time_to_next_update(1_000) == 100
    assert metadata.version == 1


def test_a_longer_back_off_holds_back_even_what_is_old():
    """The back-off is the least time between two questions."""
    metadata = Metadata(
        ["broker-0"], refresh_backoff=ExponentialBackoff(500), metadata_expire_ms=100
    )
    metadata.update(answer(), 0)
    assert metadata.time_to_next_update(100) == 400


def test_new_topics_do_not_wait(metadata):
    """The back-off is about another question; a topic that is known already is none."""
    metadata.update(answer(), 50)
    metadata.add("a")
    assert metadata.time_to_next_update(50) == 0
    metadata.update(answer(), 60)
    metadata.add("a")
    assert (metadata.time_to_next_update(60), metadata.update_requested()) == (1_000, False)


def test_fewer_topics_are_no_reason_to_ask(metadata):
    """set_topics replaces them, and asks only if there is a new one."""
    metadata.set_topics(["b", "a", "b"])
    metadata.update(answer(), 50)
    metadata.set_topics(["a"])
    assert (list(metadata.topics), metadata.time_to_next_update(50)) == (["a"], 1_000)
    metadata.set_topics(["c", "a"])
    assert (list(metadata.topics), metadata.time_to_next_update(50)) == (["c", "a"], 0)


def test_the_question_names_the_topics_or_none(metadata):
    """In the order in which they were added; a pattern asks about all."""
    metadata.add("b")
    metadata.add("a")
    assert metadata.new_request() == MetadataRequest(topics=("b", "a"))
    metadata.need_metadata_for_all_topics = True
    metadata.allow_auto_topic_creation = False
    assert metadata.new_request() == MetadataRequest(topics=None, allow_auto_topic_creation=False)


def test_an_answer_replaces_what_was_known(metadata):
    """Only topics without an error count; a partition without a leader has none."""
    metadata.update(answer(topic("gone", "broker-0")), 0)
    metadata.update(
        answer(
            topic("a", "broker-1", ""),
            topic("__consumer_offsets", "broker-0", is_internal=True),
            topic("new", error=Errors.LEADER_NOT_AVAILABLE),
            topic("none", error=Errors.UNKNOWN_TOPIC_OR_PARTITION),
            topic("a b", error=Errors.INVALID_TOPIC_EXCEPTION),
            brokers=("broker-0", "broker-1"),
        ),
        10,
    )
    assert metadata.brokers == ("broker-0", "broker-1")
    assert metadata.partition_counts == {"a": 2, "__consumer_offsets": 1}
    assert metadata.leaders == {
        TopicPartition("a", 0): "broker-1",
        TopicPartition("__consumer_offsets", 0): "broker-0",
    }
    assert metadata.internal_topics == {"__consumer_offsets"}
    assert metadata.unavailable_topics == {"new", "none"}
    assert metadata.invalid_topics == {"a b"}


@pytest.mark.parametrize("response", [None, answer(brokers=())])
def test_no_answer_leaves_the_question_open(metadata, response):
    """Neither the end of the connection nor an answer without brokers changes what is known."""
    metadata.update(answer(topic("a", "broker-0")), 0)
    metadata.handle_response(response, 50)
    assert (metadata.version, metadata.partition_counts) == (1, {"a": 1})
    assert metadata.update_requested()
    assert metadata.time_to_next_update(50) == 100


def test_listeners_hear_each_answer(metadata):
    """In the order in which they were added, and with the new knowledge in place."""
    heard = []
    metadata.add_listener(lambda known: heard.append(("first", known.version)))
    metadata.add_listener(lambda known: heard.append(("second", dict(known.partition_counts))))
    metadata.handle_response(answer(topic("a", "broker-0")), 0)
    metadata.handle_response(None, 10)
    assert heard == [("first", 1), ("second", {"a": 1})]
