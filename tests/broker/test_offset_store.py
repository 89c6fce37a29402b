import json

import pytest

from kafkalearn.broker.group_metadata import CommittedOffset, GroupMetadata
from kafkalearn.broker.group_state import GroupState
from kafkalearn.broker.offset_store import OffsetStore, java_abs, java_hash
from kafkalearn.records import TopicPartition
from tests.broker.groups import EVERY_PROFILE, Groups, MemoryLog

LEAST_INT = -(2**31)
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def stored(*, partitions=1):
    """Make a store with its log."""
    log = MemoryLog()
    return OffsetStore(log, partitions), log


def loaded(store, partition=0, now_ms=0):
    """Read a partition back: group id -> group."""
    return {each.group_id: each for each in store.load(partition, now_ms)}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", 0),
        ("a", 97),
        ("ab", 31 * 97 + 98),
        ("test", 3556498),
        ("polygenelubricants", LEAST_INT),
        ("zzzzzz", -685785664),
        ("ÿ", 255),
        ("消费者组", 871131088),
        ("𝄞", 31 * 0xD834 + 0xDD1E),
        ("a😀", (97 * 31 + 0xD83D) * 31 + 0xDE00),
    ],
)
def test_a_name_is_hashed_as_java_does(text, number):
    """31 times what was before plus the next UTF-16 unit, in 32 bits; a 𝄞 is two units."""
    assert java_hash(text) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [("\ud800", 0xD800), ("x\udfff", 31 * 120 + 0xDFFF), ("\udc00\ud800", 31 * 0xDC00 + 0xD800)],
)
def test_halves_of_surrogate_pairs_have_a_hash(text, number):
    """Java's strings may hold them, alone and in the wrong order."""
    assert java_hash(text) == number


@pytest.mark.parametrize(
    ("number", "absolute"), [(LEAST_INT, 0), (LEAST_INT + 1, 2**31 - 1), (-1, 1), (0, 0), (7, 7)]
)
def test_the_least_int_has_the_absolute_value_zero(number, absolute):
    """Java's own Math.abs would give it back, negative as it is."""
    assert java_abs(number) == absolute


@pytest.mark.parametrize("name", ["polygenelubricants", "zzzzzz", "𝄞", "消费者组", "g"])
@pytest.mark.parametrize("partitions", [1, 7, 50, 1000])
def test_every_group_has_a_partition(name, partitions):
    """It is between 0 and the number of partitions, for negative hashes as well."""
    store, _ = stored(partitions=partitions)
    number = store.partition_for(name)
    assert number == java_abs(java_hash(name)) % partitions
    assert number in range(partitions)


def test_the_last_record_of_a_key_holds():
    """An offset that was committed twice is the second one; None takes it back."""
    store, log = stored()
    group = GroupMetadata("g", 0)
    store.store_offsets(
        group, {T0: CommittedOffset(1, "", 10), T1: CommittedOffset(5, "n", 10)}, 10
    )
    store.store_offsets(group, {T0: CommittedOffset(2, "", 20, 99)}, 20)
    assert loaded(store)["g"].offsets == {
        T0: CommittedOffset(2, "", 20, 99),
        T1: CommittedOffset(5, "n", 10, None),
    }
    store.store_offsets(group, {T1: None}, 30)
    assert loaded(store)["g"].offsets == {T0: CommittedOffset(2, "", 20, 99)}
    assert [record.timestamp_ms for record in log.read_all(0)] == [10, 10, 20, 30]


def test_a_group_without_members_is_loaded_empty():
    """What only stores offsets has no type, and generation 0."""
    store, _ = stored()
    store.store_offsets(GroupMetadata("g", 0), {T0: CommittedOffset(1, "", 0)}, 0)
    group = loaded(store, now_ms=500)["g"]
    assert (group.state, group.protocol_type, group.generation_id) == (GroupState.EMPTY, None, 0)
    assert (group.state_since_ms, group.is_stored) == (500, True)


