"""Lets the faults of a plan happen."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from kafkalearn.engine.connection import Exchange
from kafkalearn.engine.faults import (
    AnswerWithError,
    Crash,
    CutOff,
    Delay,
    Drop,
    Fault,
    Freeze,
    Restart,
    check,
)
from kafkalearn.engine.network import Network


class FaultInjector:
    """Meets nodes at their time, and messages where the network carries them.

    record: told (time_ms, fault) just before a fault has its effect.
    on_restart: starts a node of this name again; what a crash means for others than the engine,
    Processes.on_kill tells.
    error_response: makes the response to (request, error).
    """

    def __init__(
        self,
        plan: Iterable[Fault],
        network: Network,
        *,
        record: Callable[[int, Fault], object],
        on_restart: Callable[[str], object],
        error_response: Callable[[Any, str], Any],
    ) -> None:
        self._network = network
        self._loop = network.loop
        self._record = record
        self._on_restart = on_restart
        self._error_response = error_response
        self._message_faults: list[Drop | Delay | AnswerWithError] = []
        for fault in plan:
            if isinstance(fault, Drop | Delay | AnswerWithError):
                self._message_faults.append(fault)
            elif isinstance(fault, Crash | Restart | Freeze | CutOff):
                self._loop.call_at(fault.at_ms, partial(self._meet_node, fault))
        self._left = [fault.nth for fault in self._message_faults]
        if self._message_faults:
            network.let_meddle(self._meddle)

    def _meet_node(self, fault: Crash | Restart | Freeze | CutOff) -> None:
        check([fault], self._loop.nodes)
        node = self._loop.nodes[fault.node]
        now_ms = self._loop.now_ms
        if isinstance(fault, CutOff):
            self._record(now_ms, fault)
            self._network.cut_off(fault.node, fault.other, until_ms=now_ms + fault.for_ms)
        elif node.alive == isinstance(fault, Restart):
            return
        else:
            self._record(now_ms, fault)
            if isinstance(fault, Restart):
                self._on_restart(fault.node)
            elif isinstance(fault, Freeze):
                self._network.processes.freeze(node, now_ms + fault.for_ms)
            else:
                self._network.processes.kill(node)

    def _meddle(self, exchange: Exchange) -> tuple[str, int]:
        """Say why a message gets lost, or '', and by how many ms it is late."""
        reason, late_ms = "", 0
        ends = exchange.connection.client.name, exchange.connection.server.name
        part = "request" if exchange.response is None else "response"
        for number, fault in enumerate(self._message_faults):
            if (fault.api, fault.part) != (exchange.request.api, part) or (
                fault.node is not None and fault.node not in ends
            ):
                continue
            self._left[number] -= 1
            if self._left[number]:
                continue
            self._record(self._loop.now_ms, fault)
            if isinstance(fault, Drop):
                reason = str(fault)
            elif isinstance(fault, Delay):
                late_ms += fault.by_ms
            else:
                exchange.forced_response = self._error_response(exchange.request, fault.error)
        return reason, late_ms
