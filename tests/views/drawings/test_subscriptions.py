"""The drawing of subscriptions: rows of numbers, a bar, names that stay text."""

import re

from kafkalearn import scenarios
from kafkalearn.trace import Trace
from kafkalearn.views import subscriptions
from kafkalearn.views.drawings import subscriptions as drawn
from kafkalearn.views.language import Say


def final(trace, lang="en"):
    """Draw the last frame."""
    return drawn.draw(subscriptions.frames(trace)[-1], Say(lang))


def cells(row):
    """Give the texts of a row's cells."""
    return [re.sub(r"<[^>]*>", "", each) for each in re.findall(r"<td[^>]*>(.*?)</td>", row)]


def one_position(partition=1, **detail):
    """Record a log of ten records, the first two of them deleted, and one consumer's position."""
    trace = Trace("one")
    trace.record("append", 1, "b", topic="t", partition=partition, offset=0, detail={"count": 10})
    trace.record("retention", 2, "b", topic="t", partition=partition, offset=2)
    trace.record("position", 3, "c1", topic="t", partition=partition, offset=6, detail=detail)
    return trace


def test_a_row_for_each_partition():
    """A consumer's name stands in its first row."""
    rows = final(scenarios.second_member_joins(partitions=4))[1:-1]
    assert [cells(row) for row in rows] == [
        ["c1", "orders-0", "2", "2", "2", "0", ""],
        ["", "orders-1", "2", "2", "2", "0", ""],
        ["c2", "orders-2", "2", "2", "2", "0", ""],
        ["", "orders-3", "2", "2", "2", "0", ""],
    ]


def test_the_bar_begins_where_the_log_begins():
    """Half of what the log holds is read; who cannot see it hears it."""
    bar = final(one_position())[1]
    assert 'aria-label="4 of 8 read"' in bar
    assert re.findall(r'<rect width="(\d+)"', bar) == ["90", "45"]


def test_no_bar_without_a_log():
    """An unknown end, or an empty log, has nothing to draw."""
    trace = Trace("one")
    trace.record("position", 1, "c1", topic="t", partition=0, offset=6)
    assert "<svg" not in "".join(final(trace))
    assert cells(final(trace)[1]) == ["c1", "t-0", "6", "–", "?", "?", ""]


def test_words_stand_beside_what_is_odd():
    """Paused, crashed, and nothing at all are words, not colours."""
    trace = one_position(paused=True)
    assert cells(final(trace)[1])[1] == "t-1 paused"
    trace.record("fault", 4, "c1", detail={"fault": "crash"})
    trace.record("assigned", 5, "c2")
    assert [cells(row)[0] for row in final(trace)[1:3]] == ["c1 crashed", "c2"]
    assert cells(final(trace)[2])[1] == "nothing"


def test_only_the_row_that_changed_is_a_new_piece():
    """The pieces of partitions that nothing happened to are those of the frame before."""
    trace = one_position()
    trace.record("position", 4, "c1", topic="t", partition=0, offset=0)
    before = final(trace)
    trace.record("commit", 5, "c1", topic="t", partition=1, offset=5)
    now = final(trace)
    assert [old == new for old, new in zip(before, now, strict=True)] == [True, True, False, True]


def test_what_is_left_out_is_counted():
    """A consumer with more partitions than rows says how many."""
    trace = Trace("many")
    trace.record("assigned", 1, "c1", detail={"partitions": {"t": list(range(30))}})
    trace.record("assigned", 2, "c2")
    assert cells(final(trace)[25])[1] == "and 6 more"
    assert final(trace)[-1] == '<p class="kl-none">and 1 more</p>'


def test_nobody_is_said_to_have_nothing():
    """Before the first consumer a sentence stands in place of the table."""
    trace = Trace("x")
    trace.record("poll", 1, "c1", group_id="g")
    assert final(trace) == ['<p class="kl-none">no consumer has a partition</p>']
