"""One consumer's `poll`, step by step through `poll_once`: which steps it has come to, and why.

The trace tells a step by what came of it: that a request left, or records were returned.

Source: KafkaConsumer.poll and pollOnce, ConsumerCoordinator.poll (1.0); the document on the poll
model prints them.
"""

from typing import Literal, TypedDict

from kafkalearn.errors import ConfigError
from kafkalearn.trace import Event, Trace
from kafkalearn.views.fold import Needs, fold, number, text
from kafkalearn.views.language import Say
from kafkalearn.views.wording import shown

NEEDS: Needs = {
    "poll": (),
    "send": ("api",),
    "commit": ("topic", "partition", "offset"),
    "assigned": (),
    "position": ("topic", "partition"),
    "records_returned": ("topic", "partition"),
    **dict.fromkeys(("receive", "respond", "response", "append"), ()),  # time passes
}
ESSENTIAL = ("poll",)

STEPS = (
    "poll",
    "ensure_coordinator_ready",
    "ensure_active_group",
    "maybe_auto_commit_offsets_async",
    "update_fetch_positions",
    "fetched_records (1st)",
    "send_fetches",
    "client.poll",
    "fetched_records (2nd)",
)
_AT_ONCE, _AT_WAIT = "fetched_records (1st)", "fetched_records (2nd)"
_WAITS_NEXT = ("poll", "maybe_auto_commit_offsets_async", "send_fetches")  # over in a millisecond
MARKS = {"now": "▶", "done": "✓", "passed": "–", "ahead": "·"}
_BY_REQUEST = {
    "FindCoordinator": "ensure_coordinator_ready",
    "JoinGroup": "ensure_active_group",
    "SyncGroup": "ensure_active_group",
    "OffsetCommit": "maybe_auto_commit_offsets_async",
    "OffsetFetch": "update_fetch_positions",
    "ListOffsets": "update_fetch_positions",
    "Fetch": "send_fetches",
}


class Step(TypedDict):
    """A step of `poll_once`; `did` are requests by name, and what came of them."""

    name: str
    state: Literal["now", "done", "passed", "ahead"]
    did: list[str]


class Frame(TypedDict):
    """One poll. node: whose; None before the first. count: which one.

    steps: in their order; ``passed`` had nothing to do. returned: records so far.
    """

    node: str | None
    count: int
    timeout_ms: int | None
    steps: list[Step]
    returned: int


def frames(trace: Trace, window: range | None = None, *, node: str | None = None) -> list[Frame]:
    """Follow the polls of `node`, by default of the first consumer that polls."""
    polls = trace.where(kind="poll")
    return fold(trace, _Poll(node or (polls[0].node if len(polls) else None)), window=window)


def events_of(trace: Trace, *, node: str | None = None, number: int = 1) -> tuple[str, range]:
    """Find whose poll is meant, and its events; ConfigError if there is none of that number."""
    begins = [
        (place, event.node)
        for place, event in enumerate(trace)
        if event.kind == "poll" and text(event, "step") is None
    ]
    whose = node if node is not None else begins[0][1] if begins else ""
    places = [place for place, who in begins if who == whose]
    if type(number) is not int or not 1 <= number <= len(places):
        raise ConfigError(
            f"poll number {number!r} of {whose or 'anybody'}: there are {len(places)}, from 1"
        )
    return whose, range(places[number - 1], [*places, len(trace)][number])


def title(frame: Frame, say: Say) -> str:
    """Give the heading: whose poll this is, and which."""
    if not frame["count"] or frame["node"] is None:
        return say("Poll")
    return say("Poll {} of {}", frame["count"], shown(frame["node"]))


def as_text(frame: Frame, say: Say) -> str:
    """Tell the steps in lines."""
    lines = [title(frame, say)]
    for step in frame["steps"]:
        did = f": {', '.join(step['did'])}" if step["did"] else ""
        lines.append(f"{MARKS[step['state']]} {step['name']}{did}")
    return "\n".join([*lines, outcome(frame, say)])


def outcome(frame: Frame, say: Say) -> str:
    """Say what the poll has given so far."""
    if not frame["count"]:
        return say("not called yet")
    if frame["timeout_ms"] is None:
        return say("records so far: {}", frame["returned"])
    return say(
        "records so far: {}; it waits for {} ms at most", frame["returned"], frame["timeout_ms"]
    )


class _Poll:
    needs = NEEDS

    def __init__(self, node: str | None) -> None:
        self._node = node
        self._count = self._returned = 0
        self._timeout_ms: int | None = None
        self._did: dict[str, list[str]] = {}
        self._now: str | None = None
        self._since_ms = 0

    def frame(self) -> Frame:
        at = -1 if self._now is None else STEPS.index(self._now)
        return {
            "node": self._node,
            "count": self._count,
            "timeout_ms": self._timeout_ms,
            "steps": [self._step(name, place, at) for place, name in enumerate(STEPS)],
            "returned": self._returned,
        }

    def _step(self, name: str, place: int, at: int) -> Step:
        did = self._did.get(name)
        state: Literal["now", "done", "passed", "ahead"] = "ahead"
        if place == at:
            state = "now"
        elif did is not None:
            state = "done"
        elif place < at:
            state = "passed"
        return {"name": name, "state": state, "did": list(did or ())}

    def on_poll(self, event: Event) -> None:
        step = text(event, "step")
        if event.node != self._node:
            return
        self._since_ms = event.time_ms
        if step in STEPS:
            self._come_to(step)
        elif step is None:
            self._count += 1
            self._returned, self._did = 0, {}
            self._timeout_ms = number(event, "timeout_ms")
            self._come_to("poll")

    def on_send(self, event: Event) -> None:
        step = _BY_REQUEST.get(event.api or "")
        if event.node != self._node or not self._count or not step:
            return
        self._since_ms = event.time_ms
        if not self._returned:
            self._come_to(step, event.api)
        elif event.api == "Fetch" and self._now:  # for the next poll; other requests are no poll's
            self._come_to(self._now, event.api)

    def on_assigned(self, event: Event) -> None:
        if event.node == self._node and self._count:
            self._come_to("ensure_active_group", "on_partitions_assigned")

    def on_position(self, event: Event) -> None:
        if event.node == self._node and self._count and text(event, "reason") == "reset":
            self._come_to("update_fetch_positions")

    def on_commit(self, event: Event) -> None:
        if event.node == self._node and text(event, "mode") == "auto" and self._now:
            self._did.setdefault(self._now, []).append(f"{event.topic}-{event.partition}")

    def on_records_returned(self, event: Event) -> None:
        if event.node == self._node and self._count:
            self._returned += number(event, "count") or 0
            self._pass(event)
            is_late = self._now in STEPS and STEPS.index(self._now) > STEPS.index(_AT_ONCE)
            self._come_to(_AT_WAIT if is_late else _AT_ONCE)

    def _pass(self, event: Event) -> None:
        if self._now in _WAITS_NEXT and event.time_ms > self._since_ms:
            self._come_to("client.poll")

    on_receive = on_respond = on_response = on_append = _pass

    def _come_to(self, step: str, did: str | None = None) -> None:
        self._now = step
        done = self._did.setdefault(step, [])
        if did and did not in done:
            done.append(did)
