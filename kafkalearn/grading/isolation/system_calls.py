"""Refuses system calls that no learner needs and that pass by the other walls (seccomp).

Memory that nobody counts (memfd, System V segments), sockets that no network namespace holds
(vsock), and doors to the kernel that are often faulty. Only where the numbers are known: x86-64
and AArch64; elsewhere everything is allowed.

Source: Linux's seccomp(2), and its system call tables.
"""

import ctypes
import errno
import platform
import struct

from kafkalearn.grading.isolation import linux

# name -> its number on x86-64, on AArch64
REFUSED = {
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "io_uring_setup": (425, 425),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "bpf": (321, 280),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
}
_SOCKET = (41, 198)
_FAMILIES = (1, 2, 10, 16)  # Unix, IPv4, IPv6, netlink: what a network namespace holds
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column, and its audit name
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # where they lie in seccomp_data
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_OTHER_TABLE = 0x40000000  # x86-64 has a second numbering from here on


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def refuse_system_calls() -> None:
    """From now on, for this process and all that it starts; it must have no_new_privs."""
    if platform.machine() not in _MACHINES:
        return
    code = _filter(*_MACHINES[platform.machine()])
    program = _Program(len(code) // 8, code)
    linux.set_filter(ctypes.byref(program))


def _filter(column: int, architecture: int) -> bytes:
    """A test jumps over the next instruction unless it holds, so each is followed by its answer."""
    refuse, allow = (_RETURN, _ERROR | errno.EPERM), (_RETURN, _ALLOW)
    steps = [(_LOAD, _ARCHITECTURE), (_EQUAL, architecture, 1, 0), refuse, (_LOAD, _NUMBER)]
    steps += [(_AT_LEAST, _OTHER_TABLE, 0, 1), refuse]
    for numbers in REFUSED.values():
        steps += [(_EQUAL, numbers[column], 0, 1), refuse]
    steps += [(_EQUAL, _SOCKET[column], 1, 0), allow, (_LOAD, _FIRST_ARGUMENT)]
    for family in _FAMILIES:
        steps += [(_EQUAL, family, 0, 1), allow]
    steps += [(_RETURN, _ERROR | errno.EAFNOSUPPORT)]
    return b"".join(_instruction(*step) for step in steps)


def _instruction(code: int, value: int, if_so: int = 0, if_not: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_so, if_not, value)
