"""Which tests must run in one worker of pytest-xdist; see tests/sharing.py."""

from typing import Any

import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out whole files, or folders that share a slow start, in place of `--dist load`."""
    from tests.sharing import SharingScheduler

    return SharingScheduler(config, log)
