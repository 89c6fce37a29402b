"""What a consumer refuses: each message names the value, and says what is allowed or what to do."""

import re
from datetime import timedelta

import pytest

from kafkalearn.assignors.range_assignor import RangeAssignor
from kafkalearn.errors import (
    ConcurrentModificationError,
    ConfigError,
    GroupMaxSizeReachedError,
    IllegalArgumentError,
    IllegalStateError,
    InvalidGroupIdError,
    InvalidSessionTimeoutError,
    InvalidTopicError,
)
from kafkalearn.records import OffsetAndMetadata, TopicPartition
from tests.consumer.members import Member, cluster, group, partition, sent


def says(text):
    """Match a part of a message literally."""
    return re.escape(text)


def refused(profile="1.0", **config):
    """Make a consumer that cannot be; the message."""
    with pytest.raises(ConfigError) as caught:
        cluster(profile).consumer("c1", **config)
    return str(caught.value)


def test_a_setting_that_does_not_exist():
    """An unknown name is refused, with the closest one there is."""
    assert refused(grup_id="g") == (
        "grup_id is no setting of ConsumerConfig: did you mean group_id?"
    )
    assert refused(zzz=1).startswith("zzz is no setting of ConsumerConfig: known are allow_auto_")


def test_a_setting_given_twice():
    """With dots and without, it is one setting."""
    assert refused(**{"group.id": "g", "group_id": "h"}) == (
        "group.id and group_id are one setting of ConsumerConfig: give one of them"
    )


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"group_id": 7}, "group_id is 7: a value of type str is allowed"),
        ({"enable_auto_commit": "yes"}, "enable_auto_commit is 'yes': True or False is allowed"),
        ({"enable_auto_commit": 1}, "enable_auto_commit is 1: True or False is allowed"),
        (
            {"max_poll_records": 0},
            "max_poll_records is 0: a whole number from 1 to 2147483647 is allowed",
        ),
        (
            {"max_poll_records": True},
            "max_poll_records is True: a whole number from 1 to 2147483647 is allowed",
        ),
        (
            {"session_timeout_ms": -1},
            "session_timeout_ms is -1: a whole number from 0 to 2147483647 is allowed",
        ),
        (
            {"auto_offset_reset": "first"},
            "auto_offset_reset is 'first': one of 'latest', 'earliest', 'none' is allowed",
        ),
        (
            {"partition_assignment_strategy": []},
            "partition_assignment_strategy is []: a list that is not empty is allowed",
        ),
        (
            {"partition_assignment_strategy": ""},
            "partition_assignment_strategy is '': a list that is not empty is allowed",
        ),
    ],
)
def test_a_setting_of_a_wrong_value(config, message):
    """The message names the key, the value and what is allowed."""
    assert refused(**config) == message


def test_assignors_that_are_none():
    """A wrong name, an object that is no assignor, and one named twice."""
    names = "range, roundrobin, sticky, cooperative-sticky"
    allowed = f"{names}, or an object of a class that derives from PartitionAssignor, is allowed"
    assert refused(partition_assignment_strategy=["rnge"]) == (
        f"partition_assignment_strategy names 'rnge': {allowed}"
    )
    assert refused(partition_assignment_strategy=[42]) == (
        f"partition_assignment_strategy names 42: {allowed}"
    )
    assert refused(partition_assignment_strategy=["range", RangeAssignor]) == (
        "partition_assignment_strategy names range twice"
    )


@pytest.mark.parametrize("name", ["sticky", "org.apache.kafka.clients.consumer.StickyAssignor"])
def test_an_assignor_that_came_later(name):
    """The sticky one came with 0.11 (KIP-54)."""
    assert refused("0.10.1", partition_assignment_strategy=[name]) == (
        "partition_assignment_strategy names sticky, which is known from Kafka 0.11 on: this is an "
        "older one"
    )


@pytest.mark.parametrize("session_ms", [3000, 2999])
def test_heartbeats_must_be_quicker_than_the_session(session_ms):
    """heartbeat.interval.ms is to be below session.timeout.ms; equal is too much."""
    assert refused(session_timeout_ms=session_ms) == (
        f"heartbeat_interval_ms is 3000: less than session_timeout_ms, {session_ms}, is allowed, "
        "and a third of it usual"
    )
    cluster().consumer("c1", session_timeout_ms=3001)


