"""Which tests need walls: skipped where the system refuses them, not where ours are broken."""

import errno
import sys

import pytest

from kafkalearn.grading.isolation.walls import isolation_problem

REFUSED = (errno.EPERM, errno.EACCES, errno.ENOSPC, errno.ENOSYS)


def refusal() -> str:
    """Why this machine lets nobody build walls; '' if it does, or if it is ours that fail."""
    problem = isolation_problem() or ""
    is_refused = any(f"[Errno {number}]" in problem for number in REFUSED)
    return problem if is_refused or sys.platform != "linux" else ""


needs_walls = pytest.mark.skipif(bool(refusal()), reason=refusal())
