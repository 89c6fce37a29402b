"""Plays recorded request sequences to our coordinator and finds the first difference.

A member's id is made up by the coordinator, so the recordings have symbols: `m1` is the first id
that client `c1` was told, `m1.2` its second. Requests are translated while playing, answers after.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kafkalearn.broker.broker_config import BrokerConfig
from kafkalearn.broker.broker_context import BrokerContext
from kafkalearn.broker.group_coordinator import GroupCoordinator
from kafkalearn.broker.group_state import GroupState
from kafkalearn.broker.offset_store import OffsetStore
from kafkalearn.config import configure
from kafkalearn.engine.event_loop import EventLoop, Timer
from kafkalearn.profile import KafkaProfile
from kafkalearn.protocol.message import Response
from tests.conformance.messages import answer_of, request_of

MAX_TIME_MS = 100 * 86_400_000
Step = dict[str, Any]
_EVENTFUL = ("state", "members", "generation", "pending_members")  # a change of these is an event


class MemoryLog:
    """Accepts every write at once, as the log of the recordings did."""

    def __init__(self) -> None:
        self.partitions: dict[int, list[Any]] = {}

    def append(self, partition, records):
        """Keep them."""
        self.partitions.setdefault(partition, []).extend(records)

    def read_all(self, partition):
        """Give them back."""
        return self.partitions.get(partition, [])


@dataclass
class Played:
    """What came of one step: the answer when it came, and the group after the step."""

    step: Step
    response: Response | None = None
    answered_at_step: int | None = None
    answered_at_ms: int | None = None
    after: Step = field(default_factory=dict)
    events: list[Step] = field(default_factory=list)


class Player:
    """One coordinator, all of whose partitions are here, in virtual time."""

    def __init__(self, sequence: Step, profile: KafkaProfile) -> None:
        self.sequence = sequence
        self.profile = profile
        self.loop = EventLoop(max_time_ms=MAX_TIME_MS)
        self.told: dict[str, list[str]] = {}
        self.played: list[Played] = []
        self._watching: Callable[[], None] = lambda: None
        config = configure(BrokerConfig, profile.version, given=sequence["config"])
        context = BrokerContext(
            node="broker-0",
            config=config,
            profile=profile,
            timers=self,
            record=lambda kind, now_ms, **columns: None,
            random=random.Random(0),
        )
        store = OffsetStore(MemoryLog(), config.offsets_topic_num_partitions)
        self.coordinator = GroupCoordinator(context, store)
        self.coordinator.startup(0)
        for partition in range(config.offsets_topic_num_partitions):
            self.coordinator.handle_group_immigration(partition, 0)

    def call_at(self, time_ms: int, callback: Callable[[int], object]) -> Timer:
        """Set a timer, after which the group is looked at."""

        def task() -> None:
            callback(self.loop.now_ms)
            self._watching()

        return self.loop.call_at(time_ms, task)

    def play(self, limit: int) -> None:
        """Play the steps before step number `limit`."""
        for number, step in enumerate(self.sequence["steps"], start=1):
            if step["step"] >= limit:
                return
            result = Played(step)
            self.played.append(result)
            if step["request"] == "wait":
                self._wait(result)
            else:
                self._send(result, number)
            result.after = self.look(step.get("group_id"))

    def _send(self, result: Played, number: int) -> None:
        step = result.step
        client = step["client"]

        def reply(response: Response) -> None:
            result.response = response
            result.answered_at_step = self.played[-1].step["step"]
            result.answered_at_ms = self.loop.now_ms
            member_id = getattr(response, "member_id", "")
            echoed = getattr(request, "member_id", "")
            if member_id not in ("", echoed, *self.told.setdefault(client, [])):
                self.told[client].append(member_id)

        request = request_of(step, self.sequence["group_id"], self.id_of)
        self.coordinator.handle(request, self.loop.now_ms, reply)
        self.loop.run_until(self.loop.now_ms)

    def _wait(self, result: Played) -> None:
        group_id = result.step.get("group_id")
        last = self.look(group_id)

        def watch() -> None:
            nonlocal last
            now = self.look(group_id)
            if any(now.get(key) != last.get(key) for key in _EVENTFUL):
                result.events.append({"at_ms": self.loop.now_ms, **now})
            last = now

        self._watching = watch
        self.loop.run_until(self.loop.now_ms + result.step["ms"])
        self._watching = lambda: None

    def look(self, group_id: str | None = None) -> Step:
        """See the group as the recordings' `after` tells it, with our own ids."""
        group = self.coordinator.groups.get(
            self.sequence["group_id"] if group_id is None else group_id
        )
        if group is None:
            return {"state": "none"}
        return {
            "state": group.state,
            "members": len(group.members),
            "generation": group.generation_id,
            "leader": group.leader_id,
            "pending_members": list(group.pending_members),
        }

    def id_of(self, symbol: str) -> str:
        """Turn a symbol into the id that it stands for; anything else stays."""
        client, _, nth = symbol.partition(".")
        ids = self.told.get(f"c{client[1:]}", [])
        index = int(nth or 1) - 1
        return ids[index] if client[:1] == "m" and index < len(ids) else symbol

    def symbols(self) -> dict[str, str]:
        """Say which symbol each id that was told has."""
        return {
            member_id: f"m{client[1:]}" + (f".{index + 1}" if index else "")
            for client, ids in self.told.items()
            for index, member_id in enumerate(ids)
        }