def test_requests_must_be_given_time_before_2_0():
    """request.timeout.ms is to be above what a request may have to wait for; later not."""
    config = {"request_timeout_ms": 10_000, "group_id": "g"}
    assert refused("1.0", **config) == (
        "request_timeout_ms is 10000: more than session_timeout_ms, which is 10000, is allowed"
    )
    cluster("2.3").consumer("c1", **config)


@pytest.mark.parametrize(
    ("profile", "config", "message"),
    [
        (
            "1.0",
            {"group_instance_id": "one"},
            "group_instance_id is known from Kafka 2.3 on: this is an older one",
        ),
        (
            "1.0",
            {"default_api_timeout_ms": 1},
            "default_api_timeout_ms is known from Kafka 2.0 on: this is an older one",
        ),
        (
            "2.3",
            {"partition_assignment_strategy": ["cooperative-sticky"]},
            "partition_assignment_strategy names cooperative-sticky, which is cooperative: Kafka "
            "2.3 does not know that, 2.4 does",
        ),
    ],
)
def test_what_an_older_kafka_does_not_know(profile, config, message):
    """It is refused by name, with the release that brought it."""
    assert refused(profile, group_id="g", **config) == message


def test_properties_are_text():
    """Java properties hold texts; a text that is no such value is refused as any other."""
    assert refused(properties={"enable.auto.commit": True}) == (
        "enable.auto.commit is True: a property is text, as in 'True'"
    )
    assert refused(properties={"max.poll.records": "many"}).startswith(
        "max_poll_records is 'many': a whole number from 1"
    )
    assert refused(properties=["a"]) == "properties is ['a']: a dict of texts is allowed"


@pytest.mark.parametrize("key", ["key_deserializer", "value_deserializer"])
def test_an_unknown_deserializer(key):
    """Its message names the key and what was given."""
    message = refused(**{key: "XmlDeserializer"})
    assert message.startswith(f"{key} is 'XmlDeserializer'")
    assert "StringDeserializer" in message


def subscribed(profile="1.0", **config):
    """Make a cluster and a consumer that has the partitions of ``orders``."""
    sim = cluster(profile)
    consumer = sim.consumer("c1", **({"group_id": "g"} | config))
    consumer.subscribe(["orders"])
    consumer.poll(0)
    return sim, consumer


def test_poll_without_a_subscription():
    """It says which call is missing."""
    with pytest.raises(IllegalStateError) as caught:
        cluster().consumer("c1", group_id="g").poll(100)
    assert str(caught.value) == (
        "this consumer is not subscribed to any topics or assigned any partitions: call "
        "subscribe() or assign() first"
    )


@pytest.mark.parametrize(
    ("timeout", "message"),
    [
        (-1, "Timeout must not be negative: it is -1"),
        (0.5, "timeout is 0.5: whole ms or a timedelta are allowed"),
        (True, "timeout is True: whole ms or a timedelta are allowed"),
        ("100", "timeout is '100': whole ms or a timedelta are allowed"),
        (None, "timeout is None: whole ms or a timedelta are allowed"),
    ],
)
def test_a_wrong_timeout(timeout, message):
    """A poll takes ms from 0 on, or a timedelta."""
    _, consumer = subscribed("2.3")
    with pytest.raises(IllegalArgumentError, match=f"^{says(message)}$"):
        consumer.poll(timeout)


def test_a_timedelta_before_2_0():
    """poll(Duration) came with 2.0; a negative one is refused there too."""
    _, consumer = subscribed("1.0")
    message = "Kafka 1.0 has no poll(timedelta), which is 2.0's poll(Duration): give the timeout"
    with pytest.raises(IllegalArgumentError, match=says(message)):
        consumer.poll(timedelta(seconds=1))
    _, later = subscribed("2.3")
    with pytest.raises(IllegalArgumentError, match="Timeout must not be negative"):
        later.poll(timedelta(seconds=-1))


