"""Whole clients: an hour of a busy group, reading a full log, consumers that join one by one.

The hours run in processes of their own, one after the other: each one's memory is its own, and none
slows the other down. What counts is processor time.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator

from kafkalearn.simulation import Simulation
from tests.bench.measure import Row, peak_megabytes

HOUR_MS = 3_600_000
REDUCED = ("group_state", "client_state", "assigned", "revoked", "commit")
RECORDS = 200_000


def rows() -> Iterator[Row]:
    """Every case, as it is measured."""
    reduced, full = map(_hour_of, ("reduced", "full"))
    case = "an hour of 20 consumers, 60 partitions, 100 records/s"
    notes = {"requests": f"{reduced['requests']:,}", "events": f"{reduced['events']:,}"}
    yield Row(f"{case}; trace reduced", reduced["seconds"], "s", 20, notes=notes)
    yield Row("its memory, at most", reduced["megabytes"], "MB", 200)
    each = reduced["seconds"] / reduced["requests"] * 1e6
    yield Row("its requests, all included", each, "µs each", 25)
    notes = {"events": f"{full['events']:,}", "memory": f"{full['megabytes']:,.0f} MB"}
    yield Row(f"{case}; trace in full", full["seconds"], "s", 25, notes=notes)
    yield _full_log()
    yield _one_by_one()


def hour(record: str, *, until_ms: int = HOUR_MS) -> dict[str, float]:
    """Run it and measure: process seconds, megabytes at most, requests, events."""
    kept = {"kinds": REDUCED} if record == "reduced" else None
    sim = Simulation(record=kept, max_events=10**9)
    sim.create_topic("orders", 60)
    processed = []

    def consume() -> None:
        consumer = sim.consumer(group_id="billing")
        consumer.subscribe(["orders"])
        while sim.now_ms < until_ms:
            processed.append(len(consumer.poll(500)))

    def produce() -> None:
        producer = sim.producer()
        while sim.now_ms < until_ms:
            for _ in range(10):
                producer.send("orders", key=str(sim.now_ms), value="x" * 100)
            sim.sleep(100)

    started = time.process_time()
    for number in range(20):
        sim.spawn(consume, node=f"c{number:02}")
    sim.spawn(produce, node="p1")
    sim.run_until(until_ms)
    seconds = time.process_time() - started
    assert sum(processed) > 0.95 * until_ms / 10 - 1_000  # the first come before they have joined
    return {
        "seconds": seconds,
        "megabytes": peak_megabytes(),
        "requests": sum(next(ids) for ids in sim.network.correlation_ids.values()),
        "events": len(sim.trace),
    }


def _hour_of(record: str) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.bench.clients", record]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def _full_log() -> Row:
    sim = Simulation(record={"kinds": REDUCED})
    sim.create_topic("orders", 6)
    producer = sim.producer()
    for number in range(RECORDS):
        producer.send("orders", key=str(number), value="x" * 100)
    producer.close()
    consumer = sim.consumer("c1", group_id="billing", auto_offset_reset="earliest")
    consumer.subscribe(["orders"])
    consumer.poll(0)
    started, count = time.process_time(), 0
    while count < RECORDS - 500:
        count += len(consumer.poll(1000))
    rate = count / (time.process_time() - started)
    return Row("records consumed from a full log", rate, "per second", None, True)


def _one_by_one(members: int = 100) -> Row:
    sim = Simulation(group_initial_rebalance_delay_ms=0)
    sim.create_topic("orders", 200)
    until_ms = members * 6_000

    def consume() -> None:
        consumer = sim.consumer(group_id="billing")
        consumer.subscribe(["orders"])
        while sim.now_ms < until_ms:
            consumer.poll(500)

    started = time.process_time()
    for number in range(members):
        sim.spawn(consume, node=f"c{number:03}")
        sim.sleep(6_000)
    taken = time.process_time() - started
    last = [each.generation for each in sim.trace.where(kind="assigned")][-1]
    assert last == members
    notes = {"virtual time": f"{sim.now_ms / 1000:,.0f} s", "events": f"{len(sim.trace):,}"}
    return Row(f"{members} consumers joining one by one", taken, "s", None, notes=notes)


if __name__ == "__main__":
    print(json.dumps(hour(sys.argv[1])))
