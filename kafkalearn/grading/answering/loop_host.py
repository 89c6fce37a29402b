"""Runs a learner's loops: one for each consumer of a story, each with state of its own.

In grading each is a process, forked from the learner's when its consumer starts, and a crash is
SIGKILL. While learning each is a greenlet with a copy of the globals, and a crash leaves it lying.
Both hold the same talk with the judge. At any time just one loop runs; the others wait for theirs.
"""

import copy
import ctypes
import io
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from contextvars import copy_context
from types import CodeType, FunctionType
from typing import Any, NoReturn

from greenlet import GreenletExit, getcurrent, greenlet  # type: ignore[import-untyped]

from kafkalearn.grading.answering.consumer_proxy import run_loop
from kafkalearn.grading.answering.wire import JUDGE_ADDRESS, Stream, receive, send

Loop = Callable[..., Any]
Message = dict[str, Any]
_PR_SET_PDEATHSIG = 1
_UNWINDING_STEPS = 100


_running: dict[str, "Forked | Switched"] = {}
_crashed: list["Forked | Switched"] = []
_stubborn: list["Forked | Switched"] = []


def answer_message(loop: Loop, message: Message) -> Message:
    """Do what the judge asks: start a consumer's loop, hand it a reply, crash it, end them all."""
    try:
        if "start" in message:
            _crash(message["start"])  # one that ended may still be there
            kind = Forked if JUDGE_ADDRESS in os.environ and hasattr(os, "fork") else Switched
            host = _running[message["start"]] = kind(loop)
            return host.talk(message)
        if "loop" in message:
            return _running[message["loop"]].talk(message)
        if "crash" in message:
            _crash(message["crash"])
        else:
            end_all()
    except OSError as error:
        return {"refused": f"a loop cannot be run: {error}"}
    except BaseException:
        end_all()
        raise
    return {"done": True}


def end_all() -> None:
    """End every loop, and free what those that crashed hold."""
    for name in list(_running):
        _crash(name)
    while _crashed:
        _crashed.pop().forget()


def _crash(name: str) -> None:
    if name in _running:
        _crashed.append(_running.pop(name))
        _crashed[-1].crash()


class Forked:
    """A loop in a process of its own."""

    def __init__(self, loop: Loop) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self._ours, theirs = socket.socketpair()
        self._stream = self._ours.makefile("rwb")
        self._parent = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            self._be_a_consumer(loop, theirs)
        theirs.close()

    def talk(self, message: Message) -> Message:
        """Hand it a message, and give what it says next; what it printed is printed here."""
        try:
            send(self._stream, message)
            while "printed" in (said := receive(self._stream)):
                (sys.stderr if said["to"] == "stderr" else sys.stdout).write(said["printed"])
        except (EOFError, ConnectionError):
            return {"refused": "the process of a loop is gone: a loop ends by returning"}
        return said

    def crash(self) -> None:
        """Kill it."""
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)

    def forget(self) -> None:
        """Wait for its end, so that it does not stay as a zombie."""
        with suppress(RuntimeError):  # an interrupt may have come in the middle of a message
            self._stream.close()
        self._ours.close()
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)

    def _be_a_consumer(self, loop: Loop, theirs: socket.socket) -> NoReturn:
        try:
            if sys.platform == "linux":
                ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            for host in [*_running.values(), *_crashed, self]:
                if isinstance(host, Forked):
                    os.close(host._ours.fileno())  # or it would not hear when its parent is gone
            stream = theirs.makefile("rwb")
            sys.stdout, sys.stderr = _Printer(stream, "stdout"), _Printer(stream, "stderr")

            def talk(message: Message) -> Message:
                send(stream, message)
                return receive(stream)

            if os.getppid() == self._parent:
                receive(stream)
                send(stream, run_loop(loop, talk))
        finally:
            os._exit(0)


class _Printer(io.TextIOBase):
    """Sends what a forked loop prints to the process that has the notebook."""

    def __init__(self, stream: Stream, name: str) -> None:
        self._stream, self._name = stream, name

    def write(self, text: str) -> int:
        send(self._stream, {"printed": text, "to": self._name})
        return len(text)


class Switched:
    """A loop on a greenlet, whose globals are its own while it runs."""

    def __init__(self, loop: Loop) -> None:
        self._namespace = _Namespace(loop)
        self._greenlet = greenlet(lambda message: run_loop(loop, self._say))
        self._greenlet.gr_context = copy_context()  # by which a notebook finds the cell's output
        self._caller = getcurrent()
        self._is_dead = False
        self._said_when_dead = 0

    def talk(self, message: Message) -> Message:
        """Hand it a message, and give what it says next."""
        self._caller = self._greenlet.parent = getcurrent()
        with self._namespace.in_place():
            said: Message = self._greenlet.switch(message)
        return said

    def crash(self) -> None:
        """Leave it where it is: what is referred to is not unwound, so that no `finally` runs."""
        self._is_dead = True

    def forget(self) -> None:
        """Unwind it, as Python has no other way to free it; nothing of that reaches anybody."""
        self._greenlet.parent = self._caller = getcurrent()
        with redirect_stdout(None), redirect_stderr(None), self._namespace.in_place():
            _stubborn.append(self)  # until it is known to be none
            if self._greenlet:
                self._greenlet.throw()
            _stubborn.remove(self)

    def _say(self, message: Message) -> Message:
        if self._is_dead:
            self._said_when_dead += 1
            if self._said_when_dead < _UNWINDING_STEPS:
                raise GreenletExit
            _stubborn.append(self)  # it catches everything, and goes on
            self._caller.switch({})
        heard: Message = self._caller.switch(message)
        return heard


class _Namespace:
    """The globals of a loop as one consumer sees them: what it changes, no other sees.

    Data that the loop, and the functions and classes that it names, can reach is copied; what
    cannot be copied is shared.
    """

    def __init__(self, loop: Loop) -> None:
        function = getattr(loop, "__func__", loop)
        self._globals: dict[str, Any] = getattr(function, "__globals__", {})
        names: set[str] = set()
        _collect(function, self._globals, names)
        self._own = dict(self._globals)
        memo: dict[int, Any] = {}
        for name in names:
            with suppress(Exception):
                self._own[name] = copy.deepcopy(self._own[name], memo)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Put its values into the globals, and afterwards those that were there before."""
        before = dict(self._globals)
        _replace(self._globals, self._own)
        try:
            yield
        finally:
            self._own = dict(self._globals)
            _replace(self._globals, before)


def _replace(names: dict[str, Any], values: dict[str, Any]) -> None:
    names.clear()
    names.update(values)


def _collect(value: Any, names: dict[str, Any], found: set[str]) -> None:
    """Find the globals that a function, or the methods of a class, may use."""
    if isinstance(value, type) and value.__module__ == names.get("__name__"):
        for each in vars(value).values():
            _collect(getattr(each, "__func__", each), names, found)
    if not isinstance(value, FunctionType) or value.__globals__ is not names:
        return
    codes = [value.__code__]
    for code in codes:
        codes += [const for const in code.co_consts if isinstance(const, CodeType)]
        for name in code.co_names:
            if name in names and name not in found:
                found.add(name)
                _collect(names[name], names, found)