UNASSIGNED = partition(7)


@pytest.mark.parametrize(
    "call",
    [
        lambda consumer: consumer.seek(UNASSIGNED, 0),
        lambda consumer: consumer.seek_to_beginning([UNASSIGNED]),
        lambda consumer: consumer.seek_to_end([UNASSIGNED]),
        lambda consumer: consumer.pause([UNASSIGNED, partition()]),
        lambda consumer: consumer.resume([UNASSIGNED]),
    ],
    ids=["seek", "seek_to_beginning", "seek_to_end", "pause", "resume"],
)
def test_a_partition_that_is_not_assigned(call):
    """It says how to get it, and nothing is changed for those after it in the list."""
    _, consumer = subscribed()
    message = (
        "No current assignment for partition orders-7: poll until the group assigns it, or name "
        "it in assign()"
    )
    with pytest.raises(IllegalStateError, match=f"^{says(message)}$"):
        call(consumer)
    assert consumer.paused() == []


@pytest.mark.parametrize("profile", ["1.0", "4.0"])
@pytest.mark.parametrize("name", ["pause", "resume", "seek_to_beginning", "seek_to_end"])
def test_what_stands_before_a_partition_that_is_not_assigned_is_done(profile, name):
    """Kafka goes through the list as it is given, and ends at the one that it cannot do."""
    sim, consumer = subscribed(profile)
    first, second = partition(1), partition(0)
    if name == "resume":
        consumer.pause([first, second])
    for each in (first, second):
        consumer.seek(each, 7)
    told = len(sim.trace.where(kind="position", node="c1"))
    with pytest.raises(IllegalStateError, match="No current assignment for partition orders-7"):
        getattr(consumer, name)([first, UNASSIGNED, second])
    (changed,) = sim.trace.where(kind="position", node="c1")[told:]
    reason = {"pause": "paused", "resume": "resumed"}.get(name, "reset")
    assert (changed.partition, changed.detail["reason"]) == (1, reason)
    assert consumer.paused() == {"pause": [first], "resume": [second]}.get(name, [])


@pytest.mark.parametrize("wrong", [("a b", 0), ("orders", -1), "orders"])
def test_a_list_that_holds_no_partition_changes_nothing(wrong):
    """Java's types would not let it in: it is refused before the first is done."""
    _, consumer = subscribed()
    with pytest.raises((IllegalArgumentError, InvalidTopicError)):
        consumer.pause([partition(), wrong])
    assert consumer.paused() == []


def test_a_set_of_partitions_is_gone_through_in_order():
    """A set has none of its own that two runs would share."""
    _, consumer = subscribed("4.0")
    with pytest.raises(IllegalStateError, match="No current assignment for partition orders-7"):
        consumer.pause({UNASSIGNED, partition(1), partition(0)})
    assert consumer.paused() == [partition(0), partition(1)]


def test_the_position_of_a_partition_that_is_not_assigned():
    """It has none here."""
    _, consumer = subscribed()
    with pytest.raises(IllegalStateError, match="orders-7 is not assigned to this consumer"):
        consumer.position(UNASSIGNED)


@pytest.mark.parametrize("offset", [-1, 1.5, "7", None, True, 2**63])
def test_a_wrong_offset_to_seek_to(offset):
    """Offsets are whole numbers from 0 on that a Java long can hold."""
    _, consumer = subscribed()
    message = (
        f"the offset to seek to in orders-0 is {offset!r}: a whole number from 0 to 2**63 - 1 is "
        "allowed"
    )
    with pytest.raises(IllegalArgumentError, match=f"^{says(message)}$"):
        consumer.seek(partition(), offset)


def test_two_ways_to_get_partitions():
    """It names the way that holds, and what ends it."""
    _, consumer = subscribed()
    message = (
        "Subscription to topics, partitions and pattern are mutually exclusive: this one is "
        "AUTO_TOPICS until unsubscribe()"
    )
    for call in (
        lambda: consumer.assign([partition()]),
        lambda: consumer.subscribe(pattern="orders.*"),
    ):
        with pytest.raises(IllegalStateError, match=f"^{says(message)}$"):
            call()


