"""Where two traces part: what `what_if` and the views mark when a story is told in two ways."""

from typing import Any

from kafkalearn.trace.event import Event
from kafkalearn.trace.kind import SYNC_STATES
from kafkalearn.trace.trace import Trace


def first_difference(before: Trace, after: Trace) -> int | None:
    """Give the first place where something else happens; None if nowhere.

    Where one trace goes on after the other has ended, that is the first place of the rest. What a
    message holds in its fields is no difference by itself, but what comes of it is: another
    session timeout is written into the first JoinGroup, and matters when a session ends.
    """
    for place, (one, other) in enumerate(zip(before, after, strict=False)):
        if _happened(one) != _happened(other):
            return place
    shorter = min(len(before), len(after))
    return None if len(before) == len(after) else shorter


def _happened(event: Event) -> Any:
    """Leave out the run, and seq, which follows from the place."""
    detail = event.detail
    if detail:
        detail = {
            key: SYNC_STATES[0] if value in SYNC_STATES else value
            for key, value in detail.items()
            if key != "fields"
        }
    return (*event[2:-1], detail or None)
