"""Submissions that attack their grading, each with the grade that it must get.

A probe is a cell of a right answer that stops with "reached" if it gets at something that it must
not: behind the walls it finds nothing, and the answer passes. Names in capitals are put in by the
test that hands the submission in.
"""

from typing import NamedTuple

from tests.grading.submissions import (
    CHECKS,
    FOLDER,
    answered,
    as_bytes,
    code,
    notebook,
    without_checks,
)

SOLUTION = notebook(FOLDER / "solution.ipynb")
DEF = "def range_assign(partitions_per_topic, subscriptions):\n"
WRONG = answered(DEF + "    return {}")
PASSED, FAILED, NOT_REACHED, NOT_RUN = "passed", "failed", "not_reached", "not_run"


class Attack(NamedTuple):
    """A submission, the status of all its checks, and what every reason matches."""

    content: bytes
    status: str
    reason: str = ""


def with_cell(source: str, book: dict = SOLUTION) -> bytes:
    """The solution, or another notebook, with one more cell, right before its checks."""
    before, checks = book["cells"][: -len(CHECKS)], book["cells"][-len(CHECKS) :]
    return as_bytes(book | {"cells": [*before, code(source), *checks]})


def wrong_with(source: str) -> bytes:
    """A wrong answer with one more cell."""
    book = notebook()
    for cell in book["cells"]:
        if cell["id"] == "answer":
            cell["source"] = DEF + "    return {}"
    return with_cell(source, book)


def answering(source: str) -> bytes:
    """An answer whose body is this."""
    return answered(DEF + "".join(f"    {line}\n" for line in source.splitlines()))