CALLS = {
    "subscribe": lambda consumer: consumer.subscribe(["orders"]),
    "assign": lambda consumer: consumer.assign([partition()]),
    "unsubscribe": lambda consumer: consumer.unsubscribe(),
    "subscription": lambda consumer: consumer.subscription(),
    "assignment": lambda consumer: consumer.assignment(),
    "poll": lambda consumer: consumer.poll(100),
    "commit_sync": lambda consumer: consumer.commit_sync(),
    "commit_async": lambda consumer: consumer.commit_async(),
    "committed": lambda consumer: consumer.committed(partition()),
    "position": lambda consumer: consumer.position(partition()),
    "seek": lambda consumer: consumer.seek(partition(), 0),
    "seek_to_end": lambda consumer: consumer.seek_to_end(),
    "pause": lambda consumer: consumer.pause([partition()]),
    "resume": lambda consumer: consumer.resume([partition()]),
    "paused": lambda consumer: consumer.paused(),
    "end_offsets": lambda consumer: consumer.end_offsets([partition()]),
    "offsets_for_times": lambda consumer: consumer.offsets_for_times({partition(): 0}),
}


@pytest.mark.parametrize("call", CALLS)
def test_use_after_close(call):
    """Only close may be called again."""
    _, consumer = subscribed()
    consumer.close()
    consumer.close()
    with pytest.raises(
        IllegalStateError, match=r"^the consumer c1 has been closed: make a new one"
    ):
        CALLS[call](consumer)


@pytest.mark.parametrize("call", CALLS)
def test_a_second_user_at_the_same_time(call):
    """Another process, and the main program, are refused while a poll waits; wakeup is not."""
    sim = cluster()
    member = Member(sim, "c1", poll=10_000)
    sim.run_until(5000)
    with pytest.raises(ConcurrentModificationError) as caught:
        CALLS[call](member.consumer)
    assert str(caught.value) == (
        "the main program uses a consumer that script of c1 is using: KafkaConsumer is not safe "
        "for multi-threaded access; wakeup() alone may be called from elsewhere"
    )
    other = sim.spawn(lambda: CALLS[call](member.consumer), node="c2", name="thief")
    with pytest.raises(ConcurrentModificationError, match="thief of c2 uses a consumer that"):
        other.join()
    assert member.errors == []


@pytest.mark.parametrize("profile", ["1.0", "4.0"])
def test_a_callback_that_raises(profile):
    """What a commit's callback raises comes out of the poll that runs it; polling goes on."""
    sim = cluster(profile)
    (member,) = group(sim, "c1")

    def callback(offsets, error):
        raise ValueError("no")

    offsets = {partition(): OffsetAndMetadata(0)}
    member.do(lambda consumer: consumer.commit_async(offsets, callback))
    sim.run_until(8000)
    assert [repr(each) for each in member.errors] == ["ValueError('no')"]
    assert member.owns == "orders-0 orders-1"


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            {"topics": "orders"},
            IllegalArgumentError,
            "topics is 'orders': a list of topic names is allowed",
        ),
        ({"topics": ["a b"]}, InvalidTopicError, "'a b' is no topic name: Kafka allows 1 to 249"),
        ({"topics": [7]}, InvalidTopicError, "7 is no topic name"),
        ({"topics": ["\u3000"]}, InvalidTopicError, r"'\u3000' is no topic name"),
        ({"topics": [".."]}, InvalidTopicError, "'..' is no topic name"),
        ({"pattern": "("}, IllegalArgumentError, "'(' is no pattern of topic names: "),
        ({"pattern": ""}, IllegalArgumentError, "'' is no pattern of topic names: text that is"),
        ({"pattern": 7}, IllegalArgumentError, "7 is no pattern of topic names: "),
        ({}, IllegalArgumentError, "subscribe to topics or to a pattern: one of the two"),
        (
            {"topics": ["orders"], "pattern": "o.*"},
            IllegalArgumentError,
            "subscribe to topics or to a pattern: one of the two",
        ),
        (
            {"topics": ["orders"], "listener": print},
            IllegalArgumentError,
            "an object of a class that derives from ConsumerRebalanceListener is allowed",
        ),
    ],
)
def test_wrong_things_to_subscribe_to(given, error, message):
    """Nothing is changed by what is refused."""
    consumer = cluster().consumer("c1", group_id="g")
    with pytest.raises(error, match=says(message)):
        consumer.subscribe(**given)
    assert consumer.subscription() == []
    consumer.assign([partition()])  # no way was chosen


