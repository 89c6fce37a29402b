"""Frames of keys and partitions: where each goes, what moves, and the sums behind it."""

import pytest

from kafkalearn.producer.placement import hash_of
from kafkalearn.views.explorers.partitioner import arithmetic, as_text, column, frame, heads, remark


def place(key, partitions):
    """Place a key by its length, and a record without one in the last partition."""
    return partitions - 1 if key is None else len(key) % partitions


def row(key, partition, was=None, hashed=None):
    """Make the row of one key."""
    return {"key": key, "hash": hashed, "partition": partition, "was": was}


def test_each_key_in_its_place():
    """In the order of the keys; without a hash and a count before, neither is told."""
    assert frame(["a", "", None, "four"], 3, place=place) == {
        "partitions": 3,
        "before": None,
        "keys": [row("a", 1), row("", 0), row(None, 2), row("four", 1)],
        "moved": 0,
    }


def test_what_moves_when_there_are_more_partitions():
    """Keys that go elsewhere are counted; a record without a key has no place to move from."""
    made = frame(["a", "", None, "four"], 4, place=place, before=3)
    assert made["keys"] == [row("a", 1, 1), row("", 0, 0), row(None, 3), row("four", 0, 1)]
    assert made["moved"] == 1
    assert [remark(each) for each in made["keys"]] == ["", "empty key", "no key", "from 1"]
    assert column(made, 0) == [row("", 0, 0), row("four", 0, 1)]


def test_the_sums_behind_a_place():
    """Hash, the same without its sign, and the remainder now and before."""

    def by_hash(key, partitions):
        return hash_of(key) % 2**31 % partitions

    made = frame(["bob"], 5, place=by_hash, before=3, hash_of=hash_of)
    assert heads(made) == ["murmur2", "without sign", "mod 5", "before: mod 3"]
    assert arithmetic(made, made["keys"][0]) == ["-2,048,144,690", "99,338,958", "3", "0"]


def test_a_place_that_is_no_remainder_is_not_called_one():
    """A learner's own partitioner may do as it likes."""
    made = frame(["alice"], 5, place=place, hash_of=hash_of)
    assert heads(made) == ["murmur2", "without sign", "of 5"]
    without = frame([None], 2, place=place, before=3, hash_of=hash_of)
    assert arithmetic(without, without["keys"][0]) == ["–", "–", "1", "–"]


def test_the_same_in_words():
    """Aligned lines, in which a wide character takes two columns."""
    made = frame(["bob", "订单", "", None], 4, place=place, before=3, hash_of=hash_of)
    assert as_text(made).splitlines() == [
        "4 partitions: 3 keys, 1 without key, 1 moved since there were 3",
        '   0   1  "" (empty key)',
        "   1   0  -",
        "   2   1  订单",
        "   3   2  bob (from 0), null (no key)",
        "  key          murmur2  without sign  of 4  before: of 3",
        "  bob   -2,048,144,690    99,338,958     3             0",
        "  订单     476,285,782   476,285,782     2             2",
        '  ""       275,646,681   275,646,681     0             0',
        "  null               –             –     3             –",
    ]


def test_no_key_at_all():
    """Empty partitions are there all the same."""
    made = frame([], 2, place=place)
    assert as_text(made).splitlines() == ["2 partitions: 0 keys", "   0   0  -", "   1   0  -"]


@pytest.mark.parametrize("key", ["a\nb", "\u202ekey", "\ud800"])
def test_odd_characters_are_spelled_out(key):
    """So that each line stays one, and can be written."""
    told = as_text(frame([key], 1, place=place))
    assert len(told.splitlines()) == 2
    assert told.encode()
