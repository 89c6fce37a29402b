"""What holds in every run of a group: folds over a trace, each of which tells every breach.

They read the events of a whole run and nothing else. See test_invariants.py for what each refuses.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from kafkalearn.trace import Event
from tests.stateful.answers import unanswered_requests
from tests.stateful.commits import commits_half_done, lost_commits
from tests.stateful.followed import (
    GROUP_KINDS,
    crashed_node,
    exchange_of,
    fields_of,
    followed,
    has_ended,
    state_of,
)

VALID_PREVIOUS_STATES = {
    "Empty": {"PreparingRebalance"},
    "PreparingRebalance": {"Empty", "AwaitingSync", "Stable"},
    "AwaitingSync": {"PreparingRebalance"},
    "Stable": {"AwaitingSync"},
    "Dead": {"Empty", "PreparingRebalance", "AwaitingSync", "Stable", "Dead"},
}


def invariants_of(
    *, joins_end_silently: bool, instances_may_be_missed: bool, retention_ms: int
) -> dict:
    """Name each fold; the arguments are those of the folds that need one."""
    return {
        "states": illegal_transitions,
        "generations": generations_that_go_back,
        "owners": partial(partitions_of_two, instances_may_be_missed=instances_may_be_missed),
        "ghosts": events_of_the_gone,
        "commits": partial(lost_commits, retention_ms=retention_ms),
        "refusals": commits_half_done,
        "answers": partial(unanswered_requests, joins_end_silently=joins_end_silently),
    }


def illegal_transitions(events: Iterable[Event]) -> Iterator[str]:
    """A group goes on from the state that it was in, and only as Kafka's table allows."""
    for event, group in followed(events):
        if event.kind != "group_state":
            continue
        before, after = state_of(event.detail["from"]), state_of(event.detail["to"])
        if before != group.state:
            yield f"{event.seq}: {event.group_id} leaves {before}, but was {group.state}"
        if before not in VALID_PREVIOUS_STATES[after]:
            yield f"{event.seq}: {event.group_id} goes from {before} to {after}"


def generations_that_go_back(events: Iterable[Event]) -> Iterator[str]:
    """The generation goes up by one where a join phase ends, and never otherwise.

    A new coordinator goes on with what was stored; a group that ended for good begins anew. Who is
    answered without error is of the current generation.
    """
    for event, group in followed(events):
        now, where = event.generation, f"{event.seq}: {event.group_id}"
        if event.kind == "group_loaded":
            if now != group.kept_generation:
                yield f"{where} is loaded in generation {now}, not {group.kept_generation}"
        elif event.kind in GROUP_KINDS and group.node is None and group.kept_generation:
            yield f"{where} begins anew: generation {group.kept_generation} is lost"
        if event.kind == "group_state":
            joined = group.state == "PreparingRebalance" and (
                state_of(event.detail["to"]) in ("AwaitingSync", "Empty")
            )
            if now != group.generation + joined:
                yield f"{where} comes from generation {group.generation} to {now}"
        elif _is_accepted(event) and now != group.generation:
            yield f"{where}: {event.api} of {now} is accepted in generation {group.generation}"


def _is_accepted(event: Event) -> bool:
    if event.kind != "respond" or event.generation is None or event.generation < 0:
        return False
    if event.api == "OffsetCommit":
        return "NONE" in fields_of(event)["partitions"].values()
    return event.api in ("JoinGroup", "SyncGroup") and event.error == "NONE"


@dataclass
class _Generation:
    """What leaders sent in one generation, and what each member was told.

    missed: who may have come back under a new id before the assignment, and so got nothing of it.
    """

    sent: list[dict[str, str]] = field(default_factory=list)
    told: dict[str, str] = field(default_factory=dict)
    missed: set[str] = field(default_factory=set)

    def tell(self, who: str, text: str) -> Iterator[str]:
        """Say what is wrong with an assignment that a member is told."""
        if self.told.setdefault(who, text) != text:
            yield f"{who} is told {text!r}, after {self.told[who]!r}"
        told = self.told.items()
        known = [(name, had) for name, had in told if had or name not in self.missed]
        if not any(all(each.get(name, "") == had for name, had in known) for each in self.sent):
            yield f"{who} is told {text!r}, and no leader sent that with the rest"
        for other, had in told:
            for partition in text.split():
                if other != who and partition in had.split():
                    yield f"{partition} is {other}'s and {who}'s"


def partitions_of_two(events: Iterable[Event], *, instances_may_be_missed: bool) -> Iterator[str]:
    """In one generation, one leader's assignment holds, and a partition has one owner.

    An assignment is the names of partitions with blanks between. A static member that comes back
    under a new id is the same owner. Before 2.5 (instances_may_be_missed) it may be told nothing,
    since the leader assigned to the old id (KAFKA-9801).
    """
    names: dict[str, str] = {}
    sent: dict[tuple, dict] = {}
    groups: dict[str, dict[int, _Generation]] = {}
    for event in events:
        if event.kind == "member_joined":
            names[event.member_id] = event.detail.get("instance_id") or event.member_id
        elif has_ended(event):
            groups.pop(event.group_id, None)
        if event.api != "SyncGroup":
            continue
        generations = groups.setdefault(event.group_id, {})
        generation = generations.setdefault(event.generation, _Generation())
        if event.kind == "send":
            sent[exchange_of(event)] = fields_of(event).get("assignments", {})
        elif event.kind == "receive":
            texts = sent[exchange_of(event)]
            generation.sent.append({names.get(who, who): text for who, text in texts.items()})
        elif event.kind == "respond" and event.error == "NONE":
            who = names.get(event.member_id, event.member_id)
            text = fields_of(event).get("assignment", "")
            if instances_may_be_missed and who != event.member_id:
                generation.missed.add(who)
            yield from (f"{event.seq}: {sentence}" for sentence in generation.tell(who, text))


def events_of_the_gone(events: Iterable[Event]) -> Iterator[str]:
    """Nothing is done by who is gone: a dead broker, a former coordinator, a removed member."""
    dead = set()
    for event, group in followed(events):
        where = f"{event.seq}: {event.kind} of {event.group_id}"
        if event.kind == "fault":
            dead -= {event.node}
            dead |= {crashed_node(event)}
        if event.kind not in GROUP_KINDS:
            continue
        if event.node in dead:
            yield f"{where} by {event.node}, which is dead"
        if group.node not in (None, event.node):
            yield f"{where} by {event.node}, but {group.node} coordinates it"
        known = group.members | group.pending
        if event.kind == "member_removed" and event.member_id not in known:
            yield f"{where}: {event.member_id} was no member any more"
        if event.kind == "member_joined" and event.member_id in (
            known if event.detail.get("pending") else group.members
        ):
            yield f"{where}: {event.member_id} was a member already"
        if event.kind == "group_state" and set(event.detail["members"]) != group.members:
            yield f"{where}: the members are not those that came and did not go"
