import pytest

from kafkalearn.engine import AnswerWithError, Crash, CutOff, Delay, Drop, Freeze, StuckError
from kafkalearn.errors import (
    InvalidTopicError,
    KafkaTimeoutError,
    RecordTooLargeError,
    RetriableError,
)
from kafkalearn.records import TopicPartition


def send_apart(world, producer, *values, topic="orders"):
    """Send values 1 ms apart, so that each has a request of its own."""
    for value in values:
        producer.send(topic, world.tell, value=value)
        world.sim.sleep(1)


def warm(world, **config):
    """Make a producer that knows the cluster and is connected; 10 ms are over then."""
    producer = world.producer(**config)
    producer.partitions_for("orders")
    world.sim.run_until(10)
    return producer


# Acks.


@pytest.mark.parametrize(("acks", "sent"), [(1, 1), ("all", -1), (-1, -1)])
def test_an_acknowledged_record_has_its_offset(make, acks, sent):
    """acks 1 and all are answered; the request says which."""
    world = make()
    producer = warm(world, acks=acks)
    send_apart(world, producer, "a", "b")
    producer.flush()
    assert world.told == [(0, 0), (0, 1)]
    requests = world.events("send", "Produce")
    assert [each.detail["fields"]["acks"] for each in requests] == [sent] * 2


def test_acks_0_is_done_when_it_is_sent(make):
    """Nobody answers, so the offset is -1."""
    world = make()
    producer = warm(world, acks=0)
    future = producer.send("orders", world.tell, value="a")
    assert future.get() == ("orders", 0, -1, 10)
    assert (world.sim.now_ms, world.told, world.log("orders")) == (10, [(0, -1)], [])
    world.sim.run_until(1000)
    assert world.log("orders") == [b"a"]
    assert world.events("respond", "Produce") == []


def test_acks_0_hears_of_no_error(make):
    """What the broker refuses is lost in silence."""
    world = make(message_max_bytes=10)
    producer = warm(world, acks=0)
    future = producer.send("orders", world.tell, value="x" * 11)
    world.sim.run_until(1000)
    assert (future.is_done, world.told, world.log("orders")) == (True, [(0, -1)], [])


def test_callbacks_with_acks_0_that_send_for_ever_come_to_the_bound(make):
    """They take no virtual time, and yet the run does not hang."""
    world = make(max_events=2000)
    producer = warm(world, acks=0)

    def again(metadata, error):
        producer.send("orders", again, value="a")

    producer.send("orders", again, value="a")
    with pytest.raises(StuckError, match="bound of 2,000 events at 10 ms"):
        world.sim.run_until(20)


# Trying again.


def test_without_retries_an_error_is_the_end(make):
    """Behaviour 71, up to 2.0: retries is 0, so a passing error loses the record."""
    world = make("1.0", faults=[AnswerWithError("Produce", "NOT_LEADER_OR_FOLLOWER")])
    producer = warm(world)
    future = producer.send("orders", world.tell, value="a")
    with pytest.raises(RetriableError) as error:
        future.get()
    assert str(error.value) == (
        "1 records for orders-0 are not acknowledged, after 0 retries: NOT_LEADER_OR_FOLLOWER"
    )
    assert (world.told, world.log("orders")) == (["RetriableError"], [])


def test_with_retries_the_same_error_passes(make):
    """Behaviour 71, 2.1 and later: retries is MAX_INT, and the record is sent again."""
    world = make("2.4", faults=[AnswerWithError("Produce", "NOT_LEADER_OR_FOLLOWER")])
    producer = warm(world)
    producer.send("orders", world.tell, value="a").get()
    assert (world.told, world.log("orders")) == ([(0, 0)], [b"a"])
    assert world.times("send", "Produce") == [10, 112]  # retry.backoff.ms after the answer


def test_retries_are_counted(make):
    """After the last one the error is told."""
    faults = [AnswerWithError("Produce", "NOT_ENOUGH_REPLICAS", nth=nth) for nth in (1, 2, 3)]
    world = make("1.0", faults=faults)
    producer = warm(world, retries=2, retry_backoff_ms=20)
    producer.send("orders", world.tell, value="a")
    world.sim.run_until(1000)
    assert world.times("send", "Produce") == [10, 32, 54]
    assert world.told == ["RetriableError"]


