"""The walls themselves: what is behind them, and what happens where they cannot be had."""

import json
import socket
import sys
import textwrap
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import pytest

from kafkalearn.grading.engines import choice as engines
from kafkalearn.grading.engines.fork_engine import ForkRunner
from kafkalearn.grading.engines.runner import run
from kafkalearn.grading.exercise import ALWAYS_LENT, Limits
from kafkalearn.grading.handed_in.collect import Submission
from kafkalearn.grading.isolation import sandbox
from kafkalearn.grading.isolation import walls as isolation
from kafkalearn.grading.isolation.sandbox import PROTECTIONS, WITHOUT_PRIVILEGES
from kafkalearn.grading.isolation.walls import IsolationError, SandboxServer, isolation_problem
from tests.grading.attacks import with_cell
from tests.grading.submissions import EXERCISE
from tests.grading.walls import needs_walls, refusal

pytestmark = pytest.mark.slow


def graded(source, engine):
    """Statuses and reasons of the solution with one more cell."""
    submission = Submission("ann", EXERCISE.name, with_cell(source))
    grades = run(submission, EXERCISE, seed=1, engine=engine)
    return {grade.status for grade in grades}, grades[0].reason


@pytest.fixture(params=[PROTECTIONS, WITHOUT_PRIVILEGES], ids=["walls", "trusted"])
def engine(request):
    """The fork engine with and without walls."""
    if request.param == PROTECTIONS and refusal():
        pytest.skip(refusal())
    engine = ForkRunner(request.param)
    yield engine
    engine.close()


@pytest.mark.skipif(sys.platform != "linux", reason="a fork server needs Linux")
def test_every_submission_finds_an_empty_folder(engine):
    """Nothing of one is there for the next, behind walls or not."""
    source = (
        "import os, tempfile\nassert os.listdir() == []\n"
        "here = os.scandir(tempfile.gettempdir())\n"
        "assert [each for each in here if not each.is_symlink()] == []\n"  # links to what is lent
        "open('x', 'w').close()\ntempfile.mkstemp()"
    )
    assert [graded(source, engine)[0] for _ in range(2)] == [{"passed"}] * 2


@needs_walls
def test_only_python_the_system_and_what_is_lent_are_there():
    """No home, no checkout, no /sys; everything but the scratch folder is read-only."""
    server = SandboxServer(ALWAYS_LENT, protections=PROTECTIONS)
    allowed = {"bin", "sbin", "dev", "etc", "lent", "lib", "lib32", "lib64", "proc", "usr", "tmp"}
    allowed |= {"scratch", "apart", Path(sys.prefix).parts[1], Path(sys.base_prefix).parts[1]}
    source = (
        "import os, kafkalearn\nassert kafkalearn.__path__ == ['/lent/kafkalearn']\n"
        "here = {n for n in os.listdir('/') if os.listdir('/' + n) if os.path.isdir('/' + n)}\n"
        f"allowed = {allowed}\n"
        "assert here <= allowed, here - allowed\n"
        f"for place in ('/', '/usr/lib', '/etc', {sys.prefix!r}):\n"
        "    assert not os.access(place, os.W_OK), place"
    )
    process = server.start(Limits())
    process.cells.sendall(f'{{"source": {json.dumps(source)}}}\n'.encode())
    process.cells.settimeout(60)
    said = process.cells.makefile("rb").read(15)
    process.end()
    server.close()
    assert said.strip().startswith(b'{"done": null}'), said


@needs_walls
def test_a_process_finds_a_small_machine_and_its_limits():
    """Devices, names and folders that programs want are there; what it may use is the exercise's.

    No descriptor but its own is open, and no call that leads out is answered.
    """
    source = """
        import errno, os, pwd, resource, socket, tempfile
        me, here = pwd.getpwuid(os.getuid()), os.statvfs(".")
        pages = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        most = {"CPU": CPU, "NPROC": PROCESSES, "FSIZE": DISK * 2**20, "NOFILE": FILES}
        def limit(name): return resource.getrlimit(getattr(resource, "RLIMIT_" + name))
        def refused(call):
            try: call()
            except OSError as error: return error.errno
        for folder in (*OWN, "."):
            open(folder + "/own", "w").close()
        found = {
            "zero": open("/dev/zero", "rb").read(2) == bytes(2),
            "urandom": len(open("/dev/urandom", "rb").read(2)) == 2,
            "dev": {"null", "full", "random", "ptmx", "fd", "shm"} <= {*os.listdir("/dev")},
            "ptmx": os.readlink("/dev/ptmx") == "pts/ptmx",
            "fd": os.path.exists("/dev/fd/0"),
            "localhost": socket.gethostbyname("localhost") == "127.0.0.1",
            "name": os.getuid() == 0 or me[::5] == ("learner", "/scratch/work"),
            "home": os.path.expanduser("~") == os.getcwd() == "/scratch/work",
            "temporary": os.environ["TMPDIR"] == tempfile.gettempdir() == "/scratch/tmp",
            "disk": here.f_blocks * here.f_frsize == DISK * 2**20,
            "limits": all(limit(name) == (each, each) for name, each in most.items()),
            "none": limit("CORE") == limit("MEMLOCK") == (0, 0),
            "memory": 0 < limit("AS")[0] - MEMORY * 2**20 <= pages,
            "inputs": {os.readlink(f"/proc/self/fd/{n}") for n in range(3)} == {"/dev/null"},
            "descriptors": len(os.listdir("/proc/self/fd")) < 10,
            "session": os.getsid(0) == os.getpid(),
            "processes": sum(map(str.isdecimal, os.listdir("/proc"))) == 2,
            "calls": refused(lambda: os.memfd_create("x")) == errno.EPERM,
            "families": refused(lambda: socket.socket(40)) == errno.EAFNOSUPPORT,
        }
        wrong = [name for name, is_so in found.items() if not is_so]
        assert not wrong, (wrong, os.listdir("/proc/self/fd"), os.listdir("/proc"))
    """
    limits = EXERCISE.limits
    numbers = {
        "MEMORY": limits.memory_mb,
        "DISK": limits.disk_mb,
        "CPU": int(limits.total_seconds) + 1,
        "PROCESSES": limits.processes,
        "FILES": limits.open_files,
        "OWN": [f"/{folder}" for folder in sandbox._OWN],
    }
    set_up = "\n".join(f"{name} = {number}" for name, number in numbers.items())
    engine = ForkRunner(PROTECTIONS)
    status, reason = graded(f"{set_up}\n{textwrap.dedent(source)}", engine)
    engine.close()
    assert status == {"passed"}, reason


