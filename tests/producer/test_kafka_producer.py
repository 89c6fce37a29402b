import logging

import pytest

from kafkalearn.engine import AnswerWithError, Crash, CutOff, Delay
from kafkalearn.errors import (
    ApiError,
    ConfigError,
    Errors,
    IllegalArgumentError,
    IllegalStateError,
    InvalidTopicError,
    KafkaError,
    KafkaTimeoutError,
    RecordTooLargeError,
    SerializationError,
)
from kafkalearn.producer.partitioner import Partitioner
from kafkalearn.producer.producer_record import ProducerRecord, RecordMetadata
from kafkalearn.records import TopicPartition
from kafkalearn.simulation import Simulation

# Sending.


def test_send_gives_a_future(make):
    """It is done when the broker has answered; get waits for that."""
    world = make(topics={"orders": 2})
    future = world.producer().send("orders", value="a", partition=1)
    assert future.is_done is False
    assert future.get() == RecordMetadata("orders", 1, 0, 4)
    assert future.is_done is True
    assert future.get() == RecordMetadata("orders", 1, 0, 4)


def test_a_record_carries_what_it_is_given(make):
    """Key and value as bytes, time and headers; the time of the send if it has none."""
    world = make()
    producer = world.producer(key_serializer="IntegerSerializer")
    record = ProducerRecord("orders", "a", key=1, timestamp_ms=77, headers=[("h", b"x")])
    producer.send(record).get()
    producer.send(ProducerRecord("orders", None)).get()
    log = world.sim.cluster.topics["orders"].partitions[0].log
    first, second = log.read(0, max_bytes=1000)
    assert first == (0, 77, b"\0\0\0\1", b"a", (("h", b"x"),))
    assert second == (1, 6, None, None, ())


def test_callbacks_run_in_order_before_the_future_is_done(make):
    """In the sender's process, each told where its record is."""
    world = make()
    producer = world.producer()
    seen = []

    def callback(metadata, error):
        seen.append((metadata.offset, error, str(world.sim.processes.current()), future.is_done))

    producer.send("orders", callback, value="a")
    future = producer.send("orders", callback, value="b")
    future.get()
    process = "kafka-producer-network-thread | p1 of p1"
    assert seen == [(0, None, process, False), (1, None, process, False)]


def test_a_callback_that_raises_is_logged(make, caplog):
    """The others are called all the same, and the producer goes on."""
    world = make()
    producer = world.producer()

    def callback(metadata, error):
        raise ValueError("mine")

    producer.send("orders", callback, value="a")
    producer.send("orders", world.tell, value="b").get()
    assert world.told == [(0, 1)]
    assert [(each.levelno, each.getMessage()) for each in caplog.records] == [
        (logging.ERROR, "Error executing user-provided callback for orders-0")
    ]
    assert producer.send("orders", value="c").get().offset == 2


def test_a_callback_may_send(make):
    """As long as it need not wait."""
    world = make()
    producer = world.producer()
    producer.send("orders", lambda *told: producer.send("orders", value="b"), value="a").get()
    producer.flush()
    assert world.log("orders") == [b"a", b"b"]


def test_a_callback_that_waits_for_its_producer_is_refused(make, caplog):
    """It would wait for itself; Kafka's hangs."""
    world = make()
    producer = world.producer()
    refused = []

    def callback(metadata, error):
        for wait in (producer.flush, producer.send("orders", value="b").get):
            with pytest.raises(IllegalStateError) as raised:
                wait()
            refused.append(str(raised.value))

    producer.send("orders", callback, value="a").get()
    assert (
        refused
        == [
            "a callback waits for its own producer, which would be for ever: callbacks run in the "
            "process that sends, so wait outside of them"
        ]
        * 2
    )
    assert caplog.records == []


def test_get_gives_up_after_its_timeout(make):
    """The record may be written later."""
    world = make(faults=[Delay("Produce", by_ms=500)])
    future = world.producer().send("orders", value="a")
    with pytest.raises(KafkaTimeoutError, match="not acknowledged within 100 ms"):
        future.get(timeout_ms=100)
    assert world.sim.now_ms == 104
    assert future.get().offset == 0


