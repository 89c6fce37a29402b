"""Starts a process for each submission, from one that has Python, IPython and what is lent ready.

It never held an answer. The judge's process sends requests over a socket, each with the two sockets
of the new process: its cells and its checks. Until that process and all that it started have
ended, the server watches how much they use.
"""

import fcntl  # noqa: F401 - what every new process needs is imported once, before it is forked
import gc
import json
import os
import resource  # noqa: F401
import select
import shutil
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from kafkalearn.grading.isolation import linux
from kafkalearn.grading.isolation.sandbox import MOST_MESSAGE, Walls, confine

KEEPER = ("/bin/sleep", "2000000000")
WATCH_SECONDS = 0.05


class _Learner(NamedTuple):
    """The process of a submission; `keeper` is the first of its pid namespace, 0 if it has none."""

    pid: int
    pidfd: int
    keeper: int


class ForkServer:
    """One submission at a time, until the judge's process is gone."""

    def __init__(self, control: socket.socket, walls: Walls) -> None:
        from kafkalearn.grading.engines.cells import warm_shell

        self.control = control
        self.walls = walls
        self.shell = warm_shell()
        self._clear()
        self.own = os.pidfd_open(os.getpid())
        gc.collect()
        gc.freeze()
        self.memory = _own_memory("self")  # what every process has from its birth

    def serve(self) -> None:
        """Answer requests; ends when the other side is gone."""
        self._tell(ready=True)
        while True:
            data, descriptors, *_ = socket.recv_fds(self.control, MOST_MESSAGE, 2)
            if not data:
                return
            request = json.loads(data)
            for each in descriptors:
                os.set_inheritable(each, False)  # The keeper must not have them.
            if "limits" in request:
                self._run(request, descriptors)

    def _tell(self, **message: Any) -> None:
        self.control.send(json.dumps(message).encode())

    def _run(self, request: dict[str, Any], descriptors: list[int]) -> None:
        learner = self._start(request, descriptors)
        for each in descriptors:
            os.close(each)
        why = ""
        try:
            why = self._watch(learner, request["limits"])
        finally:
            status = self._sweep(learner)
        self._tell(status=os.waitstatus_to_exitcode(status), why=why)

    def _start(self, request: dict[str, Any], descriptors: list[int]) -> _Learner:
        keeper = 0
        if self.walls.has("pids"):
            linux.unshare(linux.NEWPID)
            # A first process that does nothing: signals mean to the second what they always mean.
            keeper = os.posix_spawn(KEEPER[0], KEEPER, {})
        if not (pid := os.fork()):
            self._become_learner(request, descriptors)
        if keeper:
            linux.setns(self.own, linux.NEWPID)
        return _Learner(pid, os.pidfd_open(pid), keeper)

    def _become_learner(self, request: dict[str, Any], descriptors: list[int]) -> None:
        from kafkalearn.grading.engines.cells import run_cells, run_kernel

        try:
            limits, user = request["limits"], request["user"]
            cells, checks = confine(self.walls, limits, user=user, keep=descriptors)
            os.environ[request["judge"]] = str(checks)
            if kernel := request["kernel"]:
                run_kernel(kernel, socket.socket(fileno=cells))
            run_cells(self.shell, socket.socket(fileno=cells))
        except BaseException as error:
            print(f"a learner's process: {error!r:.300}", file=sys.stderr)
            os._exit(121)
        os._exit(0)

    def _watch(self, learner: _Learner, limits: dict[str, int]) -> str:
        """Wait for its end, or end it: '' , or what there was too much of."""
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        poll.register(learner.pidfd, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll(WATCH_SECONDS * 1000)}
            if learner.pidfd in ready:
                return ""
            if self.control.fileno() in ready:
                request = json.loads(self.control.recv(MOST_MESSAGE) or '{"end": 0}')
                if "interrupt" in request:
                    with suppress(ProcessLookupError):
                        signal.pidfd_send_signal(learner.pidfd, signal.SIGINT)
                if "end" in request:
                    ended, *_ = select.select([learner.pidfd], [], [], request["end"])
                    return "" if ended or not request["end"] else "silent"
            if self.walls.has("watch") and (why := self._used_up(learner, limits)):
                return why

    def _used_up(self, learner: _Learner, limits: dict[str, int]) -> str:
        """Add up what its processes use: '', or what there is too much of."""
        own_proc = learner.keeper and self.walls.has("root")
        memory, ticks, pids = 0, 0, []
        for name in os.listdir("/proc"):
            if not name.isdecimal() or int(name) in (os.getpid(), learner.keeper):
                continue
            with suppress(OSError, ValueError, IndexError):
                fields = Path("/proc", name, "stat").read_text().rpartition(")")[2].split()
                if own_proc or int(fields[3]) == learner.pid:  # its session
                    pids.append(name)
                    ticks += sum(map(int, fields[11:15]))
                    memory += int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
        if ticks > limits["cpu_seconds"] * os.sysconf("SC_CLK_TCK"):
            return "cpu"
        # One process alone meets its own limit first, which gives it a MemoryError.
        most = limits["memory_mb"] * 2**20 + self.memory
        # What processes share is counted for each: a second, slower look tells.
        return "memory" if memory > most and sum(map(_own_memory, pids)) > most else ""

    def _sweep(self, learner: _Learner) -> int:
        """End all that the submission started; give the wait status of its first process."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(learner.pidfd, signal.SIGKILL)
        os.close(learner.pidfd)
        if not learner.keeper and self.walls.has("session"):
            with suppress(ProcessLookupError):
                os.killpg(learner.pid, signal.SIGKILL)
        status = os.waitpid(learner.pid, 0)[1]
        if learner.keeper:
            os.kill(learner.keeper, signal.SIGKILL)
            os.waitpid(learner.keeper, 0)  # It ends when all of its namespace have.
        self._clear()
        return status

    def _clear(self) -> None:
        """Without a root of their own, all submissions write to one folder."""
        if not self.walls.has("root"):
            for folder in Path(self.walls.work).iterdir():
                shutil.rmtree(folder, ignore_errors=True)


def _own_memory(process: str) -> int:
    """Bytes, of what is shared its part."""
    with suppress(OSError, ValueError, IndexError):
        text = Path("/proc", process, "smaps_rollup").read_text()
        return int(text.partition("\nPss:")[2].split(maxsplit=1)[0]) * 1024
    return 0


def main() -> None:
    """Serve the socket that the first argument names, behind the walls of the second."""
    control = socket.socket(fileno=int(sys.argv[1]))
    walls = Walls(*json.loads(sys.argv[2]))
    ForkServer(control, walls).serve()


if __name__ == "__main__":
    main()
