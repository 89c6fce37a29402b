import pytest

from kafkalearn.errors import KafkaError
from kafkalearn.producer.producer_batch import FutureRecordMetadata, Thunk
from kafkalearn.producer.producer_config import producer_config
from kafkalearn.producer.record_accumulator import NEVER_MS, RecordAccumulator
from kafkalearn.profile import PROFILES
from kafkalearn.records import Record, TopicPartition

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
LEADERS = {A0: "broker-0", A1: "broker-0", B0: "broker-1"}


def accumulator(profile="1.0", **config):
    """Make an empty one with small batches."""
    given = {"batch_size": 10} | config
    return RecordAccumulator(producer_config(PROFILES[profile], given))


def append(to, partition, *, size=4, now_ms=0):
    """Add a record of so many bytes; whether the sender is to be woken."""
    thunk = Thunk(FutureRecordMetadata(lambda until, timeout_ms: until()), None)
    return to.append(partition, Record(-1, now_ms, None, b"x" * size), thunk=thunk, now_ms=now_ms)


def sizes(to, partition):
    """Say how many records each batch of a partition has."""
    return [len(batch.records) for batch in to.batches[partition]]


def drain(to, *nodes, now_ms=0):
    """Take what goes to some nodes: per node (partition, how many records)."""
    drained = to.drain(LEADERS, nodes, now_ms=now_ms)
    return {
        node: [(str(batch.topic_partition), len(batch.records)) for batch in batches]
        for node, batches in drained.items()
    }


# Batches.


def test_records_share_a_batch_while_they_fit():
    """A record that does not fit closes the batch, even for smaller ones that would."""
    to = accumulator()
    woken = [append(to, A0, size=size) for size in (4, 4, 4, 1)]
    assert sizes(to, A0) == [2, 2]
    assert woken == [True, False, True, True]
    assert to.batches[A0][0].is_full


def test_a_record_larger_than_a_batch_has_one_of_its_own():
    """batch.size is no limit for records."""
    to = accumulator()
    append(to, A0, size=50)
    append(to, A0, size=1)
    assert sizes(to, A0) == [1, 1]
    assert [batch.capacity for batch in to.batches[A0]] == [50, 10]


def test_batch_size_zero_ends_batching():
    """Each record goes alone."""
    to = accumulator(batch_size=0)
    append(to, A0)
    append(to, A0)
    assert sizes(to, A0) == [1, 1]


def test_a_batch_takes_its_whole_size_of_the_buffer():
    """However little is in it; it gives it back when it ends."""
    to = accumulator(buffer_memory=100)
    append(to, A0, size=1)
    append(to, B0, size=30)
    assert to.free_memory == 60
    for batch in list(to.incomplete):
        to.deallocate(batch)
    assert (to.free_memory, list(to.incomplete)) == (100, [])


# What is ready.


def test_a_batch_lingers_until_it_is_full():
    """linger.ms counts from its first record; a second batch makes the first full."""
    to = accumulator(linger_ms=50)
    append(to, A0, now_ms=5)
    assert to.ready(LEADERS, 5) == ([], 50, [])
    assert to.ready(LEADERS, 54) == ([], 1, [])
    assert to.ready(LEADERS, 55) == (["broker-0"], NEVER_MS, [])
    append(to, A0, size=10, now_ms=6)
    assert to.ready(LEADERS, 6) == (["broker-0"], NEVER_MS, [])


@pytest.mark.parametrize("reason", ["waiters", "flushes", "closed"])
def test_some_cannot_wait_for_linger(reason):
    """A full buffer, a flush and a close make everything ready."""
    to = accumulator(linger_ms=50)
    append(to, A0)
    setattr(to, reason, 1)
    assert to.ready(LEADERS, 0).ready_nodes == ["broker-0"]


def test_what_nobody_leads_is_told():
    """It does not keep the rest from being sent."""
    to = accumulator()
    for partition in (A0, B0):
        append(to, partition)
    assert to.ready({B0: "broker-1"}, 0) == (["broker-1"], NEVER_MS, ["a"])


def test_a_batch_that_came_back_waits():
    """For retry.backoff.ms, although a flush or a full batch is behind it."""
    to = accumulator(linger_ms=1000)
    append(to, A0)
    (batch,) = to.drain(LEADERS, ["broker-0"], now_ms=0)["broker-0"]
    append(to, A0)
    to.reenqueue(batch, 10)
    to.flushes = 1
    assert to.ready(LEADERS, 50) == ([], 60, [])
    assert drain(to, "broker-0", now_ms=50) == {"broker-0": []}
    assert to.ready(LEADERS, 110) == (["broker-0"], NEVER_MS, [])
    assert to.batches[A0][0] is batch