@pytest.mark.parametrize("timeout_ms", [-1, 1.5, True, "1"])
def test_no_time_is_refused(make, timeout_ms):
    """In get and in close."""
    producer = make().producer()
    future = producer.send("orders", value="a")
    for wait in (future.get, producer.close):
        with pytest.raises(IllegalArgumentError) as error:
            wait(timeout_ms)
        assert str(error.value) == (
            f"timeout_ms is {timeout_ms!r}: None or a whole number of ms from 0 is allowed"
        )


# Partitions.


@pytest.mark.parametrize(
    ("profile", "expected"),
    [("1.0", [[3, 3]]), ("2.3", [[3, 3]]), ("2.4", [[0, 6], [6, 0]]), ("4.0", [[0, 6], [6, 0]])],
)
def test_records_without_key_are_spread_by_the_release(make, profile, expected):
    """Behaviour 70: evenly record by record up to 2.3; all into one batch from 2.4 on."""
    world = make(profile, topics={"orders": 2})
    producer = world.producer()
    for number in range(6):
        producer.send("orders", value=str(number))
    producer.flush()
    assert [len(world.log("orders", partition)) for partition in (0, 1)] in expected


def test_a_topic_that_shares_the_counter_is_spread_badly(make):
    """Behaviour 70, 0.10.1: two topics in turn, each of which uses one partition of two."""
    counts = {}
    for profile in ("0.10.1", "1.0"):
        world = make(profile, topics={"orders": 2, "mails": 2})
        producer = world.producer()
        for number in range(8):
            producer.send("orders" if number % 2 else "mails", value="a")
        producer.flush()
        counts[profile] = sorted(len(world.log("orders", number)) for number in (0, 1))
    assert counts == {"0.10.1": [0, 4], "1.0": [2, 2]}


def test_sticky_goes_on_when_a_batch_is_full(make):
    """Behaviour 70, 2.4: the record that does not fit goes to the other partition."""
    world = make("2.4", topics={"orders": 2})
    producer = world.producer(batch_size=10, linger_ms=1000)
    futures = [producer.send("orders", value="x" * 5) for _ in range(6)]
    producer.flush()
    chosen = [future.get().partition for future in futures]
    assert chosen in ([0, 0, 1, 1, 0, 0], [1, 1, 0, 0, 1, 1])


def test_uniform_sticky_goes_on_by_bytes(make):
    """Behaviour 70, 4.0: a batch is full with its last record, so the next goes elsewhere."""
    world = make("4.0", topics={"orders": 50})
    producer = world.producer(batch_size=10)
    futures = [producer.send("orders", value="x" * 5) for _ in range(6)]
    producer.flush()
    chosen = [future.get().partition for future in futures]
    assert [chosen[0:6:2], len(set(chosen))] == [chosen[1:6:2], 3]


class ByValue(Partitioner):
    """Chooses what the value says."""

    def partition(self, record, key):
        """See Partitioner."""
        return int(record.value)


def test_a_partitioner_of_ones_own(make):
    """It is asked where the record names no partition, and held to the partitions there are."""
    world = make(topics={"orders": 3})
    producer = world.producer(partitioner_class=ByValue)
    assert producer.send("orders", value="2").get().partition == 2
    assert producer.send("orders", value="2", partition=1).get().partition == 1
    with pytest.raises(IllegalArgumentError) as error:
        producer.send("orders", value="3")
    assert str(error.value) == (
        "ByValue chose partition 3 of orders: a whole number from 0 to 2 is allowed"
    )
    with pytest.raises(ConfigError, match="partitioner_class is 7: None or a class derived"):
        world.producer(partitioner_class=7)


def test_partitions_for_lists_them(make):
    """It waits for metadata, and gives up as a send does."""
    world = make(topics={"orders": 2}, auto_create_topics_enable=False)
    producer = world.producer(max_block_ms=1000)
    assert producer.partitions_for("orders") == [
        TopicPartition("orders", 0),
        TopicPartition("orders", 1),
    ]
    with pytest.raises(KafkaTimeoutError):
        producer.partitions_for("mails")


# Flush and close.


