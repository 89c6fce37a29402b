"""What a poll returns can be read record by record, or partition by partition."""

import pytest

from kafkalearn.consumer.consumer_records import ConsumerRecord, ConsumerRecords
from kafkalearn.errors import IllegalArgumentError
from kafkalearn.records import TopicPartition

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)


def record(partition, offset):
    """Make a record whose value says where it is."""
    return ConsumerRecord(*partition, offset, 1_000 + offset, None, f"{partition}@{offset}")


A, B, C, D = record(T1, 17), record(T1, 18), record(U0, 5), record(T0, 0)
POLLED = ConsumerRecords({T1: [A, B], U0: [C], T0: [D]})


def test_iteration_goes_partition_by_partition():
    """In the order in which they were fetched, as often as one likes."""
    assert list(POLLED) == list(POLLED) == [A, B, C, D]
    assert POLLED.partitions() == (T1, U0, T0)


def test_the_records_of_a_partition():
    """Their last one says what to commit, as in the documents' loop."""
    assert POLLED.records(T1) == (A, B)
    assert POLLED.records(T1)[-1].offset + 1 == 19
    assert POLLED.records(("t", 0)) == (D,)
    assert POLLED.records(TopicPartition("u", 1)) == ()


def test_the_records_of_a_topic():
    """Those of all its partitions."""
    assert POLLED.records("t") == (A, B, D)
    assert POLLED.records("v") == ()


@pytest.mark.parametrize("wanted", [None, 0, ["t"]])
def test_records_of_something_else(wanted):
    """The message shows what was asked for and what is allowed."""
    with pytest.raises(IllegalArgumentError, match="a TopicPartition or a topic name is allowed"):
        POLLED.records(wanted)


def test_how_many_there_are():
    """Over all partitions; the same for len."""
    assert (POLLED.count(), len(POLLED), POLLED.is_empty(), bool(POLLED)) == (4, 4, False, True)


@pytest.mark.parametrize("nothing", [ConsumerRecords.empty(), ConsumerRecords({T0: []})])
def test_nothing_is_empty(nothing):
    """Also when a partition is named without records."""
    assert (nothing.count(), len(nothing), nothing.is_empty(), bool(nothing)) == (0, 0, True, False)
    assert (list(nothing), nothing.partitions(), nothing.records(T0)) == ([], (), ())
    assert repr(nothing) == "ConsumerRecords(empty)"


def test_what_was_returned_stays_as_it_is():
    """A list that the client goes on filling is not seen through it."""
    fetched = {T0: [D]}
    polled = ConsumerRecords(fetched)
    fetched[T0].append(D)
    fetched[T1] = [A]
    assert list(polled) == [D]


def test_a_notebook_shows_how_many_from_where():
    """One entry a partition."""
    assert repr(POLLED) == (
        "ConsumerRecords(t-1: 2 records from 17, u-0: 1 record from 5, t-0: 1 record from 0)"
    )


class Order:
    """Something that a deserialiser made, without a repr of its own."""


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (b"paid", "b'paid'"),
        (None, "None"),
        ({"b": 1, "a": {"y", "x", "z"}}, "{'a': {'x', 'y', 'z'}, 'b': 1}"),
        (Order(), "<Order>"),
        ([Order()], "[<Order>]"),
        ("x" * 100, "'" + "x" * 17 + "..." + "x" * 18 + "'"),
    ],
)
def test_a_record_shows_itself_shortly_and_always_the_same(value, shown):
    """No address, no order of a hash, no flood."""
    made = ConsumerRecord("t", 0, 17, 1_000, "k", value)
    assert repr(made) == f"ConsumerRecord(t-0 offset 17, key='k', value={shown})"


def test_a_record_has_kafkas_fields():
    """Headers are none unless there are some."""
    assert A._asdict() == {
        "topic": "t",
        "partition": 1,
        "offset": 17,
        "timestamp": 1_017,
        "key": None,
        "value": "t-1@17",
        "headers": (),
    }
