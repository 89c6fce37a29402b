"""Grading: ``check`` in a learner's notebook, the judge that decides, the runner of submissions.

Evidence, not verdicts: the process that runs a learner's code (`learner`, `wire`) only answers
questions. What is asked, and whether the answer was right, is known to another process (`judge`,
`judge_server`, `runner`). Names are found on first use: a learner's process in grading has a copy
of this package without the judge's half.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafkalearn.grading.learner import CheckFailedError, check

__all__ = ["CheckFailedError", "check"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from kafkalearn.grading import learner

    return getattr(learner, name)
