"""One group as its coordinator sees it: its state, for whom it waits, and each member."""

from itertools import islice, pairwise
from typing import Literal, TypedDict

from kafkalearn.trace import Event, Trace
from kafkalearn.trace.kind import SYNC_STATES
from kafkalearn.trace.text import short_ids
from kafkalearn.views.fold import Needs, default_group, fold, text, texts
from kafkalearn.views.group import members as group_members
from kafkalearn.views.group.members import JOINED, PENDING, Member, Members, Row
from kafkalearn.views.language import Say, term
from kafkalearn.views.wording import aligned, shown

NEEDS: Needs = {"group_state": ("group_id",), "group_loaded": ("group_id",), **group_members.NEEDS}
ESSENTIAL = ("group_state",)
LIMIT = 24
_SENTENCES = {
    "Empty": "it has no members",
    "come": "its first member has come",
    "PreparingRebalance": "every member has joined",
    **dict.fromkeys(SYNC_STATES, "the leader's assignment has come"),
    "Stable": "the assignment holds",
    "Dead": "its coordinator has given it up",
    "coordinator": "its coordinator {} does not answer",
    "join": "waits for JoinGroup of {}",
    "more": "waits for more members to join",
    "sync": "waits for SyncGroup of its leader {}",
    "life": "waits for a sign of life of {}",
}

Waits = Literal["join", "more", "sync", "life", "coordinator"]


class State(TypedDict):
    """state, before: Kafka's names. since_ms, until_ms: its begin, and its end if that is known."""

    generation: int | None
    state: str | None
    before: str | None
    reason: str | None
    coordinator: str | None
    since_ms: int | None
    until_ms: int | None


class Frame(State):
    """A group, and at most `LIMIT` of its members; `more` is how many are left out.

    waits: for members to ``join``, for ``more`` of them, for the leader to ``sync``, for a sign of
    ``life`` of those that a fault met, or for a ``coordinator``; waits_for: their names.
    sync_name: AwaitingSync or its newer name.
    """

    group_id: str | None
    sync_name: str
    waits: Waits | None
    waits_for: list[str]
    members: list[Row]
    more: int


def frames(
    trace: Trace, window: range | None = None, *, group_id: str | None = None
) -> list[Frame]:
    """Follow one group, by default `default_group`."""
    group_id = default_group(trace) if group_id is None else group_id
    states = trace.where(kind=("group_state", "group_loaded"), group_id=group_id)
    return fold(trace, _Group(group_id, states), window=window)


def title(frame: Frame, say: Say) -> str:
    """Give the heading."""
    if frame["group_id"] is None:
        return say("Group")
    parts = [say("Group {}", shown(frame["group_id"]))]
    if frame["generation"] is not None:
        parts.append(f"generation {frame['generation']}")
    if frame["coordinator"] not in (None, "coordinator"):  # a client's log has no name for it
        parts.append(f"{say('coordinator')} {shown(frame['coordinator'])}")
    return " · ".join(parts)


def sentence(frame: Frame, say: Say) -> str:
    """Say what the group waits for, or how it is."""
    state = frame["state"] or ""
    if state == "Empty" and {row["now"] for row in frame["members"]} - {PENDING, "removed"}:
        state = "come"  # its join is parked already, and makes the group prepare a rebalance next
    if (template := _SENTENCES.get(frame["waits"] or state)) is None:
        return say("its state is not known")
    names = [shown(each) for each in frame["waits_for"][:4]]
    if len(frame["waits_for"]) > len(names):
        names.append(say("and {} more", len(frame["waits_for"]) - len(names)))
    return say(template, ", ".join(names))


def remark(row: Row, say: Say) -> str:
    """Say why a member was removed, or under which name it is static."""
    if row["reason"]:
        return say(*term(row["reason"], 60))
    return say("static: {}", shown(row["instance_id"])) if row["instance_id"] else ""


