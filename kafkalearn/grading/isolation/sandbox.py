"""Walls round processes that run learners' code: few folders, no network, no privileges, limits.

``python -m kafkalearn.grading.isolation.sandbox`` reads Walls from its standard input, a socket,
goes behind them, and becomes the fork server. Each process that the server starts confines
itself further. The judge's half of the package is on neither side of the wall.
"""

import json
import os
import signal
import socket
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from kafkalearn.grading.isolation import linux
from kafkalearn.grading.isolation.system_calls import refuse_system_calls

# What the walls are made of, by name, so that a test can leave one out.
WITHOUT_PRIVILEGES = frozenset({"session", "descriptors", "environment", "limits", "watch"})
PROTECTIONS = WITHOUT_PRIVILEGES | {"root", "network", "pids", "ipc", "user", "calls"}
SCRATCH = "/scratch"  # behind the walls: the one folder to write to
LENT = "/lent"
_OWN = ("tmp", "dev/shm")  # folders for all: each process has its own, in SCRATCH
_APART = "/apart"  # behind the walls: what is lent of these, as where Python itself lies there
NEW_ROOT = "/proc"  # a mount point on every Linux, also where `/` is none
MOST_MESSAGE = 2**17  # bytes
_DEVICES = ("null", "zero", "full", "random", "urandom")
_HOSTS = "127.0.0.1 localhost\n"
_USERS = "root:x:0:0::/:/bin/sh\nlearner:x:{user}:{user}::{home}:/bin/sh\n"
_HIGH, _MOST_INODES, _MB = 256, 10_000, 2**20


class Walls(NamedTuple):
    """What a fork server goes behind, and where it works if it has no root of its own.

    visible: files and folders of the machine that stay, read-only. hidden: folders in these that
    are shown empty. lent: the copy of the package.
    """

    protections: list[str]
    visible: list[str]
    hidden: list[str]
    lent: str
    work: str

    def has(self, name: str) -> bool:
        """Whether a protection is on."""
        return name in self.protections

    @property
    def scratch(self) -> str:
        """Where a learner's process may write."""
        return SCRATCH if self.has("root") else self.work


def _flags(walls: Walls, **flags: int) -> int:
    return sum(flag for name, flag in flags.items() if walls.has(name))


def enter(walls: Walls) -> None:
    """Go behind the walls; OSError if the system does not let us.

    With a pid namespace the rest of the program runs in a child: what it starts ends with it.
    """
    new_namespaces = linux.NEWNS | linux.NEWUTS
    flags = _flags(walls, root=new_namespaces, network=linux.NEWNET, pids=linux.NEWPID)
    if flags and os.geteuid() != 0:
        maps = {"setgroups": "deny", "uid_map": f"0 {os.getuid()} 1"}
        maps["gid_map"] = f"0 {os.getgid()} 1"
        linux.unshare(linux.NEWUSER)
        for name, text in maps.items():
            Path("/proc/self", name).write_text(text, encoding="ascii")
    linux.unshare(flags)
    if walls.has("network"):
        linux.loopback_up()
    if walls.has("pids") and (child := os.fork()):
        os.closerange(0, 2**20)
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF)
    linux.die_with_parent()
    if walls.has("root"):
        _build_root(walls)
        os.chdir(NEW_ROOT)
        os.chroot(".")
        os.chdir("/")
        _own_proc()


def _build_root(walls: Walls) -> None:
    linux.mount("", NEW_ROOT, flags=linux.PRIVATE)
    _tmpfs(NEW_ROOT, "mode=755,size=8m")
    for name in ("empty", "proc", "etc", "dev/pts", SCRATCH[1:]):
        Path(NEW_ROOT, name).mkdir(parents=True)
    Path(NEW_ROOT, "etc/hosts").write_text(_HOSTS, encoding="ascii")
    # Each submission has a user of its own, whose name Java wants to know.
    Path(NEW_ROOT, "etc/passwd").symlink_to(f"{SCRATCH}/passwd")
    for path in sorted(walls.visible):
        _show(path, _place(path))
    _show(walls.lent, LENT)
    # From here on nothing may happen to the machine's own folders.
    linux.mount("", NEW_ROOT, flags=linux.PRIVATE | linux.REC)
    for path in walls.hidden:
        if os.path.isdir(place := NEW_ROOT + _place(path)):
            linux.mount(f"{NEW_ROOT}/empty", place, flags=linux.BIND)
    for name in _OWN:
        Path(NEW_ROOT, name).symlink_to(Path(SCRATCH, Path(name).name))
    for name in _DEVICES:
        _show(f"/dev/{name}", f"/dev/{name}")
    Path(NEW_ROOT, "dev/ptmx").symlink_to("pts/ptmx")
    Path(NEW_ROOT, "dev/fd").symlink_to("/proc/self/fd")
    linux.make_read_only(NEW_ROOT)
    _tmpfs(NEW_ROOT + SCRATCH, "mode=755,size=8m")
    for name in _OWN:
        _make_own(NEW_ROOT, name)


def _place(path: str) -> str:
    """Where a file or folder of the machine is to be shown."""
    is_own = path.startswith(tuple(f"/{name}/" for name in _OWN))
    return _APART + path if is_own else path