def test_flush_ends_lingering_and_waits(make):
    """For what was sent before, acknowledged or not."""
    world = make(faults=[AnswerWithError("Produce", "NOT_ENOUGH_REPLICAS")])
    producer = world.producer(linger_ms=60_000)
    producer.send("orders", world.tell, value="a")
    producer.flush()
    assert (world.told, world.sim.now_ms) == (["RetriableError"], 6)
    producer.send("orders", world.tell, value="b")
    world.sim.sleep(1000)
    assert len(world.told) == 1


def test_close_sends_what_lingers(make):
    """And ends the process; a second close does nothing."""
    world = make()
    producer = world.producer(linger_ms=60_000)
    producer.send("orders", world.tell, value="a")
    producer.close()
    producer.close()
    assert (world.told, world.log("orders"), world.sim.now_ms) == ([(0, 0)], [b"a"], 6)
    assert list(world.sim.processes.living) == []


GIVEN_UP = [("0.10.1", IllegalStateError), ("1.0", IllegalStateError), ("2.3", KafkaError)]


@pytest.mark.parametrize(("profile", "kind"), [*GIVEN_UP, ("4.0", KafkaError)])
def test_close_gives_up_after_its_timeout(make, profile, kind):
    """What is not acknowledged by then fails: from 2.0 on with no more than KafkaException."""
    world = make(profile, faults=[CutOff("p1", 5, 100_000)])
    producer = world.producer(linger_ms=60_000)
    future = producer.send("orders", world.tell, value="a")
    world.sim.run_until(10)
    producer.close(timeout_ms=500)
    assert (world.told, world.sim.now_ms) == ([kind.__name__], 510)
    with pytest.raises(kind) as error:
        future.get()
    assert str(error.value) == "producer p1 was closed before the record was acknowledged"


@pytest.mark.parametrize("timeout_ms", [0, None])
def test_close_in_a_callback_gives_up_at_once(make, timeout_ms):
    """With any timeout, since it cannot wait for itself."""
    world = make()
    producer = world.producer(linger_ms=1000)
    producer.send("orders", lambda *told: producer.close(timeout_ms), value="a", partition=0)
    world.sim.run_until(1004)
    producer.send("orders", world.tell, value="b")
    world.sim.run_until(1006)
    assert (world.told, world.log("orders")) == (["IllegalStateError"], [b"a"])


@pytest.mark.parametrize("profile", ["0.10.1", "1.0", "2.3", "4.0"])
def test_after_close_nothing_is_sent(make, profile):
    """The sentence says what to do."""
    world = make(profile)
    producer = world.producer()
    producer.send("orders", value="a").get()
    producer.close()
    for call in (lambda: producer.send("orders", value="a"), lambda: producer.partitions_for("a")):
        with pytest.raises(IllegalStateError) as error:
            call()
        assert str(error.value) == "KafkaProducer(p1) is closed: make a new one to send"


def sends(world, *records, close_ms=1000, timeout_ms=None, **config):
    """Send in one process, close in another: when and how the last send ended.

    What is in its future is told as such.
    """
    producer, told = world.producer(acks="1", retries=0, **config), []

    def run():
        try:
            for fields in records:
                future = producer.send(**fields)
            told.append((world.sim.now_ms, "future", ended(future)))
        except KafkaError as error:
            told.append((world.sim.now_ms, "raised", type(error).__name__, str(error)))

    def ended(future):
        try:
            return future.get().offset
        except KafkaError as error:
            return type(error).__name__

    world.sim.spawn(run, node="p1")
    world.sim.run_until(close_ms)
    world.sim.spawn(lambda: producer.close(timeout_ms), node="p1")
    world.sim.run_until(100_000)
    return told


LATE = "KafkaProducer(p1) is closed: make a new one to send"
CLOSED = "KafkaProducer(p1) was closed while a send was in progress"


