"""Plays one story: the real consumers in a simulation, each call of which comes from a loop.

The loops run on the learner's side. Whoever is waited for there stands still here, and the other
way round, so that a run depends on the story and on what the loops say, and on nothing else.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from kafkalearn.consumer.consumer_records import ConsumerRecord
from kafkalearn.consumer.kafka_consumer import KafkaConsumer
from kafkalearn.engine.node import Node
from kafkalearn.errors import ApiError, CommitFailedError, WakeupError
from kafkalearn.grading.answering.wire import WireError
from kafkalearn.grading.judging.loop_calls import (
    LoopCalls,
    Message,
    StoryOverError,
    UnheardError,
    check_raised,
)
from kafkalearn.grading.judging.loop_story import GROUP, TOPIC, LoopStory
from kafkalearn.simulation import Simulation

MOST_CALLS = 10_000  # in one story; a loop that polls each ms makes half as many
MOST_CALLS_AT_ONCE = 300  # while no virtual time passes
_CONFIG: dict[str, Any] = {
    "group_id": GROUP,
    "auto_offset_reset": "earliest",
    "enable_auto_commit": False,
    "session_timeout_ms": 1000,
    "heartbeat_interval_ms": 300,
    "max_poll_interval_ms": 1500,
}
_LOOK_MS = 100
_REST_MS = 300  # a story is over so long after all records are processed and committed
_LONG_REST_MS = 1000  # or so long after all are processed
_PROGRESS = ["processed", "offset_stored", "assigned", "revoked", "fault", "records_returned"]
# What may end a program, and a supervisor starts it again: the group or a broker said no.
_FROM_OUTSIDE = (CommitFailedError, ApiError, WakeupError)


class StoryRun:
    """One run of a story. `play` gives nothing; the trace is in `sim.trace`."""

    def __init__(self, story: LoopStory, ask: Callable[[Message], Message]) -> None:
        self.story = story
        self.sim = Simulation(
            name=story.check,
            brokers=1,
            faults=story.faults,
            group_initial_rebalance_delay_ms=0,
            group_min_session_timeout_ms=500,
            offsets_topic_num_partitions=1,
        )
        self._calls = self._calls_now = self._called_ms = 0
        self._slow = {(TOPIC, *which): ms for which, ms in story.slow.items()}
        self._sink = self.sim.sink("orders-db")
        self._stopped: set[str] = set()
        self._ask = ask
        self._running: dict[str, KafkaConsumer | None] = {}
        self._waiting = 0  # starts that are still to come
        self._seen = 0
        self._last_ms = 0
        self._stored: dict[int | None, int | None] = {}
        self._processed: set[tuple[int | None, int | None]] = set()

    def play(self) -> None:
        """Let it happen; StoryOverError, and what `ask` raises when nobody answers."""
        sim, story = self.sim, self.story
        try:
            self._set_the_scene()
            end_ms = story.planned_until_ms + story.patience_ms
            while sim.now_ms < end_ms and not self._is_over():
                sim.sleep(_LOOK_MS)
        except UnheardError as unheard:
            raise (unheard.__cause__ or unheard) from None
        finally:
            with suppress(Exception):
                self._ask({"end": True})
            sim.dispose()

    def ask(self, message: Message) -> Message:
        """Hand a loop a message, and give what it says; StoryOverError for what is no answer."""
        try:
            reply = self._ask(message)
        except WireError as error:
            raise StoryOverError("refused", str(error)) from None
        except Exception as error:
            raise UnheardError from error
        if "refused" in reply:
            raise StoryOverError("refused", str(reply["refused"]))
        return reply

    def count_call(self, name: str) -> None:
        """Notice a call; StoryOverError for a loop that calls and calls, and time stands still."""
        now_ms = self.sim.now_ms
        self._calls += 1
        self._calls_now = self._calls_now + 1 if now_ms == self._called_ms else 0
        self._called_ms = now_ms
        if self._calls_now > MOST_CALLS_AT_ONCE or self._calls > MOST_CALLS:
            raise StoryOverError(
                "calls",
                f"your loop goes on calling {name} at {now_ms} ms, after {self._calls:,} calls: "
                "time passes only in poll, process and what waits for an answer",
            )

    def process(self, record: ConsumerRecord) -> None:
        """Let a record have its effect; that takes time."""
        self.sim.sleep(self._slow.pop(record[:3], self.story.work_ms))
        self._sink.write(record)

    def _set_the_scene(self) -> None:
        sim, story = self.sim, self.story
        sim.create_topic(TOPIC, len(story.records))
        producer = sim.producer("p1")
        for number, count in enumerate(story.records):
            for each in range(count):
                producer.send(TOPIC, value=f"order {number}/{each}", partition=number)
        producer.close()
        sim.processes.on_kill.append(self._on_kill)
        for name, at_ms in story.starts.items():
            sim.node(name)
            self._start_at(at_ms, name)
        for name, at_ms in story.stops.items():
            sim.loop.call_at(at_ms, partial(self._stop, name))

    # Who comes and goes.

    def _start_at(self, at_ms: int, name: str) -> None:
        self._waiting += 1

        def start() -> None:
            self._waiting -= 1
            if name not in self._stopped:
                self._running[name] = None
                self.sim.spawn(partial(self._run, name), node=name, name="loop")

        self.sim.loop.call_at(at_ms, start)

    def _stop(self, name: str) -> None:
        self._stopped.add(name)
        if consumer := self._running.get(name):
            consumer.wakeup()

    def _on_kill(self, node: Node) -> None:
        if node.name in self._running:
            del self._running[node.name]
            self.ask({"crash": node.name})
            self._restart(node.name)

    def _restart(self, name: str) -> None:
        if name not in self._stopped:
            self._start_at(self.sim.now_ms + self.story.restart_ms, name)

    def _run(self, name: str) -> None:
        self._running[name] = consumer = self.sim.consumer(**{**_CONFIG, **self.story.config})
        if name in self._stopped:
            consumer.wakeup()
        reply = LoopCalls(self, consumer).serve({"start": name})
        if "raised" in reply:
            error = check_raised(reply, what="loop", allowed=_FROM_OUTSIDE)
            self._log(name, f"the loop ends: {type(error).__name__}: {error}")
        elif name not in self._stopped:
            raise StoryOverError(
                "ended",
                f"your loop ended by itself at {self.sim.now_ms} ms: it goes on until it is told "
                f"to stop, by a WakeupError{_unwanted(reply)}",
            )
        if not consumer.is_closed:
            self._log(name, "the program ends without close()")
            self.sim.crash(name)
        del self._running[name]
        self._restart(name)

    def _log(self, name: str, text: str) -> None:
        self.sim.trace.record("logged", self.sim.now_ms, name, detail={"message": text})

    def _is_over(self) -> bool:
        """Whether all is processed and committed, and nothing planned is left."""
        stored, processed = self._stored, self._processed
        for event in self.sim.trace[self._seen :].where(kind=_PROGRESS):
            if event.kind != "offset_stored":
                self._last_ms = event.time_ms
            if event.kind == "processed":
                processed.add((event.partition, event.offset))
            elif event.kind == "offset_stored" and stored.get(event.partition) != event.offset:
                stored[event.partition], self._last_ms = event.offset, event.time_ms
        self._seen = len(self.sim.trace)
        records = self.story.records
        is_committed = all(stored.get(i, 0) == count for i, count in enumerate(records))
        quiet_ms = self.sim.now_ms - max(self._last_ms, self.story.planned_until_ms)
        return (
            quiet_ms >= (_REST_MS if is_committed else _LONG_REST_MS)
            and not self._waiting
            and not self._stopped & self._running.keys()
            and (len(processed) == sum(records) or not self._running)
        )


def _unwanted(reply: Message) -> str:
    kind = str(reply.get("ended", ""))
    return f"; it gave a {kind[:40]}: a plain function without yield is wanted" if kind else ""