def test_what_a_group_has_agreed_on_is_loaded():
    """Members in their order, with their assignment, timeouts and the chosen metadata."""
    groups = Groups(offsets_topic_num_partitions=1)
    groups.until(70)
    groups.form("a", "b", offers={"range": "meta", "sticky": "other"}, session_timeout_ms=7000)
    groups.until(90)
    store = OffsetStore(groups.log, 1)
    group = loaded(store, now_ms=90)["g"]
    assert (group.state, group.generation_id) == (GroupState.STABLE, 1)
    assert (group.protocol_type, group.protocol_name) == ("consumer", "range")
    assert group.leader_id == groups.id("a")
    assert [
        (
            each.member_id,
            each.client_id,
            each.session_timeout_ms,
            each.rebalance_timeout_ms,
            each.supported_protocols,
            each.assignment,
        )
        for each in group.members.values()
    ] == [
        (groups.id(name), name, 7000, 60_000, (("range", "meta"),), f"of {name}") for name in "ab"
    ]


def test_the_time_since_a_group_is_empty_is_loaded():
    """A failover does not give old offsets a second life."""
    groups = Groups("2.3", offsets_topic_num_partitions=1)
    groups.form("a")
    groups.until(1234)
    groups.leave("a")
    group = loaded(OffsetStore(groups.log, 1), now_ms=9999)["g"]
    assert (group.state, group.state_since_ms) == (GroupState.EMPTY, 1234)


def test_a_forgotten_group_is_not_loaded():
    """Neither it nor any offset of it, while its neighbour in the partition stays."""
    store, _ = stored()
    group, other = GroupMetadata("g", 0), GroupMetadata("h", 0)
    for each in (group, other):
        each.offsets[T0] = CommittedOffset(1, "", 0)
        store.store_offsets(each, each.offsets, 0)
        store.store_group(each, {}, 0)
    store.forget_group(group, 5)
    assert list(loaded(store)) == ["h"]
    store.store_offsets(group, {T1: CommittedOffset(2, "", 6)}, 6)
    assert loaded(store)["g"].offsets == {T1: CommittedOffset(2, "", 6)}


def test_groups_of_one_partition_are_kept_apart():
    """Names that look like each other's keys do not mix."""
    store, _ = stored()
    for name in ("g", "g ", '"g"', "g,t"):
        store.store_offsets(GroupMetadata(name, 0), {T0: CommittedOffset(len(name), "", 0)}, 0)
    found = {name: each.offsets[T0].offset for name, each in loaded(store).items()}
    assert found == {"g": 1, "g ": 2, '"g"': 3, "g,t": 3}


def test_records_are_readable_json():
    """Key and value are JSON text, so that a trace and a learner can read them."""
    store, log = stored()
    store.store_offsets(GroupMetadata("消费者", 0), {T0: CommittedOffset(1, "备注", 2, 3)}, 2)
    (record,) = log.read_all(0)
    assert json.loads(record.key) == ["offset", "消费者", "t", 0]
    assert json.loads(record.value) == [1, "备注", 2, 3]


def test_a_partition_knows_whether_anything_was_written():
    """A partition without records needs no loading."""
    store, _ = stored(partitions=50)
    assert store.is_empty(48)
    store.store_group(GroupMetadata("test", 0), {}, 0)
    assert (store.is_empty(48), store.is_empty(47)) == (False, True)


@pytest.mark.parametrize("profile", EVERY_PROFILE)
@pytest.mark.parametrize("name", ["消费者组", "😀" * 50, "a b\n\t", "null", "\\\"'", "\x00"])
def test_any_unicode_name_survives_a_failover(profile, name):
    """Group id, client id and metadata are whatever text a client likes."""
    groups = Groups(profile)
    groups.commit(offset=3, metadata=name, group_id=name)
    groups.fail_over()
    groups.wait()
    (fetched,) = groups.fetch(T0, group_id=name).response.partitions.values()
    assert (fetched.offset, fetched.metadata) == (3, name)


def test_half_a_surrogate_pair_is_taken_like_any_other_name():
    """Differs from Kafka: Java writes a question mark for it."""
    groups = Groups()
    assert groups.commit(group_id="\ud800", metadata="\udfff").error == "NONE"
    groups.fail_over()
    groups.wait()
    (fetched,) = groups.fetch(T0, group_id="\ud800").response.partitions.values()
    assert (fetched.offset, fetched.metadata) == (1, "\udfff")
