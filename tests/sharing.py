"""Hands whole files, and some whole folders, to one worker of pytest-xdist.

The cells of a notebook run in one kernel, and tests of one file share its fixtures; one Spark
session and one JupyterLab are enough for their folder, and of the notebooks that start a Spark one
runs at a time. pytest-xdist's own `xdist_group` is not
used: version 3.8 writes groups to a place that pytest 9.2 no longer reads, and says nothing.
"""

from xdist.scheduler import LoadScopeScheduling

ONE_WORKER = ("tests/spark/", "tests/browser/", "notebooks/6")


def group(nodeid: str) -> str:
    """What the test shares with others: what begins as in ONE_WORKER, or else its file."""
    file = nodeid.split("::")[0]
    return next((begin for begin in ONE_WORKER if file.startswith(begin)), file)


class SharingScheduler(LoadScopeScheduling):
    """xdist's scheduler for scopes, where a scope is a `group`."""

    def _split_scope(self, nodeid: str) -> str:
        return group(nodeid)
