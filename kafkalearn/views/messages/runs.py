"""Notes of a diagram of messages; several events of one kind in a row make one."""

from typing import Any, Literal, TypedDict

from kafkalearn.trace import Event
from kafkalearn.views.fold import number, text
from kafkalearn.views.language import is_term
from kafkalearn.views.messages.phrases import Phrase, listed
from kafkalearn.views.wording import shown

MOST_CHIPS = 8
Tone = Literal["wait", "bad", "ok", "soft"]
VERBS = {
    "processed": "processed {}",
    "records_returned": "poll returns {}",
    "append": "appends {}",
    "commit": "committed {}",
    "position": "reads on at {}",
}
_MOMENTS = ("commit", "position")  # an offset, not offsets from one to another


class Note(TypedDict):
    """Words on a lane.

    form: ``pill`` for a state, ``loud`` for a fault, ``tick`` for a poll, else ``text``.
    label, aside: phrases; the aside stands beside a pill.
    partitions: pairs of topic and number, to be drawn as chips, at most MOST_CHIPS.
    routine: nobody learns from it.
    """

    kind: Literal["note"]
    time_ms: int
    lane: int
    form: Literal["pill", "loud", "tick", "text"]
    tone: Tone
    label: list[Phrase]
    aside: list[Phrase]
    partitions: list[list[Any]]
    routine: bool


def empty(event: Event, lane: int) -> Note:
    """Begin a note."""
    return {
        "kind": "note",
        "time_ms": event.time_ms,
        "lane": lane,
        "form": "text",
        "tone": "soft",
        "label": [],
        "aside": [],
        "partitions": [],
        "routine": False,
    }


class Run:
    """A note of several events: a partition's offsets, from the first to the last."""

    def __init__(self, note: Note, event: Event) -> None:
        self.note = note
        self._of = _alike(event)
        self._offsets: dict[tuple[str, int], tuple[int, int]] = {}

    def take(self, event: Event) -> bool:
        """Add an event; refuse one that is another thing, or goes back."""
        if event.topic is None or event.partition is None or event.offset is None:
            return False
        if event.topic.startswith("__") or _alike(event) != self._of:
            return False
        of, first = (event.topic, event.partition), event.offset
        last = first + max(1, number(event, "count") or 1) - 1
        if event.kind in _MOMENTS:
            if text(event, "reason") == "consumed" or of in self._offsets:
                return False
        elif of in self._offsets:
            first, end = self._offsets[of]
            if event.offset != end + 1:
                return False
        self._offsets[of] = first, last
        self._tell(event)
        return True

    def _tell(self, event: Event) -> None:
        told = (
            f"{shown(topic, 16)}-{partition}: {first}" + (f"–{last}" if last > first else "")
            for (topic, partition), (first, last) in self._offsets.items()
        )
        first, *more = listed(told, len(self._offsets))
        error, verb = event.failure, VERBS[event.kind]
        if event.kind == "commit" and error:
            verb = "the commit of {} fails"
            more.append(shown(error, 40))
        elif event.kind == "position" and (event.detail or {}).get("paused") is True:
            verb = "pauses {}"
        why = text(event, "mode") or text(event, "reason")
        self.note["label"] = [[verb, first], *more, *([[why]] if is_term(why) else [])]
        self.note["tone"] = "bad" if error else "ok" if event.kind == "commit" else "soft"


def _alike(event: Event) -> tuple[object, ...]:
    """Only events that are equal in this may share a note."""
    detail = event.detail or {}
    return event.kind, event.error, *(str(detail.get(key)) for key in ("mode", "reason", "paused"))
