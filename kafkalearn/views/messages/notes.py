"""What stands between the arrows: what a node does, is given, hears or suffers."""

from collections.abc import Callable

from kafkalearn.trace import Event
from kafkalearn.trace.kind import SYNC_STATES
from kafkalearn.views.fold import number, partitions, text, texts
from kafkalearn.views.language import term
from kafkalearn.views.messages.labels import Names, member_name
from kafkalearn.views.messages.phrases import Phrase, counted, listed
from kafkalearn.views.messages.runs import MOST_CHIPS, VERBS, Note, Run, Tone, empty
from kafkalearn.views.wording import shown


class Notes:
    """Makes notes; several events of one kind in a row on one lane become one note."""

    def __init__(self, names: Names, *, several_groups: bool) -> None:
        self.names, self._several = names, several_groups
        self._runs: dict[int, Run] = {}  # lane -> the latest
        self._pills: dict[str | None, tuple[int, Note]] = {}

    def join(self, note: object, event: Event) -> bool:
        """Let the lane's last note tell of the event too, if it can."""
        for run in self._runs.values():
            if run.note is note:
                return run.take(event)
        return False

    def make(self, event: Event, lane: int) -> Note | None:
        """Make a note of an event; None if there is nothing to tell."""
        note = empty(event, lane)
        if event.kind in VERBS:
            run = Run(note, event)
            if not run.take(event):
                return None
            self._runs[lane] = run
        elif event.kind == "group_state":
            self._group_state(note, event)
        else:
            _TELL[event.kind](note, event, self.names)
        return note if note["label"] else None

    def lost(self, event: Event, lane: int) -> Note:
        """Tell of a message that got lost long after it left."""
        what = shown(event.api or "?")
        return empty(event, lane) | {"label": [what, ["lost"], *_reason(event)], "tone": "bad"}

    def _group_state(self, note: Note, event: Event) -> None:
        to, members = text(event, "to") or "?", texts(event, "members")
        group = [shown(event.group_id or "?")] if self._several else []
        note["form"] = "pill"
        note["tone"] = _STATES.get(to, "soft")
        note["label"] = [*group, shown(to), *([counted(len(members), "member")] if members else [])]
        before = self._pills.get(event.group_id)
        if before and before[0] == event.time_ms:
            before[1]["aside"] = []  # it waited for nobody
        self._pills[event.group_id] = event.time_ms, note
        if to == "PreparingRebalance":
            note["aside"] = self._who_waits(members, texts(event, "waiting_join"))
        elif to in SYNC_STATES and (leader := text(event, "leader")):
            note["aside"] = [["waits for the leader {} to assign", self._name(leader)]]

    def _who_waits(self, members: list[str], joined: list[str]) -> list[Phrase]:
        absent = [self._name(each) for each in members if each not in joined]
        if not absent:
            return [["waits for more members"]]
        return [["waits for {}", ", ".join(absent[:3])], *listed([], len(absent[3:]))]

    def _name(self, member_id: str) -> str:
        return member_name(member_id, self.names)


def _of(event: Event) -> str:
    partition = "?" if event.partition is None else event.partition
    return f"{shown(event.topic or '?', 16)}-{partition}"


def _at(event: Event) -> str:
    return f"{_of(event)}: {'?' if event.offset is None else event.offset}"


def _reason(event: Event, limit: int = 44) -> list[Phrase]:
    reason = text(event, "reason")
    return [term(reason, limit)] if reason else []


def _poll(note: Note, event: Event, names: Names) -> None:
    if text(event, "step") is None:
        wait = number(event, "timeout_ms")
        note |= {
            "form": "tick",
            "routine": True,
            "label": [f"poll({'' if wait is None else wait})"],
        }


def _partitions(note: Note, event: Event, names: Names) -> None:
    """A member is given partitions, or gives them up."""
    owned = list(map(list, partitions(event)))
    tone: Tone
    if event.kind == "assigned":
        verb, tone = "is given" if owned else "is given nothing", "ok"
    elif (event.detail or {}).get("lost"):
        verb, tone = "loses" if owned else "has nothing to lose", "bad"
    else:
        verb, tone = "gives up" if owned else "has nothing to give up", "wait"
    note |= {"label": [[verb]], "tone": tone, "partitions": owned[:MOST_CHIPS]}
    note["aside"] = listed([], len(owned[MOST_CHIPS:]))


def _member(note: Note, event: Event, names: Names) -> None:
    who = text(event, "client_id") or "?"
    if event.member_id is not None:
        known = event.member_id in names or who == "?"
        who = member_name(event.member_id, names) if known else shown(who, 16)
    if event.kind == "member_removed":
        tone: Tone = "soft" if text(event, "reason") == "left" else "bad"
        note |= {"label": [["{} is removed", who], *_reason(event)], "tone": tone}
    elif (event.detail or {}).get("pending"):
        note["label"] = [["{} gets an id to join with", who]]
    else:
        note["label"] = [["{} is a member", who]]


def _fault(note: Note, event: Event, names: Names) -> None:
    fault, detail = text(event, "fault") or "?", event.detail or {}
    spans = (detail.get("for_ms"), detail.get("by_ms"))
    label: list[Phrase] = [term(fault)]
    label += [shown(each, 40) for each in (event.api, event.error, event.peer) if each]
    label += [f"{span:,} ms" for span in spans if type(span) is int]
    note |= {"form": "loud", "tone": "bad", "label": label}


def _other(note: Note, event: Event, names: Names) -> None:
    if event.kind == "logged":
        note["label"] = [["logs: {}", shown(text(event, "message") or "?", 56)]]
    elif event.kind == "disconnected":
        label: list[Phrase] = [["loses its connection to {}", shown(event.peer or "?")]]
        note |= {"label": label + _reason(event, 30), "tone": "bad"}
    elif event.kind == "group_loaded":
        to = text(event, "to")
        label = [["has loaded group {}", shown(event.group_id or "?")]]
        note |= {"label": label + ([shown(to)] if to else []), "tone": "ok"}
    elif event.kind == "offset_expired":
        note |= {"label": [["forgets the offset {}", _at(event)], *_reason(event)], "tone": "wait"}
    elif event.kind == "retention":
        note |= {"label": [["the log begins at {}", _at(event)], *_reason(event)], "tone": "wait"}
    elif event.kind == "topic_changed":
        change, count = text(event, "change") or "?", number(event, "count")
        note["label"] = [shown(event.topic or "?"), term(change)]
        note["label"] += [] if count is None else [counted(count, "partition")]
    elif previous := text(event, "previous"):
        note["label"] = [["leads {} after {}", _of(event), shown(previous)]]


_STATES: dict[str, Tone] = {
    "PreparingRebalance": "wait",
    **dict.fromkeys(SYNC_STATES, "wait"),
    "Stable": "ok",
}
_TELL: dict[str, Callable[[Note, Event, Names], None]] = {
    "poll": _poll,
    "assigned": _partitions,
    "revoked": _partitions,
    "member_joined": _member,
    "member_removed": _member,
    "fault": _fault,
    **dict.fromkeys(
        (
            *("logged", "disconnected", "group_loaded", "offset_expired", "retention"),
            *("topic_changed", "leader_elected"),
        ),
        _other,
    ),
}
KINDS = {*VERBS, *_TELL, "group_state"}