@pytest.mark.parametrize("timeout_ms", [0, None])
@pytest.mark.parametrize(
    ("profile", "told"),
    [
        ("0.10.1", (60_000, "future", "KafkaTimeoutError")),
        ("1.0", (60_000, "future", "KafkaTimeoutError")),
        ("2.3", (1000, "raised", "KafkaError", CLOSED)),
        ("4.0", (1000, "raised", "KafkaError", CLOSED)),
    ],
)
def test_a_send_that_waits_for_metadata_when_its_producer_closes(make, profile, told, timeout_ms):
    """Up to 1.1 it waits on, for nothing; from 2.0 on it fails as soon as the sender has ended."""
    world = make(profile, auto_create_topics_enable=False)
    (found,) = sends(world, {"record": "mails", "value": "a"}, timeout_ms=timeout_ms)
    assert (found[0] // 1000 * 1000, *found[1:]) == told


@pytest.mark.parametrize(
    ("profile", "told"),
    [("1.0", ("IllegalStateError", LATE)), ("2.3", ("KafkaError", CLOSED))],
)
def test_metadata_that_comes_while_the_producer_closes(make, profile, told):
    """It is of no use: the record finds that its producer is closed, whatever is still sent."""
    world = make(profile, topics={"orders": 1, "mails": 1}, faults=[Delay("Produce", by_ms=900)])
    records = [{"record": each, "value": "a"} for each in ("orders", "mails")]
    (found,) = sends(world, *records, close_ms=300, linger_ms=0)
    assert found == (world.times("response", "Metadata")[-1], "raised", *told)
    assert (world.log("orders"), world.log("mails")) == ([b"a"], [])


@pytest.mark.parametrize(
    ("profile", "told"),
    [("0.10.1", "KafkaTimeoutError"), ("1.0", "KafkaTimeoutError"), ("2.3", "IllegalStateError")],
)
def test_a_send_after_close_that_knows_no_metadata(make, profile, told):
    """Up to 1.1 it waits for the topic, which nobody asks for; only then would it look up."""
    world = make(profile)
    producer = world.producer(max_block_ms=1000)
    producer.close()
    closed_ms = world.sim.now_ms
    try:
        future = producer.send("orders", world.tell, value="a")
    except IllegalStateError as error:
        world.told.append(type(error).__name__)
    else:
        assert (world.sim.now_ms, future.is_done) == (closed_ms + 1000, True)
    assert world.told == [told]


@pytest.mark.parametrize(
    ("profile", "timeout_ms", "told"),
    [
        ("1.0", 0, (1000, "raised", "IllegalStateError", LATE)),
        ("1.0", None, (9000, "raised", "IllegalStateError", LATE)),
        ("2.4", 0, (1000, "raised", "KafkaError", CLOSED)),
        ("2.4", None, (9000, "raised", "KafkaError", CLOSED)),
        ("4.0", 0, (1000, "raised", "KafkaError", CLOSED)),
        ("4.0", None, (1000, "raised", "KafkaError", CLOSED)),
    ],
)
def test_a_send_that_waits_for_memory_when_its_producer_closes(make, profile, timeout_ms, told):
    """Up to 2.4.0 it gets the memory of what is sent or given up, and only then sees the end."""
    world = make(profile, faults=[Delay("Produce", by_ms=9000)])
    records = [{"record": "orders", "value": "x" * 10_000}] * 2
    full = {"buffer_memory": 16_384, "batch_size": 16_384, "linger_ms": 0}
    (found,) = sends(world, *records, timeout_ms=timeout_ms, **full)
    assert (found[0] // 1000 * 1000, *found[1:]) == told


@pytest.mark.parametrize("profile", ["1.0", "2.4"])
def test_a_send_waits_for_memory_no_longer_than_max_block_ms(make, profile):
    """Not even if its producer closes: without room there is nothing to look at."""
    world = make(profile, faults=[Delay("Produce", by_ms=9000)])
    records = [{"record": "orders", "value": "x" * 10_000}] * 2
    full = {"buffer_memory": 16_384, "batch_size": 16_384, "linger_ms": 0, "max_block_ms": 5000}
    (found,) = sends(world, *records, **full)
    assert (found[0] // 1000 * 1000, *found[1:]) == (5000, "future", "KafkaTimeoutError")


def test_a_crashed_producer_says_so(make):
    """To those who wait for it outside, and to those who go on to use it."""
    world = make(faults=[CutOff("p1", 4, 1000), Crash("p1", 50)])
    producer = world.producer()
    future = producer.send("orders", value="a")
    with pytest.raises(IllegalStateError, match="of p1 ended, and nothing more comes of it"):
        future.get()
    assert world.sim.now_ms == 50
    with pytest.raises(IllegalStateError, match=r"KafkaProducer\(p1\) crashed: make a new one"):
        producer.send("orders", value="b")
    producer.close()


# What is refused.


def test_a_topic_that_never_comes(make):
    """The error is in the future after max.block.ms, and told to the callback, as in Kafka."""
    world = make(auto_create_topics_enable=False)
    producer = world.producer(max_block_ms=1000)
    future = producer.send("mails", world.tell, value="a")
    assert (world.sim.now_ms, world.told, future.is_done) == (1002, ["KafkaTimeoutError"], True)
    with pytest.raises(KafkaTimeoutError) as error:
        future.get()
    assert str(error.value) == "mails was not in the metadata within max_block_ms, 1,000 ms"


@pytest.mark.parametrize(
    ("profile", "told", "until_ms"),
    [("1.0", "KafkaTimeoutError", 1002), ("2.3", "InvalidTopicError", 4)],
)
def test_a_topic_that_the_brokers_refuse(make, profile, told, until_ms):
    """From 2.1 on it fails when they say so, and later sends at once; before, it was waited for."""
    world = make(profile, topics={"my.topic": 1})
    producer = world.producer(max_block_ms=1000)
    future = producer.send("my_topic", world.tell, value="a")
    assert (world.sim.now_ms, world.told) == (until_ms, [told])
    if profile == "2.3":
        producer.send("my_topic", world.tell, value="b")
        assert (world.sim.now_ms, world.told) == (4, [told] * 2)
        with pytest.raises(ApiError) as error:
            future.get()
        assert error.value.error is Errors.INVALID_TOPIC_EXCEPTION
        assert str(error.value) == "the brokers refuse my_topic: INVALID_TOPIC_EXCEPTION"
        with pytest.raises(InvalidTopicError):
            producer.partitions_for("my_topic")
        producer.send("my.topic", world.tell, value="c").get()
        assert world.told[2:] == [(0, 0)]


@pytest.mark.parametrize(
    ("profile", "sent", "refused"),
    [
        ("1.0", None, None),
        ("2.4", ("orders", 0, -1, -1), None),
        ("4.0", ("orders", 0, -1, -1), ("orders", -1, -1, -1)),
    ],
)
def test_what_a_callback_gets_beside_an_error(make, profile, sent, refused):
    """Nothing in 1.0; else metadata without offset, and from 3.2 on even of what was not sent."""
    world = make(profile, message_max_bytes=10)
    producer = world.producer(max_request_size=100, linger_ms=0)
    told = []

    def callback(*heard):
        told.append(heard)

    for size in (11, 101):
        future = producer.send("orders", callback, value="x" * size)
        with pytest.raises(RecordTooLargeError) as error:
            future.get()
        assert told[-1][1] is error.value
    assert [metadata for metadata, _ in told] == [sent, refused]
    if profile == "4.0":
        producer.send("orders", callback, value="x" * 101, partition=0)
        assert told[-1][0] == ("orders", 0, -1, -1)


def test_an_unknown_partition_is_refused_after_one_look(make):
    """Up to 2.1 it is raised as soon as fresh metadata does not have it."""
    world = make("1.0", topics={"orders": 2})
    with pytest.raises(IllegalArgumentError) as error:
        world.producer().send("orders", value="a", partition=2)
    assert str(error.value) == "partition is 2: orders has 2, so one from 0 to 1 is allowed"
    assert world.sim.now_ms < 10


def test_an_unknown_partition_is_waited_for(make):
    """From 2.2 on it may still come; the error is in the future."""
    world = make("2.4", topics={"orders": 2})
    future = world.producer(max_block_ms=1000).send("orders", value="a", partition=2)
    with pytest.raises(KafkaTimeoutError, match="orders-2 was not in the metadata within"):
        future.get()
    assert world.sim.now_ms == 1002


@pytest.mark.parametrize(("key", "size"), [("max_request_size", 100), ("buffer_memory", 20_000)])
def test_a_record_that_is_too_large(make, key, size):
    """It is in the future at once; the settings that bound it are named."""
    world = make()
    future = world.producer(**{key: size}).send("orders", world.tell, value="x" * (size + 1))
    with pytest.raises(RecordTooLargeError) as error:
        future.get()
    assert str(error.value) == f"the record has {size + 1:,} bytes: {key}, {size:,}, is the most"
    assert world.told == ["RecordTooLargeError"]


def test_a_buffer_smaller_than_a_batch(make):
    """No record can ever be taken."""
    with pytest.raises(IllegalArgumentError, match="no batch_size above it is allowed"):
        make().producer(buffer_memory=100).send("orders", value="a")


def test_a_full_buffer_blocks(make):
    """Until a batch is acknowledged; what lingers goes when the sender looks next."""
    world = make(latency_ms=10)
    producer = world.producer(batch_size=10, buffer_memory=20)
    for value in "ab":
        producer.send("orders", value=value * 10)
    started_ms = world.sim.now_ms
    producer.send("orders", world.tell, value="c")
    assert world.sim.now_ms == started_ms + 20
    producer.flush()
    assert world.told == [(0, 2)]


def test_a_full_buffer_that_stays_full(make):
    """After max.block.ms the error is in the future."""
    world = make(faults=[CutOff("p1", 4, 100_000)])
    producer = world.producer(batch_size=10, buffer_memory=10, max_block_ms=1000)
    producer.partitions_for("orders")
    producer.send("orders", value="a")
    future = producer.send("orders", value="x" * 10)
    with pytest.raises(KafkaTimeoutError, match="no room for 10 bytes in buffer_memory within"):
        future.get()


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"partition": -1}, "partition is -1: None or a whole number from 0 to 2147483647"),
        ({"timestamp_ms": -1}, "timestamp_ms is -1: None or a whole number from 0 to"),
        ({"partition": True}, "partition is True: None or a whole number"),
        ({"headers": ["h"]}, "headers is ['h']: a list of (name, bytes) pairs is allowed"),
        ({"headers": [("h", "x")]}, "headers is [('h', 'x')]: a list of (name, bytes) pairs"),
    ],
)
def test_no_record(make, fields, sentence):
    """It is refused before anything is sent."""
    with pytest.raises(IllegalArgumentError) as error:
        make().producer().send("orders", value="a", **fields)
    assert str(error.value).startswith(sentence)


