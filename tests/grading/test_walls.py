"""Who watches a submission's processes and who asks for them, each without the other."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import pytest
from jupyter_core.utils import run_sync

import kafkalearn
from kafkalearn.grading.engines.sandboxed_kernel import SandboxedKernel, received
from kafkalearn.grading.isolation import walls
from kafkalearn.grading.isolation.fork_server import ForkServer, _Learner
from kafkalearn.grading.isolation.sandbox import PROTECTIONS, WITHOUT_PRIVILEGES, Walls
from kafkalearn.grading.isolation.walls import (
    Ending,
    IsolationError,
    SandboxedProcess,
    ServerPool,
)
from tests.grading.submissions import FOLDER

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a fork server needs Linux")
PLENTY = {"cpu_seconds": 100, "memory_mb": 1000}
LARGE = "x = bytearray(b'x' * 80 * 2**20)"
WAITS = "print(flush=True); sys.stdin.read()"


class Watch:
    """A fork server without its shell, and the judge's end of its socket."""

    def __init__(self, folder):
        self.judge, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.server = ForkServer.__new__(ForkServer)
        self.server.control, self.server.memory = control, 0
        self.server.walls = Walls(sorted(WITHOUT_PRIVILEGES), [], [], "", str(folder))

    @contextmanager
    def over(self, *source, lines=1):
        """A process of a session of its own, which has said that it is as it is to be."""
        with subprocess.Popen(
            [sys.executable, "-c", "\n".join(["import os, signal, sys, time", *source, WAITS])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            for _ in range(lines):
                process.stdout.readline()
            yield _Learner(process.pid, os.pidfd_open(process.pid), 0)
            process.kill()

    def says(self, message):
        """The judge asks for something."""
        self.judge.send(json.dumps(message).encode())


@pytest.fixture
def watch(tmp_path):
    """Watch processes that write to a folder for all."""
    watch = Watch(tmp_path)
    yield watch
    watch.judge.close()
    watch.server.control.close()


def test_what_processes_share_is_counted_once(watch):
    """Two that hold the same 80 MB use 80 MB; two that fill 80 MB each use twice that."""
    limits = PLENTY | {"memory_mb": 150}
    with watch.over(LARGE, "os.fork()", lines=2) as learner:
        assert watch.server._used_up(learner, limits) == ""
        assert watch.server._used_up(learner, PLENTY | {"memory_mb": 70}) == "memory"
        watch.server.memory = 100 * 2**20  # what each has from its birth is not held against it
        assert watch.server._used_up(learner, PLENTY | {"memory_mb": 70}) == ""
        watch.server.memory = 0
    with watch.over("os.fork()", LARGE, lines=2) as learner:
        assert watch.server._used_up(learner, limits) == "memory"
        assert watch.server._used_up(learner._replace(pid=os.getpid()), limits) == ""


def test_processor_time_is_that_of_all_processes(watch):
    """Also what a child used that has ended."""
    child = "while os.times()[0] < 0.2: pass", "os._exit(0)"
    fork = "if not os.fork():", *(f"    {line}" for line in child), "os.wait()"
    with watch.over(*fork) as learner:
        assert watch.server._used_up(learner, PLENTY) == ""
        assert watch.server._used_up(learner, PLENTY | {"cpu_seconds": 0.15}) == "cpu"


def test_the_watch_ends_with_its_process_or_with_what_it_used(watch):
    """What was too much is named; who does not end though asked to is silent."""
    with watch.over(LARGE) as learner:
        assert watch.server._watch(learner, PLENTY | {"memory_mb": 50}) == "memory"
        watch.server.walls.protections.remove("watch")
        Timer(0.02, os.kill, (learner.pid, signal.SIGKILL)).start()
        assert watch.server._watch(learner, PLENTY | {"memory_mb": 50}) == ""
    with watch.over() as learner:
        watch.says({"end": 0.01})
        assert watch.server._watch(learner, PLENTY) == "silent"
        watch.says({"end": 0})
        assert watch.server._watch(learner, PLENTY) == ""
        Timer(0.02, os.kill, (learner.pid, signal.SIGKILL)).start()
        watch.says({"end": 10})
        assert watch.server._watch(learner, PLENTY) == ""
    with watch.over() as learner:
        watch.judge.close()  # nobody waits for it any more
        assert watch.server._watch(learner, PLENTY) == ""


def test_an_interrupt_reaches_the_cell_and_the_watch_goes_on(watch):
    """What becomes of the process is its own to decide: here it ends."""
    with watch.over("signal.signal(signal.SIGINT, lambda *_: os._exit(7))") as learner:
        watch.says({"interrupt": True})
        assert watch.server._watch(learner, PLENTY) == ""
        assert os.waitstatus_to_exitcode(os.waitpid(learner.pid, 0)[1]) == 7


def test_the_sweep_leaves_no_process_and_no_file(watch, tmp_path):
    """Nor what the submission started and did not wait for; how it ended is told."""
    Path(tmp_path, "work").mkdir()
    Path(tmp_path, "work", "x").touch()
    with watch.over("os.fork()", lines=2) as learner:
        children = Path(f"/proc/{learner.pid}/task/{learner.pid}/children").read_text()
        child = os.pidfd_open(int(children))
        assert os.waitstatus_to_exitcode(watch.server._sweep(learner)) == -signal.SIGKILL
        assert select.select([child], [], [], 10)[0] == [child]
        os.close(child)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def process():
    """A submission's process whose server a test plays: (process, the server's end)."""
    control, server = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    control.settimeout(5)
    cells, checks = socket.socketpair()
    with control, server, cells, checks:
        yield SandboxedProcess(control, cells=cells, checks=checks), server


def test_a_process_is_ended_once_and_its_ending_kept(process):
    """Whoever asks again hears the same; its sockets are closed."""
    process, server = process
    process.interrupt()
    server.send(b'{"status": -9, "why": "cpu"}')
    assert process.end(patience_seconds=1.5) == Ending(-9, "cpu")
    assert process.end() == Ending(-9, "cpu")
    assert [json.loads(server.recv(99)) for _ in range(2)] == [{"interrupt": True}, {"end": 1.5}]
    server.setblocking(False)
    with pytest.raises(BlockingIOError):
        server.recv(99)
    assert {process.cells.fileno(), process.checks.fileno()} == {-1}
    assert process.control.fileno() >= 0


def test_a_server_that_has_died_ends_its_process(process):
    """It is of no more use, and nobody waits for its word."""
    process, server = process
    server.close()
    process.interrupt()
    with pytest.raises(IsolationError, match=r"^the fork server has died$"):
        process.notice()
    assert process.end() == Ending(-9, "")
    assert process.control.fileno() == -1


class Server:
    """Stands for a fork server behind walls."""

    def __init__(self, modules, *, protections):
        self.modules, self.protections, self.alive = modules, protections, True

    def close(self):
        self.alive = False


def test_servers_wait_for_the_next_submission_of_their_kind(monkeypatch):
    """The one not asked for longest makes room, a dead one is replaced; all end with `close`."""
    monkeypatch.setattr(walls, "SandboxServer", Server)
    pool = ServerPool(PROTECTIONS)
    kinds = [frozenset({name}) for name in "abcde"]
    servers = [pool.of(kind) for kind in kinds[:4]]
    assert [(each.modules, each.protections) for each in servers] == [
        (kind, PROTECTIONS) for kind in kinds[:4]
    ]
    assert pool.of(kinds[0]) is servers[0]
    last = pool.of(kinds[4])
    assert [each.alive for each in servers] == [True, False, True, True]
    servers[2].alive = False
    again = pool.of(kinds[2])
    assert again is not servers[2]
    pool.close()
    assert not any(each.alive for each in (*servers, last, again))
    assert pool.of(kinds[0]) is not servers[0]


def test_each_submission_has_a_user_of_its_own_where_one_may_be_chosen(monkeypatch):
    """High in the ids that this machine gives us, below the last; nobody, where there are few."""
    ids = "100 200000 40000\n60000 1000 1\n"
    monkeypatch.setattr(Path, "read_text", lambda _: ids)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    users = {walls._some_user() for _ in range(50)}
    assert len(users) > 40
    assert 100 + 20_000 <= min(users) <= max(users) < 100 + 40_000 - 2
    ids = "0 0 4294967295\n"
    assert 2**29 <= walls._some_user() < 2**30 - 2
    ids = "0 1000 1\n1 100000 30000\n"
    assert walls._some_user() == 0
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    ids = "0 0 4294967295\n"
    assert walls._some_user() == 0


def test_a_kernel_lives_as_long_as_its_process(process):
    """Its server says when it has ended; what papermill asks of it is asked of that server."""
    kernel = SandboxedKernel()
    kernel.process, server = process
    assert kernel.has_kernel
    assert run_sync(kernel.is_alive)()
    run_sync(kernel.interrupt_kernel)()
    assert json.loads(server.recv(99)) == {"interrupt": True}
    server.send(b'{"status": 1, "why": ""}')
    assert not run_sync(kernel.is_alive)()
    assert not run_sync(kernel.is_alive)()
    run_sync(kernel.shutdown_kernel)(now=True)
    assert kernel.process.ending == Ending(1, "")
    assert kernel.process.cells.fileno() == -1


def test_a_kernel_that_did_not_start_is_named():
    """Its folder comes first; without it there is nothing to talk to."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        socket.send_fds(theirs, [b"k"], [theirs.fileno()])
        os.close(received(ours))
        theirs.close()
        with pytest.raises(OSError, match=r"^its kernel did not start$"):
            received(ours)


def test_what_is_shown_behind_the_walls_is_python_the_system_and_no_answer(tmp_path, monkeypatch):
    """What exists of it; the exercises, our package and other clients' are hidden."""
    extra = tmp_path / "extra"
    (extra / "aiokafka").mkdir(parents=True)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(extra), "relative"]))
    shown = walls._walls(tmp_path, PROTECTIONS)
    assert set(shown.protections) == PROTECTIONS
    assert {f"{sys.prefix}/bin", f"{sys.base_prefix}/lib", str(extra)} <= {*shown.visible}
    assert not {"/", "/etc", "/var", "/opt", str(Path.home()), sys.prefix} & {*shown.visible}
    assert all(map(os.path.exists, shown.visible))
    hidden = {str(extra / "aiokafka"), str(Path(kafkalearn.__file__).parent), str(FOLDER.parent)}
    assert hidden <= {*shown.hidden}
    assert (shown.lent, shown.work) == (str(tmp_path / "lent"), str(tmp_path / "work"))


def test_an_environment_of_its_own_tells_nothing_of_ours(monkeypatch):
    """A path, a language, the order of sets; without that protection all of it is there."""
    monkeypatch.setenv("SECRET", "x")
    own = walls._environment(PROTECTIONS)
    assert "SECRET" not in own
    assert own["PATH"].split(os.pathsep)[0] == f"{sys.prefix}/bin"
    assert (own["PYTHONHASHSEED"], own["LANG"]) == ("0", "C.UTF-8")
    assert "-Xmx512m" in own["JAVA_TOOL_OPTIONS"].split()
    assert walls._environment(PROTECTIONS - {"environment"}) == dict(os.environ)