def first_difference(sequence: Step, profile: KafkaProfile, limit: int) -> str:
    """Play a sequence up to a step and say where it differs; '' if nowhere."""
    player = Player(sequence, profile)
    try:
        player.play(limit)
    except Exception as error:
        return f"step {len(player.played)}: {type(error).__name__}: {error}"
    tolerance_ms = sequence.get("tolerance_ms", 0)
    symbols = player.symbols()
    for result in player.played:
        for what, ours, theirs in _compared(result, symbols, player.played[-1].step["step"]):
            if not _equal(what, ours, theirs, tolerance_ms):
                request = result.step["request"]
                return f"step {result.step['step']} {request}: {what} is {ours}, Kafka: {theirs}"
    return ""


def _compared(result: Played, symbols: dict[str, str], last: int):
    """Give (what, ours, Kafka's) for everything that a step tells and that does not vary."""
    step = result.step
    varies = set(step.get("varies", ()))
    expected = step.get("answer")
    if expected is not None:
        at = expected.get("answered_at_step", step["step"])
        if at is None or at > last:
            yield "answered_at_step", result.answered_at_step, None
        else:
            yield "answered_at_step", result.answered_at_step, at
            ours = answer_of(result.response, step, symbols)
            ours["answered_at_ms"] = result.answered_at_ms
            for key, theirs in expected.items():
                if key not in varies and theirs != "varies" and key != "answered_at_step":
                    yield key, ours.get(key), theirs
    yield from _snapshots(result.after, step.get("after", {}), symbols, varies)
    if "events" in step:
        yield "events", [e["at_ms"] for e in result.events], [e["at_ms"] for e in step["events"]]
        for ours, theirs in zip(result.events, step["events"], strict=False):
            yield from _snapshots(ours, theirs, symbols, varies)


def _snapshots(ours: Step, theirs: Step, symbols: dict[str, str], varies: set[str]):
    for key, value in theirs.items():
        if key in varies or value in ("varies", "?"):
            continue
        mine = ours.get(key)
        if key == "state":
            yield key, mine, value if value == "none" else GroupState.of(value)
        elif key == "leader":
            yield key, symbols.get(mine, "?"), value
        elif key == "pending_members" and isinstance(value, list):
            named = [symbols.get(each, "?") for each in mine or ()]
            yield key, sorted(named), sorted(value)
        elif key == "pending_members":
            yield key, len(mine or ()), value
        else:
            yield key, mine, value


def _equal(what: str, ours: Any, theirs: Any, tolerance_ms: int) -> bool:
    if what in ("answered_at_ms", "at_ms") and ours is not None:
        return abs(ours - theirs) <= tolerance_ms
    if what == "events":
        return len(ours) == len(theirs) and all(
            abs(a - b) <= tolerance_ms for a, b in zip(ours, theirs, strict=True)
        )
    return bool(ours == theirs)
