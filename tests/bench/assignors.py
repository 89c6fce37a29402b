"""The assignors against kafka-python's and aiokafka's, and what they and the import cost."""

import subprocess
import sys
import tracemalloc
from collections.abc import Iterator

from kafkalearn.assignors import assignor
from tests.bench import groups, peers
from tests.bench.measure import Row, alone, ratio


def rows() -> Iterator[Row]:
    """Every case, as it is measured."""
    yield from _range_and_round_robin()
    yield from _sticky_equal()
    yield from _sticky_unequal()
    yield _memory()
    yield _import()


def _against_peers(name: str, case: str, counts, group, *, aim: float, slow: bool = False) -> Row:
    ours = assignor(name)
    wanted = sum(counts.values())

    def gave_everything(answer: object) -> None:
        given = sum(peers.sizes(answer).values())
        assert given == wanted, f"a peer gave {given} of {wanted} partitions"

    return ratio(
        f"{name}, {case}",
        lambda: ours.assign(counts, group),
        {
            "kafka-python": (peers.kafka_python(name, counts, group), gave_everything),
            "aiokafka": (peers.aiokafka(name, counts, group), gave_everything),
        },
        aim=aim,
        slow=slow,
    )


def _range_and_round_robin() -> Iterator[Row]:
    counts, group = groups.equal(2_000, 20_000)
    yield _against_peers("range", "2,000 members, 20,000 partitions", counts, group, aim=3)
    yield _against_peers("roundrobin", "2,000 members, 20,000 partitions", counts, group, aim=2)


def _sticky_equal() -> Iterator[Row]:
    sticky = assignor("sticky")
    counts, group = groups.equal(1_000, 10_000)
    left = groups.one_left(group, sticky.assign(counts, group))
    case = "equal subscriptions, 1,000 x 10,000"
    yield _against_peers("sticky", f"{case}, fresh", counts, group, aim=1_000, slow=True)
    yield _against_peers("sticky", f"{case}, one left", counts, left, aim=1_000, slow=True)
    counts, group = groups.equal(2_000, 20_000)
    left = groups.one_left(group, sticky.assign(counts, group))
    case = "sticky, equal subscriptions, 2,000 x 20,000"
    yield alone(f"{case}, fresh", lambda: sticky.assign(counts, group), aim=25)
    yield alone(f"{case}, one left", lambda: sticky.assign(counts, left), aim=40)


def _sticky_unequal() -> Iterator[Row]:
    sticky = assignor("sticky")
    counts, group = groups.unequal(200, 2_000, 20)
    case = "unequal subscriptions, 200 x 2,000, fresh"
    yield _against_peers("sticky", case, counts, group, aim=200, slow=True)
    counts, group = groups.unequal(500, 5_000, 50)
    left = groups.one_left(group, sticky.assign(counts, group))
    case = "sticky, unequal subscriptions, 500 x 5,000"
    yield alone(f"{case}, fresh", lambda: sticky.assign(counts, group), aim=20)
    yield alone(f"{case}, one left", lambda: sticky.assign(counts, left), aim=20)
    counts, group = groups.unequal(2_000, 20_000, 100)
    worst = groups.one_owns_all(counts, group)
    case = "sticky, unequal subscriptions, 2,000 x 20,000, one owned all"
    yield alone(case, lambda: sticky.assign(counts, worst), aim=200)


def _memory() -> Row:
    counts, group = groups.unequal(2_000, 20_000, 100)
    worst = groups.one_owns_all(counts, group)
    tracemalloc.start()
    assignor("sticky").assign(counts, worst)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return Row("traced peak of that case", peak, "MB", 60)


def _import() -> Row:
    program = (
        "import time; started = time.perf_counter(); import kafkalearn; "
        "print((time.perf_counter() - started) * 1000)"
    )
    taken = [
        float(
            subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout
        )
        for _ in range(7)
    ]
    return Row("import kafkalearn, fastest of 7 fresh processes", min(taken), "ms", 100)
