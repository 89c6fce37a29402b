"""How the coordinator judged the latest OffsetCommit: its checks in order, and what came of it.

Source: GroupCoordinator.handleCommitOffsets, doCommitOffsets (1.0.2, 2.4.0); the document on the
subscription state prints both. The trace tells no checks: they follow from the answer, and from
what the coordinator knew, which is in its other events.
"""

from typing import Any, TypedDict

from kafkalearn.profile import KafkaProfile
from kafkalearn.trace import Event, Trace
from kafkalearn.views.decision.commit_checks import UNKNOWN, Case, Check, Group, checked, rules_of
from kafkalearn.views.decision.commit_consequence import consequence
from kafkalearn.views.fold import Needs, fold, mapping, text, texts
from kafkalearn.views.language import Saying

_GROUP = ("group_id",)
NEEDS: Needs = {
    "send": ("api", "peer", "correlation_id"),
    "receive": ("api", "peer", "correlation_id"),
    "respond": ("api", "peer", "correlation_id"),
    "fault": (),
    "group_state": _GROUP,
    "group_loaded": _GROUP,
    "member_joined": ("group_id", "member_id"),
    "member_removed": ("group_id", "member_id"),
}
ESSENTIAL = ("respond",)
API = "OffsetCommit"
OUTCOMES = {
    "passed": ("✓", "passed"),
    "refused": ("✗", "refused"),
    "stored": ("✓", "stored"),
    "no": ("–", "no, go on"),
    "unreached": ("·", "not reached"),
    "open": ("…", "not answered"),
}
MAX_PARTITIONS = 12
_ELSEWHERE = {"NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE"}
_LOADING = "COORDINATOR_LOAD_IN_PROGRESS"

Key = tuple[str, str, int]  # broker, client, correlation id


class Frame(TypedDict):
    """The latest commit; before the first, `judged_ms` is None and the lists are empty.

    answered: whether it is; until then no check has an outcome. error: None if it was stored.
    partitions: (name, offset, error), of which `more` are left out.
    follows: what the client does then, in parts: an English text and its values each.
    """

    judged_ms: int | None
    answered: bool
    broker: str
    client: str
    group_id: str
    error: str | None
    checks: list[Check]
    partitions: list[tuple[str, int | None, str | None]]
    more: int
    follows: list[Saying]


_NOTHING = Frame(
    judged_ms=None, answered=False, broker="", client="", group_id="", error=None, checks=[],
    partitions=[], more=0, follows=[],
)  # fmt: skip


def frames(trace: Trace, window: range | None = None) -> list[Frame]:
    """Give the latest decision at each event."""
    return fold(trace, _Decisions(rules_of(trace.run_id)), window=window)


