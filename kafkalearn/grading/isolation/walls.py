"""The judge's side of the walls: what is behind them, and the processes that are started there."""

import json
import os
import site
import socket
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from glob import glob
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory
from typing import NamedTuple

import kafkalearn
from kafkalearn.grading.answering.wire import JUDGE_ADDRESS
from kafkalearn.grading.exercise import ALWAYS_LENT, Limits, exercise_folders
from kafkalearn.grading.isolation.lending import lend, python_path
from kafkalearn.grading.isolation.sandbox import MOST_MESSAGE, PROTECTIONS, Walls

# The walls' own modules, which must be where the learner's process is.
WALLS = tuple(
    f"kafkalearn.grading.{name}"
    for name in (
        *("isolation", "isolation.linux", "isolation.system_calls", "isolation.sandbox"),
        *("isolation.fork_server", "engines", "engines.cells"),
    )
)
_ANSWERS = ("kafkalearn", "kafka", "aiokafka")  # packages that have what an exercise asks for
_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/usr", "/usr/local")
_ETC = ("/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives", *glob("/etc/java*"))
_PARTS = ("bin", "sbin", "lib", "lib32", "lib64", "libexec", "share", "include", "pyvenv.cfg")
# By default a Java reserves more than a submission may have.
_JAVA = (
    "-Xmx512m -XX:CompressedClassSpaceSize=128m -XX:ReservedCodeCacheSize=64m "
    "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData"
)
_START_SECONDS = 60
_MOST_SERVERS = 4


class IsolationError(OSError):
    """Submissions cannot be isolated here; the message says what the system refused."""


class Ending(NamedTuple):
    """How a submission's process ended: exit status, or minus a signal; `why` if it was ended."""

    status: int
    why: str


class SandboxedProcess:
    """A submission's process as its judge has it: two sockets, and the power to end it."""

    def __init__(
        self, control: socket.socket, *, cells: socket.socket, checks: socket.socket
    ) -> None:
        self.control = control
        self.cells = cells
        self.checks = checks
        self.ending: Ending | None = None

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt in the cell that runs."""
        self.tell({"interrupt": True})

    def end(self, *, patience_seconds: float = 0) -> Ending:
        """End it and all that it started, unless it ends by itself while we are patient."""
        if self.ending is None:
            self.tell({"end": patience_seconds})
            try:
                self.notice()
            except OSError:  # A server that does not answer is of no more use.
                self.control.close()
        for each in (self.cells, self.checks):
            each.close()
        return self.ending or Ending(-9, "")

    def notice(self) -> None:
        """Read the message that it has ended."""
        message = json.loads(self.control.recv(MOST_MESSAGE) or "{}")
        if "status" not in message:
            raise IsolationError("the fork server has died")
        self.ending = Ending(message["status"], message["why"])

    def tell(self, message: dict[str, object]) -> None:
        """Send its server a request."""
        with suppress(OSError):  # Its server is gone, and it with it.
            self.control.send(json.dumps(message).encode())


class SandboxServer:
    """A fork server behind walls, for exercises that lend the same modules; ends with `close`."""

    def __init__(self, modules: Iterable[str], *, protections: Iterable[str]) -> None:
        protections = frozenset(protections)
        self._folder = TemporaryDirectory(prefix="kl-", ignore_cleanup_errors=True)
        room = Path(self._folder.name)
        room.chmod(0o755)
        lend((*modules, *WALLS), room / "lent")
        (room / "work").mkdir()
        walls = _walls(room, protections)
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.settimeout(_START_SECONDS)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "kafkalearn.grading.isolation.sandbox"],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                env=_environment(protections) | {"PYTHONPATH": python_path(room / "lent")},
                cwd="/",
            )
        try:
            self.control.send(json.dumps(walls).encode())
            answer = json.loads(self.control.recv(MOST_MESSAGE) or "{}")
            problem = "" if "ready" in answer else answer.get("problem", "it ended at its start")
        except OSError as error:
            problem = str(error)
        if not problem and not self._answers():
            problem = "a process behind the walls could not be started"
        if problem:
            self.close()
            raise IsolationError(f"this machine does not let us isolate submissions ({problem})")

    def _answers(self) -> bool:
        """Start a process and let it run an empty cell."""
        process = self.start(Limits())
        process.cells.settimeout(_START_SECONDS)
        try:
            process.cells.sendall(b'{"source": ""}\n')
            return bool(process.cells.recv(1))
        except OSError:
            return False
        finally:
            process.end()

    def start(self, limits: Limits, *, kernel: dict[str, object] | None = None) -> SandboxedProcess:
        """Start a process for a submission; it is the only one here until it has ended."""
        cells, their_cells = socket.socketpair()
        checks, their_checks = socket.socketpair()
        with their_cells, their_checks:
            request = {
                "limits": {
                    "memory_mb": limits.memory_mb,
                    "disk_mb": limits.disk_mb,
                    "processes": limits.processes,
                    "open_files": limits.open_files,
                    "cpu_seconds": int(limits.total_seconds) + 1,
                },
                "user": _some_user(),
                "judge": JUDGE_ADDRESS,
                "kernel": kernel,
            }
            theirs = [their_cells.fileno(), their_checks.fileno()]
            socket.send_fds(self.control, [json.dumps(request).encode()], theirs)
        return SandboxedProcess(self.control, cells=cells, checks=checks)

    @property
    def alive(self) -> bool:
        """Whether it can start another process."""
        return self.control.fileno() >= 0 and self._process.poll() is None

    def close(self) -> None:
        """End the server; what it started ends with it."""
        self.control.close()
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()


class ServerPool:
    """Fork servers that wait for the next submission, one for each set of lent modules."""

    def __init__(self, protections: frozenset[str]) -> None:
        self.protections = protections
        self._servers: dict[frozenset[str], SandboxServer] = {}

    def of(self, modules: frozenset[str]) -> SandboxServer:
        """Give the server that lends these modules; the one not asked for longest makes room."""
        server = self._servers.pop(modules, None)
        if server is None or not server.alive:
            while len(self._servers) >= _MOST_SERVERS:
                self._servers.pop(next(iter(self._servers))).close()
            server = SandboxServer(modules, protections=self.protections)
        self._servers[modules] = server
        return server

    def close(self) -> None:
        """End the servers, and with them all that they started."""
        while self._servers:
            self._servers.popitem()[1].close()


def _environment(protections: frozenset[str]) -> dict[str, str]:
    """All that a submission's process sees of it; paths and limits are added behind the walls."""
    if "environment" not in protections:
        return {**os.environ}
    path = os.pathsep.join([f"{sys.prefix}/bin", "/usr/local/bin", "/usr/bin", "/bin"])
    # The order of a set must not differ from one grading to the next; arenas cost address space.
    settings = {"PYTHONHASHSEED": "0", "MALLOC_ARENA_MAX": "2", "PYTHONDONTWRITEBYTECODE": "1"}
    return {"PATH": path, "LANG": "C.UTF-8", "JAVA_TOOL_OPTIONS": _JAVA, **settings}


