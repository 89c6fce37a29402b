"""A Jupyter kernel that the fork server started, as papermill knows kernels."""

import select
import socket
from typing import Any

from jupyter_client.manager import AsyncKernelManager

from kafkalearn.grading.isolation.walls import SandboxedProcess

_START_SECONDS = 60


class SandboxedKernel(AsyncKernelManager):
    """Alive as long as its process is; its sockets are found through `ip`."""

    process: SandboxedProcess

    @property
    def has_kernel(self) -> bool:
        """Whether there is one: always."""
        return True

    async def _async_is_alive(self) -> bool:
        if self.process.ending is None and select.select([self.process.control], [], [], 0)[0]:
            self.process.notice()
        return self.process.ending is None

    async def _async_interrupt_kernel(self) -> None:
        self.process.interrupt()

    async def _async_shutdown_kernel(self, *_: Any, **__: Any) -> None:
        self.process.end()

    is_alive = _async_is_alive
    interrupt_kernel = _async_interrupt_kernel
    shutdown_kernel = _async_shutdown_kernel


def received(connection: socket.socket) -> int:
    """Wait for the descriptor of the folder that has the kernel's sockets."""
    connection.settimeout(_START_SECONDS)
    _, descriptors, *_ = socket.recv_fds(connection, 1, 1)
    if not descriptors:
        raise OSError("its kernel did not start")
    return descriptors[0]
