"""The cluster: heartbeats through network, coordinator and trace, and rebalances of large groups.

Members are scripts: they join, let their leader assign with the range assignor, beat and join
again when they are told to. All figures include the trace, in full.
"""

import json
import time
from collections.abc import Iterator
from functools import partial

import simpy

from kafkalearn.assignors import assignor
from kafkalearn.engine.connection import Inbox
from kafkalearn.errors import Errors
from kafkalearn.protocol.group import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
    SyncGroupRequest,
)
from kafkalearn.records import Subscription
from kafkalearn.simulation import Simulation
from tests.bench.measure import Row

GROUP = "billing"
PROTOCOLS = (JoinGroupRequestProtocol("range", "orders"),)
HEARTBEATS = 50_000
BEAT_MS = 3_000


class Member:
    """One member's loop. It stops beating when it is told to; a group of them shares `counts`."""

    def __init__(self, sim: Simulation, name: str, counts: dict[str, int]) -> None:
        self.sim, self.name, self.counts = sim, name, counts
        self.coordinator = sim.coordinator_of(GROUP)
        self.member_id, self.generation_id, self.assignment = "", -1, ""

    def join(self) -> None:
        """Join and sync; the leader assigns."""
        joined = self.sim.request(
            self.coordinator,
            JoinGroupRequest(
                group_id=GROUP,
                member_id=self.member_id,
                session_timeout_ms=30_000,
                rebalance_timeout_ms=60_000,
                protocols=PROTOCOLS,
                client_id=self.name,
            ),
        )
        assert isinstance(joined, JoinGroupResponse)
        assert joined.error_code is Errors.NONE
        self.member_id, self.generation_id = joined.member_id, joined.generation_id
        answer = self.sim.request(
            self.coordinator,
            SyncGroupRequest(
                group_id=GROUP,
                member_id=self.member_id,
                generation_id=self.generation_id,
                assignments=self._assignments(joined),
            ),
        )
        if answer.error_code is Errors.REBALANCE_IN_PROGRESS:
            self.join()
        else:
            self.assignment = answer.assignment

    def _assignments(self, joined: JoinGroupResponse) -> dict[str, str]:
        if not joined.members:
            return {}
        group = {each.member_id: Subscription(list(self.counts)) for each in joined.members}
        assigned = assignor("range").assign(self.counts, group)
        return {
            member_id: json.dumps([list(each) for each in partitions])
            for member_id, partitions in assigned.items()
        }

    def heartbeat(self) -> HeartbeatRequest:
        """Say that it lives."""
        return HeartbeatRequest(
            group_id=GROUP, member_id=self.member_id, generation_id=self.generation_id
        )

    def beat(self) -> Errors:
        """Send one heartbeat and wait for the answer."""
        return self.sim.request(self.coordinator, self.heartbeat()).error_code

    def stay(self, until_ms: int) -> None:
        """Join, then beat until the time is over, joining again whenever it is asked for."""
        self.join()
        while self.sim.now_ms < until_ms:
            self.sim.sleep(BEAT_MS)
            if self.beat() is Errors.REBALANCE_IN_PROGRESS:
                self.join()


def rows() -> Iterator[Row]:
    """Every case, as it is measured."""
    yield from _heartbeats()
    yield from _rebalance()
    yield _one_by_one()


def _simpy_timeouts_per_s(count: int = 200_000) -> float:
    env = simpy.Environment()

    def waits():
        for _ in range(count // 10):
            yield env.timeout(1)

    for _ in range(10):
        env.process(waits())
    started = time.process_time()
    env.run()
    return count / (time.process_time() - started)


def _heartbeats() -> Iterator[Row]:
    rates, timeouts = [], []
    for _ in range(5):
        timeouts.append(_simpy_timeouts_per_s())
        rates.append(_heartbeats_per_s())
    timeouts.append(_simpy_timeouts_per_s())
    rate, simpy_rate = max(rates), max(timeouts)
    notes = {"SimPy": f"{simpy_rate:,.0f} timeouts/s in this run"}
    yield Row("heartbeats, four events each", rate, "per second", 80_000, True, notes)
    yield Row("heartbeats per SimPy timeout", rate / simpy_rate, "times", 0.05, True, notes)


def _heartbeats_per_s() -> float:
    sim = Simulation(brokers=1, group_initial_rebalance_delay_ms=0)
    member = Member(sim, "c1", {"orders": 1})

    def beats() -> float:
        member.join()
        inbox = Inbox(sim.processes)
        server = sim.loop.nodes[member.coordinator]
        connection = sim.network.connect(sim.node("c1"), server, inbox=inbox)
        events = len(sim.trace)
        started = time.process_time()
        for _ in range(HEARTBEATS):
            connection.send(member.heartbeat())
            inbox.wait()
            [answered] = inbox.take()
            assert answered.response.error_code is Errors.NONE
        taken = time.process_time() - started
        assert len(sim.trace) - events == 4 * HEARTBEATS
        return HEARTBEATS / taken

    return sim.spawn(beats, node="c1").join()


def _rebalance() -> Iterator[Row]:
    large = min(_rebalance_s(1_000, 10_000) for _ in range(3))
    small = min(_rebalance_s(100, 1_000) for _ in range(5))
    yield Row("a rebalance of 1,000 members over 10,000 partitions", large * 1000, "ms", 400)
    notes = {"100 members": f"{small * 1000:.1f} ms", "1,000 members": f"{large * 1000:.1f} ms"}
    case = "growth from 100 to 1,000 members (10 is linear)"
    yield Row(case, large / small, "times", 15, notes=notes)


def _rebalance_s(members: int, partitions: int) -> float:
    """One rebalance of a stable group: everybody hears of it at a heartbeat, joins and syncs."""
    sim = Simulation(brokers=1)
    counts = {"orders": partitions}
    group = [Member(sim, f"c{number:04}", counts) for number in range(members)]
    first = [sim.spawn(each.join, node=each.name) for each in group]
    for each in first:
        each.join()

    def again(member: Member):
        return lambda: member.beat() and member.join()

    leader, *followers = group
    started = time.process_time()
    processes = [sim.spawn(leader.join, node=leader.name)]
    sim.sleep(10)
    processes += [sim.spawn(again(each), node=each.name) for each in followers]
    for each in processes:
        each.join()
    taken = time.process_time() - started
    assert {each.generation_id for each in group} == {2}
    owned = [tuple(pair) for each in group for pair in json.loads(each.assignment)]
    assert sorted(owned) == [("orders", number) for number in range(partitions)]
    return taken


def _one_by_one(members: int = 100) -> Row:
    taken = []
    for _ in range(3):
        sim = Simulation(brokers=1, group_initial_rebalance_delay_ms=0)
        started = time.process_time()
        until_ms = members * 2 * BEAT_MS
        group = [Member(sim, f"c{number:04}", {"orders": 1_000}) for number in range(members)]
        for each in group:
            sim.spawn(partial(each.stay, until_ms), node=each.name)
            sim.sleep(2 * BEAT_MS)
        taken.append(time.process_time() - started)
        assert {each.generation_id for each in group} == {members}
    case = f"{members} members joining one by one, each with a rebalance"
    return Row(case, min(taken) * 1000, "ms", 2_000)