@needs_walls
def test_a_folder_for_all_is_ones_own_even_if_python_lies_there(monkeypatch):
    """What is lent of it can be read and not written to; Java writes there, whatever it is told."""
    shared = gettempdir()
    with TemporaryDirectory(dir=shared) as folder:
        Path(folder).chmod(0o755)
        Path(folder, "lent.py").touch()
        monkeypatch.setenv("PYTHONPATH", folder)
        source = (
            "import os\n"
            f"assert os.listdir({folder!r}) == ['lent.py']\n"
            f"assert not os.access({folder!r}, os.W_OK)\n"
            f"open({shared + '/x'!r}, 'w').close()"
        )
        engine = ForkRunner(PROTECTIONS)
        status, reason = graded(source, engine)
        engine.close()
    assert status == {"passed"}, reason


@needs_walls
def test_a_submission_reaches_itself_and_nobody_else():
    """Its own loopback works; a service of this machine is not there, and no way leads out."""
    with socket.create_server(("0.0.0.0", 0)) as service:
        port = service.getsockname()[1]
        socket.create_connection(("127.0.0.1", port)).close()  # from here it can be reached
        source = (
            "import errno, socket\n"
            "server = socket.create_server(('127.0.0.1', 0))\n"
            "socket.create_connection(server.getsockname()).close()\n"
            "assert [name for _, name in socket.if_nameindex()] == ['lo']\n"
            "def said(*address):\n"
            "    return socket.socket().connect_ex(address)\n"
            f"assert said('127.0.0.1', {port}) == errno.ECONNREFUSED\n"
            f"for away in {[*_own_addresses(), '192.0.2.1']}:\n"
            f"    assert said(away, {port}) == errno.ENETUNREACH, away\n"
        )
        engine = ForkRunner(PROTECTIONS)
        status, reason = graded(source, engine)
        engine.close()
        assert status == {"passed"}, reason


def _own_addresses():
    """Addresses of this machine that others could use, if it has any."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            asked.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            return []
        return [asked.getsockname()[0]]


@needs_walls
def test_packages_that_have_an_answer_are_not_there(monkeypatch):
    """Of kafka and aiokafka nothing can be imported, whether they are installed or not."""
    names = ("kafka", "aiokafka", "hypothesis")  # the last one is installed, and stands for them
    source = (
        "from importlib.util import find_spec\n"
        f"found = [name for name in {names} if getattr(find_spec(name), 'origin', None)]\n"
        "assert not found, found"
    )
    engine = ForkRunner(PROTECTIONS)
    status, reason = graded(source, engine)
    engine.close()
    assert (status, "AssertionError: ['hypothesis']" in reason) == ({"not_reached"}, True)
    monkeypatch.setattr(isolation, "_ANSWERS", (*isolation._ANSWERS, "hypothesis"))
    engine = ForkRunner(PROTECTIONS)
    status, reason = graded(source, engine)
    engine.close()
    assert status == {"passed"}, reason


def test_a_machine_without_walls_grades_only_what_is_trusted(monkeypatch):
    """The reason says what is missing."""
    with monkeypatch.context() as patched:
        patched.setattr(isolation, "_walls", _impossible)
        status, reason = graded("pass", engines.engine_called("fork", trusted=False))
    assert status == {"not_run"}
    assert reason.startswith("this machine does not let us isolate submissions (")
    monkeypatch.setattr(engines, "isolation_problem", lambda: "unshare: Operation not permitted")
    trusted = engines.engine_called("fork", trusted=True)
    assert graded("pass", trusted)[0] == {"passed"}
    trusted.close()


@needs_walls
def test_a_server_that_cannot_start_a_process_is_none(monkeypatch):
    """No submission is blamed for it: what a process needs is tried before the first comes."""
    monkeypatch.setattr(isolation, "Limits", lambda: Limits(disk_mb=-1))
    with pytest.raises(IsolationError, match="behind the walls could not be started"):
        SandboxServer(ALWAYS_LENT, protections=PROTECTIONS)


def test_walls_that_are_refused_say_why(monkeypatch):
    """What the system refused is named, as when a container may make no namespaces."""
    monkeypatch.setattr(isolation, "_walls", _impossible)
    isolation_problem.cache_clear()
    try:
        problem = isolation_problem()
    finally:
        isolation_problem.cache_clear()
    assert "does not let us isolate submissions" in problem


def _impossible(room: Path, protections):
    return isolation.Walls(sorted(protections), ["/usr"], [], "/nowhere", str(room))
