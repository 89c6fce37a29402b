"""Runs the cells of one notebook in an IPython shell, at the other end of a socket.

In: one JSON object a line, ``{"source": …}``. Out: ``stream``, ``display``, ``result`` while it
runs and, after each cell, ``done`` with its error if it has one. The reader trusts nothing of it.
"""

import errno
import json
import os
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module
from io import TextIOBase
from pathlib import Path
from threading import RLock
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import kafkalearn

WARM = "None\n1 + 1\nprint(end='')"
_FLUSH = 2**13  # characters


class _Outlet:
    """Where outputs go, once a process has a socket for them."""

    def __init__(self) -> None:
        self.socket: socket.socket | None = None
        self.lock = RLock()

    def send(self, **message: Any) -> None:
        if self.socket:
            with self.lock:
                # An interrupt may have cut the line before.
                self.socket.sendall(b"\n" + json.dumps(message, default=repr).encode() + b"\n")


OUTLET = _Outlet()


class _Stream(TextIOBase):
    """Standard output or error, sent in pieces."""

    encoding = "utf-8"

    def __init__(self, name: str) -> None:
        self.name = name
        self.pieces: list[str] = []
        self.length = 0

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        with OUTLET.lock:
            self.pieces.append(text)
            self.length += len(text)
            if self.length > _FLUSH:
                self.flush()
        return len(text)

    def flush(self) -> None:
        with OUTLET.lock:
            if self.pieces:
                text, self.pieces, self.length = "".join(self.pieces), [], 0
                OUTLET.send(stream=self.name, text=text)


class _Results(DisplayHook):
    """The value of a cell's last line."""

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: dict[str, Any], md_dict: Any = None) -> None:
        OUTLET.send(result=format_dict)

    def finish_displayhook(self) -> None:
        pass


class _Displays(DisplayPublisher):
    """What a cell displays."""

    def publish(  # type: ignore[override]
        self, data: dict[str, Any], metadata: Any = None, **_: Any
    ) -> None:
        OUTLET.send(display=data)


class _Shell(InteractiveShell):
    """A shell whose errors are read from its results, not shown."""

    displayhook_class = _Results
    display_pub_class = _Displays

    def showtraceback(self, *_: Any, **__: Any) -> None:
        pass

    def showsyntaxerror(self, *_: Any, **__: Any) -> None:
        pass

    def ask_exit(self) -> None:
        raise SystemExit


def warm_shell() -> InteractiveShell:
    """A shell that has run a cell, with every lent module imported."""
    for path in sorted(Path(kafkalearn.__path__[0]).rglob("*.py")):
        name = ".".join(path.relative_to(Path(kafkalearn.__path__[0]).parent).with_suffix("").parts)
        import_module(name.removesuffix(".__init__"))
    config = Config()
    config.HistoryManager.enabled = False
    shell: InteractiveShell = _Shell.instance(config=config)
    shell.run_cell(WARM, store_history=False)  # type: ignore[no-untyped-call]
    assert shell.display_formatter
    shell.display_formatter.format(None)  # type: ignore[no-untyped-call]
    return shell


def run_cells(shell: InteractiveShell, connection: socket.socket) -> None:
    """Run what comes until the other side is gone."""
    OUTLET.socket = connection
    sys.stdout, sys.stderr = _Stream("stdout"), _Stream("stderr")
    sys.path.insert(0, "")
    me = os.getpid()
    for line in connection.makefile("rb"):
        error = _run(shell, json.loads(line)["source"])
        if os.getpid() != me:  # A fork of a learner's that did not leave its cell goes no further.
            if error and error["ename"] == BlockingIOError.__name__:
                os.kill(me, signal.SIGUSR1)
            os._exit(0)
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
        OUTLET.send(done=error)


def _run(shell: InteractiveShell, source: str) -> dict[str, str] | None:
    """Run a cell; name its error. An interrupt means the cell and nothing else."""
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGUSR1, _no_room)
        result = shell.run_cell(source, store_history=True)  # type: ignore[no-untyped-call]
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    except (KeyboardInterrupt, BlockingIOError) as stopped:
        return _named(stopped)
    error = result.error_before_exec or result.error_in_exec
    return _named(error) if error else None


def _no_room(*_: object) -> None:
    """Stop where a fork met the limit of processes, and made room by its end."""
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def _named(error: BaseException) -> dict[str, str]:
    try:
        value = str(error)
    except Exception:
        value = "its text cannot be had"
    return {"ename": type(error).__name__, "evalue": value}


def run_kernel(connection: dict[str, Any], outlet: socket.socket) -> None:
    """Become a real kernel; its sockets lie in a folder whose descriptor is sent first."""
    folder = Path(os.environ["TMPDIR"], "ipc")
    folder.mkdir()
    file = folder / "connection.json"
    file.write_text(json.dumps(connection | {"ip": str(folder / "k")}), encoding="utf-8")
    socket.send_fds(outlet, [b"k"], [os.open(folder, os.O_PATH)])
    os.set_inheritable(outlet.fileno(), True)
    os.execv(sys.executable, [sys.executable, "-m", "ipykernel_launcher", "-f", str(file)])
