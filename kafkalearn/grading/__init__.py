"""Grading: ``check`` in a learner's notebook, the judge that decides, the runner of submissions.

Evidence, not verdicts: the process that runs a learner's code only answers questions (`answering`).
What is asked, and whether the answer was right, is known to another process (`judging`). How a
notebook runs is in `engines`, what keeps it in is `isolation`; `handed_in` and `report` are the two
ends of grading a class. Names are found on first use: a learner's process has no judge's half.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafkalearn.grading.answering.learner import CheckFailedError, check

__all__ = ["CheckFailedError", "check"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from kafkalearn.grading.answering import learner

    return getattr(learner, name)
