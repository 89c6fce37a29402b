"""What a trace costs: recording an event, keeping it, and turning a million into files and tables.

The events are those of heartbeats: four for a request and its answer, each with a time of its own.
"""

import tempfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

from kafkalearn.trace import Trace
from tests.bench.measure import Row, milliseconds

MANY, MILLION = 20_000, 1_000_000


def rows() -> Iterator[Row]:
    """Every case, as it is measured."""
    taken, _ = milliseconds(lambda: _heartbeats(MANY), rounds=50)
    yield Row("trace, recording", taken * 1e6 / MANY, "ns an event", 400)
    yield _memory()
    trace = _heartbeats(MILLION)
    taken, _ = milliseconds(trace.to_pandas, rounds=5)
    yield Row("trace, a million events to pandas", taken / 1000, "s", 1.5)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        taken, _ = milliseconds(lambda: trace.to_jsonl(path), rounds=3)
        yield Row("trace, a million events to JSON Lines", taken / 1000, "s", 5)
        taken, back = milliseconds(lambda: Trace.from_jsonl(path), rounds=3)
        assert back == trace, "what was read is not what was written"
        yield Row("trace, a million events from JSON Lines", taken / 1000, "s", 5)


def _heartbeats(events: int) -> Trace:
    trace = Trace("bench")
    record = trace.record
    # fmt: off
    for at in range(0, events, 4):
        record("send", at, "c1", api="Heartbeat", peer="broker-0", correlation_id=at,
               group_id="billing", member_id="c1-8a", generation=5)
        record("receive", at + 1, "broker-0", api="Heartbeat", peer="c1", correlation_id=at,
               group_id="billing", member_id="c1-8a", generation=5)
        record("respond", at + 2, "broker-0", api="Heartbeat", peer="c1", correlation_id=at,
               group_id="billing", member_id="c1-8a", generation=5)
        record("response", at + 3, "c1", api="Heartbeat", peer="broker-0", correlation_id=at,
               group_id="billing", member_id="c1-8a", generation=5)
    # fmt: on
    return trace


def _memory() -> Row:
    tracemalloc.start()
    trace = _heartbeats(MANY)
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return Row("trace, keeping", kept / len(trace), "bytes an event", 220)