@pytest.mark.parametrize("profile", ["0.10.1", "1.0", "4.0"])
@pytest.mark.parametrize("topic", ["", " ", " \t\n", "\x00", None])
def test_a_topic_without_a_name(profile, topic):
    """The consumer itself refuses it, before any other; the broker would judge other names."""
    consumer = cluster(profile).consumer("c1", group_id="g")
    said = f"{topic!r} in a subscription or an assignment: a topic with a name is allowed"
    with pytest.raises(IllegalArgumentError, match=f"^{says(said)}$"):
        consumer.subscribe(each for each in ["a b", topic])
    with pytest.raises(IllegalArgumentError, match=f"^{says(said)}$"):
        consumer.assign([("a b", 0), TopicPartition(topic, 0)])
    assert consumer.subscriptions.has_no_subscription_or_user_assignment()


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ("orders-0", IllegalArgumentError, "partitions is 'orders-0': a list of TopicPartition"),
        (["orders"], IllegalArgumentError, "'orders' is no partition: TopicPartition(topic, numb"),
        ([("orders",)], IllegalArgumentError, "('orders',) is no partition: TopicPartition(topic"),
        ([("orders", "0")], IllegalArgumentError, "('orders', '0') is no partition"),
        ([("orders", -1)], IllegalArgumentError, "('orders', -1) is no partition"),
        ([("a b", 0)], InvalidTopicError, "'a b' is no topic name"),
        (TopicPartition("", 0), IllegalArgumentError, "partitions is TopicPartitio"),
    ],
)
def test_wrong_things_to_assign(given, error, message):
    """Only partitions can be assigned; nothing is changed by what is refused."""
    consumer = cluster().consumer("c1")
    with pytest.raises(error, match=says(message)):
        consumer.assign(given)
    consumer.subscribe(["orders"])  # no way was chosen


@pytest.mark.parametrize("commit", ["commit_sync", "commit_async"])
@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        ([1], "offsets is [1]: a dict of TopicPartition to OffsetAndMetadata is allowed"),
        (7, "offsets is 7: a dict of TopicPartition to OffsetAndMetadata is allowed"),
        (
            {TopicPartition("orders", 0): 7},
            "the offset of orders-0 is 7: OffsetAndMetadata(next_to_read) is allowed, which is "
            "the last processed offset + 1",
        ),
        ({"orders": OffsetAndMetadata(1)}, "'orders' is no partition: TopicPartition(topic, numbe"),
    ],
)
def test_wrong_things_to_commit(commit, offsets, message):
    """Nothing is sent."""
    sim, consumer = subscribed(enable_auto_commit=False)
    with pytest.raises(IllegalArgumentError, match=says(message)):
        getattr(consumer, commit)(offsets)
    assert sent(sim, "c1", "OffsetCommit") == []


def test_a_callback_that_cannot_be_called():
    """It is refused at once, not when the commit is over."""
    _, consumer = subscribed(enable_auto_commit=False)
    with pytest.raises(IllegalArgumentError, match=r"^callback is 7: a function is allowed$"):
        consumer.commit_async(None, 7)


@pytest.mark.parametrize("offset", [-1, 1.5, "1", None, 2**63])
def test_an_offset_that_cannot_be_committed(offset):
    """Offsets to commit are whole numbers from 0 on that a Java long can hold."""
    message = f"the offset to commit is {offset!r}: a whole number from 0 to 2**63 - 1 is allowed"
    with pytest.raises(IllegalArgumentError, match=f"^{says(message)}$"):
        OffsetAndMetadata(offset)


