"""System calls that Python 3.11 lacks: namespaces, mounts, the loss of privileges."""

import ctypes
import os
import signal
import socket
import struct
import time
from functools import cache
from pathlib import Path
from typing import Any

NEWNS, NEWUTS, NEWIPC, NEWUSER = 0x20000, 0x4000000, 0x8000000, 0x10000000
NEWPID, NEWNET = 0x20000000, 0x40000000
NOSUID, NODEV, NOEXEC, BIND, REC, PRIVATE = 2, 4, 8, 0x1000, 0x4000, 0x40000
_MOUNT_SETATTR = 442  # the number of the system call, the same on all machines
_HERE, _RECURSIVE = -100, 0x8000
_ATTR_RDONLY, _ATTR_NOSUID = 1, 2
_SET_PDEATHSIG, _SET_DUMPABLE, _SET_SECCOMP, _SET_NO_NEW_PRIVS = 1, 4, 22, 38
_SECCOMP_FILTER = 2
_SET_INTERFACE_FLAGS, _INTERFACE_UP = 0x8914, 1
_CAPABILITY_VERSION = 0x20080522


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: Any) -> None:
    whole = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    if getattr(_libc(), name)(*whole) == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Leave the namespaces of these kinds for new ones; a pid namespace is for children only."""
    _call("unshare", flags)


def setns(descriptor: int, flags: int) -> None:
    """Enter namespaces of the process that a pidfd stands for."""
    _call("setns", descriptor, flags)


def loopback_up() -> None:
    """Let what is in a new network namespace reach itself, as Python and its Java do."""
    import fcntl

    request = struct.pack("16sh22x", b"lo", _INTERFACE_UP)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_INTERFACE_FLAGS, request)


def mount(source: str, target: str, *, kind: str = "", flags: int, data: str = "") -> None:
    """Mount a file system of a kind, or bind a folder when `flags` say so."""
    _call("mount", *map(os.fsencode, (source, target, kind)), flags, os.fsencode(data))


def make_read_only(path: str) -> None:
    """Also what is mounted below it; needs Linux 5.12."""
    attributes = (ctypes.c_uint64 * 4)(_ATTR_RDONLY | _ATTR_NOSUID, 0, 0, 0)
    pointer = ctypes.byref(attributes)
    _call("syscall", _MOUNT_SETATTR, _HERE, os.fsencode(path), _RECURSIVE, pointer, 32)


def die_with_parent() -> None:
    """Be killed when the process that started this one ends."""
    _call("prctl", _SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def exit_status(pid: int) -> int | None:
    """How another's child ended, as Popen says it; None if that is not to be seen.

    It is as long as its parent has not asked, from a moment after its files were closed on.
    """
    patience = time.monotonic() + 1
    while time.monotonic() < patience:
        try:
            state, *_, code = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
        except OSError:
            break
        if state == "Z":
            return os.waitstatus_to_exitcode(int(code))
        time.sleep(0.005)
    return None


def give_up_privileges() -> None:
    """Lose all capabilities, and the way to get any by starting a program."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _call("capset", ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))
    _call("prctl", _SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    # A change of user hides a process's own /proc from it; nothing in it is secret.
    _call("prctl", _SET_DUMPABLE, 1, 0, 0, 0)


def set_filter(program: Any) -> None:
    """Let a seccomp program decide on each system call, of this process and all it starts."""
    _call("prctl", _SET_SECCOMP, _SECCOMP_FILTER, program, 0, 0)