def _walls(room: Path, protections: frozenset[str]) -> Walls:
    roots = {*_SYSTEM, sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    parts = {f"{root}/{part}" for root in roots for part in _PARTS}
    packages = [*site.getsitepackages(), site.getusersitepackages()]
    extra = [each for each in python_path(room).split(os.pathsep)[1:] if os.path.isabs(each)]
    visible = {*_ETC, *(root for root in _SYSTEM if root.count("/") == 1 and root != "/usr")}
    visible |= {*parts, *packages, *extra}
    inside = {f"{each}/{name}" for each in (*packages, *extra) for name in _ANSWERS}
    hidden = {*inside, str(Path(kafkalearn.__file__).parent), *map(str, exercise_folders())}
    return Walls(
        protections=sorted(protections),
        visible=sorted(each for each in visible if os.path.exists(each)),
        hidden=sorted(each for each in hidden if os.path.isdir(each)),
        lent=str(room / "lent"),
        work=str(room / "work"),
    )


def _some_user() -> int:
    """Give an id that nobody has, another for each submission; 0 if we may not choose."""
    if os.geteuid() != 0:
        return 0
    ranges = [
        list(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text().splitlines()
    ]
    first, _, count = max(ranges, key=lambda each: each[2])
    most = min(count, 2**30)
    return first + SystemRandom().randrange(most // 2, most - 2) if most > 2**15 else 0


@cache
def isolation_problem() -> str | None:
    """Say why submissions cannot be isolated on this machine; None if they can. Tried once."""
    if sys.platform != "linux":
        return f"only Linux has the namespaces that isolate submissions, not {sys.platform}"
    try:
        SandboxServer(ALWAYS_LENT, protections=PROTECTIONS).close()
    except IsolationError as error:
        return str(error)
    return None
