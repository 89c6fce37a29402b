"""A topic on disk: offsets without gaps, whole lines only, a start that retention moves."""

import pytest

from kafkalearn import Simulation
from kafkalearn.errors import IllegalArgumentError, InvalidTopicError, OffsetOutOfRangeError
from kafkalearn.records import Record
from kafkalearn.spark import topic_folder
from kafkalearn.spark.topic_folder import TopicFolder


def record(number, **fields):
    """A record as a producer hands it over."""
    values = {
        "key": b"k",
        "value": b"%d" % number,
        "headers": (("h", b"\x00"), ("n", None)),
    } | fields
    return Record(-1, 1000 + number, **values)


@pytest.fixture
def topic(tmp_path):
    """A topic of two partitions."""
    topic = TopicFolder(tmp_path, "orders")
    topic.create_partitions(2)
    return topic


def values(topic, partition, start, end):
    """What is read, as (offset, value)."""
    return [(each.offset, each.value) for each in topic.read(partition, start=start, end=end)]


def test_what_was_appended_is_read_with_its_offset(topic):
    """Bytes, null and headers survive; each partition counts for itself."""
    assert topic.append(0, [record(0), record(1, key=None, value=None, headers=())]) == 0
    assert topic.append(0, [record(2)]) == 2
    assert topic.append(1, [record(9)]) == 0
    assert list(topic.read(0, start=0, end=3)) == [
        Record(0, 1000, b"k", b"0", (("h", b"\x00"), ("n", None))),
        Record(1, 1001, None, None),
        Record(2, 1002, b"k", b"2", (("h", b"\x00"), ("n", None))),
    ]
    assert (topic.ends(0), topic.ends(1)) == ((0, 3), (0, 1))


def test_segments_are_rolled_and_read_across(topic, monkeypatch):
    """A segment is named by its first offset, as Kafka's are."""
    monkeypatch.setattr(topic_folder, "SEGMENT_RECORDS", 4)
    for first in (0, 3, 6):
        topic.append(0, [record(n) for n in range(first, first + 3)])
    names = sorted(path.name for path in (topic.folder / "orders-0").iterdir())
    assert names == [f"{base:020}.jsonl" for base in (0, 4, 8)]
    assert values(topic, 0, 2, 9) == [(n, b"%d" % n) for n in range(2, 9)]
    topic.delete_records(0, 5)
    assert (topic.ends(0), len(list((topic.folder / "orders-0").glob("*.jsonl")))) == ((5, 9), 2)
    assert values(topic, 0, 5, 6) == [(5, b"5")]
    topic.append(0, [record(9)])
    assert values(topic, 0, 9, 10) == [(9, b"9")]


def test_half_a_line_is_no_record_and_is_overwritten(topic):
    """A writer that died in the middle leaves nothing that anybody reads."""
    topic.append(0, [record(0)])
    segment = topic.folder / "orders-0" / f"{0:020}.jsonl"
    with segment.open("ab") as file:
        file.write(b'[1001, "az')
    assert topic.ends(0) == (0, 1)
    assert topic.append(0, [record(1)]) == 1
    assert values(topic, 0, 0, 2) == [(0, b"0"), (1, b"1")]


def test_what_is_not_there_is_refused_by_name(topic):
    """Offsets out of range, partitions without a folder, names that Kafka does not allow."""
    topic.append(0, [record(n) for n in range(5)])
    topic.delete_records(0, 2)
    with pytest.raises(OffsetOutOfRangeError, match="orders-0 holds the offsets 2 to 5, and 1 to"):
        list(topic.read(0, start=1, end=3))
    with pytest.raises(OffsetOutOfRangeError, match="2 to 6 were asked for"):
        list(topic.read(0, start=2, end=6))
    with pytest.raises(IllegalArgumentError, match=r"no orders-7 in .*partitions of orders: 0, 1"):
        topic.append(7, [])
    with pytest.raises(InvalidTopicError):
        TopicFolder(topic.folder, "../orders")


def test_topics_whose_names_begin_alike_are_two(topic):
    """orders-0 is a partition of orders; orders-old-0 and orders-x are not."""
    TopicFolder(topic.folder, "orders-old").create_partitions(4)
    (topic.folder / "orders-x").mkdir()
    assert topic.partitions() == [0, 1]
    assert TopicFolder(topic.folder, "orders-old").partitions() == [0, 1, 2, 3]
    assert TopicFolder(topic.folder / "nowhere", "orders").partitions() == []


def test_it_follows_a_simulation_with_its_retention(tmp_path):
    """Only what is new is copied; what the simulation dropped goes here too, gaps included."""
    sim = Simulation(seed=1)
    sim.create_topic("visits", partitions=2, configs={"retention.ms": 60_000})
    producer = sim.producer("p1")
    topic = TopicFolder(tmp_path, "visits")

    def send(count):
        for number in range(count):
            producer.send("visits", value=f"visit {number}", partition=0).get()

    def follow():
        partitions = sim.cluster.topics["visits"].partitions
        return topic.follow({each.topic_partition.partition: each.log for each in partitions})

    send(3)
    assert (follow(), follow(), topic.ends(0), topic.ends(1)) == (3, 0, (0, 3), (0, 0))
    send(2)
    sim.sleep(600_000)
    send(1)
    assert (follow(), topic.ends(0)) == (1, (5, 6))
    assert values(topic, 0, 5, 6) == [(5, b"visit 0")]
