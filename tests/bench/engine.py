"""The bare event loop with processes against SimPy, on the same work; no network, no trace."""

from collections.abc import Iterator

import simpy

from kafkalearn.engine import EventLoop, Processes, Signal
from tests.bench.measure import Row, ratio

SLEEPERS, SLEEPS = 100, 2_000
QUESTIONS = 50_000


def rows() -> Iterator[Row]:
    """Every case, as it is measured."""
    case = f"timeouts, {SLEEPERS} processes x {SLEEPS:,}"
    yield _against_simpy(case, _sleep, _simpy_sleep, aim=1)
    case = f"request and reply between two processes, {QUESTIONS:,}"
    yield _against_simpy(case, _ask, _simpy_ask, aim=2)


def _against_simpy(case: str, ours, theirs, *, aim: float) -> Row:
    assert ours() == theirs(), "the two did different work"
    check = {"SimPy": (theirs, lambda answer: None)}
    return ratio(case, ours, check, aim=aim, slow=False)


def _sleep() -> tuple[int, int]:
    """Let each process sleep 1 to 7 ms again and again; the last time, and how many ended."""
    loop = EventLoop()
    processes = Processes(loop)
    node = loop.add_node("node")
    last_ms = []

    def run(ms):
        for _ in range(SLEEPS):
            processes.sleep(ms)
        last_ms.append(loop.now_ms)

    for number in range(SLEEPERS):
        processes.spawn(lambda ms=number % 7 + 1: run(ms), node=node, name="sleeper")
    loop.run_until(10 * SLEEPS)
    return max(last_ms), len(last_ms)


def _simpy_sleep() -> tuple[int, int]:
    environment = simpy.Environment()
    last_ms = []

    def run(ms):
        for _ in range(SLEEPS):
            yield environment.timeout(ms)
        last_ms.append(environment.now)

    for number in range(SLEEPERS):
        environment.process(run(number % 7 + 1))
    environment.run()
    return max(last_ms), len(last_ms)


def _ask() -> tuple[int, int]:
    """Let one process answer the other's questions; the last time, and the sum of the answers."""
    loop = EventLoop()
    processes = Processes(loop)
    node = loop.add_node("node")
    questions, answers = [], []
    asked = Signal(processes, "a question")
    answered = Signal(processes, "an answer")

    def client():
        total = 0
        for number in range(QUESTIONS):
            questions.append(number)
            asked.fire()
            while not answers:
                answered.wait()
            total += answers.pop()
            processes.sleep(1)
        return total

    def server():
        while True:
            while not questions:
                asked.wait()
            answers.append(questions.pop() + 1)
            answered.fire()

    processes.spawn(server, node=node, name="server")
    total = processes.spawn(client, node=node, name="client").join()
    return loop.now_ms, total


def _simpy_ask() -> tuple[int, int]:
    """The same; the answer is an event that comes with the question, faster than a second store."""
    environment = simpy.Environment()
    questions = simpy.Store(environment)

    def client():
        total = 0
        for number in range(QUESTIONS):
            answer = environment.event()
            questions.put((number, answer))
            total += yield answer
            yield environment.timeout(1)
        return total

    def server():
        while True:
            number, answer = yield questions.get()
            answer.succeed(number + 1)

    environment.process(server())
    total = environment.run(environment.process(client()))
    return environment.now, total
