"""Run a view model over a trace: one frame for each event of a window, and what is missing.

A model has a method ``on_KIND(event)`` for each kind that it `needs`, and `frame()`, which gives
plain JSON. Equal frames in a row are one object, so that a drawing is made once for each.
"""

from collections.abc import Collection, Mapping
from itertools import islice
from typing import Any, Protocol, TypeVar

from kafkalearn.records import TopicPartition
from kafkalearn.trace import Event, Trace

F = TypeVar("F")
F_co = TypeVar("F_co", covariant=True)
Needs = Mapping[str, tuple[str, ...]]
"""Kind of event -> the columns without which an event of it tells nothing and is passed over."""
_OF_MEMBERS = ("group_state", "group_loaded", "member_joined", "assigned", "revoked")


class Model(Protocol[F_co]):
    """The state that a view shows, moved on by events."""

    needs: Needs

    def frame(self) -> F_co:
        """Tell the state now."""


def fold(trace: Trace, model: Model[F], *, window: range | None = None) -> list[F]:
    """Give the state after each event of `window` (places in the trace; by default all of it)."""
    window = range(len(trace)) if window is None else window
    handlers = {kind: (getattr(model, f"on_{kind}"), cols) for kind, cols in model.needs.items()}
    frames: list[F] = []
    shown: Any = None
    is_stale = True
    for place, event in enumerate(islice(trace, window.stop)):
        handler, columns = handlers.get(event.kind, (None, ()))
        if handler and all(getattr(event, column) is not None for column in columns):
            handler(event)
            is_stale = True
        if place >= window.start:
            if is_stale and (frame := model.frame()) != shown:
                shown = frame
            frames.append(shown)
            is_stale = False
    return frames


def missing(trace: Trace, needs: Needs, *, essential: Collection[str]) -> list[str]:
    """Name the `essential` kinds that the trace has not, or not with the columns they need.

    ``["group_state", "position (topic, partition)"]``: a kind; or columns that are always absent.
    """
    found = []
    for kind in essential:
        events = trace.where(kind=kind)
        absent = [
            column
            for column in needs[kind]
            if all(value is None for value in (getattr(event, column) for event in events))
        ]
        if not events:
            found.append(kind)
        elif absent:
            found.append(f"{kind} ({', '.join(absent)})")
    return found


def default_group(trace: Trace) -> str | None:
    """Choose the group to follow: the first that has members, else the first that is named."""
    for events in (trace.where(kind=_OF_MEMBERS), trace):
        for event in events:
            if event.group_id is not None:
                return event.group_id
    return None


def partitions(event: Event) -> list[TopicPartition]:
    """Read ``{"orders": [0, 1]}`` of the detail."""
    return [
        TopicPartition(topic, each)
        for topic, numbers in mapping(event, "partitions").items()
        for each in (numbers if isinstance(numbers, list) else ())
        if type(each) is int and each >= 0
    ]


def texts(event: Event, key: str) -> list[str]:
    """Read a list of texts of the detail; what else stands there counts as none."""
    return [each for each in _detail(event, key, list) or () if isinstance(each, str)]


def text(event: Event, key: str) -> str | None:
    """Read a text of the detail."""
    value: str | None = _detail(event, key, str)
    return value


def number(event: Event, key: str) -> int | None:
    """Read a whole number of the detail."""
    value = _detail(event, key, int)
    return None if isinstance(value, bool) else value


def mapping(event: Event, key: str) -> dict[str, Any]:
    """Read an object of the detail; the detail of an imported event may hold anything."""
    return _detail(event, key, dict) or {}


def _detail(event: Event, key: str, wanted: type) -> Any:
    value = (event.detail or {}).get(key)
    return value if isinstance(value, wanted) else None
