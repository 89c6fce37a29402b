"""Spans of offsets do what sets of offsets do."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.views.logs.spans import add, clip, common, cut, holds, minus, size, told

OFFSETS = st.sets(st.integers(0, 12))
SPAN = st.tuples(st.integers(0, 13), st.integers(0, 13))


def spans_of(offsets):
    """Give the spans of a set."""
    spans = []
    for offset in sorted(offsets):
        spans = add(spans, (offset, offset + 1))
    return spans


def offsets_of(spans):
    """Give the set, once the spans are seen to be in order and apart."""
    assert all(low < high for low, high in spans)
    assert all(before[1] < after[0] for before, after in pairwise(spans))
    return {offset for low, high in spans for offset in range(low, high)}


@given(OFFSETS, OFFSETS, SPAN)
def test_spans_are_sets(one, other, span):
    """Each operation gives what the set would, in order and as few spans as can be."""
    spans, inside = spans_of(one), set(range(*span))
    assert offsets_of(spans) == one
    assert offsets_of(add(spans, span)) == one | inside
    assert offsets_of(cut(spans, span)) == one - inside
    assert offsets_of(clip(spans, span)) == one & inside
    assert offsets_of(minus(spans, spans_of(other))) == one - other
    assert offsets_of(common(spans, spans_of(other))) == one & other
    assert size(spans) == len(one)
    assert [offset for offset in range(13) if holds(spans, offset)] == sorted(one)


def test_spans_are_told_in_few_words():
    """Single offsets, ranges, and of many the first ones."""
    assert told([(3, 4)]) == "3"
    assert told([(3, 6), (1200, 1201)]) == "3–5, 1,200"
    assert told([(0, 1), (2, 3), (4, 5), (6, 9)]) == "0, 2, 4, …"
