"""A trace, or two of the same story, as what the browser needs to step through: plain JSON.

``strings``: pieces of HTML, each once; all other places hold its number here.
``runs``: for each trace: ``times`` and ``nodes`` (numbers in ``names``), ``captions`` and
``fields``, one an event; ``panes``: ``{name, changes: [[event, pieces], …]}``: what a pane shows
from that event on; ``messages``: where the rows of the diagram are; ``routine``: events that
nobody needs to stop at; ``stops``: kind -> events to jump to.
``steps``: the event that each run shows at each step. ``difference``: the step where runs part.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from kafkalearn.trace import Trace
from kafkalearn.trace.difference import first_difference
from kafkalearn.trace.text import one_line
from kafkalearn.views import captions, messages
from kafkalearn.views.drawings import messages as drawn_messages
from kafkalearn.views.drawings import track
from kafkalearn.views.drawings.fields import fields_table
from kafkalearn.views.language import Say
from kafkalearn.views.panes import PANES, Look, frames, pieces

MAX_EVENTS = 1000  # more would make a page that nobody steps through, and that opens slowly


class Strings:
    """Texts by number, each kept once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """Give the number of a text."""
        return self._numbers.setdefault(text, len(self._numbers))

    def all(self) -> list[str]:
        """Give them in the order of their numbers."""
        return list(self._numbers)


def window_of(trace: Trace, events: range | None = None) -> range:
    """Give the places of a trace that are shown: of those asked for, the first MAX_EVENTS."""
    events = range(len(trace)) if events is None else events
    start = max(0, min(events.start, len(trace)))
    return range(start, max(start, min(len(trace), events.stop, start + MAX_EVENTS)))


def story(traces: Sequence[Trace], windows: Sequence[range], *, look: Look) -> dict[str, Any]:
    """Draw one trace, or two."""
    strings = Strings()
    runs = [
        _run(trace, window, look=look, strings=strings)
        for trace, window in zip(traces, windows, strict=True)
    ]
    told: dict[str, Any] = {"lang": look.say.lang, "words": _words(look.say), "runs": runs}
    if len(traces) == 1:
        told |= {"steps": [[k] for k in range(len(windows[0]))], "difference": None}
    else:
        told |= aligned(*traces, windows=windows)
    return told | {"strings": strings.all()}


def _run(trace: Trace, window: range, *, look: Look, strings: Strings) -> dict[str, Any]:
    say = look.say
    events = trace[window.start : window.stop]
    names = list(dict.fromkeys(one_line(event.node) for event in events))
    places = {name: place for place, name in enumerate(names)}
    diagram = messages.diagram(trace, window)
    shown = [
        {
            "name": name,
            "changes": _changes(
                frames(name, trace, window=window, options=look.options),
                draw=partial(pieces, name, say=say),
                strings=strings,
            ),
        }
        for name in look.panes
        if name in PANES
    ]
    return {
        "names": names,
        "nodes": [places[one_line(event.node)] for event in events],
        "times": [event.time_ms for event in events],
        "captions": [strings(captions.caption_html(event, say.lang)) for event in events],
        "fields": [strings(html) for html in fields_table(trace, window, say=say)],
        "panes": shown,
        "messages": {
            "head": strings(drawn_messages.head(diagram, say)),
            "body": strings(drawn_messages.draw(diagram, say)),
            "geometry": drawn_messages.geometry(diagram),
        },
        "track": strings(track.track(trace, window, say=say)),
        "stops": track.stops(trace, window),
        "routine": messages.routine(diagram),
    }


def _words(say: Say) -> dict[str, str]:
    """Give the words that the browser fills in by itself."""
    return {"ago": say("{} ms ago"), "more": say("{} ms more")}


def _changes(
    shown: Sequence[Any], *, draw: Callable[[Any], list[str]], strings: Strings
) -> list[tuple[int, list[int]]]:
    """List the events at which a pane's drawing changes; a frame that is shared is drawn once."""
    changes: list[tuple[int, list[int]]] = []
    before: Any = None
    for k, frame in enumerate(shown):
        if frame is before:
            continue
        before = frame
        numbers = [strings(piece) for piece in draw(frame)]
        if not changes or changes[-1][1] != numbers:
            changes.append((k, numbers))
    return changes


def aligned(before: Trace, after: Trace, *, windows: Sequence[range]) -> dict[str, Any]:
    """Step through two runs together: as one until they part, and by virtual time from there on.

    A step moves on the run whose next event is earlier; both, if they are at the same time.
    """
    times = [
        [event.time_ms for event in trace[window.start : window.stop]]
        for trace, window in zip((before, after), windows, strict=True)
    ]
    parted = first_difference(before, after)
    if parted is not None:
        parted -= windows[0].start  # both windows begin at the same place
    common = max(0, min([*map(len, times), *([] if parted is None else [parted])]))
    steps = [[k, k] for k in range(common)]
    at = [common, common]
    while at[0] < len(times[0]) or at[1] < len(times[1]):
        due = [t[k] if k < len(t) else None for t, k in zip(times, at, strict=True)]
        earliest = min(time for time in due if time is not None)
        at = [k + (time == earliest) for k, time in zip(at, due, strict=True)]
        steps.append([k - 1 for k in at])
    is_shown = parted is not None and 0 <= parted < len(steps)
    return {"steps": steps, "difference": parted if is_shown else None}