def _make_own(root: str, name: str) -> None:
    """Make one of a process's own folders; what is lent of it is in there, too."""
    own = Path(root + SCRATCH, Path(name).name)
    own.mkdir(exist_ok=True)
    lent = f"{_APART}/{name}"
    for entry in os.listdir(root + lent) if os.path.isdir(root + lent) else ():
        own.joinpath(entry).symlink_to(f"{lent}/{entry}")


def _show(path: str, at: str) -> None:
    target = Path(NEW_ROOT + at)
    if not os.path.exists(path) or os.path.lexists(target):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if os.path.islink(path) and not os.path.isabs(os.readlink(path)):
        target.symlink_to(os.readlink(path))
        return
    target.mkdir() if os.path.isdir(path) else target.touch()
    linux.mount(path, str(target), flags=linux.BIND | linux.REC)


def _tmpfs(at: str, options: str) -> None:
    linux.mount("kafkalearn", at, kind="tmpfs", flags=linux.NOSUID | linux.NODEV, data=options)


def _own_proc() -> None:
    linux.mount("proc", "/proc", kind="proc", flags=linux.NOSUID | linux.NODEV | linux.NOEXEC)


def confine(
    walls: Walls, limits: Mapping[str, int], *, user: int, keep: Iterable[int]
) -> list[int]:
    """Make this process fit to run a learner's code; give the new numbers of kept descriptors.

    limits: memory_mb, disk_mb, processes, open_files, cpu_seconds. user: its id; 0: no other is to
    be had.
    """
    linux.unshare(_flags(walls, root=linux.NEWNS, ipc=linux.NEWIPC))
    if walls.has("session"):
        os.setsid()
    if walls.has("root"):
        _tmpfs(SCRATCH, f"mode=755,size={limits['disk_mb']}m,nr_inodes={_MOST_INODES}")
        # A notebook's `!command` wants a terminal; it is a comfort, and no wall.
        with suppress(OSError):
            linux.mount("pts", "/dev/pts", kind="devpts", flags=linux.NOSUID, data="ptmxmode=666")
        if walls.has("pids"):
            _own_proc()
        users = _USERS.format(user=user, home=f"{SCRATCH}/work")
        Path(SCRATCH, "passwd").write_text(users, encoding="ascii")
        for name in _OWN:
            _make_own("", name)
    for name in ("work", "tmp", "shm"):
        folder = Path(walls.scratch, name)
        folder.mkdir(exist_ok=True)
        folder.chmod(0o777)
    os.chdir(Path(walls.scratch, "work"))
    kept = _close_all_but(keep) if walls.has("descriptors") else list(keep)
    if walls.has("limits"):
        _limit(limits)
    if walls.has("user"):
        if user:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        linux.give_up_privileges()
    if walls.has("calls"):
        refuse_system_calls()
    return kept


def _close_all_but(keep: Iterable[int]) -> list[int]:
    """Standard input and outputs lead nowhere; what is kept follows."""
    import fcntl

    high = [fcntl.fcntl(each, fcntl.F_DUPFD, _HIGH) for each in keep]
    nowhere = os.open("/dev/null", os.O_RDWR)
    for number, each in enumerate([nowhere, nowhere, nowhere, *high]):
        os.dup2(each, number)
    os.closerange(3 + len(high), 2**20)
    return list(range(3, 3 + len(high)))


def _limit(limits: Mapping[str, int]) -> None:
    import resource

    here = Path("/proc/self/statm")
    pages = int(here.read_text().split()[0]) if here.exists() else 0
    ours = pages * resource.getpagesize()  # what every process has from its birth
    for name, most in (
        ("AS", ours + limits["memory_mb"] * _MB),
        ("CPU", limits["cpu_seconds"]),
        ("NPROC", limits["processes"]),
        ("FSIZE", limits["disk_mb"] * _MB),
        ("NOFILE", limits["open_files"]),
        ("CORE", 0),
        ("MEMLOCK", 0),
    ):
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def main() -> None:
    """Go behind the walls and become the fork server, or say why that cannot be."""
    control = socket.socket(fileno=os.dup(0))
    walls = Walls(*json.loads(control.recv(MOST_MESSAGE)))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The terminal's is for our starter.
    try:
        enter(walls)
    except OSError as error:
        control.send(json.dumps({"problem": str(error)}).encode())
        sys.exit(1)
    lent = LENT if walls.has("root") else walls.lent
    environment = os.environ | {"PYTHONPATH": lent, "HOME": f"{walls.scratch}/work"}
    environment["TMPDIR"] = environment["IPYTHONDIR"] = os.path.join(walls.scratch, "tmp")
    # A process may read the arguments that it was started with: no paths of the machine in them.
    known = json.dumps(walls._replace(visible=[], hidden=[], lent=lent))
    os.set_inheritable(control.fileno(), True)
    server = [sys.executable, "-P", "-m", "kafkalearn.grading.isolation.fork_server"]
    os.execve(sys.executable, [*server, str(control.fileno()), known], environment)


if __name__ == "__main__":
    main()
