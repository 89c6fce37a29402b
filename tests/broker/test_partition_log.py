import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.broker.partition_log import PartitionLog
from kafkalearn.records import Record
from tests.broker.world import records


def offsets(found):
    return [record.offset for record in found]


def stamped(*times_ms):
    return [Record(-1, time_ms, None, b"x") for time_ms in times_ms]


def test_append_gives_offsets_without_gaps():
    """Each record gets the next offset, whatever it came with; the first one's is given back."""
    log = PartitionLog()
    assert log.append(records(b"a", b"b")) == 0
    assert log.append([Record(77, 5, b"k", b"c", (("h", b"v"),))]) == 2
    assert log.read(0, 1000) == (
        Record(0, 0, None, b"a"),
        Record(1, 0, None, b"b"),
        Record(2, 5, b"k", b"c", (("h", b"v"),)),
    )
    assert (log.log_start_offset, log.log_end_offset, log.high_watermark) == (0, 3, 3)
    assert log.size_in_bytes == 6


@pytest.mark.parametrize(
    ("offset", "max_bytes", "found"),
    [
        (0, 6, [0, 1, 2]),
        (0, 5, [0, 1]),
        (1, 5, [1, 2]),
        (0, 1, [0]),
        (2, 0, [2]),
        (3, 1000, []),
    ],
)
def test_read_gives_whole_records_that_fit_and_at_least_one(offset, max_bytes, found):
    """A record that is larger than max_bytes is given alone (KIP-74); the end gives nothing."""
    log = PartitionLog()
    log.append(records(b"aa", b"bb", b"cc"))
    assert offsets(log.read(offset, max_bytes)) == found


def test_a_read_that_comes_second_gets_nothing_that_does_not_fit():
    """Without min_one_record a limit is a limit."""
    log = PartitionLog()
    log.append(records(b"aa", b"bb"))
    assert log.read(0, 1, min_one_record=False) == ()
    assert offsets(log.read(0, 2, min_one_record=False)) == [0]


def test_a_record_of_nothing_counts_as_a_byte():
    """Who waits for one byte must find a record without key and value."""
    log = PartitionLog()
    log.append([Record(-1, 0, None, None), Record(-1, 0, None, b"")])
    assert log.size_in_bytes == 2
    assert log.size_between(1, 2) == 1


@pytest.mark.parametrize(
    ("offset", "there"), [(-1, False), (1, False), (2, True), (5, True), (6, False)]
)
def test_offsets_are_in_range_from_the_start_to_the_end(offset, there):
    """The end is in range, since the next record will be there; what was deleted is not."""
    log = PartitionLog()
    log.append(records(*[b"x"] * 5))
    log.delete_records(2)
    assert log.has_offset(offset) is there


@pytest.mark.parametrize(
    ("timestamp_ms", "offset"),
    [(-5, 0), (30, 0), (31, 2), (40, 2), (41, None)],
)
def test_the_offset_of_a_time_is_the_first_record_as_young(timestamp_ms, offset):
    """Producers' clocks differ: a later record may be older, and is not found."""
    log = PartitionLog()
    log.append(stamped(30, 10, 40, 20))
    found = log.first_since(timestamp_ms)
    assert (found and found.offset) == offset


def test_a_deleted_record_no_longer_answers_for_its_time():
    """After the record of 30 ms is gone, that of 40 ms is the first since 25 ms."""
    log = PartitionLog()
    log.append(stamped(30, 10, 40, 20))
    log.delete_records(1)
    assert log.first_since(25) == Record(2, 40, None, b"x")


@pytest.mark.parametrize(
    ("before_offset", "start"), [(-1, 0), (0, 0), (2, 2), (3, 3), (99, 3)], ids=str
)
def test_records_are_deleted_up_to_the_high_watermark_only(before_offset, start):
    """The log's end stays where it is, and the start never goes back."""
    log = PartitionLog()
    log.append(records(b"a", b"b", b"c"))
    log.delete_records(before_offset)
    assert (log.log_start_offset, log.log_end_offset) == (start, 3)
    assert offsets(log.read_all()) == list(range(start, 3))
    log.delete_records(1)
    assert log.log_start_offset == max(start, 1)


def test_an_emptied_log_goes_on_counting():
    """Offsets are never used twice."""
    log = PartitionLog()
    log.append(records(b"a", b"b"))
    log.delete_records(2)
    assert (log.size_in_bytes, log.first_since(0)) == (0, None)
    assert log.append(records(b"c")) == 2
    assert offsets(log.read(2, 1000)) == [2]


@pytest.mark.parametrize(
    ("now_ms", "start", "setting"),
    [(130, 0, None), (131, 2, "retention.ms"), (140, 2, "retention.ms"), (141, 4, "retention.ms")],
)
def test_retention_by_time_goes_up_to_the_first_young_record(now_ms, start, setting):
    """Records older than retention.ms go, strictly; an old one behind a young one stays."""
    log = PartitionLog(retention_ms=100)
    log.append(stamped(30, 10, 40, 20))
    assert log.delete_old_records(now_ms) == setting
    assert log.log_start_offset == start