def test_headers_came_later(make):
    """Before 0.11 a record has none (KIP-82)."""
    producer = make("0.10.1").producer()
    producer.send("orders", value="a", headers=[]).get()
    with pytest.raises(IllegalArgumentError, match=r"^headers are known from Kafka 0\.11 on"):
        producer.send("orders", value="a", headers=[("h", b"x")])


def test_other_calls_that_are_wrong(make):
    """A topic that cannot be, and fields beside a whole record."""
    producer = make().producer()
    with pytest.raises(InvalidTopicError):
        producer.send("no topic", value="a")
    with pytest.raises(IllegalArgumentError, match="value beside a ProducerRecord"):
        producer.send(ProducerRecord("orders"), value="a")


def test_what_cannot_be_serialised(make):
    """SerializationError is raised, not put into the future, as in Kafka; the cause comes along."""
    producer = make().producer(value_serializer=lambda value: 1 // value)
    with pytest.raises(SerializationError) as error:
        producer.send("orders", value=0)
    assert isinstance(error.value.__cause__, ZeroDivisionError)
    with pytest.raises(SerializationError, match="the key of a record for orders is 5"):
        producer.send("orders", value=1, key=5)
    with pytest.raises(ConfigError, match="key_serializer is 'JsonSerializer'"):
        make().producer(key_serializer="JsonSerializer")


def test_an_error_of_the_clients_own_has_kafkas_code():
    """MESSAGE_TOO_LARGE, as where a broker says it."""
    sim = Simulation()
    sim.create_topic("t")
    with pytest.raises(RecordTooLargeError) as caught:
        sim.producer().send("t", value="v" * 1_048_577).get()
    assert caught.value.error is Errors.MESSAGE_TOO_LARGE
