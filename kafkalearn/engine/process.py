"""Processes: plain blocking functions that sleep and wait in virtual time.

Each runs on a greenlet until it sleeps or waits; then it switches straight to the process whose
turn it is, or to the loop. A caller that is no process drives the loop while it waits.
"""

from collections.abc import Callable, Iterator
from contextvars import copy_context
from heapq import heappush, heappushpop

from greenlet import getcurrent, greenlet  # type: ignore[import-untyped]

from kafkalearn.engine.event_loop import Entry, EventLoop
from kafkalearn.engine.greenlets import check_plain, unwind
from kafkalearn.engine.node import Node
from kafkalearn.engine.signals import Signal
from kafkalearn.engine.timer import Timer
from kafkalearn.errors import IllegalArgumentError, IllegalStateError


class Process(greenlet):  # type: ignore[misc]
    """A running function; made by Processes.spawn.

    direct: whether another process may switch straight to it. Not when it is frozen or dead, nor
    before its start: it would inherit the other's depth of recursion.
    """

    __slots__ = (
        *("direct", "name", "node", "timeout", "waits_for"),
        *("_error", "_finished", "_function", "_processes", "_result"),
    )

    def __init__(
        self, processes: "Processes", function: Callable[[], object], *, node: Node, name: str
    ) -> None:
        super().__init__()
        self.gr_context = copy_context()
        self.direct = False
        self.node = node
        self.name = name
        self.waits_for: Signal | None = None
        self.timeout = Timer(processes.loop, self._time_out, node=node)
        self._processes = processes
        self._function = function
        self._finished = Signal(processes, f"the end of {self}")
        self._result: object = None
        self._error: BaseException | None = None

    def __str__(self) -> str:
        """Name it as in ``poll loop of c1``."""
        return f"{self.name} of {self.node.name}"

    @property
    def is_alive(self) -> bool:
        """Whether it has neither ended nor crashed."""
        return self in self._processes.living

    def join(self) -> object:
        """Wait for its end; its result, or the exception that ended it.

        IllegalStateError if its node crashed.
        """
        while self.is_alive:
            self._finished.wait()
        if self._error is not None:
            raise self._error
        return self._result

    def run(self) -> None:
        """Run the function; greenlet calls this."""
        error: BaseException | None = None
        try:
            self._result = self._function()
        except BaseException as raised:
            error = raised
        if not self.is_alive:
            return  # it was disposed of
        del self._processes.living[self]
        loop = self._processes.loop
        self.parent = loop.driver
        joined = self._finished.fire()
        if error is not None:
            self._error = error
            error.add_note(f"raised in {self} at {loop.now_ms:,} ms of virtual time")
            if not (joined and isinstance(error, Exception)):
                raise error

    def happen(self, time_ms: int, sequence: int) -> Entry | None:
        """Start, or go on; the loop calls this. Gives what the last to give way left undone."""
        undone: Entry | None = None
        if time_ms < self.node.frozen_until_ms:
            self.go_on_at(self.node.frozen_until_ms)
        elif self.node.alive:
            self.direct, self._processes.loop.now_ms = True, time_ms
            undone = self.switch()
        return undone

    def wake(self) -> None:
        """End its wait; Signal.fire calls this."""
        self.waits_for = None
        loop = self._processes.loop
        heappush(loop.queue, (loop.now_ms, next(loop.sequence), self))

    def go_on_at(self, time_ms: int) -> None:
        """Queue it, behind what is due at that time (ms) already."""
        loop = self._processes.loop
        heappush(loop.queue, (time_ms, next(loop.sequence), self))

    def crash(self) -> None:
        """Never let it go on; Processes.kill calls this."""
        self.direct = False
        if self.waits_for is not None:
            self.waits_for.forget(self)
        self._error = IllegalStateError(f"{self} ended when {self.node.name} crashed")
        self._finished.fire()

    def _time_out(self) -> None:
        if self.waits_for is not None:
            self.waits_for.forget(self)
            self.go_on_at(self._processes.loop.now_ms)