def test_a_muted_partition_is_not_sent():
    """While its batch is in flight, where the order is to be kept."""
    to = accumulator()
    for partition in (A0, A1):
        append(to, partition)
    to.muted.add(A0)
    assert drain(to, "broker-0") == {"broker-0": [("a-1", 1)]}
    assert to.ready(LEADERS, 0) == ([], NEVER_MS, [])


# Draining.


def test_a_request_takes_one_batch_of_each_partition():
    """Those of the node, the oldest of each."""
    to = accumulator()
    for partition in (A0, B0, A1, A0, A0):
        append(to, partition)
    assert drain(to, "broker-0", "broker-1") == {
        "broker-0": [("a-0", 2), ("a-1", 1)],
        "broker-1": [("b-0", 1)],
    }
    assert sizes(to, A0) == [1]


def test_where_draining_begins_moves_on():
    """A request that is full goes on next time with the partition that did not fit."""
    to = accumulator(max_request_size=10)
    for partition in (A0, A0, A0, A0, A1):
        append(to, partition, size=6)
    taken = [drain(to, "broker-0")["broker-0"] for _ in range(3)]
    assert taken == [[("a-0", 1)], [("a-1", 1)], [("a-0", 1)]]


def test_a_batch_above_the_request_size_goes_alone():
    """Otherwise it would never go."""
    to = accumulator(max_request_size=1)
    append(to, A0, size=6)
    assert drain(to, "broker-0") == {"broker-0": [("a-0", 1)]}
    assert not to.has_undrained()


# Giving up.


def test_before_delivery_timeouts_a_batch_expires_by_the_request_timeout():
    """Behaviour 71, up to 2.0: since linger.ms was over, or since its last record if it is full."""
    to = accumulator(linger_ms=50, request_timeout_ms=1000)
    append(to, A0, now_ms=0)
    assert to.next_expiry_ms() == 1051
    assert to.expired_batches(1050) == []
    append(to, A0, size=6, now_ms=20)
    assert to.next_expiry_ms() == 1021
    (batch,) = to.expired_batches(1021)
    assert (len(batch.records), to.next_expiry_ms()) == (2, NEVER_MS)


def test_a_batch_that_came_back_expires_by_its_last_attempt():
    """Behaviour 71, up to 2.0: each attempt starts the time anew; retries are what ends it."""
    to = accumulator(request_timeout_ms=1000)
    append(to, A0)
    (batch,) = to.drain(LEADERS, ["broker-0"], now_ms=0)["broker-0"]
    to.reenqueue(batch, 900)
    assert to.next_expiry_ms() == 900 + 100 + 1000 + 1


def test_a_muted_partition_does_not_expire_before_delivery_timeouts():
    """What waits behind a batch in flight is not given up before it."""
    to = accumulator(request_timeout_ms=1000)
    append(to, A0)
    to.muted.add(A0)
    assert (to.next_expiry_ms(), to.expired_batches(5000)) == (NEVER_MS, [])


def test_delivery_timeout_counts_from_the_first_record():
    """Behaviour 71, 2.1 and later: whatever happened meanwhile, and for muted partitions, too."""
    to = accumulator("2.4", request_timeout_ms=1000, delivery_timeout_ms=2000)
    append(to, A0, now_ms=5)
    (batch,) = to.drain(LEADERS, ["broker-0"], now_ms=5)["broker-0"]
    to.reenqueue(batch, 900)
    to.muted.add(A0)
    assert to.next_expiry_ms() == 2005
    assert to.expired_batches(2004) == []
    assert to.expired_batches(2005) == [batch]


def test_to_abort_lets_everything_fail():
    """What is in flight too."""
    to = accumulator()
    for partition in (A0, A0, A0, B0):
        append(to, partition)
    batches = list(to.incomplete)
    to.drain(LEADERS, ["broker-0"], now_ms=0)
    to.abort_incomplete_batches(KafkaError("closed"))
    assert [batch.is_done for batch in batches] == [True] * 3
    assert (list(to.incomplete), to.has_undrained()) == ([], False)
    with pytest.raises(KafkaError, match="closed"):
        batches[0].thunks[0].future.get()