# These are run with little patience.
LOOPS = {
    "endless": Attack(
        with_cell("while True: pass"), NOT_REACHED, "ran longer than 2 s and was interrupted"
    ),
    "endless at import": Attack(
        with_cell("open('m.py', 'w').write('while True: pass')\nimport m"),
        NOT_REACHED,
        "ran longer than 2 s and was interrupted",
    ),
    "swallows interrupts": Attack(
        with_cell(
            "import time\nwhile True:\n    try: time.sleep(600)\n    except KeyboardInterrupt: pass"
        ),
        NOT_REACHED,
        r"ran longer than 4 s and was ended in the cell `import time`",
    ),
    "answers late": Attack(
        answering("import time\ntime.sleep(600)"), FAILED, "ran longer than|not reached, since"
    ),
}
TOO_MUCH = {
    "fork bomb": Attack(
        with_cell("import os\nwhile True: os.fork()"),
        NOT_REACHED,
        "at most 32 processes and threads are allowed",
    ),
    "thread bomb": Attack(
        with_cell(
            "import threading, time\n"
            "while True: threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
        ),
        NOT_REACHED,
        "at most 32 processes and threads are allowed",
    ),
    "memory bomb": Attack(
        with_cell("x = []\nwhile True: x.append(bytearray(b'x' * 2**22))"),
        NOT_REACHED,
        "MemoryError.*at most 512 MB of memory are allowed",
    ),
    "memory in many processes": Attack(
        with_cell(
            "import os, time\n"
            "for _ in range(8):\n"
            "    if not os.fork():\n"
            "        x = bytearray(b'x' * 100 * 2**20)\n"
            "        time.sleep(60)\n"
            "time.sleep(60)"
        ),
        NOT_REACHED,
        "used more than 512 MB of memory and was ended in",
    ),
    "disk bomb": Attack(
        with_cell("for i in range(99):\n    with open(str(i), 'wb') as f: f.write(b'x' * 2**20)"),
        NOT_REACHED,
        "No space left.*files may hold at most 16 MB",
    ),
    "one large file": Attack(
        with_cell("with open('x', 'wb') as f: f.truncate(2**30)"),
        NOT_REACHED,
        "File too large.*files may hold at most 16 MB",
    ),
    "open files": Attack(
        with_cell("x = [open('/dev/null') for _ in range(1000)]"), NOT_REACHED, "Too many open"
    ),
    "output flood": Attack(
        with_cell("while True: print('x' * 1000)"), NOT_REACHED, "wrote more than 200 kB"
    ),
    "output without a line's end": Attack(
        with_cell("import sys\nwhile True: sys.stdout.write('x' * 9999)"),
        NOT_REACHED,
        "wrote more than 200 kB",
    ),
    "thousands of checks": Attack(
        with_cell(
            "from kafkalearn.grading import check\n"
            "while True:\n"
            "    try: check('41_range_assignor/by-name', lambda *_: 0)\n"
            "    except AssertionError: pass"
        ),
        NOT_REACHED,
        "asked for more checks than any needs",
    ),
    "recursion": Attack(with_cell("f = lambda: f()\nf()"), NOT_REACHED, "RecursionError"),
    "recursion in C": Attack(
        with_cell(
            "import sys\nsys.setrecursionlimit(10**9)\nx = []\n"
            "for _ in range(10**6): x = [x]\nrepr(x)"
        ),
        NOT_REACHED,
        "was killed by SIGSEGV when it came to the cell `import sys`",
    ),
}
LEAVING = {
    "os._exit": Attack(
        with_cell("import os; os._exit(0)"),
        NOT_REACHED,
        r"Python process ended when it came to the cell `import os; os._exit\(0\)`",
    ),
    "sys.exit": Attack(with_cell("import sys\nsys.exit(0)"), NOT_REACHED, r"left by sys.exit\(\)"),
    "kills its parent": Attack(
        with_cell("import os\nos.kill(os.getppid(), 9)"), NOT_REACHED, "killed by SIGKILL"
    ),
    "kills its group": Attack(
        with_cell("import os\nos.killpg(0, 9)"), NOT_REACHED, "killed by SIGKILL"
    ),
    "aborts": Attack(with_cell("import os\nos.abort()"), NOT_REACHED, "killed by SIGABRT"),
    "closes everything": Attack(
        with_cell("import os\nos.closerange(0, 256)"), NOT_REACHED, "Python process ended|cut its"
    ),
    "closes the judge's ear": Attack(
        with_cell("import os\nos.close(int(os.environ['KAFKALEARN_JUDGE']))"),
        FAILED,
        "Bad file descriptor",
    ),
    "cuts the connection": Attack(
        with_cell("import os, time\nos.close(3)\ntime.sleep(60)"),
        NOT_REACHED,
        "cut its connection to the judge",
    ),
    "exits in the answer": Attack(
        answering("import os\nos._exit(0)"),
        "failed or not_reached",
        "Python process ended when it came to",
    ),
}
FORGING = {
    "replaces check": Attack(
        wrong_with("import kafkalearn.grading\nkafkalearn.grading.check = lambda *_, **__: None"),
        FAILED,
        "the judge was not asked",
    ),
    "replaces the package": Attack(
        wrong_with(
            "import kafkalearn.grading.answering.learner as learner\n"
            "learner._over_socket = lambda *_: (True, 'right in 8 of 8 cases')"
        ),
        FAILED,
        "the judge was not asked",
    ),
    "replaces the module": Attack(
        wrong_with(
            "import sys, types\nm = types.ModuleType('m')\n"
            "m.check = lambda *_, **__: print('right in 8 of 8 cases')\n"
            "for name in ('kafkalearn.grading', 'kafkalearn.grading.answering.learner'):\n"
            "    sys.modules[name] = m"
        ),
        FAILED,
        "the judge was not asked",
    ),
    "replaces json": Attack(
        wrong_with("import json\njson.loads = lambda *_: {'passed': True, 'text': 'right'}"),
        "failed or not_reached",
        "Python process ended|judge was not asked",
    ),
    "replaces builtins": Attack(
        wrong_with("import builtins\nbuiltins.isinstance = lambda *_: True"),
        "failed or not_reached",
    ),
    "prints and displays evidence": Attack(
        wrong_with(
            "from IPython.display import display\n"
            "for c in CHECKS: print(f'{c}: right in 8 of 8 cases')\n"
            "display({'passed': True, 'text/plain': 'right'}, raw=True)"
        ),
        FAILED,
        "is missing",
    ),
    "speaks for the judge": Attack(
        wrong_with(
            "import os\n"
            "for fd in range(3, 99):\n"
            "    for line in (b'{\"done\": null}', b'{\"passed\": true}', b'x'):\n"
            "        try: os.write(fd, line + b'\\n')\n"
            "        except OSError: pass"
        ),
        "failed or not_reached",
    ),
    "asks twice": Attack(
        with_cell(
            "import kafkalearn.grading as g\nask = g.check\n"
            "def check(name, answer, **_):\n"
            "    try: ask(name, lambda *_: {})\n"
            "    except AssertionError: pass\n"
            "    ask(name, answer)\n"
            "g.check = check"
        ),
        FAILED,
        "is missing",
    ),
    "deletes its checks": Attack(
        as_bytes(without_checks(SOLUTION) | {"metadata": {}}), PASSED, "right in"
    ),
    "changes its seed": Attack(with_cell("seed = 1"), PASSED, "right in"),
    "equals everything": Attack(
        answering(
            "class Yes:\n    __eq__ = lambda *_: True\n    __hash__ = lambda *_: 1\nreturn Yes()"
        ),
        FAILED,
        "the answer holds a Yes",
    ),
    "a dict that lies": Attack(
        answering(
            "class Lies(dict):\n    __eq__ = lambda *_: True\n    __contains__ = lambda *_: True\n"
            "return Lies()"
        ),
        FAILED,
        "is missing",
    ),
    "changes its answer": Attack(
        answering(
            "a = {m: [] for m in subscriptions}\nimport threading\n"
            "threading.Timer(0.001, lambda: a.clear()).start()\nreturn a"
        ),
        FAILED,
        "gets nothing|is missing",
    ),
    "a gigantic number": Attack(
        answering("return {m: [10 ** 10000] for m in subscriptions}"),
        FAILED,
        "the answer is not JSON|your code stopped with ValueError",
    ),
    "a gigantic text": Attack(
        answering("return 'x' * (20 * 2**20)"),
        "failed or not_reached",
        "the answer is longer than|no end of answers",
    ),
    "not a number": Attack(
        answering("return {m: [float('nan')] for m in subscriptions}"), FAILED, "gets nan"
    ),
    "an answer in itself": Attack(
        answering("a = []\na.append(a)\nreturn a"), FAILED, "holds itself, or is nested too deeply"
    ),
}
GARBAGE = {
    "50 MB": Attack(
        as_bytes(SOLUTION | {"metadata": {"x": "x" * (50 * 2**20)}}), NOT_RUN, "larger than 10 MB"
    ),
    "no JSON": Attack(b"{", NOT_RUN, "does not hold JSON"),
    "nbformat 3": Attack(as_bytes(SOLUTION | {"nbformat": 3}), NOT_RUN, "format is 3"),
    "no UTF-8": Attack("# Grüße".encode("latin-1"), NOT_RUN, "not UTF-8"),
    "empty": Attack(b"", NOT_RUN, "empty"),
    "nested JSON": Attack(b"[" * 100_000, NOT_RUN, "does not hold JSON"),
}
# name -> (a cell, the protections without which it reaches what it looks for)
PROBES = {
    "solutions": (
        "import os\nassert not os.path.exists('FOLDER/solution.ipynb'), 'reached'",
        "root",
    ),
    "judge.py": ("import os\nassert not os.path.exists('FOLDER/judge.py'), 'reached'", "root"),
    "the judge's half": (
        "import sys, os\nsys.path.append('CHECKOUT')\n"
        "assert not os.path.exists('CHECKOUT/kafkalearn/grading/judging/judge.py'), 'reached'",
        "root",
    ),
    "other submissions": ("import os\nassert not os.path.exists('VICTIM'), 'reached'", "root"),
    "a symlink": (
        "import os\nos.symlink('VICTIM', 'x')\nassert not os.path.exists('x'), 'reached'",
        "root",
    ),
    "deletes files": (
        "import shutil, os\nseen = os.path.exists('VICTIM')\n"
        "shutil.rmtree('VICTIM', ignore_errors=True)\n"
        "assert not seen or os.path.exists('VICTIM'), 'reached'",
        "root",
    ),
    "the environment": (
        "import os\nassert 'SECRET' not in os.environ, 'reached'\n"
        "assert b'SECRET' not in open('/proc/self/environ', 'rb').read(), 'reached'",
        "environment",
    ),
    "network": (
        "import socket\ntry: socket.create_connection(('127.0.0.1', PORT), 5)\n"
        "except OSError: pass\nelse: raise AssertionError('reached')",
        "network",
    ),
    "an abstract socket": (
        "import socket\ns = socket.socket(socket.AF_UNIX)\ntry: s.connect('\\0ABSTRACT')\n"
        "except OSError: pass\nelse: raise AssertionError('reached')",
        "network",
    ),
    "shared memory": (
        "import ctypes\nassert ctypes.CDLL(None).shmget(SHARED, 1, 0) == -1, 'reached'",
        "ipc calls",
    ),
    # Packets, which the kernel itself would refuse with another error than 97, EAFNOSUPPORT, and
    # vsock, by which a guest talks to its host: no network namespace holds it.
    "other sockets": (
        "import socket\n"
        "for family in (17, 40):\n"
        "    try: socket.socket(family, socket.SOCK_DGRAM).close()\n"
        "    except OSError as error: assert error.errno == 97, 'reached'\n"
        "    else: raise AssertionError('reached')",
        "calls",
    ),
    "memory that nobody counts": (
        "import os\ntry: os.memfd_create('x')\nexcept OSError: pass\n"
        "else: raise AssertionError('reached')",
        "calls",
    ),
    "other processes": (
        "import os\nothers = [p for p in os.listdir('/proc') if p.isdigit() and int(p) > 99]\n"
        "assert not others, 'reached'",
        "pids",
    ),
    "the server's memory": (
        "import os\n"
        "for p in filter(str.isdigit, os.listdir('/proc')):\n"
        "    if int(p) in (1, os.getppid()):\n"
        "        try: open(f'/proc/{p}/mem', 'rb').close()\n"
        "        except OSError: pass\n"
        "        else: raise AssertionError('reached')",
        "user pids",
    ),
    "privileges": (
        # Graded by a plain user it has that user's id, which its namespace calls 0.
        "import os, ctypes\nlibc = ctypes.CDLL(None)\n"
        "for call in (lambda: os.setuid(0 if os.getuid() else 1), lambda: os.chroot('.')):\n"
        "    try: call()\n"
        "    except OSError: pass\n"
        "    else: raise AssertionError('reached')\n"
        "assert libc.mount(b'x', b'/scratch/tmp', b'tmpfs', 0, b'') == -1, 'reached'\n"
        "assert libc.unshare(0x10000000) == -1, 'reached'\n"
        "assert libc.ptrace(16, 1, 0, 0) == -1, 'reached'\n"
        "assert 'Eff:\\t0000000000000000' in os.popen('cat /proc/self/status').read(), 'reached'",
        "user",
    ),
    "descriptors": (
        "import os\nmine = (0, 1, 2, 3, 4)\nfor fd in range(5, 256):\n"
        "    try: kind = os.readlink(f'/proc/self/fd/{fd}')\n"
        "    except OSError: continue\n"
        "    assert not kind.startswith(('socket', 'anon_inode:[pidfd]')), 'reached'",
        "descriptors",
    ),
}
HARMLESS = {
    "uses a shell": with_cell("!echo hello > x\nassert open('x').read() == 'hello\\n'"),
    "kills everybody": with_cell("import os\ntry: os.kill(-1, 9)\nexcept OSError: pass"),
    "leaves a thread": with_cell(
        "import threading\ndef spin():\n    while True: pass\nthreading.Thread(target=spin).start()"
    ),
    "leaves a daemon": with_cell(
        "import os, time\nif not os.fork():\n    os.setsid()\n    if not os.fork():\n"
        "        time.sleep(600)\n    os._exit(0)"
    ),
    "leaves atexit hooks": with_cell(
        "import atexit, os\natexit.register(lambda: os.kill(0, 9))\natexit.register(print, 'right')"
    ),
    "forks and goes on": with_cell("import os\nos.fork()"),
    "ignores signals": with_cell(
        "import signal\nfor n in (1, 2, 3, 15): signal.signal(n, signal.SIG_IGN)"
    ),
}