class Processes:
    """The processes of one simulation.

    living: those that have neither ended nor crashed, in the order in which they were spawned.
    on_kill: called with each node that crashes, after its processes were stopped.
    """

    def __init__(self, loop: EventLoop) -> None:
        self.loop = loop
        self.living: dict[Process, None] = {}
        self.on_kill: list[Callable[[Node], object]] = []
        # A greenlet that nobody refers to is unwound, and that runs the application's `finally`.
        self._crashed: dict[Process, None] = {}
        loop.who_waits = self._who_waits

    def spawn(self, function: Callable[[], object], *, node: Node, name: str) -> Process:
        """Start a process on a node; the caller goes on first. On a dead node nothing starts.

        It has a copy of the caller's context variables. An exception that ends it goes to those
        who wait in its join, or else to who drives the loop. IllegalArgumentError for a function
        with `yield` or `async`.
        """
        self.loop.check_thread()
        check_plain(function, f"{name} of {node.name}")
        process = Process(self, function, node=node, name=name)
        if node.alive:
            self.living[process] = None
            process.go_on_at(self.loop.now_ms)
        else:
            process.crash()
        return process

    def current(self) -> Process | None:
        """Give the process that calls; None for any other caller."""
        process = getcurrent()
        return process if process in self.living else None

    def sleep(self, ms: int) -> None:
        """Let `ms` of virtual time pass; 0 lets those go first that are due now.

        IllegalArgumentError for a negative time.
        """
        process = getcurrent()
        loop = self.loop
        if ms < 0:
            raise IllegalArgumentError(f"{ms:,} ms is no time to sleep: 0 or more is allowed")
        if process not in self.living:
            self.drive(loop.now_ms + ms, f"the main program sleeps for {ms:,} ms")
            return
        entry = heappushpop(loop.queue, (loop.now_ms + ms, next(loop.sequence), process))
        time_ms, _, what = entry
        if what.direct:
            loop.now_ms = time_ms
            if what is not process:
                what.switch()
        else:
            loop.driver.switch(entry)

    def drive(self, limit_ms: int | None, caller: str) -> bool:
        """EventLoop.drive, for a caller that is no process; one that crashed stays here."""
        process = getcurrent()
        while process in self._crashed:
            process.parent.switch()
        return self.loop.drive(limit_ms, caller)

    def kill(self, node: Node) -> None:
        """Let a node crash: its processes stop where they are, without any clean-up.

        No `except` and no `finally` of theirs runs as long as the simulation lives; see dispose.
        """
        self.loop.check_thread()
        if not node.alive:
            return
        node.alive = False
        for process in [each for each in self.living if each.node is node]:
            del self.living[process]
            self._crashed[process] = None
            process.crash()
        for callback in self.on_kill:
            callback(node)
        if getcurrent() in self._crashed:
            self.loop.driver.switch()

    def freeze(self, node: Node, until_ms: int) -> None:
        """Stop a node until `until_ms`, or for longer if it is frozen for longer already.

        Its processes, its timers and what is sent to it wait. Then the messages come first, as
        they lay in the buffers of its machine.
        """
        self.loop.check_thread()
        if until_ms < self.loop.now_ms:
            raise self.loop.past(until_ms)
        node.frozen_until_ms = max(node.frozen_until_ms, until_ms)
        for process in self.living:
            if process.node is node:
                process.direct = False

    def dispose(self) -> None:
        """End the simulation: nothing happens in it any more, and its memory can be freed.

        What still waits, crashed processes included, is unwound now, as Python has no other way to
        free it: each `finally` runs, without its output, up to where it would wait, and too late
        for any effect on the simulation. Without dispose none of this runs, and the memory stays.
        """
        self.loop.close("this run was disposed of")
        self._crashed.update(self.living)
        self.living.clear()
        unwind(self._crashed)
        self._crashed = {process: None for process in self._crashed if process}

    def _who_waits(self) -> Iterator[str]:
        due_ms = {what: time_ms for time_ms, _, what in self.loop.queue}
        for process in self.living:
            doing, until_ms = "sleeps", due_ms.get(process)
            if process.waits_for is not None:
                doing = f"waits for {process.waits_for.what}"
                until_ms = process.timeout.deadline_ms if process.timeout.is_set else None
            yield f"{process} {doing}" + ("" if until_ms is None else f" until {until_ms:,} ms")