def as_text(frame: Frame, say: Say) -> str:
    """Tell the same in lines of plain text; times are those of the trace."""
    told = sentence(frame, say)
    if frame["waits"] and frame["until_ms"] is not None:
        told = say("{}, until {} ms", told, f"{frame['until_ms']:,}")
    rows = [[say(each) for each in ("member", "owns", "last heard", "now")]]
    for row in frame["members"]:
        owns = ", ".join(f"{shown(topic)}-{number}" for topic, number in row["owns"])
        heard = "–" if row["heard_ms"] is None else f"{row['heard_ms']:,} ms"
        words = [say(row["now"]), remark(row, say)]
        if row["session_ends_ms"] is not None:
            words.append(f"{say('session')}: {row['session_ends_ms']:,} ms")
        now = ", ".join(filter(None, words))
        rows.append(["★ " * row["leader"] + shown(row["name"]), owns or "–", heard, now])
    lines = [title(frame, say), f"{shown(frame['state'] or '?')}: {told}"]
    lines += aligned(rows) if frame["members"] else []
    lines += [say("and {} more", frame["more"])] if frame["more"] else []
    return "\n".join(lines)


class _Group(Members):
    needs = NEEDS

    def __init__(self, group_id: str | None, states: Trace) -> None:
        """`states` tells how the group begins, and how long each state lasts."""
        super().__init__(group_id)
        self._ends_ms = {one.seq: after.time_ms for one, after in pairwise(states)}
        self._sync_name = SYNC_STATES[any(text(each, "to") == SYNC_STATES[1] for each in states)]
        self._state: State = dict.fromkeys(State.__annotations__)  # type: ignore[assignment]
        self._state["state"] = text(states[0], "from") if len(states) else None

    def frame(self) -> Frame:
        waits, names = self._waits()
        rejoin = self._state["state"] == "PreparingRebalance"
        rows = islice(self.members.values(), LIMIT)
        return {
            **self._state,
            "group_id": self.group_id,
            "sync_name": self._sync_name,
            "waits": waits,
            "waits_for": names,
            "members": [self.row(each, rejoin=rejoin) for each in rows],
            "more": max(0, len(self.members) - LIMIT),
        }

    def _waits(self) -> tuple[Waits | None, list[str]]:
        state, present = self._state["state"], [m for m in self.members.values() if not m.left]
        if self.coordinator in self.faults:
            return "coordinator", [self.coordinator or ""]
        if state == "PreparingRebalance":
            late = [member.name for member in present if member.phase != "JoinGroup"]
            from_empty: Waits | None = "more" if self._state["before"] == "Empty" else None
            return ("join", late) if late else (from_empty, [])
        if state in SYNC_STATES:
            leaders = [member for member in present if member.member_id == self.leader]
            if not any(each.phase in ("SyncGroup", "in step") for each in leaders):
                return "sync", [each.name for each in leaders]
        if state == "Stable":
            silent = [member.name for member in present if member.node in self.faults]
            return ("life", silent) if silent else (None, [])
        return None, []

    def on_group_state(self, event: Event) -> None:
        moved_away = text(event, "to") == "Dead" and event.node != self.coordinator
        if event.group_id != self.group_id or moved_away:
            return
        self._come_to(event)
        self.leader = text(event, "leader")
        syncs = self._state["state"] in SYNC_STATES  # whose join is still parked is answered now
        parked = dict.fromkeys(texts(event, "waiting_sync"), "SyncGroup")
        parked |= dict.fromkeys(texts(event, "waiting_join"), JOINED if syncs else "JoinGroup")
        answered = JOINED if syncs else "in step"
        for member in self.members.values():
            if member.member_id in parked or member.phase in ("JoinGroup", "SyncGroup"):
                member.phase = parked.get(member.member_id, answered)

    def on_group_loaded(self, event: Event) -> None:
        if event.group_id == self.group_id:
            for member in self.members.values():  # the log holds no ids that were only given out
                member.phase, member.pending = "in step", False
            self._come_to(event)

    def _come_to(self, event: Event) -> None:
        """Take over a state; who left before this generation, or is not told any more, goes."""
        self.coordinator, reason = event.node, text(event, "reason")
        for each, member in self.members.items():
            reason = reason and reason.replace(each, member.name)
        self._state = {
            "generation": event.generation,
            "state": text(event, "to"),
            "before": text(event, "from"),
            "reason": reason and short_ids(reason),
            "coordinator": event.node,
            "since_ms": event.time_ms,
            "until_ms": self._ends_ms.get(event.seq),
        }
        told, are_told = texts(event, "members"), (event.detail or {}).get("members")
        for each in told:
            self.members.setdefault(each, Member(each))
        for each, member in list(self.members.items()):
            if member.left:
                gone = member.left[0] != (event.generation or 0)
            else:
                gone = isinstance(are_told, list) and not member.pending and each not in told
            if gone:
                del self.members[each]