def test_what_is_not_retriable_is_not_sent_again(make):
    """However many retries there are."""
    world = make("2.4", message_max_bytes=10)
    producer = warm(world)
    with pytest.raises(RecordTooLargeError, match="MESSAGE_TOO_LARGE"):
        producer.send("orders", value="x" * 11).get()
    assert len(world.events("send", "Produce")) == 1


def test_the_brokers_own_topic_takes_no_records(make):
    """It answers INVALID_TOPIC_EXCEPTION, which is an error as any other that a broker says."""
    producer = make("2.4").producer()
    with pytest.raises(InvalidTopicError, match="for __consumer_offsets-0 are not acknowledged"):
        producer.send("__consumer_offsets", value="a", partition=0).get()


@pytest.mark.parametrize("error", ["CORRUPT_MESSAGE", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"])
def test_what_a_retry_may_mend(make, error):
    """A record damaged on its way, or with too few copies, is sent again."""
    world = make("2.4", faults=[AnswerWithError("Produce", error)])
    producer = warm(world)
    producer.send("orders", world.tell, value="a").get()
    assert (world.told, len(world.events("send", "Produce"))) == ([(0, 0)], 2)


@pytest.mark.parametrize(
    ("max_in_flight", "expected"), [(5, [b"b", b"c", b"a"]), (1, [b"a", b"b", b"c"])]
)
def test_a_retry_flips_the_order(make, max_in_flight, expected):
    """Behaviour 71: with more than one request in flight, what was sent later is written first."""
    world = make(
        "1.0",
        faults=[
            Delay("Produce", by_ms=3, part="response"),
            AnswerWithError("Produce", "NOT_ENOUGH_REPLICAS"),
        ],
    )
    producer = warm(world, retries=3, max_in_flight_requests_per_connection=max_in_flight)
    send_apart(world, producer, "a", "b", "c")
    producer.flush()
    assert world.log("orders") == expected
    assert len(world.told) == 3


def test_a_lost_answer_makes_a_duplicate(make):
    """Without idempotence the producer cannot know that the record was written."""
    world = make("1.0", faults=[Drop("Produce", part="response")])
    producer = warm(world, retries=1)
    producer.send("orders", world.tell, value="a")
    producer.flush()
    assert (world.log("orders"), world.told) == ([b"a", b"a"], [(0, 1)])


def test_a_lost_request_without_retries_is_told(make):
    """The connection ended; whether it was written is not known."""
    world = make("1.0", faults=[Drop("Produce")])
    producer = warm(world)
    with pytest.raises(RetriableError, match="NETWORK_EXCEPTION"):
        producer.send("orders", value="a").get()
    assert world.log("orders") == []


def test_requests_in_flight_are_bounded(make):
    """The third waits for the first answer."""
    world = make("1.0", latency_ms=10)
    producer = world.producer(max_in_flight_requests_per_connection=2)
    producer.partitions_for("orders")
    world.sim.run_until(50)
    send_apart(world, producer, "a", "b", "c")
    producer.flush()
    assert world.times("send", "Produce") == [50, 51, 70]
    assert world.log("orders") == [b"a", b"b", b"c"]


def test_a_new_leader_is_found(make):
    """NOT_LEADER_OR_FOLLOWER and a lost connection ask for metadata before the next attempt."""
    world = make("2.4", brokers=2, topics={"orders": 1})
    producer = warm(world)
    leader = world.sim.cluster.find(TopicPartition("orders", 0)).leader
    world.sim.crash(leader)
    producer.send("orders", world.tell, value="a").get()
    assert world.sim.cluster.find(TopicPartition("orders", 0)).leader != leader
    assert (world.log("orders"), world.told) == ([b"a"], [(0, 0)])
    assert 6000 <= world.sim.now_ms < 9000


# Giving up.


def test_a_batch_in_flight_does_not_expire_before_delivery_timeouts(make):
    """Behaviour 71, up to 2.0: request.timeout.ms ends the request, and then retries count."""
    world = make("1.0", faults=[CutOff("p1", 10, 100_000)])
    producer = warm(world, request_timeout_ms=1000)
    with pytest.raises(RetriableError, match="NETWORK_EXCEPTION"):
        producer.send("orders", value="a").get()
    assert world.sim.now_ms == 1010


@pytest.mark.parametrize(
    ("profile", "kind", "error"),
    [("2.4", RetriableError, "NETWORK_EXCEPTION"), ("4.0", KafkaTimeoutError, "REQUEST_TIMED_OUT")],
)
def test_a_request_that_is_not_answered_in_time(make, profile, kind, error):
    """It is told as a timeout from 3.5 on, with all that was in flight on the connection."""
    world = make(profile, faults=[CutOff("p1", 10, 100_000)])
    producer = warm(world, request_timeout_ms=1000, retries=0, linger_ms=0)
    send_apart(world, producer, "a", "b")
    world.sim.run_until(1010)
    assert world.told == [kind.__name__] * 2
    with pytest.raises(kind, match=error):
        producer.send("orders", value="c").get()


def test_a_connection_that_ends_is_no_timeout(make):
    """In 4.0, too, a broker that crashes gives NETWORK_EXCEPTION."""
    world = make("4.0", faults=[Delay("Produce", by_ms=500), Crash("broker-0", 100)])
    producer = warm(world, retries=0, linger_ms=0)
    with pytest.raises(RetriableError, match="NETWORK_EXCEPTION"):
        producer.send("orders", value="a").get()


def test_delivery_timeout_ends_it_all(make):
    """Behaviour 71, 2.1 and later: 120 s after the send, whatever is in flight or was tried."""
    world = make("2.4", faults=[CutOff("p1", 10, 200_000)])
    producer = warm(world)
    with pytest.raises(KafkaTimeoutError) as error:
        producer.send("orders", value="a").get()
    assert str(error.value) == (
        "1 records for orders-0 expired: no broker had acknowledged them 120,000 ms after their "
        "batch was begun"
    )
    assert world.sim.now_ms == 120_010


def test_a_record_given_up_in_flight_may_be_written(make):
    """Its answer comes too late to change what was told."""
    faults = [
        AnswerWithError("Produce", "NOT_ENOUGH_REPLICAS"),
        Delay("Produce", by_ms=5000, nth=2),
    ]
    world = make("2.4", faults=faults)
    producer = warm(world, request_timeout_ms=2000, delivery_timeout_ms=2000)
    producer.send("orders", world.tell, value="a")
    world.sim.run_until(20_000)
    assert (world.told, world.log("orders")) == (["KafkaTimeoutError"], [b"a"])


def test_a_record_without_leader_waits_for_the_request_timeout(make):
    """Behaviour 71, up to 2.0: it was never sent, so that no retry is needed for it to succeed."""
    world = make("1.0", brokers=1)
    producer = warm(world, request_timeout_ms=5000)
    producer._metadata.leaders.clear()
    world.sim.crash("broker-0")
    producer.send("orders", world.tell, value="a")
    world.sim.run_until(5010)
    assert world.told == []
    world.sim.run_until(6000)
    assert world.told == ["KafkaTimeoutError"]


def test_after_a_pause_what_was_queued_is_sent(make):
    """A producer that stood still looks at what is ready before what has expired."""
    world = make("1.0", faults=[Freeze("p1", 11, 100_000)])
    producer = warm(world, linger_ms=100)
    producer.send("orders", world.tell, value="a")
    world.sim.run_until(110_000)
    assert (world.told, world.log("orders")) == ([(0, 0)], [b"a"])


def test_what_a_callback_sends_is_not_left_lying(make):
    """The callback of a record that expired sends it again, to a partition that has a leader."""
    world = make("2.4", topics={"orders": 2})
    producer = warm(world, request_timeout_ms=1000, delivery_timeout_ms=1000)
    del producer._metadata.leaders[TopicPartition("orders", 1)]
    producer._metadata.request_update = lambda: None

    def again(metadata, error):
        producer.send("orders", world.tell, value="a", partition=0)

    producer.send("orders", again, value="a", partition=1)
    world.sim.run_until(1500)
    assert world.times("send", "Produce") == [1010]
    assert world.told == [(0, 0)]


# Rest.


def test_it_sleeps_until_something_is_due(make):
    """With nothing to send only the age of the metadata wakes it, 11 times in an hour."""
    world = make()
    producer = warm(world)
    producer.send("orders", value="a").get()
    before = next(world.sim.loop.sequence)
    world.sim.run_until(3_600_000)
    assert len(world.times("send", "Metadata")) == 12
    assert next(world.sim.loop.sequence) - before < 200


def test_lingering_is_exact(make):
    """The request leaves linger.ms after the first record."""
    world = make()
    producer = warm(world, linger_ms=40)
    send_apart(world, producer, "a", "b")
    world.sim.run_until(200)
    assert world.times("send", "Produce") == [50]
    assert world.told == [(0, 0), (0, 1)]
