"""Traces for tests: a small story, and any trace at all."""

from hypothesis import strategies as st

from kafkalearn.trace import COLUMNS, KINDS, REQUIRED, Trace

LONG = 2**63
TEXT = st.text(max_size=8)  # any Unicode but surrogates, which UTF-8 cannot hold
NUMBER = st.integers(-LONG, LONG - 1)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBER | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
OPTIONAL = {
    name: st.none() | (NUMBER if type_ is int else TEXT)
    for name, type_ in COLUMNS.items()
    if name not in REQUIRED
} | {"detail": st.none() | st.dictionaries(TEXT, JSON, max_size=3)}
EVENT = st.tuples(
    st.sampled_from(sorted(KINDS)),
    st.integers(0, LONG - 1),
    TEXT,
    st.fixed_dictionaries({}, optional=OPTIONAL),
)


@st.composite
def traces(draw):
    """Any trace: of no event, of the same text again and again, with absent and empty columns."""
    few = draw(st.lists(EVENT, max_size=4))
    trace = Trace(draw(TEXT))
    for at in draw(st.lists(st.integers(0, len(few) - 1), max_size=8)) if few else []:
        kind, time_ms, node, columns = few[at]
        trace.record(kind, time_ms, node, **columns)
    return trace


def story() -> Trace:
    """A member joins, is given partitions, and loses a commit."""
    trace = Trace("joins profile=1.0 seed=0")
    join = {"api": "JoinGroup", "correlation_id": 4, "group_id": "billing"}
    trace.record("send", 0, "c1", peer="broker-0", **join, detail={"fields": {"member_id": ""}})
    trace.record("receive", 1, "broker-0", peer="c1", **join)
    detail = {"from": "Empty", "to": "PreparingRebalance", "reason": "c1 is new"}
    trace.record("group_state", 1, "broker-0", group_id="billing", generation=0, detail=detail)
    trace.record("respond", 3001, "broker-0", peer="c1", **join, generation=1)
    trace.record("response", 3002, "c1", peer="broker-0", **join, generation=1)
    given = {"partitions": {"orders": [0, 2]}}
    trace.record("assigned", 3002, "c1", group_id="billing", generation=1, detail=given)
    commit = {"topic": "orders", "partition": 2, "offset": 7, "error": "ILLEGAL_GENERATION"}
    trace.record("commit", 3100, "c1", **commit, detail={"mode": "sync"})
    return trace
