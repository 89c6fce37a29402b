"""Sets of offsets as spans: a log may have millions of records, what is done of it few gaps.

Spans are pairs ``(first, end)`` in order, end exclusive, that neither overlap nor touch.
"""

Span = tuple[int, int]
Spans = list[Span]

_NAMED = 3  # of more spans the rest is an ellipsis


def add(spans: Spans, span: Span) -> Spans:
    """Give them with this one too."""
    first, end = span
    if end <= first:
        return spans
    apart = [each for each in spans if each[1] < first or each[0] > end]
    merged = [each for each in spans if each[1] >= first and each[0] <= end]
    return sorted([*apart, (min([first, *dict(merged)]), max([end, *dict(merged).values()]))])


def cut(spans: Spans, span: Span) -> Spans:
    """Give them without this part."""
    first, end = span
    if end <= first:
        return spans
    left = [(low, min(high, first)) for low, high in spans if low < first]
    return [*left, *((max(low, end), high) for low, high in spans if high > end)]


def minus(spans: Spans, others: Spans) -> Spans:
    """Give what is in the first and not in the second."""
    if not others or not spans:
        return spans
    ends = [min(spans[0][0], others[0][0]), *(end for _, end in others)]
    firsts = [*(first for first, _ in others), max(spans[-1][1], others[-1][1])]
    return common(spans, list(zip(ends, firsts, strict=True)))


def common(spans: Spans, others: Spans) -> Spans:
    """Give what is in both."""
    found, at, other_at = [], 0, 0
    while at < len(spans) and other_at < len(others):
        (low, high), (first, end) = spans[at], others[other_at]
        if max(low, first) < min(high, end):
            found.append((max(low, first), min(high, end)))
        if high < end:
            at += 1
        else:
            other_at += 1
    return found


def clip(spans: Spans, span: Span) -> Spans:
    """Cut off what is outside of one span."""
    first, end = span
    parts = [(max(low, first), min(high, end)) for low, high in spans]
    return [(low, high) for low, high in parts if low < high]


def holds(spans: Spans, offset: int) -> bool:
    """Whether an offset is in one of them."""
    return any(low <= offset < high for low, high in spans)


def size(spans: Spans) -> int:
    """How many offsets they hold."""
    return sum(high - low for low, high in spans)


def told(spans: Spans) -> str:
    """Say ``3``, ``3–5``, ``3–5, 8``; of many spans the first ones."""
    named = [f"{low:,}" if high == low + 1 else f"{low:,}–{high - 1:,}" for low, high in spans]
    return ", ".join(named[:_NAMED] + ["…"] * (len(named) > _NAMED))