@pytest.mark.parametrize(
    ("retention_bytes", "start", "setting"),
    [(6, 0, None), (5, 0, None), (4, 1, "retention.bytes"), (0, 3, "retention.bytes")],
)
def test_retention_by_size_keeps_at_least_that_much(retention_bytes, start, setting):
    """As in Kafka, nothing goes that would leave less than retention.bytes."""
    log = PartitionLog(retention_bytes=retention_bytes)
    log.append(records(b"aa", b"bb", b"cc"))
    assert log.delete_old_records(10**12) == setting
    assert log.log_start_offset == start


@pytest.mark.parametrize(
    ("now_ms", "setting"),
    [(100, "retention.bytes"), (120, "retention.bytes"), (131, "retention.ms")],
)
def test_retention_names_the_setting_that_reached_further(now_ms, setting):
    """By size the first two records go at any time; by age first none, then one, then all."""
    log = PartitionLog(retention_ms=100, retention_bytes=1)
    log.append(stamped(10, 20, 30))
    assert log.delete_old_records(now_ms) == setting


@pytest.mark.parametrize(
    ("settings", "times_ms", "due_ms"),
    [
        ({}, (30,), None),
        ({"retention_ms": 100}, (), None),
        ({"retention_ms": 100}, (30, 10), 131),
        ({"retention_bytes": 1}, (30,), None),
        ({"retention_bytes": 1}, (30, 40), 0),
        ({"retention_ms": 100, "retention_bytes": 5}, (30, 40), 131),
    ],
    ids=str,
)
def test_a_log_says_when_something_can_go(settings, times_ms, due_ms):
    """Without a limit, or with nothing over it, no check is needed."""
    log = PartitionLog(**settings)
    log.append(stamped(*times_ms))
    assert log.deletable_from_ms() == due_ms


class ModelLog:
    """The same in the simplest way: a list, and loops over all of it."""

    def __init__(self, retention_ms, retention_bytes):
        self.retention_ms, self.retention_bytes = retention_ms, retention_bytes
        self.all, self.start = [], 0

    def read(self, offset, max_bytes, *, min_one_record):
        found, size = [], 0
        for record in self.all[offset:]:
            size += max(record.size_in_bytes, 1)
            if size > max_bytes and not (min_one_record and not found):
                break
            found.append(record)
        return tuple(found)

    def drop_while(self, condition):
        while self.start < len(self.all) and condition():
            self.start += 1

    def size_from(self, offset):
        return sum(max(record.size_in_bytes, 1) for record in self.all[offset:])

    def retain(self, now_ms):
        if self.retention_ms >= 0:
            limit_ms = now_ms - self.retention_ms
            self.drop_while(lambda: self.all[self.start].timestamp_ms < limit_ms)
        if self.retention_bytes >= 0:
            self.drop_while(lambda: self.size_from(self.start + 1) >= self.retention_bytes)


NUMBERS = st.integers(0, 30)
VALUES = st.none() | st.binary(max_size=4)
STEPS = st.one_of(
    st.tuples(st.just("append"), st.lists(st.tuples(NUMBERS, VALUES), max_size=5)),
    st.tuples(st.just("delete"), NUMBERS),
    st.tuples(st.just("retain"), st.integers(0, 60)),
)


@given(
    st.integers(-1, 30), st.integers(-1, 12), st.lists(STEPS, max_size=12), NUMBERS, st.booleans()
)
def test_a_log_does_what_a_plain_list_does(retention_ms, retention_bytes, steps, limit, at_least):
    """After any appends, deletions, retention and faults, every read and search agrees."""
    log = PartitionLog(retention_ms=retention_ms, retention_bytes=retention_bytes)
    model = ModelLog(retention_ms, retention_bytes)
    for step, value in steps:
        if step == "append":
            base = len(model.all)
            assert log.append(Record(-1, time, None, data) for time, data in value) == base
            new = [Record(base + i, *pair[:1], None, pair[1]) for i, pair in enumerate(value)]
            model.all += new
        elif step == "delete":
            log.delete_records(value)
            model.drop_while(lambda value=value: model.start < value)
        else:
            before, due_ms = model.start, log.deletable_from_ms()
            setting = log.delete_old_records(value)
            model.retain(value)
            moved = model.start > before
            assert (setting is not None) is moved
            assert moved is (due_ms is not None and due_ms <= value)
    end = len(model.all)
    assert (log.log_start_offset, log.high_watermark, log.log_end_offset) == (
        model.start,
        end,
        end,
    )
    assert log.size_in_bytes == model.size_from(model.start)
    assert log.read_all() == model.all[model.start :]
    for offset in range(model.start, end + 1):
        found = model.read(offset, limit, min_one_record=at_least)
        assert log.read(offset, limit, min_one_record=at_least) == found
    for time_ms in range(32):
        young = (each for each in model.all[model.start :] if each.timestamp_ms >= time_ms)
        assert log.first_since(time_ms) == next(young, None)