class _Decisions:
    needs = NEEDS

    def __init__(self, rules: KafkaProfile | None) -> None:
        self._rules = rules
        self._groups: dict[tuple[str, str], Group] = {}  # as each broker knows them
        self._coordinators: dict[str, str] = {}
        self._sent: dict[Key, dict[str, Any]] = {}
        self._cases: dict[Key, Case] = {}  # those that are being judged
        self._last_sent: Key | None = None
        self._faked: set[Key] = set()
        self._frame = _NOTHING

    def frame(self) -> Frame:
        return self._frame

    # The commit.

    def on_send(self, event: Event) -> None:
        if event.api == API:
            self._last_sent = _key(event, broker=event.peer, client=event.node)
            self._sent[self._last_sent] = mapping(event, "fields")

    def on_fault(self, event: Event) -> None:
        fault = text(event, "fault")
        if fault == "crash":
            for place in [each for each in self._groups if each[0] == event.node]:
                del self._groups[place]
        elif fault == "answer_with_error" and event.api == API and self._last_sent:
            self._faked.add(self._last_sent)  # the network notes it as the request leaves

    def on_receive(self, event: Event) -> None:
        if event.api == API:
            case = self._case(event)
            self._cases[_key(event, broker=event.node, client=event.peer)] = case
            self._show(event, case, None)

    def on_respond(self, event: Event) -> None:
        if event.api == API:
            key = _key(event, broker=event.node, client=event.peer)
            case = self._cases.pop(key) if key in self._cases else self._case(event)
            self._show(event, case, event.error)

    def _case(self, event: Event) -> Case:
        key = _key(event, broker=event.node, client=event.peer)
        fields = self._sent.pop(key, {})
        offsets, instance = fields.get("offsets"), fields.get("group_instance_id")
        group_id = event.group_id or ""
        known = self._groups.get((event.node, group_id))
        return Case(
            broker=event.node,
            client=event.peer or "?",
            group_id=group_id,
            member_id=event.member_id or "",
            generation=event.generation,
            instance_id=instance if isinstance(instance, str) else None,
            offsets=offsets if isinstance(offsets, dict) else {},
            group=known.copy() if known else None,
            coordinator=self._coordinators.get(group_id),
            is_faked=key in self._faked,
        )

    def _show(self, event: Event, case: Case, error: str | None) -> None:
        answered = event.kind == "respond"
        answers = mapping(event, "fields").get("partitions") if answered else None
        answers = answers if isinstance(answers, dict) else {}
        named = {each: answers.get(each) for each in (answers or case.offsets)}
        if not named and event.topic is not None and event.partition is not None:
            named = {f"{event.topic}-{event.partition}": error}
        partitions = [
            (each, _offset(case, each, event), None if of in (None, "NONE") else str(of))
            for each, of in named.items()
        ]
        errors = [of for _, _, of in partitions]
        error = None if error == "NONE" else error
        if answered and not case.is_faked:
            self._learn(case, errors)
        self._frame = {
            "judged_ms": event.time_ms,
            "answered": answered,
            "broker": case.broker,
            "client": case.client,
            "group_id": case.group_id,
            "error": error,
            "checks": checked(case, self._rules, error=error, errors=errors, answered=answered),
            "partitions": partitions[:MAX_PARTITIONS],
            "more": max(0, len(partitions) - MAX_PARTITIONS),
            "follows": self._follows(case, error) if answered else [],
        }

    def _follows(self, case: Case, error: str | None) -> list[Saying]:
        from_assign = case.is_from_assign
        return consequence(case.client, error, is_from_assign=from_assign, rules=self._rules)

    # What the coordinators know.

    def _learn(self, case: Case, errors: list[str | None]) -> None:
        """Who judges a commit coordinates the group, and makes it for a consumer without one."""
        if _ELSEWHERE.isdisjoint(errors) and not {*errors} <= {UNKNOWN}:
            case.coordinator = self._coordinators[case.group_id] = case.broker
            if case.group is None and case.is_from_assign and _LOADING not in errors:
                self._groups[case.broker, case.group_id] = Group("Empty", 0)

    def on_group_state(self, event: Event) -> None:
        if text(event, "to") == "Dead":
            self._groups.pop((event.node, event.group_id or ""), None)
        else:
            self.on_group_loaded(event)

    def on_group_loaded(self, event: Event) -> None:
        place, state = (event.node, event.group_id or ""), text(event, "to") or "?"
        self._coordinators[place[1]] = event.node
        group = self._groups.setdefault(place, Group(state, 0))
        group.state, group.generation = state, event.generation
        group.members = {each: group.members.get(each) for each in texts(event, "members")}

    def on_member_joined(self, event: Event) -> None:
        place = event.node, event.group_id or ""
        if (event.detail or {}).get("pending") is not True:
            group = self._groups.setdefault(place, Group("Empty", event.generation))
            group.members[event.member_id or ""] = text(event, "instance_id")

    def on_member_removed(self, event: Event) -> None:
        group = self._groups.get((event.node, event.group_id or ""))
        if group:
            group.members.pop(event.member_id or "", None)


def _key(event: Event, *, broker: str | None, client: str | None) -> Key:
    return broker or "", client or "", event.correlation_id or 0


def _offset(case: Case, name: str, event: Event) -> int | None:
    told = case.offsets.get(name)
    offset = told.get("offset") if isinstance(told, dict) else event.offset
    return offset if type(offset) is int else None