def test_an_offset_may_be_committed_without_a_note():
    """No metadata is empty metadata (0.11; the broker takes it so before)."""
    assert OffsetAndMetadata(2**63 - 1, None) == OffsetAndMetadata(2**63 - 1, "")
    with pytest.raises(IllegalArgumentError, match=r"^the metadata of an offset is 7: text is al"):
        OffsetAndMetadata(1, 7)


def test_no_group_id_before_2_2():
    """The broker refuses it: poll raises what the join is answered."""
    sim = cluster("1.0")
    consumer = sim.consumer("c1")
    consumer.subscribe(["orders"])
    with pytest.raises(InvalidGroupIdError):
        consumer.poll(100)


@pytest.mark.parametrize("profile", ["2.3", "4.0"])
@pytest.mark.parametrize("call", ["subscribe", "commit_sync", "commit_async", "committed"])
def test_no_group_id_since_2_2(profile, call):
    """What needs a group is refused at once; assign and poll work without one."""
    sim = cluster(profile)
    consumer = sim.consumer("c1")
    with pytest.raises(InvalidGroupIdError) as caught:
        CALLS[call](consumer)
    assert str(caught.value) == (
        "this consumer has no group_id: groups and committed offsets need one"
    )
    assert sent(sim, "c1", "FindCoordinator") == []
    consumer.assign([partition()])
    consumer.poll(100)


def test_no_group_id_but_automatic_commits():
    """Since 2.2 it is a contradiction, where it is asked for."""
    assert refused("2.3", enable_auto_commit=True) == (
        "enable_auto_commit is True: without a group_id only False is allowed"
    )


@pytest.mark.parametrize(
    ("profile", "session_ms", "right"),
    [
        ("1.0", 5999, False),
        ("1.0", 6000, True),
        ("1.0", 300_000, True),
        ("1.0", 300_001, False),
        ("2.3", 300_001, True),
        ("2.3", 1_800_001, False),
    ],
)
def test_a_session_timeout_that_the_broker_refuses(profile, session_ms, right):
    """Behaviour 33: outside the group's bounds, whose upper end moved in 2.3, poll raises."""
    sim = cluster(profile)
    config = {"session_timeout_ms": session_ms, "request_timeout_ms": 2_000_000}
    member = Member(sim, "c1", **config)
    sim.run_until(1000)
    assert ({type(each) for each in member.errors} == {InvalidSessionTimeoutError}) is not right
    assert member.owns == ("orders-0 orders-1" if right else "")
    if not right:
        assert str(member.errors[0]) == (
            "JoinGroup of group 'g' is answered INVALID_SESSION_TIMEOUT: session_timeout_ms is "
            f"{session_ms}, and the brokers allow group_min_session_timeout_ms to "
            "group_max_session_timeout_ms"
        )


@pytest.mark.parametrize("profile", ["2.3", "2.4", "4.0"])
def test_a_group_that_is_full(profile):
    """Poll raises, and does so again as long as the group has as many members as allowed."""
    sim = cluster(profile, group_max_size=1)
    first, second = group(sim, "c1", "c2")
    assert {type(each) for each in second.errors} == {GroupMaxSizeReachedError}
    assert str(second.errors[0]) == (
        "JoinGroup of group 'g' is answered GROUP_MAX_SIZE_REACHED: the brokers allow "
        "group_max_size members, and it has as many"
    )
    assert (first.owns, second.owns, first.errors) == ("orders-0 orders-1", "", [])
    first.close()
    sim.run_until(sim.now_ms + 5000)
    assert second.owns == "orders-0 orders-1"


def test_a_consumer_of_a_crashed_node():
    """Its machine is down; a new one is needed."""
    sim, consumer = subscribed()
    sim.crash("c1")
    with pytest.raises(IllegalStateError, match=r"^c1 has crashed: its consumer is gone, make a"):
        consumer.poll(100)


def test_a_wrong_close():
    """A timeout of close is ms from 0 on; the consumer stays open."""
    _, consumer = subscribed()
    with pytest.raises(IllegalArgumentError, match=r"^timeout_ms is -1: ms from 0 on are allowed$"):
        consumer.close(-1)
    consumer.poll(0)
